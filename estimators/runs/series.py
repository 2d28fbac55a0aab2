"""The advantage along a series that was fixed in advance: ever more released rows, or one checkpoint after another.

How far a limit is kept is found by walking the series in its order, each step at the full confidence, up to the first
that is not shown to keep it. That needs no correction: of the steps that break the limit one is the first, and the walk
gets past it only if that one's own upper end is wrong (a fixed sequence; Maurer, Hothorn and Lehmacher 1995, Hsu and
Berger 1999). Nothing is taken for granted of the advantage's course: where it rises and falls again the walk stops
early, and the claim holds as before.

The band around all steps holds for all of them together, and is wider: its error is shared among the steps, and its
lower ends share it among the queries, too. A step exceeds the limit if the whole band lies above it there.
"""

from collections.abc import Iterable, Mapping, Sequence

from estimators.clusters.design import Labels
from estimators.clusters.ends import ClusterSummary
from estimators.decisions.compare import asked_once
from estimators.decisions.coverage import AS_CLOSE, NO_PASS, Reach, covers
from estimators.decisions.difference import sound_upper
from estimators.decisions.exposed_members import Withheld, doubts_of, exposures_of
from estimators.decisions.verdict import NEAR, Because, Decision, beneath_baseline, decide, records_needed
from estimators.errors import DimensionMismatch, OptionError, OutOfRange, require_number, require_open_unit
from estimators.optimum.ends import Ends, ends_of
from estimators.privacy.direction import Direction
from estimators.python.dataclass import dataclass, replace
from estimators.sample.counts import Counts, require_data
from estimators.sample.scores import Scores
from estimators.statement import (
    CLUSTERED,
    IID,
    Caution,
    Estimate,
    Guarantee,
    Interval,
    at_least,
    at_most,
    baseline,
    exactly,
    one_end,
    percent,
)

__all__ = ["Series", "Step", "advantage_series"]

Label = str | int
Queries = Mapping[str, Scores | Counts]

IN_ORDER = "; the steps and their order were fixed before the records were seen"


@dataclass(frozen=True, slots=True)
class Step:
    """What one step of a series gives away.

    Attributes:
        label: What the step is called: a checkpoint, or the number of released rows.
        query: The query with the largest estimated advantage there.
        estimate: The advantage of the riskiest query, with an interval that holds for all steps together.
        decisive_upper: The upper end at the confidence of this step alone; a limit is kept up to the step before the
            first at which it is above.
        decision: Pass if this step and all before it are shown to keep the limit; fail if the whole interval is above
            it; None without a limit.
        reason: Why, in words.
        records_needed: Records of both sides that would settle an open decision; None if it is settled, or if in
            practice no number of them settles it.
        clusters: How many clusters that query's rows come in and what that costs; None if none were named.
        undecided_because: ``exposed``, if the step would pass beside a severe exposure; None else.
        reach: Of a pass: whom it covers, whichever query it is.
    """

    label: Label
    query: str
    estimate: Estimate
    decisive_upper: float
    decision: Decision | None = None
    reason: str = ""
    records_needed: int | None = None
    clusters: ClusterSummary | None = None
    undecided_because: Because | None = None
    reach: Reach = NO_PASS

    @property
    def holds_up_to_changes(self) -> int | None:
        """Of a pass: the largest number of changes along any query with which every attacker keeps the limit."""
        return self.reach.changes if self.decision is Decision.PASS else None


