"""/v1/gate: the library's decision, and one clear problem for whatever does not go together."""

from functools import partial
from typing import Any

import jsonschema_rs
import numpy as np
import pytest

from app.openapi.examples import GROUPS, JSON_EXAMPLES, MEMBERS, NONMEMBERS, SAMPLE, csv_text
from estimators import Scores, preset
from estimators.decisions.gate import judge
from estimators.decisions.group_limit import MaxGroupAdvantage
from estimators.decisions.maxima import MaxAdvantage, MaxEpsilon, MaxGroupRisk, MaxMetric
from estimators.decisions.tpr_limit import MaxTpr
from macekit.call import CSV
from macekit.questions.gate import GateQuestion
from macekit.reports.saved import validate_answer
from tests.cases import each_case
from tests.macekit import asking

refused, asked = partial(asking.refused, "gate"), partial(asking.asked, "gate")


EIGHT = {"members": [float(i) for i in range(8)], "nonmembers": [i + 0.5 for i in range(8)]}


SCORES = Scores.of(np.array(MEMBERS), np.array(NONMEMBERS))


def test_the_answer_is_the_librarys() -> None:
    options = {"prior": 0.3, "confidence": 0.9, "seed": 5}
    asks = {"max_advantage": 0.9, "max_epsilon": 3, "delta": 0.05}
    answer = asked({**SAMPLE, **options, **asks, "metric": {"preset": "f_beta", "beta": 2}, "max": 0.8})

    metric = preset("f_beta", 0.3, beta=2.0)
    found = judge(SCORES, [MaxAdvantage(0.9), MaxEpsilon(3.0, 0.05), MaxMetric(0.8, metric)], 0.3, 0.9, 5)
    assert [each["name"] for each in answer["limits"]] == ["advantage", "epsilon", "metric"]
    assert (answer["decision"], answer["sentence"]) == (found.decision.value, found.sentence)
    for each, judged in zip(answer["limits"], found.limits, strict=True):
        assert each["decision"] == judged.verdict.decision.value
        assert each["lower"] == judged.estimate.lower
        assert each["upper"] == (None if np.isinf(judged.estimate.upper) else judged.estimate.upper)
        assert each["confidence"] == 0.9
    assert answer["provenance"]["options"]["metric"] == {"preset": "f_beta", "beta": 2.0}


@each_case(
    "options, maximum",
    ({"max_group_risk": 0.6, "groups": GROUPS}, MaxGroupRisk(0.6, GROUPS)),
    ({"max_group_advantage": 0.6, "groups": GROUPS}, MaxGroupAdvantage(0.6, GROUPS)),
    ({"max_tpr": 0.5, "at_fpr": 0.1}, MaxTpr(0.5, 0.1)),
)
def test_groups_and_rates_are_judged_as_by_the_library_and_groups_not_repeated(options, maximum) -> None:
    answer = asked({**SAMPLE, **options})

    (judged,), (limit,) = judge(SCORES, [maximum]).limits, answer["limits"]
    assert limit["name"] in ("group_risk", "group_advantage", "tpr")
    assert (limit["lower"], limit["upper"]) == (judged.estimate.lower, judged.estimate.upper)
    assert limit["about"] == judged.about
    assert "groups" not in answer["provenance"]["options"]


def test_a_table_with_options_in_the_query_is_asked_likewise() -> None:
    options = {"max_advantage": 0.5, "max_group_risk": 0.9}

    answer = asked(csv_text().encode(), CSV, group="group", score="score", **{k: str(v) for k, v in options.items()})

    assert answer["limits"] == asked({**SAMPLE, "groups": GROUPS, **options})["limits"]


def test_the_estimators_bins_are_those_of_every_limit() -> None:
    limits = {"max_advantage": 0.5, "max_epsilon": 1, "delta": 0.1}

    answer = asked({**SAMPLE, **limits, "estimator": {"kind": "histogram", "bins": 3}})

    assert all("3 cells" in each["guarantee"]["covers"] for each in answer["limits"])


