"""Whether a model has forgotten records: what tells them from records it has never seen, by one score.

*The residual advantage* is the best attacker's at telling forgotten from never-seen records, on either side of them: a
model that was pushed too far gives its forgotten records away, too.

*The excess over retraining* holds the same records against the scores of a model that was trained again without them.
At a cut of either score that other never-seen records have set, it is how much more often forgotten than never-seen
records lie above the cut, minus the same by the retrained model. A record on one side of both cuts adds nothing: with p
and q the shares of forgotten records above the first cut alone and above the second alone, p' and q' those of
never-seen ones, it is (p + q') - (q + p'). p and q' come from independent records, so their sum has one exact limit
(``TwoRates``), and so has q + p': two limits that share the error are all that it takes.

*The remaining share* at a cut is (F - N) / (R - N), of forgotten, never-seen and retained records beyond it: 0 where
nothing is left, 1 where nothing was forgotten, below 0 where too much was. A share s is refused if F - (1 - s) N - s R
is shown not to be 0: F and N by one exact limit, R by another, which share the error.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import inf
from typing import Literal

import numpy as np

from estimators import errors
from estimators.adversary.insample import cells_upper
from estimators.arrays import Floats, Integers, random_of
from estimators.decisions.exposed_members import Withheld
from estimators.decisions.plan import records_without_leak
from estimators.decisions.verdict import (
    Decision,
    Verdict,
    anything_between,
    by_a_hair,
    decide,
    records_needed,
    what_settles,
)
from estimators.decisions.verdict import verdict as verdict_of
from estimators.limits.binomial import lower_limit, upper_limit
from estimators.limits.root import brentq
from estimators.limits.two_rates import TwoRates
from estimators.optimum.advantage import advantage
from estimators.optimum.answer import Advantage
from estimators.privacy.exposure import exposure
from estimators.python.dataclass import dataclass, replace
from estimators.sample.counting import finest
from estimators.sample.counts import Counts
from estimators.sample.doubts import SAME, SHARED_BY, share_records
from estimators.sample.scores import MIN_RECORDS, Query, Scores
from estimators.statement import (
    IID,
    Caution,
    Estimate,
    Guarantee,
    Interval,
    at_least,
    at_most,
    both_ends,
    exactly,
    percent,
)

Column = Sequence[float] | Floats
CountPair = Floats | Integers

ABOVE = (0.1, 0.5, 0.9)
"""Shares of never-seen records above the cuts at which the excess over retraining is stated."""

ASIDE = 4  # one in so many never-seen and retained records sets the cuts, and is not counted beyond them

OF_RETAINED, MOST = 0.2, 10.0
"""The part of the remaining share's error for the retained records, mostly many; beyond the other none is stated."""

NO_PROOF = "A pass is no proof of forgetting."
NOT_COVERED = (
    "It is no proof of forgetting: it is about one score, and who looks inside the model, or trains it a little "
    "further (relearning), may bring records back."
)
"""What stands under every pass."""

RESIDUAL = "the advantage of telling forgotten from never-seen records"
EXCESS = "the excess over the retrained model"
OF_PASS = (
    "It covers attackers who accuse on one side of one of three cuts, above which about "
    f"{', '.join(map(percent, ABOVE))} of never-seen records lie; the residual advantage alone covers other rules."
)
NOT_TOLD_APART = (
    "retained records are not shown to lie beyond a cut much more often than never-seen ones, so this score may not "
    "see at all what a model remembers: no remaining share is stated, and a pass by this score says little"
)
ONE_MODEL = (
    "the excess is over this one retrained model: another training, with another seed, differs from it, too; that a "
    "difference is more than trainings differ by takes several of them, 19 to say so at 5%"
)
OWN_SCORES = "retrained: every score is the model's own; give those of a model that was trained again"
OF_EXCESS = Guarantee(
    "how much more often forgotten than never-seen records lie above a cut, minus the same by the retrained model; the "
    "intervals of all cuts hold together, and with that of the largest difference",
    f"{IID}; other never-seen records set the cuts; it is about these two models",
    finite_sample=True,
)
OF_SHARE = Guarantee(
    "how much more often forgotten than never-seen records lie beyond this cut, as a share of the same of retained",
    f"{IID}; retained records are of the kind of the forgotten ones",
    finite_sample=True,
)


@dataclass(frozen=True, slots=True)
class CutExcess:
    """The excess at one cut of each model's score, ``above`` which lies such a share of never-seen records."""

    above: float
    cut: float
    retrained_cut: float
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class Excess:
    """The largest difference from the retrained model at one of the cuts; no records of these sizes pass less."""

    estimate: Estimate
    cuts: tuple[CutExcess, ...]
    least_limit: float


