"""The file of named keys: what it may say, what is refused, and that a running service follows it."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app import keys
from app.keys import BadKeys, Key, KeyRing
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
    [
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
        (SOUND + SOUND.replace("0", "1"), "two keys have one name"),
        (SOUND + SOUND.replace("'a'", "'b'"), "two keys have one sha256"),
    ],
)
def test_a_file_that_is_not_sound_is_refused_without_repeating_it(
    tmp_path: Path, text: str, why: str
) -> None:
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


def test_a_key_opens_what_its_scope_names_and_who_asks_may_count() -> None:
    assert key().opens("ask")
    assert key().opens("counts")
    assert key().opens(None)
    assert not key().opens("metrics")
    assert not key(scope=("counts",)).opens("ask")
    assert not key(scope=("metrics",)).opens("counts")


def test_a_ring_follows_its_file_and_keeps_the_keys_of_one_that_went_bad(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys, "LOOK_AGAIN", 0.0)
    path = tmp_path / "keys.toml"
    keys.write(path, [key()])
    ring = KeyRing.of_file(path)
    assert ring.find(SECRET) is not None
    assert ring.find(b"another") is None

    keys.write(path, [key(), key("second", b"another")])
    assert ring.find(b"another").name == "second"  # type: ignore[union-attr]

    path.write_text("[[key]\n")
    assert ring.find(SECRET) is not None

    keys.write(path, [key("second", b"another")])
    assert ring.find(SECRET) is None

    os.unlink(path)
    assert ring.find(b"another") is not None


def test_a_key_ends() -> None:
    now = datetime.now(UTC)

    assert key(expires=now - timedelta(seconds=1)).has_expired()
    assert not key(expires=now + timedelta(minutes=1)).has_expired()
    assert not key().has_expired()
