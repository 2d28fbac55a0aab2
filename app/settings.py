"""The settings of the service: ``MACE_*`` variables, or a TOML file that ``MACE_CONFIG`` names.

Variables win over the file, the file over the defaults; ``mace config`` prints the result. An error names the setting
and never repeats its value, which may be the key.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator

from app.audit_file import AuditError, AuditFile
from app.keys import BadKeys, KeyRing
from app.runs import Runs, RunsError, RunsFile
from macekit.call import EXPANDED_LIMIT

if TYPE_CHECKING:
    from app.signing import Signer

MIB = 2**20
PREFIX = "MACE_"
FILE = "MACE_CONFIG"
NOT_SETTINGS = {FILE, "MACE_AUDIT_ONLINE", "MACE_TEST_BROWSER"}
"""Variables of ours that are no settings: where the file is, and what the scripts and the tests read."""

KEY = re.compile(r"[A-Za-z0-9._~+/-]{16,}=*")
"""What a bearer key may be: RFC 6750's token68, long enough not to be guessed."""

BUCKETS = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs", "viewfs")
"""How the address of a dataset may begin."""

SECRET = re.compile(r"(key|secret|sig|token|password)\w*=", re.IGNORECASE)
"""What of an address's query would be a key."""

STATES = b"mace states of runs 1"  # for which use the key that seals states is derived from the signing key
HOST = re.compile(r"[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]")  # what a header Host may name, without its port

Names = tuple[str, ...]  # several names, separated by commas


class BadSettings(ValueError):
    """The settings cannot be used; the text says which and why, one a line, and repeats no value."""


