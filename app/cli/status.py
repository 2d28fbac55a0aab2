"""The exit status: what a pipeline is told of an answer, by every command alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

PASS, FAIL, UNDECIDED = 0, 1, 3
"""2 is misuse (``parsing.MISUSE``)."""

STATUS = {
    "pass": PASS,
    "not contradicted": PASS,
    "fail": FAIL,
    "fail, or drift": FAIL,
    "contradicted": FAIL,
    "inconclusive": UNDECIDED,
}
"""What each decision ends with; records never prove a claim, so one that they do not contradict is all there is."""

ENDINGS = """exit status:
  0    pass: every limit holds; or nothing was limited
  1    fail: a limit is exceeded, the records contradict a claimed epsilon, or the sides differ without any model
  2    misuse, or input that cannot be used; standard error says why
  3    undecided: too few records to say, and the answer says how many are needed; or members are exposed, and no
       limit judges that
  70   an error in mace itself
  130  interrupted
  141  the program that read the answer stopped reading"""


def status_of(answer: Mapping[str, Any]) -> int:
    """1 if anything that was judged fails, else 3 if any of it is open, else 0."""
    statuses = {STATUS[decision] for decision in _decisions(answer)}
    return FAIL if FAIL in statuses else max(statuses, default=PASS)


def _decisions(answer: Mapping[str, Any]) -> Iterator[str]:
    """Every decision that an answer states as a whole: over its limits, about its one limit, about a claim."""
    part = answer.get("result", answer)  # a report holds the answer that it is about
    for statement in (answer.get("gate"), part, part.get("verdict"), part.get("claim")):
        if statement is not None and statement.get("decision") is not None:
            yield statement["decision"]
    if part.get("differs", False):
        yield "fail"
