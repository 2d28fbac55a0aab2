"""/v1/gate: the library's decision, and one clear problem for whatever does not go together."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import numpy as np
import pytest

from app.openapi.examples import GROUPS, JSON_EXAMPLES, MEMBERS, NONMEMBERS, SAMPLE
from app.openapi.files import csv_text
from estimators import Scores, preset
from estimators.gate import judge
from estimators.maxima import MaxAdvantage, MaxEpsilon, MaxGroupRisk, MaxMetric, MaxTpr
from macekit.call import CSV, Body, Call, Reply
from macekit.operations import perform
from macekit.reports.saved import validate_answer
from macekit.schemas.questions import GateQuestion

EIGHT = {"members": [float(i) for i in range(8)], "nonmembers": [i + 0.5 for i in range(8)]}


def post(body: object) -> Reply:
    return perform(Call("gate"), Body.of(json.dumps(body).encode()))


def asked(body: object) -> dict[str, Any]:
    reply = post(body)
    assert reply.status == 200, bytes(reply.body)
    found: dict[str, Any] = json.loads(bytes(reply.body))
    return found


def test_the_answer_is_the_librarys() -> None:
    body = {
        **SAMPLE,
        "prior": 0.3,
        "confidence": 0.9,
        "seed": 5,
        "max_advantage": 0.9,
        "max_epsilon": 3,
        "delta": 0.05,
        "metric": {"preset": "f_beta", "beta": 2},
        "max": 0.8,
    }

    answer = asked(body)

    data = Scores.of(np.array(MEMBERS), np.array(NONMEMBERS))
    limits = [
        MaxAdvantage(0.9),
        MaxEpsilon(3.0, 0.05),
        MaxMetric(0.8, preset("f_beta", 0.3, beta=2.0)),
    ]
    found = judge(data, limits, 0.3, 0.9, 5)
    assert [each["name"] for each in answer["limits"]] == ["advantage", "epsilon", "metric"]
    assert (answer["decision"], answer["sentence"]) == (found.decision.value, found.sentence)
    for each, judged in zip(answer["limits"], found.limits, strict=True):
        assert each["decision"] == judged.verdict.decision.value
        assert each["lower"] == judged.estimate.lower
        assert each["upper"] == (None if np.isinf(judged.estimate.upper) else judged.estimate.upper)
        assert each["confidence"] == 0.9
    assert answer["provenance"]["options"]["metric"] == {"preset": "f_beta", "beta": 2.0}


def test_groups_are_judged_as_by_the_library_and_not_repeated() -> None:
    answer = asked({**SAMPLE, "max_group_risk": 0.6, "groups": GROUPS})

    data = Scores.of(np.array(MEMBERS), np.array(NONMEMBERS))
    (judged,) = judge(data, [MaxGroupRisk(0.6, GROUPS)]).limits
    (limit,) = answer["limits"]
    assert (limit["lower"], limit["upper"], limit["about"]) == (
        judged.estimate.lower,
        judged.estimate.upper,
        judged.about,
    )
    assert "groups" not in answer["provenance"]["options"]


def test_group_risk_at_another_prior_is_refused() -> None:
    reply = post({**SAMPLE, "max_group_risk": 0.6, "groups": GROUPS, "prior": 0.1})

    problem = json.loads(bytes(reply.body))
    assert (reply.status, problem["field"]) == (422, "max_group_risk")


def test_a_table_with_options_in_the_query_is_asked_likewise() -> None:
    query = (("max_advantage", "0.5"), ("max_group_risk", "0.9"), ("group", "group"), ("score", "score"))

    reply = perform(Call("gate", CSV, query=query), Body.of(csv_text().encode()))

    expected = asked({**SAMPLE, "groups": GROUPS, "max_advantage": 0.5, "max_group_risk": 0.9})
    answer = json.loads(bytes(reply.body))
    assert answer["limits"] == expected["limits"]


def test_the_estimators_bins_are_those_of_every_limit() -> None:
    answer = asked(
        {
            **SAMPLE,
            "max_advantage": 0.5,
            "max_epsilon": 1,
            "delta": 0.1,
            "estimator": {"kind": "histogram", "bins": 3},
        }
    )

    assert all("3 cells" in each["guarantee"]["covers"] for each in answer["limits"])


def test_groups_are_of_all_records_where_one_of_each_unit_is_kept() -> None:
    units = [i // 2 for i in range(48)]

    answer = asked({**SAMPLE, "max_group_risk": 0.5, "groups": GROUPS, "units": units})

    assert answer["provenance"]["n_members"] + answer["provenance"]["n_nonmembers"] == 24
    assert answer["limits"][0]["name"] == "group_risk"


def test_both_examples_are_answered() -> None:
    for example in JSON_EXAMPLES["gate"].values():
        assert asked(example.value)["limits"]


FULL = {**EIGHT, "groups": ["a", "b"] * 8}
TOGETHER: list[tuple[dict[str, Any], str, str]] = [
    (EIGHT, "missing-field", "max_advantage"),
    ({**EIGHT, "max_advantage": None}, "missing-field", "max_advantage"),
    ({**EIGHT, "max": 0.5}, "missing-field", "metric"),
    ({**EIGHT, "metric": "accuracy"}, "missing-field", "max"),
    ({**EIGHT, "max_advantage": 0.1, "delta": 0.1}, "bad-option", "delta"),
    ({**EIGHT, "max_tpr": 0.1}, "missing-field", "at_fpr"),
    ({**EIGHT, "max_advantage": 0.1, "at_fpr": 0.1}, "missing-field", "max_tpr"),
    ({**EIGHT, "max_group_risk": 0.5}, "missing-field", "groups"),
    ({**FULL, "max_advantage": 0.5}, "bad-option", "groups"),
]
ALONE: list[tuple[dict[str, Any], str, str]] = [
    ({**EIGHT, "max_advantage": 2}, "out-of-range", "max_advantage"),
    ({**EIGHT, "max_tpr": 1.5, "at_fpr": 0.1}, "out-of-range", "max_tpr"),
    ({**EIGHT, "max_tpr": 0.5, "at_fpr": 0}, "out-of-range", "at_fpr"),
    ({**EIGHT, "max_epsilon": -1}, "out-of-range", "max_epsilon"),
    ({**EIGHT, "max_epsilon": 1, "delta": 1}, "out-of-range", "delta"),
    ({**EIGHT, "max_group_risk": "high"}, "wrong-type", "max_group_risk"),
    ({**EIGHT, "metric": "f3", "max": 1}, "unknown-name", "metric"),
    ({**EIGHT, "max_advantage": 0.1, "maximum": 1}, "unknown-field", "max"),
]


@pytest.mark.parametrize(("body", "slug", "field"), TOGETHER + ALONE)
def test_what_does_not_go_together_is_one_clear_problem(body: dict[str, Any], slug: str, field: str) -> None:
    problem = json.loads(bytes(post(body).body))

    assert problem["type"] == f"urn:mace:problem:{slug}", problem
    assert problem["field"] == field


@pytest.mark.parametrize("body", [body for body, *_ in TOGETHER])
def test_the_schema_says_what_goes_together(body: dict[str, Any]) -> None:
    schema = jsonschema.Draft202012Validator(GateQuestion.model_json_schema())

    assert not schema.is_valid(body)
    for good in (
        {**EIGHT, "max_advantage": 0.1, "delta": 0},
        {**EIGHT, "max_epsilon": 1.0, "delta": 0.1, "metric": None, "groups": None},
        {**EIGHT, "metric": "accuracy", "max": 0.9},
        {**EIGHT, "max_tpr": 0.9, "at_fpr": 0.1},
        {**FULL, "max_group_risk": 0.5},
        JSON_EXAMPLES["gate"]["limits"].value,
    ):
        assert schema.is_valid(good)
        assert post(good).status == 200


VERBATIM = {"counts": {"members": [4950, 50], "nonmembers": [5000, 0], "edges": [0.0]}}


def test_a_pass_says_first_that_members_are_exposed() -> None:
    answer = asked({**VERBATIM, "max_advantage": 0.1})

    assert answer["decision"] == "pass"
    assert answer["warnings"][0]["code"] == "rare_exposure"
    assert answer["warnings"][0]["message"].startswith(
        "50 of 5,000 members score higher than every nonmember"
    )
    assert answer["exposure"]["alarm"] is True
    assert answer["exposure"]["score_epsilon"] > 2.2
    tail = answer["exposure"]["tail"]
    assert (tail["direction"], tail["members"], tail["nonmembers"], tail["label"]) == ("high", 50, 0, None)


def test_the_true_positive_rate_is_judged_as_by_the_library() -> None:
    (limit,) = asked({**SAMPLE, "max_tpr": 0.5, "at_fpr": 0.1})["limits"]

    (judged,) = judge(Scores.of(np.array(MEMBERS), np.array(NONMEMBERS)), [MaxTpr(0.5, 0.1)]).limits
    assert (limit["name"], limit["about"]) == ("tpr", judged.about)
    assert (limit["lower"], limit["upper"]) == (judged.estimate.lower, judged.estimate.upper)


def test_categories_have_no_true_positive_rate_at_a_false_positive_rate() -> None:
    labels = {"members": ["a"] * 9, "nonmembers": ["b"] * 9}

    problem = json.loads(bytes(post({**labels, "max_tpr": 0.1, "at_fpr": 0.1}).body))

    assert (problem["status"], problem["field"]) == (422, "max_tpr")


def test_vectors_are_looked_at_for_exposure_in_their_learned_score() -> None:
    rng = np.random.default_rng(0)
    exposed = np.concatenate([rng.normal(8, 1, (40, 2)), rng.normal(0, 1, (260, 2))])
    rows = {"members": exposed.tolist(), "nonmembers": rng.normal(0, 1, (300, 2)).tolist()}

    assert asked({**rows, "max_advantage": 0.5})["exposure"]["alarm"] is True


def test_a_problem_repeats_no_label() -> None:
    secret = "s3cr3t-gr0up"

    reply = post({**EIGHT, "max_group_risk": 0.5, "groups": [secret] * 3})

    assert reply.status == 422
    assert secret not in bytes(reply.body).decode()


def test_counts_have_no_groups() -> None:
    counts = {"members": [5, 9], "nonmembers": [9, 5]}

    tally = json.loads(bytes(post({"counts": counts, "max_group_risk": 0.5, "groups": ["a"] * 28}).body))

    assert (tally["status"], tally["field"]) == (422, "groups")


@pytest.mark.parametrize(
    ("estimator", "decision", "accepted"),
    [
        ({"kind": "auto"}, "inconclusive", False),
        ({"kind": "learned", "learners": ["boxes"]}, "inconclusive", False),
        ({"kind": "learned", "learners": ["boxes"], "accept_learned_score": True}, "pass", True),
    ],
)
def test_a_learned_score_passes_only_by_name(estimator: object, decision: str, accepted: bool) -> None:
    rng = np.random.default_rng(1)
    rows = {"members": rng.normal(size=(60, 2)).tolist(), "nonmembers": rng.normal(size=(60, 2)).tolist()}

    gate = asked({**rows, "max_advantage": 1.0, "estimator": estimator})
    estimate = json.loads(
        bytes(
            perform(
                Call("advantage"),
                Body.of(json.dumps({**rows, "max_advantage": 1.0, "estimator": estimator}).encode()),
            ).body
        )
    )

    for verdict in (gate["limits"][0], estimate["verdict"]):
        assert (verdict["decision"], verdict["learned_score_accepted"]) == (decision, accepted)
        assert verdict["reason"].startswith("learned score: ")
        assert verdict["records_needed"] is None
    assert gate["decision"] == decision
    word = "Undecided" if decision == "inconclusive" else decision.capitalize()
    assert estimate["sentence"].startswith(f"{word}: learned score: ")
    assert validate_answer("gate", gate) == gate  # a saved one is known to be whole
    assert validate_answer("advantage", estimate) == estimate


def test_what_accepts_a_learned_score_needs_one() -> None:
    reply = json.loads(
        bytes(post({**EIGHT, "max_advantage": 1.0, "estimator": {"accept_learned_score": True}}).body)
    )

    assert (reply["status"], reply["field"]) == (422, "estimator.accept_learned_score")


def test_a_comparison_has_no_verdict_that_a_learned_score_could_pass() -> None:
    body = {
        "queries": {"a": EIGHT, "b": EIGHT},
        "estimator": {"kind": "learned", "accept_learned_score": True},
    }
    reply = json.loads(bytes(perform(Call("compare"), Body.of(json.dumps(body).encode())).body))

    assert (reply["status"], reply["field"]) == (422, "estimator.accept_learned_score")