@dataclass(frozen=True, slots=True)
class Series:
    """The advantage step by step; ``advantage_series`` makes it.

    Attributes:
        steps: The steps in their order.
        max_advantage: The largest advantage that is acceptable; None if nothing was limited.
        confidence: Probability that all intervals hold together. How far the limit is kept is said wrongly with half of
            the rest at most, and so is which steps exceed it.
        cautions: What to know before using the numbers.

    Example:
        >>> from estimators import Counts, advantage_series
        >>> steps = {"early": Counts.of([50, 50], [50, 50], edges=[0]), "late": Counts.of([5, 95], [95, 5], edges=[0])}
        >>> series = advantage_series(steps, max_advantage=0.5)
        >>> series.last_passed.label, series.first_failed.label
        ('early', 'late')
    """

    steps: tuple[Step, ...]
    max_advantage: float | None
    confidence: float
    cautions: tuple[Caution, ...] = ()

    @property
    def last_passed(self) -> Step | None:
        """The last step up to which, itself included, all keep the limit; None if not even the first is shown to."""
        return next((step for step in reversed(self.steps) if step.decision is Decision.PASS), None)

    @property
    def first_open(self) -> Step | None:
        """The first step that is not shown to keep the limit; None if all are."""
        return next((step for step in self.steps if step.decision is not Decision.PASS), None)

    @property
    def first_failed(self) -> Step | None:
        """The first step that is shown to exceed the limit; None if none is."""
        return next((step for step in self.steps if step.decision is Decision.FAIL), None)

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        if self.max_advantage is None:
            top = max(self.steps, key=lambda step: step.estimate.lower)
            ends = top.estimate
            least = f"is at least {at_least(ends.lower)}" if ends.lower > 0.0 else "may be none at all"
            return (
                f"With {percent(self.confidence)} confidence for all {len(self.steps)} steps together, the advantage "
                f"at {top.label!r} {least}, and at most {at_most(ends.upper)} for attackers who {AS_CLOSE}; no other "
                "step has a higher lower end."
            )
        sure, last, failed = self.sure, self.last_passed, self.first_failed
        limit = exactly(self.max_advantage)
        if last is None:
            words = f"No step is shown with {sure} to keep the advantage at or below {limit}"
        elif self.first_open is None:
            words = f"With {sure} all {len(self.steps)} steps keep the advantage at or below {limit}"
        else:
            words = f"With {sure} every step up to {last.label!r} keeps the advantage at or below {limit}"
        if failed is not None:
            words += f"; {failed.label!r} is the first that is shown to be above: {failed.reason}"
        elif self.first_open is not None:
            words += f"; {self.first_open.label!r} is the first that is not: {self.first_open.reason}"
        return f"{words}."

    @property
    def covers(self) -> tuple[str, ...]:
        """Of a pass of all steps: whom and what it covers, a sentence each; what they do not name is not covered."""
        if any(step.decision is not Decision.PASS for step in self.steps):
            return ()
        return covers(Reach.together(step.reach for step in self.steps).lines, "the scores that were asked")

    @property
    def sure(self) -> str:
        """The confidence of one end, in words."""
        return one_end(self.confidence)


def advantage_series(
    steps: Mapping[str, Scores | Counts | Queries],
    max_advantage: float | None = None,
    prior: float = 0.5,
    confidence: float = 0.95,
    seed: int = 0,
    cluster: Labels | None = None,
    accept_exposure: bool = False,
    doubts: Sequence[Caution] = (),
) -> Series:
    """The advantage at every step of a series, such as the checkpoints of a training, and how far a limit is kept.

    Args:
        steps: For each step, in order, its scores or counts, or those of several queries under their names. Fix the
            steps before you look at the records; an advantage that may rise and fall is no hindrance.
        max_advantage: Largest advantage that is acceptable, from -1 to 1.
        prior, seed: As for ``advantage``.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. Those of all steps
            hold together with it.
        cluster: Whom each row belongs to, if some belong together, as in ``advantage``. It is that of every step and
            query.
        accept_exposure: Whether a step may pass beside a severe exposure.
        doubts: What is odd about the records of all of them beyond what their scores show, such as ``dependent_rows``.

    Raises:
        OptionError: no step, or a step without a query.
        OutOfRange: a number out of its range.
        DimensionMismatch: scores that are vectors.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores, advantage_series
        >>> rng = np.random.default_rng(0)
        >>> members, nonmembers = rng.normal(size=(2, 2000))
        >>> epochs = {f"epoch {k}": Scores.of(members + k / 50, nonmembers) for k in (1, 5, 20)}
        >>> series = advantage_series(epochs, max_advantage=0.1)
        >>> [(step.label, step.decision.value) for step in series.steps]
        [('epoch 1', 'pass'), ('epoch 5', 'pass'), ('epoch 20', 'fail')]
    """
    if not isinstance(steps, Mapping):
        raise OptionError.about("steps", "need a mapping from names to scores")
    named = [(name, each if isinstance(each, Mapping) else {name: each}) for name, each in steps.items()]
    return judge_series(
        named,
        len(named),
        max_advantage,
        prior,
        confidence,
        seed,
        cluster=cluster,
        accept_exposure=accept_exposure,
        doubts=doubts,
    )


