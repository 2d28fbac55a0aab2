"""The options of each question, as keywords an editor completes; ``macekit.schemas.questions`` says what each means.

A test holds every name and type to the schemas. What is not given is not sent: defaults are known there alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Protocol, Required, TypeAlias, TypedDict

from macekit.catalogue import OPERATIONS

if TYPE_CHECKING:
    from macekit.schemas.questions import BandwidthName, LearnerName, MetricName, ModelQueryName, QueryName


class SupportsDict(Protocol):
    """What can be written down as counts: ``estimators.Counts``."""

    def to_dict(self) -> dict[str, Any]:
        """The counts as plain values."""


Values: TypeAlias = Any
"""One value a record: a list, a NumPy array, a column of pandas, Polars or Arrow, a tensor; rows for vectors."""

Data: TypeAlias = Any
"""``Values`` of members; or a table of both sides (a frame, an Arrow table, a dict of columns); or a file, several, a
folder, a pattern, an address in a bucket, or anything that gives Arrow batches."""

Path: TypeAlias = str | PathLike[str]
LabelValues: TypeAlias = Values | Mapping[str, Values]
CountsLike: TypeAlias = Mapping[str, Any] | SupportsDict
EstimatorKind: TypeAlias = Literal["auto", "histogram", "kde", "threshold", "two_sided", "learned"]
Adjacency: TypeAlias = Literal["replace", "add_remove"]
Inclusion: TypeAlias = Literal["fixed_number", "independent"]
Outputs: TypeAlias = Literal["probabilities", "logits", "predictions", "labels"]
QueryKind: TypeAlias = Literal["auto", "continuous", "discrete"]


class PresetMetric(TypedDict, total=False):
    """A named metric with its parameters."""

    preset: Required[MetricName]
    beta: float | None
    w1: float | None
    w2: float | None
    w3: float | None
    w4: float | None


class Coefficients(TypedDict, total=False):
    """(a0 + a11 TP + a10 FP + a01 FN + a00 TN) / (b0 + b11 TP + b10 FP + b01 FN + b00 TN)."""

    a0: float
    a11: float
    a10: float
    a01: float
    a00: float
    b0: float
    b11: float
    b10: float
    b01: float
    b00: float


class LinearMetric(TypedDict, total=False):
    """A metric of your own, by its coefficients."""

    coefficients: Required[Coefficients]
    name: str


MetricGiven: TypeAlias = "MetricName | PresetMetric | LinearMetric"


class Estimator(TypedDict, total=False):
    """Which adversaries the certified interval speaks of."""

    kind: EstimatorKind
    bins: int | None
    universe: int | None
    changes: int | None
    bandwidth: BandwidthName | float | None
    learners: list[LearnerName] | None
    accept_learned_score: bool | None


class PaperEstimator(TypedDict, total=False):
    """How the paper's estimate reads the scores."""

    kind: Literal["histogram", "kde"] | None
    bins: int | None
    bandwidth: BandwidthName | float | None


class Columns(TypedDict, total=False):
    """Which columns of a table are what."""

    score: str | list[str]
    member: str
    group: str
    unit: str
    cluster: str | list[str] | LabelValues | Mapping[str, LabelValues]
    members_column: str
    nonmembers_column: str


class SampleOptions(Columns, total=False):
    """The records, however they come."""

    counts: CountsLike | None
    units: LabelValues | None
    query: QueryKind
    seed: int


class PriorOptions(SampleOptions, total=False):
    """What every question about a sample has in common."""

    prior: float
    confidence: float


class AdvantageOptions(PriorOptions, total=False):
    """``estimate``."""

    metric: MetricGiven | None
    estimator: Estimator
    threshold: float | None
    claimed_epsilon: float | None
    claimed_delta: float
    operating_points: list[float]
    set_members: int | None
    set_nonmembers: int | None


class ProcedureOptions(PriorOptions, total=False):
    """``procedure``."""

    model: Required[str | LabelValues]
    threshold: float | None
    accept_simulated: bool


