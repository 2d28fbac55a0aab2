"""A saved answer: which operation it is of and whether it is intact, so that it can be rendered without the scores."""

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from math import inf
from typing import Any

from pydantic import TypeAdapter, ValidationError

from estimators.decisions.exposed_members import EXPOSED
from estimators.decisions.verdict import Decision, by_learned_score, decision, overall
from macekit.reports.files import is_of_files, together
from macekit.schemas.by_operation import ANSWERS
from macekit.text import printable

MARKS = frozenset({"sentence", "provenance"})  # every answer has one of these, and no request has either

PARALLEL = frozenset(
    {"fpr", "tpr", "index", "cell", "risk", "lower", "upper", "simultaneous_lower", "simultaneous_upper"}
    | {"signed_risk", "signed_lower", "signed_upper", "posterior", "flagged"}
    | {"members", "nonmembers", "labels", "starts", "ends"}
    | {"metric", "metric_lower", "metric_upper", "metric_guesses_member", "metric_on_threshold"}
    | {"paper_signed_risk", "paper_lower", "paper_upper"}
    | {"paper_metric", "paper_metric_lower", "paper_metric_upper"}
)
"""Lists that have one entry for each record, cell, bin or point, and so are equally long side by side."""


COUNT_FIELDS = frozenset(
    {"members", "nonmembers", "outside_members", "outside_nonmembers", "records", "unknown", "flagged"}
)
"""How many there are: never fewer than none."""

NEVER_EMPTY = frozenset({"limits", "ranking", "metrics", "fpr", "tpr", "provenance"})
"""Lists of which every answer that has them has an entry."""

DEEPEST = 32  # levels of an answer; those that the service gives have a third of that


POINTS = ("estimate", "risk", "tpr")  # what stands between two ends


class BrokenAnswerError(ValueError):
    """A kept answer that is incomplete, or whose parts do not go together; the text says where."""


def recognise(answer: object) -> str | None:
    """The operation whose answer this is, by its keys; None if it is no answer at all."""
    if not isinstance(answer, Mapping) or not MARKS & answer.keys():
        return None
    if is_of_files(answer):
        return "gate"
    return max(ANSWERS, key=lambda operation: _likeness(answer.keys(), ANSWERS[operation].__annotations__.keys()))


def require_names_once(data: memoryview) -> None:
    """Refuse an object with a name twice: one reader would take the first of its values, another the last."""

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        content = dict(pairs)
        if len(content) < len(pairs):
            names = [name for name, _ in pairs]
            twice = printable(next(name for name in names if names.count(name) > 1))
            raise BrokenAnswerError(f"{twice}: occurs twice")
        return content

    json.loads(bytes(data), object_pairs_hook=once)


