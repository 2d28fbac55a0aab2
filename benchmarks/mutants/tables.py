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
    """What became of each fault."""
    return {each.fault: each for each in outcomes(OUTCOMES / f"{suite}.jsonl")}


def made(fault: Fault) -> str:
    """Whether a fault was written by somebody or drawn from the syntax tree."""
    return "drawn" if fault.name.startswith("drawn-") else "written"


def package(fault: Fault) -> str:
    """The package that a fault stands in."""
    return fault.function.partition("/")[0]


@table
def found(run: Run):
    """A row for each kind of fault: how many there are, and how many are found."""
    yield "faults | number | found by the suite | by its quick part"
    suite, quick, kept = known("suite"), known("quick"), faults.load()
    groups: list[Callable[[Fault], str]] = [lambda fault: "all", made, package, lambda fault: fault.kind]
    for group in groups:
        for name in sorted({group(fault) for fault in kept}):
            of = [fault.name for fault in kept if group(fault) == name]
            counts = [
                sum(each in there and there[each].found_by is not None for each in of)
                for there in (suite, quick)
            ]
            yield " | ".join([name, f"{len(of)}", *map(str, counts)])


@table
def missed(run: Run):
    """A row for each fault that the suite does not find, and whether the suite before it did."""
    yield "fault | function | instead of | stands | suite before"
    suite, before = known("suite"), known("before")
    for fault in faults.load():
        if fault.name not in suite or suite[fault.name].found_by is None:
            old = before[fault.name].found_by if fault.name in before else "not asked"
            yield f"{fault.name} | `{fault.function}` | `{fault.old}` | `{fault.new}` | {old or 'not found'}"
