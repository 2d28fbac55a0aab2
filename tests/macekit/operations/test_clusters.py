"""``cluster``: rows that come in clusters, asked of the operations: what is answered, and what is refused."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from estimators import AssessOptions, Scores, assess
from macekit import catalogue
from macekit.call import ARROW, CSV, NDJSON, NPZ, PARQUET
from macekit.schemas.by_operation import QUESTIONS
from tests.app.http.asked import TABLES
from tests.cases import each_case
from tests.macekit.asking import asked, refused

PEOPLE, ROWS = 60, 6


def world(truth: float = 0.0, seed: int = 0, alike: float = 0.6) -> dict[str, np.ndarray[Any, Any]]:
    """People with rows that are alike, every second person a member, in an order of no meaning."""
    rng = np.random.default_rng(seed)
    person = rng.permutation(np.repeat(np.arange(PEOPLE), ROWS))
    member = person % 2 == 0
    shared, own = rng.normal(size=PEOPLE)[person], rng.normal(size=len(person))
    score = np.sqrt(alike) * shared + np.sqrt(1 - alike) * own
    return {
        "score": score + truth * member, "other": score + rng.normal(size=len(person)), "member": member,
        "person": person, "model": rng.integers(0, 30, len(person)),
    }  # fmt: skip


def by_side(columns: dict[str, np.ndarray[Any, Any]], name: str = "person") -> dict[str, Any]:
    inside = columns["member"]
    return {"members": columns[name][inside].tolist(), "nonmembers": columns[name][~inside].tolist()}


def in_lists(columns: dict[str, np.ndarray[Any, Any]], score: str = "score") -> dict[str, Any]:
    return by_side(columns, score)


def named(columns: dict[str, Any]) -> tuple[Scores, np.ndarray[Any, Any]]:
    """The scores, and whose each is as an operation numbers them: in the order in which they are met."""
    person = np.concatenate([*by_side(columns).values()])
    _, first = np.unique(person, return_index=True)
    return Scores.of(*in_lists(columns).values()), np.argsort(np.argsort(first))[person]


def stripped(value: Any) -> Any:
    """An answer without what is said of clusters and of where it comes from."""
    if isinstance(value, dict):
        left_out = {"clusters", "provenance"}
        return {key: stripped(each) for key, each in value.items() if key not in left_out}
    if isinstance(value, list):
        return [stripped(each) for each in value]
    return value.split(" No two rows share")[0] if isinstance(value, str) else value


@pytest.mark.parametrize("operation", ["advantage", "report"])
def test_the_answer_is_that_of_the_library_and_says_what_the_clusters_cost(operation: str) -> None:
    columns = world(0.5)
    answer = asked(operation, {**in_lists(columns), "cluster": by_side(columns), "max_advantage": 0.1})
    result = answer.get("result", answer)

    scores, person = named(columns)
    wanted = assess(scores, AssessOptions(max_advantage=0.1), {"cluster": person})

    stated, own = result["advantage"], wanted.advantage
    clusters = stated["clusters"]
    assert (clusters["columns"], clusters["numbers"]) == (["cluster"], [PEOPLE])
    assert clusters["design_effect"] == own.clusters.design_effect > 1.5
    assert clusters["effective_sample"] == pytest.approx(PEOPLE * ROWS / clusters["design_effect"])
    assert clusters["sentence"] in result["sentence"]
    assert (stated["lower"], stated["upper"]) == (own.lower, own.upper)
    assert result["roc"]["auc_lower"] == wanted.auc.estimate.lower
    assert "lone_rows" in {each["code"] for each in result["warnings"]}
    assert "clusters are independent draws" in stated["guarantee"]["assumes"]


@pytest.mark.slow
@pytest.mark.parametrize("media_type", [CSV, NDJSON, ARROW, PARQUET, NPZ])
@pytest.mark.parametrize("cluster", ["person", "person,model"])
def test_tables_of_every_kind_are_answered_like_lists(media_type: str, cluster: str) -> None:
    columns = world(0.5)
    names = ("score", "member", "person", "model")
    table = pa.table({name: columns[name] for name in names})
    answer = asked("advantage", TABLES[media_type](table), media_type, score="score", cluster=cluster)

    labels = {name: by_side(columns, name) for name in cluster.split(",")}
    wanted = asked("advantage", {**in_lists(columns), "cluster": labels})
    assert stripped(answer) == stripped(wanted)
    assert answer["advantage"]["clusters"] == wanted["advantage"]["clusters"]
    assert answer["advantage"]["clusters"]["columns"] == cluster.split(",")
    roles = {each["name"]: each["role"] for each in answer["provenance"]["columns"]}
    assert {name: roles[name] for name in labels} == dict.fromkeys(labels, "cluster")
    assert answer["provenance"]["options"]["cluster"] == cluster


def test_labels_of_text_and_of_numbers_that_say_the_same_are_the_same() -> None:
    columns = world(0.5)
    integers = {**in_lists(columns), "cluster": by_side(columns)}
    labels = {side: [f"p{label}" for label in each] for side, each in by_side(columns).items()}
    texts = {**integers, "cluster": labels}
    assert stripped(asked("advantage", texts)) == stripped(asked("advantage", integers))


@pytest.mark.parametrize("operation", ["advantage", "report"])
def test_labels_that_are_all_different_are_no_clusters(operation: str) -> None:
    answer = asked(operation, {**in_lists(world(0.5)), "cluster": list(range(PEOPLE * ROWS))})

    clusters = answer.get("result", answer)["advantage"]["clusters"]
    assert (clusters["method"], clusters["design_effect"]) == ("independent", 1.0)
    assert clusters["effective_sample"] == PEOPLE * ROWS


def test_a_comparison_allows_for_clusters_in_every_advantage_and_difference() -> None:
    columns = world(1.2)
    queries = {name: in_lists(columns, name) for name in ("score", "other")}
    plain = asked("compare", {"queries": queries})
    answer = asked("compare", {"queries": queries, "cluster": by_side(columns)})
    table = TABLES[CSV](pa.table({name: columns[name] for name in ("score", "other", "member", "person")}))
    of_table = asked("compare", table, CSV, score="score,other", cluster="person")

    assert {place["advantage"]["clusters"]["numbers"][0] for place in answer["ranking"]} == {PEOPLE}
    assert answer["ranking"][0]["advantage"]["lower"] < plain["ranking"][0]["advantage"]["lower"]
    assert answer["differences"][0]["lower"] < plain["differences"][0]["lower"]
    assert [place["advantage"]["lower"] for place in of_table["ranking"]] == [
        place["advantage"]["lower"] for place in answer["ranking"]
    ]

    problem = refused("compare", {"queries": queries, "cluster": by_side(columns), "paired": False})
    assert (problem["field"], problem["kind"]) == ("cluster", "bad-option")


OTHERS = sorted(
    name
    for name, question in QUESTIONS.items()
    if {"members", "queries"} & question.model_fields.keys()
    and name not in catalogue.BY_CLUSTERS
    and not catalogue.BY_NAME[name].tables
    and name != "text"  # it brings the texts of a person together itself, by an option of its own
)


@pytest.mark.parametrize("operation", OTHERS)
def test_every_other_question_refuses_clusters_and_says_which_allow_for_them(operation: str) -> None:
    columns = world()
    several = operation in catalogue.SEVERAL
    queries = {"queries": {name: in_lists(columns, name) for name in ("score", "other")}}
    body = queries if several else in_lists(columns)
    table = TABLES[CSV](pa.table({name: columns[name] for name in ("score", "other", "member", "person")}))
    query = {"score": "score,other" if several else "score", "cluster": "person"}
    for problem in (refused(operation, {**body, "cluster": by_side(columns)}), refused(operation, table, CSV, **query)):
        assert (problem["field"], problem["kind"]) == ("cluster", "bad-option")
        assert "/v1/advantage, /v1/attack, /v1/audit, /v1/compare" in problem["detail"]
        assert "unit" in problem["detail"]


def lists(n: int = 30) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {"members": rng.normal(size=n).tolist(), "nonmembers": rng.normal(size=n).tolist()}


PAIRS = [row // 2 for row in range(60)]


@each_case(
    "more, slug, words",
    ({"cluster": ["a"] * 60}, "too-few-records", "one label for all rows"),
    ({"cluster": [row % 7 for row in range(60)]}, "too-few-records", "7 labels, need at least 8"),
    ({"cluster": [row % 5 for row in range(30)] + list(range(30))}, "too-few-records", "5 member rows can"),
    ({"cluster": PAIRS[:-1]}, "dimension-mismatch", "59 labels for 60 rows"),
    ({"cluster": {"members": PAIRS[:30]}}, "missing-field", "need members and nonmembers"),
    ({"cluster": {"members": PAIRS[:30], "nonmembers": PAIRS[:29]}}, "dimension-mismatch", "59 labels"),
    ({"cluster": {"members": PAIRS[:30], "nonmembers": ["a"] * 30}}, "mixed-types", "all text or all numbers"),
    ({"cluster": [None, *PAIRS[1:]]}, "not-finite", "record 0 has no value"),
    ({"cluster": [*PAIRS[:-1], None]}, "not-finite", "record 59 has no value"),
    ({"cluster": ["", *map(str, PAIRS[1:])]}, "bad-records", "row 0 has no label"),
    ({"cluster": {"secret": ["a"] * 60, "b": PAIRS}}, "too-few-records", "cluster 1: got one label"),
    ({"cluster": {"a": PAIRS, "b": PAIRS, "c": PAIRS}}, "bad-option", "3 columns, need one, or two"),
    ({"cluster": {}}, "bad-option", "0 columns"),
    ({"cluster": {"secret": None}}, "missing-field", "need a label for each record"),
    ({"cluster": {"secret": [[1], [2]]}}, "dimension-mismatch", "2 dimensions"),
    ({"cluster": "person"}, "wrong-type", "need a list"),
    ({"cluster": PAIRS, "units": PAIRS}, "bad-option", "does not go with units"),
    ({"cluster": PAIRS, "estimator": {"kind": "learned"}}, "bad-option", "learned adversary"),
)
def test_labels_that_are_none_are_refused_without_being_quoted(more, slug, words) -> None:
    problem = refused("advantage", {**lists(), **more})
    assert (problem["kind"], problem["field"].partition("[")[0]) == (slug, "cluster")
    assert words in problem["detail"]
    assert "secret" not in problem["detail"]


@pytest.mark.parametrize(("query", "slug"), [
    ({"cluster": "nobody"}, "unknown-name"), ({"cluster": ""}, "unknown-name"),
    ({"cluster": "person,model,other"}, "bad-option"), ({"cluster": "person,person"}, "bad-option"),
    ({"cluster": "member"}, "bad-option"), ({"cluster": "person", "unit": "person"}, "bad-option"),
    ({"cluster": "person", "unit": "model"}, "bad-option"), ({"cluster": "gaps"}, "not-finite"),
])  # fmt: skip
def test_columns_that_are_none_are_refused(query: dict[str, str], slug: str) -> None:
    columns = {**world(), "gaps": np.array(["a", "", "b"] * (PEOPLE * ROWS // 3))}
    assert refused("advantage", TABLES[CSV](pa.table(columns)), CSV, score="score", **query)["kind"] == slug


def test_counts_do_not_say_whose_a_row_is() -> None:
    counts = {"members": [20, 30, 50], "nonmembers": [50, 40, 10], "edges": [0.2, 0.7]}
    assert refused("advantage", {"counts": counts, "cluster": PAIRS})["field"] == "cluster"


@pytest.mark.slow
def test_what_does_not_allow_for_clusters_is_that_of_rows_that_share_none() -> None:
    """Of people without a leak whose rows are alike, none of these ends is wrong more often than it says."""
    wrong = dict.fromkeys(("epsilon", "rate", "area", "advantage"), 0)
    for seed in range(60):
        scores, person = named(world(0.0, seed, alike=0.9))
        found = assess(scores, AssessOptions(operating_points=(0.2,), seed=seed), person)
        assert found.lone.n_members + found.lone.n_nonmembers == PEOPLE
        wrong["epsilon"] += found.epsilon.value > 0
        wrong["rate"] += 0.2 not in found.operating_points[0].estimate.interval
        wrong["area"] += 0.5 not in found.auc.estimate.interval
        wrong["advantage"] += found.advantage.lower > 0
    # 0.05 each, and 0.025 of one end: more than these are seen once in ten thousand
    assert max(wrong["epsilon"], wrong["rate"], wrong["area"]) <= 11
    assert wrong["advantage"] <= 8
