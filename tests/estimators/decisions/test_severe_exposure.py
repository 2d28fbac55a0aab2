"""No pass stands beside a severe exposure that the same answer certifies, whoever says it, unless it is judged."""

from typing import Any

import numpy as np
import pytest

from estimators import AssessOptions, Counts, Decision, Scores, advantage_series, assess, compare_releases
from estimators.audits.model import audit_model
from estimators.decisions.exposed_members import EXPOSED, MaxExposed, Withheld, exposures_of
from estimators.decisions.gate import judge
from estimators.decisions.maxima import MaxAdvantage, MaxEpsilon, MaxMetric
from estimators.decisions.riskiest import judge_queries, limits_of, verdict_of
from estimators.decisions.tpr_limit import MaxTpr
from estimators.metric.presets import preset
from estimators.privacy.direction import Direction
from estimators.runs.sequential import sequential_run
from estimators.sample.cells import Categories
from tests.cases import each_case


def spike(seed: int = 0, n: int = 10_000, share: float = 0.05) -> Scores:
    """The interior spike: 5% of members between 0.3 and 0.301, all others Gaussian."""
    rng = np.random.default_rng(seed)
    members = np.where(rng.random(n) < share, rng.uniform(0.3, 0.301, n), rng.normal(size=n))
    return Scores.of(members, rng.normal(size=n))


SPIKE = spike()
CLEAN = Scores.of(*np.random.default_rng(1).normal(size=(2, 10_000)))
MILD = Counts.of([4985, 15], [5000, 0], edges=[1.0])
LABELS = Counts.trusted(np.array([4700, 300]), np.array([4998, 2]), Categories(np.array(["common", "rare"])))


@each_case("data", [SPIKE, LABELS])
def test_a_gate_that_would_pass_is_undecided_and_says_why_and_what_to_do(data) -> None:
    result = judge(data, [MaxAdvantage(0.2)])
    exposed = next(each for each in result.cautions if each.code == EXPOSED)

    assert result.limits[0].verdict.decision is Decision.PASS
    assert (result.decision, result.undecided_because) == (Decision.INCONCLUSIVE, "exposed")
    assert (result.records_needed, result.cautions[0].code) == (None, "rare_exposure")
    assert result.sentence == f"Undecided: {exposed.message}."
    assert f"a pass would hide that {result.exposure.finding}" in exposed.message
    assert "limit exposure (max_tpr" in exposed.message
    assert "accept it by name (accept_exposure)" in exposed.message


@pytest.mark.slow
@each_case("limits", [[MaxAdvantage(0.2)], [MaxAdvantage(0.2), MaxMetric(0.6, preset("accuracy", 0.5))]])
def test_accepted_by_name_it_passes_and_that_is_said(limits) -> None:
    result = judge(SPIKE, limits, accept_exposure=True)

    assert result.decision is Decision.PASS
    assert result.undecided_because is None
    assert "exposure_accepted" in {each.code for each in result.cautions}
    assert result.sentence.endswith(
        f"Accepted by name (accept_exposure): {result.exposure.finding}: such a score makes an attacker at least "
        f"{result.sentence.rpartition('at least ')[2]}"
    )


@pytest.mark.slow
@each_case(
    "limit, decision",
    (MaxTpr(0.9, 0.001), Decision.PASS),
    (MaxExposed(0.9), Decision.PASS),
    (MaxTpr(0.02, 0.001), Decision.INCONCLUSIVE),
    (MaxTpr(0.01, 0.001), Decision.FAIL),
    (MaxEpsilon(0.5, 0.01), Decision.FAIL),
)
def test_where_a_limit_judges_exposure_the_decision_is_that_of_the_limits(limit, decision) -> None:
    for accept in (False, True):
        result = judge(SPIKE, [MaxAdvantage(0.2), limit], accept_exposure=accept)

        assert result.decision is decision
        assert result.undecided_because is None
        assert "Accepted" not in result.sentence


def test_a_fail_and_an_open_decision_stay_what_they_are() -> None:
    fails, is_open = judge(SPIKE, [MaxAdvantage(0.01)]), judge(SPIKE, [MaxAdvantage(0.045)])

    assert (fails.decision, fails.undecided_because) == (Decision.FAIL, None)
    assert (is_open.decision, is_open.undecided_because) == (Decision.INCONCLUSIVE, None)
    assert is_open.records_needed is not None
    assert EXPOSED not in {each.code for each in (*fails.cautions, *is_open.cautions)}


@each_case("data", [MILD, CLEAN])
def test_nobody_or_a_mild_exposure_withholds_no_pass(data) -> None:
    result = judge(data, [MaxAdvantage(0.2)])

    assert not result.exposure.severe
    assert result.decision is Decision.PASS
    assert judge(data, [MaxAdvantage(0.2)], accept_exposure=True).sentence == result.sentence


@pytest.mark.slow
@each_case("prior, most", [(0.5, 0.2), (0.1, 0.9)])
def test_everything_about_one_sample_has_an_undecided_verdict(prior, most) -> None:
    plain, accepted = (
        assess(SPIKE, AssessOptions(prior, max_advantage=most, accept_exposure=accept)) for accept in (False, True)
    )

    assert (plain.verdict.decision, plain.verdict.undecided_because) == (Decision.INCONCLUSIVE, "exposed")
    assert plain.verdict.records_needed is None
    assert plain.sentence.startswith("Undecided: what is limited is kept, but a pass would hide that")
    assert EXPOSED in {each.code for each in plain.cautions}
    assert accepted.verdict.decision is Decision.PASS
    assert "Accepted by name (accept_exposure): " in accepted.sentence


