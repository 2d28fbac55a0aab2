"""Examples that run as they stand, JSON bodies and files: the same in Swagger UI, in README and in the tests.

JSON bodies stand in the room of their operation, ``examples.json`` of ``macekit/questions/ROOM``, by the operation's
name; one without is shown with scores of both sides. Those are of a model that has overfitted: it is surer of members.

Bodies that are no JSON are served under ``/examples/``: those of theory hold the arrays of one of its JSON examples,
whose options stand beside each form of the file, so that they are filled in where it is tried out.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from app.openapi.parameters import examples_of_options
from macekit.call import ARROW, CSV, JSON, NDJSON, NPY, NPZ, PARQUET
from macekit.catalogue import ARRAYS, BY_NAME, OPERATIONS, SIDED
from macekit.formats import TABLES
from macekit.operation import Operation
from macekit.schemas.by_operation import columns_of
from macekit.schemas.query_string import TABLE, WHOLE, required, takes_arrays

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Example:
    """One request body: a line about it, and the body itself."""

    summary: str
    value: Any


def _examples(row: Operation) -> dict[str, Example]:
    file = resources.files("macekit.questions").joinpath(*row.room.split("."), "examples.json")
    if not file.is_file():
        return {"scores": Example("Scores of both sides", SAMPLE)} if JSON in row.bodies else {}
    return {name: Example(**each) for name, each in json.loads(file.read_text("utf-8"))[row.name].items()}


SCORES = _examples(BY_NAME["advantage"])["scores"].value
SAMPLE = {side: SCORES[side] for side in ("members", "nonmembers")}
MEMBERS, NONMEMBERS = SAMPLE.values()

JSON_EXAMPLES = {row.name: examples for row in OPERATIONS if (examples := _examples(row))}
"""JSON bodies, by operation; the first of each is what Swagger UI shows."""

GROUPS = JSON_EXAMPLES["report"]["scores"].value["groups"]


FILES = {f"scores.{suffix}": media_type for media_type, suffix in TABLES.items()}
"""Scores in formats other than JSON: the same records as ``SAMPLE``."""


BY_MODEL = "procedure"  # the question whose table says of each row which model scored it

WITH_FILES = (
    *(name for name in ARRAYS if ARRAYS[name]),
    BY_MODEL,
    *(each.name for each in OPERATIONS if each.tables or each.texts),
)
"""Operations that have files of their own."""

Columns = dict[str, np.ndarray[Any, np.dtype[Any]]]


@cache
def files_of(operation: str) -> Mapping[str, str]:
    """The files that can be posted to an operation, and how each is written."""
    if operation not in WITH_FILES:
        return FILES
    name = operation.replace("/", "-")
    return {f"{name}.{suffix}": form for form, suffix in TABLES.items() if form in BY_NAME[operation].bodies}


def files() -> dict[str, str]:
    """Every file there is, and how it is written."""
    return FILES | {name: form for operation in WITH_FILES for name, form in files_of(operation).items()}


def options_with(operation: str) -> Mapping[str, object]:
    """The options that a question is tried out with, beside a file."""
    if operation == BY_MODEL:
        return {"model": "model"}
    if not BY_NAME[operation].paper:
        return examples_of_options(operation)
    value = _example(operation)
    return {name: option for name, option in value.items() if name not in columns_of(operation)}


def file_bytes(name: str) -> bytes:
    """One of the files, made when asked for."""
    if name == "scores.csv":
        return csv_text().encode()
    if name in FILES:
        return _written(_scores(FILES[name]), FILES[name])
    operation = next(operation for operation in WITH_FILES if name in files_of(operation))
    columns = _parts(operation) if BY_NAME[operation].tables else _columns(operation)
    return _written(columns, files_of(operation)[name])


def csv_text() -> str:
    """The sample as a table: two scores a record, whether it is a member, and its group."""
    rows = ["score,loss,member,group"]
    scores = MEMBERS + NONMEMBERS
    rows += [f"{score:.2f},{1 - score:.2f},{int(i < len(MEMBERS))},{GROUPS[i]}" for i, score in enumerate(scores)]
    return "\n".join(rows) + "\n"


def _scores(form: str) -> Columns:
    """The same as columns; an array has the score and the membership alone."""
    scores = np.array(MEMBERS + NONMEMBERS)
    member = np.arange(len(scores)) < len(MEMBERS)
    if form == NPY:
        return {"score": scores, "member": member}
    return {"score": scores, "loss": np.round(1 - scores, 2), "member": member, "group": np.array(GROUPS)}


def _written(columns: Columns, media_type: str) -> bytes:
    sink = io.BytesIO()
    WRITERS[media_type](columns, sink)
    return sink.getvalue()


def _csv(columns: Columns, sink: io.BytesIO) -> None:
    """A header and a row for each record; by Python's own writer, for this stands in the document itself."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(values.tolist() for values in columns.values()), strict=True))
    sink.write(text.getvalue().encode())


