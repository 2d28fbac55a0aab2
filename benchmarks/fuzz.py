"""Does any body end a process, raise what is no Problem, take more than it is granted, or never end?

Mutants of the corpus (tests/macekit/decoding/corpus), by seeded generators that know how each format is built. A
mutant is its seed and its number: the same everywhere. It is decoded whole and, if it is a table of scores, block by
block; one of eight is answered, too. This happens in forked children with a limit of memory and a clock. The exit
status is 1 if anything happened that should not, and standard error names the mutant: `--first 123 --mutants 1` is
that one alone. 20,000 mutants take a minute, a million an hour on one core.
"""

import gzip
import io
import json
import lzma
import mmap
import os
import signal
import struct
import sys
import time
import traceback
import warnings
import zipfile
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
import psutil
import pyarrow as pa

from app.workers.privileges import MemoryLimit
from benchmarks.harness import Run, table
from estimators import MaceError
from macekit.call import ARROW, ARROW_FILE, CSV, JSON, NDJSON, NPY, NPZ, PARQUET, Body, Call, Reply
from macekit.decoding import blocks, decode
from macekit.operations import perform
from macekit.problems import Problem
from tests.macekit.decoding.corpus import MEDIA_TYPES, Entry, entries

OPTIONS = {"mutants": (20_000, 2000), "first": (0, 0), "seed": (0, 0), "formats": ("", "")}
"""How many, the number of the first, their seed, suffixes of the corpus (csv,parquet)."""
MIB = 2**20
EXPANDED = 16 * MIB  # what a body may expand to
GRANTED = 512 * MIB  # what a child may take beyond what it began with
SECONDS = 20.0  # of the processor, after which a mutant is said to hang; or ten times as long by the clock
BATCH = 2000
MOST_REFUSAL = 4096
ANSWERED = 8  # one of so many mutants is answered, and not only decoded
PLANT = "planted-7f3a"  # a category of the corpus, which no refusal may repeat

Bytes = bytes | bytearray
Random = np.random.Generator
T = TypeVar("T")
Change = Callable[[Random, bytes, list[Entry]], bytes]

INTEGERS = [0, 1, 2, 7, 8, 127, 128, 255, 256, 2**15, 2**16 - 1, 2**24, 2**31 - 1, 2**31, 2**32 - 1, 2**40]
INTEGERS += [2**51, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64 - 8]
TOKENS = [str(whole) for whole in (*INTEGERS, 2**64, 10**30, -1, -(2**63), -(2**63) - 1)]
TOKENS += ["1e400", "-1e400", "5e-324", "1e-300", "-0", "-0.0", "0x10", "1_000", "1 234", "0,5", "1.", ".5"]
TOKENS += ["+1", "00012", "NaN", "nan", "inf", "-Infinity", "null", "None", "#N/A", "?", "-", "true", "false"]
TOKENS += ["TRUE", "member", "train", "", " ", '"', '""', "'", "\0", "a\0", "\ufeff", "\u202e", "\u00a0"]
TOKENS += ["\U0001f600", "\r", "\n", "\t", ",", ";", "|", "[", "]", "{", "}", "[[", "[]", "{}", ":", "\\"]
TOKENS += ["\\u0000", "\\ud800", '"\\u', "9" * 400, "x" * 5000, "score", "member", "members", "nonmembers"]
TOKENS += ["counts", "targets", "groups", "units", "queries", "cells", "prior"]
NAMES = ["score", "member", "g", "x", "y", "x,y", "0", "1", "0,1", "nothing", "list", "moment", ""]
NAMES += ["member=yes", "a.b"]


def pick(rng: Random, among: Sequence[T]) -> T:
    return among[int(rng.integers(len(among)))]


def anywhere(rng: Random, body: Bytes) -> int:
    return int(rng.integers(len(body))) if body else 0


