"""From the columns of a table to both sides of a sample: who is a member stands in a column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from estimators.errors import DimensionMismatch, InputError, MixedTypes, NotFinite, TooFewRecords
from estimators.python.dataclass import dataclass, field, replace
from estimators.sample.integers import or_infinite
from estimators.sample.plain_arrays import first_not_finite
from macekit.call import Call
from macekit.catalogue import ARRAYS, SIDED
from macekit.decoding.body import Column, ColumnRead, DecodedBody, Sample, options
from macekit.decoding.columns import Labels, absent
from macekit.decoding.columns_read import ColumnRecorder
from macekit.decoding.roles import Fields, Layout, Roles, TableLayout, Wide
from macekit.problems import Problem, fault
from macekit.schemas.query_string import WIDE, kinds, required

SPLITS = frozenset({"train", "seen"}), frozenset({"test", "holdout", "unseen"})
"""Parts of a data set: those that were trained on, and those that were not."""

MEMBERS = frozenset({"member", "in", "true", "1", "1.0", "yes"}) | SPLITS[0]
NONMEMBERS = frozenset({"nonmember", "out", "false", "0", "0.0", "no"}) | SPLITS[1]
VALIDATION = frozenset({"val", "valid", "validation", "dev"})
PAIRS = "1/0, true/false, yes/no, in/out, member/nonmember, train/test, train/holdout, seen/unseen"
Values = NDArray[np.generic] | Labels


@dataclass(frozen=True, slots=True)
class Table:
    """The columns in use by their place, and the number of the first row among all.

    ``names`` are those of all, ``notes`` what was dropped or understood in one, ``unnamed`` labels looked for.
    """

    columns: Mapping[int, Values]
    start: int = 0
    names: Sequence[str] = ()
    notes: Mapping[int, Sequence[str]] = field(default_factory=dict)
    unnamed: Mapping[str, Labels] | None = None


def _from_roles(table: Table, roles: Roles, call: Call, limit: int) -> DecodedBody:
    """A whole table as a decoded body."""
    values: set[str] = set()
    member = membership(table, roles, values)
    if roles.member_value is not None and len(member) and not member.any():
        raise fault("unknown-name", "member", "no row has the value that is named for members")
    cut = int(np.count_nonzero(member))
    in_order = bool(member[:cut].all())  # members first: then no score is moved
    rows = np.arange(len(member)) if in_order else np.concatenate([np.flatnonzero(member), np.flatnonzero(~member)])

    def sample(scores: NDArray[np.generic]) -> Sample:
        ordered = scores if in_order else scores[rows]
        return Sample(ordered[:cut], ordered[cut:])

    if roles.queries:
        columns = zip(roles.queries, roles.scores, strict=True)
        samples = {name: sample(stacked(table, (at,), "score", limit)) for name, at in columns}
    else:
        samples = {"": sample(stacked(table, roles.scores, "score", limit))}
    return DecodedBody(
        samples,
        options(call),
        textual=True,
        groups=_labels(table, roles.group, "group", rows, limit),
        units=_labels(table, roles.unit, "unit", rows, limit),
        models=_labels(table, roles.model, "model", rows, limit),
        clusters={
            table.names[at] if table.names else f"cluster {i + 1}": column
            for i, at in enumerate(roles.clusters)
            if (column := _labels(table, at, "cluster", rows, limit)) is not None
        },
        rows=rows,
        columns=_columns(table, roles),
    )


def record_columns(recorder: ColumnRecorder, table: Table, layout: Layout) -> None:
    """Tell a recorder what was read of a table, or of a block of one."""
    for place, role in layout.what.items():
        column = table.columns[place]
        notes = [*table.notes.get(place, ())]
        if isinstance(layout, Roles) and place == layout.member:
            notes += _meaning(column, layout.member_value)
        name = table.names[place] if table.names else role
        query = name if isinstance(layout, Roles) and layout.queries and place in layout.scores else ""
        recorder.add(place, role, name or str(place), column, notes, query)


def _columns(table: Table, layout: Layout) -> tuple[ColumnRead, ...]:
    recorder = ColumnRecorder()
    record_columns(recorder, table, layout)
    return recorder.columns()


def _meaning(column: Values, value: str | None) -> Iterator[str]:
    """Which values of a member column mean what."""
    if value is not None:
        yield "members have the value that was named"
        return
    spelled = ["true", "false"] if not isinstance(column, Labels) and column.dtype.kind == "b" else ["1", "0"]
    words = column.texts if isinstance(column, Labels) else spelled
    for what, known in (("members", MEMBERS), ("nonmembers", NONMEMBERS)):
        for word in sorted({text.strip().lower() for text in words if text is not None} & known):
            yield f"{word}: {what}"


def sides(
    table: Table, roles: Roles, limit: int, values: set[str], recorder: ColumnRecorder | None = None
) -> tuple[NDArray[np.generic], NDArray[np.generic]]:
    """Members and nonmembers of one block; ``values`` keeps what the member column held in the blocks before."""
    if recorder is not None:
        record_columns(recorder, table, roles)
    member, scores = membership(table, roles, values), stacked(table, roles.scores, "score", limit)
    return scores.compress(member, axis=0), scores.compress(~member, axis=0)


def _from_two_columns(table: Table, wide: Wide, call: Call, limit: int) -> DecodedBody:
    """A table with a column for each side as a decoded body."""
    members, nonmembers = (
        stacked(table, (place,), wide.what[place], limit) for place in (wide.members, wide.nonmembers)
    )
    return DecodedBody({"": Sample(members, nonmembers)}, options(call), textual=True, columns=_columns(table, wide))


def filled_sizes(filled: Sequence[NDArray[np.bool_]]) -> list[int]:
    """How many rows the column of each side has before it ends in blanks; only the shorter one may end in any."""
    sizes = [int(np.flatnonzero(each)[-1]) + 1 if each.any() else 0 for each in filled]
    if all(size < len(each) for size, each in zip(sizes, filled, strict=True)):
        row = len(filled[0]) - 1
        detail = f"{', '.join(WIDE)}: row {row} is missing in both; only one may end in blanks"
        raise Problem("bad-records", detail, index=row)
    return sizes


def numbers_without_padding(columns: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """The columns of both sides without the NaN that the shorter one ends in."""
    sizes = filled_sizes(
        [
            ~np.isnan(each) if each.dtype.kind == "f" and each.ndim == 1 else np.ones(len(each), np.bool_)
            for each in columns
        ]
    )
    return [column[:size] for column, size in zip(columns, sizes, strict=True)]


def membership(table: Table, roles: Roles, values: set[str]) -> NDArray[np.bool_]:
    """Who is a member; ``values`` are the parts of the data set, or the values, that the column held so far."""
    column = table.columns[roles.member]
    if roles.member_value is not None:
        return _has_value(column, roles.member_value, table.start, values)
    if isinstance(column, Labels):
        words = [text.strip().lower() if text is not None else None for text in column.texts]
        yes = np.array([word in MEMBERS for word in words], dtype=np.bool_)
        no = np.array([word in NONMEMBERS for word in words], dtype=np.bool_)
        bad = column.first(~(yes | no))
        if bad is None:
            _require_two_parts(column, words, values)
            return yes[column.codes] if words else np.zeros(0, np.bool_)
    elif column.dtype.kind == "b" and column.ndim == 1:
        return column.astype(np.bool_, copy=False)
    else:
        _require_numbers(column, "member")
        is_member = column == 1
        readable = is_member | (column == 0)
        if readable.all():
            return np.asarray(is_member, dtype=np.bool_)
        bad = int(np.argmin(readable))
    row = table.start + bad
    value = column.texts[int(column.codes[bad])] if isinstance(column, Labels) else None
    reason = (
        "is of a validation split, which is neither trained on nor held out; leave such rows out"
        if value is not None and value.strip().lower() in VALIDATION
        else f"is none of {PAIRS}"
    )
    detail = f"row {row} {reason}; if the column has two other values, name that of members with member=COLUMN=VALUE"
    raise fault("bad-records", "member", detail, row)


def _require_two_parts(column: Labels, words: list[str | None], values: set[str]) -> None:
    """Refuse more than two parts of a data set: which of them are the nonmembers is for the caller to say."""
    parts = SPLITS[0] | SPLITS[1]
    if not parts.isdisjoint(words):
        counts = np.bincount(column.codes, minlength=len(words))
        values.update(word for word, count in zip(words, counts, strict=True) if count and word in parts)
    if len(values) > 2:
        detail = (
            f"the column holds {len(values)} parts of a data set ({', '.join(sorted(values))}); "
            "keep the rows of two of them"
        )
        raise fault("bad-records", "member", detail)


def _has_value(column: Values, value: str, start: int, before: set[str]) -> NDArray[np.bool_]:
    """Which rows have the value that stands for members; ``before`` are the column's values so far, at most two."""
    if not isinstance(column, Labels):
        values, codes = np.unique(plain(column, "member", start), return_inverse=True)
        column = Labels(codes.reshape(-1), [str(each).lower() for each in values.tolist()])
        value = value.lower()
    texts = [text.strip() if text is not None else "" for text in column.texts]
    missing = column.first(not text for text in texts)
    if missing is not None:
        raise absent("member", start + missing)
    counts = np.bincount(column.codes, minlength=len(texts))
    present = {text for text, count in zip(texts, counts, strict=True) if count}
    if len(present | before) > 2:
        detail = "the column has more than two values; keep the rows of members and of one kind of nonmembers"
        raise fault("bad-records", "member", detail)
    before |= present
    matches = np.array([_same(text, value) for text in texts], dtype=np.bool_)
    return matches[column.codes] if texts else np.zeros(0, np.bool_)


