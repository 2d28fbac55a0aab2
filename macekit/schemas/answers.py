"""What is answered: the shape of every answer, which mypy holds the encoders to and OpenAPI is made from."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from macekit.catalogue import OPERATIONS, Operation
from macekit.schemas.statements import (
    COVERS,
    HOLDS_UP_TO,
    CertifiedAnswer,
    ChangesAnswer,
    ClaimAnswer,
    ClustersAnswer,
    ColumnReadAnswer,
    EpsilonAnswer,
    ExposureAnswer,
    GuaranteeAnswer,
    IntervalAnswer,
    LearnedScoreAnswer,
    MetricAnswer,
    OnThisSetAnswer,
    OperatingPointAnswer,
    PaperAnswer,
    ProvenanceAnswer,
    RocAnswer,
    UndecidedBecause,
    VerdictAnswer,
    WarningAnswer,
)


class AdvantageAnswer(TypedDict):
    """Everything about one sample."""

    sentence: str
    advantage: CertifiedAnswer
    baseline: Annotated[float, Field(description="advantage of always guessing the likelier side")]
    mip_eta: Annotated[float, Field(description="accuracy above the better constant guess")]
    security: Annotated[
        float, Field(description="1 - the gain over the baseline as a share of what there is to gain")
    ]
    security_lower: float
    security_upper: float
    upper_by_changes: Annotated[
        list[ChangesAnswer],
        Field(
            description="upper ends, each by itself, for attackers who change their guess at most so many times along "
            "the score, wherever; empty without an order"
        ),
    ]
    paper: PaperAnswer | None
    metric: MetricAnswer | None
    roc: RocAnswer | None
    epsilon_lower_bound: Annotated[float, Field(description="of the mechanism; as in epsilon")]
    epsilon: EpsilonAnswer
    exposure: ExposureAnswer
    claim: ClaimAnswer | None
    verdict: VerdictAnswer | None
    on_this_set: Annotated[
        OnThisSetAnswer | None,
        Field(
            description="the advantage on exactly the set of which these records were drawn; null if its size was not "
            "told"
        ),
    ]
    learned_score: Annotated[
        LearnedScoreAnswer | None,
        Field(
            description="vectors: the score that metric, roc, epsilon, exposure and claim speak of; null otherwise"
        ),
    ]
    warnings: list[WarningAnswer]
    provenance: ProvenanceAnswer


class RiskColumns(TypedDict):
    """The risk of a record, or of a cell; null where the sample has no records."""

    risk: list[float | None]
    lower: list[float]
    upper: list[float]
    simultaneous_lower: list[float]
    simultaneous_upper: list[float]
    signed_risk: list[float | None]
    posterior: list[float | None]
    flagged: list[bool]
    metric: Annotated[
        list[float | None] | None,
        Field(description="the metric asked for; null where the sample has no records, and where it is 0/0"),
    ]
    metric_lower: list[float | None] | None
    metric_upper: list[float | None] | None
    metric_guesses_member: Annotated[
        list[bool | None] | None, Field(description="what the rule of metric_rule guesses there")
    ]
    metric_on_threshold: Annotated[
        list[bool] | None,
        Field(
            description="the interval of the posterior contains the threshold: either guess may be right. If the "
            "threshold is estimated, metric_lower and metric_upper are the range of both"
        ),
    ]


class RecordsAnswer(RiskColumns):
    """One entry for each record in every column; null where the sample has no records."""

    index: Annotated[list[int], Field(description="place in the request: members first, or row of the table")]
    cell: list[int]
    paper_signed_risk: Annotated[
        list[float | None] | None,
        Field(
            description="signed risk as the paper states it, if estimator was sent; null in no cell of its own"
        ),
    ]
    paper_lower: Annotated[list[float] | None, Field(description="lower end of paper_signed_risk")]
    paper_upper: list[float] | None
    paper_metric: Annotated[
        list[float | None] | None,
        Field(description="the metric asked for, as the paper states it; null where it is 0/0"),
    ]
    paper_metric_lower: list[float | None] | None
    paper_metric_upper: list[float | None] | None
    learned_score: Annotated[
        list[float | None] | None,
        Field(
            description="vectors: the learned score of the record, from a learner that had not seen it; null "
            "otherwise. Scores of the two halves, told apart by learned_half, share no scale"
        ),
    ]
    learned_half: Annotated[
        list[int] | None,
        Field(description="vectors: which of learned_scores the record was scored by; 0 or 1"),
    ]


class GroupAnswer(TypedDict):
    """The risk of a group, and its own advantage."""

    label: str | float | bool
    records: int
    unknown: int
    flagged: int
    risk: float | None
    lower: float
    upper: float
    n_members: int | None
    n_nonmembers: int | None
    advantage: CertifiedAnswer | None
    warnings: list[WarningAnswer]


class CellsAnswer(RiskColumns):
    """One entry for each cell in every column: the table in which the records were looked up."""

    cells: dict[str, object]
    members: list[int]
    nonmembers: list[int]
    signed_lower: Annotated[list[float], Field(description="lower end of signed_risk, for one cell")]
    signed_upper: list[float]


class MetricRuleAnswer(TypedDict):
    """The rule under which the metric of a record is stated, and what its interval is worth."""

    name: str
    threshold: Annotated[
        float | None,
        Field(description="posterior at which the rule changes its guess; null if it never does"),
    ]
    direction: Annotated[
        Literal["above", "below"], Field(description="on which side of the threshold member is guessed")
    ]
    confidence: float
    guarantee: GuaranteeAnswer
    undefined: Annotated[
        str | None, Field(description="why the metric is null where there are records, if it is anywhere")
    ]


class PaperRiskAnswer(TypedDict):
    """How the paper's risk of each record came about, and what its interval is worth."""

    theorem: Annotated[int, Field(description="2: the box of a cell; 3: kernel densities at the score")]
    estimator: Literal["histogram", "kde"]
    cells: Annotated[int | None, Field(description="how many cells have records, for Theorem 2")]
    bandwidth: Annotated[
        list[float] | None,
        Field(description="members' and nonmembers', for Theorem 3; of vectors the product over the axes"),
    ]
    confidence: float
    covers: str
    assumes: str
    finite_sample: bool
    metric: Annotated[str | None, Field(description="name of the metric in paper_metric")]
    metric_threshold: Annotated[
        float | None, Field(description="posterior at which the rule of the metric changes its guess")
    ]
    metric_algorithm: Annotated[
        int | None, Field(description="3 if Algorithm 3 learned that threshold; null if Lemma 2 knows it")
    ]
    warnings: list[WarningAnswer]