def change_bytes(rng: Random, body: bytes, spare: list[Entry]) -> bytes:
    changed = bytearray(body)
    for _ in range(pick(rng, [1, 1, 2, 4])):
        if changed:
            changed[anywhere(rng, changed)] = pick(rng, [0, 1, 0x7F, 0x80, 0xFF, int(rng.integers(256))])
    return bytes(changed)


def flip_bit(rng: Random, body: bytes, spare: list[Entry]) -> bytes:
    changed = bytearray(body)
    if changed:
        changed[anywhere(rng, changed)] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def truncate(rng: Random, body: bytes, spare: list[Entry]) -> bytes:
    return body[: anywhere(rng, body)]


def drop_piece(rng: Random, body: bytes, spare: list[Entry]) -> bytes:
    at = anywhere(rng, body)
    return body[:at] + body[at + int(rng.integers(1, 65)) :]


def repeat_piece(rng: Random, body: bytes, spare: list[Entry]) -> bytes:
    at = anywhere(rng, body)
    end = at + int(rng.integers(1, 129))
    return body[:end] + body[at:end] * int(rng.integers(1, 40)) + body[end:]


def insert_noise(rng: Random, body: bytes, spare: list[Entry]) -> bytes:
    at = anywhere(rng, body)
    return body[:at] + rng.bytes(int(rng.integers(1, 33))) + body[at:]


def splice(rng: Random, body: bytes, spare: list[Entry]) -> bytes:
    other = pick(rng, spare).body
    return body[: anywhere(rng, body)] + other[anywhere(rng, other) :]


def write_integer(rng: Random, body: bytes, spare: list[Entry]) -> bytes:
    """A length, an offset or a count somewhere, at a place where one of its width may stand."""
    return _with_integer(rng, body, 0, len(body))


def _with_integer(rng: Random, body: bytes, start: int, end: int) -> bytes:
    width = pick(rng, [1, 2, 4, 4, 8, 8])
    if end - start < width:
        return body
    at = int(rng.integers(start, end - width + 1))
    if rng.random() < 0.7:
        at -= at % width
    old = int.from_bytes(body[at : at + width], "little")
    value = pick(rng, [*INTEGERS, old + 1, old - 1, old * 2, old + 8, -old]) % 2 ** (8 * width)
    order: Literal["big", "little"] = "big" if rng.random() < 0.1 else "little"
    return body[:at] + value.to_bytes(width, order) + body[at + width :]


ANY = [change_bytes, flip_bit, truncate, drop_piece, repeat_piece, insert_noise, splice, write_integer]


def exchange_token(rng: Random, body: bytes, spare: list[Entry]) -> bytes:
    """A field of a CSV, or a value, a name or a bracket of JSON."""
    separators = b',;\t\n\r"[]{}: |'
    ends = [at for at, byte in enumerate(body) if byte in separators]
    if not ends:
        return bytes(pick(rng, TOKENS).encode())
    at = pick(rng, ends) + int(rng.integers(2))
    end = next((other for other in ends if other > at), len(body))
    return body[:at] + pick(rng, TOKENS).encode("utf-8", "surrogatepass") + body[end:]


def exchange_separator(rng: Random, body: bytes, spare: list[Entry]) -> bytes:
    ends = [at for at, byte in enumerate(body) if byte in b',;\t\n\r"[]{}:']
    if not ends:
        return body
    at = pick(rng, ends)
    separators = [b"", b",", b";", b"\n", b"\r", b'"', b"[", b"]", b"{", b"}", b"\t", b":"]
    return body[:at] + pick(rng, separators) + body[at + 1 :]


def move_lines(rng: Random, body: bytes, spare: list[Entry]) -> bytes:
    lines = body.split(b"\n")
    a, b = (int(rng.integers(len(lines))) for _ in range(2))
    lines[a], lines[b] = lines[b], lines[a]
    if rng.random() < 0.5:
        lines.insert(a, lines[b])
    if rng.random() < 0.1:
        lines = lines * int(rng.integers(2, 60))
    return pick(rng, [b"\n", b"\n", b"\r\n", b"\r", b"\n\n"]).join(lines)


