"""``procedure``: a column of a table or labels beside scores, here and on a server; what cannot be answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import macekit
from estimators import Scores
from estimators.procedure import procedure_advantage
from macekit.call import Body, Call
from macekit.operations import perform
from tests.cases import each_case


def table(models: int = 5, rows: int = 60) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    run = rng.permutation(np.repeat(np.arange(models), 2 * rows))
    member = np.zeros(len(run), dtype=bool)
    for each in range(models):
        member[rng.permutation(np.flatnonzero(run == each))[:rows]] = True
    score = rng.normal(size=len(run)) + member * (0.5 + 0.2 * run)
    return {"loss": score, "in": member, "run": np.array([f"run {each}" for each in run]), "number": run}


FRAMES: dict[str, Any] = {"dict": dict, "pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}


def test_a_column_of_a_table_is_labels_beside_scores_here_and_there(mace: macekit.Mace) -> None:
    columns = table()
    inside = columns["in"]
    roles = {"score": "loss", "member": "in", "model": "run"}
    here, *others = (
        client.procedure(frame(columns), max_advantage=0.2, **roles)
        for frame in FRAMES.values()
        for client in (macekit, mace)
    )
    labels = {"members": columns["run"][inside], "nonmembers": columns["run"][~inside]}
    beside = mace.procedure(
        columns["loss"][inside], columns["loss"][~inside], model=labels, max_advantage=0.2
    )
    own = procedure_advantage(
        Scores.of(columns["loss"][inside], columns["loss"][~inside]),
        np.concatenate([labels["members"], labels["nonmembers"]]),
    )

    assert all(other.answer == here.answer for other in others)
    for name in ("advantage", "next_model", "any_variation", "spread", "records_cannot", "models", "verdict"):
        assert beside.answer[name] == here.answer[name]
    assert (here.advantage.lower, here.advantage.upper) == (own.estimate.lower, own.estimate.upper)
    assert (here.next_model.lower, here.next_model.upper) == (own.next_model.lower, own.next_model.upper)
    assert here.any_variation.guarantee.finite_sample is True
    assert here.decision == own.verdict(0.2).decision.value
    assert [each["name"] for each in here.answer["models"]] == [f"run {each}" for each in range(5)]


def test_a_file_is_read_as_a_frame_and_the_report_shows_every_model(tmp_path: Path) -> None:
    columns = table()
    path = tmp_path / "runs.parquet"
    pd.DataFrame(columns).to_parquet(path)

    result = macekit.procedure(path, score="loss", member="in", model="number")

    assert result.verdict is None
    page = result.to_html()
    assert "A training procedure" in page
    assert all(f"<td>{each}</td>" in page or f">{each}<" in page for each in range(5))
    read = {each["role"]: each["name"] for each in result.answer["provenance"]["columns"]}
    assert read == {"score": "loss", "member": "in", "model": "number"}


def posted(operation: str, **body: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(
        bytes(perform(Call(operation), Body.of(json.dumps(body).encode())).body)
    )
    return answer


SIDES = {"members": [0.1 * place for place in range(32)], "nonmembers": [0.05 * place for place in range(32)]}
FOUR = ["a", "b", "c", "d"] * 16


@each_case(
    "operation, question, code, message",
    [
        ("procedure", SIDES, "missing-field", "model: is required and missing"),
        ("procedure", {**SIDES, "model": ["a"] * 64}, "too-few-records", "all rows are of one model, 'a'"),
        (
            "procedure",
            {**SIDES, "model": FOUR, "units": FOUR},
            "bad-option",
            "units: does not go with model, of which all records are used",
        ),
        (
            "procedure",
            {**SIDES, "model": FOUR, "cluster": FOUR},
            "bad-option",
            "cluster: procedure does not allow",
        ),
        (
            "procedure",
            {"counts": {"members": [9, 9], "nonmembers": [9, 9]}, "model": FOUR},
            "bad-option",
            "counts: do not say which model scored a record",
        ),
        (
            "advantage",
            {**SIDES, "model": FOUR},
            "bad-option",
            "model: advantage takes all records for one model's",
        ),
        (
            "plan",
            {"expected": 0.3, "max_advantage": 0.1, "spread": 0.1},
            "bad-option",
            "records_per_model: a plan of models",
        ),
        (
            "plan",
            {"expected": 0.3, "width": 0.1, "spread": 0.1, "records_per_model": 100},
            "bad-option",
            "max_advantage: a plan of models needs",
        ),
        (
            "plan",
            {"expected": 0.3, "max_advantage": 0.1, "cluster_size": 5},
            "bad-option",
            "cluster_size: says nothing",
        ),
        (
            "plan",
            {"expected": 0.3, "max_advantage": 0.1, "correlation": 0.5},
            "bad-option",
            "correlation: goes with",
        ),
        (
            "plan",
            {
                "expected": 0.3,
                "max_advantage": 0.1,
                "cluster_size": 5,
                "correlation": 0.5,
                "design_effect": 2.0,
            },
            "bad-option",
            "correlation: does not go with design_effect",
        ),
        (
            "plan",
            {
                "expected": 0.3,
                "max_advantage": 0.1,
                "spread": 0.1,
                "records_per_model": 100,
                "design_effect": 2.0,
            },
            "bad-option",
            "design_effect: a plan of models is one of independent records",
        ),
    ],
)
def test_what_cannot_be_answered_is_refused_by_name(
    operation: str, question: dict[str, Any], code: str, message: str
) -> None:
    problem = posted(operation, **question)

    assert problem["type"] == f"urn:mace:problem:{code}"
    assert message in problem["detail"]


def test_models_are_planned_at_every_door() -> None:
    answer = posted("plan", expected=0.3, max_advantage=0.1, spread=0.05, records_per_model=200)
    plan = macekit.plan(expected=0.3, max_advantage=0.1, spread=0.05, records_per_model=200)

    assert plan.answer == answer
    assert answer["records"] == answer["models"] * 200 == 2 * answer["members"]
    assert "Models needed" in plan.to_html()
