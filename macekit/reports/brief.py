"""What a pipeline reads of an answer, in proportion to that: the decision and its sentence, ends, and what to know."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict


class BriefLimit(TypedDict):
    """One limit, and where what it limits lies."""

    name: str
    maximum: float | None
    lower: float | None
    upper: float | None
    decision: str | None


class BriefEnds(TypedDict):
    """The ends of one interval."""

    lower: float | None
    upper: float | None


class BriefAnswer(TypedDict):
    """What a pipeline reads of an answer (`detail=brief`); the answer itself has where each number comes from."""

    sentence: str | None
    decision: Annotated[str | None, Field(description="null where nothing was to be decided")]
    undecided_because: str | None
    records_needed: int | None
    covers: Annotated[list[str], Field(description="what a pass covers; empty without one")]
    limits: list[BriefLimit]
    ends: Annotated[dict[str, BriefEnds], Field(description="intervals of the answer, by its fields")]
    warnings: Annotated[list[str], Field(description="the codes of the answer's warnings")]
    version: Annotated[str | None, Field(description="of the method")]
    input_sha256: Annotated[list[str], Field(description="of what was asked about: one of each query")]
    state: Annotated[object, Field(description="of a run of batches: give it back with the next one; null else")]


class BriefFile(TypedDict):
    """One of several files, and what a pipeline reads of the answer about it."""

    file: str
    answer: BriefAnswer


class BriefFiles(TypedDict):
    """What a pipeline reads of a gate of several files (`mace gate a.csv b.csv --brief`)."""

    sentence: str
    decision: str
    covers: list[str]
    files: list[BriefFile]
    warnings: Annotated[list[str], Field(description="the codes of all answers' warnings")]


ENDS = ("lower", "upper")
LIMIT_FIELDS = ("name", "maximum", *ENDS, "decision")


def brief(answer: Mapping[str, Any]) -> BriefAnswer:
    """The brief form of an answer, its JSON decoded.

    >>> answer = {"sentence": "Fail.", "decision": "fail", "warnings": [{"code": "few_records", "message": "..."}]}
    >>> found = brief(answer)
    >>> found["decision"], found["warnings"], found["limits"]
    ('fail', ['few_records'], [])
    """
    result = answer.get("result") or answer
    verdict = answer.get("gate") or result.get("verdict") or answer
    provenance = answer.get("provenance") or answer
    number = verdict.get("records_needed")
    several = list(provenance) if isinstance(provenance, list) else [provenance]
    return {
        "sentence": answer.get("sentence"),
        "decision": verdict.get("decision"),
        "undecided_because": verdict.get("undecided_because"),
        "records_needed": number if isinstance(number, int) else None,
        "covers": list(verdict.get("covers") or ()),
        "limits": [{name: limit.get(name) for name in LIMIT_FIELDS} for limit in verdict.get("limits") or ()],  # type: ignore[misc]
        "ends": dict(_ends(result)),
        "warnings": list(dict.fromkeys(each["code"] for each in answer.get("warnings") or ())),
        "version": several[0].get("version"),
        "input_sha256": [each["input_sha256"] for each in several if each.get("input_sha256")],
        "state": answer.get("state"),
    }


def brief_of_files(answer: Mapping[str, Any]) -> BriefFiles:
    """The brief form of a gate of several files."""
    return {
        "sentence": answer["sentence"],
        "decision": answer["decision"],
        "covers": answer["covers"],
        "files": [{"file": each["file"], "answer": brief(each["answer"])} for each in answer["files"]],
        "warnings": list(dict.fromkeys(each["code"] for each in answer["warnings"])),
    }


def _ends(result: Mapping[str, Any]) -> Iterator[tuple[str, BriefEnds]]:
    for name, value in result.items():
        if isinstance(value, Mapping) and value.keys() >= set(ENDS) and not isinstance(value["lower"], list):
            yield name, {"lower": value["lower"], "upper": value["upper"]}
