"""One limit, one name: ``max_advantage`` in every door, its former name with a word about it, typos by the nearest."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import estimators
import macekit
from estimators.runs.procedure import plan_models, procedure_advantage
from macekit.call import CSV
from macekit.catalogue import OPERATIONS
from macekit.mlflow import log
from macekit.reports.saved import validate_answer
from macekit.schemas.by_operation import QUESTIONS
from macekit.testing import assert_advantage_below, assert_gate
from tests.app.cli.files import put_examples, refused, typed
from tests.cases import each_case
from tests.contract.document import unfolded
from tests.macekit.asking import ask

RNG = np.random.default_rng(0)
MEMBERS, NONMEMBERS = RNG.normal(0.8, 1.0, 80), RNG.normal(size=80)
SIDES = {"members": MEMBERS.tolist(), "nonmembers": NONMEMBERS.tolist()}
MODEL = np.tile(np.arange(4), 40)

ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "advantage": ("estimate", SIDES),
    "report": ("report", SIDES),
    "procedure": ("procedure", {**SIDES, "model": MODEL.tolist()}),
    "plan": ("plan", {"expected": 0.5}),
}
"""Operations whose limit of the advantage was called ``threshold``: what Python calls them, and a question."""


def former_and_current(function: Any, given: dict[str, Any], name: str = "") -> tuple[Any, Any]:
    """What the function answers by either name, if it warns of the former one here and refuses both."""
    with pytest.warns(FutureWarning, match=f"{name}threshold is called max_advantage now") as said:
        former = function(**given, threshold=0.1)
    assert [each.filename for each in said] == [__file__]
    with pytest.raises(TypeError, match="got 'max_advantage' and, by its former name, 'threshold'"):
        function(**given, threshold=0.1, max_advantage=0.1)
    return former, function(**given, max_advantage=0.1)


@pytest.mark.slow
@each_case("operation", ASKED)
def test_python_takes_the_former_name_and_warns_where_it_was_typed(operation: str) -> None:
    name, question = ASKED[operation]

    former, current = former_and_current(getattr(macekit, name), question, rf"{name}\(\): ")
    assert former.answer == current.answer


def test_python_warns_once_of_one_place() -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")
        for _ in range(3):
            macekit.estimate(MEMBERS, NONMEMBERS, threshold=0.1)

    assert len(said) == 1


@pytest.mark.slow
@each_case("operation", ASKED)
def test_a_request_takes_the_former_name_and_the_answer_warns(operation: str) -> None:
    _, question = ASKED[operation]
    current = ask(operation, {**question, "max_advantage": 0.1})

    former = ask(operation, {**question, "threshold": 0.1})

    first, *rest = former["warnings"]
    assert first["code"] == "former_name"
    assert first["message"].startswith("threshold is called max_advantage now")
    assert rest == current["warnings"]
    if operation != "plan":
        assert former["provenance"]["options"] == current["provenance"]["options"]
        assert former["provenance"]["options"]["max_advantage"] == 0.1
        assert former.get("result", former)["verdict"] == current.get("result", current)["verdict"]
    refused = ask(operation, {**question, "threshold": 0.1, "max_advantage": 0.1})
    assert (refused["field"], refused["status"]) == ("threshold", 422)
    assert "former name of max_advantage, which is given, too" in refused["detail"]
    assert ask(operation, {**question, "threshold": None, "max_advantage": 0.1}) == current


def test_a_query_string_takes_the_former_name() -> None:
    rows = [*(f"{each},1" for each in MEMBERS), *(f"{each},0" for each in NONMEMBERS)]
    answer = ask("advantage", "\n".join(["score,member", *rows]).encode(), CSV, threshold="0.1")

    assert answer["verdict"]["threshold"] == 0.1
    assert "former_name" in [each["code"] for each in answer["warnings"]]


def test_options_in_python_stand_above_those_of_a_request_by_either_name(tmp_path: Path) -> None:
    (tmp_path / "request.json").write_text(json.dumps({**SIDES, "threshold": 0.1}))

    result = macekit.estimate(tmp_path / "request.json", max_advantage=0.9)

    assert result.verdict is not None
    assert result.verdict.threshold == 0.9


@pytest.mark.slow
@each_case(
    "line, ends",
    ("estimate scores.csv --threshold 0.9", 0),
    ("report scores.csv --threshold 0.1", 1),
    ("plan --expected 0.5 --threshold 0.1", 0),
)
def test_the_shell_takes_the_former_name_and_says_so_on_standard_error(line, ends, tmp_path, monkeypatch):
    put_examples(tmp_path)
    monkeypatch.chdir(tmp_path)
    said = "mace: --threshold is called --max-advantage now; its former name will be dropped in a later version\n"

    done, quiet = typed(line), typed(f"{line} --quiet")

    assert (done.status, done.err) == (ends, said)
    assert "max_advantage now" not in done.out
    assert (quiet.status, quiet.err) == (ends, "")


@pytest.mark.slow
def test_the_service_describes_the_former_name_as_deprecated_and_only_that() -> None:
    schemas, paths = unfolded()["components"]["schemas"], unfolded()["paths"]

    def stale(question: str) -> list[str]:
        fields = schemas[question]["properties"]
        shared = {name: schemas.get(each.get("$ref", "").rpartition("/")[2], each) for name, each in fields.items()}
        return [name for name, each in shared.items() if each.get("deprecated")]

    for operation in ASKED:
        assert stale(QUESTIONS[operation].__name__) == ["threshold"]
        listed = paths[f"/v1/{operation}"]["post"].get("parameters", [])
        in_address = [each["name"] for each in listed if each.get("deprecated")]
        assert in_address == ([] if operation == "plan" else ["threshold"])
    # the risk above which a record is flagged is no limit of the advantage
    assert "threshold" not in stale("RiskQuestion")


def test_an_answer_that_was_kept_by_an_earlier_version_is_read() -> None:
    answer = ask("advantage", {**SIDES, "max_advantage": 0.1})
    options = answer["provenance"]["options"]
    options["threshold"] = options.pop("max_advantage")

    assert validate_answer("advantage", answer)["verdict"]["threshold"] == 0.1


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
@each_case(
    "function, arguments",
    (estimators.AssessOptions, {}),
    (estimators.verdict, {"result": estimators.advantage(estimators.Scores.of(MEMBERS, NONMEMBERS))}),
    (estimators.plan_verdict, {"expected": 0.5}),
    (plan_models, {"expected": 0.5, "spread": 0.1, "records": 60}),
    (procedure_advantage(estimators.Scores.of(MEMBERS, NONMEMBERS), MODEL).verdict, {}),
)
def test_the_library_takes_the_former_name_with_a_warning(function: Any, arguments: dict[str, Any]) -> None:
    former, current = former_and_current(function, arguments)
    assert former == current


LIMITED = {
    each.python: len(each.needed_tables) or int(each.several and not each.of_groups)
    for each in OPERATIONS
    if each.python and "max_advantage" in QUESTIONS[each.name].model_fields
} | {"audit_model": 5}
"""Functions that take the limit, and how many tables, or other arguments, they cannot do without."""


@each_case("name", LIMITED)
def test_a_mistyped_limit_and_a_former_name_that_it_never_had_are_type_errors_that_name_it(name: str) -> None:
    had = name in {name for name, _ in ASKED.values()}

    for typo in ("max_advantge", *["threshold"] * (not had)):
        said = rf"{name}\(\) got an unexpected keyword argument '{typo}'; did you mean 'max_advantage'\?"
        with pytest.raises(TypeError, match=said):
            getattr(macekit, name)(*[{}] * LIMITED[name], **{typo: 0.1})


@each_case("function, given, typo, nearest", [
    (macekit.audit_model, [None] * 5, "shadow", "shadows"), (macekit.risk, [], "treshold", "threshold"),
    (macekit.metrics, [], "metric", "metrics"), (macekit.attack, [], "rules", "rule"),
    (macekit.audit, [], "claimed_epsilom", "claimed_epsilon"),
    (macekit.check_split, [{}, {}], "matches", "match"), (macekit.counts, [], "shard", "shards"),
    (macekit.counts_by, [{}, "region"], "scores", "score"), (macekit.partial, [{}], "scores", "score"),
    (macekit.merged, [], "row", "rows"), (macekit.sql, [], "tabel", "table"),
    (macekit.risk_table, [{"cells": {}}], "confidense", "confidence"),
    (macekit.Mace, ["http://127.0.0.1:9"], "timout", "timeout"),
    (macekit.theory.dp, [], "epsilom", "epsilon"),
    (assert_advantage_below, [0.1, None], "priro", "prior"),
    (assert_gate, [None], "max_advantge", "max_advantage"), (log, [None], "prefx", "prefix"),
])  # fmt: skip
def test_any_other_mistyped_keyword_names_the_nearest(function, given, typo, nearest) -> None:
    with pytest.raises(TypeError, match=rf"'{typo}'; did you mean '{nearest}'\?"):
        function(*given, **{typo: 1})


@each_case("operation, typo, nearest", [
    ("gate", "threshold", "max_advantage"), ("compare", "threshold", "max_advantage"),
    ("model", "threshold", "max_advantage"), ("advantage", "max_advantge", "max_advantage"),
    ("advantage", "treshold", "max_advantage"), ("individual-risk", "treshold", "threshold"),
])  # fmt: skip
def test_an_unknown_field_is_not_repeated_and_the_nearest_is_named(operation, typo, nearest) -> None:
    problem = ask(operation, {typo: 0.1})

    assert problem["type"] == "urn:mace:problem:unknown-field"
    assert problem["detail"] == f"the request: a field is not known; did you mean {nearest!r}?"
    assert problem["field"] == nearest


def test_what_is_near_to_nothing_lists_what_is_known_by_its_current_name() -> None:
    detail = ask("advantage", {"zzz": 1})["detail"]

    assert "known are " in detail
    assert "max_advantage" in detail
    assert "threshold" not in detail


@each_case(
    "line, nearest",
    ("gate scores.csv --threshold 0.1", "--max-advantage"),
    ("compare scores.csv --threshold 0.1", "--max-advantage"),
    ("model --train a.csv --holdout b.csv --threshold 0.1", "--max-advantage"),
    ("estimate scores.csv --max-advantge 0.1", "--max-advantage"),
    ("risk scores.csv --treshold 0.1", "--threshold"),
)
def test_a_mistyped_option_names_the_nearest(line: str, nearest: str) -> None:
    assert f" is not an option; did you mean {nearest}?\n" in refused(line)
