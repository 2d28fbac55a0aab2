"""Clients that mean harm, or are merely slow, over real sockets: nobody else waits for them."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from macekit.call import JSON, Call
from macekit.catalogue import quick
from tests.app.http.asked import as_json, metric, post, world
from tests.app.running import Running, running, until

SLOW_LABEL = "x" * 9_000


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One worker and one place in the queue; a second to go on sending, or reading."""
    folder = tmp_path_factory.mktemp("service")
    with running(folder, workers="1", queue="1", stall_limit="1", memory_limit=str(64 * 2**20)) as found:
        yield found


def connected(service: Running) -> socket.socket:
    return socket.create_connection(("127.0.0.1", service.port), timeout=30)


def head(path: str, length: int) -> bytes:
    return (
        f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {JSON}\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


def held(service: Running) -> float:
    """Bytes of bodies and of answers that the service holds."""
    return metric(service, "mace_spooled_bytes")


@pytest.mark.parametrize(
    "question",
    [
        {"members": list(range(1650)), "nonmembers": list(range(800, 2450)), "query": "discrete"},
        {"members": [1.0], "nonmembers": [2.0], "metric": "precision"},
        {"members": ["a", "b"], "nonmembers": ["a"]},
        {"members": [1.0], "nonmembers": [2.0], "groups": [SLOW_LABEL, "b"]},
        {"members": [1.0], "nonmembers": [2.0], "units": ["a", "b"]},
        {"members": [[1.0, 2.0]], "nonmembers": [[1.0, 2.0]]},
        {"counts": {"members": [1], "nonmembers": [10**12]}},
        {"members": [1.0], "nonmembers": [2.0], "estimator": {"kind": "learned"}},
    ],
)
@pytest.mark.parametrize("spaces", [(",", ":"), (" , ", " : ")])
def test_a_small_body_that_may_be_slow_goes_to_a_worker(
    question: dict[str, object], spaces: tuple[str, str]
) -> None:
    body = json.dumps(question, separators=spaces).encode()

    assert not quick(Call("advantage"), body)
    assert not quick(Call("individual-risk"), body)


def test_a_word_that_is_escaped_goes_to_a_worker() -> None:
    assert not quick(Call("advantage"), b'{"members": [1], "nonmembers": [2], "m\\u0065tric": "precision"}')


def test_plain_scores_with_a_threshold_need_no_worker() -> None:
    assert quick(Call("advantage"), as_json(*world(200), max_advantage=0.1))


def test_silent_uploads_hold_no_place_in_the_queue(service: Running) -> None:
    silent = [connected(service) for _ in range(20)]
    for one in silent:
        one.sendall(head("/v1/advantage", 9_999))

    answer = post(service, "/v1/advantage", as_json(*world(2000)))

    for one in silent:
        one.close()
    assert answer.status == 200


def test_a_trickled_count_does_not_hold_the_only_worker(service: Running) -> None:
    trickle = connected(service)
    trickle.sendall(
        head("/v1/counts", 10**6).replace(JSON.encode(), b"text/csv") + b"score,member\n" + b"1,1\n" * 30_000
    )

    answer = post(service, "/v1/advantage", as_json(*world(2000)))

    trickle.close()
    assert answer.status == 200


def test_an_answer_nobody_reads_is_dropped(service: Running) -> None:
    scores = np.linspace(0.0, 1.0, 60_000).round(4)
    body = json.dumps({"members": scores[::2].tolist(), "nonmembers": scores[1::2].tolist()}).encode()
    deaf = socket.socket()
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.connect(("127.0.0.1", service.port))
    deaf.settimeout(30)
    deaf.sendall(head("/v1/individual-risk", len(body)) + body)
    until(lambda: held(service) > 10**6)

    until(lambda: held(service) == 0)

    deaf.close()
    assert metric(service, "mace_answers_dropped_total") == 1.0
    until(lambda: "answer dropped" in service.logged())


def test_memory_that_ends_while_an_answer_is_written_is_a_limit_not_a_crash(service: Running) -> None:
    scores = np.linspace(0.0, 1.0, 240_000).round(6)
    body = json.dumps({"members": scores[::2].tolist(), "nonmembers": scores[1::2].tolist()}).encode()

    answer = post(service, "/v1/individual-risk", body)

    assert (answer.status, answer.json()["type"]) == (413, "urn:mace:problem:memory-limit")


def test_what_is_sent_on_after_a_refusal_is_not_swallowed_for_ever(tmp_path: Path) -> None:
    with running(tmp_path, api_key="a-key-of-sixteen-letters") as locked, connected(locked) as sender:
        sender.sendall(head("/v1/advantage", 10**12))
        sent = swallowed(sender, 10**9)

    assert sent < 10**9


def swallowed(sender: socket.socket, most: int) -> int:
    """Bytes that are taken before the connection ends."""
    sent = 0
    try:
        while sent < most:
            sent += sender.send(b"0" * 2**20)
    except OSError:
        pass
    return sent


def test_a_long_label_is_refused_before_it_takes_its_length_for_every_record(service: Running) -> None:
    question = {"members": [0.1] * 10, "nonmembers": [0.2] * 10, "groups": [SLOW_LABEL, *["b"] * 19]}

    answer = post(service, "/v1/individual-risk", json.dumps(question).encode())

    assert (answer.status, answer.json()["type"]) == (422, "urn:mace:problem:out-of-range")
    assert SLOW_LABEL[:50] not in answer.body.decode()
