"""What may be asked: one class for each endpoint, strict, with unknown fields refused.

Columns (members, counts, ...) stand here for the description only: they reach the library as arrays,
which checks them itself (``macekit.decoding``).
"""

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import ConfigDict, Discriminator, Field, Tag

from estimators.density.bandwidth import BANDWIDTHS
from estimators.metric.presets import PRESETS
from estimators.optimum.answer import MOST_CHANGES
from macekit.schemas import records
from macekit.schemas.records import about

Name = Annotated[str, Field(min_length=1, max_length=200)]
if TYPE_CHECKING:
    MetricName: TypeAlias = str
    BandwidthName: TypeAlias = str
else:
    MetricName = Literal[*PRESETS]
    BandwidthName = Literal[*BANDWIDTHS]
FORMER_LIMIT = Field(
    None, ge=-1, le=1, exclude=True, description="former name of max_advantage", json_schema_extra={"deprecated": True}
)
"""The limit of the advantage by the name that it had: ``decoding`` reads it as ``max_advantage``."""

ACCEPT_EXPOSURE = Field(
    False,
    description="whether a pass may stand beside a severe exposure (members shown to be in a range of scores at least "
    "ten times as often as nonmembers, and at least 0.5% of them) that no limit judges; without it the decision is "
    "then undecided",
)
"""Of every question that a pass may answer."""

MAX_GROUP_ADVANTAGE = Field(
    None,
    ge=-1,
    le=1,
    description="largest acceptable advantage within any group, on the group's own records; requires groups",
)

LearnerName = Literal["quadratic", "logistic", "boxes", "boosting", "tree"]
BANDWIDTH = Field(
    None,
    description="kde: the rule that chooses the bandwidth, or the bandwidth itself; scott if left out. silverman is "
    "0.9 min(s, IQR/1.349) n^(-1/5), not SciPy's rule of that name",
)


MaxAdvantage = Annotated[
    Annotated[float, Field(ge=-1, le=1)] | None, about("largest acceptable advantage of the riskiest query")
]
MaxExposed = Annotated[
    Annotated[float, Field(ge=0, le=1)] | None,
    about(
        "largest acceptable share of training rows in one range of a score that makes membership "
        "at_precision probable, by any query"
    ),
]
AtPrecision = Annotated[
    records.Share | None, about("the precision that goes with max_exposed, above the prior; 0.9, if left out")
]
UnitColumn = Annotated[
    Name | None,
    about(
        "column of both sides that says whom a row belongs to, such as a person: one row of each, drawn "
        "at random, is asked about, and the column is used for nothing else"
    ),
]
PriorOfRow = Annotated[records.Share, about("probability that a row is a member before its score is seen")]


class PresetMetric(records.Question):
    """A named metric with its parameters."""

    preset: MetricName
    beta: float | None = Field(None, gt=0, le=1e6, description="f_beta: weight of recall")
    w1: float | None = Field(None, gt=0, le=1e6, description="weighted_accuracy: weight of true positives")
    w2: float | None = Field(None, gt=0, le=1e6, description="weighted_accuracy: weight of true negatives")
    w3: float | None = Field(None, gt=0, le=1e6, description="weighted_accuracy: weight of false positives")
    w4: float | None = Field(None, gt=0, le=1e6, description="weighted_accuracy: weight of false negatives")


class Coefficients(records.Question):
    """(a0 + a11 TP + a10 FP + a01 FN + a00 TN) / (b0 + b11 TP + b10 FP + b01 FN + b00 TN)."""

    a0: records.Number = 0.0
    a11: records.Number = 0.0
    a10: records.Number = 0.0
    a01: records.Number = 0.0
    a00: records.Number = 0.0
    b0: records.Number = 0.0
    b11: records.Number = 0.0
    b10: records.Number = 0.0
    b01: records.Number = 0.0
    b00: records.Number = 0.0


class LinearMetric(records.Question):
    """A metric of your own, by its coefficients."""

    coefficients: Coefficients
    name: str = Field("custom", max_length=60, pattern=r"^[A-Za-z][A-Za-z0-9_ -]*$")


def _metric_form(value: object) -> str:
    if isinstance(value, str):
        return "name"
    names = value if isinstance(value, dict) else getattr(value, "__dict__", {})
    return "linear" if "coefficients" in names else "preset"


MetricGiven = Annotated[
    Annotated[MetricName, Tag("name")]
    | Annotated[PresetMetric, Tag("preset")]
    | Annotated[LinearMetric, Tag("linear")],
    Discriminator(_metric_form),
]


CHANGES = Field(
    None,
    ge=0,
    le=MOST_CHANGES,
    description="also covers attackers who change their guess at most so often along the score, at any places (2): "
    "the upper end, and with it a pass, holds for all of them. With kinds auto, histogram and kde; it is "
    "estimator.changes by its shorter name",
)
"""The number of changes that belongs to a limit."""


