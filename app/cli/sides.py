"""Two files, one for each side: each becomes a table that says of all its records the same, read as any other."""

from __future__ import annotations

import io
from tokenize import TokenError
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from app.cli.sources import Misuse, Source
from app.cli.wording import in_shell
from estimators import MaceError
from macekit.call import ARROW, CSV, JSON, NPY, Body, Call
from macekit.decoding import decode
from macekit.decoding.body import Column
from macekit.decoding.columns import refusals
from macekit.decoding.compression import expanded
from macekit.formats import ARROW_MAGIC
from macekit.problems import Problem

if TYPE_CHECKING:
    import pyarrow as pa

MEMBER = "member"
TITLES = {"csv": "CSV", "tsv": "CSV", "npy": "NPY", "arrow": "Arrow", "parquet": "Parquet"}
SEPARATORS = (",", ";", "\t")
WIDEST = 2**16


def side_of(source: Source, call: Call) -> Column:
    """The scores of one side: the column of the file, or those named by --score."""
    about = Call(call.operation, source.media_type, source.encoding, expanded_limit=call.expanded_limit)
    try:
        with source.body() as body:
            table = _table(about, source, expanded(about, body))
        with refusals(TITLES[source.format]):  # names that are no text
            names = table.column_names
        return _decoded(table, _wanted(names, dict(call.query).get("score")))
    except Problem as problem:
        raise Misuse(f"{source.name}: {in_shell(problem.detail)}") from None
    except MaceError as error:
        raise Misuse(f"{source.name}: {error.message}") from None


def _table(call: Call, source: Source, body: memoryview) -> pa.Table:
    """The file as a table of one side's columns."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    if call.media_type == JSON:
        raise Problem("bad-option", "a JSON request holds both sides; give it alone, without --members")
    with refusals(TITLES[source.format]):
        if call.media_type == NPY:
            return _columns(_array(body))
        file = pa.BufferReader(pa.py_buffer(body))
        if call.media_type == CSV:
            first = bytes(body[:WIDEST]).split(b"\n", 1)[0].decode("utf-8", "replace")
            separator = max(SEPARATORS, key=first.count)
            reading = csv.ReadOptions(
                use_threads=False,
                block_size=min(
                    len(body) + 1, 2**31 - 1
                ),  # one block, so that types are guessed from all of it
                autogenerate_column_names=_number(first.split(separator)[0]),
            )
            found = csv.read_csv(file, reading, csv.ParseOptions(delimiter=separator))
            return (
                found.rename_columns([""] * found.num_columns) if reading.autogenerate_column_names else found
            )
        if source.format == "arrow":
            opened = pa.ipc.open_file if bytes(body[:6]) == ARROW_MAGIC else pa.ipc.open_stream
            return opened(file).read_all()
        return parquet.read_table(file, use_threads=False)


def _array(body: memoryview) -> NDArray[Any]:
    try:
        found: NDArray[Any] = np.lib.format.read_array(io.BytesIO(body), allow_pickle=False)
    except (TokenError, SyntaxError):  # of NumPy's reader of headers
        raise ValueError("header") from None
    return found


def _columns(array: NDArray[Any]) -> pa.Table:
    import pyarrow as pa

    if array.ndim not in (1, 2):
        raise Problem("bad-records", f"got an array of {array.ndim} dimensions, need 1 or 2")
    rows = array.reshape(len(array), -1) if array.size else array.reshape(0, 1)
    columns = [pa.array(np.ascontiguousarray(rows[:, place])) for place in range(rows.shape[1])]
    return pa.table(columns, names=[""] * len(columns))


def _number(text: str) -> bool:
    """Whether the first word of a file is a score already, and no header."""
    try:
        float(text.strip(' "\r\ufeff'))
    except ValueError:
        return False
    return True


def _wanted(names: list[str], asked: str | None) -> list[int]:
    """Places of the columns named; all columns where they have no names, or the only one."""
    if not any(names):
        return list(range(len(names)))
    usual = [place for place, name in enumerate(names) if name.lower() == "score"]
    if asked is None and len(usual) == 1:
        return usual
    if asked is None and len(names) == 1:
        return [0]
    if asked is None:
        message = f"score: {len(names)} columns could be the scores; say which with score=NAME"
        raise Problem("missing-field", message)
    wanted = [name.strip() for name in asked.split(",")]
    if any(names.count(name) != 1 for name in wanted):
        raise Problem("unknown-name", f"score: no single column of the {len(names)} has this name")
    return [names.index(name) for name in wanted]


def _decoded(table: pa.Table, places: list[int]) -> Column:
    """The columns by the decoder of tables, so that they are checked as they always are."""
    import pyarrow as pa

    names = [str(place) for place in range(len(places))]
    scores = pa.table([table.column(place) for place in places], names=names)
    whole = scores.append_column(MEMBER, pa.repeat(pa.scalar(True), len(scores)))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, whole.schema) as writer:
        writer.write_table(whole)
    call = Call("advantage", ARROW, query=(("score", ",".join(names)), ("member", MEMBER)))
    found = decode(call, Body.of(memoryview(sink.getvalue()))).samples[""].members
    return found if found is not None else []
