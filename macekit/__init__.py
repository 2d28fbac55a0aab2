"""`mace` from Python: the same call on arrays and frames here, or against a server.

import macekit

result = macekit.estimate(members, nonmembers, prior=0.1, threshold=0.1)
result = macekit.Mace("https://mace.example").estimate(frame, score="loss", member="is_train")
"""

from macekit.chart import Chart
from macekit.local import Local
from macekit.problems import MaceProblem, MaceUnreachable
from macekit.result import Result
from macekit.server import Mace

_here = Local()

estimate = _here.estimate
report = _here.report
risk = _here.risk
metrics = _here.metrics
compare = _here.compare
audit = _here.audit
plan = _here.plan
counts = _here.counts
gate = _here.gate
theory = _here.theory

__all__ = [
    "Chart",
    "Mace",
    "MaceProblem",
    "MaceUnreachable",
    "Result",
    "audit",
    "compare",
    "counts",
    "estimate",
    "gate",
    "metrics",
    "plan",
    "report",
    "risk",
    "theory",
]
