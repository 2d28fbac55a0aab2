"""Several files in one body, `multipart/form-data` (RFC 7578), as `curl -F train=@a.parquet` and every browser send it.

A part that is called like a table of the question, like a side or `scores` is a file in any of the other formats,
compressed or not, told by its first bytes, its name and its type; of a question about several queries every file is
one. Every other part is an option, as the query string has them. The order of the parts does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from estimators import MaceError
from estimators.python.dataclass import dataclass, replace
from macekit import decoding, formats
from macekit.call import FORM_DATA, Body, Call
from macekit.catalogue import BY_NAME
from macekit.decoding.body import DecodedBody, options, table_options
from macekit.decoding.columns_read import join_queries
from macekit.decoding.compression import expanded
from macekit.decoding.format import SIDES, Format, join_sides
from macekit.problems import Problem, fault, pickle_problem
from macekit.text import did_you_mean

MOST_PARTS = 256
MOST_HEAD = 8192  # bytes of the headers of a part
MOST_OPTION = 65_536  # bytes of an option
SCORES = "scores"  # the part that holds records of both sides
TEXTS = frozenset({"csv", "jsonl", "json"})  # formats that no magic tells: a part's own type may
DELIMITER = re.compile(rb"(--[!-~]{1,70})[ \t]*\r\n")
OF_THE_MEDIA_TYPE = "the body: is no multipart/form-data as its Content-Type says; "


@dataclass(frozen=True, slots=True)
class Part:
    """One part: its name, what its file is called, the type it states, and its bytes."""

    name: str
    file: str | None
    media_type: str
    content: memoryview


class Multipart(Format):
    """Parts, each of which is read in its own format."""

    def decode(self, call: Call, body: memoryview) -> DecodedBody:
        """Records: of both sides in one file, of each side in one, or of each query in one."""
        files, fields = _sorted_out(call, body)
        columns_named = tuple(table_options(replace(call, query=tuple(fields))).items())
        call = replace(call, query=(*call.query, *fields))
        if BY_NAME[call.operation].several and SCORES not in files:
            return _queries(call, files)
        if BY_NAME[call.operation].texts:
            return DecodedBody(options=options(call) | _texts(call, files), textual=True)
        if files.keys() == {SCORES}:
            ((_, about, data),) = _as_written(call, files)
            with _of_part(SCORES):
                return replace(decoding.decode(about, Body.of(data)), columns_named=columns_named)
        if SCORES in files:
            raise fault("bad-option", SCORES, "holds both sides; send it alone, or members and nonmembers")
        if missing := [name for name in SIDES if name not in files]:
            raise fault("missing-field", missing[0], f"is missing; send members and nonmembers, or {SCORES}")
        sides = {}
        for name, about, data in _as_written(call, files):
            with _of_part(name):
                sides[name] = decoding.reader_of(about).side(about, Body.of(data))
        return replace(
            join_sides(sides["members"], sides["nonmembers"], ("members", "nonmembers")),
            options=options(call),
            textual=True,
        )

    def whole_tables(self, call: Call, body: memoryview) -> DecodedBody:
        """A file for each table."""
        files, fields = _sorted_out(call, body)
        call = replace(call, query=(*call.query, *fields))
        tables = {}
        for name, about, data in _as_written(call, files):
            with _of_part(name):
                tables[name] = decoding.reader_of(about).whole_columns(about, data)
        return DecodedBody(options=options(call), textual=True, tables=tables)


FORMAT = Multipart()


def _texts(call: Call, files: Mapping[str, Part]) -> dict[str, object]:
    """What was written of the texts of each side, read as it is needed."""
    about = {name: (_about(call, part), Body.of(part.content)) for name, part in files.items()}
    return {name: decoding.reader_of(part).texts(part, body) for name, (part, body) in about.items()}


def _queries(call: Call, files: Mapping[str, Part]) -> DecodedBody:
    """Each file a query, called like its part."""
    label_options = {name for name, _ in call.query} & {"group", "cluster"}
    if label_options:
        detail = "labels of rows are not read of several files; send one table"
        raise Problem("bad-option", detail, field=min(label_options))
    single = replace(call, operation="advantage", query=tuple(table_options(call).items()))

    def each() -> Iterator[tuple[str, DecodedBody]]:
        for name, about, data in _as_written(single, files, "a query"):
            with _of_part("a query"):
                query = decoding.decode(about, Body.of(data))
            yield name, query

    return replace(join_queries(each()), options=options(call), textual=True)


def _sorted_out(call: Call, body: memoryview) -> tuple[dict[str, Part], list[tuple[str, str]]]:
    """The files by the names of their parts, and the options."""
    row = BY_NAME[call.operation]
    names = names_of(call.operation)
    files: dict[str, Part] = {}
    fields: list[tuple[str, str]] = []
    for part in parts(body):
        if part.file == "" and not part.content:  # a field of a page in which no file was chosen
            continue
        if part.file is None and part.name not in names:
            fields.append((part.name, _text(part)))
        elif part.name in files:
            raise Problem("bad-option", "a part is given twice; every file needs a name of its own")
        elif part.name not in names and not row.several:
            detail = f"a part with a file is not known; {did_you_mean(part.name, names)}"
            raise Problem("unknown-field", detail)
        else:
            files[part.name] = part
    options(replace(call, query=(*call.query, *fields)))  # refuses what is given twice
    if not files:
        raise Problem(
            "missing-field",
            f"the body: holds no file; send {' and '.join(row.tables or (SIDES if row.texts else (SCORES,)))}",
        )
    return files, fields


def _as_written(call: Call, files: Mapping[str, Part], title: str = "") -> Iterator[tuple[str, Call, memoryview]]:
    """Each file as it was before it was compressed; together they may expand as far as one body may."""
    left = call.expanded_limit
    for name, part in files.items():
        with _of_part(title or name):
            about = _about(replace(call, expanded_limit=left), part)
            data = expanded(about, Body.of(part.content))
        if about.encoding != "identity":
            left -= len(data)
        yield name, replace(about, encoding="identity", expanded_limit=call.expanded_limit), data


def files_in(call: Call, body: memoryview) -> Iterator[tuple[str, Call, Body]]:
    """The name of each part with a file, how it is written, and what it holds."""
    for part in parts(body):
        if part.file:
            yield part.name, _about(call, part), Body.of(part.content)


def _about(call: Call, part: Part) -> Call:
    """The call about one part alone: how it is written."""
    head, path = bytes(part.content[: formats.HEAD]), part.file or ""
    if formats.holds_pickle(path, head):
        raise pickle_problem()
    form, own_type = formats.format_of(path, head), formats.ALIASES.get(part.media_type, part.media_type)
    media_type = formats.media_type_of(form, head)
    if form in TEXTS and formats.format_named(path) is None and own_type in formats.READERS and own_type != FORM_DATA:
        media_type = own_type
    return replace(call, media_type=media_type, encoding=formats.encoding_of(head))


@contextmanager
def _of_part(name: str) -> Iterator[None]:
    """What is wrong with a part says of which."""
    try:
        yield
    except (Problem, MaceError) as error:
        raise Problem.of(error).reworded(lambda text: f"{name}: {text.removeprefix(f'{name}: ')}") from None


def _text(part: Part) -> str:
    if len(part.content) > MOST_OPTION:
        raise Problem("bad-option", f"an option is longer than {MOST_OPTION:,} bytes; a file has a filename")
    try:
        return bytes(part.content).decode()
    except UnicodeDecodeError:
        raise Problem("bad-option", "an option is not UTF-8; a file has a filename") from None


def parts(body: memoryview) -> Iterator[Part]:
    """The parts one after the other, their bytes where they lie in the body.

    Raises:
        Problem: it is no such body, or was cut off.
    """
    first = DELIMITER.match(body)
    if first is None:
        raise Problem("bad-records", f"{OF_THE_MEDIA_TYPE}it does not begin with its boundary")
    delimiter = re.compile(rb"\r\n" + re.escape(first[1]) + rb"(--|[ \t]*\r\n)")
    start = first.end()
    for number in range(MOST_PARTS + 1):
        if number == MOST_PARTS:
            raise Problem("out-of-range", f"the body: has more than {MOST_PARTS} parts")
        end = delimiter.search(body, start)
        if end is None:
            detail = f"{OF_THE_MEDIA_TYPE}it ends before its last boundary: it was cut off"
            raise Problem("bad-records", detail)
        yield _part(body[start : end.start()])
        if end[1] == b"--":
            return
        start = end.end()


def _part(data: memoryview) -> Part:
    head, line, _ = bytes(data[: MOST_HEAD + 4]).partition(b"\r\n\r\n")
    if not line:
        raise Problem("bad-records", f"{OF_THE_MEDIA_TYPE}a part has no end of its headers")
    from email.parser import BytesHeaderParser
    from email.policy import HTTP

    headers = BytesHeaderParser(policy=HTTP).parsebytes(head + b"\r\n\r\n")
    disposition = headers["content-disposition"]
    name = disposition.params.get("name") if disposition is not None else None
    if disposition is None or disposition.content_disposition != "form-data" or not name:
        raise Problem("bad-records", f"{OF_THE_MEDIA_TYPE}a part has no name in its Content-Disposition")
    if "content-transfer-encoding" in headers:
        detail = f"{OF_THE_MEDIA_TYPE}a part states a transfer encoding, which RFC 7578 forbids"
        raise Problem("bad-records", detail)
    own_type = headers["content-type"]
    media_type = own_type.content_type if own_type is not None else ""
    return Part(str(name), disposition.params.get("filename"), media_type, data[len(head) + 4 :])


def names_of(operation: str) -> Sequence[str]:
    """The parts that a question takes files in, for the description of the service."""
    row = BY_NAME[operation]
    return row.tables or (SIDES if row.texts else (*SIDES, SCORES))
