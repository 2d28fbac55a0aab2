"""What server and worker say to each other over their socket: a head, a few fields, a body or its descriptor.

Fields are MessagePack, not pickles: a worker has read what strangers sent, and what it says must not run here.
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

from macekit.call import Body, Call, Reply

HEAD = struct.Struct("<IQ")
"""Bytes of the fields, bytes of the body that follow them."""

APART = 2**20
"""Bodies of replies above this travel as a descriptor, so that the event loop copies nothing large."""

READ = 2**16
CLOSED_ON_EXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
Fields: TypeAlias = dict[str, object]


@dataclass(frozen=True, slots=True)
class Mistake:
    """An error that should not be: its type and where it was raised, without a word of what it said."""

    error: str
    places: tuple[str, ...]

    @classmethod
    def of(cls, error: BaseException) -> Mistake:
        """The mistake behind an error."""
        frames = traceback.extract_tb(error.__traceback__)[-20:]
        return cls(type(error).__name__, tuple(f"{f.filename}:{f.lineno} {f.name}" for f in frames))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a worker says of one job; ``spent`` if it ends itself now, and why."""

    answer: Reply | Mistake
    spent: str | None = None


def packed(fields: Fields, body: bytes | memoryview = b"") -> bytes:
    """Head and fields of a message."""
    data = msgspec.msgpack.encode(fields)
    return HEAD.pack(len(data), len(body)) + data


def packed_call(call: Call, body: bytes) -> bytes:
    """Head and fields of a job."""
    return packed({"call": call}, body)


def packed_outcome(outcome: Outcome, body: bytes | memoryview) -> bytes:
    """Head and fields of an outcome; its body is sent apart."""
    said: Fields = {"spent": outcome.spent}
    if isinstance(outcome.answer, Reply):
        said["reply"] = {name: getattr(outcome.answer, name) for name in _CARRIED}
    else:
        said["mistake"] = outcome.answer
    return packed(said, body)


_CARRIED = tuple(name for name in Reply.__dataclass_fields__ if name != "body")


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
        spent = msgspec.convert(self.fields["spent"], str | None)
        if "mistake" in self.fields:
            return Outcome(msgspec.convert(self.fields["mistake"], Mistake), spent)
        body: bytes | memoryview = self.body
        if self.descriptor is not None:
            try:
                body = memoryview(mmap.mmap(self.descriptor, 0, access=mmap.ACCESS_READ))
            finally:
                os.close(self.descriptor)
        return Outcome(Reply(**msgspec.convert(self.fields["reply"], Fields), body=body), spent)  # type: ignore[arg-type]


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
        fields, _ = HEAD.unpack_from(self.data)
        view = memoryview(self.data)
        told = msgspec.msgpack.decode(view[HEAD.size : HEAD.size + fields], type=Fields)
        descriptor = self.descriptors.pop() if self.descriptors else None
        return Message(told, bytes(view[HEAD.size + fields :]), descriptor)

    def drop(self) -> None:
        while self.descriptors:
            os.close(self.descriptors.pop())


def tell(channel: socket.socket, start: bytes, body: bytes | memoryview = b"", fd: int | None = None) -> None:
    """Send a message from a process that may wait."""
    sent = socket.send_fds(channel, [start], [] if fd is None else [fd])
    channel.sendall(start[sent:])
    channel.sendall(body)


def hear(channel: socket.socket) -> Message | None:
    """Wait for a message; none if the other side has closed."""
    first, descriptors, _, _ = socket.recv_fds(channel, READ, 1, CLOSED_ON_EXEC)
    if not first:
        return None
    coming = _Incoming(first, descriptors)
    while missing := coming.missing():
        if not (more := channel.recv(min(missing, READ))):
            coming.drop()
            return None
        coming.data += more
    return coming.message()


async def tell_async(channel: socket.socket, start: bytes, body: bytes, fd: int | None) -> None:
    """Send a message without holding up the event loop; the channel is empty, so its start goes at once."""
    loop = asyncio.get_running_loop()
    sent = socket.send_fds(channel, [start], [] if fd is None else [fd])
    if rest := start[sent:] + body:
        await loop.sock_sendall(channel, rest)


async def hear_async(channel: socket.socket) -> Message:
    """Wait for a message without holding up the event loop; ``EOFError`` if the other side has closed."""
    loop = asyncio.get_running_loop()
    await _readable(channel)
    first, descriptors, _, _ = socket.recv_fds(channel, READ, 1, CLOSED_ON_EXEC)
    coming = _Incoming(first, descriptors)
    try:
        if not first:
            raise EOFError
        while missing := coming.missing():
            if not (more := await loop.sock_recv(channel, min(missing, READ))):
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
