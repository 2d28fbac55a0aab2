"""HTTP as the standard library has it: proxies of the environment, certificates of the system or of a file.

A server may refuse a body before all of it has come, and then stops reading; what it said is read all the same.
"""

from __future__ import annotations

import http.client
import ssl
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any, BinaryIO
from urllib.error import URLError
from urllib.request import (
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    Request,
    build_opener,
)

from app.call import Reply
from macekit.problems import MaceUnreachable

AGAIN = frozenset({429, 503})
LONGEST_WAIT = 60
"""Seconds; a server that asks for more is not waited for."""


@dataclass(frozen=True, slots=True)
class Post:
    """One request; the body is here, or in the file that ``path`` names."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    data: bytes = field(default=b"", repr=False)
    path: str | None = None


def opener(ca: str | None) -> OpenerDirector:
    """What opens connections; ``ca`` is a file of certificates to trust instead of the system's."""
    return build_opener(_Plain, _Secure(context=ssl.create_default_context(cafile=ca)), _AnyStatus)


def send(through: OpenerDirector, post: Post, timeout: float, retries: int) -> Reply:
    """What the server says; asked again while it is busy and says when to come back."""
    for left in range(retries, -1, -1):
        reply = _once(through, post, timeout)
        wait = reply.retry_after
        if reply.status not in AGAIN or wait is None or wait > LONGEST_WAIT or not left:
            return reply
        time.sleep(wait)
    raise AssertionError("the last attempt returns")


def _once(through: OpenerDirector, post: Post, timeout: float) -> Reply:
    with ExitStack() as opened:
        data: bytes | BinaryIO = post.data
        headers = dict(post.headers)
        if post.path is not None:
            data = opened.enter_context(open(post.path, "rb"))
            headers["Content-Length"] = str(data.seek(0, 2))
            data.seek(0)
        try:
            request = Request(post.url, data, headers, method="POST")
            with through.open(request, timeout=timeout) as response:
                return _reply(response)
        except TimeoutError:
            raise MaceUnreachable(f"no answer within {timeout:g} seconds") from None
        except URLError as error:
            raise MaceUnreachable(f"the server cannot be reached: {error.reason}") from error
        except (OSError, http.client.HTTPException) as error:
            raise MaceUnreachable(f"the connection broke before the answer was complete: {error}") from error


def _reply(response: Any) -> Reply:
    wait = response.headers.get("Retry-After", "").strip()
    return Reply(
        response.status,
        response.headers.get_content_type(),
        response.read(),
        retry_after=int(wait) if wait.isascii() and wait.isdigit() else None,
    )


class _Early:
    """A connection that listens although nobody listens to it any more."""

    def request(self, *given: Any, **named: Any) -> None:
        """Send a request as far as the server takes it."""
        with suppress(BrokenPipeError, ConnectionResetError):
            super().request(*given, **named)  # type: ignore[misc]


class _PlainConnection(_Early, http.client.HTTPConnection):
    pass


class _SecureConnection(_Early, http.client.HTTPSConnection):
    pass


class _Plain(HTTPHandler):
    def http_open(self, req: Request) -> http.client.HTTPResponse:
        return self.do_open(_PlainConnection, req)


class _Secure(HTTPSHandler):
    def https_open(self, req: Request) -> http.client.HTTPResponse:
        return self.do_open(_SecureConnection, req, context=self._context)  # type: ignore[attr-defined]


class _AnyStatus(HTTPErrorProcessor):
    """Every status is an answer; nothing is sent on to another address."""

    def http_response(self, request: Request, response: Any) -> Any:
        return response

    https_response = http_response
