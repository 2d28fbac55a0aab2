"""The same over real sockets: chunked bodies, clients that hang up, limits that a client is told of."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from app.workers.intake import Disconnected, answer
from app.workers.pool import Pool
from macekit.call import CSV, Call
from macekit.problems import Problem
from tests.app.workers.support import Gate, running, settled, until


@asynccontextmanager
async def served(pool: Pool) -> AsyncIterator[int]:
    """A server whose paths name operations (`/s/...` streamed, the query their option); its port."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        _, way, operation = scope["path"].split("/")
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        call = Call(operation, CSV, query=(("option", scope["query_string"].decode()),))
        try:
            reply = await answer(pool, call, receive, headers, streamed=way == "s")
        except Problem as problem:
            reply = problem.reply()
        except Disconnected:
            return
        length = str(len(reply.body)).encode()
        start = {
            "type": "http.response.start",
            "status": reply.status,
            "headers": [(b"content-length", length)],
        }
        await send(start)
        await send({"type": "http.response.body", "body": reply.body})

    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(app, log_config=None, lifespan="off", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            await until(lambda: server.started)
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            await serving


async def post(port: int, path: str, *pieces: bytes, length: int | None = None) -> bytes:
    """Send a body, chunked unless its length is given; the whole answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    how = "transfer-encoding: chunked" if length is None else f"content-length: {length}"
    writer.write(f"POST {path} HTTP/1.1\r\nhost: here\r\nconnection: close\r\n{how}\r\n\r\n".encode())
    with contextlib.suppress(ConnectionError):
        for piece in pieces:
            writer.write(piece if length is not None else b"%x\r\n%b\r\n" % (len(piece), piece))
            await writer.drain()
        if length is None:
            writer.write(b"0\r\n\r\n")
    try:
        return await reader.read()
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


@pytest.mark.parametrize("way", ["b", "s"])
def test_chunked_and_measured_bodies_arrive_whole(way: str) -> None:
    async def scene() -> list[bytes]:
        async with running() as pool, served(pool) as port:
            pieces = [b"\x01" * 70_000] * 50
            return [
                await post(port, f"/{way}/checksum", *pieces),
                await post(port, f"/{way}/checksum", *pieces, length=3_500_000),
            ]

    for answered in asyncio.run(scene()):
        assert answered.endswith(b"\r\n\r\n3500000 3500000")


def test_a_large_reply_crosses_the_wire_whole() -> None:
    async def scene() -> bytes:
        async with running() as pool, served(pool) as port:
            return await post(port, "/b/large", b"x")

    assert asyncio.run(scene()).partition(b"\r\n\r\n")[2] == b"\x07" * (3 * 2**20 + 17)


def test_a_body_too_large_is_refused_though_none_of_it_was_sent() -> None:
    async def scene() -> bytes:
        async with running(body_limit=1024) as pool, served(pool) as port:
            return await post(port, "/b/size", length=2000)

    assert asyncio.run(scene()).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(("path", "status"), [("/s/refuse_early", 200), ("/b/size", 413)])
def test_an_early_answer_reaches_a_client_that_sends_on_and_its_connection_serves_again(
    path: str, status: int
) -> None:
    def talk(port: int) -> tuple[int, int]:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
            connection.request("POST", path, body=b"x" * 8 * 2**20)
            first = connection.getresponse()
            first.read()
            connection.request("POST", "/b/size", body=b"abc")
            second = connection.getresponse()
            second.read()
            return first.status, second.status

    async def scene() -> tuple[int, int]:
        async with running(body_limit=2**20) as pool, served(pool) as port:
            return await asyncio.to_thread(talk, port)

    assert asyncio.run(scene()) == (status, 200)


def test_a_stalled_upload_is_told_so() -> None:
    async def scene() -> bytes:
        async with running(stall_limit=0.2) as pool, served(pool) as port:
            return await post(port, "/s/checksum", b"x" * 100_000, length=2_000_000)

    assert asyncio.run(scene()).startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize("way", ["b", "s"])
def test_a_client_that_hangs_up_amid_its_body_leaves_nothing_behind(way: str) -> None:
    async def scene() -> None:
        async with running() as pool, served(pool) as port:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(
                f"POST /{way}/checksum HTTP/1.1\r\nhost: here\r\ncontent-length: 9000000\r\n\r\n".encode()
            )
            writer.write(b"x" * 1_000_000)
            await writer.drain()
            await until(lambda: pool._admission.arriving + pool._admission.under_way == 1)
            writer.close()
            await writer.wait_closed()
            await until(lambda: pool._admission.arriving + pool._admission.under_way == 0)
            await settled(pool)
            assert pool.budget.in_use == 0

    asyncio.run(scene())


def test_a_client_that_hangs_up_while_its_job_runs_ends_the_worker(tmp_path: Path) -> None:
    gate = Gate(tmp_path)

    async def scene() -> None:
        async with running() as pool, served(pool) as port:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            target = f"/b/gated_checksum?{gate.path}"
            writer.write(f"POST {target} HTTP/1.1\r\nhost: here\r\ncontent-length: 3\r\n\r\nabc".encode())
            await until(lambda: bool(gate.began()))
            writer.close()
            await writer.wait_closed()
            await until(lambda: pool.snapshot().kills["cancelled"] == 1)

    asyncio.run(scene())
