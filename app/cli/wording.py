"""Problems in the words of the shell: options and commands are called what they are called here."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from macekit.call import Reply
from macekit.catalogue import command, flag

RULES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r" in the query string\b"), lambda _: ""),
    (re.compile(r"\bbody\b"), lambda _: "input"),
    (re.compile(r"\b(score|member|group|unit|members|column)=(?=[A-Z])"), lambda found: f"{flag(found[1])} "),
    (re.compile(r"\b(?:estimator|metric)\.\w+"), lambda found: flag(found[0])),
    (re.compile(r"\bmax with metric\b"), lambda _: f"{flag('max')} with {flag('metric')}"),
    (re.compile(r"\bmax_(?:advantage|epsilon|group_risk)\b"), lambda found: flag(found[0])),
    (re.compile(r"/v1/([a-z-]+(?:/[a-z-]+)?)"), lambda found: command(found[1])),
)


def in_shell(detail: str) -> str:
    """What is wrong, as one who sits at a shell would put it."""
    for pattern, spoken in RULES:
        detail = pattern.sub(spoken, detail)
    return detail


def detail_of(reply: Reply) -> str:
    """What a problem says."""
    detail: str = msgspec.json.decode(reply.body)["detail"]
    return in_shell(detail)
