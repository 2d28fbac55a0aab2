"""``cluster`` from Python: a column of a table, or labels beside scores; the same answer here and on a server."""

import re
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import macekit
from estimators.clusters.dependent_rows import DEPENDENT
from macekit.catalogue import OPERATIONS
from tests.cases import each_case
from tests.macekit.client.worlds import TABLES, by_side


def table() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    person = rng.permutation(np.repeat(np.arange(80), 5))
    score = rng.normal(size=80)[person] + rng.normal(size=400) + (person % 2 == 0)
    return {
        "score": score, "other": score + rng.normal(size=400), "member": person % 2 == 0, "person": person,
        "name": np.array([f"p{label}" for label in person]), "run": rng.integers(0, 20, 400),
    }  # fmt: skip


COLUMNS = table()
SCORES = by_side(COLUMNS, "score")
PEOPLE = by_side(COLUMNS, "person")


@pytest.mark.slow
@each_case("cluster", ["name", ["person", "run"]])
def test_columns_of_a_table_are_labels_beside_scores_here_and_there(cluster, mace) -> None:
    names = [cluster] if isinstance(cluster, str) else cluster
    labels = {name: by_side(COLUMNS, name) for name in names}

    here = macekit.estimate(COLUMNS, score="score", cluster=cluster)

    for name, frame in TABLES.items():
        for client in (macekit, mace) if name == "arrow" else (macekit,):  # a frame is read before it is sent
            assert client.estimate(frame(COLUMNS), score="score", cluster=cluster).answer == here.answer, name
    for client in (macekit, mace):
        assert client.estimate(**SCORES, cluster=labels).advantage == here.advantage
    assert here.advantage.clusters.columns == names


def test_labels_in_one_list_come_members_first(mace: macekit.Mace) -> None:
    labels = np.concatenate([*PEOPLE.values()])
    expected = macekit.estimate(COLUMNS, score="score", cluster="person").advantage
    for cluster in (labels, labels.tolist(), pd.Series(labels, index=labels), pl.Series(labels)):
        for client in (macekit, mace) if cluster is labels else (macekit,):
            found = client.estimate(**SCORES, cluster=cluster).advantage
            assert (found.clusters.numbers, found.lower) == ([80], expected.lower)


def test_a_comparison_takes_labels_beside_its_queries(mace: macekit.Mace, tmp_path: Path) -> None:
    queries = {name: by_side(COLUMNS, name) for name in ("score", "other")}
    pd.DataFrame(COLUMNS).to_parquet(tmp_path / "scores.parquet")
    for client in (macekit, mace):
        beside = client.compare(queries, cluster=PEOPLE)
        of_table = client.compare(COLUMNS, score=["score", "other"], cluster="person")
        of_file = client.compare(tmp_path / "scores.parquet", score=["score", "other"], cluster="person")
        assert beside.ranking[0].advantage.lower == of_table.ranking[0].advantage.lower
        assert of_file.differences == of_table.differences == beside.differences


@pytest.mark.slow
@each_case("name", ["estimate", "report", "metrics", "risk", "audit", "compare"])
def test_a_spare_column_warns_first_here_on_a_server_and_from_a_file(name, mace, tmp_path) -> None:
    path = tmp_path / "scores.parquet"
    pd.DataFrame(COLUMNS).to_parquet(path)
    score = ["score", "other"] if name == "compare" else "score"
    ask = [getattr(client, name) for client in (macekit, mace)]
    answers = [each(data, score=score) for each in ask for data in (COLUMNS, path)]
    places = [each.answer["metrics"][0] if name == "metrics" else each.answer for each in answers]
    for place in places:
        assert place["warnings"][0]["code"] == DEPENDENT
        assert "'person'" in place["warnings"][0]["message"]
        assert place["warnings"] == places[0]["warnings"]
    if name == "report":
        assert answers[1].answer["result"]["warnings"] == answers[0].answer["result"]["warnings"]
        assert answers[0].answer["result"]["warnings"][0]["code"] == DEPENDENT