class Settings(BaseModel):
    """Every setting of the service, with its default."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, validate_default=True)

    host: str = Field("127.0.0.1", description="address to listen on")
    port: int = Field(8000, ge=0, le=65535, description="port to listen on; 0 takes a free one")
    probe_port: int | None = Field(
        None,
        ge=0,
        le=65535,
        description="port where a thread of its own answers /healthz, /readyz and /metrics; 0 takes a free one",
    )
    root_path: str = Field("", description="path under which a proxy shows the service")
    trusted_proxies: Names = Field(
        (),
        description="addresses or networks, separated by commas, of proxies whose X-Forwarded-* headers are believed",
    )

    allowed_hosts: Names = Field(
        (), description="names, separated by commas, that the header Host may hold; any without"
    )
    api_key: SecretStr | None = Field(None, description="bearer key that every request but probes must carry")
    api_key_file: Path | None = Field(None, description="file that holds the bearer key")
    keys_file: Path | None = Field(
        None, description="file of named keys, each with its scope, end and limits; `mace keys` writes it"
    )
    keys_grace: float = Field(
        60.0,
        ge=0,
        le=86_400,
        description="seconds for which keys are still good whose file cannot be used any more; then nobody is answered",
    )
    open_to_everyone: bool = Field(False, description="listen beyond this machine without a key")
    signing_key_file: Path | None = Field(
        None, description="file of Ed25519 keys, in PEM, of which the first signs every answer; none are signed without"
    )
    audit_file: Path | None = Field(
        None, description="file to which a line is appended for every question; without one none is written"
    )
    audit_size: int = Field(
        256 * MIB,
        ge=0,
        description="bytes from which on the audit file gets a number and the next line goes into a new one; 0: never",
    )
    runs_file: Path | None = Field(
        None,
        description="file in which the last state of each run of batches is remembered, where answers are signed; "
        "without one the audit file's name with .runs, and in memory where there is no audit file",
    )
    keep_runs: float = Field(
        90.0, gt=0, le=3650, description="days for which a run of batches that rests is remembered, and may go on"
    )
    store: SecretStr | None = Field(
        None,
        description="address of the PostgreSQL in which replicas share jobs, runs of batches and the pace of keys, "
        "postgresql://...; without one each has its own",
    )
    store_file: Path | None = Field(None, description="file that holds the address of that PostgreSQL")
    data: str | None = Field(
        None,
        description="folder, or address in a bucket, below which a request may name a dataset (`data=NAME`) instead of "
        "sending it; only read, and nothing beside it",
    )
    guide: Path | None = Field(
        None,
        description="folder of the guide as scripts/docs builds it; share/mace/guide of the environment without one",
    )
    cors_origins: Names = Field((), description="origins, separated by commas, whose pages may call the service")

    workers: int = Field(0, ge=0, le=256, description="worker processes; 0 means one for each core")
    queue: int = Field(32, ge=0, le=10_000, description="requests that may wait for a worker")
    per_client: int = Field(
        0, ge=0, description="requests one client (a key, else an address) may have under way; 0 sets no limit"
    )
    time_limit: float = Field(
        60.0, gt=0, le=86_400, description="seconds of work granted to a request, and the most it waits for a worker"
    )
    memory_limit: int = Field(2048 * MIB, ge=64 * MIB, description="bytes of memory granted to a worker")
    inline_limit: int = Field(
        16 * 1024, ge=0, le=MIB, description="JSON bodies up to this many bytes are answered without a worker"
    )
    body_limit: int = Field(256 * MIB, ge=1024, description="bytes of a body")
    expanded_limit: int = Field(EXPANDED_LIMIT, ge=1024, description="bytes a compressed body may expand to")
    stream_limit: int = Field(64 * 1024 * MIB, ge=1024, description="bytes of a body that is counted as it comes")
    spool_limit: int = Field(1024 * MIB, ge=1024, description="bytes of all bodies and answers held at once")
    stall_limit: float = Field(30.0, gt=0, description="seconds a body may stop arriving, or an answer being read")
    keep_answers: float = Field(
        600.0, gt=0, le=86_400, description="seconds that an answer is kept which a client fetches later"
    )
    drain_limit: float = Field(30.0, ge=0, description="seconds that work under way is given at shutdown")

    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="least level logged")
    log_format: Literal["json", "text"] = Field("json", description="one JSON object a line, or plain text")
    otlp_endpoint: str | None = Field(None, description="where traces go by OTLP over HTTP; none are made without")

    def __init__(self, **values: Any) -> None:
        """Arguments, then variables, then the file."""
        super().__init__(**{**file_settings(), **variables(), **values})

    @field_validator("cors_origins", "trusted_proxies", "allowed_hosts", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @field_validator("trusted_proxies")
    @classmethod
    def _addresses(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for number, part in enumerate(value, 1):
            try:
                ip_network(part)
            except ValueError:
                raise ValueError(
                    f"entry {number} is neither an address nor a network such as 10.0.0.0/8, its host bits zero"
                ) from None
        return value

    @field_validator("allowed_hosts")
    @classmethod
    def _hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for number, part in enumerate(value, 1):
            if not HOST.fullmatch(part):
                raise ValueError(f"entry {number} is not a name or an address without a port; IPv6 stands in brackets")
        return value

    @field_validator("data")
    @classmethod
    def _place(cls, value: str | None) -> str | None:
        if value is None:
            return None
        scheme, is_address, rest = value.partition("://")
        if is_address:
            if ":" in rest.partition("/")[0].rpartition("@")[0] or SECRET.search(rest.partition("?")[2]):
                raise ValueError("an address holds no key here; credentials come from the environment")
            if scheme not in BUCKETS:
                raise ValueError(f"an address begins with one of {', '.join(f'{each}://' for each in BUCKETS)}")
            return value
        if not os.path.isabs(value) or not os.path.isdir(value):
            raise ValueError("need the whole path of a folder that is there, or an address such as s3://bucket/folder")
        return os.path.realpath(value)

    @field_validator("root_path")
    @classmethod
    def _rooted(cls, value: str) -> str:
        if value and (not value.startswith("/") or value.endswith("/")):
            raise ValueError("a path begins with a slash and does not end with one")
        return value

    @model_validator(mode="after")
    def _safe(self) -> Settings:
        if sum(each is not None for each in (self.api_key, self.api_key_file, self.keys_file)) > 1:
            raise ValueError("give one of MACE_API_KEY, MACE_API_KEY_FILE and MACE_KEYS_FILE")
        if self.store is not None and self.store_file is not None:
            raise ValueError("give one of MACE_STORE and MACE_STORE_FILE")
        if self.store_address is not None and self.runs_file is not None:
            raise ValueError("MACE_RUNS_FILE: goes without a store, where runs are remembered")
        if self.keys is None and not self.local and not self.open_to_everyone:
            raise ValueError(
                "the host is not an address of this machine alone, and there is no key: set MACE_API_KEY, "
                "MACE_API_KEY_FILE or MACE_KEYS_FILE, or MACE_OPEN_TO_EVERYONE=true if every client that can "
                "reach it may use it"
            )
        return self

    @property
    def local(self) -> bool:
        """Whether only this machine can reach the service."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def key(self) -> bytes | None:
        """The bearer key, wherever it came from."""
        pair = _given("MACE_API_KEY", self.api_key, self.api_key_file)
        if pair is None:
            return None
        name, key = pair
        if not KEY.fullmatch(key):
            raise ValueError(
                f"{name}: a key is 16 or more letters, digits or . _ ~ + / - without spaces; "
                "make one with: openssl rand -hex 32"
            )
        return key.encode()

    @property
    def store_address(self) -> str | None:
        """Where the PostgreSQL is that replicas share, wherever that was said."""
        pair = _given("MACE_STORE", self.store, self.store_file)
        if pair is None:
            return None
        name, address = pair
        if not address.startswith(("postgresql://", "postgres://")):
            message = f"{name}: need an address such as postgresql://mace@host/mace?sslmode=verify-full"
            raise ValueError(message)
        return address

    @property
    def keys(self) -> KeyRing | None:
        """The keys of the service; None if it has none."""
        if self.keys_file is not None:
            try:
                return KeyRing.of_file(self.keys_file, self.keys_grace)
            except BadKeys as error:
                raise ValueError(f"MACE_KEYS_FILE: {error}") from None
        return None if self.key is None else KeyRing.of_one(self.key)

    @property
    def signer(self) -> Signer | None:
        """What signs answers; None if nothing does."""
        if self.signing_key_file is None:
            return None
        from app.signing import BadKey, Signer

        try:
            return Signer.of_file(self.signing_key_file)
        except BadKey as error:
            raise BadSettings(f"MACE_SIGNING_KEY_FILE: {error}") from None

    @property
    def audit(self) -> AuditFile | None:
        """The audit file, open to go on; None if there is none."""
        if self.audit_file is None:
            return None
        try:
            return AuditFile(self.audit_file, self.audit_size)
        except AuditError as error:
            raise BadSettings(f"MACE_AUDIT_FILE: {self.audit_file}: {error}") from None

    @property
    def runs(self) -> Runs | None:
        """What seals states of runs and remembers them where there is no store; None if nothing is signed."""
        if (signer := self.signer) is None:
            if self.runs_file is not None:
                message = "MACE_RUNS_FILE: goes with MACE_SIGNING_KEY_FILE, for nothing is remembered without"
                raise BadSettings(message)
            return None
        path = self.runs_file or (self.audit_file and Path(f"{self.audit_file}.runs"))
        if path is not None and self.audit_file is not None and path.resolve() == self.audit_file.resolve():
            message = "MACE_RUNS_FILE: is the audit file; name another, for each has lines of its own"
            raise BadSettings(message)
        try:
            keys = signer.derived_keys(STATES)
            return Runs(keys[0], self.keep_runs, None if path is None else RunsFile(path), keys[1:])
        except RunsError as error:
            raise BadSettings(f"MACE_RUNS_FILE: {path}: {error}") from None

    @property
    def processes(self) -> int:
        """Worker processes in fact."""
        return self.workers or len(
            os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
        )


