"""``application/x-npz``: arrays by their names, as numpy.savez writes them, compressed or not.

Either the two sides, called ``members`` and ``nonmembers``, of any lengths; or columns of a table, equally long, of
which one says who is a member. An array of two dimensions is a row of numbers for each record. Nothing is unpickled,
and nothing expanded before its size, as the archive and the array's own header say it, fits the limit.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from estimators import MaceError
from estimators.errors import DimensionMismatch
from macekit.call import Body, Call
from macekit.catalogue import SIDED
from macekit.decoding.body import DecodedBody, Sample, column_options, options
from macekit.decoding.columns_read import ColumnRecorder
from macekit.decoding.compression import expanded
from macekit.decoding.format import SIDES, ChooseUnnamed, Column, Format, LabelColumns
from macekit.decoding.npy import MOST_COLUMNS, Header, array_of, header_of, values_of
from macekit.decoding.roles import SCORE_NAMES, C, Choose, Fields, OneSide, Roles, choice, find
from macekit.decoding.table import Table, from_table, stacked
from macekit.decoding.texts import Entry, of_arrays
from macekit.decoding.unnamed_columns import labels_of_array
from macekit.problems import Problem, fault, pickle_problem
from macekit.schemas.query_string import WIDE, takes_arrays

NAME = "NPZ"
SCORES = "scores"  # what the array of scores may be called besides

MOST_ARRAYS = 1000
PIECE = 2**20  # bytes that are expanded at a time

SPREADSHEET = "of a spreadsheet, export the table as CSV"
"""What to do with the ZIP that people have most often, besides the one that is read here."""

NPY = ".npy"
UNSAFE = ("/", "\\", ":", "..")  # what no name of an array holds, and one that means another folder may


class Npz(Format):
    """Arrays by their names."""

    expansion = 1

    def decode(self, call: Call, body: memoryview) -> DecodedBody:
        """Two sides, or a table."""
        with Archive.of(body, call.expanded_limit) as archive:
            arrays = takes_arrays(call.operation)
            sides = None if arrays else _sides(archive, call)
            if sides is None:
                names = archive.names if arrays else _names(archive, call)
                table, layout = _table(archive, choice(names, call), archive.names)
                return from_table(table, layout, call, archive.limit)
            recorder, scores = ColumnRecorder(), []
            for role, name in zip(SIDES, sides, strict=True):
                columns = _columns(archive.array(name), role)
                scores.append(stacked(Table(columns), tuple(columns), role, archive.limit))
                recorder.add(role, role, name, scores[-1])
            return DecodedBody(
                {"": Sample(scores[0], scores[1])}, options(call), textual=True, columns=recorder.columns()
            )

    def read(self, call: Call, body: memoryview, choose: Choose[C]) -> tuple[Table, C]:
        """The arrays in use as columns, and what they are."""
        with Archive.of(body, call.expanded_limit) as archive:
            return _table(archive, choose(archive.names), archive.names)

    def preview(self, call: Call, body: Body) -> list[Column]:
        """By the header of each array."""
        with Archive.of(expanded(call, body), call.expanded_limit) as archive:
            headers = {name: archive.header(name) for name in archive.names}
        return [Column.of_dtype(name, each.kind, len(each.shape) == 1) for name, each in headers.items()]

    def texts(self, call: Call, body: Body) -> Iterator[Entry]:
        """The rows of arrays, or their parts."""
        with Archive.of(expanded(call, body), call.expanded_limit) as archive:
            arrays = {name: archive.array(name) for name in archive.names}
        for array in arrays.values():
            values_of(array, 0)  # which refuses text of letters that there are none of
            if array.dtype.kind not in "biufU":
                detail = "an array of this type cannot be used; need numbers or text"
                raise fault("bad-records", "the archive", detail)
        return of_arrays(arrays)

    def first_labels(self, call: Call, body: memoryview, choose: ChooseUnnamed, rows: int) -> LabelColumns:
        """Arrays that are as long as the scores."""
        with Archive.of(body, call.expanded_limit) as archive:
            names = [name for name in choose(archive.names).names if archive.header(name).shape == (rows,)]
            labels = {name: labels_of_array(archive.array(name)) for name in names}
        return {name: each for name, each in labels.items() if each is not None}


FORMAT = Npz()


def _names(archive: Archive, call: Call) -> list[str]:
    """What arrays are called; ``scores`` is one more usual name where nobody names the scores."""
    usual = not column_options(call).score and not {*SCORE_NAMES} & {name.lower() for name in archive.names}
    return [SCORE_NAMES[0] if usual and name.lower() == SCORES else name for name in archive.names]


def _sides(archive: Archive, call: Call) -> tuple[str, str] | None:
    """The arrays of the two sides, as they were named, or by their own names where no column is."""
    options = column_options(call)
    if options.members_column is not None and options.nonmembers_column is not None:
        choice(archive.names, call)  # refuses what does not go with them
        for role, name in zip(WIDE, (options.members_column, options.nonmembers_column), strict=True):
            find(archive.names, name, role)
        return options.members_column, options.nonmembers_column
    if options.score or options.member is not None or options.members_column or options.nonmembers_column:
        return None
    pairs = (SIDES, SIDED.get(call.operation, SIDES))
    sides = next((pair for pair in pairs if {*pair} <= {*archive.names}), None)
    others = ("group", "unit", "cluster", "model") if sides else ()
    other = next((name for name in others if getattr(options, name) not in (None, ())), None)
    if other is not None:
        detail = f"does not go with two sides; save score, member and {other} as arrays of one length"
        raise fault("bad-option", other, detail)
    return None if sides is None else (sides[0], sides[1])


def _table(archive: Archive, layout: C, names: Sequence[str]) -> tuple[Table, C]:
    """The arrays in use as columns of one table; scores in two dimensions become a column for each number."""
    what = layout.what
    arrays = {at: archive.array(names[at]) for at in layout.positions}
    if isinstance(layout, Fields):
        return Table({at: values_of(array, 0) for at, array in arrays.items()}, 0, names), layout
    lengths = {at: len(array) if array.ndim else 0 for at, array in arrays.items()}
    first = layout.positions[0]
    odd = next((at for at in layout.positions if lengths[at] != lengths[first]), None)
    if odd is not None:
        detail = f"the array has {lengths[odd]} values, that of {what[first]} {lengths[first]}"
        raise fault(DimensionMismatch, what[odd], detail)
    broad = next((at for at, array in arrays.items() if array.ndim > 1 and what[at] != "score"), None)
    if broad is not None:
        detail = f"the array has {arrays[broad].ndim} dimensions, need one value a record"
        raise fault(DimensionMismatch, what[broad], detail)
    wide = [at for at, array in arrays.items() if array.ndim == 2 and what[at] == "score"]
    if wide and isinstance(layout, Roles | OneSide) and not getattr(layout, "queries", ()):
        if len(layout.scores) > 1:
            raise fault("bad-option", "score", "one array of two dimensions, or several of one; not both")
        columns = _columns(arrays.pop(wide[0]), "score")
        places = {len(names) + at: column for at, column in columns.items()}
        all_names = [*names, *(f"{names[wide[0]]}[{at}]" for at in columns)]
        others = {at: values_of(array, 0) for at, array in arrays.items()}
        return Table({**others, **places}, 0, all_names), replace(layout, scores=tuple(places))
    return Table({at: values_of(array, 0) for at, array in arrays.items()}, 0, names), layout


def _columns(array: NDArray[Any], what: str) -> dict[int, Any]:
    """An array as columns by their places: one, or one for each number of a row."""
    if array.ndim not in (1, 2) or array.dtype.names:
        detail = f"the array has {array.ndim} dimensions, or fields; need one number a record, or one row"
        raise fault(DimensionMismatch, what, detail)
    if array.ndim == 1:
        return {0: values_of(array, 0)}
    if not 0 < array.shape[1] <= MOST_COLUMNS:
        detail = f"the rows of the array have {array.shape[1]} numbers; need 1 to {MOST_COLUMNS}"
        raise fault(DimensionMismatch, what, detail)
    return {at: values_of(array[:, at], 0) for at in range(array.shape[1])}


DAMAGED: tuple[type[Exception], ...] = (zipfile.BadZipFile, zlib.error, struct.error, NotImplementedError)
DAMAGED += (OSError, ValueError, RuntimeError, LookupError, ArithmeticError)
"""What reading a damaged archive may raise."""


@contextmanager
def _refusals(hint: str = "") -> Iterator[None]:
    """Around what reads a ZIP: whatever it raises is the body's fault."""
    try:
        yield
    except (Problem, MaceError):
        raise
    except EOFError:
        raise Problem("incomplete-body", f"the {NAME} archive ended before it was complete") from None
    except DAMAGED:
        raise Problem("malformed-body", f"the body is not {NAME}, or was damaged on the way{hint}") from None


