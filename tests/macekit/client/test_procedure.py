"""``procedure``: a column of a table or labels beside scores, here and on a server; what cannot be answered."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import macekit
from estimators import Scores
from estimators.runs.procedure import procedure_advantage
from macekit.reports.saved import validate_answer
from tests.cases import each_case
from tests.macekit.asking import refused
from tests.macekit.client.worlds import TABLES, by_side

pytestmark = pytest.mark.usefixtures("quick")


def table(models: int = 5, rows: int = 60) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    run = rng.permutation(np.repeat(np.arange(models), 2 * rows))
    member = np.zeros(len(run), dtype=bool)
    for each in range(models):
        member[rng.permutation(np.flatnonzero(run == each))[:rows]] = True
    score = rng.normal(size=len(run)) + member * (0.5 + 0.2 * run)
    return {"loss": score, "in": member, "run": np.array([f"run {each}" for each in run]), "number": run}


@pytest.mark.slow
def test_a_column_of_a_table_is_labels_beside_scores_here_and_there(mace: macekit.Mace) -> None:
    columns = table()
    roles = {"score": "loss", "member": "in", "model": "run"}
    asks = [partial(client.procedure, max_advantage=0.2, **roles) for client in (macekit, mace)]
    here, *others = (ask(frame(columns)) for frame in TABLES.values() for ask in asks)
    losses, labels = by_side(columns, "loss", "in"), by_side(columns, "run", "in")
    beside = mace.procedure(**losses, model=labels, max_advantage=0.2)
    own = procedure_advantage(Scores.of(*losses.values()), np.concatenate([*labels.values()]))

    assert all(other.answer == here.answer for other in others)
    for name in ("advantage", "next_model", "any_variation", "spread", "records_cannot", "models", "verdict"):
        assert beside.answer[name] == here.answer[name]
    assert (here.advantage.lower, here.advantage.upper) == (own.estimate.lower, own.estimate.upper)
    assert (here.next_model.lower, here.next_model.upper) == (own.next_model.lower, own.next_model.upper)
    assert here.any_variation.guarantee.finite_sample is True
    assert here.decision == own.verdict(0.2).decision.value
    assert [each["name"] for each in here.answer["models"]] == [f"run {each}" for each in range(5)]


@pytest.mark.slow
def test_members_whom_one_model_exposes_leave_open_what_would_pass_here_and_there(mace: macekit.Mace) -> None:
    rng = np.random.default_rng(1)
    run = np.tile(np.repeat([*"abcd"], 400), 2)
    members, nonmembers = rng.normal(size=(2, 1600))
    members[:120] += 9.0
    asked = {"members": members, "nonmembers": nonmembers, "model": run, "max_advantage": 0.97}

    here, there = (client.procedure(**asked) for client in (macekit, mace))
    accepted = mace.procedure(**asked, accept_exposure=True)

    assert here.answer["verdict"] == there.answer["verdict"]
    assert (there.decision, there.verdict.undecided_because) == ("inconclusive", "exposed")
    assert there.answer["warnings"][0]["code"] == "exposed"
    assert "model 'a'" in there.sentence
    assert (accepted.decision, accepted.verdict.undecided_because) == ("pass", None)
    assert "accept_exposure" in accepted.to_html()
    assert validate_answer("procedure", there.answer) == there.answer
    problem = refused("procedure", {**FOUR_MODELS, "accept_exposure": True})
    assert problem["detail"].startswith("accept_exposure")


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


SIDES = {"members": [0.1 * place for place in range(32)], "nonmembers": [0.05 * place for place in range(32)]}
FOUR = ["a", "b", "c", "d"] * 16


FOUR_MODELS = {**SIDES, "model": FOUR}
PLAN = {"expected": 0.3, "max_advantage": 0.1}
MODELS = {"spread": 0.1, "records_per_model": 100}
REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "missing-field model: is required and missing": ("procedure", SIDES),
    "too-few-records model: all rows are of one model, 'a'": ("procedure", {**SIDES, "model": ["a"] * 64}),
    "bad-option units: does not go with model, of which all records are used": (
        "procedure",
        {**SIDES, "model": FOUR, "units": FOUR},
    ),
    "bad-option cluster: procedure does not allow": ("procedure", {**SIDES, "model": FOUR, "cluster": FOUR}),
    "bad-option counts: do not say which model scored a record": (
        "procedure",
        {"counts": {"members": [9, 9], "nonmembers": [9, 9]}, "model": FOUR},
    ),
    "bad-option model: advantage takes all records for one model's": ("advantage", {**SIDES, "model": FOUR}),
    "bad-option records_per_model: a plan of models": ("plan", {**PLAN, "spread": 0.1}),
    "bad-option max_advantage: a plan of models needs": ("plan", {"expected": 0.3, "width": 0.1, **MODELS}),
    "bad-option cluster_size: says nothing": ("plan", {**PLAN, "cluster_size": 5}),
    "bad-option correlation: goes with": ("plan", {**PLAN, "correlation": 0.5}),
    "bad-option correlation: does not go with design_effect": (
        "plan",
        {**PLAN, "cluster_size": 5, "correlation": 0.5, "design_effect": 2.0},
    ),
    "bad-option design_effect: a plan of models is one of independent records": (
        "plan",
        {**PLAN, **MODELS, "design_effect": 2.0},
    ),
}
"""Questions, by the kind of the problem and how its detail begins."""


@each_case("said, operation, question", [(said, *asked) for said, asked in REFUSED.items()])
def test_what_cannot_be_answered_is_refused_by_name(said, operation, question) -> None:
    problem = refused(operation, question)

    assert f"{problem['kind']} {problem['detail']}".startswith(said)


@pytest.mark.slow
def test_models_are_planned() -> None:
    plan = macekit.plan(expected=0.3, max_advantage=0.1, spread=0.05, records_per_model=200)

    assert plan.records == plan.models * 200 == 2 * plan.members
    assert "Models needed" in plan.to_html()