def validate_answer(operation: str, answer: object) -> dict[str, Any]:
    """The answer with what belongs to it and nothing else: of the right shape, and agreeing with itself.

    It is not signed: that its numbers are those of some scores is shown only by asking again.
    """
    if not _shallow(answer, DEEPEST):
        raise BrokenAnswerError("nested too deeply")
    if operation == "gate" and isinstance(answer, Mapping) and is_of_files(answer):
        return _of_files(answer)
    try:
        result: dict[str, Any] = TypeAdapter(ANSWERS[operation]).validate_python(answer, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the answer"
        raise BrokenAnswerError(f"{where}: {first['msg'][0].lower()}{first['msg'][1:]}") from None
    for fault in _faults(result, ""):
        raise BrokenAnswerError(fault)
    return result


def _of_files(answer: Mapping[str, Any]) -> dict[str, Any]:
    """A gate of several files: each answer as it has to be, and the decision over them the one that these make."""
    try:
        answers: list[Any] = [
            {"file": str(each["file"]), "answer": validate_answer("gate", each["answer"])} for each in answer["files"]
        ]
        result: Any = together(answers, answer["confidence"])
    except (AttributeError, LookupError, TypeError, ArithmeticError) as error:
        message = f"files: not those of a gate of several files ({type(error).__name__})"
        raise BrokenAnswerError(message) from None
    if result != answer:
        raise BrokenAnswerError("the decision, or what stands beside it, is not what its files say")
    return dict(result)


def _shallow(value: object, levels: int) -> bool:
    """Whether there are no more levels than that."""
    if not isinstance(value, Mapping | list):
        return True
    parts = value.values() if isinstance(value, Mapping) else value
    return levels > 0 and all(_shallow(part, levels - 1) for part in parts)


def _likeness(keys: Any, other: Any) -> float:
    """How much of both is shared."""
    return len(keys & other) / len(keys | other)


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
    yield from _impossible(part, path)
    yield from _outside(part, path)
    sizes = {name: len(each) for name, each in part.items() if name in PARALLEL and isinstance(each, list)}
    if len(set(sizes.values())) > 1:
        yield f"{path}: {', '.join(sizes)} differ in length"
    if "outside_members" in part:
        yield from _undrawable(part, path)
    if isinstance(part.get("verdict"), Mapping) and isinstance(part.get("advantage"), Mapping):
        verdict = part["verdict"]
        limits = part[verdict.get("rests_on", "advantage")]
        plain = _decided(verdict, limits["lower"], limits["upper"], verdict["threshold"])
        if verdict["decision"] != _unless_exposed(verdict, plain):
            yield f"{path}.verdict: decision is not what the interval says at this threshold".lstrip(".")
        options = part["provenance"]["options"]  # those of earlier versions have the limit by its former name
        if verdict["threshold"] != options.get("max_advantage", options.get("threshold")):
            yield f"{path}.verdict: threshold is not the one of the options".lstrip(".")
    if isinstance(part.get("limits"), list) and "decision" in part:
        yield from _misjudged(part, path)
    if "covers" in part and "decision" in part and bool(part["covers"]) != (part["decision"] == "pass"):
        yield f"{path}.covers: stands under a pass, and under nothing else".lstrip(".")


def _outside(part: Mapping[str, Any], path: str) -> Iterator[str]:
    """Intervals that hold nothing, or not their own estimate; a published statistic may lie outside its own."""
    for name, low, high in (*((point, "lower", "upper") for point in POINTS), ("auc", "auc_lower", "auc_upper")):
        value, lower, upper = (part.get(each) for each in (name, low, high))
        if not isinstance(lower, int | float):
            continue
        top = upper if isinstance(upper, int | float) else inf
        if lower > top:
            yield f"{path}: the lower end is above the upper one"
        elif "statistic" not in part and isinstance(value, int | float) and not lower <= value <= top:
            yield f"{path}: the {name} is outside its interval"


def _impossible(part: Mapping[str, Any], path: str) -> Iterator[str]:
    """Numbers and lists that no answer has."""
    for name, value in part.items():
        where = f"{path}.{name}".lstrip(".")
        if name == "confidence" and isinstance(value, float) and not 0.0 < value < 1.0:
            yield f"{where}: not between 0 and 1"
        if name in NEVER_EMPTY and value == []:
            yield f"{where}: empty"
        counts = value if isinstance(value, list) else [value]
        if name in COUNT_FIELDS and any(isinstance(each, int) and each < 0 for each in counts):
            yield f"{where}: less than 0"


def _undrawable(scores: Mapping[str, Any], path: str) -> Iterator[str]:
    """What is wrong with how the scores lie: intervals have edges, and categories have labels."""
    expected = scores["edges"] if scores["kind"] == "intervals" else scores["labels"]
    other = scores["labels"] if scores["kind"] == "intervals" else scores["edges"]
    if expected is None or other is not None:
        yield f"{path}: {scores['kind']} have edges if they are intervals, and labels if they are categories"
    elif scores["kind"] == "intervals" and len(expected) != len(scores["members"]) + 1:
        yield f"{path}: edges are not one more than the bins"
    elif scores["kind"] == "intervals" and any(left >= right for left, right in pairwise(expected)):
        yield f"{path}: edges do not increase"
    if not scores["members"]:
        yield f"{path}: no bins"


def _misjudged(gate: Mapping[str, Any], path: str) -> Iterator[str]:
    """What a gate's limits do not say; what has no upper end may be of any size."""
    for place, limit in enumerate(gate["limits"]):
        upper = inf if limit["upper"] is None else limit["upper"]
        if limit["decision"] != _decided(limit, limit["lower"], upper, limit["maximum"]):
            yield f"{path}.limits.{place}: decision is not what the interval says at this limit".lstrip(".")
    plain = overall(Decision(limit["decision"]) for limit in gate["limits"]).value
    if gate["decision"] != _unless_exposed(gate, plain):
        yield f"{path}: decision is not what its limits come to".removeprefix(": ")


def _unless_exposed(part: Mapping[str, Any], plain: str) -> str:
    """The decision, open where a pass is withheld for a severe exposure, and not applicable for anything else."""
    because = part.get("undecided_because")
    if because not in (None, EXPOSED):
        return plain if plain == Decision.FAIL.value else Decision.NOT_APPLICABLE.value
    withheld = plain == Decision.PASS.value and because is not None
    return Decision.INCONCLUSIVE.value if withheld else plain


def _decided(verdict: Mapping[str, Any], lower: float, upper: float, threshold: float) -> str:
    """What an interval says at a threshold; by a learned score nothing passes that did not accept it."""
    return by_learned_score(decision(lower, upper, threshold), verdict.get("learned_score_accepted")).value