class MeanRiskAnswer(IntervalAnswer):
    """The mean risk of records that are members with the prior's probability: the best attacker's advantage."""

    plug_in: Annotated[
        float,
        Field(
            description="mean of the cells' risks as they are stated: biased upward for what these cells can tell, "
            "which is less than the mean risk where scores within a cell tell more"
        ),
    ]
    sentence: str
    clusters: Annotated[
        ClustersAnswer | None, Field(description="what the clusters cost; null where none were named")
    ]


class FlagsAnswer(TypedDict):
    """What a flag means here."""

    threshold: float
    rate: Annotated[
        float,
        Field(
            description="share of the flagged that may lie in cells whose scores do not speak for membership, on "
            "average"
        ),
    ]
    over: str
    records: Annotated[int, Field(description="records flagged")]
    member_share: Annotated[
        float | None,
        Field(
            description="share of the flagged that are members at the prior: an estimate, by Bayes' rule from the "
            "shares of each side flagged, of targets the mean of their posteriors; null if none is flagged"
        ),
    ]


class RiskAnswer(TypedDict):
    """The risk of each record, of each group, and the cells they came from."""

    sentence: str
    baseline: Annotated[float, Field(description="risk of every record if nothing leaks")]
    signed_baseline: Annotated[float, Field(description="the same, signed: 2 prior - 1")]
    mean: Annotated[
        MeanRiskAnswer,
        Field(description="over the mixture, in which members have the prior's share (MACE, Theorem 1.2)"),
    ]
    flags: FlagsAnswer
    guarantee: Annotated[
        GuaranteeAnswer, Field(description="of lower and upper, for one record named in advance")
    ]
    simultaneous_guarantee: GuaranteeAnswer
    metric_rule: MetricRuleAnswer | None
    paper: Annotated[
        PaperRiskAnswer | None,
        Field(description="how the paper's columns came about, if estimator was sent"),
    ]
    learned_scores: Annotated[
        list[LearnedScoreAnswer] | None,
        Field(
            description="vectors: two scores, each stated on the records that the other was learned from; null "
            "otherwise. The cells of the first come first"
        ),
    ]
    records: RecordsAnswer
    groups: list[GroupAnswer]
    cells: CellsAnswer
    warnings: list[WarningAnswer]
    provenance: ProvenanceAnswer