@pytest.mark.slow
def test_of_several_queries_one_that_exposes_is_enough_and_is_named() -> None:
    queries: dict[str, Any] = {"dull": CLEAN, "sharp": SPIKE}
    limits = judge_queries(limits_of(max_advantage=0.2), queries)
    exposures = exposures_of(queries, direction=Direction.EITHER)
    verdict = verdict_of(limits, None, "", None, exposures)
    accepted = verdict_of(limits, None, "", None, exposures, accept_exposure=True)
    judged = judge_queries(limits_of(0.2, max_tpr=0.9, direction=Direction.EITHER), queries)
    judged_itself = verdict_of(judged, None, "", None, exposures)

    assert (verdict.decision, verdict.word) == (Decision.INCONCLUSIVE, "inconclusive")
    assert verdict.undecided_because == verdict.cautions[0].code == "exposed"
    assert "a pass would hide that query 'sharp': " in verdict.sentence
    assert accepted.decision is Decision.PASS
    assert "Accepted by name (accept_exposure): query 'sharp'" in accepted.sentence
    assert (judged_itself.decision, judged_itself.undecided_because) == (Decision.PASS, None)


def test_of_rows_in_clusters_lone_ones_are_looked_at_and_too_few_show_nothing() -> None:
    apart, together = np.arange(20_000), np.arange(20_000) // 2000

    assert exposures_of({"": SPIKE}, cluster=apart)[""].severe
    assert exposures_of({"": SPIKE}, cluster=together) == {}
    assert Withheld.by({}).decide(Decision.PASS) is Decision.PASS


@pytest.mark.slow
def test_a_series_stops_at_a_step_that_exposes() -> None:
    steps = {"clean": CLEAN, "spike": SPIKE, "later": CLEAN}
    plain = advantage_series(steps, 0.2)
    accepted = advantage_series(steps, 0.2, accept_exposure=True)

    assert [step.decision.value for step in plain.steps] == ["pass", "inconclusive", "inconclusive"]
    assert [step.undecided_because for step in plain.steps] == [None, "exposed", None]
    assert plain.last_passed.label == "clean"
    said = "'spike' is the first that is not: what is limited is kept, but a pass would hide that"
    assert said in plain.sentence
    assert plain.cautions[0].code == EXPOSED
    assert [step.decision.value for step in accepted.steps] == ["pass"] * 3
    assert accepted.cautions[0].code == "exposure_accepted"


@pytest.mark.slow
def test_of_several_releases_the_one_that_exposes_is_undecided() -> None:
    releases: dict[str, Any] = {"clean": CLEAN, "spike": {"loss": SPIKE, "margin": CLEAN}}
    plain = compare_releases(releases, max_advantage=0.2)
    accepted = compare_releases(releases, max_advantage=0.2, accept_exposure=True)

    assert plain.decisions == {"clean": Decision.PASS, "spike": Decision.INCONCLUSIVE}
    assert dict(plain.undecided_because) == {"spike": "exposed"}
    assert plain.comparison.cautions[0].code == EXPOSED
    assert set(accepted.decisions.values()) == {Decision.PASS}
    assert accepted.comparison.cautions[0].code == "exposure_accepted"


def test_a_model_that_knows_a_few_rows_by_heart_is_undecided() -> None:
    rng = np.random.default_rng(0)
    truth, errors = rng.normal(size=(2, 4000)), rng.normal(size=(2, 4000))
    errors[0][:200] *= 1e-4  # one training row in twenty
    answers = truth[0] + errors[0], truth[1] + errors[1], *truth
    options: dict[str, Any] = {"outputs": "predictions", "max_advantage": 0.2, "queries": ["squared_error"]}
    plain, accepted = (audit_model(*answers, accept_exposure=accept, **options) for accept in (False, True))

    assert plain.decision is Decision.INCONCLUSIVE
    assert plain.verdict.undecided_because == "exposed"
    assert {"rare_exposure", EXPOSED} <= {each.code for each in plain.cautions}
    assert accepted.decision is Decision.PASS
    assert "exposure_accepted" in {each.code for each in accepted.cautions}


@pytest.mark.slow
def test_a_run_of_batches_goes_on_instead_of_passing_unless_exposure_was_accepted() -> None:
    plain, accepted = (sequential_run(0.3, accept_exposure=accept) for accept in (False, True))
    for seed in range(4):
        batch = spike(seed, 5000)
        plain, accepted = plain.after(batch), accepted.after(batch)

    assert accepted.decision is Decision.PASS
    assert "Accepted by name (accept_exposure): " in accepted.sentence
    assert (plain.decision, plain.undecided_because) == (Decision.INCONCLUSIVE, "exposed")
    assert plain.sentence.startswith("Undecided after 4 looks at ")
    assert "a pass would hide that" in plain.sentence
    assert plain.to_dict() == accepted.to_dict()
