"""Named bearer keys: what each may ask for, how much of it, and until when. A file holds their digests, never a key.

The file is TOML, a table ``[[key]]`` for each; `mace keys` writes it, and a running service reads it again when it has
changed. A key is 32 random bytes, so one round of SHA-256 is all the hashing it needs.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import stat
import time
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, field_validator

from app.refusals import not_ready
from estimators.python.dataclass import dataclass, field
from macekit.catalogue import OPERATIONS

METRICS = "/metrics"
SCOPES: Mapping[str, str] = {"ask": "every question under /v1", "counts": "/v1/counts", "metrics": METRICS}
"""What a key may open, by a word; a question alone goes by its address."""
QUESTIONS = frozenset(f"/v1/{each.name}" for each in OPERATIONS)
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
DIGEST = re.compile(r"[0-9a-f]{64}")
LOOK_AGAIN = 1.0  # seconds after which the file is looked at again

log = logging.getLogger(__name__)


class BadKeys(ValueError):
    """The file of keys cannot be used; the text says why and repeats nothing of a key."""


class Key(BaseModel):
    """One key: who holds it, and what it opens."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    name: str
    sha256: str
    scope: tuple[str, ...] = ("ask",)
    expires: AwareDatetime | None = None
    requests_per_minute: int | None = Field(None, ge=1)
    at_once: int | None = Field(None, ge=1)
    largest_body: int | None = Field(None, ge=1)

    @field_validator("name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        if not NAME.fullmatch(name):
            raise ValueError("a name is up to 64 letters, digits or . _ - and begins with a letter or digit")
        return name

    @field_validator("sha256")
    @classmethod
    def _digest(cls, digest: str) -> str:
        if not DIGEST.fullmatch(digest):
            raise ValueError("a digest is 64 digits from 0 to f; `mace keys add` writes it")
        return digest

    @field_validator("scope", mode="before")
    @classmethod
    def _scope(cls, scope: Any) -> Any:
        parts = [scope] if isinstance(scope, str) else scope
        if not parts or not isinstance(parts, Sequence) or not {*parts} - {*SCOPES} <= QUESTIONS:
            raise ValueError(f"a scope is a list of {', '.join(SCOPES)}, or of addresses such as /v1/gate")
        return tuple(parts)

    def opens(self, address: str | None) -> bool:
        """Whether the key is good for the address of a question or of the metrics; None: for whatever any key opens."""
        if address is None or address in self.scope or ("ask" in self.scope and address != METRICS):
            return True
        return any(address == SCOPES[each] for each in self.scope if each in SCOPES)

    def has_expired(self) -> bool:
        """Whether its time is over."""
        return self.expires is not None and self.expires <= datetime.now(UTC)

    def as_toml(self) -> str:
        """Its table in the file."""
        lines = ["[[key]]", f'name = "{self.name}"', f'sha256 = "{self.sha256}"']
        lines.append(f"scope = [{', '.join(repr(each).replace(chr(39), chr(34)) for each in self.scope)}]")
        if self.expires is not None:
            lines.append(f"expires = {self.expires.astimezone(UTC).isoformat(timespec='seconds')}")
        limits = {limit: getattr(self, limit) for limit in ("requests_per_minute", "at_once", "largest_body")}
        lines += [f"{limit} = {value}" for limit, value in limits.items() if value is not None]
        return "\n".join(lines) + "\n"


def digest_of(secret: bytes) -> str:
    """What the file holds of a key."""
    return sha256(secret).hexdigest()


def new_secret() -> str:
    """A new key."""
    return secrets.token_urlsafe(32)


def read(path: Path) -> tuple[Key, ...]:
    """The keys in a file."""
    try:
        if os.name == "posix" and path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise BadKeys(f"{path.name}: others may write to it; chmod go-w")
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadKeys(f"{path.name}: the file cannot be read ({type(error).__name__})") from None
    except ValueError as error:
        if isinstance(error, BadKeys):
            raise
        place = re.search(r"\(at line \d+, column \d+\)", str(error))
        raise BadKeys(f"{path.name}: the file is not TOML {place[0] if place else ''}".rstrip()) from None
    tables = document.pop("key", [])
    if document or not isinstance(tables, list):
        raise BadKeys(f"{path.name}: the file holds tables [[key]] and nothing else")
    keys = tuple(_key(path, place, table) for place, table in enumerate(tables, 1))
    if len({key.sha256 for key in keys}) < len(keys):
        raise BadKeys(f"{path.name}: two keys have one sha256")
    if any(number > 2 for number in Counter(key.name for key in keys).values()):
        message = f"{path.name}: three keys have one name; two may, while one takes the place of the other"
        raise BadKeys(message)
    return keys


def write(path: Path, keys: Sequence[Key]) -> None:
    """Put these keys in the file, at once: a service that reads meanwhile sees the old ones or the new ones."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o640)
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write("\n".join(key.as_toml() for key in keys))
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def _key(path: Path, place: int, table: Any) -> Key:
    try:
        return Key.model_validate(table)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        raise BadKeys(f"{path.name}: key {place}: {where}: {message}") from None


@dataclass(slots=True)
class KeyRing:
    """The keys of a running service; a file is read again when it has changed."""

    keys: Mapping[str, Key]
    path: Path | None = None
    grace: float = 0.0
    """Seconds for which the keys are good whose file cannot be used any more."""
    fault: str | None = None
    """Why the file cannot be used."""
    sound_at: float = field(default_factory=time.monotonic)
    """When it was last seen that these are the keys of the file."""
    _stamp: tuple[int, ...] = ()
    _look_at: float = 0.0

    @classmethod
    def of_file(cls, path: Path, grace: float = 0.0) -> KeyRing:
        """The keys of a file, which must be there and sound."""
        stamp = _stamp(path)
        return cls(_by_digest(read(path)), path, grace, _stamp=stamp)

    @classmethod
    def of_one(cls, secret: bytes) -> KeyRing:
        """The one key of a service that has no file of them: it opens everything."""
        return cls(_by_digest([Key(name="default", sha256=digest_of(secret), scope=tuple(SCOPES))]))

    def find(self, secret: bytes) -> Key | None:
        """The key that was sent; the digests are looked up, so time tells nothing of any key.

        Raises:
            Problem: the file cannot be used for so long that a key in it may have been revoked.
        """
        if self.look() is not None and self.age > self.grace:
            raise not_ready("the file of keys cannot be used, so nobody is answered; tell the operator")
        return self.keys.get(digest_of(secret))

    @property
    def age(self) -> float:
        """Seconds since it was last seen that these are the keys of the file."""
        return time.monotonic() - self.sound_at

    def look(self, *, now: bool = False) -> str | None:
        """Read the file again if it has changed, at most once a second; why it cannot be used."""
        if self.path is None or (time.monotonic() < self._look_at and not now):
            return self.fault
        self._look_at = time.monotonic() + LOOK_AGAIN
        stamp = _stamp(self.path)
        if stamp != self._stamp or self.fault is not None or now:
            before, self._stamp = self.fault, stamp
            try:
                self.keys, self.fault = _by_digest(read(self.path)), None
            except BadKeys as error:  # those that were good stay good, for a while
                self.fault = str(error)
                if before is None:
                    fields = {"reason": self.fault, "seconds": self.grace}
                    log.error("the keys stay as they were", extra={"fields": fields})
                return self.fault
            log.info("keys read", extra={"fields": {"keys": len(self.keys)}})
        self.sound_at = time.monotonic()
        return None


def _by_digest(keys: Sequence[Key]) -> dict[str, Key]:
    return {key.sha256: key for key in keys}


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode
