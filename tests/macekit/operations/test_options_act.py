"""No option does nothing: each is varied, and the answer changes or the request is refused with the option's name.

What may be asked is read off the questions themselves, so that an option that is new is varied, too: by its values if
it names them, else by numbers inside its limits. What is varied and yet changes nothing has to be listed, with why.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from typing import Any, get_args

import numpy as np
import pytest

from app.openapi.examples import JSON_EXAMPLES
from macekit.catalogue import OPERATIONS
from macekit.questions.metrics import work as metrics
from macekit.schemas.by_operation import QUESTIONS, columns_of
from macekit.schemas.records import SampleQuestion
from tests.macekit.asking import post, quickly

Body = dict[str, Any]
Schema = dict[str, Any]

RNG = np.random.default_rng(7)
N = 60


def _sides(members: np.ndarray[Any, Any], nonmembers: np.ndarray[Any, Any]) -> Body:
    return {"members": members.tolist(), "nonmembers": nonmembers.tolist()}


SAMPLES: dict[str, Body] = {
    "scores": _sides(RNG.normal(1.0, 1.0, N), RNG.normal(0.0, 1.0, N)),
    "integers": _sides(RNG.integers(3, 12, N), RNG.integers(0, 9, N)),
    "text": _sides(RNG.choice(list("abcde"), N), RNG.choice(list("cdefg"), N)),
    "vectors": _sides(RNG.normal(1.0, 1.0, (N, 2)), RNG.normal(0.0, 1.0, (N, 2))),
    "counts": {
        "counts": {
            "members": (RNG.integers(1, 30, 24) + np.arange(24)).tolist(),
            "nonmembers": (RNG.integers(1, 30, 24) + 24 - np.arange(24)).tolist(),
            "edges": np.linspace(0.0, 1.0, 23).tolist(),
        }
    },
}
GROUPS = ["old", "young", "young"] * (2 * N // 3)


def _bodies(operation: str) -> Iterator[tuple[str, Body]]:
    """Requests to vary, each by its name: every kind of records, under every option that another one needs."""
    if operation == "plan":
        yield "max_advantage", {"expected": 0.6, "max_advantage": 0.2}
        yield "width", {"expected": 0.6, "width": 0.5}
        yield "clusters", {"expected": 0.5, "max_advantage": 0.2, "cluster_size": 3, "correlation": 0.5}
        yield "models", {"expected": 0.6, "max_advantage": 0.4, "spread": 0.1, "records_per_model": 60}
        return
    by_example = operation in ("attack", "exposed", "procedure") or not issubclass(QUESTIONS[operation], SampleQuestion)
    if by_example and operation != "compare":
        for name, example in JSON_EXAMPLES[operation].items():
            assert isinstance(example.value, dict)
            yield name, example.value
        return
    if operation == "report":  # its options are those of /v1/advantage, by the same code
        yield "scores", SAMPLES["scores"]
        return
    for kind, sample in SAMPLES.items():
        if kind == "text" and operation in ("compare", "gate", "theory/together"):
            continue  # cells, as integers have them, whose order gives one more way to do nothing
        if operation == "gate":
            yield f"{kind}, advantage", {**sample, "max_advantage": 0.4}
            if kind == "scores":
                yield f"{kind}, anytime", {**sample, "max_advantage": 0.4, "anytime": True}
                yield f"{kind}, groups", {**sample, "max_group_risk": 0.3, "groups": GROUPS}
                yield f"{kind}, own", {**sample, "max_group_advantage": 0.3, "groups": GROUPS}
                yield f"{kind}, metric", {**sample, "metric": "precision", "max": 0.9}
                yield f"{kind}, epsilon", {**sample, "max_epsilon": 1.0, "delta": 0.1}
            if kind in ("scores", "vectors"):
                yield f"{kind}, tpr", {**sample, "max_tpr": 0.3, "at_fpr": 0.1}
        elif operation == "compare":
            again = deepcopy(sample)
            for side in ("members", "nonmembers"):
                (again.get("counts") or again)[side].reverse()
            yield kind, {"queries": {"first": sample, "second": again}}
        elif operation == "individual-risk":
            yield kind, sample | ({"targets": [0.1, 0.5, 0.9]} if kind == "counts" else {})
        elif operation == "metrics":  # of the many, two on which every option acts
            yield kind, {**sample, "metrics": ["precision", "f_beta"]}
        elif operation == "theory/together":
            yield kind, {**sample, "claimed_epsilon": 0.5}
        elif operation == "theory/one-run":
            yield kind, {**sample, "draw": "split", "mu": 0.5, "delta": 1e-5, "adjacency": "add_remove"}
        elif (operation, kind) != ("counts", "vectors"):  # counts of vectors are refused
            yield kind, sample
    if operation == "counts":
        yield "shards", {"shards": [SAMPLES["counts"]["counts"]] * 2}


MANY = 2
"""Named values beyond which, after the first body, one is tried, each in its turn: what a name means hangs on no
record, and is the same to every operation. Of /v1/advantage each is tried with all records."""


# --- values -------------------------------------------------------------------------------------------------
# The values of an option, read off its schema.


def _options(
    schema: Schema, defs: Schema, columns: frozenset[str], above: str = ""
) -> Iterator[tuple[str, list[list[Any]]]]:
    """Every option by its dotted name, with values to try; the estimator's are options of their own.

    Values that are named must act one by one; of numbers one that acts is enough, so they are tried together.
    """
    for name, field in schema["properties"].items():
        if name in columns:
            continue
        inner = next(_branches(field, defs))
        if inner.get("type") == "object" and "kind" in inner["properties"]:
            yield from _options(inner, defs, frozenset(), f"{name}.")
        else:
            yield above + name, [group for each in _branches(field, defs) for group in _values(each, defs)]


def _branches(schema: Schema, defs: Schema) -> Iterator[Schema]:
    """What a value may be, references followed; null is left out."""
    if "$ref" in schema:
        schema = {**schema, **defs[schema["$ref"].rsplit("/", 1)[1]]}
    branches = schema.get("anyOf", schema.get("oneOf"))
    if branches is None:
        if schema.get("type") != "null":
            yield schema
        return
    for branch in branches:
        yield from _branches(branch, defs)


def _values(schema: Schema, defs: Schema) -> list[list[Any]]:
    """Values that a schema allows, in groups of which one must act: each that it names, or two numbers."""
    if "enum" in schema or "const" in schema:
        return [[each] for each in schema.get("enum", [schema.get("const")])]
    low: Any
    match schema.get("type"):
        case "boolean":
            return [[True], [False]]
        case "integer":
            low = schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1)
            return [[low + 1, low + 4]]
        case "number":
            low = schema.get("minimum", schema.get("exclusiveMinimum", 0.0))
            high = min(schema.get("maximum", schema.get("exclusiveMaximum", low + 1.0)), low + 2.0)
            return [[low + share * (high - low) for share in (0.55, 0.15)]]
        case "array":
            inner = [group for each in _branches(schema["items"], defs) for group in _values(each, defs)]
            return [[[value] for value in group] for group in inner]
        case "object" if "preset" in schema["properties"]:
            return [[{"preset": "f_beta", "beta": 2.0}]]
        case "object" if "coefficients" in schema["properties"]:
            return [[{"coefficients": {"a11": 1, "b11": 1, "b10": 1, "b01": 1}}]]
        case "string":  # a name of the caller's own
            return [["first"]]
    pytest.fail(f"say which values to try for {schema}")


# --- varying ------------------------------------------------------------------------------------------------


@cache
def _asked(operation: str, body: str) -> tuple[int, str, str]:
    """Status, the field a problem names, and the answer without the echo of what was asked."""
    reply = post(operation, body.encode())
    found = json.loads(bytes(reply.body))
    return reply.status, str(found.get("field")), json.dumps(_without_echo(found), sort_keys=True)


def _without_echo(found: Any) -> Any:
    """The answer without its provenance's options and seed, which repeat the question whatever came of it."""
    if isinstance(found, Mapping):
        echo = {"options", "seed"} if "version" in found else set()
        return {name: _without_echo(value) for name, value in found.items() if name not in echo}
    return [_without_echo(each) for each in found] if isinstance(found, list) else found


