"""An answer that was kept: whose it is, and whether it is whole, so that it can be rendered without the scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from app.schemas.answers import ANSWERS

MARKS = frozenset({"sentence", "provenance"})
"""Every answer has one of these, and no request has either."""

PARALLEL = frozenset(
    {"fpr", "tpr", "index", "cell", "risk", "lower", "upper", "simultaneous_lower", "simultaneous_upper"}
    | {"signed_risk", "posterior", "flagged", "metric", "members", "nonmembers", "labels"}
)
"""Lists that have one entry for each record, cell, bin or point, and so are equally long side by side."""


class BrokenAnswerError(ValueError):
    """A kept answer that is incomplete, or whose parts do not go together; the text says where."""


def recognise(answer: object) -> str | None:
    """The operation whose answer this is, by its keys; None if it is no answer at all."""
    if not isinstance(answer, Mapping) or not MARKS & answer.keys():
        return None
    return max(
        ANSWERS, key=lambda operation: _likeness(answer.keys(), ANSWERS[operation].__annotations__.keys())
    )


def checked(operation: str, answer: object) -> dict[str, Any]:
    """The answer with what belongs to it and nothing else: of the right shape, and agreeing with itself.

    It is not signed: that its numbers are those of some scores is shown only by asking again.
    """
    try:
        found: dict[str, Any] = TypeAdapter(ANSWERS[operation]).validate_python(answer, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the answer"
        raise BrokenAnswerError(f"{where}: {first['msg'][0].lower()}{first['msg'][1:]}") from None
    for fault in _faults(found, ""):
        raise BrokenAnswerError(fault)
    return found


def _likeness(keys: Any, known: Any) -> float:
    """How much of both is shared."""
    return len(keys & known) / len(keys | known)


def _faults(value: Any, path: str) -> Iterator[str]:
    """What does not go together in a part of an answer, and in its parts."""
    if isinstance(value, Mapping):
        yield from _disagreements(value, path)
        for name, part in value.items():
            yield from _faults(part, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value and isinstance(value[0], Mapping):
        for place, part in enumerate(value):
            yield from _faults(part, f"{path}.{place}")


def _disagreements(part: Mapping[str, Any], path: str) -> Iterator[str]:
    lower, upper = part.get("lower"), part.get("upper")
    if isinstance(lower, int | float) and isinstance(upper, int | float) and lower > upper:
        yield f"{path}: the lower end is above the upper one"
    sizes = {name: len(each) for name, each in part.items() if name in PARALLEL and isinstance(each, list)}
    if len(set(sizes.values())) > 1:
        yield f"{path}: {', '.join(sizes)} differ in length"
    if (
        isinstance(part.get("edges"), list)
        and "members" in sizes
        and len(part["edges"]) != sizes["members"] + 1
    ):
        yield f"{path}: edges are not one more than the bins"
    if isinstance(part.get("verdict"), Mapping) and isinstance(part.get("advantage"), Mapping):
        limits, verdict = part["advantage"], part["verdict"]
        if verdict["decision"] != _decision(limits["lower"], limits["upper"], verdict["threshold"]):
            yield f"{path}.verdict: decision is not what the interval says at this threshold".lstrip(".")


def _decision(lower: float, upper: float, threshold: float) -> str:
    return "pass" if upper <= threshold else "fail" if lower > threshold else "inconclusive"
