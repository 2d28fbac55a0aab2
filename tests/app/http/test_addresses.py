"""An address is what it says, as a proxy in front reads it; and the service goes by its own names alone."""

from tests.app.running import Running
from tests.cases import each_case


def status(service: Running, line: str, host: str = "mace.example") -> int:
    lines = f"{line} HTTP/1.1", f"Host: {host}", "Connection: close", "Content-Length: 0", "", ""
    return int(service.send("\r\n".join(lines).encode()).split()[1])


@each_case(
    "path",
    [f"/{path}" for path in (
        "metrics%0A", "metrics%0a%0A", "healthz%0A", "%6detrics", "metrics%00", "metrics%2F", "version%20",
        "examples%2Fscores.csv", "v1%2Fmethods",
    )],
)  # fmt: skip
def test_an_address_with_an_escape_is_no_other_address(service: Running, path: str) -> None:
    assert status(service, f"GET {path}") == 404
    assert status(service, "POST /v1%2Fadvantage") == 404


@each_case("host", ["mace.example", "MACE.example:8000", "127.0.0.1:80", "[::1]:1", "[::1]"])
def test_a_host_that_is_listed_is_answered(service: Running, host: str) -> None:
    assert status(service, "GET /version", host) == 200


ENDINGS = ".evil", ":80:80", ":x"


@each_case("host", ["", "evil.example", "xmace.example", "[::2]", *(f"mace.example{end}" for end in ENDINGS)])
def test_any_other_host_is_refused_except_by_probes(service: Running, host: str) -> None:
    for line in ("GET /version", "POST /v1/advantage", "GET /"):
        assert status(service, line, host) == 400
    assert [status(service, f"GET {path}", host) for path in ("/healthz", "/metrics")] == [200, 200]


@each_case(
    "target, expected",
    ("http://mace.example", 200),
    ("HTTP://[::1]:80", 200),
    ("http://somebody@mace.example:80", 200),
    ("http://evil.example", 400),
    ("http://mace.example.evil.example", 400),
    ("http://mace.example@evil.example", 400),
)
def test_a_target_that_names_its_host_is_held_to_it_whatever_the_header_says(
    service: Running, target: str, expected: int
) -> None:
    assert status(service, f"GET {target}/version", "mace.example") == expected
    assert status(service, f"GET {target}/version", "evil.example") == expected
