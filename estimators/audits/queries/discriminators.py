"""What discriminators of a GAN answer for a record (MACE, Eqs. 3 to 6): higher is more like a member."""

import numpy as np
from numpy.typing import ArrayLike

from estimators.arrays import Floats
from estimators.audits.queries.query import Query, by_name, numbers, plain_array, refuse_first, require_length
from estimators.errors import DimensionMismatch, OutOfRange

CATALOGUE: dict[str, Query] = by_name(
    (
        Query(
            "discriminator",
            "MACE, Eq. 3; Hayes et al. 2019",
            "the discriminator calls the record real: D(z)",
            "none: the answer itself",
            "a sigmoid that rounds to 1: take logits",
            ("outputs",),
        ),
        Query(
            "discriminator_maximum",
            "MACE, Eq. 5; Mukherjee et al. 2021 (privGAN)",
            "one of several discriminators calls it real: max over D_i(z), which must share a scale",
            "one pass over the outputs",
            "as `discriminator`",
            ("outputs",),
        ),
        Query(
            "discriminator_vector",
            "MACE, Eq. 6",
            "a vector: the answers of several discriminators, (D_1(z), ..., D_r(z))",
            "none: the answers themselves",
            "all D_i tie",
            ("outputs",),
            vector=True,
        ),
        Query(
            "hybrid",
            "MACE, Eq. 4",
            "a vector: the discriminator's answer, and minus the distance to the nearest synthetic record",
            "a search for neighbours, beforehand",
            "both parts tie",
            ("outputs", "distances"),
            vector=True,
        ),
    )
)
"""Every query of discriminators by name, which is that of its function."""


def discriminator(outputs: ArrayLike) -> Floats:
    """What the discriminator of a GAN answers for a record (MACE, Eq. 3; Hayes et al. 2019).

    Trained to call training records real, it does so more surely than for others. Costs one pass of the network over
    the records. A sigmoid rounds to 1 and then ties; its logit, or a critic's unbounded answer, does not.

    Args:
        outputs: A number a record: a probability, a logit, or a critic's value; higher for "real".
    """
    array = plain_array(outputs, "outputs")
    if array.ndim == 2 and array.shape[1] > 1:
        raise DimensionMismatch.about(
            "outputs",
            f"got {array.shape[1]} discriminators, need one; discriminator_maximum and discriminator_vector "
            "take several",
        )
    return numbers(array, "outputs")


def discriminator_maximum(outputs: ArrayLike) -> Floats:
    """The largest answer of several discriminators (MACE, Eq. 5; Mukherjee et al. 2021, privGAN).

    For models whose discriminators each saw a part of the records. They must answer on one scale: critics without a
    sigmoid need not. Costs one pass of each network. Ties are those of ``discriminator``.

    Args:
        outputs: A row a record, a column a discriminator; higher for "real".
    """
    return np.asarray(numbers(outputs, "outputs", (2,)).max(axis=1), dtype=np.float64)


def discriminator_vector(outputs: ArrayLike) -> Floats:
    """The answers of several discriminators as a vector (MACE, Eq. 6).

    Gives away at least what their maximum does, and has no direction: a learned adversary finds one. Costs one pass of
    each network. Vectors tie where all discriminators do.
    """
    return numbers(outputs, "outputs", (2,))


def hybrid(outputs: ArrayLike, distances: ArrayLike) -> Floats:
    """The discriminator's answer and the distance to the nearest synthetic record, as a vector (MACE, Eq. 4).

    The distance is negated, so that higher is more like a member in both places. Costs one pass of the network and one
    search for neighbours. Vectors tie where both parts do.

    Args:
        outputs: As for ``discriminator``.
        distances: The distance of each record to the nearest synthetic one, at least 0.
    """
    answers, away = discriminator(outputs), numbers(distances, "distances")
    require_length(away, "distances", len(answers), "records")
    says = "is below 0; give distances, not scores that were negated already"
    refuse_first(away < 0.0, OutOfRange, "distances", says)
    return np.column_stack([answers, 0.0 - away])
