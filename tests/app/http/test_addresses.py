"""An address is what it says, as a proxy in front reads it; and the service goes by its own names alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.app.running import Running, running

KEY = "a-key-of-sixteen-letters"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    hosts = "mace.example, 127.0.0.1, [::1]"
    with running(tmp_path_factory.mktemp("service"), allowed_hosts=hosts) as started:
        yield started


def status(service: Running, line: str, host: str = "mace.example") -> int:
    received = service.send(
        f"{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".encode()
    )
    return int(received.split()[1])


@pytest.mark.parametrize(
    "path",
    [
        "/metrics%0A",
        "/metrics%0a%0A",
        "/healthz%0A",
        "/%6detrics",
        "/metrics%00",
        "/metrics%2F",
        "/version%20",
        "/examples%2Fscores.csv",
        "/v1%2Fmethods",
    ],
)
def test_an_address_with_an_escape_is_no_other_address(service: Running, path: str) -> None:
    assert status(service, f"GET {path}") == 404
    assert status(service, "POST /v1%2Fadvantage") == 404


@pytest.mark.parametrize("host", ["mace.example", "MACE.example:8000", "127.0.0.1:80", "[::1]:1", "[::1]"])
def test_a_host_that_is_listed_is_answered(service: Running, host: str) -> None:
    assert status(service, "GET /version", host) == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "mace.example.evil",
        "xmace.example",
        "mace.example:80:80",
        "mace.example:x",
        "",
        "[::2]",
    ],
)
def test_any_other_host_is_refused_except_by_probes(service: Running, host: str) -> None:
    assert status(service, "GET /version", host) == 400
    assert status(service, "POST /v1/advantage", host) == 400
    assert status(service, "GET /", host) == 400
    assert [status(service, f"GET {path}", host) for path in ("/healthz", "/metrics")] == [200, 200]
