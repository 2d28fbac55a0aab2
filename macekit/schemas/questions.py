"""What may be asked: one class for each endpoint, strict, with unknown fields refused.

Columns (members, counts, ...) stand here for the description only: they reach the library as arrays,
which checks them itself (``macekit.decoding``).
"""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag
from pydantic.json_schema import SkipJsonSchema

from estimators.optimum.advantage import MOST_CHANGES
from estimators.optimum.fixed_set import MOST as MOST_OF_A_SET
from macekit.catalogue import BY_NAME, OPERATIONS, Operation
from macekit.schemas.records import (
    CLUSTER,
    SIDES_OR_COUNTS,
    ClusterLabels,
    Confidence,
    CountsGiven,
    Labels,
    LabelsOfRows,
    LabelsOfSides,
    Number,
    PriorQuestion,
    Question,
    SampleQuestion,
    Share,
    Side,
    Targets,
    absent,
    present,
)

Name = Annotated[str, Field(min_length=1, max_length=200)]
MetricName = Literal[
    "accuracy",
    "advantage",
    "balanced_accuracy",
    "precision",
    "recall",
    "specificity",
    "npv",
    "f1",
    "f_beta",
    "jaccard",
    "weighted_accuracy",
]
FORMER_LIMIT = Field(
    None,
    ge=-1,
    le=1,
    exclude=True,
    description="former name of max_advantage",
    json_schema_extra={"deprecated": True},
)
"""The limit of the advantage by the name that it had: ``decoding`` reads it as ``max_advantage``."""

ACCEPT_EXPOSURE = Field(
    False,
    description="whether a pass may stand beside a severe exposure (members shown to be in a range of scores at least "
    "ten times as often as nonmembers, and at least 0.5% of them) that no limit judges; without it the decision is "
    "then inconclusive",
)
"""Of every question that a pass may answer."""

MAX_GROUP_ADVANTAGE = Field(
    None,
    ge=-1,
    le=1,
    description="largest acceptable advantage within any group, on the group's own records; requires groups",
)

LearnerName = Literal["quadratic", "logistic", "boxes", "boosting", "tree"]
BandwidthName = Literal["scott", "silverman", "sheather_jones", "least_squares"]
RULES = "silverman is 0.9 min(s, IQR/1.349) n^(-1/5), not SciPy's rule of that name"


class PresetMetric(Question):
    """A named metric with its parameters."""

    preset: MetricName
    beta: float | None = Field(None, gt=0, le=1e6, description="f_beta: weight of recall")
    w1: float | None = Field(None, gt=0, le=1e6, description="weighted_accuracy: weight of true positives")
    w2: float | None = Field(None, gt=0, le=1e6, description="weighted_accuracy: weight of true negatives")
    w3: float | None = Field(None, gt=0, le=1e6, description="weighted_accuracy: weight of false positives")
    w4: float | None = Field(None, gt=0, le=1e6, description="weighted_accuracy: weight of false negatives")


class Coefficients(Question):
    """(a0 + a11 TP + a10 FP + a01 FN + a00 TN) / (b0 + b11 TP + b10 FP + b01 FN + b00 TN)."""

    a0: Number = 0.0
    a11: Number = 0.0
    a10: Number = 0.0
    a01: Number = 0.0
    a00: Number = 0.0
    b0: Number = 0.0
    b11: Number = 0.0
    b10: Number = 0.0
    b01: Number = 0.0
    b00: Number = 0.0


class LinearMetric(Question):
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