def recode(rng: Random, body: bytes, spare: list[Entry]) -> bytes:
    encodings = ["utf-16", "utf-16-le", "utf-32", "utf-7", "utf-8-sig"]
    return body.decode("utf-8", "replace").encode(pick(rng, encodings))


LEAVES = [None, True, "", "a", [], {}, [[]], [None], {"a": {}}, 1e308, -0.0, 5e-324, 1e-300, *INTEGERS]
TEXT = [exchange_token, exchange_token, exchange_token, exchange_separator, move_lines]


def change_tree(rng: Random, body: bytes, spare: list[Entry]) -> bytes:
    """A value of a JSON document exchanged, wrapped, repeated, moved under another name."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return exchange_token(rng, body, spare)
    for _ in range(int(rng.integers(1, 4))):
        places = list(_places(document))
        if not places:
            break
        holder, key = pick(rng, places)
        value = holder[key]
        leaf = pick(rng, LEAVES)
        options = [leaf, leaf, [value], [value, leaf], {"members": value}, str(value), -1, [value] * 9]
        if isinstance(value, list):
            options += [value * 3, value[:7], [*value, leaf], value[::-1], dict(enumerate(map(str, value)))]
        if isinstance(value, int | float) and not isinstance(value, bool):
            options += [-value, value * 10**10, value * 10**15, value + (0.5 if abs(value) < 2**53 else 1)]
        holder[key] = pick(rng, options)
        if isinstance(holder, dict) and rng.random() < 0.3:
            holder[pick(rng, TOKENS[-11:])] = holder[key] if rng.random() < 0.5 else holder.pop(key)
    written = json.dumps(document)
    if rng.random() < 0.1:  # a name said twice
        written = written.replace("{", '{"members": [1], ', 1)
    return written.encode("utf-8", "surrogatepass")


def _places(document: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(document, dict | list):
        pairs = document.items() if isinstance(document, dict) else enumerate(document)
        for key, value in list(pairs):
            yield document, key
            yield from _places(value)


def change_line(rng: Random, body: bytes, spare: list[Entry]) -> bytes:
    """A value, or the nesting, of one line of JSON."""
    lines = body.split(b"\n")
    at = int(rng.integers(len(lines)))
    change: Change = pick(rng, [change_tree, change_tree, deepen])
    lines[at] = change(rng, lines[at], spare)
    return b"\n".join(lines)


def deepen(rng: Random, body: bytes, spare: list[Entry]) -> bytes:
    at, depth = anywhere(rng, body), int(rng.integers(1, 3000))
    opening, closing = pick(rng, [(b"[", b"]"), (b'{"a":', b"}"), (b"[", b"")])
    return body[:at] + opening * depth + b"1" + closing * depth + body[at:]


DESCRIPTIONS = ["<f8", ">f8", "<f4", "<f2", "|b1", "<i8", "<u8", ">u2", "|i1", "<U3", "|S4", "<U0", "|S0"]
DESCRIPTIONS += ["|O", "<c16", "<M8[ns]", "<m8", "|V8", "<f16", "<U100000000", "|V4000000000", "f", "", "<f9"]
DESCRIPTIONS += ["<f8,<i4", "int", "<f-8", "\0"]
SHAPES = ["()", "(0,)", "(1,)", "(30,)", "(30", "30", "(-1,)", "(30, 2)", "(2, 15)", "(0, 0)", "(1, 0)"]
SHAPES += ["(0, 9)", "(3, 2, 5)"]
SHAPES += [f"({a}, {b})" for a in (0, 1, 30, 2**32, 10**20) for b in (0, 1, 2**32, 10**20)]
SHAPES += [f"({'1,' * 70})", "(True,)", "(1.5,)"]


def write_npy_header(rng: Random, body: bytes, spare: list[Entry]) -> bytes:
    """Another type, shape, order or version before the same data."""
    data = body[128:]
    descr: Any = pick(rng, DESCRIPTIONS)
    if rng.random() < 0.3:
        fields = [(pick(rng, NAMES), pick(rng, DESCRIPTIONS)) for _ in range(int(rng.integers(0, 5)))]
        descr = fields if rng.random() < 0.8 else [("score", fields)]
    order = pick(rng, ["False", "True", "0", "None"])
    shape = pick(rng, SHAPES)
    text = f"{{'descr': {descr!r}, 'fortran_order': {order}, 'shape': {shape}, }}"
    if rng.random() < 0.2:
        text = exchange_token(rng, text.encode(), spare).decode("utf-8", "replace")
    version = pick(rng, [1, 1, 2, 3, 0, 4])
    header = text.encode("utf-8", "replace").ljust(117) + b"\n"
    size = len(header) if rng.random() < 0.8 else pick(rng, INTEGERS)
    packed = (size % 2**16).to_bytes(2, "little") if version == 1 else (size % 2**32).to_bytes(4, "little")
    if rng.random() < 0.3:
        data = data * int(rng.integers(0, 5))
    return b"\x93NUMPY" + bytes([version, 0]) + packed + header + data


DAMAGED = (zipfile.BadZipFile, lzma.LZMAError, zlib.error, struct.error, EOFError, LookupError)
DAMAGED += (NotImplementedError, OSError, RuntimeError, ValueError)
"""What reading a damaged archive may raise."""


def change_archive(rng: Random, body: bytes, spare: list[Entry]) -> bytes:
    """An archive written anew: entries with another head, another name, twice, in another order or compression."""
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as file:
            arrays = [(name, file.read(name)) for name in file.namelist()]
    except (*DAMAGED, MemoryError):  # a dictionary of gigabytes
        return change_bytes(rng, body, spare)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(arrays)))
        name, data = arrays[at]
        change: Change = pick(rng, [write_npy_header, change_bytes, truncate, drop_piece])
        changes = [
            (name, change(rng, data, spare)),
            (pick(rng, [*NAMES, "../x", "/x", "a\\b", "members", "nonmembers"]) + ".npy", data),
            (name, pick(rng, arrays)[1]),
            (name, data + bytes(pick(rng, [1, 2**16, 2**22]))),
        ]
        arrays[at] = pick(rng, changes)
        if rng.random() < 0.2:
            arrays.append(pick(rng, arrays))
    sink = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(sink, "w", pick(rng, [0, 8, 8, 12, 14])) as file:
        warnings.simplefilter("ignore")
        for name, data in arrays:
            file.writestr(zipfile.ZipInfo(name), data, file.compression)
    return sink.getvalue()


def change_directory(rng: Random, body: bytes, spare: list[Entry]) -> bytes:
    """An integer of the directory at the end of an archive, or of the head of its first entry."""
    start = max(0, body.find(b"PK\x01\x02"))
    return _with_integer(rng, body, *pick(rng, [(start, len(body)), (4, min(len(body), 160))]))


def move_messages(rng: Random, body: bytes, spare: list[Entry]) -> bytes:
    """An Arrow stream's messages dropped, repeated or in another order, with another's among them."""
    messages = _messages(body)
    if rng.random() < 0.3:
        messages += _messages(pick(rng, spare).body)
    if not messages:
        return body
    for _ in range(int(rng.integers(1, 4))):
        a, b = int(rng.integers(len(messages))), int(rng.integers(len(messages)))
        change = rng.random()
        if change < 0.3:
            messages[a], messages[b] = messages[b], messages[a]
        elif change < 0.6:
            messages.insert(a, messages[b])
        elif len(messages) > 1:
            del messages[a]
            break
    return b"".join(messages)


def _messages(body: bytes) -> list[bytes]:
    """An Arrow stream, cut where each message begins."""
    starts, at = [], body.find(b"\xff\xff\xff\xff")
    while at >= 0:
        starts.append(at)
        at = body.find(b"\xff\xff\xff\xff", at + 8)
    return [body[a:b] for a, b in pairwise([*starts, len(body)])]


def change_metadata(rng: Random, body: bytes, spare: list[Entry]) -> bytes:
    """An integer of a flatbuffer: the head of an Arrow message, or the footer of an Arrow file."""
    starts = [at for at in range(0, len(body) - 8, 8) if body[at : at + 4] == b"\xff\xff\xff\xff"]
    if body.startswith(b"ARROW1") and (not starts or rng.random() < 0.4):
        size = int.from_bytes(body[-10:-6], "little")
        return _with_integer(rng, body, max(0, len(body) - 10 - size), len(body) - 6)
    if not starts:
        return body
    at = pick(rng, starts)
    size = int.from_bytes(body[at + 4 : at + 8], "little")
    return _with_integer(rng, body, at + 4, min(len(body), at + 8 + size))


def _footer(body: bytes) -> int:
    """Where the footer of a Parquet file begins, by its length."""
    return len(body) - 8 - int.from_bytes(body[-8:-4], "little")


def change_footer(rng: Random, body: bytes, spare: list[Entry]) -> bytes:
    """Bytes of a Parquet file's footer, which stays where its length says."""
    start, changed = _footer(body), bytearray(body)
    if not 0 <= start < len(body) - 8:
        return change_bytes(rng, body, spare)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(start, len(body) - 8))
        old = changed[at]
        near = [0, old ^ 1, old ^ 16, (old + 1) % 256, (old - 1) % 256, 0x7F, 0xFF]
        changed[at] = pick(rng, [*near, int(rng.integers(256))])
    return bytes(changed)


