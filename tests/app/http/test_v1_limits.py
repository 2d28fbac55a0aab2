"""What is refused over a real socket, what is cut short, and that the service goes on as if nothing had been."""

from __future__ import annotations

import gzip
import http.client
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from macekit.call import ARROW, CSV, JSON, NDJSON, NPY, NPZ, PARQUET, PROBLEM
from tests.app.http.asked import (
    TABLES,
    answered,
    as_json,
    begun,
    metric,
    post,
    reached,
    slow,
    table,
    workers_of,
    world,
)
from tests.app.running import Answer, Running, running, until

BODY_LIMIT = 400_000
EXPANDED_LIMIT = 600_000


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One worker, one place in the queue, small bodies."""
    folder = tmp_path_factory.mktemp("service")
    limits = {"body_limit": str(BODY_LIMIT), "expanded_limit": str(EXPANDED_LIMIT), "queue": "1"}
    with running(folder, **limits) as found:
        yield found


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Half a second for a request, as much for a body to go on arriving, and one request a client."""
    folder = tmp_path_factory.mktemp("hasty")
    with running(folder, time_limit="0.5", stall_limit="0.5", per_client="1") as found:
        until(lambda: found.ask("/readyz").status == 200)
        yield found


def problem(answer: Answer) -> Any:
    assert answer.headers["content-type"] == PROBLEM, answer.body
    assert len(answer.body) < 4096
    found = answer.json()
    assert found["status"] == answer.status
    return found["type"].removeprefix("urn:mace:problem:")


def serves(service: Running) -> bool:
    """Whether a worker answers: this body is too large to be answered without one."""
    return post(service, "/v1/advantage", as_json(*world(2000))).status == 200


def test_an_unknown_option_of_the_query_string_is_answered_with_the_nearest(service: Running) -> None:
    body = TABLES[CSV](table(*world(20)))

    answer = post(service, "/v1/advantage?treshold=0.1", body, CSV)

    assert (answer.status, problem(answer)) == (422, "unknown-field")
    assert "did you mean 'max_advantage'?" in answer.json()["detail"]


def test_the_options_of_a_json_body_stand_in_the_body(service: Running) -> None:
    answer = post(service, "/v1/advantage?max_advantage=0.1", as_json(*world(20)))

    assert (answer.status, problem(answer)) == (422, "bad-option")


def test_a_body_over_the_limit_is_refused_by_its_length_before_any_of_it_is_sent(service: Running) -> None:
    with begun(service, "/v1/advantage", b"", declared=BODY_LIMIT + 1) as connection:
        answer = answered(connection)

    assert (answer.status, problem(answer)) == (413, "too-large")
    for way in ("mace counts", "macekit.counts", "POST /v1/counts", "compress", "fewer records"):
        assert way in answer.json()["detail"]


