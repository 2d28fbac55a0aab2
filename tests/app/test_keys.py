"""The file of named keys: what it may say, what is refused, and that a running service follows it."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app import keys
from app.keys import BadKeys, Key, KeyRing
from macekit.problems import Problem
from tests.cases import each_case

SECRET = b"a-secret-of-the-tests"


def key(name: str = "pipeline", secret: bytes = SECRET, **limits: object) -> Key:
    return Key(name=name, sha256=keys.digest_of(secret), **limits)  # type: ignore[arg-type]


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "keys.toml"
    end = datetime(2031, 5, 4, 3, 2, 1, tzinfo=UTC)
    whole = [
        key(scope=("ask", "metrics"), expires=end, requests_per_minute=60, at_once=4, largest_body=10**6),
        key("shards", b"another", scope=("counts",)),
    ]

    keys.write(path, whole)

    assert list(keys.read(path)) == whole
    assert SECRET.decode() not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in tmp_path.iterdir()] == ["keys.toml"]


NAMED, ZEROS = "[[key]]\nname = 'a'\n", "0" * 64
SOUND = f"{NAMED}sha256 = '{ZEROS}'\n"


@each_case(
    "text, why",
    ("[[key]\n", "not TOML (at line 1"),
    ("key = 1\n", "tables [[key]] and nothing else"),
    (f"{NAMED}[other]\n", "nothing else"),
    (f"{NAMED}sha256 = 'abc'\n", "key 1: sha256: a digest is 64 digits"),
    (SOUND.replace("'a'", "'a b'"), "key 1: name: a name is"),
    (SOUND.replace("name = 'a'\n", ""), "key 1: name"),
    (f"{SOUND}scope = ['all']\n", "scope is a list of ask, counts"),
    (f"{SOUND}scope = []\n", "scope is a list of ask, counts"),
    (f"{SOUND}expires = 2030-01-01\n", "expires"),
    (f"{SOUND}at_once = 0\n", "at_once"),
    (f"{SOUND}secret = 'x'\n", "secret"),
    (SOUND + SOUND.replace("0", "1") + SOUND.replace("0", "2"), "three keys have one name"),
    (SOUND + SOUND.replace("'a'", "'b'"), "two keys have one sha256"),
)
def test_a_file_that_is_not_sound_is_refused_without_repeating_it(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "keys.toml"
    path.write_text(text)

    with pytest.raises(BadKeys) as refused:
        keys.read(path)

    assert why in str(refused.value)
    assert ZEROS not in str(refused.value)


def test_a_file_that_others_may_write_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "keys.toml"
    keys.write(path, [key()])
    path.chmod(0o660)

    with pytest.raises(BadKeys, match="others may write"):
        keys.read(path)


@each_case(
    "scope, opened, closed",
    (("ask",), ["/v1/advantage", "/v1/counts", "/v1/metrics", None], ["/metrics"]),
    (("counts",), ["/v1/counts"], ["/v1/advantage"]),
    (("metrics",), ["/metrics"], ["/v1/metrics"]),
    (("/v1/gate", "/v1/theory/dp"), ["/v1/theory/dp"], ["/v1/report"]),
)
def test_a_key_opens_what_its_scope_names_and_who_asks_may_count(scope, opened, closed) -> None:
    assert all(key(scope=scope).opens(path) for path in opened)
    assert not any(key(scope=scope).opens(path) for path in closed)


def test_a_scope_names_addresses_that_there_are() -> None:
    assert key().scope == ("ask",)
    with pytest.raises(ValueError, match="addresses such as /v1/gate"):
        key(scope=("/v1/gates",))


def test_a_ring_follows_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "LOOK_AGAIN", 0.0)
    path = tmp_path / "keys.toml"
    keys.write(path, [key()])
    ring = KeyRing.of_file(path)
    assert ring.find(SECRET) is not None
    assert ring.find(b"another") is None

    keys.write(path, [key(), key("second", b"another")])
    assert ring.find(b"another").name == "second"  # type: ignore[union-attr]

    keys.write(path, [key("second", b"another")])
    assert ring.find(SECRET) is None


def unreadable(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.mkdir()


def mended(path: Path) -> None:
    if path.is_dir():
        path.rmdir()
    keys.write(path, [key()])


@pytest.mark.parametrize(
    "harm",
    [lambda path: path.chmod(0o660), lambda path: path.unlink(), lambda path: path.write_text("[[key]\n"), unreadable],
    ids=["too open", "gone", "unsound", "unreadable"],
)  # fmt: skip
def test_keys_whose_file_cannot_be_used_are_good_for_a_while_and_then_nobody_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: Callable[[Path], object]
) -> None:
    monkeypatch.setattr(keys, "LOOK_AGAIN", 0.0)
    path = tmp_path / "keys.toml"
    keys.write(path, [key(), key("second", b"another")])
    ring = KeyRing.of_file(path, grace=60.0)
    harm(path)

    assert ring.find(SECRET) is not None
    assert ring.fault
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 61)
    for secret in (SECRET, b"another", b"none"):
        with pytest.raises(Problem) as refused:
            ring.find(secret)
        assert refused.value.kind.slug == "not-ready"
    assert ring.age > 60
    mended(path)
    assert ring.find(SECRET) is not None
    assert ring.find(b"another") is None
    assert (ring.fault, ring.age) == (None, 0)


def test_a_key_ends() -> None:
    now = datetime.now(UTC)

    assert key(expires=now - timedelta(seconds=1)).has_expired()
    assert not key(expires=now + timedelta(minutes=1)).has_expired()
    assert not key().has_expired()
