"""``cluster`` in the questions that do not state an advantage first: what is of all rows, and what of lone ones."""

from typing import Any

import numpy as np
import pytest

from estimators import ThresholdRule, advantage, attack_advantage, by_group, lone_rows
from estimators.privacy.epsilon import epsilon_lower_bound
from estimators.sample.counting import finest
from macekit import catalogue
from tests.macekit.asking import asked, options_of, refused
from tests.macekit.operations.test_clusters import PEOPLE, ROWS, by_side, in_lists, named, stripped, world

GROUPS = ["a", "b"] * (PEOPLE * ROWS // 2)
QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "gate": (
        "gate",
        {
            "max_advantage": 0.1, "max_tpr": 0.5, "at_fpr": 0.1, "max_epsilon": 2.0, "delta": 0.01,
            "metric": "precision", "max": 0.9, "max_group_risk": 0.5, "max_group_advantage": 0.5,
            "groups": GROUPS,
        },
    ),
    "gate of a metric alone": ("gate", {"metric": "f_beta", "max": 0.9}),
    "metrics": ("metrics", {}),
    "metrics of shares": ("metrics", {"min_positive_share": 0.2, "metrics": ["accuracy", "precision"]}),
    "risk": ("individual-risk", {"groups": GROUPS, "metric": "f_beta"}),
    "risk as published": ("individual-risk", {"estimator": {"kind": "kde"}, "metric": "accuracy"}),
    "attack": ("attack", {"rule": {"threshold": 0.5}}),
    "attack, chosen here": ("attack", {"rule": {"threshold": 0.5, "chosen_before": False}}),
    "attack, top": ("attack", {"rule": {"kind": "top"}}),
    "attack, quantile": ("attack", {"rule": {"quantile": 0.9, "of": "nonmembers"}}),
    "report": ("report", {"groups": GROUPS}),
}  # fmt: skip
QUESTIONS |= {
    operation: (operation, {name: value for name, value in options_of(operation).items() if name != "paired"})
    for operation in sorted(catalogue.BY_CLUSTERS - {operation for operation, _ in QUESTIONS.values()})
}
"""Every question that allows for clusters, and what else it is asked; as its first example, unless it is said here."""


