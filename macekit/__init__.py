"""`mace` from Python: the same call on arrays and frames here, or against a server.

import macekit

result = macekit.estimate(members, nonmembers, prior=0.1, max_advantage=0.1)
result = macekit.Mace("https://mace.example").estimate(frame, score="loss", member="is_train")
"""

from importlib import import_module
from typing import TYPE_CHECKING

from macekit.own_packages import prefer_own

if TYPE_CHECKING:
    from macekit.audits.model import ModelAudit as ModelAudit
    from macekit.audits.model import audit_model as audit_model
    from macekit.client.client import Local
    from macekit.client.display import Chart
    from macekit.client.problems import MaceProblem, MaceUnreachable
    from macekit.client.question import Dataset
    from macekit.client.result import Result
    from macekit.client.server import Mace
    from macekit.engines.counting import counts_by as counts_by
    from macekit.engines.counting import merged as merged
    from macekit.engines.counting import partial as partial
    from macekit.engines.counting import risk_table as risk_table
    from macekit.engines.counting import sql as sql
    from macekit.engines.counting import write_risks as write_risks
    from macekit.imports.reading import import_scores as import_scores

    _here = Local()

    estimate = _here.estimate
    procedure = _here.procedure
    report = _here.report
    risk = _here.risk
    metrics = _here.metrics
    attack = _here.attack
    compare = _here.compare
    compare_releases = _here.compare_releases
    advantage_series = _here.advantage_series
    audit = _here.audit
    audit_synthetic = _here.audit_synthetic
    audit_predictions = _here.audit_predictions
    check_split = _here.check_split
    audit_text = _here.audit_text
    audit_shadows = _here.audit_shadows
    release_size = _here.release_size
    plan = _here.plan
    counts = _here.counts
    exposed = _here.exposed
    frontier = _here.frontier
    gate = _here.gate
    theory = _here.theory
    usage = _here.usage
    unlearning = _here.unlearning

prefer_own("estimators")

__all__ = [
    "Chart",
    "Dataset",
    "Mace",
    "MaceProblem",
    "MaceUnreachable",
    "ModelAudit",
    "Result",
    "advantage_series",
    "attack",
    "audit",
    "audit_model",
    "audit_predictions",
    "audit_shadows",
    "audit_synthetic",
    "audit_text",
    "check_split",
    "compare",
    "compare_releases",
    "counts",
    "counts_by",
    "estimate",
    "exposed",
    "frontier",
    "gate",
    "import_scores",
    "merged",
    "metrics",
    "partial",
    "plan",
    "procedure",
    "release_size",
    "report",
    "risk",
    "risk_table",
    "sql",
    "theory",
    "unlearning",
    "usage",
    "write_risks",
]

_NAMES_OF_MODULES = {
    "macekit.audits.model": ("ModelAudit", "audit_model"),
    "macekit.client.display": ("Chart",),
    "macekit.client.problems": ("MaceProblem", "MaceUnreachable"),
    "macekit.client.question": ("Dataset",),
    "macekit.client.result": ("Result",),
    "macekit.client.server": ("Mace",),
    "macekit.engines": ("counts_by", "merged", "partial", "risk_table", "sql", "write_risks"),
    "macekit.imports.reading": ("import_scores",),
}
_OWNERS = {name: module for module, names in _NAMES_OF_MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: the service and the command use parts of this package only."""
    if name.startswith("_") or (name not in __all__ and not _is_command(name)):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_nearest(name)}")
    owner = import_module(_OWNERS.get(name, "macekit.client.client"))
    value = getattr(owner if name in _OWNERS else owner.Local(), name)
    globals()[name] = value
    return value


def _nearest(name: str) -> str:
    """``; did you mean estimate?``, unless Python only looks whether it is there."""
    nearest = import_module("macekit.text").nearest
    return "" if name.startswith("_") else str(nearest(name, __all__))


def _is_command(name: str) -> bool:
    """Whether the table of operations has a command of this name: what has no typed function here can be asked, too."""
    operations = import_module("macekit.catalogue").OPERATIONS
    return any(each.python == name for each in operations)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
