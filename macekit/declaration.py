"""What a gate was to be asked, written down before its scores were seen: options, limits, sizes, and a digest of these.

Whoever looks first can choose the query, the seed or the limit by what comes out, and the level then holds for none of
them. An answer that was given under a declaration names its digest; that the declaration is older than the scores says
whoever keeps it: a commit, a ticket, a signature.
"""

import hmac
import json
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from macekit.problems import Problem, fault

OPERATION = "gate"  # what is declared
DIGEST, SIGNATURE = "sha256", "signature"
FIELDS = frozenset({"declares", "options", "n_members", "n_nonmembers", "at", DIGEST})


class DeclarationAnswer(TypedDict):
    """Under which declaration an answer was given."""

    sha256: str
    at: Annotated[str, Field(description="when it was made, as it says itself")]


def declaration_of(options: Mapping[str, object], n_members: int | None, n_nonmembers: int | None) -> dict[str, Any]:
    """A declaration of these options, as ``provenance`` has them; None where any number of records will do."""
    content = {
        "declares": OPERATION,
        "options": dict(options),
        "n_members": n_members,
        "n_nonmembers": n_nonmembers,
        "at": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
    }
    return {**content, DIGEST: digest(content)}


def digest(declaration: Mapping[str, Any]) -> str:
    """SHA-256 of its JSON with sorted keys and without blanks; neither the digest nor a signature counts."""
    content = {name: value for name, value in declaration.items() if name not in (DIGEST, SIGNATURE)}
    return sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def filled_in(options: Mapping[str, object], columns: Collection[str]) -> dict[str, object]:
    """Options of a question, and what a declaration among them says of others; columns are named beside them."""
    declaration = options.get("declaration")
    if not isinstance(declaration, Mapping):
        return dict(options)
    others = {name.partition(".")[0] for name in options} | set(columns)
    declared: Mapping[str, object] = require_whole(declaration)["options"]
    return {**{name: value for name, value in declared.items() if name not in others}, **options}


def require_declared(
    declaration: Mapping[str, Any],
    options: Mapping[str, object],
    n_members: int,
    n_nonmembers: int,
    without: Collection[str] = (),
) -> DeclarationAnswer:
    """Refuse a question that is not the declared one.

    Args:
        without: Names of columns, if the records came without any.

    Raises:
        Problem: the declaration was changed since, or an option or a number of records differs from it.
    """
    require_same(require_whole(declaration)["options"], options, without)
    for name, number in (("n_members", n_members), ("n_nonmembers", n_nonmembers)):
        if declaration[name] not in (None, number):
            raise _refusal(f"{name} was declared as {declaration[name]}, and {number} came")
    return {"sha256": declaration[DIGEST], "at": declaration["at"]}


def require_same(declared: Mapping[str, object], asked: Mapping[str, object], without: Collection[str] = ()) -> None:
    """Refuse what is not as it was declared, but for ``without``."""
    for name in sorted((declared.keys() | asked.keys()) - set(without)):
        if declared.get(name) != asked.get(name):
            before = declared.get(name, "nothing")
            raise _refusal(f"{name} is not as it was declared ({before}); ask what was declared, or declare anew")


def require_whole(declaration: Mapping[str, Any]) -> Mapping[str, Any]:
    """Refuse what is no declaration, or was changed since it was made."""
    numbers = (declaration.get("n_members"), declaration.get("n_nonmembers"))
    if (
        declaration.keys() - {SIGNATURE} != FIELDS
        or declaration["declares"] != OPERATION
        or not isinstance(declaration["options"], Mapping)
        or not isinstance(declaration["at"], str)
        or not all(each is None or isinstance(each, int) for each in numbers)
    ):
        raise _refusal("is none as mace declare writes it")
    if not hmac.compare_digest(str(declaration[DIGEST]), digest(declaration)):
        raise _refusal("was changed since it was made: its SHA-256 is not that of its content")
    return declaration


def _refusal(text: str) -> Problem:
    return fault("bad-option", "declaration", text)
