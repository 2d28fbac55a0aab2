"""Clients that mean harm, or are merely slow, over real sockets: nobody else waits for them."""

import json

import numpy as np
import pytest

from macekit.call import CSV, Call
from macekit.catalogue import quick
from tests.app.http.asked import as_json, begun, metric, post, slug, world
from tests.app.running import Running, until
from tests.cases import each_case

SLOW_LABEL = "x" * 9_000


@each_case(
    "question",
    {"members": list(range(1650)), "nonmembers": list(range(800, 2450)), "query": "discrete"},
    {"members": [1.0], "nonmembers": [2.0], "metric": "precision"},
    {"members": ["a", "b"], "nonmembers": ["a"]},
    {"members": [1.0], "nonmembers": [2.0], "groups": [SLOW_LABEL, "b"]},
    {"members": [1.0], "nonmembers": [2.0], "units": ["a", "b"]},
    {"members": [[1.0, 2.0]], "nonmembers": [[1.0, 2.0]]},
    {"counts": {"members": [1], "nonmembers": [10**12]}},
    {"members": [1.0], "nonmembers": [2.0], "estimator": {"kind": "learned"}},
)
@each_case("comma, colon", [(",", ":"), (" , ", " : ")])
def test_a_small_body_that_may_be_slow_goes_to_a_worker(question: dict[str, object], comma: str, colon: str) -> None:
    body = json.dumps(question, separators=(comma, colon)).encode()

    assert not quick(Call("advantage"), body)
    assert not quick(Call("individual-risk"), body)


def test_a_word_that_is_escaped_goes_to_a_worker_and_plain_scores_need_none() -> None:
    assert not quick(Call("advantage"), b'{"members": [1], "nonmembers": [2], "m\\u0065tric": "precision"}')
    assert quick(Call("advantage"), as_json(*world(200), max_advantage=0.1))


def test_a_trickled_count_does_not_hold_the_only_worker(narrow: Running) -> None:
    with begun(narrow, "/v1/counts", b"score,member\n" + b"1,1\n" * 30_000, declared=10**6, media_type=CSV):
        answer = post(narrow, "/v1/advantage", as_json(*world(2000)))

    assert answer.status == 200


def scores(number: int) -> bytes:
    """So many different scores, half of them of members."""
    every = np.linspace(0.0, 1.0, number).round(6)
    return as_json(every[::2], every[1::2])


@pytest.mark.slow
def test_an_answer_nobody_reads_is_dropped(narrow: Running) -> None:
    body, before = scores(60_000), metric(narrow, "mace_answers_dropped_total")
    with begun(narrow, "/v1/individual-risk", body, buffer=4096):
        until(lambda: metric(narrow, "mace_spooled_bytes") > 10**6)
        until(lambda: metric(narrow, "mace_spooled_bytes") == 0)

    assert metric(narrow, "mace_answers_dropped_total") == before + 1.0
    until(lambda: "answer dropped" in narrow.logged())


@pytest.mark.slow
def test_memory_that_ends_while_an_answer_is_written_is_a_limit_not_a_crash(narrow: Running) -> None:
    answer = post(narrow, "/v1/individual-risk", scores(240_000))

    assert (answer.status, slug(answer)) == (413, "memory-limit")


def test_a_long_label_is_refused_before_it_takes_its_length_for_every_record(service: Running) -> None:
    question = {"members": [0.1] * 10, "nonmembers": [0.2] * 10, "groups": [SLOW_LABEL, *["b"] * 19]}

    answer = post(service, "/v1/individual-risk", question)

    assert (answer.status, slug(answer)) == (422, "out-of-range")
    assert SLOW_LABEL[:50] not in answer.body.decode()
