"""What every request passes before its route."""

import logging
import re
from collections.abc import Callable
from typing import Any

import pytest
from starlette.responses import Response

from app.main import create_app
from app.settings import Settings
from tests.app.client import TestClient
from tests.app.waiting import steered
from tests.cases import each_case

KEY = "correct-horse-battery-staple"
WRONG = f"{KEY}x", KEY[:-1], "\xff"
OPEN = ("/healthz", "/readyz", "/openapi.json", "/docs", "/")


@pytest.fixture(scope="module")
def locked() -> TestClient:
    return TestClient(create_app(Settings(api_key=KEY)), follow_redirects=False)


@pytest.fixture(scope="module")
def below() -> TestClient:
    return TestClient(create_app(Settings(root_path="/p", api_key=KEY)))


@each_case("name", ["a", "A-1_b.c", "x" * 64])
def test_a_sane_request_id_is_kept(client: TestClient, name: str) -> None:
    assert client.get("/healthz", headers={"X-Request-ID": name}).headers["x-request-id"] == name


OTHERS = ("", "x" * 65, "a b", "a\tb", "a/b", "<script>", "é".encode(), "a,b")


@each_case("headers", *({"X-Request-ID": name} for name in OTHERS), [("X-Request-ID", "one"), ("X-Request-ID", "two")])
def test_any_other_is_replaced(client: TestClient, headers: Any) -> None:
    assert re.fullmatch("[0-9a-f]{32}", client.get("/healthz", headers=headers).headers["x-request-id"])


@each_case("path", ["/healthz", "/nowhere", "/openapi.json", "/metrics"])
def test_an_answer_has_the_headers_that_keep_a_browser_honest(client: TestClient, path: str) -> None:
    headers = client.get(path).headers

    assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
    assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert "server" not in headers


def test_a_page_keeps_the_policy_it_set_itself(client: TestClient) -> None:
    headers = client.get("/docs").headers

    assert "script-src 'self'" in headers["content-security-policy"]
    assert headers.get_list("cache-control") == ["no-cache"]


def test_head_is_get_without_its_body(client: TestClient) -> None:
    for path in ("/healthz", "/version", "/openapi.json", "/docs", "/v1/methods"):
        head, get = client.head(path), client.get(path)
        assert (head.status_code, head.content) == (get.status_code, b"")
        assert head.headers["content-length"] == str(len(get.content))


def test_every_route_answers_options_with_what_it_takes(client: TestClient) -> None:
    for path, item in client.get("/openapi.json").json()["paths"].items():
        answer = client.options(path.replace("{name}", "any"))
        assert answer.status_code == 204
        assert {method.upper() for method in item} < set(answer.headers["allow"].split(", "))


@pytest.fixture(scope="module")
def crossroads() -> TestClient:
    """A service with several routes at one address, and a route within the reach of another."""
    app = create_app(Settings())
    for path, method in (("/a", "GET"), ("/a", "POST"), ("/b/{name}", "GET"), ("/b/all", "POST")):
        app.add_api_route(path, _answer(f"{method} {path}"), methods=[method])
    return TestClient(app, follow_redirects=False)


def _answer(text: str) -> Callable[[], Response]:
    return lambda: Response(text)


@each_case("line", ["GET /a", "POST /a", "POST /b/all"])
def test_an_address_takes_the_methods_of_all_its_routes(crossroads: TestClient, line: str) -> None:
    assert crossroads.request(*line.split()).text == line


def test_what_an_address_takes_is_told_and_its_first_route_that_takes_a_method_answers(crossroads: TestClient) -> None:
    refused = crossroads.put("/a")

    assert crossroads.get("/b/all").text == "GET /b/{name}"
    assert crossroads.head("/a").status_code == 200
    assert crossroads.options("/a").headers["allow"] == "GET, HEAD, OPTIONS, POST"
    assert crossroads.post("/b/x").headers["allow"] == "GET, HEAD, OPTIONS"
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD, OPTIONS, POST")
    assert refused.json()["detail"] == "this address takes GET, HEAD, OPTIONS, POST"


@each_case("path", ["/a/", "/A", "/b/", "/b/x/y", "/nowhere"])
def test_what_no_route_fits_is_not_found(crossroads: TestClient, path: str) -> None:
    for method in ("GET", "HEAD", "POST", "OPTIONS", "BREW"):
        assert crossroads.request(method, path).status_code == 404


