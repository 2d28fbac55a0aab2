"""From options as they came to a checked question, and from its words to the library's own."""

import hashlib
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args

import msgspec
import numpy as np
from pydantic import BaseModel, ValidationError

from estimators import (
    VERSION,
    CellsTarget,
    Counts,
    LearnedTarget,
    Metric,
    Scores,
    ThresholdTarget,
    TwoSidedTarget,
    preset,
)
from estimators.adversary.learned import DEFAULT_LEARNERS, boosting, boxes, logistic, quadratic
from estimators.adversary.pilot import tree
from estimators.adversary.targets import Target
from estimators.density.bandwidth import BANDWIDTHS, Fixed
from estimators.errors import nearest_name
from estimators.paper import EqualWidth, Kernel
from estimators.sample.digests import digest
from estimators.statement import Caution
from macekit.call import BRIEF, CSV, Call, Reply
from macekit.catalogue import BY_NAME, FORMS, rendered
from macekit.declaration import filled_in
from macekit.decoding.body import Column, DecodedBody, table_options
from macekit.operations import encode
from macekit.problems import Problem, fault, unknown_field
from macekit.reports.model import Context, minute
from macekit.reports.rendering import render
from macekit.schemas import questions
from macekit.schemas.by_operation import QUESTIONS, columns_of
from macekit.schemas.query_string import NAMES, TABLE
from macekit.schemas.records import Question, SampleQuestion
from macekit.schemas.statements import OriginAnswer, ProvenanceAnswer

if TYPE_CHECKING:
    import pyarrow as pa

Q = TypeVar("Q", bound=Question)

NO_ZERO = re.compile(r"([+-]?)(\.\d+(?:[eE][+-]?\d+)?)", re.ASCII)
"""A number as people write it, and JSON does not: ``.95``."""

LEARNERS = {"quadratic": quadratic, "logistic": logistic, "boxes": boxes, "boosting": boosting, "tree": tree}
WORDS = {
    "model_type": "an object",
    "dict_type": "an object",
    "list_type": "a list",
    "float_parsing": "a number, such as 0.1",
    "float_type": "a number, such as 0.1",
    "too_long": "a shorter list",
    "too_short": "a longer list",
}
"""What is needed, for faults whose pydantic message names classes of this project."""

BOUNDS = frozenset({"greater_than", "greater_than_equal", "less_than", "less_than_equal"})
"""Faults of a value that has the right type."""

LISTS = frozenset({"operating_points", "metrics", "learners", "edges"})
"""Options that are lists, wherever they stand."""

KINDS = {
    "missing": "missing-field",
    "extra_forbidden": "unknown-field",
    "literal_error": "unknown-name",
    "string_pattern_mismatch": "unknown-name",
    **dict.fromkeys(("too_short", "too_long", "string_too_short", "string_too_long"), "out-of-range"),
    **dict.fromkeys(("finite_number", *BOUNDS), "out-of-range"),
}
"""The kind of problem for each fault of pydantic; any other fault is a wrong type."""


def validate(kind: type[Q], options: Mapping[str, object]) -> Q:
    """The question, or the first thing wrong with it."""
    try:
        return kind.model_validate(options)
    except ValidationError as error:
        raise _problem(kind, error) from None


def parse_text_options(kind: type[Question], options: Mapping[str, object]) -> dict[str, object]:
    """Options of a question that came as text, as the values they spell; what can only be a list is one."""
    return {
        name: [value] if name in _lists(kind) and not isinstance(value, list) else value
        for name, value in cast("dict[str, object]", parse_value(options)).items()
    }


def parse_value(options: object) -> object:
    """Options that came as text, as the values they spell: ``0.5``, ``true``; ``a,b`` is a list."""
    if isinstance(options, Mapping):
        return {name: value if name in NAMES else _as_list(name, parse_value(value)) for name, value in options.items()}
    if not isinstance(options, str):
        return options
    if options.startswith("{"):  # a form's field
        with suppress(msgspec.DecodeError, RecursionError):
            return msgspec.json.decode(options)
    if "," in options:
        return [parse_value(part.strip()) for part in options.split(",")]
    if number := NO_ZERO.fullmatch(options):
        options = f"{number[1].removeprefix('+')}0{number[2]}"
    try:
        return msgspec.json.decode(options, type=float | int | bool)
    except (msgspec.DecodeError, RecursionError):
        return options


