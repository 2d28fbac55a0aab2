"""Several files, each with its own answer of a gate, and one decision over all of them at one level.

Each file is judged at a confidence of 1 - alpha/n, so that with 1 - alpha no decision about any of n files is wrong,
however they depend on one another (Bonferroni).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from estimators.decisions.verdict import Decision, opening, overall
from estimators.statement import percent
from macekit.schemas.statements import WarningAnswer

MOST_NAMED = 5  # files that a sentence names


class FileAnswer(TypedDict):
    """One file: its name as it was given, and the whole answer about it."""

    file: str
    answer: Mapping[str, Any]


class FilesAnswer(TypedDict):
    """What a gate of several files decides; ``files`` has the answer about each."""

    sentence: str
    decision: str
    covers: list[str]
    confidence: Annotated[float, Field(description="probability that no decision is wrong")]
    confidence_of_each: Annotated[float, Field(description="at which each file is judged")]
    decisions: Annotated[dict[str, int], Field(description="how many files pass, fail, and are undecided")]
    files: list[FileAnswer]
    warnings: list[WarningAnswer]


def level_of_each(confidence: float, files: int) -> float:
    """The confidence at which each of several files is judged: the error is split evenly."""
    return 1.0 - (1.0 - confidence) / files


def together(answers: Sequence[FileAnswer], confidence: float) -> FilesAnswer:
    """Pass if every file passes, fail if one fails, else undecided; ``confidence`` is that of all of them together."""
    decisions = [Decision(each["answer"]["decision"]) for each in answers]
    outcome = overall(decisions)
    return {
        "sentence": _sentence(answers, outcome, confidence),
        "decision": outcome.value,
        "covers": list(_lines(answers, "covers")) if outcome is Decision.PASS else [],
        "confidence": confidence,
        "confidence_of_each": level_of_each(confidence, len(answers)),
        "decisions": {each.value: decisions.count(each) for each in Decision},
        "files": list(answers),
        "warnings": list(_warnings(answers)),
    }


def is_of_files(answer: Mapping[str, Any]) -> bool:
    """Whether an answer of a gate is about several files."""
    return "files" in answer


def _sentence(answers: Sequence[FileAnswer], outcome: Decision, confidence: float) -> str:
    of_outcome = [each for each in answers if each["answer"]["decision"] == outcome.value]
    begin = opening(outcome, any(each["answer"]["records_needed"] is not None for each in of_outcome))
    number, names, one = len(answers), _names(of_outcome), len(of_outcome) == 1
    word = "undecided" if outcome is Decision.INCONCLUSIVE else outcome.value
    says = {
        Decision.PASS: f"each of {number} files keeps every limit",
        Decision.FAIL: f"of {number} files {names} {'exceeds' if one else 'exceed'} a limit",
    }.get(outcome, f"of {number} files {names} {'is' if one else 'are'} {word}, and none exceeds a limit")
    shared = percent(level_of_each(confidence, number))
    return (
        f"{begin}: {says}. With {percent(confidence)} confidence no decision on any of them is wrong: each is judged "
        f"at {shared}."
    )


def _names(answers: Sequence[FileAnswer]) -> str:
    names = [each["file"] for each in answers[:MOST_NAMED]]
    if len(answers) > MOST_NAMED:
        names.append(f"{len(answers) - MOST_NAMED} more")
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _lines(answers: Sequence[FileAnswer], field: str) -> Iterator[str]:
    """The lines of every file: what stands under all of them once, anything else after the name of its file."""
    every: list[list[str]] = [each["answer"][field] for each in answers]
    shared = [line for line in every[0] if all(line in lines for lines in every)]
    yield from shared
    for each, lines in zip(answers, every, strict=True):
        yield from (f"{each['file']}: {line}" for line in lines if line not in shared)


def _warnings(answers: Sequence[FileAnswer]) -> Iterator[WarningAnswer]:
    for each in answers:
        for note in each["answer"]["warnings"]:
            yield {"code": note["code"], "message": f"{each['file']}: {note['message']}"}