def _same(text: str, value: str) -> bool:
    """Whether two texts are the same, or spell the same number."""
    if text == value:
        return True
    try:
        return float(text) == float(value)
    except ValueError:
        return False


def stacked(table: Table, places: tuple[int, ...], what: str, limit: int) -> NDArray[np.generic]:
    """One column, or several as rows of numbers."""
    columns = []
    for place in places:
        column = table.columns[place]
        if isinstance(column, Labels):
            if len(places) > 1:
                raise fault(MixedTypes, what, f"column {place} is text; several columns need to be numbers")
            return column.array(what, table.start, limit)
        columns.append(plain(column, what, table.start))
    if len(columns) == 1:
        return columns[0]
    odd = next((column for column in columns if len(column) != len(columns[0])), None)
    if odd is not None:
        raise fault(DimensionMismatch, what, f"one column has {len(odd)} values, another {len(columns[0])}")
    if 8 * len(columns) * len(columns[0]) > limit:
        detail = f"{what}: {len(columns)} columns of {len(columns[0])} rows take too much memory"
        raise Problem("too-large", detail)
    return np.column_stack([_floats(column, what, table.start) for column in columns])


def _floats(column: NDArray[Any], what: str, start: int) -> NDArray[np.float64]:
    """A column of numbers as floats; integers beyond 64 bits too, if a float is near each of them."""
    if column.dtype.kind == "O":
        column = plain(np.array([or_infinite(value) for value in column.tolist()]), what, start)
    return column.astype(np.float64, copy=False)


