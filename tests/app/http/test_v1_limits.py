"""What is refused over a real socket, what is cut short, and that the service goes on as if nothing had been."""

import gzip
import http.client
import json
import os
import signal

import numpy as np
import pytest

from macekit.call import ARROW, CSV, JSON, NDJSON, NPY, NPZ, PARQUET
from tests.app.conftest import BODY_LIMIT, EXPANDED_LIMIT
from tests.app.http import asked
from tests.app.http.asked import answered, as_json, begun, post, slow, slug, world
from tests.app.running import Answer, Running, until
from tests.cases import each_case


def refusal(answer: Answer) -> tuple[int, str]:
    return answer.status, slug(answer)


def serves(service: Running) -> bool:
    """Whether a worker answers: this body is too large to be answered without one."""
    return post(service, "/v1/advantage", as_json(*world(2000))).status == 200


def test_an_unknown_option_of_the_query_string_is_answered_with_the_nearest(service: Running) -> None:
    answer = post(service, "/v1/advantage?treshold=0.1", asked.TABLES[CSV](asked.table(*world(20))), CSV)

    assert refusal(answer) == (422, "unknown-field")
    assert "did you mean 'max_advantage'?" in answer.json()["detail"]


def test_the_options_of_a_json_body_stand_in_the_body(service: Running) -> None:
    answer = post(service, "/v1/advantage?max_advantage=0.1", as_json(*world(20)))

    assert refusal(answer) == (422, "bad-option")


def test_a_body_over_the_limit_is_refused_by_its_length_before_any_of_it_is_sent(narrow: Running) -> None:
    with begun(narrow, "/v1/advantage", b"", declared=BODY_LIMIT + 1) as connection:
        answer = answered(connection)

    assert refusal(answer) == (413, "too-large")
    for way in ("mace counts", "macekit.counts", "POST /v1/counts", "compress", "fewer records"):
        assert way in answer.json()["detail"]


