"""mace: what a model's scores give away about who was in its training set, with intervals that hold.

    from estimators import Scores, assess
    print(assess(Scores.of(members, nonmembers)).sentence)

The core reads in the order the data flows: `limits`, `sample` (scores and their counts), `density`, `adversary`,
`clusters`, then the statements `optimum`, `risk`, `metric`, `attack`, `privacy` and `paper`, then the `decisions`. The
wings `runs`, `audits` and `theory` stand on it, and nothing of the core imports one of them but this list of names.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from estimators.adversary.targets import CellsTarget, LearnedTarget, ThresholdTarget, TwoSidedTarget
from estimators.attack.answer import AttackAdvantage, attack_advantage
from estimators.attack.rules import GuessRule, QuantileRule, ThresholdRule, TopRule
from estimators.clusters.dependent_rows import lone_rows
from estimators.decisions.compare import compare
from estimators.decisions.difference import difference, paired_difference
from estimators.decisions.plan import Plan, plan_verdict, plan_width
from estimators.decisions.report import Assessment, AssessOptions, assess
from estimators.decisions.verdict import Decision, Verdict, verdict
from estimators.errors import MaceError
from estimators.metric.definition import Metric
from estimators.metric.estimate import MetricEstimate, metric_optimum
from estimators.metric.individual import IndividualMetric, individual_metric
from estimators.metric.presets import PRESETS, preset
from estimators.optimum.advantage import advantage
from estimators.optimum.answer import Advantage
from estimators.optimum.fixed_set import SetAdvantage, advantage_on_set
from estimators.privacy.band import BestPrecision, RocBand, best_precision, roc_band
from estimators.privacy.exposure import Exposure, exposure
from estimators.python.renamed import find_former_modules
from estimators.risk.cells import MeanRisk, mean_risk
from estimators.risk.individual import IndividualRisk, individual_risk
from estimators.risk.within_groups import by_group
from estimators.sample.counts import Counts
from estimators.sample.scores import Query, Scores, one_per_unit
from estimators.statement import VERSION, Caution, Estimate, Guarantee, Interval

if TYPE_CHECKING:
    from estimators.audits.release_size import ReleaseSize, release_size
    from estimators.audits.releases import ReleaseComparison, compare_releases
    from estimators.audits.sides import Match, match_sides
    from estimators.audits.split import Control, SplitCheck, check_split, control
    from estimators.audits.synthetic import SyntheticAudit, audit_synthetic, release_queries
    from estimators.runs.series import Series, advantage_series

__all__ = [
    "PRESETS",
    "VERSION",
    "Advantage",
    "AssessOptions",
    "Assessment",
    "AttackAdvantage",
    "BestPrecision",
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
    "RocBand",
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
    "best_precision",
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
    "roc_band",
    "verdict",
]

_NAMES_OF_WINGS = {
    "estimators.audits.release_size": ("ReleaseSize", "release_size"),
    "estimators.audits.releases": ("ReleaseComparison", "compare_releases"),
    "estimators.audits.sides": ("Match", "match_sides"),
    "estimators.audits.split": ("Control", "SplitCheck", "check_split", "control"),
    "estimators.audits.synthetic": ("SyntheticAudit", "audit_synthetic", "release_queries"),
    "estimators.runs.series": ("Series", "advantage_series"),
}
_OF_WINGS = {name: module for module, names in _NAMES_OF_WINGS.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a name of a wing when it is first used."""
    if name not in _OF_WINGS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_OF_WINGS[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


find_former_modules()
