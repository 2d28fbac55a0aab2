"""Answers signed with Ed25519: that a kept answer is, byte for byte, what a service with this key once gave.

The signature of a JSON document is its last member, that of a page or of Markdown a comment at the end; every other
form has it in the header ``Mace-Signature`` alone. What is signed is a fixed label and the SHA-256 of the bytes before.
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

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

LABEL = b"mace answer, signature 1\n"
MEMBER = b',"signature":'
COMMENT, COMMENT_END = b"\n<!-- mace signature ", b" -->\n"
LONGEST = 512
"""Bytes that a signature and what stands around it may take."""

JSON_FORMS = frozenset({"application/json"})
COMMENTED = frozenset({"text/html", "text/markdown"})


class BadKey(ValueError):
    """A signing key cannot be used; the text says why and repeats nothing of it."""


class Unverified(ValueError):
    """A kept answer is not what was signed; the text says in which way."""


@dataclass(frozen=True, slots=True)
class Signature:
    """Which key signed, and the signature."""

    key: str
    value: bytes

    def as_json(self) -> bytes:
        """As it stands in an answer."""
        value = base64.b64encode(self.value).decode("ascii")
        return json.dumps(
            {"algorithm": "Ed25519", "key": self.key, "value": value}, separators=(",", ":")
        ).encode()

    @classmethod
    def of_json(cls, text: bytes) -> Signature:
        """As it was read from an answer or a header."""
        try:
            document = json.loads(text)
            if document["algorithm"] != "Ed25519":
                raise Unverified(f"the signature is of the algorithm {document['algorithm']!r}, not Ed25519")
            signature = cls(str(document["key"]), base64.b64decode(document["value"], validate=True))
        except (ValueError, TypeError, KeyError, binascii.Error) as error:
            if isinstance(error, Unverified):
                raise
            raise Unverified("what stands in the signature's place is none") from None
        if signature.as_json() != text:  # base64 has several spellings of its last letter
            raise Unverified("the signature is not written as the service writes it")
        return signature


class Signer:
    """Signs answers with the private key of a file."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.key = key_id(private.public_key())

    @classmethod
    def of_file(cls, path: Path) -> Signer:
        """The key in a PEM file without a password."""
        try:
            private = load_pem_private_key(path.read_bytes(), None)
        except OSError as error:
            raise BadKey(f"the file cannot be read ({type(error).__name__})") from None
        except (ValueError, TypeError):
            private = None
        if not isinstance(private, Ed25519PrivateKey):
            raise BadKey(
                "the file holds no Ed25519 key in PEM without a password; make one with: "
                "openssl genpkey -algorithm ed25519"
            )
        return cls(private)

    def derived_key(self, label: bytes) -> bytes:
        """A key for another use, from which nothing follows about this one (HKDF, RFC 5869)."""
        private = self._private.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
        return HKDF(SHA256(), 32, None, label).derive(private)

    def signature(self, body: bytes | memoryview) -> Signature:
        """The signature of an answer."""
        return Signature(self.key, self._private.sign(LABEL + sha256(body).digest()))

    def sign(self, body: bytes | memoryview, media_type: str) -> tuple[bytes | memoryview, Signature]:
        """An answer with its signature in it, if the form has a place for it, and the signature."""
        signature = self.signature(body)
        form = media_type.partition(";")[0].strip()
        if form in JSON_FORMS and body[-1:] == b"}" and len(body) > 2:
            return b"".join((body[:-1], MEMBER, signature.as_json(), b"}")), signature
        if form in COMMENTED:
            return b"".join((body, COMMENT, signature.as_json(), COMMENT_END)), signature
        return body, signature


def key_id(public: Ed25519PublicKey) -> str:
    """The first half of the SHA-256 of a public key: enough to tell keys apart."""
    return sha256(public.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()[:32]


def public_key(path: Path) -> Ed25519PublicKey:
    """The public key in a PEM file."""
    try:
        public = load_pem_public_key(path.read_bytes())
    except OSError as error:
        raise BadKey(f"the file cannot be read ({type(error).__name__})") from None
    except ValueError:
        public = None
    if not isinstance(public, Ed25519PublicKey):
        raise BadKey(
            "the file holds no Ed25519 public key in PEM; make it with: openssl pkey -in key.pem -pubout"
        )
    return public


def verify(data: bytes, public: Ed25519PublicKey, detached: bytes | None = None) -> Signature:
    """The signature of a kept answer, if it holds.

    Raises:
        Unverified: the answer has none, it is another key's, or a byte was changed.
    """
    body, signature = (data, Signature.of_json(detached)) if detached is not None else _apart(data)
    if signature.key != key_id(public):
        raise Unverified(f"it was signed with the key {signature.key}; the one given is {key_id(public)}")
    try:
        public.verify(signature.value, LABEL + sha256(body).digest())
    except InvalidSignature:
        raise Unverified("it is not byte for byte what was signed") from None
    return signature


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