def _labels(table: Table, place: int | None, what: str, rows: NDArray[np.int64], limit: int) -> Column | None:
    if place is None:
        return None
    return stacked(table, (place,), what, limit)[rows]


def _require_numbers(column: NDArray[np.generic], what: str) -> None:
    """Refuse what is neither numbers nor booleans, or more than one a row."""
    if column.ndim != 1 or column.dtype.kind not in "biufO":
        raise fault(InputError, what, "a column of this type cannot be used; need numbers or text")


def plain(column: NDArray[np.generic], what: str, start: int) -> NDArray[np.generic]:
    """The same column, if it holds finite numbers or booleans, one a row."""
    _require_numbers(column, what)
    if column.dtype.kind != "f":
        return column
    first = first_not_finite(column)
    if first is not None:
        row = start + first
        raise fault(NotFinite, what, f"row {row} is NaN or infinite", row)
    return column


# The arrays that a question of theory is asked of, checked: numbers of 64 bits, in rows or not, or a list
# of text.


def from_table(table: Table, layout: TableLayout, call: Call, limit: int) -> DecodedBody:
    """A whole table as the decoded body of the question."""
    if isinstance(layout, Wide):
        return _from_two_columns(table, layout, call, limit)
    if not isinstance(layout, Fields):
        return _from_roles(table, layout, call, limit)
    arrays = {name: _array(table, places, name, limit) for name, places in layout.places.items()}
    return DecodedBody(
        arrays=_in_rows(arrays, call.operation), options=options(call), textual=True, columns=_columns(table, layout)
    )