class Estimator(records.Question):
    """The class of attacks that the certified interval covers, and how the paper's statistic reads the scores."""

    kind: Literal["auto", "histogram", "kde", "threshold", "two_sided", "learned"] = Field(
        "auto",
        description="the class of attacks: auto: any attack on the score sorted into cells (groups of "
        "similar values), or a learned one for vectors; histogram: cells, with the paper's W_N on "
        "equal-width cells (of vectors boxes, and bins^d cells); kde: as auto, with the paper's U_N, in up to 10 "
        "dimensions, and its Algorithms 2 and 3 by kernel densities; threshold, two_sided: assume that the "
        "best attack has this form; learned: classifiers for vectors",
    )
    bins: Annotated[int, Field(ge=2, le=1_000_000)] | None = Field(
        None,
        description="histogram, learned: the number of cells; of the paper's, slices of each axis (100 if left out)",
    )
    universe: Annotated[int, Field(ge=2, le=2**53)] | None = Field(
        None, description="histogram: the number of possible categories, if more than in the records"
    )
    changes: Annotated[int, Field(ge=0, le=MOST_CHANGES)] | None = Field(
        None,
        description="auto, histogram, kde: how often attackers whom the upper end covers may change their guess along "
        "the score, at any places; 2 if left out",
    )
    bandwidth: BandwidthName | Annotated[float, Field(gt=0)] | None = BANDWIDTH
    learners: Annotated[list[LearnerName], Field(min_length=1, max_length=5)] | None = Field(
        None,
        description="learned: the classifiers to try; all but tree by default. A frame of an engine is scored by boxes "
        "and tree, which the engine can compute",
    )
    accept_learned_score: bool | None = Field(
        None,
        description="learned: let a verdict pass by the learned score, of which alone the upper end speaks; without "
        "it, a verdict on vectors fails or stays undecided",
    )


class PaperEstimator(records.Question):
    """How the paper's estimate reads the scores; the certified one beside it stays as it is."""

    kind: Literal["histogram", "kde"] | None = Field(
        None,
        description="histogram: categories as they are, numbers in equal slices of their range (bins, or 100); kde: "
        "kernel densities of numbers",
    )
    bins: Annotated[int, Field(ge=2, le=1_000_000)] | None = Field(
        None, description="the number of cells; of the paper's histogram, slices of each axis (100 if left out)"
    )
    bandwidth: BandwidthName | Annotated[float, Field(gt=0)] | None = BANDWIDTH


class CellsQuestion(records.PriorQuestion):
    """A question whose scores are sorted into cells, with what the paper states of it beside the certified."""

    estimator: PaperEstimator | None = None
    bins: Annotated[int, Field(ge=2, le=1_000_000)] | None = Field(
        None,
        description="has moved to estimator.bins, and is taken here until the next version",
        json_schema_extra={"deprecated": True},
    )


class Queried(records.Question):
    """One query, or one model: its scores of both sides, or its counts."""

    model_config = ConfigDict(json_schema_extra=records.SIDES_OR_COUNTS)

    members: records.Side | None = None
    nonmembers: records.Side | None = None
    counts: records.CountsGiven | None = None
    warnings: list[records.WarningGiven] | None = records.WARNINGS


class ReleasesQuestion(records.Question):
    """Several releases, or steps of a series, each with one query or more."""

    model_config = ConfigDict(json_schema_extra={"required": ["queries"]})

    queries: Annotated[dict[Name, Queried], Field(min_length=2, max_length=1000)] | None = Field(
        None,
        description="scores or counts of each release or step, by name; of several queries under names such as "
        "model/loss and model/margin",
    )
    max_advantage: Annotated[float, Field(ge=-1, le=1)] | None = Field(
        None, description="largest acceptable advantage, of the riskiest query"
    )
    accept_exposure: bool = ACCEPT_EXPOSURE
    cluster: records.ClusterLabels | None = records.CLUSTER
    warnings: list[records.WarningGiven] | None = records.WARNINGS
    query: records.QueryKind = "auto"
    prior: records.Prior = 0.5
    confidence: records.ConfidenceOfAll = 0.95
    seed: records.Seed = 0


class TablesQuestion(records.Question):
    """What is asked of rows as they are: which columns are read, and how."""

    categories: list[Name] = Field(
        [], max_length=2048, description="columns of numbers that are names of something, such as codes"
    )
    leave_out: list[Name] = Field([], max_length=2048, description="columns that are not to be used")
    use: list[Name] = Field(
        [], max_length=2048, description="columns that are to be used although they look like identifiers"
    )
    confidence: records.ConfidenceOfOne = 0.95
    seed: records.Seed = 0


class QueryLimitsQuestion(records.Question):
    """Limits on one number each that are held against the riskiest of several queries."""

    max_advantage: MaxAdvantage = None
    max_tpr: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None, description="largest acceptable true positive rate, at at_fpr, of any query"
    )
    at_fpr: records.Share | None = Field(None, description="the false positive rate that goes with max_tpr")
    max_exposed: MaxExposed = None
    at_precision: AtPrecision = None


class LimitsQuestion(QueryLimitsQuestion, TablesQuestion):
    """Limits that are held against the riskiest of several queries."""

    max_group_advantage: Annotated[float, Field(ge=-1, le=1)] | None = Field(
        None,
        description="largest acceptable advantage of any query within any group, on the group's own rows; requires "
        "group",
    )
    accept_exposure: bool = ACCEPT_EXPOSURE
    unit: UnitColumn = None
    group: Name | None = Field(
        None, description="column of both sides by which each group's own advantage and mean risk are stated"
    )
    check_sides: bool = Field(
        True, description="whether to look for what tells training from hold-out rows without model or release"
    )
    control: Name | None = Field(
        None,
        description="column of both sides with a control score: that of a model, or of a release, that was made of "
        "neither; if it tells them apart, a fail is fail, or drift; it is used for nothing else",
    )
    prior: PriorOfRow = 0.5