def test_a_body_over_the_limit_is_refused_though_it_did_not_say_its_length(service: Running) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    body = iter([b" " * 50_000] * (BODY_LIMIT // 50_000 + 1))
    headers = {"Content-Type": JSON, "Transfer-Encoding": "chunked"}

    connection.request("POST", "/v1/advantage", body, headers, encode_chunked=True)
    found = connection.getresponse()

    assert found.status == 413
    assert json.loads(found.read())["type"] == "urn:mace:problem:too-large"
    connection.close()


@pytest.mark.parametrize("media_type", [JSON, CSV, NDJSON, NPY, NPZ, ARROW, PARQUET])
@pytest.mark.parametrize("path", ["/v1/advantage", "/v1/counts"])
def test_a_body_that_expands_beyond_its_limit_is_refused(
    media_type: str, path: str, service: Running
) -> None:
    members, nonmembers = (np.tile(side, 500) for side in world(100))
    made = (
        as_json(members, nonmembers) if media_type == JSON else TABLES[media_type](table(members, nonmembers))
    )
    bomb = gzip.compress(made + b" " * 100_000_000)

    answer = post(service, path, bomb, media_type, {"Content-Encoding": "gzip"})

    assert len(bomb) < BODY_LIMIT < EXPANDED_LIMIT
    assert (answer.status, problem(answer)) == (413, "too-large")


@pytest.mark.parametrize(
    ("headers", "status", "slug"),
    [
        ({"Content-Type": "text/plain"}, 415, "unsupported-media-type"),
        ({"Content-Type": ""}, 415, "unsupported-media-type"),
        ({"Content-Type": JSON, "Content-Encoding": "br"}, 415, "unsupported-media-type"),
        ({"Content-Type": JSON, "Content-Encoding": "gzip, gzip"}, 415, "unsupported-media-type"),
        ({"Content-Type": JSON, "Accept": "image/gif"}, 406, "not-acceptable"),
        ({"Content-Type": JSON, "Accept": "application/json;q=0"}, 406, "not-acceptable"),
    ],
)
def test_formats_that_are_not_known_are_refused(
    headers: dict[str, str], status: int, slug: str, service: Running
) -> None:
    answer = service.ask("/v1/advantage", "POST", as_json(*world(20)), headers)

    assert (answer.status, problem(answer)) == (status, slug)


@pytest.mark.parametrize("media_type", [JSON, CSV, NDJSON, NPY, NPZ, ARROW, PARQUET])
@pytest.mark.parametrize("path", ["/v1/advantage", "/v1/counts"])
def test_an_empty_body_is_an_incomplete_one(media_type: str, path: str, service: Running) -> None:
    answer = post(service, path, b"", media_type)

    assert (answer.status, problem(answer)) == (400, "incomplete-body")


def test_a_client_that_leaves_early_ends_its_worker_and_the_next_is_answered(service: Running) -> None:
    cancelled = 'mace_worker_kills_total{reason="cancelled"}'
    before = metric(service, cancelled)
    with begun(service, "/v1/compare", slow()):
        reached(service, "mace_workers_busy", 1.0)

    reached(service, cancelled, before + 1.0)
    assert serves(service)


def test_when_every_place_is_taken_the_next_is_told_to_come_again(service: Running) -> None:
    whole = slow()
    with begun(service, "/v1/compare", whole), begun(service, "/v1/compare", whole):
        answer = until(
            lambda: (found := post(service, "/v1/advantage", as_json(*world(2000)))).status == 503 and found
        )
        assert post(service, "/v1/advantage", as_json(*world(20))).status == 200

    assert problem(answer) == "busy"
    assert int(answer.headers["retry-after"]) >= 1
    until(lambda: serves(service), service.process)


def test_a_request_that_loses_two_workers_fails_and_the_next_is_answered(service: Running) -> None:
    repeated = service.logged().count("request repeated")
    with begun(service, "/v1/compare", slow()) as connection:
        for _ in range(2):
            reached(service, "mace_workers_busy", 1.0)
            (worker,) = until(lambda: workers_of(service))
            os.kill(worker, signal.SIGKILL)
            until(lambda lost=worker: lost not in workers_of(service))

        answer = answered(connection)

    assert (answer.status, problem(answer)) == (500, "worker-lost")
    until(lambda: service.logged().count("request repeated") == repeated + 1)
    assert serves(service)


def test_a_request_that_takes_too_long_is_ended_and_the_next_is_answered(hasty: Running) -> None:
    answer = post(hasty, "/v1/compare", slow())

    assert (answer.status, problem(answer)) == (503, "time-limit")
    assert serves(hasty)


def test_a_body_that_stops_arriving_is_given_up(hasty: Running) -> None:
    with begun(hasty, "/v1/advantage", b'{"members": [', declared=5000) as connection:
        answer = answered(connection)

    assert (answer.status, problem(answer)) == (408, "upload-stalled")


def test_a_client_with_too_many_requests_under_way_is_told_so(
    tmp_path: Path,
) -> None:
    with running(tmp_path, per_client="1") as one_each, begun(one_each, "/v1/advantage", b"{", declared=5000):
        answer = until(
            lambda: (found := post(one_each, "/v1/advantage", as_json(*world(20)))).status == 429 and found
        )

    assert problem(answer) == "too-many-requests"
    assert int(answer.headers["retry-after"]) >= 1


MARK = "0.918273645"
SECRET = "Patient-Zero"
FILLED = f"[{MARK}, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]"

BETRAYALS: list[tuple[str, str, bytes]] = [
    ("/v1/advantage", JSON, f'{{"members": [{MARK}, "{SECRET}"], "nonmembers": {FILLED}}}'.encode()),
    ("/v1/advantage", JSON, f'{{"members": {FILLED}, "nonmembers": [1e999, {MARK}]}}'.encode()),
    ("/v1/advantage", JSON, f'{{"members": {FILLED}, "{SECRET}": {MARK}}}'.encode()),
    (
        "/v1/advantage",
        JSON,
        f'{{"members": {FILLED}, "nonmembers": {FILLED}, "metric": "{SECRET}"}}'.encode(),
    ),
    ("/v1/advantage", JSON, f'{{"members": {FILLED}, "nonmembers": {FILLED}, "query": "{SECRET}"}}'.encode()),
    ("/v1/advantage", JSON, f'{{"members": {FILLED}, "nonmembers": [{MARK}'.encode()),
    ("/v1/advantage", JSON, f'{{"members": {FILLED}, "members": "{SECRET}"}}'.encode()),
    ("/v1/advantage", JSON, f'{{"counts": {{"members": [1], "nonmembers": ["{SECRET}"]}}}}'.encode()),
    (
        "/v1/advantage",
        JSON,
        f'{{"counts": {{"members": [1], "nonmembers": [1], "cells": {{"kind": "{SECRET}"}}}}}}'.encode(),
    ),
    ("/v1/compare", JSON, f'{{"queries": {{"{SECRET}": {{"members": [{MARK}]}}}}}}'.encode()),
    (
        "/v1/compare",
        JSON,
        f'{{"queries": {{"{SECRET}": {{"members": {FILLED}, "nonmembers": [1]}}, "b": {{}}}}}}'.encode(),
    ),
    (
        "/v1/individual-risk",
        JSON,
        f'{{"members": {FILLED}, "nonmembers": {FILLED}, "groups": ["{SECRET}", 1]}}'.encode(),
    ),
    (
        "/v1/individual-risk",
        JSON,
        f'{{"members": {FILLED}, "nonmembers": {FILLED}, "units": ["{SECRET}"]}}'.encode(),
    ),
    ("/v1/advantage", CSV, f"{SECRET},member\n{MARK},1\n".encode()),
    ("/v1/advantage", CSV, f"score,member\n{MARK},{SECRET}\n".encode()),
    ("/v1/advantage", CSV, f"score,member\n{MARK}{SECRET},1\n".encode()),
    ("/v1/counts", CSV, f"score,member\n{MARK},1,{SECRET}\n".encode()),
    ("/v1/counts", CSV, f"score,member\n{MARK},1\n{SECRET},0\n".encode()),
    (f"/v1/advantage?score={SECRET}", CSV, f"score,member\n{MARK},1\n".encode()),
    (f"/v1/advantage?{SECRET}={MARK}", CSV, f"score,member\n{MARK},1\n".encode()),
    ("/v1/advantage", NDJSON, f'{{"score": {MARK}, "member": "{SECRET}"}}'.encode()),
    ("/v1/advantage", NDJSON, f'{{"{SECRET}": {MARK}, "{SECRET}": 1}}'.encode()),
    ("/v1/counts", NDJSON, f'{{"score": {MARK}, "member": {SECRET}}}'.encode()),
    ("/v1/advantage", NPY, f"{SECRET}{MARK}".encode()),
    ("/v1/advantage", NPZ, f"PK\x03\x04{SECRET}{MARK}".encode()),
    ("/v1/advantage", ARROW, f"{SECRET}{MARK}".encode()),
    ("/v1/advantage", PARQUET, f"PAR1{SECRET}{MARK}PAR1".encode()),
]


@pytest.mark.parametrize("betrayal", BETRAYALS, ids=range(len(BETRAYALS)))
def test_neither_a_problem_nor_the_log_repeats_what_was_submitted(
    betrayal: tuple[str, str, bytes], service: Running
) -> None:
    path, media_type, body = betrayal

    answer = post(service, path, body, media_type)

    assert 400 <= answer.status < 500
    problem(answer)
    until(lambda: answer.headers["x-request-id"] in service.logged(), service.process)
    told = answer.body.decode() + str(answer.headers) + service.logged() + service.said()
    assert SECRET not in told
    assert MARK not in told
    assert MARK[2:] not in told