@dataclass(frozen=True, slots=True)
class RemainingShare:
    """How much is left at a cut, on the side of it on which retained records lie more often."""

    estimate: Estimate
    cut: float

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        low, high = at_least(self.estimate.lower), at_most(self.estimate.upper)
        more = "; too much was forgotten" if self.estimate.upper < 0.0 else ""
        return f"Of what tells retained from never-seen records at a cut, between {low} and {high} is left{more}."


@dataclass(frozen=True, slots=True)
class UnlearningAudit:
    """What is left of records that a model was to forget; ``audit_unlearning`` makes it.

    Attributes:
        residual: The advantage of telling forgotten (members) from never-seen records, at even odds.
        leans: On which side of never-seen records most forgotten ones are seen.
        least_limit: No records of these sizes pass a smaller limit on the residual advantage.
        excess: The difference from the retrained model; None without one.
        share: The remaining share; None without retained records, and where they are not shown to be told apart.
        records_to_pass: Records of both sides of which most samples keep the limit on the residual advantage if nothing
            is left; None if in practice no number does, and where that is not limited.
        verdict: The decision, on the excess if there is one, else on the residual advantage; None without a limit.
    """

    residual: Advantage
    leans: Literal["above", "below"]
    least_limit: float
    excess: Excess | None
    share: RemainingShare | None
    records_to_pass: int | None
    verdict: Verdict | None
    cautions: tuple[Caution, ...]

    @property
    def covers(self) -> tuple[str, ...]:
        """Of a pass: that it is no proof of forgetting, and whom and what it covers."""
        lines = () if self.verdict is None else self.verdict.covers
        return (NOT_COVERED, *lines) if lines else ()

    @property
    def sentence(self) -> str:
        """The result in plain words, the decision first if one was asked for."""
        return " ".join(self._sentences())

    def _sentences(self) -> Iterator[str]:
        of = self.residual
        if self.verdict is None:
            ends = both_ends(of.lower, of.upper, of.attacker, 0.0, RESIDUAL)
            yield f"With {percent(of.estimate.interval.confidence)} confidence {ends}."
        else:
            yield f"{self.verdict.opening}: {self.verdict.reason}."
            yield f"{RESIDUAL.capitalize()} is between {at_least(of.lower)} and {at_most(of.upper)}."
        if of.lower > 0.0:
            yield f"Forgotten records lie mostly {self.leans} never-seen ones."
        if self.excess is not None:
            low, high = at_least(self.excess.estimate.lower), at_most(self.excess.estimate.upper)
            yield f"{EXCESS.capitalize()} is between {low} and {high}."
        if self.share is not None:
            yield self.share.sentence
        if self.covers:
            yield NO_PROOF


