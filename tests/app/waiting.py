"""A service with routes that a test steers: one waits for a file, some fail; run as a program, it listens."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from fastapi import FastAPI, HTTPException, Request, Response
from starlette.responses import StreamingResponse

from app.cli.serve import listen
from app.main import create_app
from app.problems import Problem
from app.settings import Settings
from estimators.errors import TooFewRecords

SECRET = "0.123456789"


def steered(settings: Settings | None = None) -> FastAPI:
    made = create_app(settings)

    @made.get("/test/wait")
    async def wait() -> Response:
        folder = Path(os.environ["FOLDER"])
        (folder / "waiting").touch()
        while not (folder / "go").exists():
            await asyncio.sleep(0.01)
        return Response("done")

    @made.post("/test/body")
    async def body(request: Request) -> Response:
        return Response(str(len(await request.body())))

    @made.get("/test/fail/{kind}")
    async def fail(kind: str, number: int = 0) -> Response:
        if kind in KINDS:
            raise KINDS[kind]
        return Response(str(number))

    @made.get("/test/half")
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
    "library": TooFewRecords("member scores: got 3, need at least 8", field="members"),
    "http-400": HTTPException(400, SECRET),
    "http-413": HTTPException(413, SECRET),
    "http-418": HTTPException(418, SECRET),
    "http-502": HTTPException(502, SECRET),
}

if __name__ == "__main__":
    sys.exit(listen(steered()))