class ReportOptions(AdvantageOptions, total=False):
    """``report``."""

    groups: LabelValues | None


class RiskTableOptions(TypedDict, total=False):
    """``risk_table``."""

    prior: float
    confidence: float
    interval: Literal["auto", "mover_fieller", "conditional"]
    threshold: float | None
    over: Literal["records", "cells"]
    seed: int


class RiskOptions(PriorOptions, total=False):
    """``risk``."""

    targets: Values | None
    groups: LabelValues | None
    metric: MetricGiven | None
    estimator: PaperEstimator | None
    bins: int | None
    interval: Literal["auto", "mover_fieller", "conditional"]
    threshold: float | None
    over: Literal["records", "cells"]
    top: int | None


class MetricsOptions(PriorOptions, total=False):
    """``metrics``."""

    metrics: list[MetricGiven] | None
    min_positive_share: float | None
    estimator: PaperEstimator | None
    bins: int | None


class AttackRule(TypedDict, total=False):
    """How the attack makes guesses of its scores."""

    kind: Literal["auto", "guesses", "threshold", "top", "quantile"]
    threshold: float | None
    side: Literal["above", "below"] | None
    chosen_before: bool | None
    records: int | None
    quantile: float | None
    of: Literal["all", "members", "nonmembers"] | None


class AttackOptions(PriorOptions, total=False):
    """``attack``."""

    rule: AttackRule
    metrics: list[MetricGiven] | None


class GateOptions(PriorOptions, total=False):
    """``gate``."""

    max_advantage: float | None
    max_tpr: float | None
    at_fpr: float | None
    max_epsilon: float | None
    delta: float
    metric: MetricGiven | None
    max: float | None
    max_group_risk: float | None
    groups: LabelValues | None
    estimator: Estimator
    anytime: bool
    planned: int | None
    state: dict[str, Any] | None


class CompareOptions(Columns, total=False):
    """``compare``."""

    paired: bool
    against: str | None
    query: QueryKind
    estimator: Estimator
    prior: float
    confidence: float
    seed: int


class ReleasesOptions(Columns, total=False):
    """What ``compare_releases`` and ``advantage_series`` share."""

    max_advantage: float | None
    query: QueryKind
    prior: float
    confidence: float
    seed: int


class CompareReleasesOptions(ReleasesOptions, total=False):
    """``compare_releases``."""

    paired: bool
    against: str | None


class SeriesOptions(ReleasesOptions, total=False):
    """``advantage_series``."""

    counts: CountsLike | None
    groups: LabelValues | None


class AuditOptions(PriorOptions, total=False):
    """``audit``."""

    claimed_epsilon: float | None
    claimed_delta: float
    direction: Literal["either", "high", "low"]


class TablesOptions(TypedDict, total=False):
    """What all questions of tables share."""

    categories: list[str]
    leave_out: list[str]
    use: list[str]
    confidence: float
    seed: int


class CheckOptions(TablesOptions, total=False):
    """``check_split``."""

    control: str | None
    match: bool


class LimitsOptions(TablesOptions, total=False):
    """What audits of a release and of predictions share."""

    max_advantage: float | None
    max_tpr: float | None
    at_fpr: float | None
    max_exposed: float | None
    at_precision: float | None
    unit: str | None
    group: str | None
    check_sides: bool
    control: str | None
    prior: float


class SyntheticOptions(LimitsOptions, total=False):
    """``audit_synthetic``."""

    max_copies_over_holdout: int | None
    queries: list[QueryName] | None


class ReleaseSizeOptions(TablesOptions, total=False):
    """``release_size``."""

    sizes: list[int] | None
    max_advantage: float | None
    max_exposed: float | None
    at_precision: float | None
    max_copies_over_holdout: int | None
    queries: list[QueryName] | None
    unit: str | None
    prior: float


class ModelOptions(LimitsOptions, total=False):
    """``audit_predictions``."""

    truth: str | None
    predictions: list[str]
    outputs: Outputs | None
    features: list[str]
    queries: list[ModelQueryName] | None
    together: bool


