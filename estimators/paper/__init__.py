"""The formulas of MACE as printed, each with the words for what it really covers.

Where the printed text contradicts itself or divides by zero, the reading of docs/methods.md, section 7, is taken and
named.
"""

from estimators.density.space import EqualWidth, Kernel
from estimators.paper.advantage import PaperAdvantage, algorithm_1, continuous_advantage, discrete_advantage
from estimators.paper.metric import (
    PaperMetric,
    RecordMetric,
    algorithm_2,
    algorithm_3,
    paper_metric,
    paper_metrics,
    record_metric,
)
from estimators.paper.risk import PaperRisk, RecordRisk, continuous_risk, discrete_risk, kernel_roughness, record_risk

__all__ = [
    "EqualWidth",
    "Kernel",
    "PaperAdvantage",
    "PaperMetric",
    "PaperRisk",
    "RecordMetric",
    "RecordRisk",
    "algorithm_1",
    "algorithm_2",
    "algorithm_3",
    "continuous_advantage",
    "continuous_risk",
    "discrete_advantage",
    "discrete_risk",
    "kernel_roughness",
    "paper_metric",
    "paper_metrics",
    "record_metric",
    "record_risk",
]
