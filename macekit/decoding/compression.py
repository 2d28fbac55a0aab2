"""``Content-Encoding`` undone piece by piece, so that a body never expands beyond its limit; no pickle gets through."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from functools import partial

from macekit.call import Body, Call
from macekit.formats import COMPRESSED, ENCODINGS, HEAD, TITLES, is_pickle
from macekit.problems import Problem, fault, pickle_problem

READ_SIZE = 2**16
GZIP = zlib.MAX_WBITS | 16
PIECE_SIZE = 2**18


class Source(io.RawIOBase):
    """Pieces as a file: a read is as long as asked unless the end comes, and remembers what came last."""

    def __init__(self, pieces: Iterator[bytes], longest: int) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")
        self._longest = longest
        self.tail = b""

    def readable(self) -> bool:
        """A source is for reading."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """The next ``size`` bytes, fewer at the end only; what a lying header asks for is not allocated."""
        if size > self._longest:
            detail = f"the body announces a part of more than {self._longest} bytes; send smaller batches"
            raise Problem("too-large", detail)
        parts: list[bytes | memoryview] = []
        missing = size
        while missing:
            if not self._rest:
                piece = next(self._pieces, None)
                if piece is None:
                    break
                self._rest = memoryview(piece)
            part = self._rest if missing < 0 else self._rest[:missing]
            self._rest = self._rest[len(part) :]
            parts.append(part)
            missing -= len(part) if missing > 0 else 0
        data = bytes(parts[0]) if len(parts) == 1 else b"".join(parts)
        self.tail = (self.tail + data[-8:])[-8:]
        return data

    def back(self, data: bytes) -> None:
        """Give back what was read too far."""
        self._rest = memoryview(data + bytes(self._rest))


def expanded(call: Call, body: Body) -> memoryview:
    """The whole body as it was before it was compressed; without a copy if it was not."""
    if _encoding(call) == "identity":
        view = body.view()
        _refuse_head(call, bytes(view[:HEAD]))
        return view
    whole = bytearray()
    for piece in _pieces(call, body):
        whole += piece
    return memoryview(whole)


def first_bytes(call: Call, body: Body, size: int) -> bytes:
    """The first bytes of a body that may be cut off itself: as much as can be expanded of it."""
    data = bytearray()
    try:
        for piece in _pieces(call, body):
            data += piece
            if len(data) >= size:
                break
    except Problem:
        if not data:
            raise
    return bytes(data[:size])


def unpacked(call: Call, body: Body) -> Source:
    """The body as a stream, expanded on the way."""
    return Source(_pieces(call, body), max(call.expanded_limit, PIECE_SIZE))


def _encoding(call: Call) -> str:
    if call.encoding not in ENCODINGS:
        detail = f"not known here; known are {', '.join(ENCODINGS)}"
        raise fault("unsupported-media-type", "Content-Encoding", detail)
    return call.encoding


def _pieces(call: Call, body: Body) -> Iterator[bytes]:
    encoding = _encoding(call)
    raw = iter(partial(body.stream().read, READ_SIZE), b"")
    if encoding == "identity":
        return _looked_at(call, raw)
    pieces = _bounded(_gunzip(raw) if encoding == "gzip" else _unzstd(raw), call.expanded_limit)
    return _looked_at(call, pieces)


def _looked_at(call: Call, pieces: Iterator[bytes]) -> Iterator[bytes]:
    for place, piece in enumerate(pieces):
        if not place:
            _refuse_head(call, piece[:HEAD])
        yield piece


def _refuse_head(call: Call, head: bytes) -> None:
    """Refuse by its name what no reader would open, whatever the body says it is."""
    if is_pickle(head):
        raise pickle_problem()
    if packed := next((name for magic, name in COMPRESSED.items() if head.startswith(magic)), None):
        raise Problem(
            "malformed-body",
            f"the {TITLES.get(call.media_type, 'body')} begins as {packed} does; one layer is opened, where "
            "Content-Encoding or the file's suffix names it: unpack what is beneath",
        )


def _bounded(pieces: Iterator[bytes], limit: int) -> Iterator[bytes]:
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > limit:
            raise Problem("too-large", f"the body expands to more than {limit} bytes")
        yield piece


def _gunzip(raw: Iterator[bytes]) -> Iterator[bytes]:
    """Members of a gzip file one after another, as RFC 1952 has them."""
    decoder, complete = zlib.decompressobj(GZIP), 0
    inside = False
    for piece in raw:
        data = piece
        while data:
            inside, full = True, True
            while full and not decoder.eof:  # output may be pending though all input is taken
                try:
                    output = decoder.decompress(data, PIECE_SIZE)
                except zlib.error:
                    raise _corrupt("gzip") from None
                data = decoder.unconsumed_tail
                full = len(output) == PIECE_SIZE or bool(data)
                if output:
                    yield output
            if decoder.eof:
                data, decoder = decoder.unused_data, zlib.decompressobj(GZIP)
                inside, complete = False, complete + 1
    if inside or not complete:
        raise _short("gzip")


def _unzstd(raw: Iterator[bytes]) -> Iterator[bytes]:
    import pyarrow as pa

    try:
        with pa.CompressedInputStream(pa.PythonFile(Source(raw, PIECE_SIZE), mode="r"), "zstd") as stream:
            while piece := stream.read(PIECE_SIZE):
                yield piece
    except (pa.ArrowException, OSError) as error:
        raise _short("zstd") if "runcated" in str(error) else _corrupt("zstd") from None


def _corrupt(encoding: str) -> Problem:
    return Problem("malformed-body", f"the body is not {encoding}, or was damaged on the way")


def _short(encoding: str) -> Problem:
    return Problem("incomplete-body", f"the {encoding} data ended before it was complete")
