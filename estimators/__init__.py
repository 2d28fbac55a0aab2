"""mace: what a model's scores give away about who was in its training set, with intervals that hold.

    from estimators import Scores, assess
    print(assess(Scores.of(members, nonmembers)).sentence)

The library reads in the order the data flows: scores, counts, an adversary, an interval, an answer.
"""

from estimators.advantage import Advantage, advantage
from estimators.attack import (
    AttackAdvantage,
    GuessRule,
    QuantileRule,
    ThresholdRule,
    TopRule,
    attack_advantage,
)
from estimators.audit.exposure import Exposure, exposure
from estimators.clusters.lone import lone_rows
from estimators.compare import compare, difference, paired_difference
from estimators.errors import MaceError
from estimators.fixed_set import SetAdvantage, advantage_on_set
from estimators.matching import Match, match_sides
from estimators.metric.definition import Metric
from estimators.metric.estimate import MetricEstimate, metric_optimum
from estimators.metric.individual import IndividualMetric, individual_metric
from estimators.metric.presets import PRESETS, preset
from estimators.plan import Decision, Plan, Verdict, plan_verdict, plan_width, verdict
from estimators.release_size import ReleaseSize, release_size
from estimators.releases import ReleaseComparison, compare_releases
from estimators.report import Assessment, AssessOptions, assess
from estimators.risk.individual import IndividualRisk, individual_risk
from estimators.risk.mean import MeanRisk, mean_risk
from estimators.sample.counts import Counts
from estimators.sample.scores import Query, Scores, one_per_unit
from estimators.series import Series, advantage_series
from estimators.split import Control, SplitCheck, check_split, control
from estimators.statement import VERSION, Caution, Estimate, Guarantee, Interval
from estimators.synthetic import SyntheticAudit, audit_synthetic, release_queries
from estimators.targets import CellsTarget, LearnedTarget, ThresholdTarget, TwoSidedTarget
from estimators.within_groups import by_group

__all__ = [
    "PRESETS",
    "VERSION",
    "Advantage",
    "AssessOptions",
    "Assessment",
    "AttackAdvantage",
    "Caution",
    "CellsTarget",
    "Control",
    "Counts",
    "Decision",
    "Estimate",
    "Exposure",
    "Guarantee",
    "GuessRule",
    "IndividualMetric",
    "IndividualRisk",
    "Interval",
    "LearnedTarget",
    "MaceError",
    "Match",
    "MeanRisk",
    "Metric",
    "MetricEstimate",
    "Plan",
    "QuantileRule",
    "Query",
    "ReleaseComparison",
    "ReleaseSize",
    "Scores",
    "Series",
    "SetAdvantage",
    "SplitCheck",
    "SyntheticAudit",
    "ThresholdRule",
    "ThresholdTarget",
    "TopRule",
    "TwoSidedTarget",
    "Verdict",
    "advantage",
    "advantage_on_set",
    "advantage_series",
    "assess",
    "attack_advantage",
    "audit_synthetic",
    "by_group",
    "check_split",
    "compare",
    "compare_releases",
    "control",
    "difference",
    "exposure",
    "individual_metric",
    "individual_risk",
    "lone_rows",
    "match_sides",
    "mean_risk",
    "metric_optimum",
    "one_per_unit",
    "paired_difference",
    "plan_verdict",
    "plan_width",
    "preset",
    "release_queries",
    "release_size",
    "verdict",
]