def from_array(array: NDArray[Any], call: Call, limit: int) -> DecodedBody:
    """An array without names: the first that the question takes."""
    main = ARRAYS[call.operation][0]
    if array.ndim not in (1, 2):
        raise fault(DimensionMismatch, main, f"the array has {array.ndim} dimensions; need one or two")
    arrays = {main: array}
    if 8 * array.size > limit:
        raise fault("too-large", main, f"the array takes more than {limit} bytes")
    return DecodedBody(arrays=_in_rows(arrays, call.operation), options=options(call), textual=True)


def check_arrays(operation: str, body: DecodedBody) -> DecodedBody:
    """The same body, its arrays as the library takes them; two sides become the two arrays they stand for."""
    arrays: Mapping[str, Column | None] = body.arrays
    if operation in SIDED and "" in body.samples:
        sample = body.samples[""]
        arrays = dict(zip(SIDED[operation], (sample.members, sample.nonmembers), strict=True))
    missing = next((name for name in required(operation) if arrays.get(name) is None), None)
    if missing is not None:
        raise fault("missing-field", missing, "is required and missing")
    return replace(
        body,
        samples={},
        rows=None,
        arrays={name: _checked_array(column, operation, name) for name, column in arrays.items() if column is not None},
    )


def _array(table: Table, places: tuple[int, ...], name: str, limit: int) -> NDArray[Any]:
    """A column, which may hold rows, or several columns side by side."""
    first = table.columns[places[0]]
    if len(places) == 1 and isinstance(first, np.ndarray) and first.ndim == 2:
        return first
    return stacked(table, places, name, limit)


def _in_rows(arrays: Mapping[str, NDArray[Any]], operation: str) -> dict[str, Column]:
    """Arrays of one dimension as columns of a table where only rows are taken."""
    return {
        name: array[:, None] if array.ndim == 1 and kinds(operation, name) == {"rows"} else array
        for name, array in arrays.items()
    }


def _checked_array(column: Column, operation: str, field: str) -> Column:
    if not len(column):
        raise fault(TooFewRecords, field, "got none, need at least one")
    allowed_kinds, kind = kinds(operation, field), _kind(column, field)
    if kind not in allowed_kinds and not (kind == "booleans" and "text" in allowed_kinds):
        raise fault("wrong-type", field, f"got {kind}, need {' or '.join(sorted(allowed_kinds))}")
    if kind == "booleans" and "text" not in allowed_kinds:
        return np.asarray(column, dtype=np.bool_)
    if kind == "booleans":
        return ["true" if value else "false" for value in column]
    if kind == "text":
        return column.tolist() if isinstance(column, np.ndarray) else column
    return _numbers(np.asarray(column), field, "text" in allowed_kinds)


def _kind(column: Column, field: str) -> str:
    if isinstance(column, list):
        return "booleans" if isinstance(column[0], bool) else "text"
    if column.dtype.kind not in "biufOU":
        raise fault(InputError, field, "an array of this type cannot be used; need numbers or text")
    if column.ndim == 2:
        return "rows" if column.dtype.kind in "biuf" else "rows of text"
    return {"b": "booleans", "U": "text"}.get(column.dtype.kind, "numbers")


def _numbers(array: NDArray[Any], field: str, text_allowed: bool) -> Column:
    """Numbers of 64 bits, in rows always floats; whole ones beyond that as text where they are but names."""
    if array.ndim == 2 and not array.shape[1]:
        raise fault(DimensionMismatch, field, "rows are empty, need at least one number in each")
    if array.ndim == 1 and array.dtype.kind in "iu" and array.dtype != np.uint64:
        return array.astype(np.int64, copy=False)
    if array.ndim == 1 and array.dtype.kind in "uO":
        if array.dtype.kind == "u" and int(array.max()) < 2**63:
            return array.astype(np.int64)
        if text_allowed:
            return [str(value) for value in array.tolist()]
        array = np.array([or_infinite(value) for value in array.tolist()])
    with np.errstate(over="ignore", invalid="ignore"):
        floats = cast("NDArray[np.float64]", np.ascontiguousarray(array, dtype=np.float64))
    row = first_not_finite(floats)
    if row is not None:
        raise fault(NotFinite, field, f"row {row} is NaN or infinite", row)
    return floats
