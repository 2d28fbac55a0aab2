"""What a named key opens, how much of it, and until when."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from app import keys
from app.http.access import Access, Pace
from app.keys import Key, KeyRing
from app.main import create_app
from app.settings import BadSettings, Settings, load
from macekit.problems import Problem
from tests.app.client import TestClient
from tests.cases import each_case

BODY = {"members": [1, 2, 3, 4, 5, 6, 7, 8], "nonmembers": [1, 2, 3, 4, 5, 6, 7, 9]}
PAST = datetime.now(UTC) - timedelta(days=1)
FILE: list[tuple[str, dict[str, Any]]] = [
    ("ask", {}), ("shards", {"scope": ("counts",)}), ("prometheus", {"scope": ("metrics",)}),
    ("former", {"expires": PAST}), ("slow", {"requests_per_minute": 2}), ("small", {"largest_body": 50}),
    ("one", {"at_once": 1}),
]  # fmt: skip


def key(name: str, **limits: Any) -> Key:
    return Key(name=name, sha256=keys.digest_of(name.encode()), **limits)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    path = tmp_path_factory.mktemp("keys") / "keys.toml"
    keys.write(path, [key(name, **limits) for name, limits in FILE])
    return TestClient(create_app(Settings(keys_file=path)))


def of(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {name}"}


STATUSES = {
    "ask": {"/v1/advantage": 200, "/v1/counts": 200, "/metrics": 403},
    "shards": {"/v1/counts": 200, "/v1/advantage": 403, "/metrics": 403},
    "prometheus": {"/metrics": 200, "/v1/counts": 403, "/v1/methods": 200},
    "former": {"/v1/advantage": 401},
    "nobody": {"/v1/advantage": 401, "/v1/methods": 401, "/healthz": 200},
}


@each_case("name, path, status", [(name, *each) for name in STATUSES for each in STATUSES[name].items()])
def test_a_key_opens_what_its_scope_names(client: TestClient, name: str, path: str, status: int) -> None:
    post = path in {"/v1/advantage", "/v1/counts"}
    answer = client.post(path, json=BODY, headers=of(name)) if post else client.get(path, headers=of(name))

    assert answer.status_code == status, answer.text
    if status == 403:
        assert answer.json()["type"] == "urn:mace:problem:forbidden"
    if name == "former":
        assert f"this key ended on {PAST:%Y-%m-%d}" in answer.json()["detail"]


def test_a_key_asks_so_many_times_a_minute(client: TestClient) -> None:
    statuses = [client.post("/v1/advantage", json=BODY, headers=of("slow")).status_code for _ in range(3)]
    refused = client.post("/v1/advantage", json=BODY, headers=of("slow"))

    assert statuses == [200, 200, 429]
    assert refused.json()["type"] == "urn:mace:problem:rate-limit"
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert client.post("/v1/advantage", json=BODY, headers=of("ask")).status_code == 200


@pytest.mark.parametrize("declared", [True, False])
def test_a_key_sends_bodies_of_so_many_bytes(client: TestClient, declared: bool) -> None:
    content = b'{"members":[1,2,3,4,5,6,7,8],"nonmembers":[1,2,3,4,5,6,7,9]}'
    headers = of("small") | {"Content-Type": "application/json"}

    answer = client.post(
        "/v1/advantage", content=content if declared else iter([content[:40], content[40:]]), headers=headers
    )

    assert (answer.status_code, answer.json()["type"]) == (413, "urn:mace:problem:too-large")
    assert "50 bytes that this key may send" in answer.json()["detail"]


def test_a_key_has_so_many_requests_under_way() -> None:
    async def run() -> list[int]:
        go, statuses = asyncio.Event(), []

        async def slow(scope: Scope, receive: Receive, send: Send) -> None:
            await go.wait()
            await Response(status_code=200)(scope, receive, send)

        async def ask(secret: bytes) -> None:
            async def note(message: Message) -> None:
                if message["type"] == "http.response.start":
                    statuses.append(message["status"])

            headers = [(b"authorization", b"Bearer " + secret)]
            scope = {"type": "http", "method": "POST", "path": "/v1/advantage", "headers": headers}
            await access(scope, receive_nothing, note)

        ring = KeyRing.of_one(b"one")
        ring.keys = {each.sha256: each for each in (key("one", at_once=1), key("two", at_once=1))}
        access = Access(slow, ring, ())
        first = asyncio.create_task(ask(b"one"))
        await asyncio.sleep(0)
        await ask(b"one")
        other = asyncio.create_task(ask(b"two"))
        go.set()
        await asyncio.gather(first, other)
        await ask(b"one")
        assert not access.under_way
        return statuses

    assert asyncio.run(run()) == [429, 200, 200, 200]


def test_a_clock_that_is_set_back_locks_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    pace = Pace()
    for _ in range(5):
        pace.keep("one", 5, "so often")
    monkeypatch.setattr(time, "time", lambda: 0.0)
    with pytest.raises(Problem) as refused:
        pace.keep("one", 5, "so often")
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 61)

    pace.keep("one", 5, "so often")

    assert refused.value.kind.slug == "rate-limit"
    assert 55 < (refused.value.retry_after or 0) <= 60
    assert list(pace._times) == ["one"]


def test_a_key_that_rests_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    pace, now = Pace(), time.monotonic()
    for number in range(100):
        pace.keep(str(number), 1, "so often")
    monkeypatch.setattr(time, "monotonic", lambda: now + 200)
    pace.keep("another", 1, "so often")

    assert list(pace._times) == ["another"]


async def receive_nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


def test_the_log_says_whose_key_it_was(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="app.access"):
        answer = client.post("/v1/advantage", json=BODY, headers=of("ask"))

    fields = caplog.records[-1].fields  # type: ignore[attr-defined]
    assert (fields["key"], fields["client"]) == ("ask", "testclient")
    assert fields["input_sha256"] == answer.json()["provenance"]["input_sha256"]
    assert len(fields["answer_sha256"]) == 64


def test_a_service_does_not_start_with_a_file_that_is_not_sound(tmp_path: Path) -> None:
    path = tmp_path / "keys.toml"
    path.write_text("[[key]]\n")

    with pytest.raises(BadSettings, match="MACE_KEYS_FILE"):
        load(keys_file=path)
    with pytest.raises(BadSettings, match="give one of MACE_API_KEY"):
        load(keys_file=path, api_key="correct-horse-battery-staple")
