"""Questions answered by a server: records as JSON, files as they lie."""

from __future__ import annotations

import http.client
import os
import re
import ssl
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from time import sleep
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.error import URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPErrorProcessor, HTTPHandler, HTTPSHandler, OpenerDirector, Request, build_opener

import numpy as np
from numpy.typing import NDArray

from macekit.call import ARROW_FILE, JSON, Reply, __version__
from macekit.client.client import Client
from macekit.client.problems import MaceUnreachable, answer_of
from macekit.client.question import Dataset, Question
from macekit.client.tables import File, pack
from macekit.text import names_the_nearest

if TYPE_CHECKING:
    from macekit.decoding.body import DecodedBody, Sample

# HTTP as the standard library has it: proxies of the environment, certificates of the system or of a file.

AGAIN = frozenset({429, 503})
LONGEST_WAIT = 60  # seconds; a server that asks for more is not waited for


LATER, UNKNOWN = 202, 404
LOOKS = 5  # how often it is looked again after a job, a second after the connection broke
JOB = re.compile(rb'"id":\s*"([A-Za-z0-9_-]+)"')
PREFERENCE = {"Prefer": "respond-async, wait=20"}
"""Connections are not left silent for longer: proxies cut them, many after 30 seconds."""


@dataclass(frozen=True, slots=True)
class Post:
    """One request; the body is here, or in the file that ``path`` names."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    data: bytes = field(default=b"", repr=False)
    path: str | None = None
    method: str = "POST"


def opener(ca: str | None) -> OpenerDirector:
    """What opens connections; ``ca`` is a file of certificates to trust instead of the system's."""
    return build_opener(_Plain, _Secure(context=ssl.create_default_context(cafile=ca)), _AnyStatus)


def send(through: OpenerDirector, post: Post, timeout: float, retries: int) -> Reply:
    """What the server says; asked again while it is busy and says when to come back."""
    for left in range(retries, -1, -1):
        reply = _fetched(through, post, _once(through, post, timeout), timeout)
        wait = reply.retry_after
        if reply.status not in AGAIN or wait is None or wait > LONGEST_WAIT or not left:
            return reply
        sleep(wait)
    raise AssertionError("the last attempt returns")


def _fetched(through: OpenerDirector, post: Post, reply: Reply, timeout: float) -> Reply:
    """The reply, or what comes of a question that the server goes on with; it is told if nobody waits any more.

    A job that is not known any more - another replica was asked, or the service began anew - is asked as one question.
    """
    name = JOB.search(bytes(reply.body)) if reply.status == LATER else None
    if name is None:
        return reply
    job = f"{post.url.partition('/v1/')[0]}/v1/jobs/{name[1].decode()}"
    try:
        while reply.status == LATER:
            sleep(reply.retry_after or 1)
            reply = _look_after(through, Post(f"{job}/result", post.headers, method="GET"), timeout)
        if reply.status == UNKNOWN:
            headers = {key: value for key, value in post.headers.items() if key not in PREFERENCE}
            reply = _once(through, replace(post, headers=headers), timeout)
    except KeyboardInterrupt:
        with suppress(MaceUnreachable):
            _once(through, Post(job, post.headers, method="DELETE"), timeout)
        raise
    return reply


def _look_after(through: OpenerDirector, look: Post, timeout: float) -> Reply:
    """One look after a job; where its connection breaks, as that of a replica that ends, another may be asked."""
    for left in range(LOOKS, -1, -1):
        try:
            return _once(through, look, timeout)
        except MaceUnreachable as error:
            if error.__cause__ is None or not left:  # it took too long, or is gone for good
                raise
        sleep(1)
    raise AssertionError("the last look returns")


def _once(through: OpenerDirector, post: Post, timeout: float) -> Reply:
    with ExitStack() as stack:
        data: bytes | BinaryIO | None = post.data if post.method == "POST" else None
        headers = dict(post.headers)
        if post.path is not None:
            data = stack.enter_context(open(post.path, "rb"))
            headers["Content-Length"] = str(data.seek(0, 2))
            data.seek(0)
        try:
            request = Request(post.url, data, headers, method=post.method)
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
    """A connection that reads the answer even if the server no longer reads the request."""

    def request(self, *arguments: Any, **options: Any) -> None:
        """Send a request as far as the server takes it."""
        with suppress(BrokenPipeError, ConnectionResetError):
            super().request(*arguments, **options)  # type: ignore[misc]


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