def audit_unlearning(
    forgotten: Column,
    unseen: Column,
    retained: Column | None = None,
    retrained: tuple[Column, Column] | None = None,
    max_advantage: float | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    accept_exposure: bool = False,
    doubts: Sequence[Caution] = (),
) -> UnlearningAudit:
    """What one score of a model still tells of records that it was to forget.

    Args:
        forgotten: The score of each forgotten record, at least 8 numbers.
        unseen: That of records that the model has never seen, of the same kind as the forgotten ones: at least 8.
        retained: That of records that it was trained on and kept, of the same kind: for the remaining share.
        retrained: The scores of a model that was trained again without the forgotten records: of the forgotten records
            and of the never-seen ones, in the same order. The limit is then on the excess over that model.
        max_advantage: Largest advantage, or excess, that is acceptable, from 0 to 1. None: no verdict.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1.
        seed: Whole number from which everything random is drawn, such as which never-seen records set the cuts.
        accept_exposure: Whether the verdict may be a pass beside forgotten records that no never-seen one is like.
        doubts: What is known to be odd about the records.

    Raises:
        MaceError: too few records, scores that are no finite numbers or all the same, or a number out of its range.
    """
    confidence = errors.require_open_unit("confidence", confidence)
    errors.require_count("seed", seed, 0)
    if max_advantage is not None:
        errors.require_from_zero_to_one("max_advantage", max_advantage)
    tables = _finite_scores(
        {"forgotten": forgotten, "unseen": unseen} | ({} if retained is None else {"retained": retained})
    )
    fine = finest(Scores.of(tables["forgotten"], tables["unseen"], Query.CONTINUOUS))
    residual, tails = advantage(fine, confidence=confidence, seed=seed), exposure(fine, confidence)
    rng, notes = random_of(seed, *tables.values()), [*doubts, *fine.doubts]
    order = {name: rng.permutation(len(side)) for name, side in tables.items()}
    excess = share = verdict = to_pass = None
    if retrained is not None:
        again = _finite_scores(dict(zip(tables, retrained, strict=False)), "scores of the retrained model")
        if odd := next((name for name, side in again.items() if len(side) != len(tables[name])), None):
            message = f"retrained: {len(again[odd])} scores of {len(tables[odd])} {odd} records; need one of each"
            raise errors.DimensionMismatch(message, field=odd)
        if all(np.array_equal(side, tables[name]) for name, side in again.items()):
            raise errors.InputError(OWN_SCORES, field="retrained")
        excess = _excess(tables, again, order["unseen"], confidence)
        notes.append(Caution("one_retrained_model", ONE_MODEL))
    if retained is not None:
        share = _remaining(tables, order, confidence)
        if share is None:
            notes.append(Caution("retained_not_told_apart", NOT_TOLD_APART))
        both = (name for name in ("forgotten", "unseen") if share_records(tables[name], tables["retained"]))
        notes += [Caution(SAME, SHARED_BY.format(name, "retained")) for name in both]
    sizes = fine.n_members, fine.n_nonmembers
    least = cells_upper(Counts.of([sizes[0]], [sizes[1]]), 0.5, (1.0 - confidence) / 2.0)
    if max_advantage is not None:
        if excess is None:
            part = float(f"{min(sizes) / sum(sizes):.1g}")  # rounded, so that like sizes are one question
            to_pass = records_without_leak(max_advantage, 0.5, part, confidence)
            verdict = _judge_residual(residual, max_advantage, least, to_pass)
            notes += by_a_hair(verdict.decision, max_advantage, residual)
        else:
            records = records_needed(excess.estimate, max_advantage, sum(sizes))
            verdict = decide(EXCESS, excess.estimate, max_advantage, records, sum(sizes))
            verdict = replace(verdict, coverage=(OF_PASS,))
        withheld = Withheld.by({"": tails}, accepted=accept_exposure, odd=notes)
        notes += withheld.cautions(verdict.decision)
        if because := withheld.because(verdict.decision):
            outcome, reason = withheld.decide(verdict.decision), withheld.reason
            verdict = Verdict(max_advantage, outcome, reason, None, undecided_because=because)
    ordered = np.sort(tables["unseen"])
    below = sum(float(np.searchsorted(ordered, tables["forgotten"], end).mean()) for end in ("left", "right"))
    cautions = tuple(dict.fromkeys((*notes, *tails.cautions, *residual.cautions)))
    leans: Literal["above", "below"] = "above" if below >= sizes[1] else "below"
    return UnlearningAudit(residual, leans, least, excess, share, to_pass, verdict, cautions)


def _finite_scores(columns: Mapping[str, Column], what: str = "scores") -> dict[str, Floats]:
    """Scores as finite numbers, enough of them, not all the same."""
    tables = {}
    for name, values in columns.items():
        side = np.asarray(values)
        if side.ndim != 1 or side.dtype.kind not in "iuf":
            raise errors.InputError.about(name, f"{what} need to be one number a record")
        if len(side) < MIN_RECORDS:
            raise errors.TooFewRecords.about(name, f"got {len(side)} records, need at least {MIN_RECORDS}")
        tables[name] = side = side.astype(np.float64)
        if not np.isfinite(side).all():
            index = int(np.argmin(np.isfinite(side)))
            words = f"{what}: record {index} is NaN or infinite; every score must be finite"
            raise errors.NotFinite.about(name, words, index)
    if len({end for side in tables.values() for end in (side.min(), side.max())}) == 1:
        message = f"{what}: all {sum(map(len, tables.values())):,} of them are equal, so they tell nothing"
        raise errors.InputError(message, field=next(iter(tables)))
    return tables


def _judge_residual(residual: Advantage, most: float, least: float, to_pass: int | None) -> Verdict:
    """The residual advantage against its limit; an open one says whether so few records can pass at all."""
    verdict = verdict_of(residual, most)
    total = residual.provenance.n_members + residual.provenance.n_nonmembers
    few = to_pass is None or total < to_pass
    if verdict.decision is not Decision.INCONCLUSIVE or residual.lower > 0.0 or not few:
        return verdict
    keep = "which so few records seldom keep even where nothing is left"
    if most < least:
        keep = f"and no records of these sizes keep less than {at_least(least)}"
    reason = (
        f"with {percent(residual.estimate.interval.confidence)} confidence {RESIDUAL} may be "
        f"{anything_between(residual.lower, residual.upper)}, your limit is {exactly(most)}, {keep}; "
        f"{what_settles(to_pass, total)}"
    )
    return replace(verdict, reason=reason, records_needed=to_pass)


