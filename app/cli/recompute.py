"""`mace verify --recompute`: a filed answer is computed again from its data, and compared number by number."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from math import isclose
from pathlib import Path
from typing import Any

from macekit.call import JSON, Body, Call
from macekit.formats import HEAD, encoding_of, format_of, media_type_of
from macekit.problems import Problem
from macekit.reports.saved import recognise
from macekit.schemas.query_string import of_table, query_pairs

CLOSE = 1e-12
"""How far a number may be from the filed one, as a share of it: kinds of processors differ by less."""
NOT_COMPARED = frozenset({"provenance", "signature", "state", "warnings"})
"""Members of an answer that are no results, or say how a question was written."""
MEMBERS = ": members"


class NotRecomputed(ValueError):
    """An answer cannot be computed again from these data; the text says why."""


def differences(answer: bytes, data: Path) -> Iterator[str]:
    """Where a filed answer is not what its data give by its own options; none if it is.

    Raises:
        NotRecomputed: it does not say how it was computed, or the data cannot be asked so.
        OSError: the data cannot be read.
    """
    try:
        filed = json.loads(answer)
    except ValueError:
        filed = None
    operation = recognise(filed)
    if operation is None or not isinstance(filed.get("provenance"), dict):
        raise NotRecomputed("it is no answer in JSON that says how it was computed")
    again = _answer(operation, filed["provenance"], data)
    for name in ("version", "input_sha256"):
        if filed["provenance"].get(name) != again["provenance"].get(name):
            yield f"provenance.{name}: filed {filed['provenance'].get(name)}, here {again['provenance'].get(name)}"
    yield from _unlike(filed, again, "")


def _answer(operation: str, provenance: Mapping[str, Any], data: Path) -> dict[str, Any]:
    """The answer to the question that a filed answer says it was asked, about these data."""
    from macekit.operations import perform

    content = data.read_bytes()
    options = {name: value for name, value in provenance.get("options", {}).items() if value is not None}
    media_type = media_type_of(format_of(data.name, content[:HEAD]), content[:HEAD])
    if media_type == JSON:
        call, content = Call(operation), json.dumps({**json.loads(content), **options}).encode()
    else:
        pairs = query_pairs(options)
        if pairs is None:
            raise NotRecomputed("its options have no place in a query string; give the data as JSON")
        columns = _columns(provenance.get("columns", ()), operation)
        query = tuple({**dict(pairs), **columns}.items())
        call = Call(operation, media_type, encoding_of(content[:HEAD]), query)
    reply = perform(call, Body.of(content))
    document: dict[str, Any] = json.loads(bytes(reply.body))
    if reply.problem is not None:
        raise NotRecomputed(f"the data cannot be asked so: {reply.local or document['detail']}")
    return document


def _columns(columns: Any, operation: str) -> dict[str, str]:
    """Which columns were what, as a query string names them."""
    names: dict[str, list[str]] = {}
    for column in columns:
        if (role := column["role"]) in of_table(operation):
            words = [note.removesuffix(MEMBERS) for note in column["notes"] if note.endswith(MEMBERS)]
            names.setdefault(role, []).append("=".join([column["name"], *words]))
    return {role: ",".join(several) for role, several in names.items()}


def _unlike(filed: Any, again: Any, place: str) -> Iterator[str]:
    """Where two answers say different things."""
    if isinstance(filed, dict) and isinstance(again, dict):
        for name in {**filed, **again}:
            if name not in NOT_COMPARED:
                yield from _unlike(filed.get(name), again.get(name), f"{place}.{name}".lstrip("."))
    elif isinstance(filed, list) and isinstance(again, list) and len(filed) == len(again):
        for number, pair in enumerate(zip(filed, again, strict=True)):
            yield from _unlike(*pair, f"{place}[{number}]")
    elif isinstance(filed, int | float) and isinstance(again, int | float):
        if not isclose(filed, again, rel_tol=CLOSE, abs_tol=CLOSE):
            yield f"{place}: filed {filed}, here {again}"
    elif filed != again:
        yield f"{place}: filed {json.dumps(filed)[:80]}, here {json.dumps(again)[:80]}"


def recompute(answer: bytes, data: Path) -> list[str]:
    """The first differences, as they are printed."""
    try:
        return [each for each, _ in zip(differences(answer, data), range(10), strict=False)]
    except Problem as problem:
        raise NotRecomputed(problem.local) from None
