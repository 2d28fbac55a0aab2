"""What the headers of a request say about its body and about the answer it wants."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.datastructures import Headers

from macekit.problems import Problem

MOST_RANGES = 32
"""Ranges of Accept that are looked at: browsers send five."""

UNREAD = ("*/*", 0.001)
"""What the ranges beyond those are taken for: anything, as good as not at all."""

ENCODINGS = ("identity", "gzip", "zstd")


def media_type(headers: Headers, known: Sequence[str]) -> str:
    """The body's format, without parameters."""
    given = headers.get("content-type", "").partition(";")[0].strip().lower()
    if given not in known:
        came = "one that is not known here" if given else "none"
        raise Problem(
            "unsupported-media-type", f"Content-Type: got {came}, need {_either(known)}", field="Content-Type"
        )
    return given


def encoding(headers: Headers) -> str:
    """How the body is compressed; one layer at most."""
    given = headers.get("content-encoding", "identity").strip().lower() or "identity"
    if given not in ENCODINGS:
        raise Problem(
            "unsupported-media-type",
            f"Content-Encoding: got one that is not known here, need {_either(ENCODINGS)}",
            field="Content-Encoding",
        )
    return given


def accepted(headers: Headers, offered: Sequence[str]) -> str:
    """The form of the answer: of those offered the one the client likes best, the first in a draw."""
    given = ",".join(headers.getlist("accept")) or "*/*"  # several lines are one list (RFC 9110, 5.3)
    parts = [part for part in given.split(",") if part.strip()]
    ranges = [*map(_range, parts[:MOST_RANGES]), *([UNREAD] if len(parts) > MOST_RANGES else [])]
    best, liking = "", 0.0
    for form in offered:
        weights = [(_narrow(pattern), weight) for pattern, weight in ranges if _fits(pattern, form)]
        weight = (
            max(weights)[1] if weights else 0.0
        )  # the narrowest range that fits decides (RFC 9110, 12.5.1)
        if weight > liking:
            best, liking = form, weight
    if not best:
        raise Problem("not-acceptable", f"Accept: the answer exists as {_either(offered)}", field="Accept")
    return best


def _range(part: str) -> tuple[str, float]:
    pattern, *parameters = (piece.strip().lower() for piece in part.split(";"))
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name == "q":
            return pattern, _weight(value)
    return pattern, 1.0


def _weight(value: str) -> float:
    """How much a range is liked; what is no number from 0 to 1 (nor is NaN) is no liking."""
    try:
        found = float(value)
    except ValueError:
        return 0.0
    return found if 0.0 <= found <= 1.0 else 0.0


def _fits(pattern: str, form: str) -> bool:
    return pattern in {"*/*", "*", form} or pattern == form.partition("/")[0] + "/*"


def _narrow(pattern: str) -> int:
    return 0 if pattern in {"*/*", "*"} else 1 if pattern.endswith("/*") else 2


def _either(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
