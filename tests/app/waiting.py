"""A service with routes that a test steers: one waits for a file, some fail; run as a program, it listens."""

import asyncio
import os
import sys
import time
from pathlib import Path

from fastapi import FastAPI, HTTPException, Request, Response
from starlette.responses import StreamingResponse

from app.cli.server import listen
from app.main import create_app
from app.settings import Settings
from macekit.problems import Problem

SECRET = "0.123456789"


def steered(settings: Settings | None = None) -> FastAPI:
    made = create_app(settings)

    @made.get("/test/wait", include_in_schema=False)
    async def wait() -> Response:
        folder = Path(os.environ["FOLDER"])
        (folder / "waiting").touch()
        while not (folder / "go").exists():
            await asyncio.sleep(0.01)
        return Response("done")

    @made.get("/test/block", include_in_schema=False)
    async def block() -> Response:
        folder = Path(os.environ["FOLDER"])
        (folder / "waiting").touch()
        while not (folder / "go").exists():
            time.sleep(0.01)  # the event loop does not turn meanwhile
        return Response("done")

    @made.post("/test/body", include_in_schema=False)
    async def body(request: Request) -> Response:
        return Response(str(len(await request.body())))

    @made.get("/test/fail/{kind}", include_in_schema=False)
    async def fail(kind: str) -> Response:
        raise KINDS[kind]

    @made.get("/test/half", include_in_schema=False)
    async def half() -> Response:
        async def pieces():  # type: ignore[no-untyped-def]
            yield b"half an answer"
            raise ValueError(SECRET)

        return StreamingResponse(pieces(), media_type="text/plain")

    return made


KINDS: dict[str, Exception] = {
    "value": ValueError(SECRET),
    "memory": MemoryError(SECRET),
    "recursion": RecursionError(SECRET),
    "problem": Problem("busy", "the queue is full", retry_after=7),
    "http-404": HTTPException(404, SECRET),
    "http-405": HTTPException(405, SECRET),
    "http-418": HTTPException(418, SECRET),
    "http-502": HTTPException(502, SECRET),
}

if __name__ == "__main__":
    sys.exit(listen(steered()))