def judge_series(
    steps: Iterable[tuple[Label, Queries]],
    number: int,
    max_advantage: float | None = None,
    prior: float = 0.5,
    confidence: float = 0.95,
    seed: int = 0,
    assumes: str = IID,
    cluster: Labels | None = None,
    accept_exposure: bool | None = False,
    doubts: Sequence[Caution] = (),
) -> Series:
    """``advantage_series`` of steps that are made one after the other, so that no two are held at once.

    Args:
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. Those of all steps
            hold together with it.
        accept_exposure: Whether a step may pass beside a severe exposure; None where that is seen to elsewhere.
    """
    prior, confidence = require_open_unit("prior", prior), require_open_unit("confidence", confidence)
    if max_advantage is not None and not -1.0 <= require_number("max_advantage", max_advantage) <= 1.0:
        raise OutOfRange.about("max_advantage", f"got {max_advantage!r}, need a number from -1 to 1")
    if number < 1:
        raise OptionError.about("steps", "got none, need at least 1")
    alpha, within = (1.0 - confidence) / 2.0, True
    together = 1.0 - (1.0 - confidence) / number
    judged: list[Step] = []
    accepted: list[Caution] = []
    for label, queries in steps:
        ends = riskiest_ends(queries, prior, seed, f"step {label!r}", cluster)
        rows = CLUSTERED if any(each.clustered for each in ends.values()) else assumes
        step = step_of(label, ends, alpha, number, confidence, rows + IN_ORDER)
        if max_advantage is not None:
            within = within and step.decisive_upper <= max_advantage
            step = with_decision(step, ends, max_advantage, within, confidence)
        own = tuple(doubts_of({name: each.fine for name, each in ends.items()}, clustered=cluster is not None))
        if step.decision is Decision.PASS and accept_exposure is not None:
            exposures = exposures_of(queries, prior, together, Direction.EITHER, cluster, seed)
            withheld = Withheld.by(exposures, accepted=accept_exposure, odd=(*doubts, *own))
            own = tuple(dict.fromkeys((*withheld.cautions(step.decision), *own)))
            step = without_pass(step, withheld)
            within = step.decision is Decision.PASS
        accepted += (Caution(each.code, f"{label!r}: {each.message}") for each in own if each not in doubts)
        judged.append(step)
    limits = () if max_advantage is None else beneath_baseline(max_advantage, baseline(prior))
    few = dict.fromkeys(each for step in judged if step.clusters for each in step.clusters.cautions)
    return Series(tuple(judged), max_advantage, confidence, (*accepted, *limits, *few))


def without_pass(step: Step, withheld: Withheld) -> Step:
    """The step, its pass withheld where it would hide a severe exposure."""
    because = withheld.because(step.decision)
    if step.decision is None or because is None:
        return step
    return replace(step, decision=withheld.decide(step.decision), reason=withheld.reason, undecided_because=because)


