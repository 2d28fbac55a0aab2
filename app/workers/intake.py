"""A request's body as it arrives: within limits, at a pace, and for a client that is still there.

A body that is worked on whole is spooled, and takes a worker only once it is complete. A body that is counted as it
comes takes a worker when its first 64 KiB are there; all workers but one may be held like that, and where there is only
one such a body is spooled, too. What still arrives holds no place in the queue, and an upload that brings less than
64 KiB within the stall limit is ended, so slow uploads do not starve other requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, MutableMapping
from typing import Any, NoReturn, TypeAlias

from app.workers.pool import Pool
from app.workers.uploads import Budget, Pipe, Spool
from macekit.call import JSON, Body, Call, Reply
from macekit.problems import Problem

Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]

PACE = 2**16
"""Bytes that must come within the stall limit; also how much of a streamed body is awaited before a worker is taken."""


def never_inline(_call: Call, _body: bytes) -> bool:
    """Nothing is answered without a worker."""
    return False


class Disconnected(Exception):
    """The client has gone, so no answer can be sent."""


async def answer(
    pool: Pool,
    call: Call,
    receive: Receive,
    headers: Mapping[str, str],
    *,
    client: str = "",
    streamed: bool = False,
    inline: Callable[[Call, bytes], bool] = never_inline,
) -> Reply:
    """Read the body and have the call answered: in this process if it is small JSON that ``inline`` calls quick."""
    settings = pool.settings
    streamed = streamed and settings.processes > 1
    most = settings.stream_limit if streamed else settings.body_limit
    upload = Upload(receive, headers, most, settings.stall_limit)
    if streamed:
        with pool.receive(client):
            head = await upload.head()
        with pool.admit(client):
            return await _through_pipe(pool, call, upload, head)
    with pool.receive(client):
        source = await _read_whole(upload, pool.budget, settings.inline_limit)
    if isinstance(source, Spool):
        with source, pool.admit(client):
            return await _while_connected(pool.run(call, source), upload.wait_for_disconnect())
    with pool.admit(client):
        if call.media_type == JSON and call.encoding == "identity" and inline(call, source):
            return pool.answer(call, Body.of(source))
        return await _while_connected(pool.run(call, source), upload.wait_for_disconnect())


class Upload:
    """The body of one request, chunk by chunk."""

    def __init__(self, receive: Receive, headers: Mapping[str, str], most: int, stall_limit: float) -> None:
        declared = headers.get("content-length", "")
        self.declared = int(declared) if declared.isascii() and declared.isdigit() else None
        self.size = 0
        self.ended = False
        self._receive = receive
        self._most = most
        self._stall_limit = stall_limit
        self._milestone = PACE
        self._deadline = asyncio.get_running_loop().time() + stall_limit
        if self.declared is not None and self.declared > most:
            raise self._too_large()

    async def read(self) -> bytes:
        """The next chunk; empty at the end."""
        while not self.ended:
            message = await self._next()
            chunk: bytes = message.get("body", b"")
            self._count(len(chunk))
            self.ended = not message.get("more_body", False)
            if self.ended and self.declared is not None and self.size < self.declared:
                raise Problem("incomplete-body", f"the body ended after {self.size} of {self.declared} bytes")
            if chunk:
                return chunk
        return b""

    async def head(self) -> bytes:
        """The first 64 KiB, or what there is."""
        head = bytearray()
        while not self.ended and len(head) < PACE:
            head += await self.read()
        return bytes(head)

    async def wait_for_disconnect(self) -> NoReturn:
        """Wait until the client has gone; what still comes of the body is dropped."""
        while (await self._receive())["type"] != "http.disconnect":
            pass
        raise Disconnected

    async def _next(self) -> MutableMapping[str, Any]:
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            raise Problem(
                "upload-stalled",
                f"fewer than {PACE} bytes of the body came within {self._stall_limit:g} seconds "
                f"({self.size} came in all); send it again, faster",
            ) from None
        if message["type"] == "http.disconnect":
            raise Disconnected
        return message

    def _count(self, size: int) -> None:
        self.size += size
        if self.size > self._most:
            raise self._too_large()
        if self.size >= self._milestone:
            self._milestone = self.size + PACE
            self._deadline = asyncio.get_running_loop().time() + self._stall_limit

    def extend_deadline(self, seconds: float) -> None:
        """Give the client more time, as much as it spent waiting for the service."""
        self._deadline += seconds

    def _too_large(self) -> Problem:
        size = f"of {self.declared} bytes " if self.declared is not None else ""
        return Problem(
            "too-large",
            f"the body {size}is larger than the {self._most} bytes taken here; "
            "post counts (POST /v1/counts), compress it, or send fewer records",
        )


async def _read_whole(upload: Upload, budget: Budget, small: int) -> bytes | Spool:
    """The whole body: plain bytes if it is small, else a spool."""
    start = bytearray()
    while (upload.declared or 0) <= small and len(start) <= small:
        if not (chunk := await upload.read()):
            return bytes(start)
        start += chunk
    spool = Spool(budget)
    try:
        spool.write(start)
        while chunk := await upload.read():
            spool.write(chunk)
    except BaseException:
        spool.close()
        raise
    return spool


async def _through_pipe(pool: Pool, call: Call, upload: Upload, head: bytes) -> Reply:
    """Have the body worked on while it arrives. The worker's answer wins, however much is still to come."""
    if upload.ended:
        return await _while_connected(pool.run(call, head), upload.wait_for_disconnect())
    clock = asyncio.get_running_loop().time
    began = clock()
    async with pool.streams:
        upload.extend_deadline(clock() - began)
        with Pipe() as pipe:
            return await _while_connected(pool.run(call, pipe), _feed(upload, pipe, head))


async def _feed(upload: Upload, pipe: Pipe, head: bytes) -> NoReturn:
    """Pass the body on, then watch the client."""
    clock = asyncio.get_running_loop().time
    chunk = head
    try:
        while chunk:
            began = clock()
            await pipe.write(chunk)
            upload.extend_deadline(clock() - began)
            chunk = await upload.read()
        pipe.finish()
    except BrokenPipeError:
        pass  # the worker has seen enough; its answer is on the way
    await upload.wait_for_disconnect()


async def _while_connected(job: Coroutine[Any, Any, Reply], watch: Coroutine[Any, Any, NoReturn]) -> Reply:
    """The job's answer, unless the client leaves or its upload fails first: then the job is cancelled."""
    working, watching = asyncio.create_task(job), asyncio.create_task(watch)
    try:
        await asyncio.wait((working, watching), return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else watching.result()
    finally:
        working.cancel()
        watching.cancel()
        await asyncio.gather(working, watching, return_exceptions=True)