class DistributionAnswer(TypedDict):
    """How the scores of both sides lie, in bins fit to be drawn."""

    kind: Literal["intervals", "categories"]
    edges: Annotated[
        list[float] | None,
        Field(
            description="intervals: ends of the bins, one more than there are; of counts posted as intervals the two "
            "outermost bins are open, and their outer ends are for the eye"
        ),
    ]
    labels: Annotated[
        list[str | float | bool] | None, Field(description="categories: one a bin, the most frequent ones")
    ]
    members: list[int]
    nonmembers: list[int]
    outside_members: Annotated[int, Field(description="member records beyond what is drawn")]
    outside_nonmembers: Annotated[int, Field(description="nonmember records beyond what is drawn")]


class RiskSummaryAnswer(TypedDict):
    """Individual risk over the score, without a line for each record."""

    sentence: str
    baseline: Annotated[float, Field(description="risk of every record if nothing leaks")]
    signed_baseline: Annotated[float, Field(description="the same, signed: 2 prior - 1")]
    mean: Annotated[
        MeanRiskAnswer,
        Field(description="over the mixture, in which members have the prior's share (MACE, Theorem 1.2)"),
    ]
    flags: FlagsAnswer
    guarantee: GuaranteeAnswer
    simultaneous_guarantee: GuaranteeAnswer
    metric_rule: MetricRuleAnswer | None
    learned_scores: Annotated[
        list[LearnedScoreAnswer] | None,
        Field(
            description="vectors: two scores, each stated on the records that the other was learned from; null "
            "otherwise. The cells of the first come first"
        ),
    ]
    cells: CellsAnswer
    warnings: list[WarningAnswer]


class PosteriorCurveAnswer(TypedDict):
    """The chance of being a member along the score as the paper states it, one entry a point or slice."""

    theorem: Annotated[int, Field(description="2: slices of equal width; 3: kernel densities")]
    starts: Annotated[list[float], Field(description="where a slice begins; of kernel densities the points")]
    ends: Annotated[list[float], Field(description="where it ends; of kernel densities the points again")]
    posterior: list[float]
    lower: list[float]
    upper: list[float]
    bandwidth: list[float] | None
    covers: str
    assumes: str


class ReportAnswer(TypedDict):
    """What a report shows of one sample: everything, and what its pictures are drawn from."""

    sentence: str
    result: AdvantageAnswer
    band: Annotated[
        list[OperatingPointAnswer],
        Field(description="true positive rates along the ROC, each interval by itself"),
    ]
    distribution: DistributionAnswer | None
    posterior: Annotated[
        list[PosteriorCurveAnswer],
        Field(description="by kernel densities and by slices, of one number a record; else empty"),
    ]
    risk: RiskSummaryAnswer | None
    groups: list[GroupAnswer]
    gate: Annotated[
        DecisionAnswer | None,
        Field(
            description="with max_group_advantage: the decision over it and max_advantage together, as a gate makes "
            "it, and result.verdict is null; null without it"
        ),
    ]
    warnings: list[WarningAnswer]
    provenance: ProvenanceAnswer