def _json_lines(columns: Columns, sink: io.BytesIO) -> None:
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    sink.writelines(json.dumps(dict(zip(columns, row, strict=True))).encode() + b"\n" for row in rows)


def _npy(columns: Columns, sink: io.BytesIO) -> None:
    arrays = [*columns.values()]
    np.save(sink, np.column_stack(arrays) if len(arrays) > 1 else arrays[0])


def _npz(columns: Columns, sink: io.BytesIO) -> None:
    np.savez(sink, **columns)  # type: ignore[arg-type]  # mypy takes the columns for its option


def _arrow(columns: Columns, sink: io.BytesIO) -> None:
    import pyarrow as pa

    table = _arrow_table(columns)
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)


def _parquet(columns: Columns, sink: io.BytesIO) -> None:
    from pyarrow import parquet

    parquet.write_table(_arrow_table(columns), sink)


def _arrow_table(columns: Columns) -> pa.Table:
    import pyarrow as pa

    return pa.table({column: pa.array(values.tolist()) for column, values in columns.items()})


WRITERS: dict[str, Callable[[Columns, io.BytesIO], object]] = {
    CSV: _csv,
    NDJSON: _json_lines,
    NPY: _npy,
    NPZ: _npz,
    ARROW: _arrow,
    PARQUET: _parquet,
}
"""Who writes an example in which format."""


def _parts(operation: str) -> Columns:
    """Several tables in one: a column says of each row to which it belongs."""
    example: Any = next(iter(JSON_EXAMPLES[operation].values())).value
    parts: Mapping[str, Any] = {name: example[name] for name in BY_NAME[operation].needed_tables}
    first = next(iter(parts.values()))
    columns = {name: np.array([value for part in parts.values() for value in part[name]]) for name in first}
    sizes = [len(next(iter(part.values()))) for part in parts.values()]
    return columns | {WHOLE: np.repeat([*parts], sizes)}


def _example(operation: str) -> Mapping[str, Any]:
    """The first example whose arrays make one table: both sides, or the first array alone."""
    arrays = set(SIDED.get(operation, ARRAYS[operation][:1]))
    values = [example.value for example in JSON_EXAMPLES[operation].values()]
    return next(
        value for value in values if isinstance(value, Mapping) and set(ARRAYS[operation]) & value.keys() == arrays
    )


def _of_models() -> Columns:
    """The records of several models, one after another on either side."""
    value = cast("dict[str, Any]", JSON_EXAMPLES[BY_MODEL]["models"].value)
    sides = [np.asarray(value[name]) for name in ("members", "nonmembers")]
    return {
        "score": np.concatenate(sides),
        "member": np.repeat([1, 0], [len(side) for side in sides]),
        "model": np.concatenate(list(value["model"].values())),
    }


def _texts(operation: str) -> Columns:
    """The first example's texts of both sides, without their first tokens, which have no number."""
    value = cast("dict[str, Any]", next(iter(JSON_EXAMPLES[operation].values())).value)
    sides = [np.asarray(value[name], np.float64)[:, 1:] for name in ("members", "nonmembers")]
    return {"member": np.repeat([True, False], [len(side) for side in sides]), "logprobs": np.concatenate(sides)}


def _columns(operation: str) -> Columns:
    """The columns of the example's table."""
    if operation == BY_MODEL:
        return _of_models()
    if BY_NAME[operation].texts:
        return _texts(operation)
    if takes_arrays(operation) and len(required(operation)) > 1:  # arrays that no one table holds
        arrays = cast("dict[str, Any]", next(iter(JSON_EXAMPLES[operation].values())).value)
        return {name: np.asarray(arrays[name]) for name in ARRAYS[operation] if name in arrays}
    value = _example(operation)
    if not takes_arrays(operation):
        score, member = TABLE[:2]
        sides = [np.asarray(value[name]) for name in SIDED[operation]]
        inside = np.repeat([1, 0], [len(side) for side in sides])
        return {score: np.concatenate(sides), member: inside}
    main, *_ = ARRAYS[operation]
    array = np.asarray(value[main])
    if array.ndim == 1:
        return {main: array}
    return {f"x{place}": array[:, place] for place in range(array.shape[1])}
