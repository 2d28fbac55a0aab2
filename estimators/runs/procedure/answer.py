"""What a training procedure gives away, from several models that it made: their mean, the next one, how they vary.

Of each model the question is that of ``advantage``: the best attacker on this model, who knows its scores. The
advantage of a procedure is the mean of that over trainings. An attacker who reads the scores of all models by one rule
has no more.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.adversary.insample import last_within
from estimators.decisions.coverage import LEAST, NO_PASS, USUAL, Reach, covers, ends_of
from estimators.decisions.exposed_members import Withheld
from estimators.decisions.verdict import MOST_RECORDS, NONE_SETTLES, Because, Decision, decide, decision, opening
from estimators.errors import OutOfRange, require_count, require_number, require_open_unit
from estimators.optimum.answer import MOST_CHANGES
from estimators.optimum.ends import checked_ends
from estimators.privacy.exposure import Exposure
from estimators.python.dataclass import dataclass, field, replace
from estimators.python.renamed import renamed
from estimators.runs.procedure.limits import Range, Trainings, best_of_changes, evidence_by, evidence_without_repeats
from estimators.runs.procedure.models import (
    by_model,
    doubts_by,
    exposed,
    exposures_by,
    of_models,
    seed_by_ranks,
    seeds_of,
)
from estimators.sample.counting import times_repeated
from estimators.sample.counts import require_data
from estimators.sample.doubts import REPEATED
from estimators.sample.scores import Scores
from estimators.statement import (
    IID,
    VERSION,
    Caution,
    Estimate,
    Guarantee,
    Interval,
    Provenance,
    at_least,
    at_most,
    baseline,
    percent,
    percent_at_least,
    percent_at_most,
)

FEW = 40  # models below which a kind of training that is rare may well be missing among them
MOST_MODELS = 10_000  # trainings that somebody may still run

VARIES = "the advantage is normal over trainings, of about as many records each"
TRAININGS = "models are independent trainings by one procedure, each with records of its own; of each model, " + IID
NORMAL = TRAININGS + "; what models give away varies without rare extremes"


@dataclass(frozen=True, slots=True)
class ModelAdvantage:
    """One of the models, by itself: its advantage, with an interval for this model alone.

    Attributes:
        label: What the model is called.
        n_members: Its member records.
        n_nonmembers: Its nonmember records.
        estimate: Its advantage.
    """

    label: str
    n_members: int
    n_nonmembers: int
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class ProcedureVerdict:
    """A decision about a procedure at a threshold, and what would settle it if it is open.

    Attributes:
        threshold: The largest advantage that is acceptable.
        decision: ``Decision.PASS``, ``Decision.FAIL`` or ``Decision.INCONCLUSIVE``.
        reason: Why, and what to do, in words.
        is_proven: Whether it rests on ``any_variation``; otherwise on the simulated interval of the mean.
        models_needed: So many models in all, each with as many records, are expected to settle it; None if it is
            settled, or if more models alone do not.
        records_needed: Likewise so many records of these same models in all.
        undecided_because: ``exposed``, if it would be a pass beside a severe exposure by one of the models; None else.
        cautions: That a pass was withheld for that, or stands because exposure was accepted.
        reach: Of a pass: whom it covers.
    """

    threshold: float
    decision: Decision
    reason: str
    is_proven: bool
    models_needed: int | None = None
    records_needed: int | None = None
    undecided_because: Because | None = None
    cautions: tuple[Caution, ...] = ()
    reach: Reach = NO_PASS

    @property
    def holds_up_to_changes(self) -> int | None:
        """Of a pass: the largest number of changes along each model's score with which attackers keep the limit."""
        return self.reach.changes if self.decision is Decision.PASS else None

    @property
    def covers(self) -> tuple[str, ...]:
        """Of a pass: whom and what it covers, a sentence each; what they do not name is not covered."""
        if self.decision is not Decision.PASS:
            return ()
        on_average = "It covers the average over models of this training procedure, and not each of them."
        return covers([*self.reach.lines, on_average])

    @property
    def sentence(self) -> str:
        """The decision in plain words."""
        more = self.models_needed is not None or self.records_needed is not None
        return f"{opening(self.decision, more)}: {self.reason}."