class Estimator(Question):
    """The class of attacks that the certified interval covers, and how the paper's statistic reads the scores."""

    kind: Literal["auto", "histogram", "kde", "threshold", "two_sided", "learned"] = Field(
        "auto",
        description="the class of attacks: auto: any attack on the score sorted into cells (groups of "
        "similar values), or a learned one for vectors; histogram: cells, with the paper's W_N on "
        "equal-width cells (of vectors boxes, and bins^d cells); kde: as auto, with the paper's U_N, in up to 10 "
        "dimensions, and its Algorithms 2 and 3 by kernel densities; threshold, two_sided: assume that the "
        "best attack has this form; learned: classifiers for vectors",
    )
    bins: int | None = Field(
        None,
        ge=2,
        le=1_000_000,
        description="histogram, learned: the number of cells; of the paper's, slices of each axis (100 if left out)",
    )
    universe: int | None = Field(
        None,
        ge=2,
        le=2**53,
        description="histogram: the number of possible categories, if more than in the records",
    )
    changes: int | None = Field(
        None,
        ge=0,
        le=MOST_CHANGES,
        description="auto, histogram, kde: how often attackers whom the upper end covers may change their guess along "
        "the score, at any places; 2 if left out",
    )
    bandwidth: BandwidthName | Annotated[float, Field(gt=0)] | None = Field(
        None,
        description=f"kde: the rule that chooses the bandwidth, or the bandwidth itself; scott if left out. {RULES}",
    )
    learners: list[LearnerName] | None = Field(
        None,
        min_length=1,
        max_length=5,
        description="learned: the classifiers to try; all but tree by default. A frame of an engine is scored by boxes "
        "and tree, which the engine can compute",
    )
    accept_learned_score: bool | None = Field(
        None,
        description="learned: let a verdict pass by the learned score, of which alone the upper end speaks; without "
        "it, a verdict on vectors fails or stays inconclusive",
    )


class PaperEstimator(Question):
    """How the paper's estimate reads the scores; the certified one beside it stays as it is."""

    kind: Literal["histogram", "kde"] | None = Field(
        None,
        description="histogram: categories as they are, numbers in equal slices of their range (bins, or 100); kde: "
        "kernel densities of numbers",
    )
    bins: int | None = Field(
        None,
        ge=2,
        le=1_000_000,
        description="the number of cells; of the paper's histogram, slices of each axis (100 if left out)",
    )
    bandwidth: BandwidthName | Annotated[float, Field(gt=0)] | None = Field(
        None,
        description=f"kde: the rule that chooses the bandwidth, or the bandwidth itself; scott if left out. {RULES}",
    )


class AdvantageQuestion(PriorQuestion):
    """One sample: the optimal advantage, and everything that belongs to it."""

    metric: MetricGiven | None = Field(
        "accuracy", description="another metric: its largest value over attackers"
    )
    estimator: Estimator = Estimator()
    max_advantage: float | None = Field(
        None, ge=-1, le=1, description="largest acceptable advantage; gives a verdict"
    )
    threshold: float | None = FORMER_LIMIT
    changes: int | None = CHANGES
    accept_exposure: bool = ACCEPT_EXPOSURE
    claimed_epsilon: float | None = Field(None, ge=0, le=700, description="epsilon that was promised")
    claimed_delta: float = Field(0.0, ge=0, lt=1, description="delta that was promised with it")
    operating_points: list[Share] = Field(
        [0.001, 0.01, 0.1],
        max_length=64,
        description="false positive rates at which to state the true positive rate",
    )
    set_members: int | None = Field(
        None,
        ge=1,
        le=MOST_OF_A_SET,
        description="how many members the whole set has of which those sent were drawn at random, or are all: also "
        "states the advantage on exactly this set. If only the number of nonmembers is given, all members were sent",
    )
    set_nonmembers: int | None = Field(
        None,
        ge=1,
        le=MOST_OF_A_SET,
        description="how many nonmembers the whole set has; if only the number of members is given, all were sent",
    )