Pairs = tuple[tuple[str, str], ...]

TIMEOUT = 300.0
RETRIES = 3

KEY = re.compile(r"[A-Za-z0-9._~+/-]{16,}=*")
"""What the service takes for a key (``app.settings.KEY``, to which a test holds it)."""


@names_the_nearest
class Mace(Client):
    """A server of mace, with the functions of ``macekit`` as methods.

    The answers are the same as in this process, to the last digit. Proxies are those of the environment.

    Args:
        url: Address of the server: ``http://`` or ``https://``, a host, and a path at most.
        key: The server's bearer key, if it asks for one.
        timeout: Seconds without a sign of life after which the server is given up.
        ca: A file of certificates to trust in place of the system's.
        retries: How often a busy server is asked again at most, at least 0.

    Raises:
        ValueError: an address, a key or a number of retries that cannot be one.

    Example:
        >>> import macekit
        >>> mace = macekit.Mace("http://127.0.0.1:8000", timeout=60)  # where `mace serve` listens
        >>> counts = {"members": [20, 30, 50], "nonmembers": [50, 40, 10], "edges": [0.2, 0.7]}
        >>> mace.estimate(counts=counts, max_advantage=0.1).decision
        'fail'
        >>> mace.estimate(counts=counts).answer == macekit.estimate(counts=counts).answer
        True
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = TIMEOUT,
        ca: str | os.PathLike[str] | None = None,
        retries: int = RETRIES,
    ) -> None:
        if retries < 0:
            raise ValueError("retries: need 0 or more")
        self.url = _address(url)
        self._key = None if key is None else _bearer(key)
        self._timeout = timeout
        self._retries = retries
        self._through = opener(None if ca is None else os.fspath(ca))

    def __repr__(self) -> str:
        return f"macekit.Mace({self.url!r})"

    def _answer(self, question: Question) -> dict[str, Any]:
        from macekit.schemas.query_string import query_pairs

        records, options = question.records, dict(question.options)
        if isinstance(records, Dataset):
            return self._ask_about_dataset(question.operation, records, question.roles, query_pairs(options))
        if isinstance(records, File):
            pairs = query_pairs(options)
            if pairs is not None and records.media_type != ARROW_FILE:  # which is not for the wire
                about = {"Content-Type": records.media_type, "Content-Encoding": records.encoding}
                return self._ask(question.operation, question.roles + pairs, about, path=records.path)
            records = records.decode(question.operation, question.roles)
        if records.arrays and (pairs := query_pairs(options)) is not None:
            packed = pack(question.operation, records.arrays)
            if packed is not None:
                about = {"Content-Type": packed.media_type}
                return _as_here(self._ask(question.operation, pairs, about, data=packed.data), records)
        if records.tables:
            return self._ask_with_json(question.operation, options | _plain_tables(records.tables))
        tree = options | records.arrays | _columns(records)
        answer = self._ask_with_json(question.operation, tree)
        return _as_here(
            answer if records.rows is None or records.targets is not None else _by_row(answer, records.rows), records
        )

    def _ask_about_dataset(
        self, operation: str, dataset: Dataset, roles: Pairs, options: Pairs | None
    ) -> dict[str, Any]:
        """The answer about a dataset of the service, which a request without a body names."""
        from macekit.problems import Problem
        from macekit.schemas.query_string import DATA, JSON_ONLY

        if options is None:
            long = ", ".join(sorted(JSON_ONLY))
            detail = f"of a dataset nothing can be asked that takes a list of numbers ({long})"
            raise Problem("bad-option", detail)
        return self._ask(operation, ((DATA, dataset.name), *roles, *options), {})

    def _ask(self, operation: str, query: Pairs, about: dict[str, str], **body: Any) -> dict[str, Any]:
        """The answer to one request: options in the query string, ``about`` the body in headers."""
        url = f"{self.url}/v1/{operation}" + (f"?{urlencode(query)}" if query else "")
        post = Post(url, self._headers() | about, **body)
        return answer_of(operation, send(self._through, post, self._timeout, self._retries))

    def _ask_with_json(self, operation: str, tree: dict[str, object]) -> dict[str, Any]:
        """The answer to a question that is one JSON object."""
        from macekit.operations.encode import json_bytes

        return self._ask(operation, (), {"Content-Type": JSON}, data=json_bytes(tree))

    def _headers(self) -> dict[str, str]:
        own = {"Accept": JSON, "User-Agent": f"macekit/{__version__}", **PREFERENCE}
        return own if self._key is None else own | {"Authorization": f"Bearer {self._key}"}


def _address(url: str) -> str:
    """The address, if it is one and holds no secret that ``repr`` would show; never repeated if it is not."""
    try:
        parts = urlsplit(url)
        host, _ = (parts.hostname or "").encode("idna"), parts.port
    except ValueError:  # brackets that do not close, a label too long, a port that is no number
        raise ValueError("url: its host or its port cannot be read") from None
    if "@" in parts.netloc:
        raise ValueError("url: a name or a password does not belong there; give the bearer key as key=")
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise ValueError("url: need http:// or https://, a host, and a path at most")
    if not url.isascii() or not url.isprintable() or " " in url:
        raise ValueError("url: need ASCII without spaces; a host of other letters is spelled xn--…")
    return url.rstrip("/")


def _bearer(key: str) -> str:
    """The key without the line end of the file it may have come from; never repeated if it is none."""
    if not KEY.fullmatch(bare := key.strip()):
        raise ValueError("key: need 16 or more letters, digits or . _ ~ + / - without spaces")
    return bare


def _columns(records: DecodedBody) -> dict[str, object]:
    """What the question is asked of, as JSON names it, and what is odd about it that only its rows here show."""
    from macekit.operations.encode import warnings

    labels = {name: getattr(records, name) for name in ("targets", "groups", "units")}
    labels["model"] = records.models
    samples = {name: _sides(sample) for name, sample in records.samples.items()}
    sample = samples.pop("", {})
    odd = warnings(records.cautions) + sample.pop("warnings", [])
    return {
        **sample,
        **({"queries": samples} if samples else {}),
        **{name: value for name, value in labels.items() if value is not None},
        **({"cluster": dict(records.clusters)} if records.clusters else {}),
        **({"warnings": odd} if odd else {}),
    }


def _plain_tables(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, object]:
    """Whole tables as JSON has them: nothing for what is missing, dates as text."""
    return {
        name: {column: [_cell(value) for value in _list(values)] for column, values in columns.items()}
        for name, columns in tables.items()
    }


def _list(values: Any) -> list[Any]:
    if isinstance(values, list | tuple):
        return list(values)
    to_list = next(getattr(values, name) for name in ("to_pylist", "to_list", "tolist") if hasattr(values, name))
    listed: list[Any] = to_list()
    return listed


def _cell(value: Any) -> object:
    if value is None or value != value or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return value if isinstance(value, bool | int | float | str) else float(value)


def _sides(sample: Sample) -> dict[str, Any]:
    """One query as JSON names it, and what its scores showed where they were counted."""
    from macekit.operations.encode import warnings

    sides = {"members": sample.members, "nonmembers": sample.nonmembers, "counts": sample.counts}
    odd = {"warnings": warnings(sample.signs)} if sample.signs else {}
    return {name: value for name, value in sides.items() if value is not None} | odd


def _as_here(answer: dict[str, Any], records: DecodedBody) -> dict[str, Any]:
    """The answer with the columns as they lie here, however they were packed; one that is signed stays as it is."""
    from macekit.decoding.columns_read import columns_by_query
    from macekit.operations.encode import columns, columns_of

    if "signature" in answer or not (records.arrays or records.columns):
        return answer
    read, sources = columns_of(records), answer.get("provenance")
    if isinstance(sources, list):  # of queries
        for source, each in zip(sources, columns_by_query(records).values(), strict=True):
            source["columns"] = columns(each)
        return answer
    for part in (answer, answer.get("result", {})):
        if "provenance" in part:
            part["provenance"]["columns"] = read
    return {**answer, "columns": read} if "columns" in answer else answer


def _by_row(answer: dict[str, Any], rows: NDArray[np.int64]) -> dict[str, Any]:
    """The answer with each record where it stood in its table, and not among those that were sent."""
    if "index" not in answer.get("records", ()):
        return answer
    index = rows[np.asarray(answer["records"]["index"], np.int64)].tolist()
    changed = {**answer, "records": {**answer["records"], "index": index}}
    changed.pop("signature", None)  # which is that of other bytes
    return changed
