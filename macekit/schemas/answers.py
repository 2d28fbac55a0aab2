"""What is answered: the shape of every answer, which is filled by the names of its fields; OpenAPI is made from it."""

from typing import Annotated, Literal

from typing_extensions import TypedDict

from macekit.schemas import statements
from macekit.schemas.records import about


class AdvantageAnswer(TypedDict):
    """Everything about one sample."""

    sentence: str
    advantage: statements.CertifiedAnswer
    baseline: Annotated[float, about("advantage of always guessing the likelier side")]
    mip_eta: Annotated[float, about("accuracy above the better constant guess")]
    security: Annotated[float, about("1 - the gain over the baseline as a share of what there is to gain")]
    security_lower: float
    security_upper: float
    upper_by_changes: Annotated[
        list[statements.ChangesAnswer],
        about(
            "upper ends, each by itself, for attackers who change their guess at most so many times along "
            "the score, wherever; empty without an order"
        ),
    ]
    paper: statements.PaperAnswer | None
    metric: statements.MetricAnswer | None
    roc: statements.RocAnswer | None
    epsilon_lower_bound: Annotated[float, about("of the mechanism; as in epsilon")]
    epsilon: statements.EpsilonAnswer
    exposure: statements.ExposureAnswer
    claim: statements.ClaimAnswer | None
    verdict: statements.VerdictAnswer | None
    on_this_set: Annotated[
        statements.OnThisSetAnswer | None,
        about("the advantage on exactly the set of which these records were drawn; null if its size was not told"),
    ]
    learned_score: Annotated[
        statements.LearnedScoreAnswer | None,
        about("vectors: the score that metric, roc, epsilon, exposure and claim speak of; null otherwise"),
    ]
    warnings: list[statements.WarningAnswer]
    provenance: statements.ProvenanceAnswer


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
        about("the metric asked for; null where the sample has no records, and where it is 0/0"),
    ]
    metric_lower: list[float | None] | None
    metric_upper: list[float | None] | None
    metric_guesses_member: Annotated[list[bool | None] | None, about("what the rule of metric_rule guesses there")]
    metric_on_threshold: Annotated[
        list[bool] | None,
        about(
            "the interval of the posterior contains the threshold: either guess may be right. If the "
            "threshold is estimated, metric_lower and metric_upper are the range of both"
        ),
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
    advantage: statements.CertifiedAnswer | None
    warnings: list[statements.WarningAnswer]


class CellsAnswer(RiskColumns):
    """One entry for each cell in every column: the table in which the records were looked up."""

    cells: dict[str, object]
    members: list[int]
    nonmembers: list[int]
    signed_lower: Annotated[list[float], about("lower end of signed_risk, for one cell")]
    signed_upper: list[float]


class MetricRuleAnswer(TypedDict):
    """The rule under which the metric of a record is stated, and what its interval is worth."""

    name: str
    threshold: Annotated[float | None, about("posterior at which the rule changes its guess; null if it never does")]
    direction: Annotated[Literal["above", "below"], about("on which side of the threshold member is guessed")]
    confidence: float
    guarantee: statements.GuaranteeAnswer
    undefined: Annotated[str | None, about("why the metric is null where there are records, if it is anywhere")]


class PaperRiskAnswer(TypedDict):
    """How the paper's risk of each record came about, and what its interval is worth."""

    theorem: Annotated[int, about("2: the box of a cell; 3: kernel densities at the score")]
    estimator: Literal["histogram", "kde"]
    cells: Annotated[int | None, about("how many cells have records, for Theorem 2")]
    bandwidth: Annotated[
        list[float] | None, about("members' and nonmembers', for Theorem 3; of vectors the product over the axes")
    ]
    confidence: float
    covers: str
    assumes: str
    finite_sample: bool
    metric: Annotated[str | None, about("name of the metric in paper_metric")]
    metric_threshold: Annotated[float | None, about("posterior at which the rule of the metric changes its guess")]
    metric_algorithm: Annotated[int | None, about("3 if Algorithm 3 learned that threshold; null if Lemma 2 knows it")]
    warnings: list[statements.WarningAnswer]


class MeanRiskAnswer(statements.IntervalAnswer):
    """The mean risk of records that are members with the prior's probability: the best attacker's advantage."""

    plug_in: Annotated[
        float,
        about(
            "mean of the cells' risks as they are stated: biased upward for what these cells can tell, "
            "which is less than the mean risk where scores within a cell tell more"
        ),
    ]
    sentence: str
    clusters: statements.OfClusters


MeanOfMixture = Annotated[
    MeanRiskAnswer, about("over the mixture, in which members have the prior's share (MACE, Theorem 1.2)")
]
LearnedScores = Annotated[
    list[statements.LearnedScoreAnswer] | None,
    about(
        "vectors: two scores, each stated on the records that the other was learned from; null "
        "otherwise. The cells of the first come first"
    ),
]


class FlagsAnswer(TypedDict):
    """What a flag means here."""

    threshold: float
    rate: Annotated[
        float, about("share of the flagged that may lie in cells whose scores do not speak for membership, on average")
    ]
    over: str
    records: Annotated[int, about("records flagged")]
    member_share: Annotated[
        float | None,
        about(
            "share of the flagged that are members at the prior: an estimate, by Bayes' rule from the "
            "shares of each side flagged, of targets the mean of their posteriors; null if none is flagged"
        ),
    ]


class DistributionAnswer(TypedDict):
    """How the scores of both sides lie, in bins fit to be drawn."""

    kind: Literal["intervals", "categories"]
    edges: Annotated[
        list[float] | None,
        about(
            "intervals: ends of the bins, one more than there are; of counts posted as intervals the two "
            "outermost bins are open, and their outer ends are for the eye"
        ),
    ]
    labels: Annotated[list[str | float | bool] | None, about("categories: one a bin, the most frequent ones")]
    members: list[int]
    nonmembers: list[int]
    outside_members: Annotated[int, about("member records beyond what is drawn")]
    outside_nonmembers: Annotated[int, about("nonmember records beyond what is drawn")]


class PosteriorCurveAnswer(TypedDict):
    """The chance of being a member along the score as the paper states it, one entry a point or slice."""

    theorem: Annotated[int, about("2: slices of equal width; 3: kernel densities")]
    starts: Annotated[list[float], about("where a slice begins; of kernel densities the points")]
    ends: Annotated[list[float], about("where it ends; of kernel densities the points again")]
    posterior: list[float]
    lower: list[float]
    upper: list[float]
    bandwidth: list[float] | None
    covers: str
    assumes: str


Ranges = Annotated[
    int | None, about("tpr: of how many ranges of the score, or labels, a set consists at most; null else")
]
BestThreshold = Annotated[
    statements.IntervalAnswer | None, about("tpr: that of the best threshold, by itself; null without an order")
]


class LimitAnswer(TypedDict):
    """One limit of a gate, and what the records say about it."""

    name: Annotated[str, about("advantage, tpr, epsilon, metric, group_advantage or group_risk")]
    about: Annotated[str, about("what is limited, in words")]
    maximum: float
    estimate: float | None
    lower: float
    upper: Annotated[float | None, about("null where the records bound it from one side only")]
    confidence: float
    guarantee: statements.GuaranteeAnswer
    decision: statements.DecisionWord
    reason: str
    records_needed: statements.RecordsNeeded
    learned_score_accepted: statements.LearnedScoreAccepted
    holds_up_to_changes: Annotated[int | None, statements.HOLDS_UP_TO]
    ranges: Ranges
    threshold: BestThreshold


class EndsAnswer(TypedDict):
    """A number with both ends of its interval."""

    estimate: float | None
    lower: float
    upper: float


class GroupOfGateAnswer(TypedDict):
    """One group of a gate: what it gives away by itself, its mean risk, and what that says about their limits."""

    label: str | float | bool
    records: int
    n_members: Annotated[int | None, about("null where only targets are known")]
    n_nonmembers: int | None
    decision: statements.DecisionWord
    reason: str
    records_needed: Annotated[
        int | None,
        about(
            "records of this group alone, of both sides, that would settle max_group_advantage, "
            "approximately; null if it is settled or none is known"
        ),
    ]
    advantage: Annotated[
        EndsAnswer | None,
        about(
            "the advantage on the group's own records; null where it cannot be judged. As a limit each "
            "upper end holds alone; beside a limit on mean risks all hold together"
        ),
    ]
    risk: Annotated[
        EndsAnswer | None,
        about(
            "mean over the group's records of the risk read off all records together; null unless "
            "max_group_risk limits it"
        ),
    ]


class DecisionAnswer(TypedDict):
    """A decision over all limits together, which share the error: fail if any fails, pass if all pass."""

    sentence: str
    decision: statements.DecisionWord
    covers: Annotated[list[str], statements.COVERS]
    undecided_because: statements.UndecidedBecause
    records_needed: int | None
    limits: list[LimitAnswer]
    groups: Annotated[list[GroupOfGateAnswer], about("each group, if a limit is on groups; else empty")]


class RankedAnswer(TypedDict):
    """One query's place."""

    name: str
    advantage: statements.CertifiedAnswer
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
    guarantee: statements.GuaranteeAnswer
    decided: bool
    sentence: str


class SideBySideAnswer(TypedDict):
    """A ranking, the largest, and the differences."""

    sentence: str
    decision: Annotated[
        statements.DecisionWord | None,
        about("pass: the limit is kept by all; fail: by one it is not; null if nothing was limited"),
    ]
    covers: Annotated[list[str], statements.COVERS]
    undecided_because: statements.UndecidedBecause
    maximum: statements.IntervalAnswer
    baseline: Annotated[float, about("advantage of always guessing the likelier side")]
    ranking: list[RankedAnswer]
    differences: list[DifferenceAnswer]
    warnings: list[statements.WarningAnswer]
    provenance: list[statements.ProvenanceAnswer]


class RiskiestLimitAnswer(statements.IntervalAnswer):
    """One limit, judged for every query."""

    name: Annotated[str, about("advantage, tpr, exposed, group_advantage, copies or near_copies")]
    maximum: float
    decision: statements.DecisionWord
    query: Annotated[str, about("the query that decides")]
    reason: str
    holds_up_to_changes: Annotated[int | None, statements.HOLDS_UP_TO]
    ranges: Ranges
    threshold: BestThreshold


class StepAnswer(statements.IntervalAnswer):
    """What one step of a series gives away; the intervals of all steps hold together."""

    query: Annotated[str, about("the query with the largest estimated advantage")]
    decisive_upper: Annotated[
        float, about("upper end at the confidence of this step alone, by which the limit is judged")
    ]
    decision: Annotated[
        statements.DecisionWord | None, about("pass: this step and all before it keep the limit; null without a limit")
    ]
    holds_up_to_changes: Annotated[int | None, statements.HOLDS_UP_TO]
    undecided_because: statements.UndecidedBecause
    reason: str


class QueryExposureAnswer(statements.ExposureAnswer):
    """Whether one query reaches members that no nonmember's score reaches."""

    query: str


class ColumnDifferenceAnswer(TypedDict):
    """One column by itself: the advantage of who reads nothing else."""

    name: str
    kind: Annotated[str, about("number, date or category")]
    estimate: float
    lower: float
    upper: float
    confidence: float
    differs: bool


class SplitAnswer(TypedDict):
    """Whether training and hold-out rows differ without model or release."""

    sentence: str
    differs: bool
    advantage: statements.IntervalAnswer
    columns: Annotated[list[ColumnDifferenceAnswer], about("those that differ most first")]


class ControlAnswer(statements.IntervalAnswer):
    """The advantage of a score whose model saw neither side: there is no leak in it."""

    sentence: str
    differs: bool


class StrengthAnswer(TypedDict):
    """What the queries see of records that are known to be in training."""

    sentence: str
    strong: Annotated[bool, about("whether the lower end is above max_advantage, or without one above the baseline")]
    advantage: Annotated[statements.IntervalAnswer, about("of the riskiest query, of at most 1")]
    beside: Annotated[
        statements.IntervalAnswer | None, about("that of a twin's answers less the model's; null if they are not there")
    ]
    planted: int
    spared: int
    copies: int


class AskedQueryAnswer(TypedDict):
    """A query that was asked: what its score says, and where it comes from."""

    name: str
    says: str
    paper: str