class LimitAnswer(TypedDict):
    """One limit of a gate, and what the records say about it."""

    name: Annotated[str, Field(description="advantage, tpr, epsilon, metric, group_advantage or group_risk")]
    about: Annotated[str, Field(description="what is limited, in words")]
    maximum: float
    estimate: float | None
    lower: float
    upper: Annotated[float | None, Field(description="null where the records bound it from one side only")]
    confidence: float
    guarantee: GuaranteeAnswer
    decision: Literal["pass", "fail", "inconclusive"]
    reason: str
    records_needed: Annotated[
        int | None,
        Field(description="records of both sides that would settle it, approximately; null if none is known"),
    ]
    learned_score_accepted: Annotated[
        bool | None,
        Field(
            description="whether the learned score, of which alone the upper end speaks, was accepted for a pass; "
            "null where no score was learned"
        ),
    ]
    holds_up_to_changes: Annotated[int | None, HOLDS_UP_TO]
    ranges: Annotated[
        int | None,
        Field(
            description="tpr: of how many ranges of the score, or labels, a set consists at most; null else"
        ),
    ]
    threshold: Annotated[
        IntervalAnswer | None,
        Field(description="tpr: that of the best threshold, by itself; null without an order"),
    ]


class AnytimeAnswer(TypedDict):
    """How far a run of batches has come."""

    looks: Annotated[int, Field(description="batches so far, after each of which one may have looked")]
    n_members: Annotated[int, Field(description="member records of all batches")]
    n_nonmembers: Annotated[int, Field(description="nonmember records of all batches")]
    planned: Annotated[int, Field(description="records of both sides for which the ends are best")]


class EndsAnswer(TypedDict):
    """A number with both ends of its interval."""

    estimate: float | None
    lower: float
    upper: float


class GroupOfGateAnswer(TypedDict):
    """One group of a gate: what it gives away by itself, its mean risk, and what that says about their limits."""

    label: str | float | bool
    records: int
    n_members: Annotated[int | None, Field(description="null where only targets are known")]
    n_nonmembers: int | None
    decision: Literal["pass", "fail", "inconclusive"]
    reason: str
    records_needed: Annotated[
        int | None,
        Field(
            description="records of this group alone, of both sides, that would settle max_group_advantage, "
            "approximately; null if it is settled or none is known"
        ),
    ]
    advantage: Annotated[
        EndsAnswer | None,
        Field(
            description="the advantage on the group's own records; null where it cannot be judged. As a limit each "
            "upper end holds alone; beside a limit on mean risks all hold together"
        ),
    ]
    risk: Annotated[
        EndsAnswer | None,
        Field(
            description="mean over the group's records of the risk read off all records together; null unless "
            "max_group_risk limits it"
        ),
    ]


class DecisionAnswer(TypedDict):
    """A decision over all limits together, which share the error: fail if any fails, pass if all pass."""

    sentence: str
    decision: Literal["pass", "fail", "inconclusive"]
    covers: Annotated[list[str], COVERS]
    undecided_because: UndecidedBecause
    records_needed: int | None
    limits: list[LimitAnswer]
    groups: Annotated[
        list[GroupOfGateAnswer], Field(description="each group, if a limit is on groups; else empty")
    ]


class GateAnswer(DecisionAnswer):
    """What a gate decides, and what stands beside it."""

    baseline: Annotated[float, Field(description="advantage of always guessing the likelier side")]
    exposure: Annotated[
        ExposureAnswer | None,
        Field(
            description="looked for whatever the limits are; of vectors, in their learned score; null with anytime, "
            "because it would hold at one look only"
        ),
    ]
    anytime: Annotated[AnytimeAnswer | None, Field(description="of a run of batches; null if there is none")]
    state: Annotated[
        dict[str, object] | None,
        Field(
            description="with anytime: what to give back with the next batch, as it is; a service that signs takes "
            "no other"
        ),
    ]
    clusters: Annotated[
        ClustersAnswer | None,
        Field(description="what the clusters cost the advantage; null where none were named"),
    ]
    warnings: list[WarningAnswer]
    provenance: ProvenanceAnswer


class ColumnAnswer(TypedDict):
    """One column of a table."""

    name: str
    type: Literal["number", "text", "boolean", "other"]


class ColumnsAnswer(TypedDict):
    """The columns of a table, and how each is read unless an option says otherwise."""

    columns: Annotated[list[ColumnAnswer], Field(description="none where columns have no names (plain NPY)")]
    score: Annotated[list[str] | None, Field(description="read as scores; null if that is not clear")]
    no_score: Annotated[str | None, Field(description="why no column is read as scores; null where one is")]
    member: Annotated[str | None, Field(description="read as membership; null if that is not clear")]
    group: Annotated[
        str | None, Field(description="called group: it is used only where it is named with group=")
    ]