def _given(name: str, secret: SecretStr | None, path: Path | None) -> tuple[str, str] | None:
    """What was said of a secret, by itself or in a file, and the name of the setting that said it."""
    if secret is not None:
        return name, secret.get_secret_value().strip()
    if path is None:
        return None
    try:
        return f"{name}_FILE", path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{name}_FILE: the file cannot be read ({type(error).__name__})") from None


def load(**options: Any) -> Settings:
    """Return the settings of this process, or say what is wrong with them; ``options`` of a command win over all."""
    try:
        return Settings(**options)
    except ValidationError as error:
        lines = (_line(details, options) for details in error.errors(include_input=False))
        raise BadSettings("\n".join(lines)) from None


def variables() -> dict[str, str]:
    """What ``MACE_*`` variables say, whatever the case of their names."""
    texts = {name.upper(): text for name, text in os.environ.items()}
    names = ((name, PREFIX + name.upper()) for name in Settings.model_fields)
    return {name: texts[variable] for name, variable in names if variable in texts}


def file_settings() -> dict[str, Any]:
    """What the file says that ``MACE_CONFIG`` names; nothing without one."""
    if not (name := os.environ.get(FILE)):
        return {}
    try:
        return tomllib.loads(Path(name).read_text(encoding="utf-8"))
    except OSError as error:
        raise BadSettings(f"{FILE}: the file cannot be read ({type(error).__name__})") from None
    except ValueError as error:
        # not UTF-8, or not TOML; the parser's words name a line, not what stands there
        place = re.search(r"\(at line \d+, column \d+\)", str(error))
        raise BadSettings(f"{FILE}: the file is not TOML {place[0] if place else ''}".rstrip()) from None


def unknown_variables() -> dict[str, str | None]:
    """``MACE_*`` variables that mean nothing here, each with the nearest name that does."""
    names = NOT_SETTINGS | {PREFIX + name.upper() for name in Settings.model_fields}
    variables = (name for name in os.environ if name.upper().startswith(PREFIX))
    return {
        name: next(iter(get_close_matches(name.upper(), names, n=1, cutoff=0.75)), None)
        for name in sorted(variables)
        if name.upper() not in names
    }


def _line(details: Any, options: Mapping[str, Any]) -> str:
    """One error of pydantic in a line of ours."""
    where = str(details["loc"][0]) if details["loc"] else ""
    if details["type"] == "extra_forbidden":
        near = get_close_matches(where, Settings.model_fields, n=1)
        return f"{FILE}: {where} is not a setting" + (f"; did you mean {near[0]}?" if near else "")
    message = details["msg"].removeprefix("Value error, ")
    name = f"--{where}" if where in options else f"{PREFIX}{where.upper()}"
    return f"{name}: {message}" if where else message
