"""Answers as files: written whole or not at all, in the form of the suffix, and over another only with --overwrite."""

from __future__ import annotations

import io
import json
import os
import secrets
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from app.cli.inputs import in_shell
from app.cli.parsing import Misuse
from estimators.python.dataclass import dataclass
from macekit.call import ARROW, HTML, JSON, Reply
from macekit.catalogue import BY_NAME, FORMS
from macekit.formats import REPORTS
from macekit.operations.encode import arrow_bytes, csv_bytes
from macekit.problems import Problem
from macekit.reports.model import Context
from macekit.reports.rendering import CARD, render
from macekit.text import printable

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Target:
    """A file to write, checked before any work is done."""

    name: str
    path: Path
    suffix: str

    def write(self, data: bytes | memoryview) -> None:
        """Write the data beside its place, then move it there."""
        with self.writing() as file:
            file.write(data)

    @contextmanager
    def writing(self) -> Iterator[BinaryIO]:
        """A file beside its place, which is moved there once all is written, and removed if something goes wrong."""
        beside = self.path.with_name(f".mace-{secrets.token_hex(8)}.part")
        try:
            file = beside.open("xb")
            try:
                with file:
                    yield file
                    file.flush()
                    if self.path.exists():
                        beside.chmod(stat.S_IMODE(self.path.stat().st_mode))
                    os.fsync(file.fileno())
                beside.replace(self.path)
            except BaseException:
                beside.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise Misuse(f"{self.name}: cannot be written: {error.strerror}") from None


def target_of(path: str, suffixes: Sequence[str], overwrite: bool) -> Target:
    """Where to write, or why not: another format, a file that is there already, a folder that is not."""
    suffix = Path(path).suffix.lower()
    if suffix not in suffixes:
        message = f"{printable(path)}: the answer is written as {', '.join(suffixes)}; this is none of them"
        raise Misuse(message)
    try:
        real = Path(os.path.realpath(path))
        exists = real.exists()
        if exists and not stat.S_ISREG(real.stat().st_mode):
            raise Misuse(f"{printable(path)}: not a file")
        if not real.parent.is_dir():
            raise Misuse(f"{printable(path)}: there is no such folder")
        if not os.access(real.parent, os.W_OK | os.X_OK):
            raise Misuse(f"{printable(path)}: the folder cannot be written to")
    except (OSError, ValueError) as error:
        raise Misuse(f"{printable(path)}: {why_not(error)}") from None
    if exists and not overwrite:
        raise Misuse(f"{printable(path)}: is there already; --overwrite replaces it")
    return Target(printable(path), real, suffix)


def folder_of(path: str) -> Path:
    """A folder to write to, made if it is not there."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise Misuse(f"{printable(path)}: not a folder") from None
    except (OSError, ValueError) as error:
        raise Misuse(f"{printable(path)}: cannot be made: {why_not(error)}") from None
    return folder


def why_not(error: OSError | ValueError) -> str | None:
    """Why a file of this name cannot be written: what the system says, or that it is none."""
    return error.strerror if isinstance(error, OSError) else "not a file name"


Data = bytes | memoryview


@dataclass(frozen=True)
class Answer:
    """An answer: the operation that gave it, its bytes, and its content, which is decoded when it is first needed.

    ``file`` is the name of the file that it was saved in, if it was; ``signature`` then says whether its signature was
    checked.
    """

    operation: str
    reply: Reply
    decoded: dict[str, Any] | None = None
    file: str | None = None
    signature: str = ""

    @cached_property
    def content(self) -> dict[str, Any]:
        """The answer as plain values; of a table of records, what its metadata say of the whole."""
        if self.decoded is not None:
            return self.decoded
        data: Data = self.reply.body
        if self.reply.media_type != JSON:
            data = (_table(self.reply.body).schema.metadata or {}).get(b"mace", b"{}")
        return msgspec.json.decode(data, type=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Form:
    """A way to write an answer: the media type that is needed for it, and what makes the file."""

    accept: str
    file: Callable[[Answer, Context], Data]
    is_report: bool = False


def _unchanged(accept: str) -> Form:
    """The answer as the service gives it."""
    return Form(accept, lambda answer, context: answer.reply.body)


def _records(convert: Callable[[pa.Table], Data]) -> Form:
    """A table with a row for each record, made from the service's Arrow answer."""
    return Form(ARROW, lambda answer, context: convert(_table(answer.reply.body)))


def _report(form: str, chart: str | None = None) -> Form:
    """A report, or one chart of it."""

    def file(answer: Answer, context: Context) -> Data:
        try:
            return render(answer.operation, answer.content, form, context, chart)
        except Problem as problem:  # no chart, or none of this name
            dashes = "--" if problem.field == "chart" else ""
            raise Misuse(dashes + in_shell(problem.local)) from None

    return Form(JSON, file, is_report=True)


FORMS_OF_SUFFIXES = {f".{suffix}": form for form, suffix in REPORTS.items()}
CHARTS = (".svg", ".png")
CARDS = (".md",)


def is_shown(operation: str) -> bool:
    """Whether the answer of an operation can be looked at, or is for programs."""
    return HTML in FORMS[operation]


def suffixes_of(operation: str) -> tuple[str, ...]:
    """What the answer of an operation can be written as."""
    return tuple(_forms(operation))


def form_of(operation: str, suffix: str, card: bool, chart: str | None) -> Form:
    """The form of a suffix; ``card`` and ``chart`` choose a part of the report."""
    if card and suffix not in CARDS:
        raise Misuse("--card: goes with -o and a file whose name ends in .md")
    if chart is not None and suffix not in CHARTS:
        raise Misuse("--chart: goes with -o and a file whose name ends in .svg or .png")
    if card:
        return _report(CARD)
    return _report(FORMS_OF_SUFFIXES[suffix], chart) if chart is not None else _forms(operation)[suffix]


def _forms(operation: str) -> dict[str, Form]:
    forms: dict[str, Form] = {".json": _unchanged(JSON)}
    forms |= {suffix: _report(form) for suffix, form in FORMS_OF_SUFFIXES.items() if form in FORMS[operation]}
    row = BY_NAME[operation]
    if row.rows:
        forms |= {".csv": _records(csv_bytes), ".arrow": _unchanged(ARROW), ".parquet": _records(_as_parquet)}
    if row.texts or (row.arrays and row.rows):
        forms |= {suffix: _records(WRITERS[suffix]) for suffix in (".jsonl", ".ndjson", ".npz")}
    return forms


def _table(body: Data) -> pa.Table:
    import pyarrow as pa

    with pa.ipc.open_stream(pa.py_buffer(body)) as reader:
        return reader.read_all()


def _as_parquet(table: pa.Table) -> Data:
    import pyarrow as pa
    from pyarrow import parquet

    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink)
    return memoryview(sink.getvalue())


def _as_json_lines(table: pa.Table) -> Data:
    lines = (json.dumps(row, ensure_ascii=False) for row in table.to_pylist())
    return "".join(f"{line}\n" for line in lines).encode()


def _as_npz(table: pa.Table) -> Data:
    import numpy as np

    sink = io.BytesIO()
    arrays: dict[str, Any] = {name: np.array(table[name].to_pylist()) for name in table.column_names}
    np.savez(sink, **arrays)
    return sink.getvalue()


WRITERS: dict[str, Callable[[pa.Table], Data]] = {
    ".csv": csv_bytes,
    ".parquet": _as_parquet,
    ".arrow": arrow_bytes,
    ".jsonl": _as_json_lines,
    ".ndjson": _as_json_lines,
    ".npz": _as_npz,
}
"""What writes a table of records, by the suffix of its file."""