class ProcedureQuestion(PriorQuestion):
    """Several models that one procedure trained: what it gives away, and what its next model will."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": absent("counts", "units"),
            "then": present("array", "members", "nonmembers"),
            "else": False,
            "required": ["model"],
        }
    )

    model: LabelsOfRows | None = Field(
        None,
        description="which model scored each record, members first; each has members and nonmembers of its own",
    )
    max_advantage: float | None = Field(
        None,
        ge=-1,
        le=1,
        description="largest acceptable advantage, on average over trainings; gives a verdict",
    )
    threshold: float | None = FORMER_LIMIT
    accept_exposure: bool = ACCEPT_EXPOSURE
    accept_simulated: bool = Field(
        False,
        description="let the verdict rest on the simulated interval of the mean, which assumes that trainings vary "
        "without rare extremes; without it, it rests on any_variation, which takes more models",
    )


class CellsQuestion(PriorQuestion):
    """A question whose scores are sorted into cells, with what the paper states of it beside the certified."""

    estimator: PaperEstimator | None = None
    bins: int | None = Field(
        None,
        ge=2,
        le=1_000_000,
        description="has moved to estimator.bins, and is taken here until the next version",
        json_schema_extra={"deprecated": True},
    )


class RiskQuestion(CellsQuestion):
    """The risk of each record, and of each group."""

    model_config = ConfigDict(
        json_schema_extra={
            **SIDES_OR_COUNTS,
            "then": {
                "required": ["targets"],
                "properties": {
                    "targets": {"type": "array"},
                    "members": {"type": "null"},
                    "nonmembers": {"type": "null"},
                },
            },
        }
    )

    targets: Targets | None = Field(
        None, description="scores to state the risk of; without it, every record sent"
    )
    groups: Labels | LabelsOfSides | None = Field(
        None, description="a label for each record, members first, or for each target"
    )
    metric: MetricGiven | None = Field(None, description="also state this metric for each record")
    estimator: PaperEstimator | None = Field(
        None, description="also state the risk, and the metric, as the paper does: Theorems 2, 3 and 4"
    )
    interval: Literal["auto", "mover_fieller", "conditional"] = Field(
        "auto",
        description="how the interval of a cell is computed: auto is conditional, exact at every confidence; "
        "mover_fieller is narrower for categories, but above 95% misses more often than it says",
    )
    threshold: float | None = Field(
        None,
        ge=-1,
        lt=1,
        description="signed risk above which a record is flagged; without it, the signed risk of the prior",
    )
    over: Literal["records", "cells"] = Field(
        "records", description="whether the rate of false flags counts records or cells"
    )
    top: int | None = Field(
        None,
        ge=1,
        description="return only this many records, those with the strongest evidence of membership first",
    )


class MetricsQuestion(CellsQuestion):
    """Several metrics of one sample, each at its optimum."""

    metrics: list[MetricGiven] | None = Field(
        None, min_length=1, max_length=64, description="the metrics; without it, every preset"
    )
    min_positive_share: float | None = Field(
        None,
        ge=0,
        lt=1,
        description="least share of all records that an attacker must accuse of being members",
    )
    estimator: PaperEstimator | None = Field(
        None,
        description="how the paper's Algorithms 2 and 3 learn the posterior: by the cells of the certified optimum if "
        "the kind is left out",
    )


class AttackRule(Question):
    """How the attack makes guesses of its scores."""

    kind: Literal["auto", "guesses", "threshold", "top", "quantile"] = Field(
        "auto",
        description="auto: what the other options say, guesses if there are none; guesses: the scores are guesses, "
        "true or 1 for member; threshold: accuse beyond a threshold; top: accuse so many records of both sides "
        "together; quantile: accuse beyond a quantile of these records",
    )
    threshold: Number | None = Field(
        None, description="threshold: records are accused from this score on", examples=[0.75]
    )
    side: Literal["above", "below"] | None = Field(
        None, description="threshold, top, quantile: which scores are accused; above if left out"
    )
    chosen_before: bool | None = Field(
        None,
        description="threshold: whether it was chosen before these records were seen; true if left out. If false, the "
        "interval holds however it was chosen, and is wider",
    )
    records: int | None = Field(
        None, ge=1, le=2**53, description="top: how many records are accused; as many as members if left out"
    )
    quantile: Share | None = Field(
        None, description="quantile: the share of records below the cut; 0.5 is the median"
    )
    of: Literal["all", "members", "nonmembers"] | None = Field(
        None, description="quantile: of which records; all if left out"
    )


class AttackQuestion(PriorQuestion):
    """An attack: its guesses, or its scores and its rule."""

    model_config = ConfigDict(
        json_schema_extra={  # as a plain allOf, makers of clients would merge it into the columns themselves
            "if": absent("counts"),
            "then": present("array", "members", "nonmembers"),
            "else": False,
        }
    )

    rule: AttackRule = AttackRule()
    metrics: list[MetricGiven] | None = Field(
        None, min_length=1, max_length=64, description="metrics of the attack; without it, every preset"
    )


class ReportQuestion(AdvantageQuestion):
    """A report on one sample: the optimal advantage, distributions, ROC, risk and groups."""

    groups: Labels | LabelsOfSides | None = Field(None, description="a label for each record, members first")
    max_group_advantage: float | None = MAX_GROUP_ADVANTAGE


class GateQuestion(PriorQuestion):
    """The limits that a model must keep before its release; at least one."""

    model_config = ConfigDict(
        json_schema_extra={
            **SIDES_OR_COUNTS,
            "allOf": [
                {  # as a plain anyOf, makers of clients would take it for several questions
                    "if": {
                        "not": {"anyOf": [present("number", "max_advantage"), present("object", "state")]}
                    },
                    "then": {
                        "anyOf": [
                            present("number", "max_tpr"),
                            present("number", "max_epsilon"),
                            present("number", "max"),
                            present("number", "max_group_risk"),
                            present("number", "max_group_advantage"),
                        ]
                    },
                },
                {
                    "if": present("number", "max"),
                    "then": {"required": ["metric"], "properties": {"metric": {"not": {"type": "null"}}}},
                    "else": absent("metric"),
                },
                {
                    "if": {
                        "anyOf": [
                            present("number", "max_group_risk"),
                            present("number", "max_group_advantage"),
                        ]
                    },
                    "then": {
                        "anyOf": [
                            {
                                "required": ["groups"],
                                "properties": {
                                    "groups": {"not": {"type": "null"}},
                                    "counts": {"type": "null"},
                                },
                            },
                            {
                                "required": ["counts"],
                                "properties": {
                                    "counts": {
                                        "type": "object",
                                        "required": ["by_group"],
                                        "properties": {"by_group": {"type": "array"}},
                                    },
                                    "groups": {"type": "null"},
                                },
                            },
                        ]
                    },
                    "else": absent("groups"),
                },
                {
                    "if": present("number", "max_tpr"),
                    "then": present("number", "at_fpr"),
                    "else": absent("at_fpr"),
                },
                {
                    "if": present("number", "max_epsilon"),
                    "else": {"properties": {"delta": {"const": 0}}},
                },
                {
                    "if": {"required": ["anytime"], "properties": {"anytime": {"const": True}}},
                    "then": absent("max_tpr", "max_epsilon", "max", "max_group_risk", "max_group_advantage"),
                    "else": absent("planned", "state"),
                },
            ],
        }
    )

    max_advantage: float | None = Field(
        None, ge=-1, le=1, description="largest acceptable advantage", examples=[0.1]
    )
    changes: int | None = CHANGES
    max_tpr: float | None = Field(
        None,
        ge=0,
        le=1,
        description="largest acceptable true positive rate at the false positive rate at_fpr, of the best set of at "
        "most 4 ranges of the score, or labels",
    )
    at_fpr: Share | None = Field(None, description="false positive rate for max_tpr; requires max_tpr")
    max_epsilon: float | None = Field(
        None, ge=0, le=700, description="largest acceptable epsilon of the score at delta"
    )
    delta: float = Field(0.0, ge=0, lt=1, description="delta for max_epsilon")
    metric: MetricGiven | None = Field(
        None, description="metric whose largest value over attackers is limited by max"
    )
    max: Number | None = Field(None, description="largest acceptable value of the metric")
    max_group_advantage: float | None = MAX_GROUP_ADVANTAGE
    max_group_risk: float | None = Field(
        None,
        ge=0,
        le=1,
        description="largest acceptable mean over a group's records of the risk read off all records together, which "
        "looks at no group by itself; requires groups",
    )
    accept_exposure: bool = ACCEPT_EXPOSURE
    groups: Labels | LabelsOfSides | None = Field(None, description="a label for each record, members first")
    estimator: Estimator = Estimator()
    anytime: bool = Field(
        False,
        description="whether the records are one batch of several: the ends then hold at all looks together, and one "
        "may stop as soon as they decide; max_advantage is judged alone",
    )
    planned: int | None = Field(
        None,
        ge=2,
        le=2**53,
        description="with the first of several batches: about how many records of both sides will come, at which the "
        "ends are best (10000)",
    )
    state: dict[str, Any] | None = Field(
        None,
        description="with anytime: the state that was answered to the batch before; left out with the first",
    )


class ColumnsQuestion(Question):
    """Which columns a table has; the body is the table, or enough of its head."""


class Queried(Question):
    """One query, or one model: its scores of both sides, or its counts."""

    model_config = ConfigDict(json_schema_extra=SIDES_OR_COUNTS)

    members: Side | None = None
    nonmembers: Side | None = None
    counts: CountsGiven | None = None


class CompareQuestion(Question):
    """Several queries of one model, or several models, side by side."""

    model_config = ConfigDict(json_schema_extra={"required": ["queries"]})

    queries: dict[Name, Queried] | None = Field(
        None, min_length=2, max_length=1000, description="scores or counts of each query, by name"
    )
    paired: bool = Field(
        True,
        description="whether all queries scored the same records, row by row (true), or independent samples (false)",
    )
    against: Name | None = Field(
        None, description="name of the query to compare all others with; without it, all pairs"
    )
    max_advantage: Annotated[float, Field(ge=-1, le=1)] | None = Field(
        None,
        description="largest acceptable advantage, of the riskiest query; gives a decision. Every query has to be one "
        "number a record, or counts",
    )
    max_group_advantage: Annotated[float, Field(ge=-1, le=1)] | None = Field(
        None,
        description="largest acceptable advantage of any query within any group, on the group's own records; requires "
        "groups, and the records of each query",
    )
    groups: Labels | LabelsOfSides | None = Field(
        None, description="a label for each record, members first; those of every query"
    )
    accept_exposure: bool = ACCEPT_EXPOSURE
    cluster: ClusterLabels | None = CLUSTER
    query: Literal["auto", "continuous", "discrete"] = Field(
        "auto", description="whether scores are numbers on a line or categories"
    )
    estimator: Estimator = Estimator()
    prior: Share = Field(0.5, description="probability that a record is a member before its score is seen")
    confidence: Confidence = Field(
        0.95, description="probability that all intervals of the answer hold together"
    )
    seed: int = Field(0, ge=0, le=2**53, description="seed of the random numbers behind the answer")


class ReleasesQuestion(Question):
    """Several releases, or steps of a series, each with one query or more."""

    model_config = ConfigDict(json_schema_extra={"required": ["queries"]})

    queries: dict[Name, Queried] | None = Field(
        None,
        min_length=2,
        max_length=1000,
        description="scores or counts of each release or step, by name; of several queries under names such as "
        "model/loss and model/margin",
    )
    max_advantage: Annotated[float, Field(ge=-1, le=1)] | None = Field(
        None, description="largest acceptable advantage, of the riskiest query"
    )
    accept_exposure: bool = ACCEPT_EXPOSURE
    cluster: ClusterLabels | None = CLUSTER
    query: Literal["auto", "continuous", "discrete"] = Field(
        "auto", description="whether scores are numbers on a line or categories"
    )
    prior: Share = Field(0.5, description="probability that a record is a member before its score is seen")
    confidence: Confidence = Field(
        0.95, description="probability that all intervals of the answer hold together"
    )
    seed: int = Field(0, ge=0, le=2**53, description="seed of the random numbers behind the answer")


class CompareReleasesQuestion(ReleasesQuestion):
    """Several releases of one training set, side by side."""

    paired: bool = Field(
        True,
        description="whether row i is the same record in all releases (true), or the samples are independent (false)",
    )
    against: Name | None = Field(
        None, description="name of the release that is subtracted from every other; the first, if left out"
    )


class SeriesQuestion(ReleasesQuestion):
    """The advantage at every step of a series, such as the checkpoints of a training."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": present("object", "queries"),
            "then": absent("members", "nonmembers", "counts", "groups"),
            "else": {
                "if": present("object", "counts"),
                "then": {
                    "allOf": [
                        absent("members", "nonmembers", "groups"),
                        {"properties": {"counts": present("array", "by_group")}},
                    ]
                },
                "else": {
                    "allOf": [
                        present("array", "members", "nonmembers"),
                        {"required": ["groups"], "properties": {"groups": {"not": {"type": "null"}}}},
                    ]
                },
            },
        }
    )

    members: Side | None = Field(
        None, description="in place of queries: the score of each member record at each step"
    )
    nonmembers: Side | None = Field(None, description="the score of each nonmember record at each step")
    groups: Labels | LabelsOfSides | None = Field(
        None,
        description="the step of each of these scores, members first: numbers or names, by which they are ordered",
    )
    counts: CountsGiven | None = Field(
        None, description="in place of them, counts whose groups (by_group) are the steps"
    )


