"""Two statements on an epsilon, of the mechanism and of the score, each by its name wherever it stands."""

from typing import Any

from estimators import Counts, exposure
from estimators.privacy.epsilon import IF_DRAWN
from tests.cases import each_case
from tests.macekit import asking

FAR_BELOW = {"counts": {"members": [2, 697], "nonmembers": [213, 313], "edges": [0.0]}}
"""Nonmembers whom almost no member reaches: what shows at one end alone."""


@each_case("delta", 0.0, 1e-5)
def test_audit_and_gate_see_the_same_leak_and_say_whose_epsilon_it_is(delta: float) -> None:
    audit = asked("audit", claimed_epsilon=3.0, claimed_delta=delta)
    gate = asked("gate", max_epsilon=3.0, delta=delta)

    (limit,) = gate["limits"]
    assert (audit["claim"]["decision"], gate["decision"]) == ("contradicted", "fail")
    assert f"the mechanism's epsilon is at least {int(audit['epsilon']['lower_bound'])}" in audit["sentence"]
    assert IF_DRAWN in audit["sentence"]
    assert "epsilon of the mechanism" in audit["epsilon"]["guarantee"]["covers"]
    assumes = audit["epsilon"]["guarantee"]["assumes"]
    assert "A random split into sides of a fixed size is not covered" in assumes
    assert limit["about"] == f"the epsilon of this score at delta {delta:g}"
    assert limit["about"] in gate["sentence"]
    assert "not that of the mechanism" in limit["guarantee"]["covers"]


def test_the_score_s_epsilon_is_by_nonmembers_that_no_member_reaches_too() -> None:
    answer = asked("advantage")

    found, tail = answer["exposure"], answer["exposure"]["nonmember_tail"]
    counted = exposure(Counts.of([2, 697], [213, 313], edges=[0.0]))
    assert (tail["direction"], tail["members"], tail["nonmembers"]) == ("low", 2, 213)
    assert found["score_epsilon"] == tail["score_epsilon"] == counted.score_epsilon
    assert (found["tail"], found["alarm"]) == (None, False)
    assert found["score_epsilon"] > 2.9
    assert "213 of 526 nonmembers and 2 of 699 members score below one cut" in found["sentence"]
    assert "the epsilon of this score's two distributions" in found["guarantee"]["covers"]
    assert "not of the mechanism" in found["guarantee"]["covers"]
    assert answer["epsilon_lower_bound"] == answer["epsilon"]["lower_bound"] > 3.0


def asked(operation: str, **options: object) -> dict[str, Any]:
    answer: dict[str, Any] = asking.asked(operation, {**FAR_BELOW, **options})
    return answer