def alike() -> pd.DataFrame:
    """Rows of people whose scores are nearly one."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(240), 12)
    own = np.repeat(rng.normal(size=240), 12)
    scores = {name: own + 0.3 * rng.normal(size=len(person)) for name in ("score", "other")}
    return pd.DataFrame({**scores, "member": person % 2, "user_id": person, "half": np.arange(len(person)) % 2})


FORMS = (
    "queries of a frame", "a frame for each query", "counts of each query", "steps", "groups", "vectors",
    "a frame for each side", "merged counts",
)  # fmt: skip


def of_forms() -> dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """What is asked of these rows in the forms that a client looks at before it asks."""
    rows = alike()
    one = rows.drop(columns="other")
    sides = [one[one["member"] == inside][["score", "user_id"]] for inside in (1, 0)]
    parts = [macekit.counts(one.iloc[:1000]), macekit.counts(one.iloc[1000:])]
    return {
        "queries of a frame": ("compare", (rows,), {"score": ["score", "other"]}),
        "a frame for each query": ("compare", ({"a": one, "b": one.assign(score=rows["other"])},), {}),
        "counts of each query": ("compare", (dict(zip("ab", parts, strict=True)),), {}),
        "steps": ("advantage_series", (rows,), {"score": ["score", "other"]}),
        "groups": ("gate", (one,), {"group": "half", "max_group_advantage": 0.6}),
        "vectors": ("gate", (rows,), {"score": ["score", "other"], "estimator": {"kind": "histogram", "bins": 8}}),
        "a frame for each side": ("gate", (*sides,), {"score": "score"}),
        "merged counts": ("gate", (), {"counts": parts}),
    }


@pytest.mark.slow
@each_case("form", FORMS)
def test_a_server_withholds_what_is_withheld_here(form: str, mace: macekit.Mace) -> None:
    """It passed beside the warning where only the client saw the column; frames for each side were not looked at."""
    name, data, asked = of_forms()[form]
    limits = {"max_advantage": 0.9, **asked}
    answers = []
    for client in (macekit, mace):
        shards = {"counts": client.counts(shards=asked["counts"])} if "counts" in asked else {}
        answers.append(getattr(client, name)(*data, **limits | shards).answer)

    said = [[each["message"] for each in answer["warnings"] if each["code"] == DEPENDENT] for answer in answers]
    assert said[0] == said[1] == [*dict.fromkeys(said[0])]
    assert len(said[0]) == {"a frame for each query": 2, "counts of each query": 2}.get(form, 1)
    for answer in answers:
        assert (answer["decision"], answer["undecided_because"]) == ("not applicable", DEPENDENT)


@each_case(
    "given, slug",
    ({"cluster": "person"}, "bad-option"),
    ({"cluster": ["a"] * 40}, "too-few-records"),
    ({"cluster": range(39)}, "dimension-mismatch"),
    ({"cluster": {"members": range(20)}}, "missing-field"),
    ({"cluster": {"a": range(40), "b": range(40), "c": range(40)}}, "bad-option"),
    ({"cluster": [None] * 40}, "not-finite"),
    ({"cluster": np.array([np.nan] * 40)}, "not-finite"),
    ({"cluster": np.arange(40) // 2, "units": range(40)}, "bad-option"),
)
def test_what_is_no_label_is_refused(given: dict[str, Any], slug: str) -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(macekit.MaceProblem) as caught:
        macekit.estimate(rng.normal(size=20), rng.normal(size=20), **given)
    assert (caught.value.kind, str(caught.value.field).partition("[")[0]) == (slug, "cluster")


NEEDED: dict[str, dict[str, Any]] = {
    "gate": {"max_advantage": 0.1, "metric": "f_beta", "max": 0.7},
    "risk": {"top": 3},
    "audit": {"claimed_epsilon": 1.0},
    "attack": {"rule": {"threshold": 0.5}},
    "theory.together": {"claimed_epsilon": 1.0},
}
"""What questions about one sample need beside it."""


@pytest.mark.slow
@each_case("name", [each.python for each in OPERATIONS if each.by_clusters and not each.several])
def test_every_question_takes_a_column_or_labels_here_and_on_a_server(name: str, mace: macekit.Mace) -> None:
    answers = []
    for client in (macekit, mace):
        ask = partial(attrgetter(name)(client), **NEEDED.get(name, {}))
        of_table = ask(COLUMNS, score="score", cluster="person")
        for found in (of_table, ask(*SCORES.values(), cluster={"person": PEOPLE})):
            answer = found.answer
            for each in (answer, answer.get("result", {})):
                each.pop("provenance", None)
            answer.get("records", {}).pop("index", None)  # the row of a table, or the place in its list
            answers.append(answer)
    assert all(each == answers[0] for each in answers)
    assert re.search("lone_rows|80 of 400 rows", str(answers[0]))


def test_a_series_takes_the_labels_of_all_of_its_steps(mace: macekit.Mace) -> None:
    steps = {name: by_side(COLUMNS, name) for name in ("score", "other")}
    for client in (macekit, mace):
        answer = client.advantage_series(steps, max_advantage=0.5, cluster=PEOPLE)
        assert [step.clusters.numbers for step in answer.steps] == [[80], [80]]
        assert answer.steps[0].lower < client.advantage_series(steps, max_advantage=0.5).steps[0].lower


def test_counts_refuse_it(mace: macekit.Mace) -> None:
    rng = np.random.default_rng(0)
    for client in (macekit, mace):
        with pytest.raises(macekit.MaceProblem, match="does not allow for clusters"):
            client.counts(rng.normal(size=20), rng.normal(size=20), cluster=np.arange(40) // 2)


def test_a_table_of_its_own_takes_no_labels_beside() -> None:
    with pytest.raises(macekit.MaceProblem, match="need text"):
        macekit.estimate(COLUMNS, score="score", cluster=COLUMNS["person"])