def _with(body: Body, option: str, value: Any) -> Body:
    name, _, inner = option.partition(".")
    return {**body, name: _with(body.get(name, {}), inner, value) if inner else value}


def _value(body: Body, option: str) -> Any:
    value: Any = body
    for name in option.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _same(value: Any, other: Any) -> bool:
    return value == other or (isinstance(value, float) and value == pytest.approx(other))


def _default(operation: str, option: str) -> Any:
    """What an option is where it is left out."""
    fields: Any = QUESTIONS[operation].model_fields
    for name in option.split(".")[:-1]:
        annotation = fields[name].annotation
        kinds = (each for each in (*get_args(annotation), annotation) if each is not type(None))
        fields = next(kinds).model_fields
    return fields[option.rpartition(".")[2]].default


def _silent(operation: str) -> Iterator[tuple[str, str, Any]]:
    """Options that did nothing and may not: of which records, which option, which value."""
    schema = QUESTIONS[operation].model_json_schema()
    options = dict(_options(schema, schema.get("$defs", {}), columns_of(operation)))
    for place, (name, body) in enumerate(_bodies(operation)):
        status, _, answer = _asked(operation, json.dumps(body))
        assert status == 200, (operation, name, answer)
        for option, groups in options.items():
            form = f"{option.partition('.')[0]}.kind"  # an option of its own, under which others are varied
            inner = "." in option and option != form
            for (kind,) in options[form] if inner else [[None]]:
                base = body if kind is None else _with(body, form, kind)
                status, _, before = _asked(operation, json.dumps(base))
                if status != 200:  # this class of attacks is none here, or changes nothing by itself
                    before = answer
                few = place and len(groups) > MANY and operation != "advantage"
                for group in groups[place % len(groups) :][:1] if few else groups:
                    others = (value for value in group if not _same(value, _value(base, option)))
                    values = [value for value in others if value != _default(operation, option)]
                    where = name if kind is None else f"{name}, {kind}"
                    if not values or _excused(operation, where, option, values[0]):
                        continue
                    if not any(_acts(operation, _with(base, option, each), before) for each in values):
                        yield where, option, values[0]