def _excess(tables: Mapping[str, Floats], again: Mapping[str, Floats], order: Integers, confidence: float) -> Excess:
    """The excess at each cut, and the largest.

    That one is at a fixed cut with a fixed sign, so its upper end is the largest of theirs, each at the level of one.
    Below, any of the six ends may be the one that errs: they share the error.
    """
    aside, rest = np.split(order, [len(order) // ASIDE])
    alpha, cuts, above, below = (1.0 - confidence) / 2.0, [], 0.0, 0.0
    sizes = np.array([len(tables["forgotten"]), len(rest)])
    for share in ABOVE:
        place = int((1.0 - share) * len(aside))
        at = [float(np.sort(side["unseen"][aside])[place]) for side in (tables, again)]
        one, other = (
            np.concatenate([side["forgotten"], side["unseen"][rest]]) > cut
            for side, cut in zip((tables, again), at, strict=True)
        )
        first, second = (np.add.reduceat(each.astype(np.int64), [0, sizes[0]]) for each in (one & ~other, other & ~one))
        more = float(-np.diff((first - second) / sizes)[0])
        shared = alpha / (2 * len(ABOVE))
        low, high = -_excess_upper(second, first, sizes, shared), _excess_upper(first, second, sizes, shared)
        cuts.append(CutExcess(share, at[0], at[1], _between(more, low, high, confidence, OF_EXCESS)))
        above = max(above, *(_excess_upper(*way, sizes, alpha) for way in ((first, second), (second, first))))
        below = max(below, low, -high)
    largest = max(abs(float(each.estimate.value or 0.0)) for each in cuts)
    least = _excess_upper(np.zeros(2), np.zeros(2), sizes, alpha)
    return Excess(_between(largest, below, above, confidence, OF_EXCESS), tuple(cuts), least)


def _excess_upper(first: CountPair, second: CountPair, sizes: CountPair, alpha: float) -> float:
    """Upper limit of level 1 - alpha of the excess, by records above one cut alone: p + q' minus q + p'."""
    (p, p_new), (q, q_new), (n, m) = first, second, sizes
    most = TwoRates.of(p, n, q_new, m, 1.0, 1.0).upper(1.0, 1.0, alpha / 2.0)
    least = TwoRates.of(q, n, p_new, m, 1.0, 1.0).upper(-1.0, -1.0, alpha / 2.0)
    return min(float(most + least), 2.0)


def _between(value: float, low: float, high: float, confidence: float, guarantee: Guarantee) -> Estimate:
    return Estimate(min(max(value, low), high), Interval(low, high, confidence, guarantee))


def _remaining(tables: Mapping[str, Floats], order: Mapping[str, Integers], confidence: float) -> RemainingShare | None:
    """The share at the cut that tells some retained from some never-seen records best, on all others."""
    retained, unseen = (
        np.split(tables[name][order[name]], [len(order[name]) // ASIDE]) for name in ("retained", "unseen")
    )
    at = np.unique(np.concatenate([retained[0], unseen[0]]))
    apart = [np.searchsorted(np.sort(part[0]), at, "right") / len(part[0]) for part in (unseen, retained)]
    place = int(np.argmax(np.abs(apart[0] - apart[1])))
    cut, higher = float(at[place]), bool(apart[0][place] >= apart[1][place])
    sides = (tables["forgotten"], retained[1], unseen[1])
    hits = [(int(((side > cut) == higher).sum()), len(side)) for side in sides]
    f, r, n = (hit / records for hit, records in hits)
    more, less = (partial(_room, hits, (1.0 - confidence) / 2.0, sign) for sign in (1.0, -1.0))
    upper = brentq(more, -MOST, MOST) if more(MOST) < 0.0 <= more(-MOST) else inf
    lower = brentq(less, -MOST, MOST) if less(-MOST) < 0.0 <= less(MOST) else -inf
    if upper == inf or lower == -inf or r <= n:
        return None
    estimate = _between((f - n) / (r - n), lower, upper, confidence, OF_SHARE)
    return RemainingShare(estimate, cut)


def _room(hits: Sequence[tuple[int, int]], alpha: float, sign: float, share: float) -> float:
    """Upper limit of level 1 - alpha of F - (1 - share) N - share R, or of its negative: below 0 a share is refused."""
    forgotten, retained, unseen = hits
    both = TwoRates.of(*forgotten, *unseen, 1.0, 1.0).upper(sign, sign * (share - 1.0), alpha * (1.0 - OF_RETAINED))
    limit = lower_limit if sign * share > 0.0 else upper_limit
    return float(both) - sign * share * limit(*retained, alpha * OF_RETAINED)
