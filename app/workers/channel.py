"""Messages between server and worker over their socket: a head, a few fields, a body or its descriptor.

Fields are MessagePack, not pickles: a worker reads what strangers send, and nothing that it sends back may be executed.
"""

from __future__ import annotations

import asyncio
import mmap
import os
import socket
import struct
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from macekit.call import Body, Call, Reply, Step

HEAD = struct.Struct("<IQ")  # bytes of the fields, bytes of the body that follow them

MOST_INLINE = 2**20
"""Bytes of a reply's body that travel in the message; a larger one travels as a descriptor, so the event loop copies
nothing large."""

CHUNK = 2**16
CLOSED_ON_EXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
Fields: TypeAlias = dict[str, object]


@dataclass(frozen=True, slots=True)
class InternalError:
    """An unexpected error: its type and where it was raised, without its message, which may quote the request."""

    error: str
    places: tuple[str, ...]

    @classmethod
    def of(cls, error: BaseException) -> InternalError:
        """What may be logged of an error."""
        frames = traceback.extract_tb(error.__traceback__)[-20:]
        return cls(type(error).__name__, tuple(f"{f.filename}:{f.lineno} {f.name}" for f in frames))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a worker returns for one job; ``end_reason`` says why, if it ends itself after it."""

    answer: Reply | InternalError
    end_reason: str | None = None


def encode(fields: Fields, body: bytes | memoryview = b"") -> bytes:
    """Head and fields of a message."""
    data = msgspec.msgpack.encode(fields)
    return HEAD.pack(len(data), len(body)) + data


def encode_call(call: Call, body: bytes) -> bytes:
    """Head and fields of a job."""
    return encode({"call": call}, body)


def encode_outcome(outcome: Outcome, body: bytes | memoryview) -> bytes:
    """Head and fields of an outcome; its body is sent apart."""
    fields: Fields = {"end_reason": outcome.end_reason}
    if isinstance(outcome.answer, Reply):
        fields["reply"] = {name: getattr(outcome.answer, name) for name in REPLY_FIELDS}
    else:
        fields["error"] = outcome.answer
    return encode(fields, body)


REPLY_FIELDS = tuple(name for name in Reply.__dataclass_fields__ if name not in ("body", "local"))


@dataclass(frozen=True, slots=True)
class Message:
    """One message as it came."""

    fields: Fields
    body: bytes
    descriptor: int | None

    def call(self) -> Call:
        """The job's call."""
        return msgspec.convert(self.fields["call"], Call)

    def source(self) -> Body:
        """The job's body."""
        return Body.of(self.body) if self.descriptor is None else Body.of_descriptor(self.descriptor)

    def outcome(self) -> Outcome:
        """The worker's outcome, its body mapped if it came apart."""
        end_reason = msgspec.convert(self.fields["end_reason"], str | None)
        if "error" in self.fields:
            return Outcome(msgspec.convert(self.fields["error"], InternalError), end_reason)
        body: bytes | memoryview = self.body
        if self.descriptor is not None:
            try:
                body = memoryview(mmap.mmap(self.descriptor, 0, access=mmap.ACCESS_READ))
            finally:
                os.close(self.descriptor)
        fields = msgspec.convert(self.fields["reply"], Fields)
        fields["step"] = msgspec.convert(fields["step"], Step | None)
        return Outcome(Reply(**fields, body=body), end_reason)  # type: ignore[arg-type]


class _Incoming:
    """A message under way: bytes so far, and what is still to come."""

    def __init__(self, first: bytes, descriptors: Sequence[int]) -> None:
        self.data = bytearray(first)
        self.descriptors = list(descriptors)

    def missing(self) -> int:
        if len(self.data) < HEAD.size:
            return HEAD.size - len(self.data)
        fields, body = HEAD.unpack_from(self.data)
        return int(HEAD.size + fields + body - len(self.data))

    def message(self) -> Message:
        size, _ = HEAD.unpack_from(self.data)
        view = memoryview(self.data)
        fields = msgspec.msgpack.decode(view[HEAD.size : HEAD.size + size], type=Fields)
        descriptor = self.descriptors.pop() if self.descriptors else None
        return Message(fields, bytes(view[HEAD.size + size :]), descriptor)

    def drop(self) -> None:
        while self.descriptors:
            os.close(self.descriptors.pop())


def send(channel: socket.socket, start: bytes, body: bytes | memoryview = b"", fd: int | None = None) -> None:
    """Send a message from a process that may block."""
    count = socket.send_fds(channel, [start], [] if fd is None else [fd])
    channel.sendall(start[count:])
    channel.sendall(body)


def receive(channel: socket.socket) -> Message | None:
    """Wait for a message; none if the other side has closed."""
    first, descriptors, _, _ = socket.recv_fds(channel, CHUNK, 1, CLOSED_ON_EXEC)
    if not first:
        return None
    coming = _Incoming(first, descriptors)
    while missing := coming.missing():
        if not (more := channel.recv(min(missing, CHUNK))):
            coming.drop()
            return None
        coming.data += more
    return coming.message()


async def send_async(channel: socket.socket, start: bytes, body: bytes, fd: int | None) -> None:
    """Send a message without holding up the event loop; the channel is empty, so its start goes at once."""
    loop = asyncio.get_running_loop()
    count = socket.send_fds(channel, [start], [] if fd is None else [fd])
    if rest := start[count:] + body:
        await loop.sock_sendall(channel, rest)


async def receive_async(channel: socket.socket) -> Message:
    """Wait for a message without holding up the event loop; ``EOFError`` if the other side has closed."""
    loop = asyncio.get_running_loop()
    await _readable(channel)
    first, descriptors, _, _ = socket.recv_fds(channel, CHUNK, 1, CLOSED_ON_EXEC)
    coming = _Incoming(first, descriptors)
    try:
        if not first:
            raise EOFError
        while missing := coming.missing():
            if not (more := await loop.sock_recv(channel, min(missing, CHUNK))):
                raise EOFError
            coming.data += more
        return coming.message()
    finally:
        coming.drop()


async def _readable(channel: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(channel, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(channel)