@each_case(
    "path, root, status",
    ("/healthz", "", 200),
    ("/p/healthz", "/p", 200),
    ("/healthz", "/p", 200),
    ("/p/version", "/p", 401),
    ("/phealthz", "/p", 401),
    ("/p", "/p", 401),
    ("/p/healthz", "", 404),
)
def test_the_path_below_the_proxys_is_what_counts(
    client: TestClient, below: TestClient, path: str, root: str, status: int
) -> None:
    assert (below if root else client).get(path).status_code == status


@pytest.mark.slow
def test_the_document_says_below_which_path_it_is(below: TestClient) -> None:
    assert below.get("/p/openapi.json").json()["servers"] == [{"url": "/p"}]


@pytest.mark.parametrize(
    ("method", "path", "route", "operation", "status"),
    [
        ("GET", "/version", "/version", "version", 401),
        ("PUT", "/v1/individual-risk", "/v1/individual-risk", "individual_risk", 401),
        ("GET", "/nowhere/0.123", None, "none", 401),
        ("POST", "/healthz", "/healthz", "healthz", 405),
        ("HEAD", "/examples/0.123", "/examples/{name}", "example", 404),
        ("OPTIONS", "/docs", "/docs", "docs", 204),
    ],
)
def test_the_log_and_the_metrics_know_the_route_of_refused_requests(
    locked: TestClient,
    caplog: pytest.LogCaptureFixture,
    method: str,
    path: str,
    route: str | None,
    operation: str,
    status: int,
) -> None:
    with caplog.at_level(logging.DEBUG, "app.access"):
        assert locked.request(method, path).status_code == status

    (line,) = (record.fields for record in caplog.records if record.name == "app.access")  # type: ignore[attr-defined]
    assert (line["method"], line["route"], line["status"]) == (method, route, status)
    metrics = locked.get("/metrics", headers={"Authorization": f"Bearer {KEY}"}).text
    assert f'mace_requests_total{{operation="{operation}",status="{status}"}}' in metrics


def test_with_the_key_everything_answers(locked: TestClient) -> None:
    for scheme in ("Bearer", "bearer", "BEARER"):
        assert locked.get("/version", headers={"Authorization": f"{scheme} {KEY}"}).status_code == 200


VALUES = ("", KEY, "Bearer", "Bearer ", *(f"Bearer {key}" for key in WRONG), f"Basic {KEY}")


@each_case(
    "headers",
    {},
    *({"Authorization": value.encode("latin-1")} for value in VALUES),
    [("Authorization", f"Bearer {KEY}"), ("Authorization", "Bearer other")],
)
def test_without_the_key_or_with_two_nothing_does(locked: TestClient, headers: Any) -> None:
    answer = locked.get("/version", headers=headers)

    assert (answer.status_code, answer.json()["type"]) == (401, "urn:mace:problem:unauthorized")
    assert answer.headers["www-authenticate"] == 'Bearer realm="mace"'
    assert KEY not in answer.text


@pytest.mark.slow
def test_probes_and_the_documentation_need_no_key(locked: TestClient) -> None:
    assert all(locked.get(path).status_code != 401 for path in OPEN)
    asset = re.search(r'src="(assets/[^"]+)"', locked.get("/docs").text)
    assert asset is not None
    assert locked.get(f"/{asset[1]}").status_code == 200


def test_whoever_has_no_key_does_not_learn_what_exists(locked: TestClient) -> None:
    paths = ["/metrics", "/version", "/nowhere", "/healthz/", "/healthz/../version", "/docs/x", "/HEALTHZ"]

    assert {locked.get(path).status_code for path in paths} == {401}
    assert {locked.request(method, "/v1/advantage").status_code for method in ("POST", "OPTIONS", "PUT")} == {401}


def test_other_origins_pages_get_nothing_unless_told_otherwise(client: TestClient) -> None:
    answer = client.get("/version", headers={"Origin": "https://a.example"})

    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_an_origin_named_in_the_settings_may_call_with_the_key() -> None:
    made = TestClient(steered(Settings(api_key=KEY, cors_origins="https://a.example")))
    asks = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}

    preflight = made.options("/v1/advantage", headers={"Origin": "https://a.example", **asks})
    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == "https://a.example"
    refused = made.get("/version", headers={"Origin": "https://a.example"})
    assert refused.status_code == 401
    assert refused.headers["access-control-allow-origin"] == "https://a.example"
    other = made.get("/version", headers={"Origin": "https://b.example", "Authorization": f"Bearer {KEY}"})
    assert "access-control-allow-origin" not in other.headers
