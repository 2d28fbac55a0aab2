"""Which release gives away least: a model's scores, parts of it, or data drawn from it (MACE, section 7).

A release is as risky as the riskiest query that it can be asked. The largest of its queries' advantages has an upper
end that needs no correction, for one fixed query is the riskiest, and a lower end for which the queries share the
error; all releases share it once more. How much more one release gives away than another is judged record by record,
for the same rows were asked about each time.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from estimators.clusters.design import Labels
from estimators.decisions import compare
from estimators.decisions.coverage import AS_CLOSE, Reach, covers
from estimators.decisions.difference import DifferenceLimits, difference_of
from estimators.decisions.exposed_members import Withheld, doubts_of, exposures_of
from estimators.decisions.verdict import Because, Decision, beneath_baseline, decision, overall
from estimators.errors import OptionError, OutOfRange, UnknownName, require_number, require_open_unit
from estimators.optimum.answer import Advantage
from estimators.optimum.ends import Ends
from estimators.privacy.direction import Direction
from estimators.python.dataclass import dataclass, field, replace
from estimators.runs.series import Queries, riskiest_ends, riskiest_estimate, riskiest_upper
from estimators.sample.counts import Counts
from estimators.sample.doubts import DOUBTS
from estimators.sample.scores import Scores
from estimators.statement import CLUSTERED, IID, Caution, both_ends, percent

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class ReleaseComparison:
    """Several releases of one training set side by side; ``compare_releases`` makes it.

    Attributes:
        comparison: Each release with the advantage of its riskiest query, the largest first, and the differences from
            the release ``against``; its intervals hold for all releases together.
        riskiest: For each release the query with the largest estimated advantage.
        against: The release that is subtracted from every other.
        decisions: For each release whether it keeps the limit; they hold together. Empty if nothing was limited.
        undecided_because: ``exposed`` for each release that would pass beside a severe exposure.
        reach: For each release that passes, whom that covers, whichever query it is.

    Example:
        >>> from estimators import Counts, compare_releases
        >>> coarse, fine = Counts.of([50, 50], [50, 50], edges=[0]), Counts.of([5, 95], [95, 5], edges=[0])
        >>> answer = compare_releases({"coarse": coarse, "fine": fine})
        >>> [place.name for place in answer.comparison.ranking]
        ['fine', 'coarse']
    """

    comparison: compare.Comparison
    riskiest: Mapping[str, str]
    against: str
    decisions: Mapping[str, Decision]
    undecided_because: Mapping[str, Because] = field(default_factory=dict)
    reach: Mapping[str, Reach] = field(default_factory=dict)

    @property
    def covers(self) -> tuple[str, ...]:
        """Of a pass of all releases: whom and what it covers, a sentence each; what they do not name is not covered."""
        if not self.decisions or overall(self.decisions.values()) is not Decision.PASS:
            return ()
        return covers(Reach.together(self.reach.values()).lines, "the scores that were asked")

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        ranking, sure = self.comparison.ranking, percent(self.comparison.maximum.interval.confidence)
        most, least = (
            both_ends(
                place.advantage.lower,
                place.advantage.upper,
                AS_CLOSE,
                place.advantage.baseline,
                f"the advantage against {place.name!r}",
                "its scores",
            )
            + f" (true rank {compare.ranks(place)})"
            for place in (ranking[0], ranking[-1])
        )
        return (
            f"With {sure} confidence for all {len(ranking)} releases together, {most}, the largest by estimate; and "
            f"{least}, the smallest."
        )


def compare_releases(
    releases: Mapping[str, Scores | Counts | Queries],
    against: str | None = None,
    max_advantage: float | None = None,
    prior: float = 0.5,
    confidence: float = 0.95,
    seed: int = 0,
    paired: bool = True,
    cluster: Labels | None = None,
    accept_exposure: bool = False,
    doubts: Sequence[Caution] = (),
) -> ReleaseComparison:
    """Several releases side by side, each by its riskiest query, and how much more each gives away than one of them.

    Args:
        releases: For each release its scores or counts, or those of several queries under their names, such as
            ``audit_synthetic`` asks (``release_queries``); at least 2.
        against: The release that is subtracted from every other; the first one if it is left out. Name it before you
            look at the records.
        max_advantage: Largest advantage that is acceptable, from -1 to 1.
        prior, seed: As for ``advantage``.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. Those of all
            releases hold together with it, and again those of all differences. That any decision is wrong has half of
            the rest at most.
        paired: Whether row i is the same record in all releases, or the samples are independent.
        cluster: Whom each row belongs to, if some belong together, as in ``advantage``. It is that of every release and
            query.
        accept_exposure: Whether a release may pass beside a severe exposure.
        doubts: What is odd about the records of all of them beyond what their scores show, such as ``dependent_rows``.

    Raises:
        OptionError: fewer than two releases, or one without a query.
        UnknownName: ``against`` is none of the releases.
        DimensionMismatch: scores that are vectors.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores, compare_releases
        >>> rng = np.random.default_rng(0)
        >>> members, nonmembers = rng.normal(size=(2, 2000))
        >>> answer = compare_releases(
        ...     {
        ...         "model": {"loss": Scores.of(members + 0.6, nonmembers), "entropy": Scores.of(members, nonmembers)},
        ...         "table": Scores.of(members + 0.05, nonmembers),
        ...     },
        ...     max_advantage=0.1,
        ... )
        >>> answer.riskiest["model"], {name: each.value for name, each in answer.decisions.items()}
        ('loss', {'model': 'fail', 'table': 'pass'})
        >>> [less] = answer.comparison.differences  # the table's advantage minus the model's
        >>> less.decided, less.estimate.upper < 0
        (True, True)
    """
    prior, confidence = require_open_unit("prior", prior), require_open_unit("confidence", confidence)
    if not isinstance(releases, Mapping):
        raise OptionError.about("releases", "need a mapping from names to scores or queries")
    if len(releases) < 2:
        raise OptionError.about("releases", f"got {len(releases)}, need at least 2")
    if max_advantage is not None and not -1.0 <= require_number("max_advantage", max_advantage) <= 1.0:
        raise OutOfRange.about("max_advantage", f"got {max_advantage!r}, need a number from -1 to 1")
    against = next(iter(releases)) if against is None else against
    if against not in releases:
        raise UnknownName.among("against", against, releases)
    every = {
        name: compare.asked_once(each) if isinstance(each, Mapping) else {name: each} for name, each in releases.items()
    }
    ends = {name: riskiest_ends(each, prior, seed, f"release {name!r}", cluster) for name, each in every.items()}
    alpha = (1.0 - confidence) / 2.0
    answers, riskiest = {}, {}
    for name, each in ends.items():
        riskiest[name], answers[name] = _answer(each, 1.0 - (1.0 - confidence) / len(ends))
    others = [name for name in releases if name != against]
    limits = DifferenceLimits(_flat(every), _flat(ends), paired, seed)
    apart = []
    for name in others:
        least, most, assumes = _limits(limits, every, name, against, alpha / len(others))
        apart.append(difference_of(answers[name], answers[against], least, most, confidence, assumes))
    above = max(riskiest_upper(each, alpha) for each in ends.values())
    comparison = compare.side_by_side(answers, above, confidence, tuple(apart), "release", "releases")
    if max_advantage is None:
        return ReleaseComparison(comparison, riskiest, against, {})
    decisions = {name: decision(each.lower, each.upper, max_advantage) for name, each in answers.items()}
    together, because, reach = 1.0 - (1.0 - confidence) / len(every), {}, {}
    notes: list[Caution] = []
    for name in [name for name, each in decisions.items() if each is Decision.PASS]:
        exposures = exposures_of(every[name], prior, together, Direction.EITHER, cluster, seed)
        odd = (*doubts, *doubts_of(every[name], clustered=cluster is not None))
        withheld = Withheld.by(exposures, accepted=accept_exposure, odd=odd)
        notes += (
            Caution(each.code, f"{name!r}: {each.message}")
            for each in withheld.cautions(Decision.PASS)
            if each.code not in DOUBTS  # the comparison has said them
        )
        decisions[name] = withheld.decide(Decision.PASS)
        if (reason := withheld.because(Decision.PASS)) is not None:
            because[name] = reason
        else:
            reach[name] = Reach.together(Reach.of(each.at(together), max_advantage) for each in ends[name].values())
    notes += beneath_baseline(max_advantage, comparison.ranking[0].advantage.baseline)
    comparison = replace(comparison, cautions=(*notes, *comparison.cautions))
    return ReleaseComparison(comparison, riskiest, against, decisions, because, reach)


def _flat(releases: Mapping[str, Mapping[str, Value]]) -> dict[tuple[str, str], Value]:
    return {(name, query): value for name, each in releases.items() for query, value in each.items()}


def _answer(ends: Mapping[str, Ends], confidence: float) -> tuple[str, Advantage]:
    """The riskiest query by its estimate, and its answer with the ends of the largest of all."""
    assumes = CLUSTERED if any(each.clustered for each in ends.values()) else IID
    query, estimate = riskiest_estimate(ends, (1.0 - confidence) / 2.0, confidence, assumes)
    return query, replace(ends[query].at(confidence), estimate=estimate)


def _limits(
    limits: DifferenceLimits[tuple[str, str]], queries: Mapping[str, Queries], first: str, second: str, alpha: float
) -> tuple[float, float, str]:
    """Both ends of how much more the first gives away, and what they assume.

    Below, each of the first's queries, which share the error, is held against the second's that leaves least: one of
    these is the riskiest, and fixed. Above it is the other way round.
    """
    below, above = (
        {
            (one, other): limits.of((first, one), (second, other), alpha / shares)
            for one in queries[first]
            for other in queries[second]
        }
        for shares in (len(queries[first]), len(queries[second]))
    )
    least = max(min(below[one, other][0] for other in queries[second]) for one in queries[first])
    most = min(max(above[one, other][1] for one in queries[first]) for other in queries[second])
    return least, most, "; ".join(dict.fromkeys(each[2] for each in below.values()))