class MetricsAnswer(TypedDict):
    """Several metrics of one sample."""

    metrics: list[MetricAnswer]
    learned_score: Annotated[
        LearnedScoreAnswer | None,
        Field(description="vectors: the score that the metrics speak of; null otherwise"),
    ]
    clusters: Annotated[
        ClustersAnswer | None,
        Field(description="what the clusters cost the advantage and accuracy; null where none were named"),
    ]
    provenance: ProvenanceAnswer


class AttackRuleAnswer(TypedDict):
    """The rule that was judged, and what it made of these records."""

    kind: Literal["guesses", "threshold", "top", "quantile"]
    side: Annotated[
        Literal["above", "below"] | None, Field(description="which scores are accused; null for guesses")
    ]
    cut: Annotated[float | None, Field(description="the score from which on records are accused")]
    chosen_before: Annotated[
        bool, Field(description="whether nothing about the rule was read off these records")
    ]
    members_accused: int
    nonmembers_accused: int


class AttackMetricAnswer(TypedDict):
    """A metric of this attack."""

    name: str
    estimate: Annotated[float | None, Field(description="null where it is 0/0")]
    lower: float
    upper: float
    confidence: float


class AttackAnswer(TypedDict):
    """One attack's own advantage, and how far it is from that of the best attacker."""

    sentence: str
    attack: Annotated[
        IntervalAnswer, Field(description="the attack's own advantage; it may lie below the baseline")
    ]
    baseline: Annotated[float, Field(description="advantage of always guessing the likelier side")]
    rule: AttackRuleAnswer
    true_positive_rate: IntervalAnswer
    false_positive_rate: IntervalAnswer
    metrics: Annotated[list[AttackMetricAnswer], Field(description="of this attack, each interval by itself")]
    optimum: Annotated[
        CertifiedAnswer, Field(description="the advantage of the best attacker who reads the same")
    ]
    gap: Annotated[IntervalAnswer, Field(description="the optimum minus the attack's own advantage")]
    share_of_optimum: Annotated[
        IntervalAnswer | None,
        Field(
            description="what the attack gains over the baseline, as a share of what the best attacker gains; null if "
            "the records do not show that there is anything to gain"
        ),
    ]
    warnings: list[WarningAnswer]
    provenance: ProvenanceAnswer


class RankedAnswer(TypedDict):
    """One query's place."""

    name: str
    advantage: CertifiedAnswer
    best_rank: int
    worst_rank: int


class DifferenceAnswer(TypedDict):
    """How much more the first gives away than the second."""

    first: str
    second: str
    estimate: float
    lower: float
    upper: float
    confidence: float
    guarantee: GuaranteeAnswer
    decided: bool
    sentence: str


class SideBySideAnswer(TypedDict):
    """A ranking, the largest, and the differences."""

    sentence: str
    decision: Annotated[
        Literal["pass", "fail", "inconclusive"] | None,
        Field(
            description="pass: the limit is kept by all; fail: by one it is not; null if nothing was limited"
        ),
    ]
    covers: Annotated[list[str], COVERS]
    undecided_because: UndecidedBecause
    maximum: IntervalAnswer
    baseline: Annotated[float, Field(description="advantage of always guessing the likelier side")]
    ranking: list[RankedAnswer]
    differences: list[DifferenceAnswer]
    warnings: list[WarningAnswer]
    provenance: list[ProvenanceAnswer]


class RiskiestLimitAnswer(IntervalAnswer):
    """One limit, judged for every query."""

    name: Annotated[str, Field(description="advantage, tpr, exposed, group_advantage, copies or near_copies")]
    maximum: float
    decision: Literal["pass", "fail", "inconclusive"]
    query: Annotated[str, Field(description="the query that decides")]
    reason: str
    holds_up_to_changes: Annotated[int | None, HOLDS_UP_TO]
    ranges: Annotated[
        int | None,
        Field(
            description="tpr: of how many ranges of the score, or labels, a set consists at most; null else"
        ),
    ]
    threshold: Annotated[
        IntervalAnswer | None,
        Field(description="tpr: that of the best threshold, by itself; null without an order"),
    ]


