"""Several bounds of one quantity side by side, and the three units that the papers' quantities come in.

What a right guess weighs, and what is gained over the better constant guess, in the papers' three units.

An accuracy is members TPR + nonmembers (1 - FPR). Its gain over max(members, nonmembers) is MIP's eta at the weights
(prior, 1 - prior), half of what the advantage is above its baseline there, and Delta as a share of the smaller weight.
"""

from collections.abc import Iterable
from math import inf

from estimators.errors import require_open_unit, require_positive
from estimators.python.dataclass import dataclass, replace
from estimators.statement import baseline

SLACK = 1e-12  # by how much two ways to compute the same number may differ


@dataclass(frozen=True, slots=True)
class Bound:
    """One bound: ``name`` is stable, ``quantity`` is what it bounds, ``says`` is for people.

    ``proven`` is false for what a paper prints and a counterexample refutes: it is shown, and never the tightest.
    """

    quantity: str
    name: str
    says: str
    value: float
    source: str
    assumes: str = "none"
    proven: bool = True
    tightest: bool = False


def side_by_side(bounds: Iterable[Bound]) -> tuple[Bound, ...]:
    """Mark the smallest of what is proven, quantity by quantity; equals to rounding are all marked; order is kept."""
    table = tuple(bounds)
    least: dict[str, float] = {}
    for each in table:
        if each.proven:
            least[each.quantity] = min(each.value, least.get(each.quantity, each.value))
    return tuple(
        replace(each, tightest=each.proven and each.value < inf and each.value <= least[each.quantity] + SLACK)
        for each in table
    )


def gamma_of(nonmember_share: float, member_weight: float = 1.0) -> float:
    """MIS's gamma = nu/(lambda (1-nu)): how a false alarm weighs against a member missed; nu, the nonmembers' share."""
    nu = require_open_unit("nonmember_share", nonmember_share)
    return nu / (require_positive("member_weight", member_weight) * (1.0 - nu))


def guess_accuracy(nonmember_share: float, member_weight: float = 1.0) -> float:
    """Accuracy of the better constant guess: max(nu, lambda (1-nu)) (MIS, after Definition 2)."""
    nu = require_open_unit("nonmember_share", nonmember_share)
    return max(nu, require_positive("member_weight", member_weight) * (1.0 - nu))


def accuracy(delta: float, nonmember_share: float, member_weight: float = 1.0) -> float:
    """Accuracy of the best attack at Delta (MIS, Theorem 6): from the baseline at 0 to nu + lambda (1-nu) at 1."""
    smaller = min(nonmember_share, member_weight * (1.0 - nonmember_share))
    return guess_accuracy(nonmember_share, member_weight) + smaller * delta


def normalised(gain: float, members: float, nonmembers: float) -> float:
    """MIS's Delta of a gain: as a share of the smaller weight, which is all there is to be gained."""
    return gain / min(members, nonmembers)


def advantage_of(gain: float, prior: float) -> float:
    """The advantage of a gain at the prior: without one it is the baseline to the last bit."""
    return baseline(prior) + 2.0 * gain
