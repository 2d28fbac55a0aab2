"""What answers are made of: intervals with their guarantees, curves, verdicts, and where they come from."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from estimators.decisions.verdict import Because
from macekit.catalogue import OPERATIONS
from macekit.declaration import DeclarationAnswer
from macekit.schemas.records import about

COVERS = Field(
    description="of a pass: whom and what it covers, a sentence each; what they do not name is not covered. Empty "
    "without a pass"
)
HOLDS_UP_TO = Field(
    description="of a pass of the advantage: the largest number of changes of guess along the score, up to 1000, with "
    "which every attacker keeps within the limit; null without an order, of rows in clusters, and without a pass"
)


RecordsNeeded = Annotated[
    int | None, about("records of both sides that would settle it, approximately; null if none is known")
]
LearnedScoreAccepted = Annotated[
    bool | None,
    about(
        "whether the learned score, of which alone the upper end speaks, was accepted for a pass; null "
        "where no score was learned"
    ),
]


class GuaranteeAnswer(TypedDict):
    """What an interval covers, what it assumes, and whether it is proven at every sample size."""

    covers: str
    assumes: str
    finite_sample: bool


class IntervalAnswer(TypedDict):
    """A point estimate and the two ends that hold together with probability ``confidence``."""

    estimate: float | None
    lower: float
    upper: float
    confidence: float
    guarantee: GuaranteeAnswer


class OnThisSetAnswer(IntervalAnswer):
    """The advantage on one fixed set of records, of which those sent were drawn, or are all."""

    sentence: str
    if_nothing_leaks: Annotated[
        float,
        about(
            "the same on average if membership in such a set were dealt at random: few records always "
            "look as if something leaked"
        ),
    ]
    set_members: int
    set_nonmembers: int


class ClustersAnswer(TypedDict):
    """What rows that come in clusters are worth."""

    columns: Annotated[list[str], about("the columns that say whom each row belongs to")]
    numbers: Annotated[list[int], about("how many clusters each of them has")]
    design_effect: Annotated[
        float, about("how many times as many such rows it takes as independent ones to say as much")
    ]
    effective_sample: Annotated[float, about("how many independent rows would say as much")]
    method: Annotated[
        Literal["effective_sample", "betting", "independent"],
        about(
            "effective_sample: by the variance between clusters; betting: for few clusters, valid at every "
            "number of them; independent: no two rows share a label"
        ),
    ]
    sentence: str


OfClusters = Annotated[ClustersAnswer | None, about("what the clusters cost; null where none were named")]


class CertifiedAnswer(IntervalAnswer):
    """The optimal advantage, certified."""

    resolution: Annotated[int, about("number of cells (groups of similar values) the score is sorted into")]
    changes: Annotated[
        int | None,
        about(
            "how often attackers whom the upper end covers may change their guess along the score, "
            "wherever; null where it covers the cells alone"
        ),
    ]
    leader: Annotated[str, about("family of adversaries that set the lower end")]
    class_rejected: Annotated[bool, about("whether the records contradict the assumed class")]
    clusters: OfClusters


class ChangesAnswer(TypedDict):
    """The upper end, at full resolution, for attackers who change their guess at most so many times."""

    changes: int
    upper: float


class PaperAnswer(TypedDict):
    """The statistic as published: its interval covers the expectation of the statistic, not the advantage."""

    statistic: str
    estimate: float
    lower: float
    upper: float
    null_level: Annotated[float, about("what the statistic is on average for so many records if nothing leaks")]
    covers: str
    assumes: str
    finite_sample: bool


class LearnedScoreAnswer(TypedDict):
    """The score that a vector was turned into: one number a record, from a learner that had not seen the record."""

    learner: Annotated[str, about("which learner did best within the records learned from")]
    n_taught: Annotated[int, about("records of both sides that it was learned from")]
    n_members: Annotated[int, about("member records that it is stated on: none it was learned from")]
    n_nonmembers: int
    sentence: Annotated[str, about("of what the numbers that rest on it speak")]


class MetricAnswer(TypedDict):
    """The largest value of a metric over adversaries."""

    name: str
    estimate: float
    lower: float
    upper: float
    confidence: float
    guarantee: GuaranteeAnswer
    threshold: Annotated[float | None, about("posterior at which the best rule changes its guess")]
    direction: Literal["above", "below"]
    trivial: Annotated[float, about("what guessing without the score gives")]
    degenerate: Annotated[str | None, about("why the optimum says nothing about leakage, if so")]
    least_share: Annotated[float, about("least share of records called members")]
    most_share: Annotated[float, about("greatest share of records called members")]
    resolution: int
    leader: str
    paper: Annotated[float | None, about("what the paper's Algorithm 2 or 3 prints")]
    paper_algorithm: int
    paper_estimator: Annotated[Literal["histogram", "kde"], about("how that algorithm learned the posterior")]
    paper_records: Annotated[int, about("on how many records its rule was judged")]
    paper_member_guesses: Annotated[
        int,
        about(
            "how many of these its rule accuses of being members; few_paper_guesses warns where the metric "
            "is a share of fewer than 30 guesses"
        ),
    ]
    sentence: str
    warnings: list[WarningAnswer]


class OperatingPointAnswer(TypedDict):
    """The true positive rate at a false positive rate."""

    fpr: float
    tpr: float
    lower: float
    upper: float


class BestPrecisionAnswer(TypedDict):
    """The best precision of a cut that accuses at least a share of members: on these records, and its limits."""

    share: float
    estimate: float
    lower: float
    upper: float


class RocAnswer(TypedDict):
    """Every threshold at once; a higher score means member."""

    fpr: list[float]
    tpr: list[float]
    auc: float
    auc_lower: float
    auc_upper: float
    guarantee: Annotated[GuaranteeAnswer, about("of the interval of the area")]
    rates_guarantee: Annotated[GuaranteeAnswer, about("of the intervals of operating points")]
    operating_points: list[OperatingPointAnswer]


class EpsilonAnswer(TypedDict):
    """What the records say the epsilon of the mechanism must be at least; the guarantee says how members were drawn."""

    lower_bound: float
    delta: float
    confidence: float
    right: Annotated[int, about("guesses that were right")]
    guesses: int
    guarantee: GuaranteeAnswer
    sentence: str


class PlaceAnswer(TypedDict):
    """A range of the score, or a label, or a cell of vectors, and how many of either side lie in it."""

    direction: Annotated[
        Literal["high", "low", "window", "label", "cell"],
        about(
            "which end of the score it is, or a window between them; label where scores have no order, "
            "cell where they are vectors"
        ),
    ]
    label: Annotated[
        str | float | bool | None,
        about("the label; of vectors the cell's place among the cells, from 0; null where scores have an order"),
    ]
    low: Annotated[float | None, about("of a window: where it begins; null else")]
    high: Annotated[float | None, about("of a window: no score in it is above this; null else")]
    members: Annotated[int, about("members in it")]
    nonmembers: Annotated[int, about("nonmembers in it")]


class TailAnswer(PlaceAnswer):
    """A tail of members, and what is shown of it."""

    tpr_lower: Annotated[float, about("lower limit of the share of members in it")]
    fpr_upper: Annotated[float, about("upper limit of the share of nonmembers in it")]
    precision_lower: Annotated[float, about("lower limit of the probability that a record in it is a member")]


class NonmemberTailAnswer(PlaceAnswer):
    """A tail of nonmembers, and what it shows of the epsilon of the score."""

    score_epsilon: Annotated[
        float, about("lower limit of the log of how many times as often nonmembers lie in it as members")
    ]


class ExposureAnswer(TypedDict):
    """Whether a range of the score holds members and no nonmember, or almost none."""

    alarm: Annotated[bool, about("whether it does; then the warning rare_exposure comes first")]
    severe: Annotated[
        bool,
        about(
            "whether at least 0.5% of members are shown to be there, ten times as often as nonmembers: at "
            "even odds an attacker is then right ten times in eleven at least"
        ),
    ]
    score_epsilon: Annotated[
        float,
        about(
            "what the epsilon of this score's two distributions is at least, by ranges that either side "
            "has to itself, at both ends and between; not that of the mechanism"
        ),
    ]
    confidence: Annotated[float, about("each limit errs with half of the rest at most, whichever tail is named")]
    tail: Annotated[
        TailAnswer | None,
        about(
            "the tail or window of members that shows most, a severe one before all others; null if none shows anything"
        ),
    ]
    nonmember_tail: Annotated[
        NonmemberTailAnswer | None,
        about("the tail of nonmembers that shows most, which exposes no member; null if none shows anything"),
    ]
    least: Annotated[
        int | None, about("fewest members beyond every nonmember that would show; null if not even all of them")
    ]
    guarantee: GuaranteeAnswer
    sentence: str


class ClaimAnswer(TypedDict):
    """An (epsilon, delta) promised of the mechanism, against the records."""

    epsilon: float
    delta: float
    decision: Literal["contradicted", "not contradicted"]
    advantage_ceiling: Annotated[float, about("largest advantage the promise allows")]
    sentence: str


UndecidedBecause = Annotated[
    Because | None,
    about(
        "exposed: what is limited is kept, but a severe exposure stands beside it that no limit judges and "
        "that was not accepted (accept_exposure). Of a decision that is not applicable, the code of the warning that "
        "says why; null else"
    ),
]
"""Why a decision is open, if not for want of records."""

DecisionWord = Literal["pass", "fail", "inconclusive", "not applicable"]
"""A decision; not applicable where what was sent cannot answer the question, so that nothing passes."""


class VerdictAnswer(TypedDict):
    """A decision at a threshold."""

    threshold: float
    decision: DecisionWord
    reason: str
    records_needed: RecordsNeeded
    learned_score_accepted: LearnedScoreAccepted
    holds_up_to_changes: Annotated[int | None, HOLDS_UP_TO]
    covers: Annotated[list[str], COVERS]
    undecided_because: UndecidedBecause


class WarningAnswer(TypedDict):
    """Something to know before using a number; ``code`` is stable."""

    code: str
    message: str


class ColumnReadAnswer(TypedDict):
    """A column that was read, and how it was taken."""

    role: Annotated[
        str,
        about(
            "what it was taken for: score, member, group, unit, cluster or model of a table; or the field "
            "of a JSON body"
        ),
    ]
    name: Annotated[str, about("its name in the table, its number if it has none, or that of the field")]
    kind: Annotated[str, about("integers, numbers, text, booleans, rows of numbers, counts; nothing if it is empty")]
    distinct: Annotated[
        int | None, about("how many different values it holds; null if more than 1000, or if they are rows")
    ]
    notes: Annotated[
        list[str], about("what was dropped or understood, such as blanks around values, or who is a member")
    ]


class StepAnswer(TypedDict):
    """Which batch of which run this was."""

    run_id: str
    look: int
    state_before: Annotated[str | None, about("SHA-256 of the state that came with it; null for the first batch")]
    state_after: Annotated[str, about("SHA-256 of the state that was given out with this answer")]


class ProvenanceAnswer(TypedDict):
    """How the numbers were computed: enough to compute them again."""

    method: str
    version: str
    n_members: int
    n_nonmembers: int
    input_sha256: str
    query: str
    columns: Annotated[list[ColumnReadAnswer], about("the columns that were read, and how each was taken")]
    seed: int
    options: dict[str, object]
    run: NotRequired[Annotated[StepAnswer, about("with anytime alone")]]
    declaration: NotRequired[
        Annotated[
            DeclarationAnswer | None,
            about("of a gate: under which declaration; null if its question was not declared before"),
        ]
    ]


PROMISES = [each.name for each in OPERATIONS if each.paper and not each.counts_suffice]
"""Operations of theory that are asked without scores."""


class OriginAnswer(TypedDict):
    """How the answer came about, enough to make it again."""

    method: Annotated[str, Field(description="the operation", json_schema_extra={"enum": list(PROMISES)})]
    version: Annotated[str, about("of the methods")]
    input_sha256: Annotated[str | None, about("of the arrays; null if there were none")]
    arrays: Annotated[list[str], about("the arrays there were")]
    columns: Annotated[
        list[ColumnReadAnswer], about("the columns of a table that were read, or the arrays, and how each was taken")
    ]
    options: dict[str, object]


class BoundAnswer(TypedDict):
    """One bound of one quantity; of those of one quantity the smallest that is proven is the tightest."""

    quantity: str
    name: Annotated[str, about("stable")]
    says: str
    value: Annotated[float | None, about("null if infinite")]
    source: str
    assumes: str
    proven: Annotated[bool, about("false: printed in a paper, and refuted")]
    tightest: bool