def test_a_body_over_the_limit_is_refused_though_it_did_not_say_its_length(narrow: Running) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", narrow.port, timeout=60)
    body = iter([b" " * 50_000] * (BODY_LIMIT // 50_000 + 1))
    headers = {"Content-Type": JSON, "Transfer-Encoding": "chunked"}

    connection.request("POST", "/v1/advantage", body, headers, encode_chunked=True)
    found = connection.getresponse()

    assert found.status == 413
    assert json.loads(found.read())["type"] == "urn:mace:problem:too-large"
    connection.close()


@pytest.mark.slow
@each_case("media_type", [JSON, *asked.TABLES])
@each_case("path", ["/v1/advantage", "/v1/counts"])
def test_a_body_that_expands_beyond_its_limit_is_refused(media_type: str, path: str, narrow: Running) -> None:
    sides = [np.tile(side, 400) for side in world(100)]
    made = as_json(*sides) if media_type == JSON else asked.TABLES[media_type](asked.table(*sides))
    bomb = gzip.compress(made + b" " * 10_000_000)

    answer = post(narrow, path, bomb, media_type, {"Content-Encoding": "gzip"})

    assert len(bomb) < EXPANDED_LIMIT
    assert refusal(answer) == (413, "too-large")


@each_case(
    "headers, status, slug",
    ({"Content-Type": "text/plain"}, 415, "unsupported-media-type"),
    ({"Content-Type": ""}, 415, "unsupported-media-type"),
    ({"Content-Type": JSON, "Content-Encoding": "br"}, 415, "unsupported-media-type"),
    ({"Content-Type": JSON, "Content-Encoding": "gzip, gzip"}, 415, "unsupported-media-type"),
    ({"Content-Type": JSON, "Accept": "image/gif"}, 406, "not-acceptable"),
    ({"Content-Type": JSON, "Accept": "application/json;q=0"}, 406, "not-acceptable"),
)
def test_formats_that_are_not_known_are_refused(
    headers: dict[str, str], status: int, slug: str, service: Running
) -> None:
    assert refusal(service.ask("/v1/advantage", "POST", as_json(*world(20)), headers)) == (status, slug)


@each_case("media_type", [JSON, *asked.TABLES])
@each_case("path", ["/v1/advantage", "/v1/counts"])
def test_an_empty_body_is_an_incomplete_one(media_type: str, path: str, service: Running) -> None:
    assert refusal(post(service, path, b"", media_type)) == (400, "incomplete-body")


def test_when_every_place_is_taken_the_next_is_told_to_come_again_unless_it_is_small(narrow: Running) -> None:
    whole = slow()
    with begun(narrow, "/v1/compare", whole), begun(narrow, "/v1/compare", whole):
        asked.reached(narrow, "mace_under_way", 2.0)
        asked.reached(narrow, "mace_workers_busy", 1.0)  # the test before may have ended the only one
        answer = post(narrow, "/v1/advantage", as_json(*world(2000)))
        assert post(narrow, "/v1/advantage", as_json(*world(20))).status == 200
        assert (narrow.ask("/readyz").status, asked.metric(narrow, "mace_ready")) == (200, 1.0)

    assert refusal(answer) == (503, "busy")
    assert int(answer.headers["retry-after"]) >= 1
    until(lambda: serves(narrow), narrow.process)


def test_a_request_that_loses_two_workers_fails_and_the_next_is_answered(narrow: Running) -> None:
    repeated = narrow.logged().count("request repeated")
    with begun(narrow, "/v1/compare", slow()) as connection:
        for _ in range(2):
            asked.reached(narrow, "mace_workers_busy", 1.0)
            (worker,) = until(lambda: len(found := asked.workers_of(narrow)) == 1 and found)
            os.kill(worker, signal.SIGKILL)
            until(lambda lost=worker: lost not in asked.workers_of(narrow))

        answer = answered(connection)

    assert refusal(answer) == (500, "worker-lost")
    until(lambda: narrow.logged().count("request repeated") == repeated + 1)
    assert serves(narrow)


@pytest.mark.slow
@pytest.mark.parametrize("closes", [False, True], ids=["a client that waits", "one that has closed its side"])
def test_a_request_that_takes_too_long_is_ended_and_the_next_is_answered(hasty: Running, closes: bool) -> None:
    with begun(hasty, "/v1/compare", slow()) as connection:
        if closes:
            connection.shutdown(1)
        answer = answered(connection)

    assert refusal(answer) == (503, "time-limit")
    until(lambda: serves(hasty), hasty.process)


def test_a_body_that_stops_arriving_is_given_up(hasty: Running) -> None:
    with begun(hasty, "/v1/advantage", b'{"members": [', declared=5000) as connection:
        answer = answered(connection)

    assert refusal(answer) == (408, "upload-stalled")


def test_a_client_with_too_many_requests_under_way_is_told_so(hasty: Running) -> None:
    def second() -> Answer | None:
        with begun(hasty, "/v1/advantage", b"{", declared=5000):
            found = post(hasty, "/v1/advantage", as_json(*world(20)))
        return found if found.status == 429 else None

    answer = until(second, hasty.process)

    assert slug(answer) == "too-many-requests"
    assert int(answer.headers["retry-after"]) >= 1


MARK, SECRET = "0.918273645", "Patient-Zero"
FILLED = f"[{MARK}, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]"
SIDES = f'"members": {FILLED}, "nonmembers": {FILLED}'
CELLS = '{"counts": {"members": [1], "nonmembers": [1], "cells": {"kind": "%s"}}}'

BETRAYALS: dict[str, list[tuple[str, str]]] = {
    JSON: [
        ("advantage", f'{{"members": [{MARK}, "{SECRET}"], "nonmembers": {FILLED}}}'),
        ("advantage", f'{{"members": {FILLED}, "nonmembers": [1e999, {MARK}]}}'),
        ("advantage", f'{{"members": {FILLED}, "{SECRET}": {MARK}}}'),
        ("advantage", f'{{{SIDES}, "metric": "{SECRET}"}}'),
        ("advantage", f'{{{SIDES}, "query": "{SECRET}"}}'),
        ("advantage", f'{{"members": {FILLED}, "nonmembers": [{MARK}'),
        ("advantage", f'{{"members": {FILLED}, "members": "{SECRET}"}}'),
        ("advantage", f'{{"counts": {{"members": [1], "nonmembers": ["{SECRET}"]}}}}'),
        ("advantage", CELLS % SECRET),
        ("compare", f'{{"queries": {{"{SECRET}": {{"members": [{MARK}]}}}}}}'),
        ("compare", f'{{"queries": {{"{SECRET}": {{"members": {FILLED}, "nonmembers": [1]}}, "b": {{}}}}}}'),
        ("individual-risk", f'{{{SIDES}, "groups": ["{SECRET}", 1]}}'),
        ("individual-risk", f'{{{SIDES}, "units": ["{SECRET}"]}}'),
    ],
    CSV: [
        ("advantage", f"{SECRET},member\n{MARK},1\n"),
        ("advantage", f"score,member\n{MARK},{SECRET}\n"),
        ("advantage", f"score,member\n{MARK}{SECRET},1\n"),
        ("counts", f"score,member\n{MARK},1,{SECRET}\n"),
        ("counts", f"score,member\n{MARK},1\n{SECRET},0\n"),
        (f"advantage?score={SECRET}", f"score,member\n{MARK},1\n"),
        (f"advantage?{SECRET}={MARK}", f"score,member\n{MARK},1\n"),
    ],
    NDJSON: [
        ("advantage", f'{{"score": {MARK}, "member": "{SECRET}"}}'),
        ("advantage", f'{{"{SECRET}": {MARK}, "{SECRET}": 1}}'),
        ("counts", f'{{"score": {MARK}, "member": {SECRET}}}'),
    ],
    NPY: [("advantage", f"{SECRET}{MARK}")],
    NPZ: [("advantage", f"PK\x03\x04{SECRET}{MARK}")],
    ARROW: [("advantage", f"{SECRET}{MARK}")],
    PARQUET: [("advantage", f"PAR1{SECRET}{MARK}PAR1")],
}


@each_case("media_type, path, body", [(kind, *each) for kind in BETRAYALS for each in BETRAYALS[kind]])
def test_neither_a_problem_nor_the_log_repeats_what_was_submitted(
    media_type: str, path: str, body: str, narrow: Running
) -> None:
    answer = post(narrow, f"/v1/{path}", body.encode(), media_type)

    assert 400 <= answer.status < 500
    assert slug(answer)
    until(lambda: answer.headers["x-request-id"] in narrow.logged(), narrow.process)
    told = answer.body.decode() + str(answer.headers) + narrow.logged() + narrow.said()
    assert not [secret for secret in (SECRET, MARK, MARK[2:]) if secret in told]
