"""The addresses of the pages, over the test client: what is sent, how it is kept, and what it allows."""

import re
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256

import httpx
import pytest
from starlette.applications import Starlette

from app.pages import pages
from app.pages.routes import load_assets
from estimators import PRESETS
from estimators.density.bandwidth import BANDWIDTHS
from macekit.call import __version__
from macekit.catalogue import OPERATIONS
from macekit.reports.html import STYLE_HASH
from macekit.schemas.questions import Estimator
from tests.app.client import TestClient
from tests.cases import each_case

PLAIN = {"Accept-Encoding": "identity"}
BUNDLE = f"/assets/{load_assets()['swagger-ui-bundle.js'].address}"
LINKS = {"openapi.json", "#form", "./", "docs", "docs/guide/", "healthz"}
PAGES = ["/", "/docs"]
ICON = f"/assets/{load_assets()['favicon-32x32.png'].address}"


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(Starlette(routes=pages("/openapi.json")), follow_redirects=False) as made:
        yield made


def directives(answer: httpx.Response) -> dict[str, str]:
    parts = (part.strip().partition(" ") for part in answer.headers["content-security-policy"].split(";"))
    return {name: value for name, _, value in parts}


@pytest.mark.parametrize("path", PAGES)
def test_a_page_has_no_script_or_style_in_it_and_states_the_hash_of_each_file_it_loads(
    client: TestClient, path: str
) -> None:
    text = client.get(path).text

    assert all(not inner.strip() for inner in re.findall(r"<script[^>]*>(.*?)</script>", text, re.DOTALL))
    assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", text)
    loaded = {address for address in re.findall(r'(?:src|href)="([^"]*)"', text) if address not in LINKS}
    assert len(loaded) >= 4
    assert all(re.fullmatch(r"assets/[\w.-]+", address) for address in loaded)
    files = {address: client.get(f"/{address}") for address in loaded}
    assert {answer.status_code for answer in files.values()} == {200}
    stated = re.findall(r'(?:src|href)="([^"]*)" integrity="([^"]*)"', text)
    assert len(stated) >= 3
    for address, integrity in stated:
        assert integrity == f"sha256-{b64encode(sha256(files[address].content).digest()).decode()}"


@pytest.mark.parametrize("path", PAGES)
def test_a_policy_allows_no_inline_script_no_eval_and_no_other_origin(client: TestClient, path: str) -> None:
    answer = client.get(path)

    policy = directives(answer)
    assert (policy["default-src"], policy["script-src"]) == ("'none'", "'self'")
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert not re.search(r"unsafe|https?:|\*", answer.headers["content-security-policy"])
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-cache"


def test_only_the_page_with_a_report_may_frame_and_only_what_it_made_itself_and_none_starts_a_worker(
    client: TestClient,
) -> None:
    home, docs = (directives(client.get(path)) for path in PAGES)

    assert home["frame-src"] == "blob:"
    assert home["style-src"] == f"'self' '{STYLE_HASH}'"
    assert not {"frame-src", "worker-src"} & docs.keys()
    assert "worker-src" not in home


def test_the_former_reference_leads_to_where_the_api_is_shown(client: TestClient) -> None:
    answer = client.get("/redoc")

    assert (answer.status_code, answer.headers["location"]) == (308, "docs")


def test_the_page_says_its_version_and_offers_what_there_is(client: TestClient) -> None:
    """Every metric that needs no weights, every bandwidth, and no way in without its wing."""
    text = client.get("/").text
    metrics = re.findall(r'<option value="(\w+)" title="[^"<>]+">[A-Z][\w ]+</option>', text)
    estimators = [Estimator.model_validate_json(each) for each in re.findall(r"<option value='(.*?)'>", text)]

    assert metrics == [name for name, preset in PRESETS.items() if not preset.parameters]
    assert {"accuracy", "npv"} < set(metrics)
    assert not {"weighted_accuracy", "f_beta"} & set(metrics)
    assert {each.bandwidth for each in estimators} - {None} == set(BANDWIDTHS)
    assert re.findall(r'data-operations="([^"]*)"', text)[0].split() == [row.name for row in OPERATIONS]
    assert f"mace {__version__}" in text


def test_an_address_in_a_page_is_escaped() -> None:
    with TestClient(Starlette(routes=pages('/"><script>.json'))) as client:
        text = client.get("/docs").text

    assert "<script>.json" not in text
    assert "&quot;&gt;&lt;script&gt;.json" in text


def test_a_file_may_be_kept_for_ever(client: TestClient) -> None:
    answer = client.get(BUNDLE)

    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_file_comes_compressed_to_whoever_takes_it(client: TestClient) -> None:
    small = client.get(BUNDLE, headers={"Accept-Encoding": "br, gzip;q=0.5"})
    plain = client.get(BUNDLE, headers=PLAIN)

    assert small.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert small.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"
    assert small.headers["etag"] != plain.headers["etag"]
    assert small.content == plain.content == load_assets()["swagger-ui-bundle.js"].data
    assert int(small.headers["content-length"]) < len(plain.content) / 3


@each_case(
    "path, accept",
    *((BUNDLE, accept) for accept in ("identity", "br", "gzip;q=0", "gzip; q=0.000, br", "x-gzipped")),
    (ICON, "gzip"),
)
def test_a_file_comes_plain_to_whoever_takes_no_gzip_and_an_image_always(
    client: TestClient, path: str, accept: str
) -> None:
    answer = client.get(path, headers={"Accept-Encoding": accept})

    assert "content-encoding" not in answer.headers
    assert answer.headers["content-type"] == ("image/png" if path == ICON else "text/javascript; charset=utf-8")


@pytest.mark.parametrize("accept", ["gzip", "identity"])
def test_a_file_that_is_held_already_is_not_sent_again(client: TestClient, accept: str) -> None:
    tag = client.get(BUNDLE, headers={"Accept-Encoding": accept}).headers["etag"]

    answer = client.get(BUNDLE, headers={"Accept-Encoding": accept, "If-None-Match": f'"other", W/{tag}'})

    assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", tag)


@pytest.mark.parametrize("path", [*PAGES, BUNDLE, ICON])
def test_head_answers_like_get_without_a_body(client: TestClient, path: str) -> None:
    head, get = client.head(path), client.get(path)

    assert (head.status_code, head.content) == (200, b"")
    assert dict(head.headers) == dict(get.headers)


OTHERS = "swagger-ui-bundle.js", "swagger-ui-bundle.0000000000000000.js", "LICENSE", "manifest.json", ""


@pytest.mark.parametrize("name", [*OTHERS, "..%2f..%2fmain.py", "swagger-ui-dist/swagger-ui.css"])
def test_nothing_else_is_served(client: TestClient, name: str) -> None:
    assert client.get(f"/assets/{name}").status_code == 404


@pytest.mark.parametrize("path", [*PAGES, BUNDLE])
def test_a_page_takes_no_other_method(client: TestClient, path: str) -> None:
    answer = client.post(path)

    assert answer.status_code == 405
    assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD"}
