"""MIS, Figure 2: least squares and the nearest neighbour in 10 to 2000 dimensions, 1000 records each.

    OMP_NUM_THREADS=1 .venv/bin/python -m examples.theory.mis.figure2 -o examples/theory/mis/figure2.svg

The paper follows Adam until the training loss is near 0; we take the least squares solution of smallest norm, where
gradient descent from 0 ends. Beside the fractions: what Theorem 11 certifies of that one model, and, from many
independent trainings of which one training record and one new record each are looked at, of the learner, its Sec.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lstsq
from sklearn.neighbors import KNeighborsRegressor

from estimators.statement import at_most
from examples.theory.drawing import line_chart, write_svg
from examples.theory.mis.regression import THRESHOLDS, Floats, Losses, Sample, below, draw
from examples.theory.table import arguments, table
from macekit.reports.charts.frame import Spec

SEED = 0


@dataclass(frozen=True)
class Size:
    """How large everything is."""

    records: int
    heldout: int
    trainings: int
    dimensions: tuple[int, ...]


FULL = Size(1000, 10_000, 200, (10, 100, 500, 900, 1000, 1100, 1500, 2000))
QUICK = Size(100, 1000, 60, (10, 90, 110, 200))


@dataclass(frozen=True)
class Learner:
    """How it learns, and whether the paper has it learn the linear function or the sine."""

    name: str
    says: Callable[[Sample, Floats], Floats]
    linear: bool

    def losses(self, rng: np.random.Generator, size: Size, dimension: int, new: int) -> tuple[Floats, Floats]:
        """One training on data of its own: losses of as many training records as new ones, or of all there are."""
        sample = draw(rng, size.records, dimension, linear=self.linear)
        others = draw(rng, new, dimension, linear=self.linear)
        x, y = np.concatenate((sample.x[:new], others.x)), np.concatenate((sample.y[:new], others.y))
        losses = (self.says(sample, x) - y) ** 2
        return losses[:-new], losses[-new:]


def least_squares(sample: Sample, x: Floats) -> Floats:
    """What the solution of smallest norm says."""
    return np.asarray(x @ lstsq(sample.x, sample.y, lapack_driver="gelsy", check_finite=False)[0])


def neighbour(sample: Sample, x: Floats) -> Floats:
    """What the nearest training record's target is."""
    model = KNeighborsRegressor(n_neighbors=1, algorithm="brute").fit(sample.x, sample.y)
    return np.asarray(model.predict(x))


LEARNERS = (Learner("Least squares", least_squares, True), Learner("Nearest neighbour", neighbour, False))


def one_model(learner: Learner, size: Size, dimension: int) -> Losses:
    """All losses of one training, and of many new records."""
    rng = np.random.default_rng([SEED, dimension, learner.linear])
    return Losses(*learner.losses(rng, size, dimension, size.heldout), of="one_model")


def independent(learner: Learner, size: Size, dimension: int) -> Losses:
    """Of many trainings: one training record's loss and one new record's. Records are alike, so the first will do."""
    rng = np.random.default_rng([SEED, dimension, learner.linear, size.trainings])
    pairs = [learner.losses(rng, size, dimension, 1) for _ in range(size.trainings)]
    train, heldout = (np.concatenate(each) for each in zip(*pairs, strict=True))
    return Losses(train, heldout, of="independent_trainings")


@dataclass(frozen=True)
class AtDimension:
    """In one dimension: one model in full, and many a little."""

    dimension: int
    one: Losses
    many: Losses


Results = dict[str, list[AtDimension]]


def measured(size: Size) -> Results:
    """Either learner over the dimensions."""
    return {
        learner.name: [
            AtDimension(d, one_model(learner, size, d), independent(learner, size, d)) for d in size.dimensions
        ]
        for learner in LEARNERS
    }


def markdown(results: Results) -> str:
    """A table for either learner."""
    return "\n\n".join(f"{name}:\n\n{_table(points)}" for name, points in results.items())


def _table(points: list[AtDimension]) -> str:
    """What is counted, and what is certified."""
    head = (
        "dimension",
        "training loss <= 1e-06",
        *(f"validation loss <= {threshold:g}" for threshold in THRESHOLDS),
        "this model, attacks on its loss: at most (95%)",
        "Sec of the learner: at most (95%)",
    )
    rows = [
        (
            each.dimension,
            f"{below(each.one.train)[0]:.3f}",
            *(f"{share:.4f}" for share in below(each.one.heldout)),
            at_most(each.one.security_at_most()),
            at_most(each.many.security_at_most()),
        )
        for each in points
    ]
    return table(head, rows)


def _panels(name: str, points: list[AtDimension]) -> list[Spec]:
    """The paper's panel, and what is certified."""
    dimensions = [each.dimension for each in points]
    shares = np.array([below(each.one.heldout) for each in points])
    limits = {
        "this model, attacks on its loss": (dimensions, [each.one.security_at_most() for each in points]),
        "Sec of the learner, from independent trainings": (
            dimensions,
            [each.many.security_at_most() for each in points],
        ),
    }
    panel = {f"loss <= {cut:g}": (dimensions, shares[:, i]) for i, cut in enumerate(THRESHOLDS)}
    return [
        line_chart(f"New records whose loss is at most ...: {name}", "dimension", "fraction of records", panel),
        line_chart(
            f"What Theorem 11 certifies that security is at most: {name}", "dimension", "upper end, 95%", limits
        ),
    ]


def figure(results: Results) -> list[Spec]:
    """Both panels of either learner."""
    return [panel for name, points in results.items() for panel in _panels(name, points)]


def main() -> None:
    """Train, print, and draw if asked."""
    options = arguments(__doc__ or "").parse_args()
    results = measured(QUICK if options.quick else FULL)
    print(markdown(results))
    if options.o:
        write_svg(figure(results), options.o)


if __name__ == "__main__":
    main()