def test_groups_are_of_all_records_where_one_of_each_unit_is_kept() -> None:
    units = [i // 2 for i in range(48)]

    answer = asked({**SAMPLE, "max_group_risk": 0.5, "groups": GROUPS, "units": units})

    assert answer["provenance"]["n_members"] + answer["provenance"]["n_nonmembers"] == 24
    assert answer["limits"][0]["name"] == "group_risk"


def test_each_group_is_told_with_its_own_advantage_and_with_its_mean_risk() -> None:
    mean, own = ({**SAMPLE, "groups": GROUPS, f"max_group_{what}": 0.9} for what in ("risk", "advantage"))
    of_mean, of_own, of_both = asked(mean), asked(own), asked({**mean, "max_group_advantage": 0.9})

    for answer, limits in ((of_mean, 1), (of_own, 1), (of_both, 2)):
        assert len(answer["limits"]) == limits
        assert [each["label"] for each in answer["groups"]] == sorted(set(GROUPS))
        assert all(each["advantage"]["lower"] <= each["advantage"]["upper"] for each in answer["groups"])
    assert all(each["risk"] is None for each in of_own["groups"])
    assert [each["risk"]["upper"] for each in of_both["groups"]] == [
        each["risk"]["upper"] for each in of_mean["groups"]
    ]
    assert of_own["limits"][0]["upper"] == max(each["advantage"]["upper"] for each in of_own["groups"])
    assert asked({**SAMPLE, "max_advantage": 0.5})["groups"] == []


def test_a_group_by_itself_has_the_kept_record_of_each_unit() -> None:
    units = [i // 2 for i in range(48)]
    labels = [GROUPS[i - i % 2] for i in range(48)]  # both records of a unit are of one group
    answer = asked({**SAMPLE, "max_group_advantage": 0.5, "groups": labels, "units": units})

    assert sum(each["records"] for each in answer["groups"]) == 24
    assert {each["label"]: each["records"] for each in answer["groups"]} == {
        label: labels.count(label) // 2 for label in set(labels)
    }


FULL = {**EIGHT, "groups": ["a", "b"] * 8}
LABELS = {"members": ["a"] * 9, "nonmembers": ["b"] * 9}
COUNTS = {"counts": {"members": [5, 9], "nonmembers": [9, 5]}}
ACCEPTED = {"estimator": {"accept_learned_score": True}}
SCHEMA = jsonschema_rs.Draft202012Validator(GateQuestion.model_json_schema())
TOGETHER: list[tuple[dict[str, Any], str, str]] = [
    (EIGHT, "missing-field", "max_advantage"),
    ({**EIGHT, "max_advantage": None}, "missing-field", "max_advantage"),
    ({**EIGHT, "max": 0.5}, "missing-field", "metric"),
    ({**EIGHT, "metric": "accuracy"}, "missing-field", "max"),
    ({**EIGHT, "max_advantage": 0.1, "delta": 0.1}, "bad-option", "delta"),
    ({**EIGHT, "max_tpr": 0.1}, "missing-field", "at_fpr"),
    ({**EIGHT, "max_advantage": 0.1, "at_fpr": 0.1}, "missing-field", "max_tpr"),
    ({**EIGHT, "max_group_risk": 0.5}, "missing-field", "groups"),
    ({**EIGHT, "max_group_advantage": 0.5}, "missing-field", "groups"),
    ({**FULL, "max_advantage": 0.5}, "bad-option", "groups"),
]
ALONE: list[tuple[dict[str, Any], str, str]] = [
    ({**EIGHT, "max_advantage": 2}, "out-of-range", "max_advantage"),
    ({**EIGHT, "max_tpr": 1.5, "at_fpr": 0.1}, "out-of-range", "max_tpr"),
    ({**EIGHT, "max_tpr": 0.5, "at_fpr": 0}, "out-of-range", "at_fpr"),
    ({**EIGHT, "max_epsilon": -1}, "out-of-range", "max_epsilon"),
    ({**EIGHT, "max_epsilon": 1, "delta": 1}, "out-of-range", "delta"),
    ({**EIGHT, "max_group_risk": "high"}, "wrong-type", "max_group_risk"),
    ({**FULL, "max_group_advantage": 1.5}, "out-of-range", "max_group_advantage"),
    ({**FULL, "max_group_advantage": "high"}, "wrong-type", "max_group_advantage"),
    ({**EIGHT, "max_group_advantage": 0.5, "groups": ["s3cr3t-gr0up"] * 3}, "dimension-mismatch", "groups"),
    ({**EIGHT, "max_group_advantage": 0.5, "groups": []}, "dimension-mismatch", "groups"),
    ({**EIGHT, "max_group_advantage": 0.5, "groups": [None] * 16}, "not-finite", "groups"),
    ({**EIGHT, "max_group_advantage": 0.5, "groups": ["a"] * 16, "units": [1, 2]}, "dimension-mismatch", "units"),
    ({**EIGHT, "max_group_advantage": 0.5, "groups": ["a"], "units": list(range(16))}, "dimension-mismatch", "groups"),
    ({**COUNTS, "max_group_advantage": 0.5, "groups": ["a"] * 28}, "bad-records", "groups"),
    ({**EIGHT, "metric": "f3", "max": 1}, "unknown-name", "metric"),
    ({**EIGHT, "max_advantage": 0.1, "maximum": 1}, "unknown-field", "max"),
    ({**FULL, "max_group_risk": 0.6, "prior": 0.1}, "bad-option", "max_group_risk"),
    ({**EIGHT, "max_group_risk": 0.5, "groups": ["s3cr3t-gr0up"] * 3}, "dimension-mismatch", "groups"),
    ({**COUNTS, "max_group_risk": 0.5, "groups": ["a"] * 28}, "bad-records", "groups"),
    ({**EIGHT, "max_advantage": 0.5, "accept_exposure": "yes"}, "wrong-type", "accept_exposure"),
    ({**EIGHT, "max_tpr": 0.5, "at_fpr": 0.1, "accept_exposure": True}, "bad-option", "accept_exposure"),
    ({**EIGHT, "max_epsilon": 5, "delta": 0.1, "accept_exposure": True}, "bad-option", "accept_exposure"),
    ({**EIGHT, "max_advantage": 1.0, **ACCEPTED}, "bad-option", "estimator.accept_learned_score"),
]


@each_case("body, slug, field", TOGETHER + ALONE)
def test_what_does_not_go_together_is_one_clear_problem(body: dict[str, Any], slug: str, field: str) -> None:
    problem = refused(body)

    assert (problem["kind"], problem["field"]) == (slug, field), problem
    assert "s3cr3t" not in str(problem)
    assert (body, slug, field) not in TOGETHER or not SCHEMA.is_valid(body)


@pytest.mark.slow
def test_the_schema_says_what_goes_together() -> None:
    for good in (
        {**EIGHT, "max_advantage": 0.1, "delta": 0},
        {**EIGHT, "max_epsilon": 1.0, "delta": 0.1, "metric": None, "groups": None},
        {**EIGHT, "metric": "accuracy", "max": 0.9},
        {**EIGHT, "max_tpr": 0.9, "at_fpr": 0.1},
        {**FULL, "max_group_risk": 0.5},
        *(example.value for example in JSON_EXAMPLES["gate"].values()),
    ):
        assert SCHEMA.is_valid(good)
        assert asked(good)["limits"]


VERBATIM = {"counts": {"members": [4950, 50], "nonmembers": [5000, 0], "edges": [0.0]}}


def test_a_pass_says_first_that_members_are_exposed() -> None:
    answer = asked({**VERBATIM, "max_advantage": 0.1})

    assert (answer["decision"], answer["warnings"][0]["code"]) == ("pass", "rare_exposure")
    said = answer["warnings"][0]["message"]
    assert said.startswith("50 of 5,000 members score higher than every nonmember")
    assert answer["exposure"]["alarm"] is True
    assert answer["exposure"]["score_epsilon"] > 2.2
    tail = answer["exposure"]["tail"]
    assert (tail["direction"], tail["members"], tail["nonmembers"], tail["label"]) == ("high", 50, 0, None)


@pytest.mark.slow
def test_vectors_are_looked_at_for_exposure_in_their_learned_score() -> None:
    rng = np.random.default_rng(0)
    exposed = np.concatenate([rng.normal(8, 1, (40, 2)), rng.normal(0, 1, (260, 2))])
    rows = {"members": exposed.tolist(), "nonmembers": rng.normal(0, 1, (300, 2)).tolist()}

    assert asked({**rows, "max_advantage": 0.5})["exposure"]["alarm"] is True


@pytest.mark.slow
@each_case(
    "estimator, decision, accepted",
    ({"kind": "auto"}, "inconclusive", False),
    ({"kind": "learned", "learners": ["boxes"]}, "inconclusive", False),
    ({"kind": "learned", "learners": ["boxes"], "accept_learned_score": True}, "pass", True),
)
def test_a_learned_score_passes_only_by_name(estimator: object, decision: str, accepted: bool) -> None:
    rng = np.random.default_rng(1)
    rows = {"members": rng.normal(size=(60, 2)).tolist(), "nonmembers": rng.normal(size=(60, 2)).tolist()}
    question = {**rows, "max_advantage": 1.0, "estimator": estimator}

    gate, estimate = asked(question), asking.asked("advantage", question)

    for verdict in (gate["limits"][0], estimate["verdict"]):
        assert (verdict["decision"], verdict["learned_score_accepted"]) == (decision, accepted)
        assert verdict["reason"].startswith("learned score: ")
        assert verdict["records_needed"] is None
    assert gate["decision"] == decision
    word = "Undecided" if decision == "inconclusive" else decision.capitalize()
    assert estimate["sentence"].startswith(f"{word}: learned score: ")
    assert validate_answer("gate", gate) == gate  # a saved one is known to be whole
    assert validate_answer("advantage", estimate) == estimate


def test_a_comparison_has_no_verdict_that_a_learned_score_could_pass() -> None:
    estimator = {"kind": "learned", "accept_learned_score": True}
    body = {"queries": {"a": EIGHT, "b": EIGHT}, "estimator": estimator}

    assert asking.refused("compare", body)["field"] == "estimator.accept_learned_score"


SEEDS = {"members": 0, "nonmembers": 1}
LEAKLESS = {side: np.random.default_rng(seed).normal(size=500).tolist() for side, seed in SEEDS.items()}


def test_a_number_of_changes_is_part_of_the_limit_and_a_pass_says_up_to_which_it_holds() -> None:
    question = {**LEAKLESS, "max_advantage": 0.3}
    plain, more = asked(question), asked({**question, "changes": 8})
    up_to = plain["limits"][0]["holds_up_to_changes"]

    assert asked({**question, "estimator": {"changes": 8}})["limits"] == more["limits"]
    assert plain["limits"][0]["upper"] < more["limits"][0]["upper"] <= 0.3
    assert f"change their guess at most {up_to} times along the score" in plain["covers"][0]
    assert len(plain["covers"]) == 3
    assert asked({**question, "changes": up_to})["decision"] == "pass"
    beyond = asked({**question, "changes": up_to + up_to // 10 + 1})
    assert (beyond["decision"], beyond["covers"]) == ("inconclusive", [])
    assert beyond["limits"][0]["holds_up_to_changes"] is None
    for operation in ("advantage", "report"):
        found = asking.asked(operation, {**question, "changes": 8})
        verdict = found.get("result", found)["verdict"]
        assert (verdict["holds_up_to_changes"], verdict["covers"]) == (up_to, more["covers"])
        assert validate_answer(operation, found) == found
    assert validate_answer("gate", plain) == plain


@each_case("more, field, words", [
    ({"changes": -1}, "changes", "greater than or equal to 0"),
    ({"changes": 1001}, "changes", "less than or equal to 1000"),
    ({"changes": 10**30}, "changes", "less than or equal to 1000"),
    ({"changes": 2.5}, "changes", "integer"),
    ({"changes": "8"}, "changes", "integer"),
    ({"changes": True}, "changes", "integer"),
    ({"changes": 8, "estimator": {"changes": 8}}, "changes", "give it once"),
    ({"changes": 8, "estimator": {"kind": "threshold"}}, "changes", "not threshold"),
    ({"changes": 8, "estimator": {"kind": "two_sided"}}, "changes", "not two_sided"),
    ({"changes": 8, "estimator": {"kind": "learned"}}, "changes", "not learned"),
    ({"changes": 8, "query": "discrete"}, "changes", "more values than cells; these have none"),
    ({"changes": 8, "max_advantage": None, "max_tpr": 0.5, "at_fpr": 0.1}, "changes", "only max_advantage"),
    ({"changes": 8, "anytime": True}, "changes", "rules of the run's own"),
])  # fmt: skip
def test_a_number_of_changes_that_cannot_be_asked_for_is_refused_by_its_name(more, field, words) -> None:
    problem = refused({**LEAKLESS, "max_advantage": 0.3, **more})

    assert problem["field"] == field
    assert words in problem["detail"]


@each_case("operation", ["advantage", "report"])
@each_case("labels", [{"members": ["a", "b"] * 20, "nonmembers": ["a", "a"] * 20}])
def test_along_names_no_guess_changes(operation, labels) -> None:
    assert asking.refused(operation, {**labels, "changes": 3})["field"] == "changes"


def test_a_run_of_batches_that_passes_says_what_it_covers() -> None:
    run = asked({**LEAKLESS, "max_advantage": 0.9, "anytime": True})

    assert run["decision"] == "pass"
    assert run["covers"][0].startswith("It covers attackers who")
    assert run["covers"][0] not in run["sentence"]
    up_to = run["limits"][0]["holds_up_to_changes"]
    assert f"change their guess at most {up_to} times along the score" in run["covers"][0]
    open_run = asked({**LEAKLESS, "max_advantage": 0.01, "anytime": True})
    assert (open_run["limits"][0]["holds_up_to_changes"], open_run["covers"]) == (None, [])
