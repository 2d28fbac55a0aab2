"""Which columns of a table are which array of a question: named by the array's own name, or all that there are.

Column names came from the caller, too: messages give the number of a column and never its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.decoding.options import told
from app.decoding.roles import Roles, find, roles
from macekit.call import Call
from macekit.problems import Problem
from macekit.schemas.query import COLUMN, kinds, takes_arrays
from macekit.schemas.theory import ARRAYS


@dataclass(frozen=True, slots=True)
class Fields:
    """Places of the columns of each array."""

    places: Mapping[str, tuple[int, ...]]

    @property
    def used(self) -> list[int]:
        """Every column that is read, in the order of the table."""
        return sorted(self.what)

    @property
    def what(self) -> dict[int, str]:
        """The array of each column, for messages."""
        return {place: name for name, places in self.places.items() for place in places}

    @property
    def spelled(self) -> frozenset[int]:
        """Columns whose text may spell numbers."""
        return frozenset(self.what)


Chosen = Roles | Fields


def choice(names: Sequence[str], call: Call, member: int | None = None) -> Chosen:
    """What the columns of a table are to this question; ``member`` as ``roles`` takes it."""
    return fields(names, call) if takes_arrays(call.operation) else roles(names, call, member)


def fields(names: Sequence[str], call: Call) -> Fields:
    """The arrays of a table: those that were named; else columns called like arrays; else all of it is the first."""
    given = told(call)
    main, *_ = ARRAYS[call.operation]
    called = {name.lower(): place for place, name in enumerate(names)}
    found = {
        main if option == COLUMN else option: tuple(
            find(names, name.strip(), option) for name in said.split(",")
        )
        for option, said in given.items()
    } or {name: (called[name],) for name in ARRAYS[call.operation] if name in called}
    if not found:
        found = {main: _usual(names, call.operation, main)}
    places = [place for each in found.values() for place in each]
    if len(set(places)) < len(places):
        raise Problem("bad-option", f"{', '.join(given)}: one column is named twice", field=next(iter(given)))
    return Fields(found)


def _usual(names: Sequence[str], operation: str, main: str) -> tuple[int, ...]:
    """All columns, if they may be rows of numbers; else the only one."""
    if "rows" in kinds(operation, main) or len(names) == 1:
        return tuple(range(len(names)))
    raise Problem(
        "missing-field",
        f"{COLUMN}: {len(names)} columns could be the {main}; say which with {COLUMN}=NAME",
        field=COLUMN,
    )