@cache
def _lists(kind: type[Question]) -> frozenset[str]:
    """The fields of a question that take nothing but a list."""
    fields = kind.model_json_schema()["properties"].items()
    types_of = {
        name: {each.get("type") for each in schema.get("anyOf", [schema])} - {"null"} for name, schema in fields
    }
    return frozenset(name for name, types in types_of.items() if types == {"array"})


def _as_list(name: str, value: object) -> object:
    """A list of one entry is spelt like the entry."""
    return [value] if name in LISTS and not isinstance(value, list) else value


def provenance_options(question: Question, call: Call) -> dict[str, object]:
    """The options of a question as plain values, records left out, and the columns that were named: for provenance."""
    return question.model_dump(exclude=set(columns_of(call.operation)), exclude_none=True) | table_options(call)


WITH_CHANGES = ("auto", "histogram", "kde")
"""Kinds of estimators whose attackers may change their guess along the score."""


def target(estimator: questions.Estimator, changes: int | None = None) -> Target | None:
    """The class of adversaries an estimator speaks of; ``changes`` is that of the question, by its shorter name."""
    if changes is not None:
        if estimator.changes is not None:
            raise fault("bad-option", "changes", "is estimator.changes by its shorter name; give it once")
        if estimator.kind not in WITH_CHANGES:
            kinds = " or ".join(WITH_CHANGES)
            detail = f"applies only to kind {kinds} of estimator, not {estimator.kind}; remove it"
            raise fault("bad-option", "changes", detail)
        estimator = estimator.model_copy(update={"changes": changes})
    _only_for(estimator, "bins", ("histogram", "learned"))
    _only_for(estimator, "universe", ("histogram",))
    _only_for(estimator, "changes", WITH_CHANGES)
    _only_for(estimator, "bandwidth", ("kde",))
    _only_for(estimator, "learners", ("learned",))
    _only_for(estimator, "accept_learned_score", ("learned",))
    match estimator.kind:
        case "histogram":
            return CellsTarget(estimator.bins, estimator.universe, _changes(estimator))
        case "threshold":
            return ThresholdTarget()
        case "two_sided":
            return TwoSidedTarget()
        case "learned":
            learners = tuple(LEARNERS[name]() for name in estimator.learners or ()) or DEFAULT_LEARNERS
            return LearnedTarget(learners, estimator.bins, bool(estimator.accept_learned_score))
    return None if estimator.changes is None else CellsTarget(changes=_changes(estimator))


def _changes(estimator: questions.Estimator) -> int:
    return CellsTarget().changes if estimator.changes is None else estimator.changes


def reading(estimator: questions.Estimator, seed: int = 0) -> EqualWidth | Kernel | None:
    """How the paper's statistic reads a continuous score."""
    return _reading(estimator, estimator.bins, seed)


def _reading(
    estimator: questions.Estimator | questions.PaperEstimator, bins: int | None, seed: int = 0
) -> EqualWidth | Kernel | None:
    if estimator.kind == "histogram":
        return EqualWidth() if bins is None else EqualWidth(bins)
    if estimator.kind != "kde":
        return None
    width = estimator.bandwidth or "scott"
    return Kernel(BANDWIDTHS[width] if isinstance(width, str) else Fixed(width), seed)


def cells_asked(question: questions.CellsQuestion) -> tuple[int | None, tuple[Caution, ...]]:
    """Into how many cells scores are to be sorted, and what to know if that was said in its former place."""
    inside = None if question.estimator is None else question.estimator.bins
    if question.bins is None:
        return inside, ()
    if inside is not None:
        raise fault("bad-option", "bins", "is estimator.bins by its former name; give it once")
    message = "bins has moved to estimator.bins, as in every other question; the next version takes it there alone"
    return question.bins, (Caution("deprecated_option", message),)


def paper_reading(estimator: questions.PaperEstimator | None, bins: int | None) -> EqualWidth | Kernel | None:
    """How the paper's estimate of a record, or of a metric, reads a continuous score; None if none was asked for."""
    if estimator is None:
        return None
    if estimator.kind != "kde" and estimator.bandwidth is not None:
        detail = f"estimator.bandwidth applies only to kind kde, not {estimator.kind or 'to none'}; remove it"
        raise Problem("bad-option", detail, field="estimator.bandwidth")
    return _reading(estimator, bins)


