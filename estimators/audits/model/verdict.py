"""From what a model answers about its training rows and about others to one verdict on the model.

Every query that the answers allow is asked of both sides, and of shadow models beside it if there are any. What is
limited is limited for the riskiest of them (`estimators.decisions.riskiest`). The direction of every query is known:
the higher, the more like a member.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.adversary.learned import DEFAULT_LEARNERS, Learner, learn_score
from estimators.audits.model.answers import (
    KINDS,
    TOGETHER,
    Outputs,
    Progress,
    Shadows,
    Side,
    as_vectors,
    ask_queries,
    left_out_of_shadows,
    side_of,
    with_shadows,
)
from estimators.audits.model.strength import UNMEASURED, Strength
from estimators.audits.queries import models
from estimators.audits.split import Control, SplitCheck
from estimators.decisions.compare import Comparison
from estimators.decisions.exposed_members import AT_PRECISION, exposures_of
from estimators.decisions.riskiest import (
    AuditVerdict,
    RiskiestLimit,
    by_groups,
    compare_queries,
    drift_of,
    judge_groups,
    judge_queries,
    limits_of,
    most_exposed,
    require_groups,
    verdict_of,
)
from estimators.decisions.verdict import Decision, overall
from estimators.errors import (
    DimensionMismatch,
    InputError,
    OutOfRange,
    UnknownName,
    require_count,
    require_number,
    require_open_unit,
)
from estimators.limits.two_rates import weighted_accuracy_lower
from estimators.privacy.auc import auc
from estimators.privacy.direction import Direction
from estimators.privacy.exposure import Exposure
from estimators.python.dataclass import dataclass, replace
from estimators.risk.groups import GroupRisks
from estimators.risk.within_groups import GroupAdvantage
from estimators.sample.counting import finest
from estimators.sample.plain_arrays import labels_of
from estimators.sample.scores import Query as ScoreKind
from estimators.sample.scores import Scores
from estimators.statement import Caution, at_least, one_end

JOINT = "joint_query_may_exceed"
"""The caution of a comparison that all its queries together may tell more; here it says what to do about it."""

MEASURES = {"labels": "correctness", "predictions": "squared_error"}
"""The query that says how well a model does on a record, by what it answers; else ``loss``."""

NOT_BY_CHANCE = 1.0 - 2e-4
"""Confidence with which members do worse than nonmembers before that is worth a word: by chance once in 10,000."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How well the model does on the rows that it was trained on, and on the others.

    Attributes:
        measure: ``accuracy``, or of regressors ``root mean squared error``.
        members: The measure of the training rows.
        nonmembers: That of the others.
        gap_lower: Of accuracies, what the first exceeds the second by at least; None of errors.
    """

    measure: str
    members: float
    nonmembers: float
    gap_lower: float | None = None

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        if self.measure == "accuracy":
            return (
                f"The model is right about {100 * self.members:.1f}% of the training rows and "
                f"{100 * self.nonmembers:.1f}% of the others."
            )
        return (
            f"The root mean squared error is {self.members:.4g} on the training rows and {self.nonmembers:.4g} on the "
            "others."
        )


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class ModelAudit:
    """What a model's answers give away about the rows it was trained on; ``audit_model`` makes it.

    Attributes:
        comparison: Every query with its advantage, and the riskiest of them, whose interval holds for all together.
        exposures: For each query, whether some members' scores are out of nonmembers' reach; they hold together.
        limits: Each limit with its decision.
        fit: How well the model does on either side.
        outputs: How the model's answers were read: ``probabilities``, ``logits``, ``predictions`` or ``labels``.
        not_asked: Queries that were not asked, and why.
        groups: Mean risk of each group by the riskiest query, whichever that is; None if no groups were given.
        by_group: The advantage within each group by that query; they hold together.
        scores: The scores of each query.
        shadows: What the shadows answered; None if there were none.
        split: Whether the two sides differ without the model; None if that was not looked at.
        control: The advantage of a score whose model saw neither side; None if there is none.
        confidence: 1 less twice the probability that the decision errs either way.
        cautions: What to know before using the numbers.
        accept_exposure: Whether a severe exposure was accepted.
        strength: What the queries see of records known to be in training; None if that was not measured.
        shared: The share of the other rows that are training rows, too.
    """

    comparison: Comparison
    exposures: Mapping[str, Exposure]
    limits: tuple[RiskiestLimit, ...]
    fit: Fit
    outputs: Outputs
    not_asked: Mapping[str, str]
    groups: GroupRisks | None
    by_group: tuple[GroupAdvantage, ...]
    scores: Mapping[str, Scores]
    shadows: Shadows | None
    split: SplitCheck | None
    control: Control | None
    confidence: float
    cautions: tuple[Caution, ...]
    accept_exposure: bool = False
    strength: Strength | None = None
    shared: float = 0.0

    @property
    def verdict(self) -> AuditVerdict:
        """The decision over all limits, which is ``fail, or drift`` where the sides differ anyway."""
        verdict = verdict_of(
            self.limits,
            self.split,
            "model",
            self.control,
            self.exposures,
            self.accept_exposure,
            self.cautions,
            self.comparison.ranking[0].advantage.provenance.prior,
            self.shared,
        )
        if verdict.decision is not Decision.PASS:
            return verdict
        if self.strength is None:
            return replace(verdict, covers=(*verdict.covers, UNMEASURED))
        sentence, also = f"{verdict.sentence} {self.strength.of_a_pass}".rstrip(), self.strength.sentence
        return replace(verdict, sentence=sentence, covers=(*verdict.covers, also))

    @property
    def decision(self) -> Decision | None:
        """Fail if any limit fails, pass if all pass, else undecided; None if nothing was limited.

        A pass does not stand beside a severe exposure, unless exposure is limited or was accepted.
        """
        return self.verdict.decision

    @property
    def riskiest(self) -> str:
        """The query with the largest estimated advantage."""
        return self.comparison.ranking[0].name

    @property
    def most_exposed(self) -> tuple[str, Exposure]:
        """The query that exposes members most surely."""
        return most_exposed(self.exposures)

    @property
    def sentence(self) -> str:
        """The verdict and what it rests on, in plain words; without a limit, what the riskiest query gives away."""
        ranking = self.comparison.ranking
        result = self.comparison.sentence if len(ranking) > 1 else ranking[0].advantage.sentence
        return self.verdict.sentence or result

    def __repr__(self) -> str:
        return f"<ModelAudit: {self.sentence}>"


def audit_model(
    members: ArrayLike,
    nonmembers: ArrayLike,
    member_labels: ArrayLike,
    nonmember_labels: ArrayLike,
    *,
    outputs: Outputs = "probabilities",
    classes: ArrayLike | None = None,
    shadows: Shadows | None = None,
    max_advantage: float | None = None,
    max_tpr: float | None = None,
    at_fpr: float = 0.001,
    max_exposed: float | None = None,
    at_precision: float = AT_PRECISION,
    max_group_advantage: float | None = None,
    accept_exposure: bool = False,
    queries: Sequence[str] | None = None,
    together: bool = False,
    groups: tuple[ArrayLike, ArrayLike] | None = None,
    split: SplitCheck | None = None,
    control: Control | None = None,
    strength: Strength | None = None,
    shared: float = 0.0,
    prior: float = 0.5,
    confidence: float = 0.95,
    seed: int = 0,
    learners: Sequence[Learner] = DEFAULT_LEARNERS,
    progress: Progress | None = None,
) -> ModelAudit:
    """Ask every query of what a model answers, and hold what it finds against limits.

    Args:
        members: What the model answers for each row that it was trained on: probabilities or logits of the classes, a
            row of numbers each (of two classes, those of the second: a number each), or predictions.
        nonmembers: The same for rows like these that it was not trained on.
        member_labels: What is true of each training row: its class, or of a regressor the target.
        nonmember_labels: The same of the others.
        outputs: What the answers are: ``"probabilities"``, ``"logits"`` (scores before the softmax), ``"predictions"``
            of a regressor, or ``"labels"``, if a classifier tells nothing else.
        classes: The labels in the order of the columns; columns are numbered from 0 without it.
        shadows: What shadow models answer about all these rows, members first. Rows that no shadow was trained on, or
            that every one was, are left out, if at least half of either side remain.
        max_advantage: Largest advantage of the riskiest query that is acceptable.
        max_tpr: Largest true positive rate at ``at_fpr`` that is acceptable, of any query.
        at_fpr, max_exposed, at_precision, max_group_advantage, accept_exposure: As for ``audit_synthetic``.
        prior, seed: As for ``audit_synthetic``.
        queries: Names of the queries to ask (``estimators.audits.queries.MODELS`` and ``SHADOWS``); None for all that
            apply and that do not order the records as another one does.
        together: Whether to learn a score of all queries together from 40% of the rows, as one query more, which is
            stated on the other rows. Needs scikit-learn.
        groups: A label for each training row, and one for each of the others: the riskiest query is stated within each
            group as well.
        split: Whether the two sides differ without the model (``estimators.check_split`` of the rows that it read): a
            fail is then "fail, or drift".
        control: The advantage of a score of both sides by a model that saw neither (``estimators.control``): if it
            has one, a fail is "fail, or drift", too.
        strength: What these queries see of records that are known to be in training (``query_strength``), which a pass
            says beside what it covers.
        shared: The share of the other rows that are training rows, too, which hide a leak from a pass.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. The decision over all
            limits errs either way with half of the rest at most.
        learners: Which classifiers compete for the learned score.
        progress: Called with how many queries were asked, of how many, and what was done, after each.

    Raises:
        InputError: answers that are NaN, infinite or no probabilities, labels that are none of the classes; the error
            names the side and the row.
        OptionError: a limit out of its range, or a query that does not apply; the text says why.

    Example:
        >>> import numpy as np
        >>> from estimators.audits.model import audit_model
        >>> rng = np.random.default_rng(0)
        >>> truth, errors = rng.normal(size=(2, 500)), rng.normal(size=(2, 500))
        >>> close, far = truth[0] + 0.1 * errors[0], truth[1] + errors[1]  # a regressor that learned by heart
        >>> audit = audit_model(close, far, *truth, outputs="predictions", max_advantage=0.5)
        >>> print(audit.sentence)
        Fail: with 95% confidence the advantage is at least 0.763, above 0.5.
    """
    confidence, prior = require_open_unit("confidence", confidence), require_open_unit("prior", prior)
    require_count("seed", seed, 0)
    if not 0.0 <= require_number("shared", shared) <= 1.0:
        raise OutOfRange.about("shared", f"got {shared!r}, need a share from 0 to 1")
    limits = limits_of(max_advantage, max_tpr, at_fpr, Direction.HIGH, max_exposed, at_precision)
    require_groups(max_group_advantage, grouped=groups is not None)
    if outputs not in KINDS:
        raise UnknownName.among("outputs", outputs, KINDS)
    sides = tuple(
        side_of(name, answers, labels, outputs, classes)
        for name, answers, labels in (("members", members, member_labels), ("nonmembers", nonmembers, nonmember_labels))
    )
    if sides[0].answers.shape[1:] != sides[1].answers.shape[1:]:
        words = "the answers have another shape than those for members; ask the same model for both"
        raise DimensionMismatch.about("nonmembers", words)
    parts, of_these = sides, shadows
    keep = np.ones(sum(len(side.labels) for side in sides), np.bool_)
    if shadows is not None:
        parts, of_these, keep = with_shadows(sides, shadows)
    scores, not_asked = ask_queries(parts, of_these, queries, progress)
    further: tuple[Caution, ...] = tuple(left_out_of_shadows(keep))
    of_rows = None if groups is None else _joined(groups, sides)[keep]
    labels = {} if of_rows is None else dict.fromkeys(scores, of_rows)
    if len(scores) > 1 and together:
        learned = learn_score(as_vectors(scores), prior, seed, learners)
        scores[TOGETHER] = learned.scores
        if of_rows is not None:
            of_members, of_nonmembers = learned.rows
            n_members = next(iter(scores.values())).n_members
            labels[TOGETHER] = of_rows[np.concatenate([of_members, of_nonmembers + n_members])]
        further = (*further, learned.caution)
    elif len(scores) > 1:
        message = (
            "an adversary who sees all queries together may do better than with any one; ask for them together "
            "(together, --together) to learn a score of them all"
        )
        further = (*further, Caution(JOINT, message))
    elif together:
        not_asked[TOGETHER] = "there is one query alone"
    comparison = compare_queries(scores, prior, confidence, seed)
    exposures = exposures_of(scores, prior, confidence)
    of_groups = max_group_advantage is not None
    drift = drift_of(split, control, prior, shared)
    verdicts = judge_queries(limits, scores, prior, confidence, seed, int(of_groups), drift=drift)
    if max_group_advantage is not None:
        number = len(limits)
        verdicts += (judge_groups(max_group_advantage, scores, labels, prior, confidence, seed, number, drift=drift),)
    fit = _fit(sides, confidence)
    risks: GroupRisks | None = None
    within: tuple[GroupAdvantage, ...] = ()
    if of_rows is not None:
        risks, within = by_groups(scores, comparison, of_rows, prior, confidence, seed)
    withheld = verdict_of(verdicts, None, "model", None, exposures, accept_exposure).cautions
    return ModelAudit(
        comparison,
        exposures,
        verdicts,
        fit,
        outputs,
        not_asked,
        risks,
        within,
        scores,
        shadows,
        split,
        control,
        confidence,
        (
            *_members_do_worse(parts, scores),
            *(each.caution for each in (split, control) if each is not None and each.caution is not None),
            *_cautions(verdicts, exposures, withheld, fit, shadows, outputs, confidence),
            *_weakness(strength, verdicts),
            *further,
            *_one_of_each([each for each in comparison.cautions if each.code != JOINT]),
        ),
        accept_exposure,
        strength,
        shared,
    )


def _fit(sides: Sequence[Side], confidence: float) -> Fit:
    right = [side.right for side in sides if side.right is not None]
    if not right:
        error = [float(np.sqrt(np.mean(-models.squared_error(s.answers, s.labels)))) for s in sides]
        return Fit("root mean squared error", error[0], error[1])
    one, other = right
    n1, n0, alpha = len(one), len(other), (1.0 - confidence) / 2.0
    half = float(weighted_accuracy_lower(int(one.sum()), n1, n0 - int(other.sum()), n0, 0.5, alpha))
    return Fit("accuracy", float(one.mean()), float(other.mean()), max(0.0, 2.0 * half - 1.0))


def _members_do_worse(sides: Sequence[Side], scores: Mapping[str, Scores]) -> Iterator[Caution]:
    """Whether the model errs less on the rows that it was not trained on, more than chance makes."""
    name = MEASURES.get(sides[0].outputs, "loss")
    of_each = scores.get(name) or Scores.of(sides[0].ask(name), sides[1].ask(name), ScoreKind.CONTINUOUS)
    area = auc(finest(of_each), NOT_BY_CHANCE).estimate
    if area.upper < 0.5:
        pairs = 100.0 * float(area.value or 0.0)
        yield Caution(
            "members_do_worse",
            "members do worse than nonmembers: are the two the wrong way round? Of 100 pairs of a training row and "
            f"another row the model does better on the training row in {pairs:.0f} (by {name}); "
            "if the sides are right, their rows are of different kinds",
        )


def _joined(groups: Any, sides: Sequence[Side]) -> NDArray[np.generic]:
    """A label for each record of both sides."""
    if not isinstance(groups, tuple) or len(groups) != 2:
        message = "need two arrays, a label for each member and one for each nonmember"
        raise InputError.about("groups", message)
    pair = [labels_of(each, "groups") for each in groups]
    for labels, side in zip(pair, sides, strict=True):
        if len(labels) != len(side.labels):
            message = f"got {len(labels)} labels for {len(side.labels)} {side.name}"
            raise DimensionMismatch.about("groups", message)
    return np.concatenate(pair)


def _cautions(
    limits: Sequence[RiskiestLimit],
    exposures: Mapping[str, Exposure],
    withheld: Sequence[Caution],
    fit: Fit,
    table: Shadows | None,
    outputs: Outputs,
    confidence: float,
) -> Iterator[Caution]:
    """Exposed members whom no limit may have shown, the gap, and what was not looked at."""
    decision = overall(limit.decision for limit in limits) if limits else None
    name, worst = most_exposed(exposures)
    yield from (Caution(each.code, f"query {name!r}: {each.message}") for each in worst.cautions)
    yield from withheld
    if fit.gap_lower:
        yield Caution(
            "fit_gap",
            f"{fit.sentence} Whoever learns no more than that an answer is right or wrong has, with "
            f"{one_end(confidence)}, an advantage of at least {at_least(fit.gap_lower)} by "
            "that gap, which is overfitting",
        )
    if decision is not Decision.FAIL and table is None and outputs != "labels":
        yield Caution(
            "no_shadows",
            "nothing was compared with shadow models, which attackers who can train such models do; "
            "their queries may give away more",
        )
    if outputs == "labels":
        yield Caution(
            "labels_alone", "the answers are labels alone, so this speaks of attackers who see no probabilities"
        )


def _weakness(strength: Strength | None, limits: Sequence[RiskiestLimit]) -> Iterator[Caution]:
    """That queries which found nothing beyond a limit are weak."""
    fails = any(limit.decision is Decision.FAIL for limit in limits)
    if strength is not None and strength.caution is not None and not fails:
        yield strength.caution


def _one_of_each(cautions: Sequence[Caution]) -> list[Caution]:
    return list({each.code: each for each in reversed(cautions)}.values())[::-1]