def move_footer_piece(rng: Random, body: bytes, spare: list[Entry]) -> bytes:
    """A piece of a Parquet file's footer dropped or repeated, and its length said rightly."""
    start = _footer(body)
    if not 0 <= start < len(body) - 8:
        return change_bytes(rng, body, spare)
    change: Change = pick(rng, [drop_piece, repeat_piece, insert_noise])
    footer = change(rng, body[start:-8], spare)
    return body[:start] + footer + struct.pack("<I", len(footer)) + b"PAR1"


def change_page(rng: Random, body: bytes, spare: list[Entry]) -> bytes:
    return _with_integer(rng, body, 4, max(4, _footer(body)))


OWN: dict[str, list[Change]] = {
    CSV: [*TEXT, recode],
    JSON: [*TEXT, change_tree, change_tree, change_tree, change_tree, deepen, recode],
    NDJSON: [*TEXT, change_line, change_line, change_line, recode],
    NPY: [write_npy_header],
    NPZ: [change_archive, change_archive, change_directory],
    ARROW: [change_metadata, change_metadata, move_messages],
    ARROW_FILE: [change_metadata],
    PARQUET: [change_footer, change_footer, move_footer_piece, change_page],
}
"""What each format is mutated by that the others are not; as often as by what all are."""
COMPRESSIONS = ["identity", "gzip before", "gzip after", "zstd before", "zstd after"]
"""Before: a mutant is compressed. After: what is compressed is mutated."""
Row = tuple[str, bool]  # of the table: a format, and whether it is compressed
ROWS = [
    (theory + suffix[1:], packed) for theory, suffix, packed in product(("", "theory's "), MEDIA_TYPES, (False, True))
]
CELL = struct.calcsize("<BBf")  # bytes of a mutant on the page that a child shares with its parent


