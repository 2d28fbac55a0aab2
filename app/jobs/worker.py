"""What runs in a worker: one job after another, within limits, until the server is gone."""

from __future__ import annotations

import os
import select
import socket
import threading
from collections.abc import Callable
from typing import TypeAlias

from app.jobs.limits import Allowance
from app.jobs.refusals import out_of_memory
from app.jobs.spool import anonymous_file, write_all
from app.jobs.wire import APART, Message, Mistake, Outcome, hear, packed, packed_outcome, tell
from macekit.call import Body, Call, Reply

Perform: TypeAlias = Callable[[Call, Body], Reply]


def serve(channel: socket.socket, perform: Perform, memory_limit: int) -> None:
    """Do every job that comes through the channel; return when the server has closed it."""
    threading.Thread(target=_end_with, args=(channel,), daemon=True).start()
    allowance = Allowance.of_now(memory_limit)
    tell(channel, packed({"pid": os.getpid()}))
    while (message := hear(channel)) is not None and _work(channel, message, perform, allowance):
        pass


def attempt(perform: Perform, call: Call, body: Body) -> Reply | Mistake:
    """Perform a call; an error it should not have raised is told without its message, which may quote the request."""
    try:
        return perform(call, body)
    except MemoryError:
        raise
    except Exception as error:
        return Mistake.of(error)


def _work(channel: socket.socket, message: Message, perform: Perform, allowance: Allowance) -> bool:
    """Do one job; whether the worker is good for another."""
    with message.source() as body:
        outcome = _outcome(perform, message.call(), body, allowance)
    # The body is closed first: an upload that still comes must not wait for a reader it no longer has.
    _answer(channel, outcome)
    return outcome.spent is None


def _outcome(perform: Perform, call: Call, body: Body, allowance: Allowance) -> Outcome:
    try:
        answer = attempt(perform, call, body)
    except MemoryError:
        answer = None
    if answer is None:
        # Apart from the handler: by here the frames that held the memory are gone.
        allowance.lift()
        return Outcome(out_of_memory(allowance.granted).reply(), "memory-limit")
    if isinstance(answer, Reply) and answer.problem == "memory-limit":
        return Outcome(answer, "memory-limit")
    return Outcome(answer, "grown" if allowance.grown() else None)


def _answer(channel: socket.socket, outcome: Outcome) -> None:
    body = outcome.answer.body if isinstance(outcome.answer, Reply) else b""
    if len(body) <= APART:
        tell(channel, packed_outcome(outcome, body), body)
        return
    fd = anonymous_file()
    try:
        write_all(fd, body)
        tell(channel, packed_outcome(outcome, b""), b"", fd)
    finally:
        os.close(fd)


def _end_with(channel: socket.socket) -> None:
    """End this process when the server has closed the channel or died, whatever it is doing."""
    watch = select.poll()
    watch.register(channel, 0)  # hanging up is always told
    watch.poll()
    os._exit(0)
