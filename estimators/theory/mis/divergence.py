"""Two laws of one output, for a member and for a nonmember: how far apart MIS takes them to be, and the best attack."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.arrays import Floats
from estimators.errors import DimensionMismatch, NotDistribution
from estimators.python.dataclass import dataclass
from estimators.statement import Caution
from estimators.theory.bounds import Bound, accuracy, gamma_of, guess_accuracy, side_by_side
from estimators.theory.dp.ceilings import total_variation_printed
from estimators.theory.mis.security import divergence
from estimators.theory.mis.statement import WORST, weight_in_words
from estimators.theory.tables import distribution, rows_of

SHARES = tuple(i / 50.0 for i in range(1, 50))  # shares of nonmembers of the curve

NOTHING = 1e-12
"""A Delta below is what rounding leaves of 0; so is a difference of two probabilities, as a share of their sum."""

MOST_NAMED = 8  # outputs that a sentence names

AS_STATED = Caution(
    "laws_as_stated",
    "the two laws are taken as they are. Laws counted from a sample lie further apart than the true ones: ask mace "
    "estimate about the scores instead",
)


@dataclass(frozen=True, slots=True, eq=False)
class DivergenceStatement:
    """How far two laws of an output are apart, and the best attack; ``mis.assess_divergence`` makes it.

    Attributes:
        sentence: The result in plain words.
        cautions: What to know before using the numbers.
        gamma: How a false alarm weighs against a missed member.
        delta: D_gamma of the two laws: 0 if they are equal, 1 if they have nothing in common.
        total_variation: D_gamma at gamma = 1, the worst.
        baseline: Accuracy of guessing.
        accuracy: Accuracy of the best attack.
        says_member: The best attack: true where an output makes it say "member".
        true_positive_rate: Probability that it says so of a member.
        false_positive_rate: Probability that it says so of a nonmember.
        shares: Shares of nonmembers of the curve.
        deltas: D_gamma at each of them.
        bounds: The truth, and the bounds on it.
    """

    sentence: str
    cautions: tuple[Caution, ...]
    gamma: float
    delta: float
    total_variation: float
    baseline: float
    accuracy: float
    says_member: NDArray[np.bool_]
    true_positive_rate: float
    false_positive_rate: float
    shares: tuple[float, ...]
    deltas: tuple[float, ...]
    bounds: tuple[Bound, ...]


def assess_divergence(
    outputs: ArrayLike, *, nonmember_share: float | None = None, member_weight: float = 1.0
) -> DivergenceStatement:
    """How far the laws of an output are apart for a member and for a nonmember (MIS, Eqs. 3 to 5), and the best attack.

    Args:
        outputs: A row for each output: its probability for a member, then for a nonmember.
        nonmember_share: Share of nonmembers among the records that are attacked (nu), strictly between 0 and 1. None:
            the worst share.
        member_weight: What a true positive weighs against a true negative (lambda), above 0.

    Raises:
        MaceError: columns that are no probabilities, or not two of them.

    Example:
        >>> from estimators.theory import mis
        >>> print(mis.assess_divergence([[0.7, 0.2], [0.2, 0.3], [0.1, 0.5]], nonmember_share=0.5).sentence)
        At this share of nonmembers Delta is 0.5 and security 0.5: the best attack says member at output 0 and has an
        accuracy of 0.75, against a baseline of 0.5 for guessing.
    """
    table = rows_of("outputs", outputs)
    if table.shape[1] != 2:
        raise DimensionMismatch.about(
            "outputs", f"got {table.shape[1]} numbers a row, need 2: the probability for a member, then for a nonmember"
        )
    member, nonmember = _law(table[:, 0], "a member"), _law(table[:, 1], "a nonmember")
    share = member_weight / (1.0 + member_weight) if nonmember_share is None else nonmember_share
    gamma = 1.0 if nonmember_share is None else gamma_of(share, member_weight)
    delta, apart = divergence(nonmember, member, gamma), divergence(nonmember, member)
    says_member = member - gamma * nonmember > NOTHING * (member + gamma * nonmember)
    right, guessing = accuracy(delta, share, member_weight), guess_accuracy(share, member_weight)
    where = "At the worst share" if nonmember_share is None else "At this share"
    sentence = f"{where} of nonmembers no attack beats guessing (accuracy {guessing:.6g}): Delta is 0, up to rounding."
    if delta >= NOTHING:
        attack = f"says member at output{_outputs_in_words(says_member)} and has an accuracy of {right:.6g}"
        sentence = (
            f"{where} of nonmembers Delta is {delta:.6g} and security {1.0 - delta:.6g}: the best attack {attack}, "
            f"against a baseline of {guessing:.6g} for guessing{weight_in_words(member_weight)}."
        )
    printed = total_variation_printed(apart, share, member_weight)
    return DivergenceStatement(
        sentence,
        (AS_STATED, *((WORST,) if nonmember_share is None else ())),
        gamma,
        delta,
        apart,
        guessing,
        right,
        says_member,
        min(1.0, float(member[says_member].sum())),
        min(1.0, float(nonmember[says_member].sum())),
        SHARES,
        tuple(divergence(nonmember, member, gamma_of(each, member_weight)) for each in SHARES),
        side_by_side(
            (
                Bound("mis_delta", "exact", "D_gamma of the two laws", delta, "MIS, Eqs. 3 to 5"),
                Bound("mis_delta", "total_variation", "at every share of nonmembers", apart, "this project"),
                Bound("mis_delta", "as_printed", "max(1, gamma) times the same", printed, "MIS, Remark 7"),
            )
        ),
    )


def _law(column: Floats, whose: str) -> Floats:
    try:
        return distribution(column, "outputs")
    except NotDistribution as error:
        raise NotDistribution(f"{error}, for {whose}", field="outputs", index=error.index) from None


def _outputs_in_words(says_member: NDArray[np.bool_]) -> str:
    """The outputs at which an attack says member, after "output"."""
    outputs = [int(each) for each in np.flatnonzero(says_member)]
    names, more = ", ".join(map(str, outputs[:MOST_NAMED])), len(outputs) - MOST_NAMED
    rest = f" and {more} more" if more > 0 else ""
    return f"{'' if len(outputs) == 1 else 's'} {names}{rest}"
