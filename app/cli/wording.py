"""Problems in the words of the shell: options and commands are called what they are called here."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from app.call import Reply

COMMANDS = {"advantage": "estimate", "individual-risk": "risk"}
"""Operations that the shell has another name for."""

FLAGS = {"members": "member-count"}

RULES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r" in the query string\b"), lambda m: ""),
    (re.compile(r"\bthe body\b"), lambda m: "the input"),
    (re.compile(r"\b(score|member|group|unit|members)=(?=[A-Z])"), lambda m: f"--{FLAGS.get(m[1], m[1])} "),
    (re.compile(r"\bestimator\.kind\b"), lambda m: "--estimator"),
    (re.compile(r"\b(?:estimator|metric)\.(\w+)"), lambda m: f"--{m[1]}"),
    (re.compile(r"/v1/([a-z-]+)"), lambda m: f"mace {COMMANDS.get(m[1], m[1])}"),
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
