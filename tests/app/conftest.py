"""Services that many tests ask, each started once: whoever fills one, ends its workers or stops it leaves it whole."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow.csv
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from app.main import create_app
from app.settings import Settings
from tests.app.client import TestClient
from tests.app.running import Running, ready
from tests.macekit.sources import support
from tests.refusing import refusing

KEY = "a-key-of-sixteen-letters"
MIB = 2**20
BODY_LIMIT, EXPANDED_LIMIT = 4_000_000, 600_000

HASTY = (
    "import sys, app.cli, app.http.connection as connection;"
    "connection.HEAD_SECONDS = 1.0; sys.exit(app.cli.main(['serve']))"
)


@pytest.fixture(scope="session")
def client() -> TestClient:
    """A service in this process, whose workers were not started."""
    return TestClient(create_app(Settings()), follow_redirects=False)


@pytest.fixture(scope="session")
def place(service: Running) -> Path:
    """The service's folder: data with much that must not be read, beside a file that lies outside of it."""
    root, records = service.folder, support.table()
    data = support.folder(root / "data", records)
    pyarrow.csv.write_csv(records, root / "outside.csv")
    pyarrow.csv.write_csv(records, data / "all.csv")
    (data / "kept.json").write_text(json.dumps({"members": [0.1, 0.2] * 20, "nonmembers": [0.2, 0.3] * 20}))
    (data / "links").mkdir()
    (data / "links" / "outside.csv").symlink_to(root / "outside.csv")
    (data / "links" / "up").symlink_to(root)
    (data / "inside.csv").symlink_to(data / "all.csv")
    os.mkfifo(data / "pipe")
    (data / ".hidden.csv").write_text("score,member\n1,1\n2,0\n")
    return root


@pytest.fixture(scope="session")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service that asks for a key, begun as users begin it."""
    settings = {"api_key": KEY, "body_limit": str(24 * MIB), "probe_port": "0"}
    with ready(tmp_path_factory.mktemp("locked"), anew=True, **settings) as found:
        yield found


@pytest.fixture(scope="session")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One worker, one place in the queue, small bodies, little memory; a second to go on sending, or reading."""
    limits = {"body_limit": BODY_LIMIT, "expanded_limit": EXPANDED_LIMIT, "memory_limit": 64 * MIB}
    settings = {"queue": "1", "stall_limit": "1", **{name: str(limit) for name, limit in limits.items()}}
    with ready(tmp_path_factory.mktemp("narrow"), **settings) as found:
        yield found


@pytest.fixture(scope="session")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Half a second for a request, as much for a body to go on arriving, and one request a client."""
    settings = {"time_limit": "0.5", "stall_limit": "0.5", "per_client": "1"}
    with ready(tmp_path_factory.mktemp("hasty"), ("-c", HASTY), **settings) as found:
        yield found


@pytest.fixture(scope="session")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """It signs, audits and logs all it can; two workers, and two seconds to go on sending, or reading."""
    folder = tmp_path_factory.mktemp("audited")
    settings = {
        "workers": "2", "stall_limit": "2", "log_level": "debug", "audit_file": str(folder / "audit"),
        "signing_key_file": str(key_pair(folder)),
    }  # fmt: skip
    with ready(folder, **settings) as found:
        yield found


@pytest.fixture
def closed_bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """What follows the name of a bucket whose server, on this machine, refuses at once: nothing is tried again."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with refusing() as query:
        yield query


def pem(private: PrivateKeyTypes) -> bytes:
    return private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def key_pair(folder: Path, name: str = "key") -> Path:
    """The file of a new key to sign with; that of its public key, which ends with .pub, is beside it."""
    private = Ed25519PrivateKey.generate()
    public = private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (folder / f"{name}.pub").write_bytes(public)
    (folder / f"{name}.pem").write_bytes(pem(private))
    return folder / f"{name}.pem"