@dataclass(frozen=True)
class Mutant:
    """One body and its question."""

    of: str
    made_by: str
    call: Call
    body: bytes
    compression: str

    @property
    def row(self) -> Row:
        theory = "theory's " if self.call.operation.startswith("theory/") else ""
        return theory + Path(self.of).suffix[1:], self.compression != "identity"


def packed(data: bytes, compression: str) -> bytes:
    if compression.startswith("gzip"):
        return gzip.compress(data, 1, mtime=0)
    if compression.startswith("zstd"):
        return bytes(pa.compress(data, codec="zstd", asbytes=True))
    return data


def mutant(seed: int, number: int, corpus: list[Entry]) -> Mutant:
    """A mutant by its number; the first are the corpus itself, unchanged."""
    if number < len(corpus):
        entry = corpus[number]
        return Mutant(entry.name, "nothing", entry.call("identity", EXPANDED), entry.body, "identity")
    rng = np.random.default_rng([seed, number])
    whole = [entry for entry in corpus if not entry.name.startswith("broke-")]
    entry = pick(rng, whole if rng.random() < 0.8 else corpus)
    spare = [other for other in corpus if other.media_type == entry.media_type]
    compression = pick(rng, [*["identity"] * 6, *COMPRESSIONS[1:]])
    body, made_by = entry.body, list[str]()
    for _ in range(pick(rng, [1, 1, 1, 2, 3])):
        change = pick(rng, pick(rng, [ANY, OWN[entry.media_type]]))
        try:
            body = change(rng, body, spare)[: 4 * MIB]
        except (ValueError, OverflowError, RecursionError):  # what came before has left nothing to take apart
            body = change_bytes(rng, body, spare)
        made_by.append(change.__name__)
    if compression.endswith("after"):
        body, made_by = packed(entry.body, compression), []
        spare = [replace(other, body=packed(other.body, compression)) for other in spare[:2]]
        for _ in range(pick(rng, [1, 1, 2])):
            change = pick(rng, ANY)
            body = change(rng, body, spare)
            made_by.append(change.__name__)
    else:
        body = packed(body, compression)
    call = entry.call(compression.split()[0], EXPANDED)
    if call.query and rng.random() < 0.1:
        at = int(rng.integers(len(call.query)))
        other = call.query[at][0], pick(rng, [*NAMES, *TOKENS[:40]])
        call = replace(call, query=(*call.query[:at], other, *call.query[at + 1 :]))
        made_by.append("query")
    return Mutant(entry.name, ", ".join(made_by), call, body, compression)