def riskiest_ends(
    queries: Queries, prior: float, seed: int, what: str, cluster: Labels | None = None
) -> dict[str, Ends]:
    """Both ends of each query, at any level; of queries that order the records alike those of the first."""
    if not queries:
        raise OptionError(f"{what}: there is no query, need at least 1", field="queries")
    for name, scores in queries.items():
        require_data(scores, Scores, Counts)
        if isinstance(scores, Scores) and scores.dimension > 1:
            message = f"{what}, query {name!r}: got vectors, need one number a record"
            raise DimensionMismatch(message, field="queries")
    return {name: ends_of(scores, prior, None, seed, cluster=cluster) for name, scores in asked_once(queries).items()}


def riskiest_upper(ends: Mapping[str, Ends], alpha: float) -> float:
    """The upper end of level 1 - alpha of the largest of several queries' advantages: one fixed query is riskiest."""
    return max(sound_upper(each, alpha) for each in ends.values())


def riskiest_estimate(ends: Mapping[str, Ends], alpha: float, confidence: float, assumes: str) -> tuple[str, Estimate]:
    """The query with the largest estimate, and the largest advantage with both ends of level 1 - alpha.

    Args:
        confidence: What is said of the interval, which may hold together with others.
    """
    answers = {name: each.at(1.0 - 2.0 * alpha) for name, each in ends.items()}
    query = max(answers, key=lambda name: answers[name].value)
    # any of the queries may be the one that errs below: they share the error
    lower, upper = max(each.lower(alpha / len(ends)) for each in ends.values()), riskiest_upper(ends, alpha)
    top = answers[query].estimate.interval.guarantee
    guarantee = Guarantee(
        f"the largest of {len(ends)} queries' advantages, each as: {top.covers}" if len(ends) > 1 else top.covers,
        assumes,
        all(each.estimate.interval.guarantee.finite_sample for each in answers.values()),
    )
    value = min(max(answers[query].value, lower), upper)
    return query, Estimate(value, Interval(lower, upper, confidence, guarantee))


def step_of(label: Label, ends: Mapping[str, Ends], alpha: float, number: int, confidence: float, assumes: str) -> Step:
    """One of so many steps: a band that holds for all of them, and an upper end of level 1 - alpha by itself."""
    query, estimate = riskiest_estimate(ends, alpha / number, confidence, assumes)
    return Step(label, query, estimate, riskiest_upper(ends, alpha), clusters=ends[query].clusters)


def with_decision(step: Step, ends: Mapping[str, Ends], most: float, passes: bool, confidence: float) -> Step:
    """The step with its decision: by its own upper end and those before it, or by the lower end of the band."""
    band, above, sure = step.estimate, step.decisive_upper, percent(confidence)
    about = "the advantage" if len(ends) == 1 else f"the advantage, which is largest for {step.query},"
    limit, high = exactly(most), at_most(above, within=most)
    if passes:
        reason = f"with {sure} confidence {about} is at most {high}, not above {limit}"
        reach = Reach.together(Reach.of(each.at(confidence), most) for each in ends.values())
        return replace(step, decision=Decision.PASS, reason=reason, reach=reach)
    if band.lower - most > NEAR:
        low = at_least(band.lower, beyond=most)
        reason = f"with {sure} confidence {about} is at least {low}, above {limit}"
        return replace(step, decision=Decision.FAIL, reason=reason)
    if above <= most:
        reason = f"its upper end, {high}, is not above {limit}, but a step before it is not shown to keep the limit"
        return replace(step, decision=Decision.INCONCLUSIVE, reason=reason)
    source = next(iter(ends.values())).source
    alone = Estimate(band.value, Interval(band.lower, above, confidence, band.interval.guarantee))
    n_sent = source.n_members + source.n_nonmembers
    records = records_needed(alone, most, n_sent)
    reason = decide(about, alone, most, records, n_sent).reason
    return replace(step, decision=Decision.INCONCLUSIVE, reason=reason, records_needed=records)
