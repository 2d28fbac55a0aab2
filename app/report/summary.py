"""A gate's answer where a pipeline's reader looks first: a summary in Markdown, and one line beside the job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.report.markdown import inert
from macekit.text import plain

LEVELS = {"pass": "notice", "fail": "error", "inconclusive": "warning"}


def summary(answer: Mapping[str, Any]) -> bytes:
    """The decision, its sentence, and a row for each limit; it begins and ends apart from what stands around it."""
    source = answer["provenance"]
    rows = [
        "| limit | at most | estimate | lower | upper | decision |",
        "| --- | ---: | ---: | ---: | ---: | --- |",
    ]
    rows += [_row(limit) for limit in answer["limits"]]
    notes = [f"- {_inert(note['message'])}" for note in answer["warnings"]]
    counted = f"{source['n_members']} member and {source['n_nonmembers']} nonmember scores"
    made = f"{counted}; methods version {_inert(source['version'])}; input SHA-256 `{source['input_sha256']}`"
    parts = [
        f"### mace gate: {answer['decision']}",
        _inert(answer["sentence"]),
        "\n".join(rows),
        *(["\n".join(notes)] if notes else []),
        f"{made}. It speaks of this score at the resolution stated, not of the mechanism.",
    ]
    return ("\n" + "\n\n".join(parts) + "\n").encode()


def annotation(answer: Mapping[str, Any]) -> str:
    """The line GitHub Actions shows beside the job; a percent sign or a line's end within it would end it."""
    text = plain(answer["sentence"]).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return f"::{LEVELS[answer['decision']]} title=mace gate::{text}"


def _row(limit: Mapping[str, Any]) -> str:
    numbers = [limit[name] for name in ("maximum", "estimate", "lower", "upper")]
    cells = [_inert(limit["about"]), *(_number(value) for value in numbers), f"**{limit['decision']}**"]
    return f"| {' | '.join(cells)} |"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:z.4g}"


def _inert(text: str) -> str:
    return inert(plain(text))