# --- what comes of it ---------------------------------------------------------------------------------------

HEADS = {
    "answered": "read",
    "refused": "refused",
    "exception": "other exceptions",
    "memory": f"over {GRANTED // MIB} MiB",
    "too long": "refusals > 4 KiB",
    "echo": "repeat what was sent",
    "not finite": "NaN in JSON",
    "crash": "crashes",
    "hang": f"over {SECONDS:g} s",
}
OUTCOMES = list(HEADS)
FAILURES = OUTCOMES[2:]


def outcome(one: Mutant, number: int) -> str:
    """Decode it in every way there is, and answer it if it is its turn."""
    ways: list[Callable[[Call, Body], object]] = [decode]
    if one.call.media_type != JSON and not one.call.operation.startswith("theory/"):
        ways.append(lambda call, body: deque(blocks(replace(call, operation="counts"), body), 0))
    if number % ANSWERED == 0 or one.made_by == "nothing":
        ways.append(perform)
    results = []
    for way in ways:
        with Body.of(one.body) as body:
            try:
                reply = way(one.call, body)
            except (Problem, MaceError) as problem:
                reply = Problem.of(problem).reply(None)
            results.append(_judged(reply) if isinstance(reply, Reply) else "answered")
    return next((result for result in results if result in FAILURES), results[0])


def _judged(reply: Reply) -> str:
    content = bytes(reply.body)
    if reply.problem is None:
        return "not finite" if b"NaN" in content or b"Infinity" in content else "answered"
    if len(content) > MOST_REFUSAL:
        return "too long"
    return "echo" if PLANT.encode() in content else "refused"