def metric(choice: questions.MetricGiven, prior: float) -> Metric:
    """A metric by name, by name and parameters, or by coefficients."""
    if isinstance(choice, questions.LinearMetric):
        return Metric(choice.name, **choice.coefficients.model_dump())
    if isinstance(choice, questions.PresetMetric):
        return preset(choice.preset, prior, **choice.model_dump(exclude={"preset"}, exclude_none=True))
    return preset(choice, prior)


def _only_for(estimator: questions.Estimator, option: str, kinds: tuple[str, ...]) -> None:
    if getattr(estimator, option) is not None and estimator.kind not in kinds:
        detail = f"applies only to kind {' or '.join(kinds)}, not {estimator.kind}; remove it"
        raise Problem("bad-option", f"estimator.{option} {detail}", field=f"estimator.{option}")


def _problem(kind: type[BaseModel], error: ValidationError) -> Problem:
    """The first fault, in words that repeat nothing of what was submitted."""
    faults = error.errors(include_url=False, include_context=False)
    path, at = _path(kind, faults[0]["loc"])
    # of several branches the one whose type it has knows best what is wrong
    branches = [each for each in faults if _path(kind, each["loc"])[0] == path]
    branch = next((each for each in branches if each["type"] in BOUNDS), faults[0])
    slug = KINDS.get(branch["type"], "wrong-type")
    if slug == "unknown-field":
        name, where = str(branch["loc"][-1]), ".".join(path) or "the request"
        return _elsewhere(kind, name, where) or unknown_field(name, at.model_fields, where)
    field = ".".join(path)
    need = _need(branch["type"], branch["msg"])
    if slug == "missing-field":
        words = [each for each in get_args(at.model_fields[path[-1]].annotation) if isinstance(each, str)]
        return fault(slug, field, "is required and missing" + (f": one of {', '.join(words)}" if words else ""))
    index = next((part for part in branch["loc"] if isinstance(part, int)), None)
    percent = str(branch["input"]).endswith("%") and need == WORDS["float_type"]
    if percent or (re.search(r"less than (or equal to )?(1|0\.9+)$", need) and not field.endswith("delta")):
        need += "; a percentage is written as a share, 95% as 0.95"
    if need == WORDS["float_type"] and re.fullmatch(r"[+-]?\d*,\d+", str(branch["input"])):
        need += ", with a decimal point and no comma"
    names = re.findall(r"'([^']+)'", need) if slug == "unknown-name" else []
    near = nearest_name(str(branch["input"]), names)
    hint = f"; did you mean {near!r}?" if near else ""
    what = f"{field}: entry {index}" if index is not None and need.startswith("a list") else field + ":"
    return Problem(slug, f"{what} needs to be {need}{hint}", field=field, index=index)


def _elsewhere(kind: type[BaseModel], name: str, where: str) -> Problem | None:
    """That a field has its place elsewhere in the question; None if it has none."""
    inside = (
        f"{parent}.{name}"
        for parent, field in kind.model_fields.items()
        if (options := _class_of(field.annotation)) is not None and name in options.model_fields
    )
    place = next(inside, name if name in kind.model_fields else None)
    if place is None or place == where:
        return None
    return Problem("unknown-field", f"{where}: {name} is not known here; its place is {place}", field=place)


def _need(fault: str, message: str) -> str:
    """What pydantic says is needed, in our words; numbers of a hundred digits in few."""
    if fault in ("too_short", "too_long"):
        most = re.search(r"at (?:least|most) \d+", message)
        return f"a list of {most[0]}" if most else WORDS[fault]
    need = WORDS.get(fault) or message.removeprefix("Input should be ")
    return re.sub(r"\d{16,}", lambda digits: f"{float(digits[0]):g}", need)


def _path(kind: type[BaseModel], loc: tuple[int | str, ...]) -> tuple[list[str], type[BaseModel]]:
    """Field names along a fault's place, and the class in which it lies; names of union branches are left out."""
    path: list[str] = []
    at: Any = kind
    for part in loc:
        if isinstance(part, int):
            continue
        fields = at.model_fields if at is not None else {}
        if part in fields:
            path.append(str(part))
            at = _class_of(fields[part].annotation) or at
        elif (branch := _BRANCHES.get(str(part))) is not None:
            at = branch
    return path, at


