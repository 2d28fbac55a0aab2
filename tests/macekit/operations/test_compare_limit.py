"""A comparison with a limit: the riskiest of the queries is held against it, at one level for all of them."""

from typing import Any

import numpy as np
import pytest

import macekit
from estimators import Scores, ThresholdTarget
from estimators.decisions.riskiest import judge_groups, judge_queries, limits_of
from estimators.sample.counting import finest
from macekit.call import CSV, HTML, JSON, MARKDOWN
from macekit.reports.saved import BrokenAnswerError, validate_answer
from tests.cases import each_case
from tests.macekit import asking

RNG = np.random.default_rng(0)
MEMBERS, NONMEMBERS = RNG.normal(0.8, 1.0, 400), RNG.normal(size=400)
QUERIES = {"loss": (MEMBERS, NONMEMBERS), "mink": (MEMBERS - 0.6, NONMEMBERS)}
QUERIES |= {"noise": (NONMEMBERS, MEMBERS - 0.8)}
OF_LIBRARY = {name: Scores.of(*sides) for name, sides in QUERIES.items()}


def posted(accept: str = JSON, **question: Any) -> Any:
    queries = {name: {"members": [*a], "nonmembers": [*b]} for name, (a, b) in QUERIES.items()}
    return asking.ask("compare", {"queries": queries, **question}, accept=accept)


@pytest.mark.slow
@each_case("most, decision", [(0.9, "pass"), (0.05, "fail"), (0.32, "inconclusive")])
def test_the_riskiest_query_decides_as_the_library_says(most: float, decision: str) -> None:
    answer = posted(max_advantage=most, paired=False)

    [judged] = judge_queries(limits_of(most), OF_LIBRARY)
    [limit] = answer["limits"]
    assert answer["decision"] == limit["decision"] == judged.decision.value == decision
    assert (limit["query"], limit["maximum"], limit["reason"]) == (judged.query, most, judged.reason)
    assert (limit["lower"], limit["upper"]) == (answer["maximum"]["lower"], answer["maximum"]["upper"])
    assert answer["sentence"].startswith(f"{judged.opening}: ")
    assert answer["provenance"][0]["options"]["max_advantage"] == most


def test_without_a_limit_nothing_is_decided_and_no_number_differs() -> None:
    plain, limited = posted(), posted(max_advantage=0.1)

    assert (plain["decision"], plain["limits"]) == (None, None)
    assert limited["sentence"].endswith(plain["sentence"])
    for name in ("maximum", "baseline", "ranking", "differences"):
        assert plain[name] == limited[name]


@pytest.mark.slow
@each_case("paired", [True, False])
def test_differences_have_no_part_in_the_decision(paired: bool) -> None:
    assert posted(max_advantage=0.1, paired=paired)["limits"] == posted(max_advantage=0.1)["limits"]


def test_counts_are_judged_like_the_scores() -> None:
    counted = {name: finest(scores) for name, scores in OF_LIBRARY.items()}

    result = macekit.compare(counted, max_advantage=0.1, paired=False)

    assert (result.decision, result.limits[0].query) == ("fail", "loss")


def test_rows_that_belong_together_are_judged_by_whole_clusters() -> None:
    sides = [np.repeat(RNG.normal(shift, 1.0, 30), 25) + RNG.normal(0.0, 0.001, 750) for shift in (0.7, 0.0)]
    queries = {"one": tuple(sides), "other": tuple(each * 2.0 for each in sides)}
    person = np.repeat(np.arange(60), 25)

    alone = macekit.compare(queries, max_advantage=0.1)
    together = macekit.compare(queries, max_advantage=0.1, cluster=person)

    assert (alone.decision, together.decision) == ("fail", "inconclusive")
    assert together.limits[0].lower == together.maximum.lower


@each_case(
    "queries, options",
    ({"a": ([[0.1, k] for k in range(20)], [[0.2, k] for k in range(20)])} | QUERIES, {}),
    (QUERIES, {"estimator": {"kind": "learned"}}),
)
def test_a_learned_score_is_refused_by_name(queries: dict[str, Any], options: dict[str, Any]) -> None:
    with pytest.raises(macekit.MaceProblem, match="max_advantage: is judged of one number a rec") as refused:
        macekit.compare(queries, max_advantage=0.1, **options)

    assert refused.value.field == "max_advantage"


def test_a_limit_that_guessing_exceeds_is_said_to_be_one() -> None:
    assert posted(max_advantage=0.1, prior=0.2)["warnings"][0]["code"] == "limit_below_baseline"


def test_a_table_is_asked_with_its_columns_in_the_query_string() -> None:
    rows = [f"{a},{b},1" for a, b in zip(MEMBERS, MEMBERS / 2.0, strict=True)]
    rows += [f"{a},{b},0" for a, b in zip(NONMEMBERS, NONMEMBERS, strict=True)]
    body = "\n".join(["loss,mink,member", *rows]).encode()

    assert asking.ask("compare", body, CSV, score="loss,mink", max_advantage="0.1")["decision"] == "fail"


