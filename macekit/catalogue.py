"""What the shell calls the service's operations and parameters: known here, once."""

from __future__ import annotations

import re

from macekit.call import ARROW, CSV, HTML, JSON, MARKDOWN, PNG, SVG, Call
from macekit.schemas.theory import QUESTIONS

FLAGS = {
    "estimator.kind": "--estimator",
    "metric.preset": "--metric",
    "members": "--member-count",
    "threshold": "--max-advantage",
}
"""Options of the shell that are not named like the last part of the service's."""

OF_RISK = {"threshold": "--threshold"}
"""What `mace risk` calls otherwise: the risk above which a record is flagged is no limit of the advantage."""

COMMANDS = {"advantage": "estimate", "individual-risk": "risk"}
"""Operations that the shell has another name for."""


def flag(name: str, operation: str = "") -> str:
    """The option of the shell for a parameter of the service."""
    if operation == "individual-risk" and name in OF_RISK:
        return OF_RISK[name]
    return FLAGS.get(name) or "--" + name.rsplit(".", 1)[-1].replace("_", "-")


def command(operation: str) -> str:
    """The command of the shell for an operation of the service."""
    return f"mace {COMMANDS.get(operation, operation.replace('/', ' '))}"


# --- forms --------------------------------------------------------------------------------------------------
# In which forms each operation answers: JSON, a report of that JSON, rows.

IN_WORDS = (JSON, HTML, MARKDOWN, CSV)
WITH_PICTURES = (*IN_WORDS, SVG, PNG)

UNDRAWN = frozenset({"theory/mip-finite", "theory/pmp-exponential"})
"""Operations of theory whose answers are numbers over no range."""

FORMS: dict[str, tuple[str, ...]] = {
    "advantage": WITH_PICTURES,
    "individual-risk": (JSON, CSV, ARROW, HTML, MARKDOWN, SVG, PNG),
    "metrics": WITH_PICTURES,
    "compare": WITH_PICTURES,
    "audit": WITH_PICTURES,
    "report": WITH_PICTURES,
    "gate": WITH_PICTURES,
    "plan": IN_WORDS,
    "columns": (JSON,),
    "counts": (JSON,),
    **{name: IN_WORDS if name in UNDRAWN else WITH_PICTURES for name in QUESTIONS},
}
"""Media types of each operation's answer, the usual one first."""

ROWS = {"individual-risk": (CSV, ARROW)}
"""Forms that hold the records themselves."""


def rendered(call: Call) -> bool:
    """Whether the answer is asked for as a report."""
    return call.accept != JSON and call.accept not in ROWS.get(call.operation, ())


# --- quick --------------------------------------------------------------------------------------------------
# Which calls are sure to be answered in milliseconds: those need no worker.

QUICK = frozenset({"advantage", "individual-risk", "audit", "counts", "theory/dp"})
"""Operations whose time grows with the records alone; the others try metrics, pairs or simulated samples, or go through
training sets."""

SLOW = re.compile(
    rb'\\|"(counts|discrete|estimator|groups|metric|mu|noise_multiplier|rdp|shards|units)"|\[\s*["\[]'
)
"""What can make a small body slow, or import much: curves and accountants, counts of any number of records, vectors,
learned adversaries, as many categories or groups as records, a metric tried at each of them; an escape may hide any."""


def quick(call: Call, body: bytes) -> bool:
    """Whether a small JSON body is sure to be answered at once; a report is a worker's, as pictures take long."""
    return call.operation in QUICK and not rendered(call) and SLOW.search(body) is None
