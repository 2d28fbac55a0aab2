"""The guide below /docs/guide: its files as they were built, its policy, and what is said where it was not built."""

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from app.main import create_app
from app.settings import Settings
from tests.app.client import TestClient
from tests.cases import each_case

SCRIPT, STYLE = "document.body.dataset.theme = 1;", "body { color: red }"
PAGE = f"<!doctype html><style>{STYLE}</style><script>{SCRIPT}</script><script src='_static/a.js'></script>"
KEY = "correct-horse-battery-staple"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A locked service whose guide has a page, a script and a file to take along; a file beside it is no part of it."""
    guide = tmp_path_factory.mktemp("site") / "guide"
    files = {"index.html": PAGE, "reference/a.html": "<p>a</p>", "_static/a.js": "1", "_downloads/b.py": "2"}
    for name, text in {**files, "../secret.html": "secret"}.items():
        (guide / name).parent.mkdir(parents=True, exist_ok=True)
        (guide / name).write_text(text)
    settings = Settings(guide=guide, api_key=KEY, root_path="/behind/a/proxy", workers=1)
    with TestClient(create_app(settings), follow_redirects=False) as made:
        yield made


def allowed(text: str) -> str:
    return f"'self' 'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def test_its_address_leads_to_its_first_page_also_behind_a_proxy_and_without_a_key(client: TestClient) -> None:
    answer = client.get("/docs/guide")

    assert (answer.status_code, answer.headers["location"]) == (307, "guide/")
    assert client.get("/docs/guide/").text == client.get("/docs/guide/index.html").text == PAGE
    assert '<a href="docs/guide/" >' in client.get("/").text


def test_a_page_may_run_what_stands_in_it_and_its_own_files_and_nothing_else(client: TestClient) -> None:
    headers = client.get("/docs/guide/").headers

    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert (policy["script-src"], policy["style-src"]) == (allowed(SCRIPT), allowed(STYLE))
    assert (policy["default-src"], policy["connect-src"], policy["form-action"]) == ("'none'", "'self'", "'self'")
    assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
    assert headers["content-type"] == "text/html; charset=utf-8"


@each_case(
    "place, media_type",
    ("", "text/html; charset=utf-8"),
    ("reference/a.html", "text/html; charset=utf-8"),
    ("_static/a.js", "text/javascript; charset=utf-8"),
    ("_downloads/b.py", "application/octet-stream"),
)
def test_what_has_not_changed_is_not_sent_again(client: TestClient, place: str, media_type: str) -> None:
    first = client.get(f"/docs/guide/{place}")
    again = client.get(f"/docs/guide/{place}", headers={"If-None-Match": first.headers["etag"]})

    assert (first.status_code, first.headers["content-type"]) == (200, media_type)
    assert first.headers["cache-control"] == "no-cache"
    assert (again.status_code, again.content) == (304, b"")


@each_case("place", ["missing.html", "../secret.html", "..%2fsecret.html", "reference", "%2e%2e/secret.html"])
def test_nothing_beside_it_is_served(client: TestClient, place: str) -> None:
    answer = client.get(f"/docs/guide/{place}")

    assert answer.status_code in (401, 404)  # a client may take dots out of an address before it sends it
    assert "secret" not in answer.text.replace("secret.html", "")


def test_where_it_was_not_built_it_is_said_how_to_build_it_and_no_page_offers_it(tmp_path: Path) -> None:
    with TestClient(create_app(Settings(guide=tmp_path / "none", workers=1))) as bare:
        answer, home = bare.get("/docs/guide/"), bare.get("/")

    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
    assert "scripts/docs builds it" in answer.json()["detail"]
    assert '<a href="docs/guide/" hidden>' in home.text
