"""Whatever goes wrong, the answer is a problem document, small, typed, and silent about what was submitted."""

import logging
from inspect import signature
from typing import Any

import pytest
from fastapi.routing import APIRoute
from starlette.types import Receive, Scope, Send

from app.main import create_app
from app.settings import Settings
from macekit.problems import KINDS, Problem
from tests.app.client import TestClient
from tests.app.waiting import SECRET, steered
from tests.cases import each_case

ID = "test-1.A_b"


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(steered(Settings()), raise_server_exceptions=False)


def checked(answer: Any, status: int, slug: str) -> dict[str, Any]:
    """The problem in an answer, if it is one as it should be."""
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert len(answer.content) <= 4096
    assert SECRET not in answer.text
    problem: dict[str, Any] = answer.json()
    assert problem["type"] == f"urn:mace:problem:{slug}"
    assert problem["status"] == status == KINDS[slug].status
    assert problem["title"] == KINDS[slug].title
    return problem


def test_a_problem_names_the_requests_id(client: TestClient) -> None:
    problem = checked(client.get("/nowhere", headers={"X-Request-ID": ID}), 404, "not-found")

    assert problem["instance"] == f"urn:mace:request:{ID}"


@each_case("path", "/nowhere", "/healthz/", f"/{SECRET}", "/%zz", "/%ff%fe", "/%00", "/docs/../../etc/passwd", "/v1/")
def test_an_unknown_address_is_a_problem_and_a_slash_too_many_leads_nowhere_else(client, path) -> None:
    checked(client.get(path, follow_redirects=False), 404, "not-found")


@each_case("method", "PUT", "DELETE", "PATCH", "POST", "TRACE", "get", "FROBNICATE")
def test_a_method_not_taken_is_a_problem_that_lists_those_taken(client: TestClient, method: str) -> None:
    # The test client writes methods in capitals; what arrives otherwise is in routes/test_connection.py.
    answer = client.request(method, "/version")
    if method == "get":
        assert answer.status_code == 200
    else:
        checked(answer, 405, "method-not-allowed")
        assert answer.headers["allow"] == "GET, HEAD, OPTIONS"


def test_an_address_that_takes_post_says_so(client: TestClient) -> None:
    for method in ("GET", "HEAD"):
        answer = client.request(method, "/v1/advantage")
        assert (answer.status_code, answer.headers["allow"]) == (405, "OPTIONS, POST")


@each_case("kind, status, slug", [
    ("value", 500, "internal"), ("memory", 500, "internal"), ("recursion", 500, "internal"),
    ("problem", 503, "busy"), ("http-404", 404, "not-found"), ("http-405", 405, "method-not-allowed"),
    ("http-418", 500, "internal"), ("http-502", 500, "internal"),  # nobody foresaw these
])  # fmt: skip
def test_what_a_route_raises_is_a_problem(client: TestClient, kind: str, status: int, slug: str) -> None:
    checked(client.get(f"/test/fail/{kind}"), status, slug)


def test_a_problem_keeps_its_words_and_its_field(client: TestClient) -> None:
    few = {"members": [0.1, 0.2, 0.3], "nonmembers": [0.1, 0.2, 0.3]}

    problem = checked(client.post("/v1/advantage", json=few), 422, "too-few-records")

    assert (problem["detail"], problem["field"]) == ("member scores: got 3, need at least 8", "members")


def test_a_full_queue_says_when_to_come_back(client: TestClient) -> None:
    assert client.get("/test/fail/problem").headers["retry-after"] == "7"


def test_no_route_leaves_a_parameter_to_the_framework() -> None:
    """So its own errors of validation, which repeat what was submitted, cannot be raised."""
    routes = [route for route in create_app(Settings()).routes if isinstance(route, APIRoute)]

    kinds = ("path", "query", "header", "cookie", "body")
    fields = (getattr(route.dependant, f"{kind}_params") for route in routes for kind in kinds)
    read = {(field.name, field.field_info.annotation) for of_kind in fields for field in of_kind}

    assert len(routes) > 20
    assert read == set()
    assert all(len(signature(route.endpoint).parameters) == 1 for route in routes)  # the request


def test_an_exception_in_a_layer_outside_all_others_is_a_problem_too() -> None:
    class Broken:
        def __init__(self, app: Any) -> None:
            self.app = app

        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            raise ValueError(SECRET)

    made = steered(Settings())
    made.add_middleware(Broken)

    checked(TestClient(made, raise_server_exceptions=False).get("/healthz"), 500, "internal")


def test_a_mistake_is_logged_with_its_place_and_the_requests_id(client, caplog) -> None:
    with caplog.at_level(logging.INFO):
        client.get("/test/fail/value", headers={"X-Request-ID": ID})

    failed, told = (record for record in caplog.records if record.name.startswith("app."))
    assert failed.exc_info is not None
    assert isinstance(failed.exc_info[1], ValueError)
    assert told.__dict__["fields"]["problem"] == "internal"
    assert told.__dict__["fields"]["request_id"] == ID


def test_an_answer_that_fails_half_way_is_not_taken_for_a_whole_one() -> None:
    with pytest.raises(ValueError, match=SECRET):
        TestClient(steered(Settings())).get("/test/half")


def test_every_kind_says_its_status_and_fits_into_four_kibibytes_whatever_its_detail() -> None:
    for slug, kind in KINDS.items():
        assert (400 <= kind.status < 600, kind.slug) == (True, slug)
        assert len(Problem(slug, "x" * 100_000, field="f" * 1000, index=2**62).body("i" * 64)) <= 4096