class AuditQuestion(PriorQuestion):
    """A promised epsilon and delta, checked against the records."""

    claimed_epsilon: float | None = Field(None, ge=0, le=700, description="epsilon that was promised")
    claimed_delta: float = Field(0.0, ge=0, lt=1, description="delta that was promised with it")
    direction: Literal["either", "high", "low"] = Field(
        "either", description="which scores suggest membership: high ones, low ones, or either"
    )


class PlanQuestion(Question):
    """How many records are needed for a decision about a limit, or for an interval of a given width."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": present("number", "width"),
            "then": absent("max_advantage", "threshold", "spread"),
            "else": {  # as a plain anyOf, makers of clients would take it for several questions
                "if": present("number", "threshold"),
                "then": absent("max_advantage"),
                "else": present("number", "max_advantage"),
            },
            "allOf": [
                {
                    "if": present("number", "spread"),
                    "then": {
                        **present("integer", "records_per_model"),
                        "allOf": [absent("design_effect", "cluster_size", "correlation")],
                    },
                    "else": absent("records_per_model"),
                },
                {
                    "if": present("number", "correlation"),
                    "then": {**present("integer", "cluster_size"), "allOf": [absent("design_effect")]},
                },
                {
                    "if": present("integer", "cluster_size"),
                    "then": {"anyOf": [present("number", "design_effect"), present("number", "correlation")]},
                },
            ],
        }
    )

    expected: float = Field(ge=0, lt=1, description="expected advantage")
    max_advantage: float | None = Field(
        None, ge=-1, le=1, description="largest acceptable advantage, to decide about"
    )
    threshold: float | None = FORMER_LIMIT
    width: Share | None = Field(None, description="wanted width of the interval")
    prior: Share = Field(0.5, description="probability that a record is a member before its score is seen")
    member_share: float = Field(0.5, ge=0.001, le=0.999, description="share of members among the records")
    confidence: Confidence = Field(0.95, description="confidence of the interval")
    design_effect: float | None = Field(
        None,
        ge=1,
        le=1e6,
        description="how many times as many records it takes because they come in clusters: an earlier answer's",
    )
    cluster_size: int | None = Field(
        None, ge=1, le=1_000_000, description="records of one cluster; there will be 40 clusters at least"
    )
    correlation: float | None = Field(
        None,
        ge=0,
        le=1,
        description="correlation of two scores of one cluster, in place of design_effect; requires cluster_size",
    )
    spread: float | None = Field(
        None,
        ge=0,
        le=1,
        description="standard deviation of the advantage between trainings: the plan is then of models to train for a "
        "decision about their procedure; requires max_advantage and records_per_model",
    )
    records_per_model: int | None = Field(
        None,
        ge=16,
        le=100_000_000,
        description="records of each model, of both sides together; requires spread",
    )


class CountsQuestion(SampleQuestion):
    """Scores in, counts out; or several counts, merged."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": present("array", "shards"),
            "then": absent("members", "nonmembers", "counts", "units", "edges", "groups"),
            "else": SIDES_OR_COUNTS,
        }
    )

    shards: list[CountsGiven] | None = Field(
        None, min_length=1, max_length=10_000, description="counts of several shards, to merge"
    )
    cells: Literal["auto", "grid", "categories", "equal_mass", "edges"] = Field(
        "auto",
        description="how scores are sorted into cells: auto: categories for text, booleans and integers, "
        "otherwise grid; grid: cells whose width is a power of two, so that counts merge without an agreed "
        "range; equal_mass: cells with equally many records; edges: cells between given cuts",
    )
    bins: int | None = Field(None, ge=2, le=65_536, description="equal_mass: the number of cells")
    edges: list[Number] | None = Field(None, description="edges: the cuts, increasing", max_length=65_536)
    groups: Labels | LabelsOfSides | None = Field(
        None,
        description="a label for each record, members first: the counts then have those of each group, too",
    )


