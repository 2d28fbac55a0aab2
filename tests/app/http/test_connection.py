"""What arrives that is not HTTP, on real sockets: the answer is a problem, and nothing behind it is obeyed."""

import json
import socket

import pytest

from tests.app.running import PATIENCE, Running, until
from tests.cases import each_case

HOST = b"Host: x\r\n"
LAST = HOST + b"Connection: close\r\n"
POST = b"POST /test/body HTTP/1.1\r\n" + HOST
MARK = b"SUBMITTED"


def only_answer(received: bytes) -> tuple[int, dict[bytes, bytes], bytes]:
    """Status, headers and body, if what came back is one answer and no more."""
    head, _, body = received.partition(b"\r\n\r\n")
    status, *lines = head.split(b"\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(b": ") for line in lines)}
    assert len(body) == int(headers[b"content-length"]), received
    return int(status.split()[1]), headers, body


def problem(received: bytes) -> tuple[int, str]:
    """Status and kind of the problem that came back, if it is as every problem should be."""
    status, headers, body = only_answer(received)
    assert (headers[b"content-type"], headers[b"connection"]) == (b"application/problem+json", b"close")
    assert headers[b"x-content-type-options"] == b"nosniff"
    assert b"date" in headers
    assert len(body) <= 4096
    assert MARK not in received
    found = json.loads(body)
    assert found["status"] == status
    assert found["instance"] == "urn:mace:request:" + headers[b"x-request-id"].decode()
    return status, found["type"].removeprefix("urn:mace:problem:")


GET = b"GET /healthz HTTP/1.1\r\n" + HOST
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
NOT_HTTP: dict[str, bytes] = {
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "no request line": b"SUBMITTED\r\n\r\n",
    "no version": b"GET /healthz\r\n\r\n",
    "lower-case method": b"get /healthz HTTP/1.1\r\n" + HOST + b"\r\n",
    "unknown method": b"SUBMITTED /healthz HTTP/1.1\r\n" + HOST + b"\r\n",
    "HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/2.0": b"GET /healthz HTTP/2.0\r\n" + HOST + b"\r\n",
    "HTTP/0.9": b"GET /healthz HTTP/0.9\r\n" + HOST + b"\r\n",
    "no host": b"GET /healthz HTTP/1.1\r\n\r\n",
    "two hosts": GET + HOST + b"\r\n",
    "CONNECT": b"CONNECT SUBMITTED:443 HTTP/1.1\r\n" + HOST + b"\r\n",
    "address not ASCII": "GET /é HTTP/1.1\r\n".encode() + HOST + b"\r\n",
    "NUL in a header": GET + b"X: SUB\x00MITTED\r\n\r\n",
    "space before the colon": GET + b"X : SUBMITTED\r\n\r\n",
    "folded header": GET + b"X: a\r\n SUBMITTED\r\n\r\n",
    "bare line feeds": b"GET /healthz HTTP/1.1\nHost: x\n\n",
    "length not a number": POST + b"Content-Length: SUBMITTED\r\n\r\n",
    "negative length": POST + b"Content-Length: -1\r\n\r\n",
    "length past 64 bits": POST + b"Content-Length: 99999999999999999999999\r\n\r\n",
    "two lengths": POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "two lengths in one": POST + b"Content-Length: 1, 2\r\n\r\nab",
    "unknown transfer encoding": POST + b"Transfer-Encoding: SUBMITTED\r\n\r\n0\r\n\r\n",
    "two types": POST + b"Content-Type: a/b\r\nContent-Type: SUBMITTED\r\nContent-Length: 0\r\n\r\n",
    "two encodings": POST + b"Content-Encoding: gzip\r\ncontent-encoding: zstd\r\nContent-Length: 0\r\n\r\n",
    "a coding before chunked": POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "chunked not last": POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "chunk size not a number": CHUNKED + b"SUBMITTED\r\n",
    "chunk longer than it says": CHUNKED + b"3\r\nSUBMITTED\r\n",
    "chunk past 64 bits": CHUNKED + b"fffffffffffffffff\r\n",
}


@each_case("case", NOT_HTTP)
def test_what_is_not_http_is_a_problem(service: Running, case: str) -> None:
    assert problem(service.send(NOT_HTTP[case])) == (400, "bad-request")


SMUGGLED = b"GET /version HTTP/1.1\r\n" + LAST + b"\r\n"


@each_case(
    "headers",
    b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
    b"Transfer-Encoding : chunked\r\n",
    b"Transfer-Encoding: xchunked\r\n",
    b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
)
def test_a_request_behind_one_of_doubtful_length_is_not_obeyed(service: Running, headers: bytes) -> None:
    assert problem(service.send(POST + headers + b"\r\n0\r\n\r\n" + SMUGGLED)) == (400, "bad-request")


END = b"\r\n\r\n"
LONG: dict[str, tuple[bytes, int, str]] = {
    "one long header": (GET + b"X: " + MARK * 8000 + END, 431, "too-large-head"),
    "many headers": (GET + b"X: a\r\n" * 20_000 + END, 431, "too-large-head"),
    "an endless header": (GET + b"X: " + b"a" * 2_000_000 + END, 431, "too-large-head"),
    "a long key": (GET + b"Authorization: Bearer " + b"k" * 70_000 + END, 431, "too-large-head"),
    "headers after the body": (CHUNKED + b"3\r\nabc\r\n0\r\n" + b"X: a\r\n" * 20_000 + b"\r\n", 431, "too-large-head"),
    "a long address": (b"GET /" + MARK * 2000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414, "too-long-address"),
}


@each_case("case", LONG)
def test_what_is_past_the_limit_is_a_problem(service: Running, case: str) -> None:
    sent, *expected = LONG[case]
    assert [*problem(service.send(sent))] == expected


FINE: dict[str, tuple[bytes, bytes]] = {
    "headers within the limit": (GET + b"Connection: close\r\nX: " + b"a" * 60_000 + END, b'{"status":"ok"}'),
    "HTTP/1.0": (b"GET /healthz HTTP/1.0" + END, b'{"status":"ok"}'),
    "an expectation that may be ignored": (
        POST + b"Connection: close\r\nExpect: SUBMITTED\r\nContent-Length: 2" + END + b"ab",
        b"2",
    ),
}


@each_case("case", FINE)
def test_what_is_unusual_and_as_it_may_be_is_answered(service: Running, case: str) -> None:
    sent, body = FINE[case]
    assert only_answer(service.send(sent))[::2] == (200, body)


@each_case("line", [b"GET //healthz", b"GET /docs/../healthz", b"OPTIONS *", b"GET /%zz%ff%00", b"GET /healthz/"])
def test_odd_addresses_lead_nowhere(service: Running, line: bytes) -> None:
    status, _, body = only_answer(service.send(line + b" HTTP/1.1\r\n" + LAST + b"\r\n"))

    assert status == 404
    assert json.loads(body)["type"] == "urn:mace:problem:not-found"


@each_case("method", [b"QUERY", b"PROPFIND", b"TRACE", b"M-SEARCH"])
def test_methods_of_other_trades_are_not_taken(service: Running, method: bytes) -> None:
    status, headers, _ = only_answer(service.send(method + b" /version HTTP/1.1\r\n" + LAST + b"\r\n"))

    assert status == 405
    assert headers[b"allow"] == b"GET, HEAD, OPTIONS"


@each_case("protocol", [b"websocket", b"h2c", MARK])
def test_an_upgrade_is_declined_and_the_request_answered(service: Running, protocol: bytes) -> None:
    upgrade = b"Connection: Upgrade\r\nUpgrade: " + protocol + b"\r\n"
    sent = (POST + upgrade + b"Content-Length: 10\r\n\r\n", b"01234", b"56789")

    status, headers, body = only_answer(service.send(*sent))
    assert (status, body) == (200, b"10")
    assert headers[b"connection"] == b"close"


def test_a_body_is_asked_for_when_it_is_wanted(service: Running) -> None:
    sent = b"POST /test/body HTTP/1.1\r\n" + LAST + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    with socket.create_connection(("127.0.0.1", service.port), PATIENCE) as connection:
        connection.sendall(sent)
        assert connection.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"ab")
        assert b"200 OK" in connection.recv(65536)


