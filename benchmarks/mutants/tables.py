"""How many of the kept faults does the test suite find, and which not? Of the outcomes that stand beside this module.

They are made by ``python -m benchmarks.mutants map`` and ``run`` (see the package), a few seconds a fault: ``before``
is the suite of 11,225 tests at 9cf3006, asked only for what the suite of today did not find, ``suite`` that of today,
``quick`` what ``scripts/test --fast`` runs of it.
"""

from collections.abc import Callable
from pathlib import Path

from benchmarks.harness import Run, table
from benchmarks.mutants import faults
from benchmarks.mutants.faults import Fault
from benchmarks.mutants.run import Outcome, outcomes

OUTCOMES = Path(__file__).with_name("outcomes")


def known(suite: str) -> dict[str, Outcome]:
    return {each.fault: each for each in outcomes(OUTCOMES / f"{suite}.jsonl")}


GROUPS: tuple[Callable[[Fault], str], ...] = (
    lambda fault: "all",
    lambda fault: "drawn" if fault.name.startswith("drawn-") else "written",
    lambda fault: fault.function.partition("/")[0],
    lambda fault: fault.kind,
)
"""All together; written by somebody or drawn from the syntax tree; by package; by kind."""


@table
def found(run: Run):
    yield "faults | number | found by the suite | by its quick part"
    kept, every = faults.load(), [known("suite").values(), known("quick").values()]
    seen = [{each.fault for each in outcomes if each.found_by is not None} for outcomes in every]
    for group in GROUPS:
        for name in sorted(set(map(group, kept))):
            of = {fault.name for fault in kept if group(fault) == name}
            yield f"{name} | {len(of)} | {len(of & seen[0])} | {len(of & seen[1])}"


@table
def missed(run: Run):
    """A row for each fault that the suite does not find, and whether the suite before it did."""
    yield "fault | function | instead of | stands | suite before"
    suite, before = known("suite"), known("before")
    for fault in faults.load():
        if fault.name not in suite or suite[fault.name].found_by is None:
            old = before[fault.name].found_by if fault.name in before else "not asked"
            yield f"{fault.name} | `{fault.function}` | `{fault.old}` | `{fault.new}` | {old or 'not found'}"