class CompareAnswer(SideBySideAnswer):
    """Queries by their advantage, and the differences of pairs of them."""

    limits: Annotated[
        list[RiskiestLimitAnswer] | None,
        Field(description="the limit on the riskiest query's advantage; null if nothing was limited"),
    ]


class ReleaseAnswer(TypedDict):
    """One release: what stands behind its place."""

    name: str
    query: Annotated[str, Field(description="the query with the largest estimated advantage")]
    decision: Annotated[
        Literal["pass", "fail", "inconclusive"] | None,
        Field(description="whether it keeps the limit; all decisions hold together; null without a limit"),
    ]
    holds_up_to_changes: Annotated[int | None, HOLDS_UP_TO]
    undecided_because: UndecidedBecause


class CompareReleasesAnswer(SideBySideAnswer):
    """Releases by the advantage of their riskiest query, and the differences from one of them."""

    releases: Annotated[list[ReleaseAnswer], Field(description="in the order of the ranking")]
    against: Annotated[str, Field(description="the release that is subtracted from every other")]
    max_advantage: float | None


class StepAnswer(IntervalAnswer):
    """What one step of a series gives away; the intervals of all steps hold together."""

    query: Annotated[str, Field(description="the query with the largest estimated advantage")]
    decisive_upper: Annotated[
        float,
        Field(description="upper end at the confidence of this step alone, by which the limit is judged"),
    ]
    decision: Annotated[
        Literal["pass", "fail", "inconclusive"] | None,
        Field(description="pass: this step and all before it keep the limit; null without a limit"),
    ]
    holds_up_to_changes: Annotated[int | None, HOLDS_UP_TO]
    undecided_because: UndecidedBecause
    reason: str


class SeriesStepAnswer(StepAnswer):
    """One step, such as a checkpoint."""

    name: str
    clusters: Annotated[
        ClustersAnswer | None, Field(description="what the clusters cost; null where none were named")
    ]
    records_needed: Annotated[
        int | None, Field(description="records of both sides that would settle an open decision")
    ]


class SeriesAnswer(TypedDict):
    """The advantage step by step."""

    sentence: str
    decision: Annotated[
        Literal["pass", "fail", "inconclusive"] | None,
        Field(
            description="pass: every step keeps the limit; fail: one is shown to exceed it; null without a limit"
        ),
    ]
    covers: Annotated[list[str], COVERS]
    undecided_because: UndecidedBecause
    last_passed: Annotated[
        str | None, Field(description="up to here, itself included, every step is shown to keep the limit")
    ]
    first_failed: Annotated[str | None, Field(description="the first step that is shown to exceed the limit")]
    max_advantage: float | None
    baseline: Annotated[float, Field(description="advantage of always guessing the likelier side")]
    steps: list[SeriesStepAnswer]
    warnings: list[WarningAnswer]
    provenance: list[ProvenanceAnswer]


class QueryExposureAnswer(ExposureAnswer):
    """Whether one query reaches members that no nonmember's score reaches."""

    query: str


class CountedCopiesAnswer(TypedDict):
    """Rows of both sides that count as copies, or as near copies."""

    sentence: str
    members: int
    nonmembers: int
    n_members: int
    n_nonmembers: int
    beyond_chance: IntervalAnswer


class ComparedColumnAnswer(TypedDict):
    """With how many digits rows are compared in one column."""

    name: str
    precision: Annotated[
        str | None,
        Field(
            description="that of the table with fewer digits, such as float32 or 4 decimals; null if values are "
            "compared as they are"
        ),
    ]


CopiesJudged = Annotated[
    Literal["asked", "unasked", "accepted"] | None,
    Field(
        description="asked: max_copies_over_holdout limits them; unasked: what would be a pass is a fail if training "
        "rows are shown to be copied; accepted: accept_copies lifts that; null: nothing is limited"
    ),
]


class CopiesAnswer(CountedCopiesAnswer):
    """Rows of both sides that stand in the release, column for column."""

    judged: CopiesJudged
    columns: list[ComparedColumnAnswer]


