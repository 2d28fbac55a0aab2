"""A control score in audits: that of a model, or of a release, that was made of neither side."""

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import macekit
from estimators import check_split, control
from macekit import MaceProblem
from tests.cases import each_case

pytestmark = pytest.mark.usefixtures("quick")

N = 400


def ages(rng: np.random.Generator, centre: float, count: int = N) -> dict[str, Any]:
    """People of an age around a centre."""
    return {"age": rng.normal(centre, 10.0, count).round(1), "wage": rng.normal(3.0, 1.0, count).round(2)}


def nearness(rows: dict[str, Any], release: dict[str, Any]) -> Any:
    """How near each row is to a release."""
    there, here = (np.column_stack([each["age"] / 10.0, each["wage"]]) for each in (release, rows))
    return -np.abs(here[:, None, :] - there[None, :, :]).sum(axis=2).min(axis=1)


def drifted(seed: int, shift: float) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Two sides whose nearness to a release of others is a column of theirs, and a release that knows neither."""
    rng = np.random.default_rng(seed)
    train, holdout, released, others = (
        ages(rng, centre, count) for centre, count in ((50, N), (50 - shift, N), (50, 200), (50, 200))
    )
    for side in (train, holdout):
        side["to_others"] = nearness(side, others)
    return train, holdout, released


def columns(tables: tuple[dict[str, Any], ...]) -> list[dict[str, Any]]:
    return [{name: values for name, values in table.items() if name != "to_others"} for table in tables]


def codes(answer: Any) -> list[str]:
    return [each["code"] for each in answer["warnings"]]


@pytest.mark.slow
def test_the_control_column_of_a_release_is_judged_and_is_no_column() -> None:
    tables = drifted(0, 25.0)
    plain = macekit.audit_synthetic(*columns(tables), max_advantage=0.1)
    answer = macekit.audit_synthetic(*tables, max_advantage=0.1, control="to_others")
    alone = control(tables[0]["to_others"], tables[1]["to_others"])

    assert (plain.control, answer.ranking, answer.split) == (None, plain.ranking, plain.split)
    ends = alone.advantage.estimate
    assert (answer.control.lower, answer.control.upper) == (ends.lower, ends.upper)
    assert (answer.control.sentence, answer.control.differs) == (alone.sentence, True)
    assert {"role": "control", "name": "to_others"}.items() <= answer["provenance"]["columns"][-1].items()
    assert answer.provenance.input_sha256 != plain.provenance.input_sha256


@pytest.mark.slow
def test_a_control_that_differs_makes_a_fail_a_fail_or_drift_though_nobody_looked_at_the_columns() -> None:
    tables = drifted(1, 25.0)
    blind = macekit.audit_synthetic(*columns(tables), max_advantage=0.1, check_sides=False)
    answer = macekit.audit_synthetic(*tables, max_advantage=0.1, check_sides=False, control="to_others")

    assert (blind.decision, answer.decision, answer.split) == ("fail", "fail, or drift", None)
    assert "A release that was made of neither side tells them apart, too" in answer.sentence
    assert "control_differs" in codes(answer)
    assert "control_differs" not in codes(blind)
    report = answer.to_markdown()
    assert "## What reaches a score" in report
    assert "FAIL, OR DRIFT" in report


@pytest.mark.slow
def test_drift_that_does_not_reach_the_control_is_said_beside_what_it_may_explain() -> None:
    rng = np.random.default_rng(2)
    train, holdout, _ = drifted(2, 25.0)
    for side in (train, holdout):
        side["to_others"] = rng.normal(size=N)  # a score that reads no column
    limit = {"max_advantage": 0.1, "control": "to_others"}
    answer = macekit.audit_synthetic(train, holdout, columns((train,))[0], **limit)

    assert (answer.decision, answer.control.differs) == ("fail, or drift", False)
    assert "nothing shows that their difference reaches such a score" in answer.sentence
    assert "control_differs" not in codes(answer)


@pytest.mark.slow
def test_a_fair_holdout_fails_plainly_with_a_control() -> None:
    train, holdout, _ = drifted(3, 0.0)
    limit = {"max_advantage": 0.1, "control": "to_others"}
    answer = macekit.audit_synthetic(train, holdout, columns((train,))[0], **limit)

    assert (answer.decision, answer.split.differs, answer.control.differs) == ("fail", False, False)


@pytest.mark.slow
def test_of_the_rows_of_one_person_the_control_scores_are_those_of_the_one_that_is_asked_about() -> None:
    tables = drifted(4, 25.0)
    twice = [{name: np.repeat(values, 2) for name, values in table.items()} for table in tables[:2]]
    for start, side in zip((0, N), twice, strict=True):
        side["person"] = np.repeat(np.arange(start, start + N), 2)
    once = macekit.audit_synthetic(*tables, control="to_others", check_sides=False)
    answer = macekit.audit_synthetic(*twice, columns(tables)[2], control="to_others", unit="person", check_sides=False)

    assert answer.provenance.n_members == N
    assert (answer.control.lower, answer.control.upper) == (once.control.lower, once.control.upper)


def predicted(seed: int, shift: float) -> list[dict[str, Any]]:
    """What a model that saw neither side says of both; it is surer of the one."""
    rng = np.random.default_rng(seed)
    sides = []
    for sure in (shift, 0.0):
        truth = rng.integers(0, 2, N)
        strength, other = rng.normal(sure, 1.0, (2, N))
        own = 1.0 / (1.0 + np.exp(-strength))
        sides.append({"y": truth, "p": np.where(truth == 1, own, 1.0 - own), "other_model": other})
    return sides


def test_predictions_have_a_control_that_is_no_prediction() -> None:
    train, holdout = predicted(0, 1.0)
    plain, answer = (
        macekit.audit_predictions(*sides, max_advantage=0.1, **options)
        for sides, options in (
            ([{name: side[name] for name in ("y", "p")} for side in (train, holdout)], {}),
            ([train, holdout], {"control": "other_model"}),
        )
    )

    assert (plain.decision, answer.decision) == ("fail", "fail, or drift")
    assert answer.ranking == plain.ranking
    alone = control(train["other_model"], holdout["other_model"])
    assert answer.control.sentence == alone.sentence
    assert f"an advantage of at least {alone.advantage.lower:.3f}"[:-1] in answer.sentence
    assert answer.provenance.input_sha256 != plain.provenance.input_sha256


def test_a_model_in_python_takes_the_scores_of_another_that_saw_neither_side() -> None:
    train, holdout = predicted(1, 1.0)
    sides = [each[name] for each in (train, holdout) for name in ("p", "y")]
    options: dict[str, Any] = {"max_advantage": 0.1, "check_sides": False}
    scores = (train["other_model"], holdout["other_model"])

    ask = partial(macekit.audit_model, lambda p: np.column_stack([1 - p, p]), *sides, **options)
    plain, audit = (ask(control=each) for each in (None, scores))

    assert [each.verdict.word for each in (plain, audit)] == ["fail", "fail, or drift"]
    assert audit.control == control(*scores)
    assert [each.code for each in audit.cautions if each.code == "control_differs"] == ["control_differs"]


@each_case(
    "scores, words",
    (np.zeros(2 * N), "control: need two arrays"),
    ((np.zeros(N), np.zeros(N - 1)), f"control: got {N - 1} scores for {N} rows of X_test"),
    ((np.zeros(N + 1), np.zeros(N)), f"control: got {N + 1} scores for {N} rows of X_train"),
)
def test_scores_of_a_control_that_do_not_fit_the_rows_are_refused(scores: Any, words: str) -> None:
    train, holdout = predicted(2, 0.0)
    columns = (each[name] for each in (train, holdout) for name in ("p", "y"))
    with pytest.raises(MaceProblem, match=words):
        macekit.audit_model(lambda p: np.column_stack([1 - p, p]), *columns, control=scores)


@each_case(
    "options, words",
    ({"control": "other"}, "control: train has no column 'other'"),
    ({"control": "name"}, "control: column 'name' of train holds no numbers"),
)
def test_a_control_column_that_cannot_be_used_is_named_in_audits(options: dict[str, Any], words: str) -> None:
    train, holdout, released = drifted(5, 0.0)
    named = [{**side, "name": [f"n{place % 7}" for place in range(N)]} for side in (train, holdout)]
    with pytest.raises(MaceProblem, match=words):
        macekit.audit_synthetic(*named, released, **options)
    predictions = [{**side, "name": ["a"] * N, "p": np.full(N, 0.5), "y": np.arange(N) % 2} for side in named]
    with pytest.raises(MaceProblem, match=words):
        macekit.audit_predictions(*predictions, predictions=["p"], **options)


@pytest.mark.slow
def test_the_more_the_sides_differ_the_more_reaches_the_control() -> None:
    sides = ([side["to_others"] for side in drifted(6, shift)[:2]] for shift in (0.0, 20.0, 40.0))
    lower = [control(*each).advantage.lower for each in sides]

    assert lower[0] == 0.0
    assert all(one < other for one, other in pairwise(lower))
    assert check_split(*columns(drifted(6, 20.0)[:2])).differs