def test_a_request_is_answered_before_the_connection_is_closed_for_what_follows_it(service: Running) -> None:
    status, headers, body = only_answer(service.send(GET + b"\r\nSUBMITTED\r\n\r\n"))
    assert (status, body) == (200, b'{"status":"ok"}')
    assert headers[b"connection"] == b"close"


def test_requests_sent_at_once_are_answered_in_their_order(service: Running) -> None:
    received = service.send(GET + b"\r\n" + b"GET /nowhere HTTP/1.1\r\n" + LAST + b"\r\n")

    assert [part.split()[0] for part in received.split(b"HTTP/1.1 ")[1:]] == [b"200", b"404"]


def test_an_answer_that_fails_half_way_is_cut_off(service: Running) -> None:
    received = service.send(b"GET /test/half HTTP/1.1\r\n" + HOST + b"\r\n")

    assert b"half an answer" in received
    assert not received.endswith(b"0\r\n\r\n")


def test_what_was_refused_is_counted_and_logged_without_what_was_sent(service: Running) -> None:
    service.send(b"SUBMITTED\r\n\r\n")

    assert 'mace_problems_total{problem="bad-request"}' in service.ask("/metrics").body.decode()
    until(lambda: '"problem": "bad-request"' in service.logged())
    assert MARK.decode() not in service.logged()


@pytest.mark.slow
def test_a_head_that_stops_arriving_is_given_up(hasty: Running) -> None:
    assert problem(hasty.send(GET)) == (408, "request-stalled")
