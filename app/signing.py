"""Answers signed with Ed25519: that a kept answer is, byte for byte, what a service with this key once gave.

The signature of a JSON document is its last member, that of a page or of Markdown a comment at the end; every other
form has it in the header ``Mace-Signature`` alone. What is signed is a fixed label, when it was signed, the SHA-256 of
the request, and that of the bytes before: these are the same for the same request, and an answer that is shown again
later, or to another question, says so itself.

A file may hold several keys: the first signs, and the public ones of all are published, so that answers that a former
one signed can be verified.
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol
from urllib.request import urlopen

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from app import WELL_KNOWN

LABEL, LABEL_BEFORE = b"mace answer, signature 2\n", b"mace answer, signature 1\n"
"""The second is that of signatures without a time and a request."""
BLOCK = re.compile(rb"-----BEGIN ([A-Z ]+)-----.*?-----END \1-----", re.DOTALL)
MEMBER = b',"signature":'
COMMENT, COMMENT_END = b"\n<!-- mace signature ", b" -->\n"
LONGEST = 512  # bytes that a signature and what stands around it may take

JSON_FORMS = frozenset({"application/json", "application/vnd.mace.brief+json"})
COMMENTED = frozenset({"text/html", "text/markdown"})


log = logging.getLogger(__name__)


class BadKey(ValueError):
    """A signing key cannot be used; the text says why and repeats nothing of it."""


class Unverified(ValueError):
    """A kept answer is not what was signed; the text says in which way."""


@dataclass(frozen=True, slots=True)
class Signature:
    """Which key signed, when, which request was answered, and the signature."""

    key: str
    value: bytes
    time: str | None = None
    request: str | None = None

    def as_json(self) -> bytes:
        """As it stands in an answer."""
        about = {} if self.time is None else {"time": self.time, "request": self.request}
        value = base64.b64encode(self.value).decode("ascii")
        return json.dumps(
            {"algorithm": "Ed25519", "key": self.key, **about, "value": value}, separators=(",", ":")
        ).encode()

    @classmethod
    def of_json(cls, text: bytes) -> Signature:
        """As it was read from an answer or a header."""
        try:
            document = json.loads(text)
            if document["algorithm"] != "Ed25519":
                raise Unverified(f"the signature is of the algorithm {document['algorithm']!r}, not Ed25519")
            about = (str(document["time"]), str(document["request"])) if "time" in document else ()
            signature = cls(str(document["key"]), base64.b64decode(document["value"], validate=True), *about)
        except (ValueError, TypeError, KeyError, binascii.Error) as error:
            if isinstance(error, Unverified):
                raise
            raise Unverified("what stands in the signature's place is none") from None
        if signature.as_json() != text:  # base64 has several spellings of its last letter
            raise Unverified("the signature is not written as the service writes it")
        return signature

    def message(self, body: bytes | memoryview) -> bytes:
        """What is signed."""
        if self.time is None:
            return LABEL_BEFORE + sha256(body).digest()
        return LABEL + f"{self.time}\n{self.request}\n".encode() + sha256(body).digest()


class SigningKey(Protocol):
    """What signs: a key that was read from a file, or one that a device guards and does not give out."""

    def public_key(self) -> Ed25519PublicKey:
        """What its signatures are verified with."""

    def sign(self, data: bytes, /) -> bytes:
        """The signature, by Ed25519 (RFC 8032)."""


class Signer:
    """Signs answers with the first of its keys."""

    def __init__(self, key: SigningKey, *former: SigningKey, published: Sequence[Ed25519PublicKey] = ()) -> None:
        self._keys = (key, *former)
        self._published = published
        self._path: Path | None = None
        self.key = key_id(key.public_key())

    @classmethod
    def of_file(cls, path: Path) -> Signer:
        """The keys in a PEM file without a password; of those that sign no more the public one will do."""
        blocks: list[object] = []
        for block in _blocks(path):
            try:
                is_public = block.startswith(b"-----BEGIN PUBLIC KEY")
                blocks.append(load_pem_public_key(block) if is_public else load_pem_private_key(block, None))
            except (ValueError, TypeError):
                blocks.append(None)
        private = [each for each in blocks if isinstance(each, Ed25519PrivateKey)]
        public = [each for each in blocks if isinstance(each, Ed25519PublicKey)]
        if not private or len(private) + len(public) < len(blocks):
            raise BadKey(
                "the file holds no Ed25519 key in PEM without a password; make one with: "
                "openssl genpkey -algorithm ed25519"
            )
        signer = cls(*private, published=public)
        signer._path = path
        return signer

    def reload(self) -> None:
        """Read the file again; where it cannot be used, the keys stay as they were."""
        if self._path is None:
            return
        try:
            new = Signer.of_file(self._path)
        except BadKey as error:
            log.error("the signing key stays as it was", extra={"fields": {"reason": str(error)}})
            return
        self._keys, self._published, self.key = new._keys, new._published, new.key
        log.info("signing keys read", extra={"fields": {"key": self.key, "keys": len(self._keys)}})

    def key_set(self) -> dict[str, Any]:
        """Every public key as a JWK set (RFC 7517, RFC 8037), the one that signs first."""
        public = [*(each.public_key() for each in self._keys), *self._published]
        return {
            "keys": [
                {
                    "kty": "OKP",
                    "crv": "Ed25519",
                    "use": "sig",
                    "alg": "EdDSA",
                    "kid": key_id(each),
                    "x": base64.urlsafe_b64encode(_raw(each)).rstrip(b"=").decode("ascii"),
                }
                for each in public
            ]
        }

    def derived_keys(self, label: bytes) -> list[bytes]:
        """A key for another use from each, from which nothing follows about that one (HKDF, RFC 5869).

        Of one that is not given out it follows from a signature, which is the same each time.
        """
        return [
            HKDF(SHA256(), 32, None, label).derive(
                each.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
                if isinstance(each, Ed25519PrivateKey)
                else each.sign(label)
            )
            for each in self._keys
        ]

    def signature(self, body: bytes | memoryview, request: str) -> Signature:
        """The signature of an answer to a request of this digest, now."""
        time = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        unsigned = Signature(self.key, b"", time, request)
        return replace(unsigned, value=self._keys[0].sign(unsigned.message(body)))

    def sign(self, body: bytes | memoryview, media_type: str, request: str) -> tuple[bytes | memoryview, Signature]:
        """An answer with its signature in it, if the form has a place for it, and the signature."""
        signature = self.signature(body, request)
        form = media_type.partition(";")[0].strip()
        if form in JSON_FORMS and body[-1:] == b"}" and len(body) > 2:
            return b"".join((body[:-1], MEMBER, signature.as_json(), b"}")), signature
        if form in COMMENTED:
            return b"".join((body, COMMENT, signature.as_json(), COMMENT_END)), signature
        return body, signature


def key_id(public: Ed25519PublicKey) -> str:
    """The first half of the SHA-256 of a public key: enough to tell keys apart."""
    return sha256(_raw(public)).hexdigest()[:32]


def request_digest(target: str, body: bytes) -> str:
    """What a signature says of a request: the SHA-256 of its target (`/v1/gate?prior=0.5`), a line feed, its body."""
    return sha256(f"{target}\n".encode() + body).hexdigest()


def public_keys(source: str | Path) -> list[Ed25519PublicKey]:
    """The public keys in a PEM file or a JWK set, or those that a service at an address publishes."""
    try:
        if (name := str(source)).startswith(("http://", "https://")):
            address = name if name.endswith(".json") else name.rstrip("/") + WELL_KNOWN
            with urlopen(address, timeout=30) as answer:
                data = answer.read(2**20)
        else:
            data = Path(source).read_bytes()
    except OSError as error:
        raise BadKey(f"the file cannot be read ({type(error).__name__})") from None
    try:
        if data.lstrip().startswith(b"{"):
            return [
                Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(each["x"] + "="))
                for each in json.loads(data)["keys"]
                if each.get("crv") == "Ed25519"
            ]
        keys = [load_pem_public_key(block[0]) for block in BLOCK.finditer(data)]
    except (ValueError, TypeError, KeyError, AttributeError):
        keys = []
    if not keys or not all(isinstance(each, Ed25519PublicKey) for each in keys):
        raise BadKey("the file holds no Ed25519 public key in PEM; make it with: openssl pkey -in key.pem -pubout")
    return keys  # type: ignore[return-value]


def verify(
    data: bytes, public: Ed25519PublicKey | Sequence[Ed25519PublicKey], detached: bytes | None = None
) -> Signature:
    """The signature of a kept answer, if it holds.

    Raises:
        Unverified: the answer has none, it is another key's, or a byte was changed.
    """
    body, signature = (data, Signature.of_json(detached)) if detached is not None else _apart(data)
    keys = {key_id(each): each for each in ([public] if isinstance(public, Ed25519PublicKey) else public)}
    if signature.key not in keys:
        raise Unverified(f"it was signed with the key {signature.key}; the one given is {' or '.join(keys)}")
    try:
        keys[signature.key].verify(signature.value, signature.message(body))
    except InvalidSignature:
        raise Unverified("it is not byte for byte what was signed") from None
    return signature


def _raw(public: Ed25519PublicKey) -> bytes:
    return public.public_bytes(Encoding.Raw, PublicFormat.Raw)


def _blocks(path: Path) -> list[bytes]:
    try:
        return [block[0] for block in BLOCK.finditer(path.read_bytes())]
    except OSError as error:
        raise BadKey(f"the file cannot be read ({type(error).__name__})") from None


def _apart(data: bytes) -> tuple[bytes, Signature]:
    """What was signed, and the signature at its end."""
    if data.endswith(COMMENT_END) and (at := data.rfind(COMMENT, -LONGEST)) >= 0:
        return data[:at], Signature.of_json(data[at + len(COMMENT) : -len(COMMENT_END)])
    document = data.rstrip(b"\r\n")
    if document.endswith(b"}}") and (at := document.rfind(MEMBER, -LONGEST)) >= 0:
        return document[:at] + b"}", Signature.of_json(document[at + len(MEMBER) : -1])
    raise Unverified(
        "it has no signature at its end: it was never signed, or was written anew (an answer must be kept as it came)"
    )