def work(seed: int, numbers: range, corpus: list[Entry], page: mmap.mmap) -> None:
    """In a child: every mutant of these numbers, its outcome and time on the page."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    MemoryLimit.apply(GRANTED)
    for place, number in enumerate(numbers):
        struct.pack_into("<q", page, 0, place)
        one = mutant(seed, number, corpus)
        struct.pack_into("<B", page, 8 + CELL * place, ROWS.index(one.row))
        began = time.process_time()
        try:
            result = outcome(one, number)
        except MemoryError:
            result = "memory"
        except Exception as error:
            result = "exception"
            frames = traceback.extract_tb(error.__traceback__)
            where = [frame for frame in frames if "site-packages" not in frame.filename][-1]
            said = f"{number}: {one.of} ({one.made_by}): {type(error).__name__} in {where.filename}:{where.lineno}"
            sys.stderr.write(said + "\n")
        spent = time.process_time() - began
        struct.pack_into("<Bf", page, 9 + CELL * place, OUTCOMES.index(result), spent)
    struct.pack_into("<q", page, 0, len(numbers))


def outcomes(seed: int, numbers: range, corpus: list[Entry]) -> Iterator[tuple[int, Row, str, float]]:
    """Number, row of the table, outcome and seconds of each mutant; a dead child is followed by another."""
    numbers = numbers[:]
    while numbers:
        batch = numbers[:BATCH]
        page = mmap.mmap(-1, 8 + CELL * len(batch))
        child = os.fork()
        if not child:
            status = 1
            try:
                work(seed, batch, corpus, page)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        fate = _await(child, page)
        done = struct.unpack_from("<q", page, 0)[0]
        for place in range(done):
            row, code, spent = struct.unpack_from("<BBf", page, 8 + CELL * place)
            yield batch[place], ROWS[row], OUTCOMES[code], spent
        if done < len(batch):
            yield batch[done], ROWS[page[8 + CELL * done]], fate, 0.0
            done += 1
        page.close()
        numbers = numbers[done:]


def _await(child: int, page: mmap.mmap) -> str:
    """Wait until a child has ended, or end it when it has been at one mutant for too long."""
    place, since, at, spent = -1, time.monotonic(), 0.0, psutil.Process(child)
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            if os.waitstatus_to_exitcode(status) > 0:
                raise RuntimeError("the fuzzer itself has failed")
            return "crash"
        now = struct.unpack_from("<q", page, 0)[0]
        if now != place:
            place, since, at = now, time.monotonic(), sum(spent.cpu_times()[:2])
        if time.monotonic() - since > 10 * SECONDS or sum(spent.cpu_times()[:2]) - at > SECONDS:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "hang"
        time.sleep(0.01)


@table
def mutants(run: Run):
    """How many of each format came to what."""
    counts, slowest = Counter[tuple[str, bool, str]](), dict[Row, float]()
    numbers = range(run.first, run.first + run.mutants)
    wanted = {"." + name for name in run.formats.split(",") if name}
    corpus = [entry for entry in entries() if not wanted or Path(entry.name).suffix in wanted]
    for number, row, result, seconds in outcomes(run.seed, numbers, corpus):
        counts[*row, result] += 1
        slowest[row] = max(slowest.get(row, 0.0), seconds)
        if result in FAILURES:
            run.faults += 1
            print(f"{number}: {result}, {row}", file=sys.stderr, flush=True)
    yield f"| mutants | {' | '.join(HEADS.values())} | slowest, ms of CPU"
    for row in [row for row in ROWS if row in slowest]:
        label = ", ".join([row[0], "compressed"][: 1 + row[1]])
        yield line(label, [counts[*row, each] for each in OUTCOMES], slowest[row])
    all_of_them = [sum(counts[*row, each] for row in slowest) for each in OUTCOMES]
    yield line("all", all_of_them, max(slowest.values()))


def line(label: str, cells: list[int], seconds: float) -> str:
    return f"{label} | {sum(cells):,} | {' | '.join(f'{n:,}' for n in cells)} | {1e3 * seconds:,.0f}"
