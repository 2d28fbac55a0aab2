"""A request's body as it arrives: within limits, at a pace, and for a client that is still there.

A body that is worked on whole is spooled, and takes a place in the queue only once it is complete. A body that is
counted as it comes takes a worker, and a place, when its first 64 KiB are there and a worker may be held; all but one
may be held like that. Where there is only one, and where none may be held for a while, it is spooled, too. An upload
that brings less than 64 KiB within the stall limit is ended; so is the slowest, when what arrives takes all it may.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, MutableMapping
from typing import Any, NoReturn, TypeAlias

from app.refusals import busy
from app.workers.pool import Pool
from app.workers.uploads import Pipe, Spool
from macekit.call import JSON, Body, Call, Reply
from macekit.problems import Problem

Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]

PACE = 2**16
"""Bytes that must come within the stall limit; also how much of a streamed body is awaited before a worker is taken."""


ROUNDS = 20  # turns of the event loop that a body which was ended is given to let go of its memory


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
    has_dataset: bool = False,
    inline: Callable[[Call, bytes], bool] = never_inline,
    note_body: Callable[[bytes | Spool], None] | None = None,
) -> Reply:
    """Read the body and have the call answered: in this process if it is small JSON that ``inline`` calls quick.

    A call that ``has_dataset`` may be large, though its body is not. A body that is not streamed is told to
    ``note_body`` before it is worked on.
    """
    settings = pool.settings
    streamed = streamed and settings.processes > 1
    most = settings.stream_limit if streamed else settings.body_limit
    upload = Upload(receive, headers, most, settings.stall_limit)
    small = upload.declared is None or upload.declared <= settings.inline_limit
    head = b""
    if streamed:
        with pool.admission.receive(client, upload, small=small):
            head = await upload.head()
        if not upload.ended:
            async with pool.streams.place(upload) as place:
                if place:
                    with pool.admission.admit(client):
                        return await _through_pipe(pool, call, upload, client, head)
            upload.renew_deadline()
    with pool.admission.receive(client, upload, small=small):
        source = await _read_whole(upload, pool, client, head)
    if note_body is not None:
        note_body(source)
    if isinstance(source, Spool):
        with source, pool.admission.admit(client):
            return await _while_connected(pool.run(call, source, client=client), upload.wait_for_disconnect())
    if call.media_type == JSON and call.encoding == "identity" and inline(call, source):
        return await _answer_small(pool, call, source, upload, client)
    with pool.admission.admit(client, small=not has_dataset):
        work = pool.run(call, source, small=not has_dataset, client=client)
        return await _while_connected(work, upload.wait_for_disconnect())


async def _answer_small(pool: Pool, call: Call, body: bytes, upload: Upload, client: str) -> Reply:
    """Answer in this process, if it is its turn; else by a worker that has nothing to do, now or before its turn.

    While several clients ask, one that has another question under way gets a worker: nobody waits here behind what one
    asks at once.
    """
    if not (pool.admission.takes_more(client) or (pool.turns.busy and pool.has_idle())):
        with pool.admission.count(client):
            async with pool.turns.turn(client) as own:
                if own:
                    return pool.answer(call, Body.of(body))
    with pool.admission.admit(client, small=True):
        return await _while_connected(pool.run(call, body, client=client), upload.wait_for_disconnect())


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
        self._clock = asyncio.get_running_loop().time
        self.deadline = self._clock() + stall_limit
        self._timeout: asyncio.Timeout | None = None
        self._given_up = False
        self._held_from: tuple[float, int] | None = None
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

    def give_up(self) -> None:
        """End this upload: somebody who sends faster needs its place."""
        self._given_up = True
        self.deadline = self._clock()
        if self._timeout is not None:
            self._timeout.reschedule(self.deadline)

    def hold(self) -> None:
        """From here on it holds a worker."""
        self._held_from = self._clock(), self.size

    def pace(self, now: float) -> tuple[float, float]:
        """For how many seconds it has held a worker, and how many bytes a second it brought meanwhile."""
        if self._held_from is None:
            return 0.0, 0.0
        since, size = self._held_from
        return now - since, (self.size - size) / max(now - since, 1e-9)

    def renew_deadline(self) -> None:
        """Give the client the whole stall limit again, unless it was given up."""
        if not self._given_up:
            self.deadline = self._clock() + self._stall_limit

    def excuse(self, seconds: float) -> None:
        """Give the client more time, as much as it spent waiting for the service."""
        if not self._given_up:
            self.deadline += seconds
        if self._held_from is not None:
            since, size = self._held_from
            self._held_from = since + seconds, size

    async def _next(self) -> MutableMapping[str, Any]:
        try:
            async with asyncio.timeout_at(self.deadline) as self._timeout:
                message = await self._receive()
        except TimeoutError:
            raise self._too_slow() from None
        finally:
            self._timeout = None
        if message["type"] == "http.disconnect":
            raise Disconnected
        return message

    def _count(self, size: int) -> None:
        self.size += size
        if self.size > self._most:
            raise self._too_large()
        if self.size >= self._milestone:
            self._milestone = self.size + PACE
            self.renew_deadline()

    def _too_slow(self) -> Problem:
        if self._given_up:
            return busy(
                "the place of this body, which came more slowly than others, was needed for one of them; "
                "send it again, faster"
            )
        return Problem(
            "upload-stalled",
            f"fewer than {PACE} bytes of the body came within {self._stall_limit:g} seconds "
            f"({self.size} came in all); send it again, faster",
        )

    def _too_large(self) -> Problem:
        size = f"of {self.declared} bytes " if self.declared is not None else ""
        return Problem(
            "too-large",
            f"the body {size}is larger than the {self._most} bytes taken here; "
            "count where the records lie (mace counts FILES, macekit.counts) and post the counts, send CSV, "
            "JSON lines, NPY or Arrow to POST /v1/counts, which counts as it comes, compress the body, "
            "or send fewer records",
        )


async def _read_whole(upload: Upload, pool: Pool, client: str = "", head: bytes = b"") -> bytes | Spool:
    """The whole body: plain bytes if it is small, else a spool."""
    if upload.ended:
        return head
    start, small = bytearray(head), pool.settings.inline_limit
    while (upload.declared or 0) <= small and len(start) <= small:
        if not (chunk := await upload.read()):
            return bytes(start)
        start += chunk
    spool = Spool(pool.budget)
    try:
        chunk = bytes(start) or await upload.read()
        while chunk:
            await _make_room(upload, pool, spool, client, len(chunk))
            spool.write(chunk)
            chunk = await upload.read()
    except BaseException:
        spool.close()
        raise
    return spool


async def _make_room(upload: Upload, pool: Pool, spool: Spool, client: str, size: int) -> None:
    """See to it that more of a body can be held, at the cost of who holds more, or of bodies that come more slowly."""
    if spool.size + size > pool.settings.body_limit:  # a stream that found no worker to be read into
        raise pool.busy("no worker is free to read so large a body as it comes")
    while not spool.has_room(size):
        if not pool.admission.line.make_room(client, spool.size + size):
            pool.admission.displace(upload)
        for _ in range(ROUNDS):  # until what was ended has let go of its memory
            await asyncio.sleep(0)
            if spool.has_room(size):
                return


async def _through_pipe(pool: Pool, call: Call, upload: Upload, client: str, head: bytes) -> Reply:
    """Have the body worked on while it arrives. The worker's answer wins, however much is still to come."""
    upload.renew_deadline()
    upload.hold()
    with Pipe() as pipe:
        return await _while_connected(pool.run(call, pipe, client=client), _feed(upload, pipe, head))


async def _feed(upload: Upload, pipe: Pipe, head: bytes) -> NoReturn:
    """Pass the body on, then watch the client."""
    clock = asyncio.get_running_loop().time
    chunk = head
    try:
        while chunk:
            began = clock()
            await pipe.write(chunk)
            upload.excuse(clock() - began)
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