TABLES = {"members": "train", "nonmembers": "holdout"}
"""The tables of a question, by what the library calls them."""


def field_path(operation: str, argument: str | None) -> str | None:
    """Where the question of an operation has an argument of the library: ``estimator.bins``, if not ``bins``."""
    fields = QUESTIONS[operation].model_fields
    if BY_NAME[operation].tables:
        return argument if argument in BY_NAME[operation].tables else TABLES.get(argument or "", argument)
    if argument is None or "estimator" not in fields:
        return argument
    estimator = _class_of(fields["estimator"].annotation)
    inside = estimator is not None and argument in estimator.model_fields
    return f"estimator.{argument}" if inside else argument


def _class_of(annotation: Any) -> type[BaseModel] | None:
    every = (annotation, *get_args(annotation))
    return next((each for each in every if isinstance(each, type) and issubclass(each, BaseModel)), None)


_BRANCHES: dict[str, type[BaseModel]] = {"preset": questions.PresetMetric, "linear": questions.LinearMetric}


def parse_question(kind: type[Q], body: DecodedBody) -> Q:
    """The checked question; options that came as text are read first, and those declared stand for what is not said."""
    options = parse_text_options(kind, body.options) if body.textual else body.options
    return validate(kind, filled_in(options, TABLE))


def require_form(call: Call) -> None:
    """Refuse a form in which the operation has no answer."""
    forms = FORMS[call.operation]
    if call.accept not in forms:
        raise Problem("not-acceptable", f"{call.operation} answers as {', '.join(forms)}", field="Accept")


def reply_of(call: Call, answer: object, *samples: Scores | Counts) -> Reply:
    """An answer as JSON, or as a report made of that JSON and of nothing else."""
    require_form(call)
    data = encode.json_bytes(answer)
    if rendered(call) or call.accept == BRIEF:
        context = Context(date=minute() if call.dated else None)
        data = render(call.operation, msgspec.json.decode(data), call.accept, context)
    records = sum(s.n_members + s.n_nonmembers for s in samples)
    return Reply(200, call.accept, data, records, input_sha256=fingerprint_in(answer))


def reply_with_rows(
    call: Call, table: "pa.Table", about: Mapping[str, object], records: int, input_sha256: str
) -> Reply:
    """A row for each record: CSV, or an Arrow stream that has in its metadata what the rows are about."""
    of_rows = encode.csv_bytes(table) if call.accept == CSV else encode.arrow_bytes(table, encode.notes(about))
    return Reply(200, call.accept, of_rows, records, input_sha256=input_sha256)


def fingerprint_in(answer: object) -> str | None:
    """The SHA-256 of the input, where an answer states one."""
    if not isinstance(answer, Mapping):
        return None
    source = answer.get("provenance") or answer
    value = source.get("input_sha256") if isinstance(source, Mapping) else None
    return value if isinstance(value, str) else None


def provenance(
    call: Call,
    question: SampleQuestion,
    body: DecodedBody,
    data: Scores | Counts,
    method: str,
    sha256: str | None = None,
) -> ProvenanceAnswer:
    """What was asked, of which scores, and by which method it was answered."""
    options = provenance_options(question, call)
    return encode.provenance(data, method, question.seed, options, encode.columns_of(body), sha256)


def origin(call: Call, question: Question, body: DecodedBody) -> OriginAnswer:
    """What was asked, of which arrays, by which version."""
    arrays = body.arrays
    return {
        "method": call.operation,
        "version": VERSION,
        "input_sha256": fingerprint_of(arrays) if arrays else None,
        "arrays": sorted(arrays),
        "columns": encode.columns_of(body),
        "options": provenance_options(question, call),
    }


def fingerprint_of(arrays: Mapping[str, Column]) -> str:
    """SHA-256 over the arrays, by name; the same values give the same one, however they came."""
    lines = "".join(f"{name} {digest(np.asarray(arrays[name]))}\n" for name in sorted(arrays))
    return hashlib.sha256(lines.encode()).hexdigest()
