"""Files: whole or not at all, and never over another file unasked."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from app.cli.inputs import Misuse
from app.cli.terminal import in_shell
from macekit.call import ARROW, CSV, HTML, JSON, MARKDOWN, PNG, SVG
from macekit.catalogue import FORMS
from macekit.problems import Problem
from macekit.report.model import Context
from macekit.report.rendering import CARD, render
from macekit.text import shown

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
        beside = self.path.with_name(f".mace-{secrets.token_hex(8)}.part")
        try:
            fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
            try:
                with os.fdopen(fd, "wb") as file:
                    file.write(data)
                    file.flush()
                    if self.path.exists():
                        os.fchmod(file.fileno(), stat.S_IMODE(self.path.stat().st_mode))
                    os.fsync(file.fileno())
                beside.replace(self.path)
            except BaseException:
                beside.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise Misuse(f"{self.name}: cannot be written: {error.strerror}") from None


def target_of(path: str, suffixes: Sequence[str], force: bool) -> Target:
    """Where to write, or why not: another format, a file that is there already, a folder that is not."""
    suffix = Path(path).suffix.lower()
    if suffix not in suffixes:
        raise Misuse(f"{shown(path)}: the answer is written as {', '.join(suffixes)}; this is none of them")
    try:
        real = Path(os.path.realpath(path))
        exists = real.exists()
        if exists and not stat.S_ISREG(real.stat().st_mode):
            raise Misuse(f"{shown(path)}: not a file")
        if not real.parent.is_dir():
            raise Misuse(f"{shown(path)}: there is no such folder")
        if not os.access(real.parent, os.W_OK | os.X_OK):
            raise Misuse(f"{shown(path)}: the folder cannot be written to")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a file name"
        raise Misuse(f"{shown(path)}: {why}") from None
    if exists and not force:
        raise Misuse(f"{shown(path)}: is there already; --force replaces it")
    return Target(shown(path), real, suffix)


def folder_of(path: str) -> Path:
    """A folder to write to, made if it is not there."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise Misuse(f"{shown(path)}: not a folder") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a file name"
        raise Misuse(f"{shown(path)}: cannot be made: {why}") from None
    return folder


# --- forms --------------------------------------------------------------------------------------------------
# What an answer can be written as: each suffix is a form, made from one form of the service's answer.

Data = bytes | memoryview


class Form(Protocol):
    """A way to write an answer: the form it is asked for in, and the file made of that."""

    @property
    def accept(self) -> str:
        """The form of the answer it is made from."""

    def file(self, operation: str, body: Data, context: Context) -> Data:
        """The file."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer as the service gives it."""

    accept: str = JSON

    def file(self, operation: str, body: Data, context: Context) -> Data:
        """The answer itself."""
        return body


@dataclass(frozen=True, slots=True)
class Records:
    """A table with a row for each record, made from the service's Arrow answer."""

    made: Callable[[pa.Table], Data]
    accept: str = ARROW

    def file(self, operation: str, body: Data, context: Context) -> Data:
        """The table, written otherwise."""
        return self.made(_table(body))


@dataclass(frozen=True, slots=True)
class Rendered:
    """A report, or one chart of it."""

    form: str
    chart: str | None = None
    accept: str = JSON

    def file(self, operation: str, body: Data, context: Context) -> Data:
        """The report of the answer."""
        try:
            return render(operation, msgspec.json.decode(body), self.form, context, self.chart)
        except Problem as problem:  # no chart, or none of this name
            dashes = "--" if problem.field == "chart" else ""
            raise Misuse(dashes + in_shell(problem.detail)) from None


REPORTS = {".html": HTML, ".md": MARKDOWN, ".csv": CSV, ".svg": SVG, ".png": PNG}
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
        return Rendered(CARD)
    return Rendered(REPORTS[suffix], chart) if chart is not None else _forms(operation)[suffix]


def notes_of(body: Data) -> dict[str, object]:
    """The sentence that travels with an Arrow answer."""
    notes = _table(body).schema.metadata or {}
    found: dict[str, object] = msgspec.json.decode(notes.get(b"mace", b"{}"))
    return found


def _forms(operation: str) -> dict[str, Form]:
    forms: dict[str, Form] = {".json": Answered()}
    forms |= {suffix: Rendered(form) for suffix, form in REPORTS.items() if form in FORMS[operation]}
    if operation == "individual-risk":
        forms |= {".csv": Records(_as_csv), ".arrow": Answered(ARROW), ".parquet": Records(_as_parquet)}
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


def _as_csv(table: pa.Table) -> Data:
    import pyarrow as pa
    from pyarrow import csv

    sink = pa.BufferOutputStream()
    csv.write_csv(table, sink)
    return memoryview(sink.getvalue())