class ColumnDifferenceAnswer(TypedDict):
    """One column by itself: the advantage of who reads nothing else."""

    name: str
    kind: Annotated[str, Field(description="number, date or category")]
    estimate: float
    lower: float
    upper: float
    confidence: float
    differs: bool


class SplitAnswer(TypedDict):
    """Whether training and hold-out rows differ without model or release."""

    sentence: str
    differs: bool
    advantage: IntervalAnswer
    columns: Annotated[list[ColumnDifferenceAnswer], Field(description="those that differ most first")]


class ControlAnswer(IntervalAnswer):
    """The advantage of a score whose model saw neither side: there is no leak in it."""

    sentence: str
    differs: bool


class AskedQueryAnswer(TypedDict):
    """A query that was asked: what its score says, and where it comes from."""

    name: str
    says: str
    paper: str


class QueriesAnswer(TypedDict):
    """Every query that was asked, what tells the sides apart anyway, and the verdict."""

    sentence: str
    decision: Annotated[
        Literal["pass", "fail", "fail, or drift", "inconclusive"] | None,
        Field(description="null if nothing was limited; fail, or drift: the sides differ anyway, too"),
    ]
    covers: Annotated[list[str], COVERS]
    undecided_because: UndecidedBecause
    limits: Annotated[list[RiskiestLimitAnswer] | None, Field(description="null if nothing was limited")]
    maximum: Annotated[IntervalAnswer, Field(description="the advantage of the riskiest query")]
    baseline: Annotated[float, Field(description="advantage of always guessing the likelier side")]
    ranking: list[RankedAnswer]
    queries: list[AskedQueryAnswer]
    exposures: list[QueryExposureAnswer]
    split: Annotated[SplitAnswer | None, Field(description="null if it was not asked")]
    control: Annotated[ControlAnswer | None, Field(description="null if no column of it was named")]
    groups: Annotated[
        list[GroupAnswer], Field(description="by the first query of ranking; empty if no group was named")
    ]
    warnings: list[WarningAnswer]
    provenance: ProvenanceAnswer


class SyntheticAnswer(QueriesAnswer):
    """What a released table gives away: every query, copies, and the verdict."""

    copies: CopiesAnswer
    near_copies: CountedCopiesAnswer
    n_synthetic: int
    n_reference: int


class ReleaseStepAnswer(StepAnswer):
    """What so many released rows give away; a step is a size, and all smaller ones are before it."""

    size: int
    limits: Annotated[
        list[RiskiestLimitAnswer] | None,
        Field(description="what is limited beside the advantage; null if nothing else is"),
    ]
    copies: Annotated[int, Field(description="training rows among these released rows, column for column")]
    near_copies: Annotated[
        int, Field(description="training rows that have a near copy among these released rows")
    ]


class ReleaseSizeAnswer(TypedDict):
    """The advantage against the number of released rows."""

    sentence: str
    decision: Annotated[
        Literal["pass", "fail", "inconclusive"] | None,
        Field(
            description="pass: every size keeps the limit, that of all rows included; fail: one is shown to exceed it"
        ),
    ]
    covers: Annotated[list[str], COVERS]
    undecided_because: UndecidedBecause
    largest: Annotated[int | None, Field(description="the largest size that keeps the limit")]
    max_advantage: float | None
    baseline: Annotated[float, Field(description="advantage of always guessing the likelier side")]
    steps: list[ReleaseStepAnswer]
    rows: Annotated[
        list[int], Field(description="places of the released rows that keep the limit; they, and no others")
    ]
    copies_judged: CopiesJudged
    n_synthetic: int
    n_reference: int
    warnings: list[WarningAnswer]
    provenance: ProvenanceAnswer


class FitAnswer(TypedDict):
    """How well the model does on either side."""

    sentence: str
    measure: Annotated[str, Field(description="accuracy, or of regressors root mean squared error")]
    members: float
    nonmembers: float


class ModelAnswer(QueriesAnswer):
    """What a model's predictions give away: every query, how well it does, and the verdict."""

    fit: FitAnswer
    outputs: Annotated[str, Field(description="probabilities, logits, predictions or labels")]
    not_asked: Annotated[dict[str, str], Field(description="queries that were not asked, and why")]