@pytest.mark.slow
@each_case("accept", [HTML, MARKDOWN])
def test_the_report_shows_the_decision_and_the_limit(accept: str) -> None:
    report = posted(accept, max_advantage=0.05)

    assert "FAIL" in report
    assert "The riskiest query&#x27;s advantage" in report or "The riskiest query's advantage" in report
    assert "FAIL" not in posted(accept)


def test_a_kept_answer_whose_decision_is_not_what_its_limit_says_is_broken() -> None:
    answer = posted(max_advantage=0.05)
    validate_answer("compare", answer)
    answer["decision"] = answer["limits"][0]["decision"] = "pass"

    with pytest.raises(BrokenAnswerError, match="decision is not what the interval says"):
        validate_answer("compare", answer)


@pytest.mark.slow
@each_case("most, decision", [(0.9, "pass"), (0.05, "fail"), (0.32, "inconclusive")])
def test_releases_have_one_decision_over_all_of_them(most: float, decision: str) -> None:
    assert macekit.compare_releases(QUERIES, max_advantage=most, paired=False).decision == decision
    assert macekit.compare_releases(QUERIES, paired=False).decision is None


# --- a limit on each group by itself ---

RARE = np.where(np.tile(np.arange(400) < 120, 2), "rare", "most")
LEAKS = {"dull": QUERIES["noise"], "sharp": (NONMEMBERS + 4.0 * (np.arange(400) < 120), NONMEMBERS[::-1])}


def grouped(**question: Any) -> Any:
    queries = {name: {"members": [*a], "nonmembers": [*b]} for name, (a, b) in LEAKS.items()}
    return asking.asked("compare", {"queries": queries, "groups": RARE.tolist(), **question})


@pytest.mark.slow
def test_each_group_of_each_query_is_held_against_a_limit_at_one_level() -> None:
    scores = {name: Scores.of(*sides) for name, sides in LEAKS.items()}
    labels = dict.fromkeys(scores, RARE)
    failed, passed = grouped(max_group_advantage=0.3), grouped(max_group_advantage=0.99)

    [limit] = failed["limits"]
    judged = judge_groups(0.3, scores, labels)
    assert (limit["name"], limit["query"], limit["decision"]) == ("group_advantage", "sharp", "fail")
    assert (limit["lower"], limit["reason"]) == (judged.estimate.lower, judged.reason)
    assert "within group rare" in failed["sentence"]
    assert passed["limits"][0]["decision"] == "pass"
    both = grouped(max_group_advantage=0.3, max_advantage=0.9)
    assert [each["name"] for each in both["limits"]] == ["advantage", "group_advantage"]
    beside = judge_groups(0.3, scores, labels, further=1).estimate.lower
    assert both["limits"][1]["lower"] == beside < limit["lower"]
    assert both["decision"] == "fail"
    narrow = {"estimator": {"kind": "threshold"}}
    one_cut = judge_groups(0.3, scores, labels, target=ThresholdTarget())
    assert grouped(max_group_advantage=0.3, **narrow)["limits"][0]["upper"] == one_cut.estimate.upper


def test_a_table_and_labels_beside_scores_say_whose_group_a_row_is() -> None:
    table = {name: np.concatenate(sides) for name, sides in LEAKS.items()}
    table |= {"in": np.repeat([True, False], 400), "region": RARE}

    of_table = macekit.compare(table, score=[*LEAKS], member="in", group="region", max_group_advantage=0.3)
    beside = macekit.compare(LEAKS, groups={"members": RARE[:400], "nonmembers": RARE[400:]}, max_group_advantage=0.3)

    assert of_table.answer["limits"] == beside.answer["limits"]
    assert "within a group" in beside.to_markdown()


def test_people_of_several_rows_are_one_person_in_every_group() -> None:
    clusters = {}, {"cluster": np.repeat(np.arange(200), 4).tolist()}
    alone, together = (grouped(max_group_advantage=0.3, **each) for each in clusters)

    assert together["limits"][0]["lower"] < alone["limits"][0]["lower"]


@each_case(
    "kind, field, question",
    ("missing-field", "groups", {"groups": None, "max_group_advantage": 0.3}),
    ("bad-option", "groups", {}),
    ("bad-option", "groups", {"max_group_advantage": 0.3, "paired": False}),
    ("out-of-range", "max_group_advantage", {"max_group_advantage": 2}),
    ("dimension-mismatch", "groups", {"groups": ["a"], "max_group_advantage": 0.3}),
    ("bad-option", "max_group_advantage", {"max_group_advantage": 0.3, "estimator": {"kind": "learned"}}),
)
def test_a_limit_on_groups_that_cannot_be_judged_is_refused(kind, field, question) -> None:
    queries = {name: {"members": [*a], "nonmembers": [*b]} for name, (a, b) in LEAKS.items()}
    problem = asking.refused("compare", {"queries": queries, "groups": RARE.tolist(), **question})

    assert (problem["kind"], problem["field"]) == (kind, field)


def test_counts_of_queries_have_no_groups() -> None:
    counted = {"one": finest(OF_LIBRARY["loss"]), "other": finest(OF_LIBRARY["mink"])}

    with pytest.raises(macekit.MaceProblem, match="groups: counts hold no records"):
        macekit.compare(counted, max_group_advantage=0.3, groups=RARE)