Cell = Number | str | bool | None
TableGiven = Annotated[dict[str, list[Cell]], Field(json_schema_extra={"minProperties": 1})]


def _drop_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


TableRequired = Annotated[
    TableGiven | SkipJsonSchema[None],
    Field(json_schema_extra=_drop_default),
]
"""A table that must be there: of a body that is no JSON it is cut from the one table."""

QueryName = Literal[
    "exact_copy",
    "near_copy",
    "closeness",
    "kth_closeness",
    "closeness_ratio",
    "ball",
    "calibrated_closeness",
    "density_ratio",
    "local_rank",
    "local_likelihood",
    "rare_values",
    "rare_pairs",
]


ModelQueryName = Literal[
    "loss",
    "confidence",
    "margin",
    "entropy",
    "modified_entropy",
    "scaled_confidence",
    "correctness",
    "squared_error",
    "absolute_error",
]


class TablesQuestion(Question):
    """What is asked of rows as they are: which columns are read, and how."""

    categories: list[Name] = Field(
        [], max_length=2048, description="columns of numbers that are names of something, such as codes"
    )
    leave_out: list[Name] = Field([], max_length=2048, description="columns that are not to be used")
    use: list[Name] = Field(
        [], max_length=2048, description="columns that are to be used although they look like identifiers"
    )
    confidence: Confidence = Field(0.95, description="probability with which an interval covers the truth")
    seed: int = Field(0, ge=0, le=2**53, description="seed of the random numbers behind the answer")


