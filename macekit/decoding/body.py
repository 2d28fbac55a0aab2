"""A decoded body: columns of records, and the options of the question, read from its query string for a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from estimators.python.dataclass import dataclass, field, replace
from estimators.python.renamed import notice
from estimators.statement import Caution
from macekit.call import NPY, Call
from macekit.problems import Problem, fault
from macekit.schemas.by_operation import QUESTIONS
from macekit.schemas.query_string import FIRST_MEMBERS, TABLE, WIDE, of_table, takes_arrays
from macekit.text import FORMER

Column = NDArray[np.generic] | list[object]


@dataclass(frozen=True, slots=True)
class Sample:
    """One query's scores of both sides, or its counts as ``Counts.from_dict`` takes them.

    ``signs`` are doubts that single scores showed where they were counted; None of counts that came.
    """

    members: Column | None = None
    nonmembers: Column | None = None
    counts: dict[str, object] | None = None
    signs: tuple[Caution, ...] | None = None


@dataclass(frozen=True, slots=True)
class ColumnRead:
    """A column that was read: its role and name, what it held, and what was dropped or understood.

    ``distinct`` is how many different values it held; None if more than are counted. ``query`` is whose it is, if there
    are several and it is not of all.
    """

    role: str
    name: str
    kind: str
    distinct: int | None
    notes: tuple[str, ...] = ()
    query: str = ""


@dataclass(frozen=True, slots=True)
class DecodedBody:
    """A decoded body; several queries go by name, a single sample has the empty name.

    ``groups``, ``units``, ``models`` and ``clusters``, which go by their columns' names, are in the order of the
    records, members first. ``rows`` says in which row of a table each record stood. ``textual`` options came in a query
    string and are still text. ``arrays`` are what theory is asked of, by the names of their fields: numbers of 64 bits
    in one dimension or two, booleans, or a list of text. ``columns`` are
    those of a table that were read. ``cautions`` are about columns that nobody named, and what else is odd about the
    records that their scores alone do not show. ``columns_named`` are columns of one table that were named in the body.
    """

    samples: dict[str, Sample] = field(default_factory=dict)
    options: dict[str, object] = field(default_factory=dict)
    textual: bool = False
    arrays: dict[str, Column] = field(default_factory=dict)
    targets: Column | None = None
    groups: Column | None = None
    units: Column | None = None
    models: Column | None = None
    clusters: Mapping[str, Column] = field(default_factory=dict)
    rows: NDArray[np.int64] | None = None
    columns: tuple[ColumnRead, ...] = ()
    tables: Mapping[str, Mapping[str, Column]] = field(default_factory=dict)
    cautions: tuple[Caution, ...] = ()
    columns_named: tuple[tuple[str, str], ...] = ()

    def with_options(self, options: Mapping[str, object] | None) -> DecodedBody:
        """The same body with plain values above its own options; None leaves the options as they came."""
        if options is None:
            return self
        return replace(self, options=_merge(self.options, options), textual=False)

    def under_current_names(self, operation: str) -> DecodedBody:
        """The same body, its options by the names they have now; of a former name a caution says so."""
        if not FORMER.keys() & self.options.keys():
            return self
        fields = QUESTIONS[operation].model_fields
        options, cautions = dict(self.options), list(self.cautions)
        for former, current in FORMER.items():
            if former not in options or not {former, current} <= fields.keys():
                continue
            value = options.pop(former)
            if value is None:
                continue
            if options.get(current) is not None:
                detail = f"is the former name of {current}, which is given, too; remove {former}"
                raise fault("bad-option", former, detail)
            options[current] = value
            cautions.append(Caution("former_name", notice(former, current)))
        return replace(self, options=options, cautions=tuple(cautions))


def _merge(under: Mapping[str, object], over: Mapping[str, object]) -> dict[str, object]:
    merger = {**under, **over}
    for name, value in over.items():
        below = under.get(name)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            merger[name] = _merge(below, value)
    return merger


# Options that came in the query string: columns of a table, and the rest of the question with its dots
# nested.

SINGLE = ("member", "group", "unit", "model")  # options that name one column

MOST_OPTIONS = 200
MOST_DEPTH = 4


@dataclass(frozen=True, slots=True)
class ColumnOptions:
    """The columns of a table the caller named."""

    score: tuple[str, ...]
    member: str | None
    group: str | None
    unit: str | None
    cluster: tuple[str, ...]
    model: str | None
    members_column: str | None
    nonmembers_column: str | None


def column_options(call: Call) -> ColumnOptions:
    """Which columns are what, as far as the caller said."""
    query = _distinct(call.query)
    single = {name: query.get(name) for name in (*SINGLE, *WIDE)}
    return ColumnOptions(score=_names(query.get("score")), cluster=_names(query.get("cluster")), **single)


def _names(value: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in value.split(",")) if value is not None else ()


def table_options(call: Call) -> dict[str, str]:
    """What the caller said about the columns of a table or the length of an array, as it was said."""
    about = set(of_table(call.operation))
    if call.media_type == NPY and not takes_arrays(call.operation):
        about.add(FIRST_MEMBERS)
    return {name: value for name, value in _distinct(call.query).items() if name in about}


def are_names(call: Call) -> bool:
    """Whether scores are names, as asked: then whole numbers beside text are names, too."""
    return call.names or _distinct(call.query).get("query") == "discrete"


def first_members(call: Call) -> str | None:
    """How many values of a plain array are members, still as text."""
    return _distinct(call.query).get(FIRST_MEMBERS)


def options(call: Call) -> dict[str, object]:
    """The rest of the question, as text: ``metric.beta=2`` is ``{"metric": {"beta": "2"}}``."""
    about_columns = table_options(call)
    nested: dict[str, object] = {}
    for name, value in _distinct(call.query).items():
        if name == FIRST_MEMBERS and name not in about_columns and not takes_arrays(call.operation):
            detail = "members=N is for an NPY of one dimension alone; remove it"
            raise Problem("bad-option", detail, field=name)
        if name not in about_columns:
            _place(nested, name.split("."), value)
    return nested


def _place(nested: dict[str, object], path: list[str], value: str) -> None:
    if len(path) > MOST_DEPTH:
        raise Problem("unknown-field", "query string: an option has more dots in its name than any known")
    at = nested
    for part in path[:-1]:
        inner = at.setdefault(part, {})
        if not isinstance(inner, dict):
            raise _both()
        at = inner
    if path[-1] in at:
        raise _both()
    at[path[-1]] = value


def _both() -> Problem:
    return Problem("bad-option", "query string: an option is given as a whole and, with dots, in parts")


def _distinct(query: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The pairs as a mapping; an option given twice means two things."""
    pairs = list(query)
    if len(pairs) > MOST_OPTIONS:
        raise Problem("bad-option", f"query string: got {len(pairs)} options, at most {MOST_OPTIONS}")
    options = dict(pairs)
    if len(options) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        own_name = twice if twice in TABLE else None
        raise Problem("bad-option", f"query string: {own_name or 'an option'} is given twice", field=own_name)
    return options