def posed(name: str, columns: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The operation and its body, without clusters."""
    operation, more = QUESTIONS[name]
    if operation in catalogue.SEVERAL:
        return operation, {"queries": {each: in_lists(columns, each) for each in ("score", "other")}, **more}
    return operation, {**in_lists(columns), **more}


@pytest.mark.slow
@pytest.mark.parametrize("name", QUESTIONS)
def test_labels_change_the_numbers_unless_all_differ_and_it_is_said_of_which_rows_they_are(name: str) -> None:
    columns = world(0.5)
    operation, body = posed(name, columns)
    plain = stripped(asked(operation, body))
    different = asked(operation, {**body, "cluster": list(range(PEOPLE * ROWS))})
    answer = asked(operation, {**body, "cluster": by_side(columns)})
    assert stripped(different) == plain
    assert stripped(answer) != plain
    if operation not in catalogue.SEVERAL:
        assert f"{PEOPLE} " in str(answer).partition("lone_rows")[2]
    if name != "theory/together":
        assert f"'numbers': [{PEOPLE}]" in str(answer)


@pytest.mark.parametrize("name", QUESTIONS)
def test_too_few_clusters_are_not_enough_data(name: str) -> None:
    operation, body = posed(name, world())
    problem = refused(operation, {**body, "cluster": [row % 7 for row in range(PEOPLE * ROWS)]})
    assert (problem["kind"], problem["field"]) == ("too-few-records", "cluster")
    assert "7 labels, need at least 8 clusters" in problem["detail"]


def test_a_gate_judges_the_advantage_and_accuracy_by_all_rows_and_the_rest_by_lone_ones() -> None:
    columns = world(1.0)
    scores, person = named(columns)
    body = {**in_lists(columns), "cluster": by_side(columns), "max_advantage": 0.2}
    alone = asked("gate", body)
    wanted = advantage(scores, cluster=person)
    assert (alone["limits"][0]["lower"], alone["limits"][0]["upper"]) == (wanted.lower, wanted.upper)
    assert alone["clusters"]["design_effect"] == wanted.clusters.design_effect  # type: ignore[union-attr]

    both = asked("gate", {**body, "metric": "balanced_accuracy", "max": 0.6, "max_tpr": 0.5, "at_fpr": 0.2})
    of_advantage, of_tpr, of_metric = both["limits"]
    assert of_metric["upper"] == pytest.approx((1.0 + of_advantage["upper"]) / 2.0)
    lone = lone_rows(scores, person)
    sides = {"members": lone.members.tolist(), "nonmembers": lone.nonmembers.tolist()}
    gate = {"max_tpr": 0.5, "at_fpr": 0.2, "max_advantage": 0.2, "metric": "balanced_accuracy", "max": 0.6}
    apart = asked("gate", {**sides, **gate})
    assert (of_tpr["lower"], of_tpr["upper"]) == (apart["limits"][1]["lower"], apart["limits"][1]["upper"])
    words = next(each["message"] for each in both["warnings"] if each["code"] == "lone_rows")
    assert "only the advantage and the best balanced accuracy use all 360 rows" in words


def test_a_gate_asks_for_records_in_clusters_as_large_as_these() -> None:
    """What would settle a limit that is judged by lone rows is told in rows, of which there are six times as many."""
    columns = world(0.5)
    scores, person = named(columns)
    lone = lone_rows(scores, person)
    sides = {"members": lone.members.tolist(), "nonmembers": lone.nonmembers.tolist()}
    for limit in ({"max_epsilon": 3.0, "delta": 0.1}, {"metric": "f_beta", "max": 0.72}):
        of_clusters = asked("gate", {**in_lists(columns), "cluster": by_side(columns), **limit})
        of_lone = asked("gate", {**sides, **limit})
        assert of_lone["records_needed"] is not None
        assert of_clusters["records_needed"] == pytest.approx(ROWS * of_lone["records_needed"], abs=ROWS)


@pytest.mark.slow
def test_metrics_that_are_a_line_in_accuracy_use_all_rows() -> None:
    columns = world(1.0)
    scores, person = named(columns)
    answer = asked("metrics", {**in_lists(columns), "cluster": by_side(columns)})
    by_name = {each["name"]: each for each in answer["metrics"]}
    whole = advantage(scores, cluster=person)
    lone = lone_rows(scores, person)
    sides = {"members": lone.members.tolist(), "nonmembers": lone.nonmembers.tolist()}
    apart = {each["name"]: each for each in asked("metrics", sides)["metrics"]}
    for name, metric in by_name.items():
        said = "lone_rows" in {each["code"] for each in metric["warnings"]}
        if name in ("accuracy", "balanced_accuracy", "advantage", "weighted_accuracy"):
            assert not said
            assert metric["upper"] != apart[name]["upper"]
        else:
            assert said
            assert (metric["lower"], metric["upper"]) == (apart[name]["lower"], apart[name]["upper"])
    assert by_name["advantage"]["lower"] == whole.lower


def test_every_record_has_a_risk_though_it_is_learned_from_few() -> None:
    columns = world(1.0)
    answer = asked("individual-risk", {**in_lists(columns), "cluster": by_side(columns)})
    assert len(answer["records"]["risk"]) == PEOPLE * ROWS
    assert None not in answer["records"]["risk"]  # the range is that of all records
    assert sum(answer["cells"]["members"]) + sum(answer["cells"]["nonmembers"]) == PEOPLE
    scores, person = named(columns)
    assert answer["mean"]["lower"] == advantage(scores, cluster=person).lower


def test_each_group_allows_for_its_own_clusters_and_says_nothing_with_too_few() -> None:
    columns = world(0.0, alike=0.95)
    scores, person = named(columns)
    groups = np.where(np.arange(PEOPLE * ROWS) % 2 == 0, "a", "b").astype("U3")
    groups[person < 6] = "few"  # many rows, of six people
    answer = asked("individual-risk", {**in_lists(columns), "cluster": by_side(columns), "groups": groups.tolist()})
    rows = {each["label"]: each for each in answer["groups"]}
    assert rows["few"]["advantage"] is None
    assert [each["code"] for each in rows["few"]["warnings"]] == ["group_too_small"]
    sides = groups[: scores.n_members], groups[scores.n_members :]
    for group in by_group(scores, *sides, cluster=person):
        if group.advantage is not None:
            assert rows[group.label]["advantage"]["lower"] == group.advantage.lower
            assert rows[group.label]["advantage"]["clusters"]["numbers"][0] >= 40
    plain = {each.label: each.advantage for each in by_group(scores, *sides)}
    assert plain["a"] is not None
    assert rows["a"]["advantage"]["upper"] > plain["a"].upper


def test_an_audit_bounds_epsilon_by_lone_rows_and_the_advantage_by_all() -> None:
    columns = world(1.5)
    scores, person = named(columns)
    answer = asked("audit", {**in_lists(columns), "cluster": by_side(columns), "claimed_epsilon": 0.1})
    bound = epsilon_lower_bound(finest(lone_rows(scores, person)))
    assert answer["epsilon"]["lower_bound"] == bound.value > 0
    assert answer["advantage"]["lower"] == advantage(scores, cluster=person).lower


def test_an_attack_cuts_where_it_does_without_clusters() -> None:
    columns = world(1.0)
    body = {**in_lists(columns), "rule": {"kind": "top", "records": 50}}
    plain, clustered = asked("attack", body), asked("attack", {**body, "cluster": by_side(columns)})
    assert clustered["rule"] == plain["rule"]
    assert clustered["attack"]["lower"] < plain["attack"]["lower"]


def test_an_attack_that_was_fixed_before_is_judged_by_all_rows() -> None:
    scores, person = named(world(1.0))
    whole = attack_advantage(scores, ThresholdRule(0.5), cluster=person)
    lone = attack_advantage(lone_rows(scores, person), ThresholdRule(0.5))
    plain = attack_advantage(scores, ThresholdRule(0.5))
    widths = [each.estimate.interval.width for each in (plain, whole, lone)]
    assert widths == sorted(widths)
    assert (whole.tpr.lower, whole.fpr.upper) == (lone.tpr.lower, lone.fpr.upper)
    assert "clusters are independent draws" in whole.estimate.interval.guarantee.assumes


def test_vectors_are_refused_where_a_score_would_be_learned() -> None:
    rng = np.random.default_rng(0)
    sides = {name: rng.normal(size=(40, 2)).tolist() for name in ("members", "nonmembers")}
    labels = [row // 2 for row in range(80)]
    for operation, more in (
        ("metrics", {}), ("audit", {}), ("individual-risk", {}), ("gate", {"max_tpr": 0.5, "at_fpr": 0.1}),
    ):  # fmt: skip
        problem = refused(operation, {**sides, **more, "cluster": labels})
        assert (problem["field"], problem["kind"]) == ("cluster", "bad-option")
        assert "give one number a record" in problem["detail"]