class MatchAnswer(TypedDict):
    """Rows of both sides that are alike, as many of either: a heuristic."""

    sentence: str
    train: Annotated[list[int], Field(description="places of the training rows that were kept")]
    holdout: Annotated[list[int], Field(description="places of the hold-out rows that were kept")]
    split: Annotated[
        SplitAnswer | None, Field(description="the kept rows, checked again; null if they are fewer than 8")
    ]


class CheckAnswer(SplitAnswer):
    """Whether two sides differ without any model."""

    control: Annotated[ControlAnswer | None, Field(description="null if no column of it was named")]
    match: Annotated[MatchAnswer | None, Field(description="null if it was not asked for")]
    warnings: list[WarningAnswer]
    provenance: ProvenanceAnswer


class AuditAnswer(TypedDict):
    """What was promised, what the records show, and whether they agree."""

    sentence: str
    epsilon: EpsilonAnswer
    claim: ClaimAnswer | None
    advantage: CertifiedAnswer
    baseline: float
    learned_score: Annotated[
        LearnedScoreAnswer | None,
        Field(description="vectors: the score that all of this speaks of; null otherwise"),
    ]
    warnings: list[WarningAnswer]
    provenance: ProvenanceAnswer


class ModelAdvantageAnswer(IntervalAnswer):
    """One of several models, by itself: the interval is about this model alone."""

    name: str
    members: int
    nonmembers: int


class ProcedureVerdictAnswer(TypedDict):
    """A decision about a training procedure."""

    threshold: float
    decision: Literal["pass", "fail", "inconclusive"]
    rests_on: Annotated[
        Literal["any_variation", "advantage"], Field(description="the limits of the mean that decided")
    ]
    reason: str
    models_needed: Annotated[
        int | None,
        Field(
            description="models in all, each with as many records, that would settle an open decision; null if it is "
            "settled, or if more models alone are not expected to settle it"
        ),
    ]
    records_needed: Annotated[int | None, Field(description="likewise records of these same models, in all")]
    holds_up_to_changes: Annotated[int | None, HOLDS_UP_TO]
    covers: Annotated[list[str], COVERS]
    undecided_because: UndecidedBecause


class ProcedureAnswer(TypedDict):
    """What a training procedure gives away."""

    sentence: str
    advantage: Annotated[IntervalAnswer, Field(description="the mean advantage over trainings")]
    next_model: Annotated[
        IntervalAnswer, Field(description="between these ends lies the advantage of one new model")
    ]
    any_variation: Annotated[
        IntervalAnswer,
        Field(description="the mean likewise, proven however trainings vary; wide with few models"),
    ]
    spread: Annotated[
        IntervalAnswer,
        Field(
            description="standard deviation of the advantage between trainings, beyond what the choice of records makes"
        ),
    ]
    records_cannot: Annotated[
        IntervalAnswer,
        Field(description="share of the variance that more records of the same models cannot remove"),
    ]
    baseline: Annotated[float, Field(description="advantage of always guessing the likelier side")]
    verdict: ProcedureVerdictAnswer | None
    models: list[ModelAdvantageAnswer]
    warnings: list[WarningAnswer]
    provenance: ProvenanceAnswer


class PlanAnswer(TypedDict):
    """Records that are expected to be enough; null if no reasonable number is."""

    records: int | None
    members: int | None
    nonmembers: int | None
    models: Annotated[
        int | None, Field(description="models to train, where the plan is about a training procedure")
    ]
    sentence: str
    warnings: list[WarningAnswer]


class CountsAnswer(TypedDict):
    """Counts, ready to be posted as ``counts`` or merged as ``shards``."""

    counts: dict[str, object]
    n_members: int
    n_nonmembers: int
    columns: list[ColumnReadAnswer]
    input_sha256: str
    sentence: str


def _class(operation: Operation) -> type:
    names = vars(import_module(f"macekit.schemas.{operation.module}")) if operation.paper else globals()
    answer: type = names[f"{operation.model}Answer"]
    return answer


ANSWERS = {each.name: _class(each) for each in OPERATIONS}
"""The answer of each operation."""