@dataclass(frozen=True, slots=True)
class Procedure:
    """What a training procedure gives away; ``procedure_advantage`` makes it.

    Attributes:
        estimate: The mean advantage over trainings, with its interval.
        next_model: Between these ends lies the advantage of one new model.
        any_variation: Limits of the mean that are proven however trainings vary; wide with few models.
        spread: The standard deviation of the advantage between trainings, beyond what the choice of records makes.
        records_cannot: The share of the variance that is between trainings, so that more records of these models cannot
            remove it.
        models: Each model by itself, in the order of their names.
        baseline: The advantage of an attacker who sees no score, |2 x prior - 1|.
        cautions: What to know before using the numbers.
        provenance: Method, version, numbers of records, prior and seed.
        trainings: What the limits were made of.
        exposures: For each model what its scores expose; the limits of all models hold together.
        by_changes: What the best rule of at most 0, 1, ... changes along the score has on each model's records, where
            a guess may change more often than the upper end covers; else None.
        groups: The fewest and the most values, or groups of values, of scores that are read whole; None if there are
            none.
        doubts: What is odd about the scores of single models, by some of which they cannot answer the question.
    """

    estimate: Estimate
    next_model: Interval
    any_variation: Interval
    spread: Estimate
    records_cannot: Estimate
    models: tuple[ModelAdvantage, ...]
    baseline: float
    cautions: tuple[Caution, ...]
    provenance: Provenance
    trainings: Trainings = field(repr=False)
    exposures: Mapping[str, Exposure] = field(repr=False)
    by_changes: NDArray[np.float64] | None = field(repr=False)
    groups: tuple[int, int] | None
    doubts: tuple[Caution, ...] = ()

    @property
    def value(self) -> float:
        """The estimated mean."""
        return float(self.estimate.value or 0.0)

    @property
    def over(self) -> str:
        """What the advantage is compared with."""
        if self.baseline == 0:
            return "over a coin toss"
        return f"where always guessing the likelier side already gives {self.baseline:.3f}"

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        ends, coming, share = self.estimate, self.next_model, self.records_cannot
        return (
            f"With {percent(ends.interval.confidence)} confidence the advantage on models of this training procedure, "
            f"{self.over}, is on average at least {at_least(ends.lower)}, whoever reads the score, and at most "
            f"{at_most(ends.upper)} for attackers who {USUAL}; on one new model it lies between "
            f"{at_least(coming.lower)} and {at_most(coming.upper)}. "
            f"Of what makes the mean of these {len(self.models)} models uncertain, {share.value:.0%} is their own "
            f"difference ({percent_at_least(share.lower)} to {percent_at_most(share.upper)}), which more records of "
            "them cannot remove."
        )

    @renamed("threshold", "max_advantage")
    def verdict(
        self, max_advantage: float, accept_simulated: bool = False, accept_exposure: bool = False
    ) -> ProcedureVerdict:
        """What the limits of the mean say about the largest acceptable, and whether models or records would settle it.

        Args:
            max_advantage: Largest advantage that is acceptable, from -1 to 1.
            accept_simulated: Decide by the interval of the mean, which is simulated and assumes that trainings vary
                without rare extremes; without it, by ``any_variation``, which is proven and takes more models.
            accept_exposure: Whether a pass may stand beside a severe exposure by one of the models.
        """
        threshold = require_number("max_advantage", max_advantage)
        if not -1.0 <= threshold <= 1.0:
            raise OutOfRange.about("max_advantage", f"got {threshold!r}, need a number between -1 and 1")
        proven = replace(self.estimate, interval=self.any_variation)
        rests_on, other = (self.estimate, proven) if accept_simulated else (proven, self.estimate)
        records = sum(each.n_members + each.n_nonmembers for each in self.models)
        plain = decide("the procedure's advantage", rests_on, threshold, None, records)
        beside = self._beside(other, threshold, accept_simulated)
        withheld = Withheld.by(self.exposures, accepted=accept_exposure, one="model", odd=self.doubts)
        because = withheld.because(plain.decision)
        if plain.decision is not Decision.INCONCLUSIVE or because:
            reason, reach = plain.reason + beside * accept_simulated, NO_PASS
            if plain.decision is Decision.PASS:
                changes = self._holds_up_to(threshold, accept_simulated)
                reach = Reach(changes, changes, self.groups)
                reason = f"{reason}.{withheld.acceptance}".removesuffix(".")
            return ProcedureVerdict(
                threshold,
                withheld.decide(plain.decision),
                withheld.reason if because else reason,
                not accept_simulated,
                undecided_because=because,
                cautions=withheld.cautions(plain.decision),
                reach=reach,
            )
        alpha = (1.0 - self.estimate.interval.confidence) / 2.0
        times = None
        if accept_simulated:
            models = self.trainings.models_for(threshold, self.value, alpha, MOST_MODELS)
            times = self.trainings.times_for(threshold, self.value, alpha, max(1, MOST_RECORDS // records))
        else:
            models = self.trainings.models_for_any_variation(threshold, alpha, MOST_MODELS)
        more = models - len(self.models) if models is not None else 0
        ways = [
            *([] if models is None else [f"{more} more model{'s' * (more != 1)}, each with as many records"]),
            *([] if times is None else [f"{times} times the records of these models"]),
        ]
        none = "neither more models nor more records alone are" if accept_simulated else "no number of models is"
        advice = f"about {', or '.join(ways)}, would settle it" if ways else f"{none} expected to settle it"
        reason = plain.reason.replace(f"{NONE_SETTLES} it", advice) + beside * (not accept_simulated)
        total = None if times is None else times * records
        return ProcedureVerdict(threshold, plain.decision, reason, not accept_simulated, models, total)

    def _holds_up_to(self, threshold: float, accept_simulated: bool) -> int | None:
        """The most changes along each model's score with which attackers keep a limit that the upper end keeps.

        A proven end grows with the class. A simulated one may not, where models grow alike, and the first counts that
        is above.
        """
        if self.by_changes is None:
            return None
        alpha, best = (1.0 - self.estimate.interval.confidence) / 2.0, self.by_changes

        def within(changes: int) -> bool:
            larger = self.trainings.of_class(best[:, changes])
            upper = (larger.mean(alpha) if accept_simulated else larger.whatever_they_do(alpha))[1]
            return changes <= LEAST or min(upper, 1.0) <= threshold

        if not accept_simulated:
            return last_within(within, LEAST, MOST_CHANGES + 1)
        return next((each for each in range(MOST_CHANGES) if not within(each + 1)), MOST_CHANGES)

    def _beside(self, other: Estimate, threshold: float, is_proven: bool) -> str:
        """What the limits that the verdict does not rest on say, where they differ from those it rests on."""
        is_open = decision(other.lower, other.upper, threshold) is Decision.INCONCLUSIVE
        where = f"[{at_least(other.lower)}, {at_most(other.upper)}]"
        if is_proven and is_open:
            return (
                "; it rests on a simulated interval, which assumes that trainings vary without rare extremes: the "
                f"limits that hold however they vary, {where}, contain the limit"
            )
        if not is_proven and not is_open:
            return (
                f"; the interval {where}, which is simulated and assumes that trainings vary without rare extremes, "
                "does not contain the limit: accept_simulated lets it decide"
            )
        return ""


def procedure_advantage(
    data: Scores, model: ArrayLike, prior: float = 0.5, confidence: float = 0.95, seed: int = 0
) -> Procedure:
    """What the procedure that trained several models gives away, and what its next model will.

    Args:
        data: Scores of both sides, of all models together (``Scores.of``). Each model has members and nonmembers of its
            own, at least 8 of either.
        model: Which model scored each row, members' rows first: text or whole numbers, at least 4 different ones.
        prior, seed: As for ``advantage``.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. That of the next model
            covers it with this probability.

    Raises:
        TooFewRecords: fewer than 4 models, or a model with fewer than 8 rows of a side.
        DimensionMismatch: not a label for each row, or scores that are vectors.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores
        >>> from estimators.runs.procedure import procedure_advantage
        >>> rng = np.random.default_rng(0)
        >>> leaks, model = rng.normal(0.5, 0.2, 8), np.repeat(np.arange(8), 500)
        >>> scores = Scores.of(rng.normal(leaks[model], 1.0), rng.normal(0.0, 1.0, 4000))
        >>> result = procedure_advantage(scores, np.tile(model, 2))
        >>> print(result.sentence)
        With 95% confidence the advantage on models of this training procedure, over a coin toss, is on average at least
        0.136, whoever reads the score, and at most 0.297 for attackers who accuse on one side of a cut, or inside or
        outside one range, or who sort a score into a few steps; on one new model it lies between 0.014 and 0.424. Of
        what makes the mean of these 8 models uncertain, 87% is their own difference (58.8% to 95.7%), which more
        records of them cannot remove.
        >>> print(result.verdict(0.15, accept_simulated=True).reason)
        with 95% confidence the procedure's advantage may be anything from 0.136 to 0.297, your limit is 0.15; about 4
        more models, each with as many records, or 4 times the records of these models, would settle it
        >>> careful = result.verdict(0.15)
        >>> careful.decision.value, careful.models_needed
        ('inconclusive', 131)
    """
    confidence = require_open_unit("confidence", confidence)
    require_data(data, Scores)
    samples = by_model(data, model)
    own_seeds = seeds_of(len(samples), require_count("seed", seed, 0))
    seeds = {name: seed_by_ranks(each, own) for (name, each), own in zip(samples.items(), own_seeds, strict=True)}
    times = times_repeated(data)  # of which each model may have too few rows to show it
    ends = {name: checked_ends(each, prior, None, seeds[name], times=times) for name, each in samples.items()}
    alone = {name: each.at(confidence) for name, each in ends.items()}
    trainings, floor = Trainings.of([evidence_by(each) for each in ends.values()]), baseline(prior)
    alpha, number = (1.0 - confidence) / 2.0, len(samples)
    doubts, once = doubts_by(samples, data), trainings
    if REPEATED in {odd.code for odd in doubts}:  # a rule knows a row again that it has seen
        once = trainings.without_repeats(evidence_without_repeats(samples, seeds, prior, times), floor)

    def interval(limits: Callable[[Trainings], Range], covers: str, assumes: str, proven: bool = False) -> Interval:
        ends = limits(once)[0], limits(trainings)[1]
        lower, upper = (min(1.0, max(end, floor)) for end in ends)
        return Interval(lower, max(lower, upper), confidence, Guarantee(covers, assumes, proven))

    def varies(estimate: Callable[[Trainings], tuple[float, Range]], covers: str) -> Estimate:
        ends = estimate(once)[1][0], estimate(trainings)[1][1]
        return _between(estimate(once)[0], ends, covers, confidence)

    mean = "the mean over trainings of the optimal advantage against the model"
    ends_of_mean = interval(lambda models: models.mean(alpha), mean, NORMAL)
    exposures = exposures_by(samples, prior, confidence)
    value = sum(each.value for each in alone.values()) / number
    return Procedure(
        Estimate(min(max(value, ends_of_mean.lower), ends_of_mean.upper), ends_of_mean),
        interval(
            lambda models: models.next_one(alpha),
            "the optimal advantage against one new model of the procedure",
            NORMAL,
        ),
        interval(lambda models: models.whatever_they_do(alpha), mean, TRAININGS, True),
        varies(lambda models: models.spread(alpha), "the standard deviation of the advantage over trainings"),
        varies(lambda models: models.share(alpha), "the share of the variance that is between trainings"),
        tuple(
            ModelAdvantage(name, each.n_members, each.n_nonmembers, alone[name].estimate)
            for name, each in samples.items()
        ),
        floor,
        (
            *doubts,
            *_few(number, confidence),
            *exposed(exposures),
            *of_models({name: each.cautions for name, each in alone.items()}),
        ),
        Provenance("procedure", VERSION, data.n_members, data.n_nonmembers, prior, seed),
        trainings,
        exposures,
        np.array([best_of_changes(each) for each in ends.values()])
        if any(each.changes is not None for each in ends.values())
        else None,
        ends_of((each.resolution, each.resolution) for each in alone.values() if each.reads_every_cell),
        doubts,
    )


def _between(value: float, ends: tuple[float, float], covers: str, confidence: float) -> Estimate:
    """How trainings vary, with an interval that assumes that they vary as normal numbers do."""
    guarantee = Guarantee(covers, f"{TRAININGS}; {VARIES}", False)
    return Estimate(min(max(value, ends[0]), ends[1]), Interval(*ends, confidence, guarantee))


def _few(number: int, confidence: float) -> tuple[Caution, ...]:
    """How frequent a kind of training may be without being among so few."""
    if number >= FEW:
        return ()
    unseen = 1.0 - (1.0 - confidence) ** (1.0 / number)
    message = (
        f"only {number} models: a kind of training that happens in up to {unseen:.0%} of runs, and gives away more, "
        "may be missing among them; the limits that hold however trainings vary allow for it"
    )
    return (Caution("few_models", message),)
