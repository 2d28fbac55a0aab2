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
from estimators.compare import by_group, compare, difference, paired_difference
from estimators.errors import MaceError
from estimators.metric.definition import Metric
from estimators.metric.estimate import MetricEstimate, metric_optimum
from estimators.metric.individual import IndividualMetric, individual_metric
from estimators.metric.presets import PRESETS, preset
from estimators.plan import Decision, Plan, Verdict, plan_verdict, plan_width, verdict
from estimators.report import Assessment, AssessOptions, assess
from estimators.risk.individual import IndividualRisk, individual_risk
from estimators.risk.mean import MeanRisk, mean_risk
from estimators.sample.counts import Counts
from estimators.sample.scores import Query, Scores, one_per_unit
from estimators.statement import VERSION, Caution, Estimate, Guarantee, Interval
from estimators.targets import CellsTarget, LearnedTarget, ThresholdTarget, TwoSidedTarget

__all__ = [
    "PRESETS",
    "VERSION",
    "Advantage",
    "AssessOptions",
    "Assessment",
    "AttackAdvantage",
    "Caution",
    "CellsTarget",
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
    "MeanRisk",
    "Metric",
    "MetricEstimate",
    "Plan",
    "QuantileRule",
    "Query",
    "Scores",
    "ThresholdRule",
    "ThresholdTarget",
    "TopRule",
    "TwoSidedTarget",
    "Verdict",
    "advantage",
    "assess",
    "attack_advantage",
    "by_group",
    "compare",
    "difference",
    "exposure",
    "individual_metric",
    "individual_risk",
    "mean_risk",
    "metric_optimum",
    "one_per_unit",
    "paired_difference",
    "plan_verdict",
    "plan_width",
    "preset",
    "verdict",
]