class PlanOptions(TypedDict, total=False):
    """``plan``."""

    expected: Required[float]
    threshold: float | None
    width: float | None
    prior: float
    member_share: float
    confidence: float
    design_effect: float | None
    cluster_size: int | None
    correlation: float | None
    spread: float | None
    records_per_model: int | None


class CountsOptions(SampleOptions, total=False):
    """``counts``."""

    shards: list[CountsLike] | None
    cells: Literal["auto", "grid", "categories", "equal_mass", "edges"]
    bins: int | None
    edges: list[float] | None
    groups: LabelValues | None


class DpOptions(TypedDict, total=False):
    """``theory.dp``."""

    epsilon: float | None
    delta: float | None
    mu: float | None
    rdp: list[list[float]] | None
    noise_multiplier: float | None
    steps: int | None
    sampling_rate: float | None
    adjacency: Adjacency | None
    inclusion: Inclusion
    prior: float
    member_weight: float
    false_positive_rates: list[float]
    advantage: float | None


class ConvertOptions(TypedDict, total=False):
    """``theory.convert``."""

    advantage: float | None
    eta: float | None
    epsilon: float | None
    mu: float | None
    delta: float
    prior: float
    false_positive_rates: list[float]
    adjacency: Adjacency | None
    inclusion: Inclusion


class TogetherOptions(PriorOptions, total=False):
    """``theory.together``."""

    claimed_epsilon: Required[float]
    claimed_delta: float
    adjacency: Adjacency | None
    inclusion: Inclusion
    direction: Literal["either", "high", "low"]
    operating_points: list[float]


class Column(TypedDict, total=False):
    """Which columns of a table are the first array; the others go by their own names."""

    column: str | list[str]


class MipOptions(Column, total=False):
    """``theory.mip``."""

    records: int | None
    eta: float
    noise: Literal["gaussian", "laplace"]
    norm: Literal["moment", "euclid", "max", "one"]
    moment: float
    spread: list[float] | None
    confidence: float


class MipFiniteOptions(Column, total=False):
    """``theory.mip_finite``."""

    n: Required[int]
    k: int | None


class MisOptions(Column, total=False):
    """``theory.mis``."""

    sizes: list[int] | None
    nonmember_share: float | None
    member_weight: float
    delta: float | None
    coarsen_to: list[int] | None
    universe: int | None
    confidence: float


class MisOverfittingOptions(TypedDict, total=False):
    """``theory.mis_overfitting``."""

    score: str
    member: str
    members_column: str
    nonmembers_column: str
    losses_of: Literal["one_model", "independent_trainings"]
    thresholds: list[float] | None
    nonmember_share: float
    member_weight: float
    alpha: float | None
    confidence: float


class MisDivergenceOptions(Column, total=False):
    """``theory.mis_divergence``."""

    nonmember_share: float | None
    member_weight: float


class MisMeanOptions(TypedDict, total=False):
    """``theory.mis_mean``."""

    dimension: int
    sizes: list[int] | None
    nonmember_share: float | None
    member_weight: float
    delta: float | None


class PmpExponentialOptions(Column, total=False):
    """``theory.pmp_exponential``."""

    rows: Literal["records", "training_sets"]
    loss: Literal["sum", "mean"]
    sensitivity: Required[float]
    epsilon: float | None
    practical_epsilon: float | None
    draws: int | None
    confidence: float
    seed: int


class PmpFiniteOptions(Column, total=False):
    """``theory.pmp_finite``."""

    delta: float


class PmpGaussianOptions(Column, total=False):
    """``theory.pmp_gaussian``."""

    clip: Required[float]
    query: Literal["mean", "sum"]
    delta: Required[float]
    sigma: float | None
    epsilon: float | None
    practical_epsilon: float | None


OPTIONS: dict[str, Any] = {
    each.name: globals()[f"{each.model}Options"] for each in OPERATIONS if f"{each.model}Options" in globals()
}
"""The options of each operation, for those who check types."""