@dataclass(slots=True)
class Archive:
    """An open archive: its arrays by name, and how many bytes they may expand to in all."""

    file: zipfile.ZipFile
    entries: dict[str, zipfile.ZipInfo]
    limit: int
    left: int

    @classmethod
    @contextmanager
    def of(cls, body: memoryview, limit: int) -> Iterator[Archive]:
        """The archive in a body; what it expands to is bounded, whatever it says."""
        import pyarrow as pa

        if not len(body):
            raise Problem("incomplete-body", f"the body is empty; need {NAME}")
        most = max(limit, len(body))
        with _refusals(f"; {SPREADSHEET}" if bytes(body[:2]) == b"PK" else ""):
            file = zipfile.ZipFile(pa.BufferReader(pa.py_buffer(body)))
        with file:
            yield cls(file, _entries(file), most, most)

    @property
    def names(self) -> list[str]:
        """What the arrays are called, in their order."""
        return [*self.entries]

    def header(self, name: str) -> Header:
        """The header of an array."""
        with _refusals(), self.file.open(self.entries[name]) as stream:
            return header_of(stream.read)

    def array(self, name: str) -> NDArray[Any]:
        """An array, expanded once its size is known to fit."""
        entry = self.entries[name]
        with _refusals(), self.file.open(entry) as stream:
            header = header_of(stream.read)
            size = entry.file_size - stream.tell()
            if header.size > size:
                detail = f"the NPY header of an array announces {header.size} bytes, {size} came"
                raise Problem("incomplete-body", detail)
            if not header.shape:
                raise DimensionMismatch("an array has 0 dimensions, need one number a record, or one row")
            if header.size > self.left:
                raise Problem("too-large", f"the arrays expand to more than {self.limit} bytes")
            self.left -= header.size
            data = bytearray()
            while piece := stream.read(PIECE):
                data += piece
                if len(data) > header.size:
                    words = "something follows the array that the NPY header describes"
                    raise Problem("malformed-body", words)
            return array_of(header, memoryview(data))


def _entries(file: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """What the archive holds, if all of it is arrays, each with a name of its own."""
    entries = file.infolist()
    if any(entry.filename.endswith(".pkl") for entry in entries):
        raise pickle_problem()
    if not entries:
        detail = f"the {NAME} archive is empty; need members and nonmembers, or score and member"
        raise Problem("incomplete-body", detail)
    if len(entries) > MOST_ARRAYS:
        raise Problem("out-of-range", f"the archive has {len(entries)} entries, at most {MOST_ARRAYS}")
    for place, entry in enumerate(entries):
        name = entry.filename.removesuffix(NPY)
        if name == entry.filename or any(part in name for part in UNSAFE) or entry.orig_filename != entry.filename:
            raise Problem(
                "malformed-body",
                f"{NAME}: entry {place} is no array with a plain name; need what numpy.savez writes ({SPREADSHEET})",
            )
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or entry.flag_bits & 1:
            detail = f"{NAME}: entry {place} is encrypted, or compressed as numpy.savez never does"
            raise Problem("malformed-body", detail)
    names = {entry.filename.removesuffix(NPY): entry for entry in entries}
    if len(names) < len(entries):
        raise Problem("malformed-body", f"{NAME}: two arrays have the same name")
    return names
