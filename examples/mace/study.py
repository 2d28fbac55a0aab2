"""What the figures share: sizes, the models of each seed, and the scores that queries give their records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from estimators import Scores
from estimators.audits.queries import nearest
from estimators.audits.queries.discriminators import discriminator
from estimators.audits.queries.synthetic import closeness
from examples.mace import gan
from examples.mace.data import Data, Split, images, split
from examples.mace.gan import Gan, Size, priv_gan
from examples.mace.network import Floats


@dataclass(frozen=True)
class Study:
    """How large everything is."""

    data: str = "digits"
    models: int = 5
    size: Size = field(default_factory=lambda: Size(epochs=2000))
    table_sizes: tuple[int, ...] = (10, 100, 1000, 10_000, 100_000)
    epsilons: tuple[float, ...] = (0.5, 1.0, 2.0, 5.0, 10.0)
    steps: int = 1000
    """Of a GAN with a promise; its records are few, and each is in every step."""
    nonmembers: int | None = None
    """At most so many; None: all."""
    torch: bool = False
    """Whether PyTorch trains the JS-GAN and the WGAN-GP; NumPy does otherwise."""

    @property
    def seeds(self) -> range:
        """Of each model one."""
        return range(self.models)

    @property
    def images(self) -> Data:
        """The images."""
        return images(self.data)

    def split(self, seed: int) -> Split:
        """Members and nonmembers of a model."""
        return split(self.images, seed, most=self.nonmembers)

    def __str__(self) -> str:
        """In words."""
        sides = self.split(0)
        return (
            f"data: {self.data}, {len(sides.members)} members and {len(sides.nonmembers)} nonmembers; "
            f"{self.models} model(s) of each kind, seeds 0 to {self.models - 1}; "
            f"{self.size.epochs} epochs in batches of {self.size.batch}; "
            f"discriminator {_widths(self.size.discriminator)}, generator {_widths(self.size.generator)}; "
            f"up to {max(self.table_sizes)} synthetic records; with a promise {self.steps} steps on all records"
            f"{'; trained by PyTorch' if self.torch else ''}"
        )


def _widths(widths: tuple[int, ...]) -> str:
    return "-".join(str(each) for each in widths) + " hidden units"


FULL = Study()
LARGER = Study("mnist", size=Size(epochs=300), table_sizes=(10, 100, 1000, 10_000))
MORE = Study("optdigits", size=Size(epochs=400), table_sizes=(10, 100, 1000, 10_000))
QUICK = Study(
    models=1,
    size=Size(epochs=150, discriminator=(64,), generator=(32,), noise=8),
    table_sizes=(10, 100, 1000),
    epsilons=(2.0, 10.0),
    steps=50,
    nonmembers=400,
)


def trainers(study: Study) -> ModuleType:
    """What trains the JS-GAN and the WGAN-GP."""
    return import_module("examples.mace.torch_gan") if study.torch else gan


@cache
def of_js(study: Study, seed: int) -> Gan:
    """The JS-GAN of figures 1b, 1c, 2b and 7."""
    model: Gan = trainers(study).js_gan(study.split(seed).members, study.size, seed)
    return model


@cache
def of_wgan(study: Study, seed: int) -> Gan:
    """The WGAN-GP of figures 1a and 3."""
    model: Gan = trainers(study).wgan_gp(study.split(seed).members, study.size, seed)
    return model


@cache
def of_priv(study: Study, seed: int) -> tuple[Gan, Gan]:
    """The privGAN of figure 2a."""
    return priv_gan(study.split(seed).members, study.size, seed)


@cache
def synthetic_records(study: Study, seed: int) -> Floats:
    """All synthetic records of the JS-GAN; a smaller table is a part of a larger one."""
    return of_js(study, seed).sample(np.random.default_rng([seed, 3]), max(study.table_sizes))


def table_of(study: Study) -> int:
    """Rows of the released table where the paper does not vary them: 10,000, or all there are."""
    return min(10_000, max(study.table_sizes))


def scores_of(query: Callable[[Floats], Floats], sides: Split) -> Scores:
    """What a query says of both sides."""
    return Scores.of(query(sides.members), query(sides.nonmembers))


def of_critic(study: Study, seed: int) -> Scores:
    """Eq. 3 of the WGAN-GP, whose critic has no sigmoid."""
    model, sides = of_wgan(study, seed), study.split(seed)
    return scores_of(lambda side: discriminator(model.logits(side)), sides)


def of_discriminator(study: Study, seed: int) -> Scores:
    """Eq. 3 of the JS-GAN: a probability."""
    model, sides = of_js(study, seed), study.split(seed)
    return scores_of(lambda side: discriminator(model.answers(side)), sides)


@cache
def distances(study: Study, seed: int, rows: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of both sides to the nearest of the first ``rows`` synthetic records."""
    sides, synthetic = study.split(seed), synthetic_records(study, seed)[:rows]
    members, nonmembers = (nearest(side, synthetic, 1, "l2").distances for side in (sides.members, sides.nonmembers))
    return members, nonmembers


def of_closeness(study: Study, seed: int, rows: int) -> Scores:
    """Eq. 2, nearer is higher."""
    members, nonmembers = distances(study, seed, rows)
    return Scores.of(closeness(members), closeness(nonmembers))


def balance(scores: Scores) -> Scores:
    """As many nonmembers as members, which the heuristics take for granted; they stand in a random order."""
    return Scores.of(scores.members, scores.nonmembers[: scores.n_members])