class LimitsQuestion(TablesQuestion):
    """Limits that are held against the riskiest of several queries."""

    max_advantage: Annotated[float, Field(ge=-1, le=1)] | None = Field(
        None, description="largest acceptable advantage of the riskiest query"
    )
    max_tpr: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None, description="largest acceptable true positive rate, at at_fpr, of any query"
    )
    at_fpr: Share | None = Field(None, description="the false positive rate that goes with max_tpr")
    max_exposed: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None,
        description="largest acceptable share of training rows in one range of a score that makes membership "
        "at_precision probable, by any query",
    )
    at_precision: Share | None = Field(
        None, description="the precision that goes with max_exposed, above the prior; 0.9, if left out"
    )
    max_group_advantage: Annotated[float, Field(ge=-1, le=1)] | None = Field(
        None,
        description="largest acceptable advantage of any query within any group, on the group's own rows; requires "
        "group",
    )
    accept_exposure: bool = ACCEPT_EXPOSURE
    unit: Name | None = Field(
        None,
        description="column of both sides that says whom a row belongs to, such as a person: one row of each, drawn "
        "at random, is asked about, and the column is used for nothing else",
    )
    group: Name | None = Field(
        None, description="column of both sides by which each group's own advantage and mean risk are stated"
    )
    check_sides: bool = Field(
        True,
        description="whether to look for what tells training from hold-out rows without model or release",
    )
    control: Name | None = Field(
        None,
        description="column of both sides with a control score: that of a model, or of a release, that was made of "
        "neither; if it tells them apart, a fail is fail, or drift; it is used for nothing else",
    )
    prior: Share = Field(0.5, description="probability that a row is a member before its score is seen")