def _acts(operation: str, body: Body, before: str) -> bool:
    """Whether a request is answered in another way, or refused with the field that is to blame."""
    status, field, after = _asked(operation, json.dumps(body))
    assert status == 200 or (status == 422 and field != "None"), (operation, body, after)
    return status != 200 or after != before


# --- exceptions ---------------------------------------------------------------------------------------------

LEAVE = "it says by name what is done without it"

SILENT: dict[tuple[str, str], tuple[str, str]] = {
    ("query", "continuous"): ("scores|vectors", LEAVE),
    ("query", "discrete"): ("text|integers", LEAVE),
    ("estimator.kind", "learned"): ("vectors", LEAVE),
    ("estimator.kind", "histogram"): (
        "(compare|gate): |: (text|integers|counts)",
        "cells are what is taken without it; only where the paper's statistic of scores is stated do the two differ",
    ),
    ("estimator.bandwidth", "scott"): ("kde", LEAVE),
    ("estimator.accept_learned_score", "False"): ("learned", LEAVE),
    ("estimator.learners", "['quadratic']"): (
        "(vectors|integers).*learned",
        "of these records it leads among all four, too",
    ),
    ("estimator.bandwidth", "silverman|sheather_jones|least_squares|0.55"): (
        "metrics: vectors",
        "the learned score of so few records takes few values, which are counted and not smoothed",
    ),
    ("rule.kind", "guesses"): ("attack: guesses", LEAVE),
    ("rule.side", "above"): ("attack", LEAVE),
    ("rule.chosen_before", "True"): ("attack: threshold", LEAVE),
    ("outputs", "probabilities"): ("model", LEAVE),
    ("queries", "['squared_error']"): ("model: regressor", LEAVE),
    ("check_sides", "False"): (
        "model: (probabilities|regressor|control|twins)",
        "of predictions alone nothing can be compared",
    ),
    ("interval", "conditional"): ("individual-risk", LEAVE),
    ("direction", "low"): ("usage: documents", "of the two scores that is sharper whose low end speaks for use"),
    ("cells", "grid"): ("counts: scores", LEAVE),
    ("cells", "categories"): ("counts: (text|integers)", LEAVE),
    ("adjacency", "replace"): ("theory/together", LEAVE),
    ("k", "2"): ("theory/mip-finite", LEAVE),
    ("norm", "euclid|max|one"): ("theory/mip: swaps", "one number has one size, whatever the norm"),
    ("moment", "1.55|2.1|2.65|1.3"): ("theory/mip: swaps", "one number has one size, whatever the norm"),
    ("accept_exposure", "True"): (
        "",
        "what is limited fails, or nobody is exposed severely; where nothing is limited, or exposure is, it is refused",
    ),
    ("layout", "mace|prompt_logprobs|completions"): ("text", LEAVE),
    ("share", "0.55"): (
        "text: (fields|vllm|completions)",
        "of texts of so few tokens either share is the same number of tokens",
    ),
    ("seed", "1"): ("", "a seed goes with every question; where nothing is drawn every seed gives the same answer"),
}
"""What may change nothing, where (a pattern of question and records), and why that is right."""


def _excused(operation: str, where: str, option: str, value: Any) -> bool:
    place = f"{operation}: {where}"
    silent = ((values, pattern) for (name, values), (pattern, _) in SILENT.items() if name == option)
    return any(str(value) in values.split("|") and re.search(pattern, place) for values, pattern in silent)


@pytest.fixture(autouse=True)
def _quick() -> Iterator[None]:
    with quickly():
        yield


@pytest.mark.slow
@pytest.mark.parametrize("operation", [each.name for each in OPERATIONS if each.name != "columns"])
def test_every_option_changes_the_answer_or_is_refused(operation: str) -> None:
    assert list(_silent(operation)) == []


@pytest.mark.slow
def test_an_option_that_does_nothing_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test tests: were the number of cells of categories let through, it would be named."""
    monkeypatch.setattr(metrics, "require_bins_act", lambda *_, **__: None)
    monkeypatch.setattr(sys.modules[__name__], "SAMPLES", {"text": SAMPLES["text"]})
    _asked.cache_clear()

    assert ("text", "estimator.bins") in {(where.partition(",")[0], option) for where, option, _ in _silent("metrics")}

    _asked.cache_clear()
