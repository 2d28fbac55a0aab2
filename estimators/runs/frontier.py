"""The most useful of several candidates that is shown to keep a limit: which model, noise or release may go out.

Each candidate is judged by the upper end of its riskiest query, and the error is spent so that not one of those that
break the limit passes, but with half of 1 - confidence at most, however the candidates depend on each other:

* in the order in which they were declared, the most cautious first: each at the full level, up to the first that is not
  shown to keep the limit (a fixed sequence); or from several starts, which share the level and carry on what they have
  after a pass (fallback; Wiens and Dmitrienko 2005), where the order is doubtful;
* without an order: the level is shared among all that are left, again after each that passes (Holm 1979).

Which of them is the most useful is by the utilities that were given, which nobody certifies. That none may go out is an
answer.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite

from estimators.clusters.design import Labels
from estimators.decisions.coverage import Reach, covers
from estimators.decisions.exposed_members import Withheld, doubts_of, exposures_of
from estimators.decisions.verdict import Decision, beneath_baseline
from estimators.errors import DimensionMismatch, OptionError, OutOfRange, require_count, require_open_unit
from estimators.optimum.ends import Ends
from estimators.privacy.direction import Direction
from estimators.python.dataclass import dataclass, replace
from estimators.runs import series
from estimators.sample.counts import Counts
from estimators.sample.scores import Scores
from estimators.statement import CLUSTERED, IID, Caution, baseline, exactly, one_end

__all__ = ["Frontier", "frontier"]

DECLARED = "; the candidates and their order were fixed before the records were seen"
FIXED = "; the candidates were fixed before the records were seen"


@dataclass(frozen=True, slots=True)
class Frontier:
    """Which candidates keep a limit, and the most useful of them; ``frontier`` makes it.

    Attributes:
        steps: The candidates as they came, each with its interval and its decision.
        utility: How useful each is, as it was given.
        max_advantage: The largest advantage that is acceptable.
        confidence: Probability that all intervals hold together. That any candidate passes which breaks the limit has
            half of the rest at most.
        cautions: What to know before using it.
    """

    steps: tuple[series.Step, ...]
    utility: tuple[float, ...]
    max_advantage: float
    confidence: float
    cautions: tuple[Caution, ...] = ()

    @property
    def place(self) -> int | None:
        """Where the most useful of those that pass stands; the first of equals; None if none passes."""
        places = [at for at, step in enumerate(self.steps) if step.decision is Decision.PASS]
        return max(places, key=lambda at: (self.utility[at], -at)) if places else None

    @property
    def best(self) -> series.Step | None:
        """The most useful of those that pass; None if none does."""
        return None if self.place is None else self.steps[self.place]

    @property
    def decision(self) -> Decision:
        """Pass if any candidate may go out, fail if all are shown to exceed the limit."""
        if self.place is not None:
            return Decision.PASS
        failed = all(step.decision is Decision.FAIL for step in self.steps)
        return Decision.FAIL if failed else Decision.INCONCLUSIVE

    @property
    def covers(self) -> tuple[str, ...]:
        """Of a candidate that may go out: whom and what its pass covers, a sentence each."""
        if self.best is None:
            return ()
        return covers(Reach.together([self.best.reach]).lines, "the scores that were asked")

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        sure, limit = one_end(self.confidence), exactly(self.max_advantage)
        if self.decision is Decision.FAIL:
            return f"All {len(self.steps)} candidates are shown with {sure} to exceed an advantage of {limit}."
        if self.place is None:
            none = f"None of the {len(self.steps)} candidates is shown with {sure}"
            why = next((f" {step.label!r}: {step.reason}." for step in self.steps if step.undecided_because), "")
            return f"{none} to keep the advantage at or below {limit}.{why}"
        number = sum(step.decision is Decision.PASS for step in self.steps)
        return (
            f"{self.steps[self.place].label!r} may go out, the most useful of {number} of {len(self.steps)} candidates "
            f"(utility {exactly(self.utility[self.place])}) that are shown with {sure}, all at once, to keep the "
            f"advantage at or below {limit}."
        )


def frontier(
    candidates: Mapping[str, Scores | Counts | series.Queries],
    utility: Sequence[float],
    max_advantage: float,
    *,
    is_ordered: bool = True,
    starts: int = 1,
    prior: float = 0.5,
    confidence: float = 0.95,
    seed: int = 0,
    cluster: Labels | None = None,
    accept_exposure: bool = False,
    doubts: Sequence[Caution] = (),
) -> Frontier:
    """Which candidates keep the limit, and the most useful of them.

    Args:
        candidates: For each, in the declared order, its scores or counts, or those of several queries by name.
        utility: How useful each is, in the same order: an accuracy, say, on other records than these.
        max_advantage: Largest advantage that is acceptable, from -1 to 1.
        is_ordered: Whether the order was declared before the scores were seen, the most cautious first.
        starts: From how many places of that order candidates are tried; they share the level.
        prior, confidence, seed: As for ``advantage``.
        cluster: Whom each row belongs to, as in ``advantage``; it is that of every candidate.
        accept_exposure: Whether a candidate may pass beside a severe exposure.
        doubts: What is odd about the records of all of them beyond what their scores show, such as ``dependent_rows``.

    Raises:
        DimensionMismatch: not a utility for each candidate.
        OutOfRange: a number out of its range.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores
        >>> from estimators.runs.frontier import frontier
        >>> members, nonmembers = np.random.default_rng(0).normal(size=(2, 2000))
        >>> models = {"plain": Scores.of(members + 1, nonmembers), "noisy": Scores.of(members, nonmembers)}
        >>> result = frontier(models, [0.8, 0.7], max_advantage=0.1, is_ordered=False)
        >>> result.best.label, result.steps[0].decision.value
        ('noisy', 'fail')
    """
    prior, confidence = require_open_unit("prior", prior), require_open_unit("confidence", confidence)
    if not -1.0 <= max_advantage <= 1.0:
        raise OutOfRange.about("max_advantage", f"got {max_advantage!r}, need a number from -1 to 1")
    if len(utility) != len(candidates):
        message = f"got {len(utility)} numbers, need one for each of {len(candidates)} candidates, in order"
        raise DimensionMismatch.about("utility", message)
    if not all(map(isfinite, utility)):
        raise OutOfRange.about("utility", "need finite numbers")
    require_count("starts", starts)
    if starts > (len(candidates) if is_ordered else 1):
        words = "need at most one for each candidate, and an order that was declared"
        raise OptionError.about("starts", words)
    queries = {name: each if isinstance(each, Mapping) else {name: each} for name, each in candidates.items()}
    every = {
        name: series.riskiest_ends(each, prior, seed, f"candidate {name!r}", cluster) for name, each in queries.items()
    }
    judge = _Judge(
        queries, every, max_advantage, prior, confidence, seed, cluster, accept_exposure, is_ordered, tuple(doubts)
    )
    steps, notes = judge.in_order(starts) if is_ordered else judge.without_order()
    limits = beneath_baseline(max_advantage, baseline(prior))
    return Frontier(tuple(steps), tuple(map(float, utility)), max_advantage, confidence, (*notes, *limits))


@dataclass(frozen=True, slots=True)
class _Judge:
    """The ends of every candidate, and what they are held against."""

    candidates: Mapping[str, series.Queries]
    every: Mapping[str, Mapping[str, Ends]]
    most: float
    prior: float
    confidence: float
    seed: int
    cluster: Labels | None
    accept_exposure: bool
    is_ordered: bool
    doubts: tuple[Caution, ...]

    @property
    def alpha(self) -> float:
        """The chance of a wrong pass, of all candidates together."""
        return (1.0 - self.confidence) / 2.0

    def step(self, name: str, level: float, is_tried: bool) -> tuple[series.Step, tuple[Caution, ...]]:
        """A candidate judged at this level, or shown at it though it is not tried; a pass that hides no exposure."""
        ends = self.every[name]
        rows = CLUSTERED if any(each.clustered for each in ends.values()) else IID
        assumes = rows + (DECLARED if self.is_ordered else FIXED)
        step = series.step_of(name, ends, level, len(self.every), self.confidence, assumes)
        step = series.with_decision(
            step, ends, self.most, is_tried and step.decisive_upper <= self.most, self.confidence
        )
        fine = {each: own.fine for each, own in ends.items()}
        odd = tuple(doubts_of(fine, clustered=self.cluster is not None))
        if step.decision is not Decision.PASS:
            return step, _about(name, odd)
        together = 1.0 - (1.0 - self.confidence) / len(self.every)
        exposures = exposures_of(self.candidates[name], self.prior, together, Direction.EITHER, self.cluster, self.seed)
        withheld = Withheld.by(exposures, accepted=self.accept_exposure, odd=(*self.doubts, *odd))
        notes = dict.fromkeys((*withheld.cautions(step.decision), *odd))
        return series.without_pass(step, withheld), _about(name, [each for each in notes if each not in self.doubts])

    def in_order(self, starts: int) -> tuple[list[series.Step], list[Caution]]:
        """From each start on, as far as candidates pass."""
        places = {round(at * len(self.every) / starts) for at in range(starts)}
        level, steps, notes = 0.0, list[series.Step](), list[Caution]()
        for at, name in enumerate(self.every):
            level += self.alpha / starts if at in places else 0.0
            step, own = self.step(name, level or self.alpha, is_tried=level > 0.0)
            level = level if step.decision is Decision.PASS else 0.0
            steps.append(step)
            notes += own
        return steps, notes

    def without_order(self) -> tuple[list[series.Step], list[Caution]]:
        """Holm: what passes at an equal share of the level leaves its share to the others."""
        left, levels = list(self.every), dict[str, float]()
        while left:
            level = self.alpha / len(left)
            levels |= dict.fromkeys(left, level)
            rest = [name for name in left if series.riskiest_upper(self.every[name], level) > self.most]
            if rest == left:
                break
            left = rest
        every = [self.step(name, levels[name], is_tried=True) for name in self.every]
        return [step for step, _ in every], [note for _, own in every for note in own]


def _about(name: str, cautions: Iterable[Caution]) -> tuple[Caution, ...]:
    """What is to be known of one candidate, with its name."""
    return tuple(replace(each, message=f"{name!r}: {each.message}") for each in cautions)