class ReleaseQuestion(TablesQuestion):
    """What is asked of a released table, beside the rows that it was made from and others."""

    model_config = ConfigDict(json_schema_extra={"required": ["train", "holdout", "synthetic"]})

    train: TableRequired = Field(
        None, description="the rows that the release was made from: a list for each column; null is missing"
    )
    holdout: TableRequired = Field(
        None, description="rows like these that it was not made from, with the same columns"
    )
    synthetic: TableRequired = Field(None, description="the released rows, with the same columns")
    reference: TableGiven | None = Field(
        None, description="further rows, of neither side; without them, queries that need them are not asked"
    )
    max_copies_over_holdout: Annotated[int, Field(ge=0, le=2**53)] | None = Field(
        None,
        description="most training rows that may be copied beyond what chance explains; if left out, what would be a "
        "pass is a fail if any are shown to be, at a tenth of the level, which comes on top of it",
    )
    max_near_copies_over_holdout: Annotated[int, Field(ge=0, le=2**53)] | None = Field(
        None,
        description="most training rows that may have a near copy beyond what chance explains: alike in every "
        "category, and in all numbers together up to 1% of a range",
    )
    accept_copies: bool = Field(
        False, description="whether copies that max_copies_over_holdout does not limit are no reason to fail"
    )


class SyntheticQuestion(ReleaseQuestion, LimitsQuestion):
    """What a released table gives away about the rows it was made from."""

    queries: list[QueryName] | None = Field(
        None, min_length=2, max_length=12, description="the queries to ask; all that can be, if left out"
    )


