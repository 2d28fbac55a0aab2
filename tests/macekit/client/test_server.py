"""What is between a client and its server: keys, certificates, a server that is busy, slow, gone, or not mace."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

import macekit
from app import settings
from macekit.client import server
from tests.app.running import running
from tests.cases import each_case
from tests.macekit.client.worlds import world

MEMBERS, NONMEMBERS = world()
KEY = "a-key-of-sixteen-letters"
PROBLEM = "application/problem+json"


@contextmanager
def scripted(*answers: tuple[int, dict[str, str], bytes], context: ssl.SSLContext | None = None) -> Iterator[Any]:
    """A server that gives these answers one after the other, the last one for ever; ``seen`` are its requests."""
    left = list(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            server.seen.append((self.path, dict(self.headers), body))  # type: ignore[attr-defined]
            status, headers, sent = left.pop(0) if len(left) > 1 else left[0]
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(sent))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.seen = []  # type: ignore[attr-defined]
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=[0.01])  # looks so often for its end
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def at(server: Any, scheme: str = "http") -> str:
    return f"{scheme}://127.0.0.1:{server.server_address[1]}"


def asked(server: Any, *key: str, **options: Any) -> macekit.Result:
    return macekit.Mace(at(server), *key, **options).plan(expected=0.1, max_advantage=0.2)


def refused(*answers: Any, **options: Any) -> tuple[macekit.MaceProblem, list[Any]]:
    """What is raised for these answers, and the requests that were sent."""
    with scripted(*answers) as server, pytest.raises(macekit.MaceProblem) as caught:
        asked(server, **options)
    return caught.value, server.seen


BUSY_BODY = b'{"type": "urn:mace:problem:busy", "detail": "busy"}'
BUSY = (503, {"Retry-After": "0", "Content-Type": PROBLEM}, BUSY_BODY)
ANSWER = b'{"sentence": "done", "records": 3, "members": 1, "nonmembers": 2, "models": null, "warnings": []}'
SENTENCE = (200, {"Content-Type": "application/json"}, ANSWER)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running(tmp_path_factory.mktemp("guarded"), api_key=KEY, body_limit="400000") as found:
        yield f"http://127.0.0.1:{found.port}"


@pytest.mark.slow
def test_the_key_opens_the_server_and_another_does_not(guarded: str) -> None:
    assert macekit.Mace(guarded, KEY).estimate(MEMBERS, NONMEMBERS).advantage.estimate > 0
    with pytest.raises(macekit.MaceProblem) as caught:
        macekit.Mace(guarded, "another-key-of-letters").estimate(MEMBERS, NONMEMBERS)

    assert (caught.value.kind, caught.value.status) == ("unauthorized", 401)


@each_case("key", [KEY, None])
def test_a_body_that_is_refused_while_it_is_sent_is_refused_by_name(guarded: str, key: str | None) -> None:
    with pytest.raises(macekit.MaceProblem) as caught:
        macekit.Mace(guarded, key).estimate(np.arange(400_000.0), NONMEMBERS)

    assert caught.value.kind == ("too-large" if key else "unauthorized")


def test_the_key_is_shown_nowhere() -> None:
    client = macekit.Mace("https://mace.example/service/", KEY)

    assert repr(client) == "macekit.Mace('https://mace.example/service')"
    assert client.url == "https://mace.example/service"


def test_a_busy_server_is_asked_again_as_soon_as_it_says() -> None:
    with scripted(BUSY, BUSY, SENTENCE) as server:
        assert asked(server).sentence == "done"

    assert len(server.seen) == 3


@each_case("retries", [0, 2])
def test_it_is_asked_again_so_many_times_and_no_more(retries: int) -> None:
    problem, seen = refused(BUSY, retries=retries)

    assert len(seen) == retries + 1
    assert (problem.kind, problem.status, problem.retry_after) == ("busy", 503, 0)


@each_case("wait", [{}, {"Retry-After": "86400"}, {"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"}])
def test_a_server_that_does_not_say_when_or_not_today_is_not_asked_again(wait: dict[str, str]) -> None:
    _, seen = refused((503, {"Content-Type": PROBLEM, **wait}, BUSY[2]))

    assert len(seen) == 1


@pytest.mark.slow
@each_case("kind", ["text/html", PROBLEM])
@each_case("body", [b"<html>Bad Gateway</html>", b"", b"\xff", b"[]", b"[" * 300_000, b'{"type": 1, "detail": {}}'])
def test_what_a_proxy_says_in_its_own_words_is_told_by_its_status(kind: str, body: bytes) -> None:
    problem, _ = refused((502, {"Content-Type": kind}, body))

    assert (problem.status, problem.type) == (502, "about:blank")
    assert "502" in str(problem)


@pytest.mark.slow
@each_case(
    "kind, body",
    *product(
        ["application/json"], [b"<html>Log in</html>", b"", b"[" * 300_000, b"\xff", b"[]", b"null", b"{}", ANSWER[:-1]]
    ),
    ("text/html", ANSWER),
)
def test_what_only_looks_like_an_answer_is_none(kind: str, body: bytes) -> None:
    problem, _ = refused((200, {"Content-Type": kind}, body))

    assert "status 200 and is none of mace's" in str(problem)


def test_an_answer_may_say_more_than_is_known_here() -> None:
    with scripted((*SENTENCE[:2], b'{"newer": 1, ' + ANSWER[1:])) as server:
        assert asked(server)["newer"] == 1


def test_nothing_is_sent_on_to_another_address() -> None:
    with scripted(SENTENCE) as other:
        problem, _ = refused((307, {"Location": f"{at(other)}/v1/plan"}, b""))

    assert problem.status == 307
    assert other.seen == []


def test_a_path_before_the_service_is_kept_and_the_request_says_who_asks() -> None:
    with scripted(SENTENCE) as server:
        macekit.Mace(f"{at(server)}/behind/", KEY).plan(expected=0.1, max_advantage=0.2)

    path, headers, body = server.seen[0]
    assert path == "/behind/v1/plan"
    assert headers["User-Agent"].startswith("macekit/")
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert headers["Accept"] == "application/json"
    assert body == b'{"expected":0.1,"max_advantage":0.2}'


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted(SENTENCE) as proxy:
        monkeypatch.setenv("http_proxy", at(proxy))
        monkeypatch.setenv("no_proxy", "")
        macekit.Mace("http://mace.example").plan(expected=0.1, max_advantage=0.2)

    assert proxy.seen[0][0] == "http://mace.example/v1/plan"


def test_a_server_that_is_not_there_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    with pytest.raises(macekit.MaceUnreachable, match="cannot be reached"):
        macekit.Mace(f"http://127.0.0.1:{port}").estimate(MEMBERS, NONMEMBERS)


def test_a_server_that_says_nothing_is_given_up() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(macekit.MaceUnreachable, match=r"no answer within 0\.1 seconds"),
    ):
        macekit.Mace(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.1).estimate(MEMBERS, NONMEMBERS)


def test_a_server_that_hangs_up_half_way_is_unreachable() -> None:
    def hang_up() -> None:
        connection, _ = listening.accept()
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=hang_up)
        thread.start()
        with pytest.raises(macekit.MaceUnreachable, match="broke"):
            macekit.Mace(f"http://127.0.0.1:{listening.getsockname()[1]}").plan(expected=0.1, max_advantage=0.2)
        thread.join()


def test_a_key_may_end_like_the_file_it_was_read_from() -> None:
    with scripted(SENTENCE) as server:
        asked(server, f"{KEY}\n")

    assert server.seen[0][1]["Authorization"] == f"Bearer {KEY}"


def test_a_key_is_what_the_service_takes_for_one() -> None:
    assert server.KEY == settings.KEY


HERE = "http://mace.example"
SECRET = "hunter2"
NO_ADDRESSES = {
    "url: need http": ["mace.example", "ftp://mace.example", "file:///etc/passwd", "http://", "http://a/?b"],
    "url: ": [f"http://user:{SECRET}@h", f"https://{SECRET}@h/path", f"http://user:{SECRET}@h:x"],
    "need ASCII without spaces": ["http://mäce.example", f"{HERE}/a b", f"{HERE}\n"],
    "cannot be read": [f"{HERE}:port", f"{HERE}:65536", "http://[::1", "http://a..b"],
}
"""By what is said of them."""


@each_case(
    "why, given",
    *((why, [url]) for why, every in NO_ADDRESSES.items() for url in every),
    *(
        ("key: need 16 or more", [HERE, key])
        for key in ("", SECRET, f"{SECRET}-of\nmany-lines", f"{SECRET}-é-of-letters")
    ),
)
def test_what_is_no_address_or_key_is_refused_at_once_and_not_repeated(why: str, given: list[str]) -> None:
    with pytest.raises(ValueError, match=why) as caught:
        macekit.Mace(*given)

    assert SECRET not in str(caught.value)
    assert why.startswith("key") <= (caught.value.__cause__ is None)


def test_fewer_attempts_than_one_are_refused() -> None:
    with pytest.raises(ValueError, match="retries: need 0 or more"):
        macekit.Mace(HERE, retries=-1)


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate of this machine, signed by nobody but itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "mace")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    (tmp_path / "ca.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (tmp_path / "key.pem").write_bytes(key.private_bytes(*form))
    return tmp_path / "ca.pem"


@pytest.mark.slow
def test_a_certificate_is_trusted_if_its_authority_is_named_and_not_otherwise(certificate: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))

    with scripted(SENTENCE, context=context) as server:
        found = macekit.Mace(at(server, "https"), ca=certificate).plan(expected=0.1, max_advantage=0.2)
        with pytest.raises(macekit.MaceUnreachable, match="certificate verify failed"):
            macekit.Mace(at(server, "https")).plan(expected=0.1, max_advantage=0.2)

    assert found.sentence == "done"