class ReleaseSizeQuestion(ReleaseQuestion):
    """How many rows of a released table may go out."""

    synthetic: TableRequired = Field(
        None, description="all the rows that might be released, with the same columns"
    )
    sizes: list[Annotated[int, Field(ge=1, le=2**53)]] | None = Field(
        None,
        min_length=1,
        max_length=256,
        description="numbers of released rows to ask about, fixed before the data are looked at; 10, 20, 50, 100 and "
        "so on, up to all rows, if left out",
    )
    max_advantage: Annotated[float, Field(ge=-1, le=1)] | None = Field(
        None, description="largest acceptable advantage of the riskiest query"
    )
    max_exposed: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None,
        description="largest acceptable share of training rows in one range of a score that makes membership "
        "at_precision probable, by any query",
    )
    at_precision: Share | None = Field(
        None, description="the precision that goes with max_exposed, above the prior; 0.9, if left out"
    )
    accept_exposure: bool = ACCEPT_EXPOSURE
    queries: list[QueryName] | None = Field(
        None, min_length=1, max_length=12, description="the queries to ask; all that can be, if left out"
    )
    unit: Name | None = Field(
        None,
        description="column of both sides that says whom a row belongs to, such as a person: one row of each, drawn "
        "at random, is asked about, and the column is used for nothing else",
    )
    prior: Share = Field(0.5, description="probability that a row is a member before its score is seen")


class ModelQuestion(LimitsQuestion):
    """What a model's predictions give away about the rows it was trained on."""

    model_config = ConfigDict(json_schema_extra={"required": ["train", "holdout"]})

    train: TableRequired = Field(
        None, description="a row for each training row: what the model predicts, and what is true"
    )
    holdout: TableRequired = Field(
        None, description="the same columns of rows like these that it was not trained on"
    )
    truth: Name | None = Field(
        None, description="column that says what is true; truth, label, target or y, if left out"
    )
    predictions: list[Name] = Field(
        [],
        max_length=2048,
        description="columns of what the model predicts, one a class; if left out, those called after the classes "
        "(cat, or p_cat), else all numbers but the truth",
    )
    outputs: Literal["probabilities", "logits", "predictions", "labels"] | None = Field(
        None, description="what they are: logits are scores before the softmax; read off them, if left out"
    )
    features: list[Name] = Field(
        [],
        max_length=2048,
        description="columns that the model read: a fail is then fail, or drift, if the sides differ in them anyway",
    )
    queries: list[ModelQueryName] | None = Field(
        None, min_length=1, max_length=9, description="the queries to ask; all that apply, if left out"
    )
    together: bool = Field(
        False, description="whether to learn a score of all queries together from 40% of the rows"
    )


class CheckQuestion(TablesQuestion):
    """Whether training and hold-out rows differ without any model."""

    model_config = ConfigDict(json_schema_extra={"required": ["train", "holdout"]})

    train: TableRequired = Field(
        None, description="the rows that a model was trained on: a list for each column; null is missing"
    )
    holdout: TableRequired = Field(None, description="the rows that were held out, with the same columns")
    control: Name | None = Field(
        None,
        description="column of both sides with a control score: that of a model, or of a release, that was made of "
        "neither; it is used for nothing else",
    )
    match: bool = Field(
        False,
        description="whether to look for rows of both sides that are alike, as many of either (a heuristic), and to "
        "check those again",
    )


COLUMNS = frozenset(
    {
        "members",
        "nonmembers",
        "counts",
        "queries",
        "targets",
        "groups",
        "units",
        "cluster",
        "model",
        "shards",
        "state",
    }
)
"""Fields that hold records: decoded to arrays, checked by the library."""


def columns_of(operation: str) -> frozenset[str]:
    """Every field of a question that holds records or arrays, and is no option."""
    tables = BY_NAME[operation].tables
    return frozenset(tables) or COLUMNS | set(BY_NAME[operation].arrays)


def _class(operation: Operation) -> type[Question]:
    names = vars(import_module(f"macekit.schemas.{operation.module}")) if operation.paper else globals()
    question: type[Question] = names[f"{operation.model}Question"]
    return question


QUESTIONS = {each.name: _class(each) for each in OPERATIONS}
"""The question of each operation."""
