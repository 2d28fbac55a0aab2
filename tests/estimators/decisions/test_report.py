"""One call answers everything, consistently, whatever kind of scores it is given."""

from dataclasses import replace

import numpy as np
import pytest

from estimators import AssessOptions, CellsTarget, Counts, Decision, LearnedTarget, MaceError, Scores, assess
from estimators.adversary.learned import logistic
from estimators.decisions.report import coherent
from estimators.density.bandwidth import Fixed
from estimators.metric.presets import preset
from estimators.paper import EqualWidth, Kernel, algorithm_1, paper_metric
from estimators.sample.cells import Halves
from estimators.sample.digests import fingerprint
from estimators.statement import Estimate, at_least, at_most
from tests.cases import each_case
from tests.oracles import categories, gaussian_shift, identical, vector_shift


def draw(world: object, n: int, seed: int = 0) -> Scores:
    return Scores.of(*world.draw(np.random.default_rng(seed), n, n))


def test_continuous_scores_get_every_answer_and_text_has_no_order_and_therefore_no_curve() -> None:
    answer = assess(draw(gaussian_shift(0.3), 1000), AssessOptions(max_advantage=0.1, claimed_epsilon=0.1))
    text = assess(draw(categories(10, 0.3), 1000), AssessOptions(prior=0.4))

    assert None not in (answer.metric, answer.roc, answer.auc, answer.epsilon)
    assert (answer.paper.statistic, text.paper.statistic) == ("U_N", "W_N")
    assert len(answer.operating_points) == 3
    assert answer.claim.decision == "contradicted"
    assert answer.verdict.decision is Decision.FAIL
    assert answer.sentence.startswith("Fail: ")
    assert (text.roc, text.auc, text.operating_points) == (None, None, ())


def test_a_vector_is_answered_by_a_learned_score() -> None:
    """Metric, ROC, epsilon, exposure and claim are those of one learned score, on records that did not teach it."""
    learned = LearnedTarget((logistic(),))
    options = AssessOptions(target=learned, metric="balanced_accuracy", claimed_epsilon=0.1)
    answer = assess(draw(vector_shift(3, 0.4), 400), options)

    assert (answer.advantage.leader, answer.learned.learner) == ("logistic", "logistic")
    assert (answer.fine.n_members, answer.fine.n_nonmembers) == (240, 240)
    assert answer.metric.interval.lower < 0.7 < answer.metric.interval.upper
    assert answer.auc.estimate.lower > 0.6
    assert len(answer.operating_points) == 3
    assert answer.claim.decision == "contradicted"
    assert answer.exposure.score_epsilon > 0.0
    (said,) = [each for each in answer.cautions if each.code == "learned_score"]
    assert "logistic" in said.message
    assert answer.paper is None  # nobody asked for it, and it costs more than all else


def test_the_paper_s_statistics_of_vectors_are_there_where_a_reading_asks_for_them() -> None:
    vectors = draw(vector_shift(2, 0.4), 200)
    kernels = assess(vectors, AssessOptions(target=LearnedTarget((logistic(),)), reading=Kernel()))
    slices = assess(vectors, AssessOptions(target=CellsTarget(bins=16), reading=EqualWidth(16)))

    assert kernels.paper == algorithm_1(vectors, 0.5, 0.95, Kernel())
    assert slices.paper == algorithm_1(vectors, 0.5, 0.95, EqualWidth(16))
    assert slices.advantage.resolution == 16  # boxes, of which everything is said
    assert slices.learned is slices.roc is None
    assert slices.fine.cells.kind == "boxes"
    assert slices.metric.interval.lower == pytest.approx((1.0 + slices.advantage.lower) / 2.0)


def test_counts_are_answered_like_scores() -> None:
    answer = assess(Counts.of([50, 30, 20], [10, 40, 50], [0.0, 1.0]), AssessOptions(prior=0.3))

    larger, equal = 30 * 10 + 20 * (10 + 40), 50 * 10 + 30 * 40 + 20 * 50
    assert answer.auc.estimate.value == pytest.approx((larger + equal / 2) / 10_000, abs=1e-12)


def test_a_paper_s_interval_that_misses_the_certified_one_is_said_to() -> None:
    """Losses with a heavy tail: a few far records set the width of each side's kernel, and U_N sees the widths."""
    rng = np.random.default_rng(5)
    losses = Scores.of(rng.exponential(0.3, 3000) ** 3, rng.exponential(0.33, 3000) ** 3)
    skewed, plain = assess(losses), assess(draw(gaussian_shift(0.3), 1000))

    assert skewed.paper.interval.lower > skewed.advantage.upper  # the literal value stays
    (said,) = [each for each in skewed.cautions if each.code == "paper_contradicts_certified"]
    assert "decide by the certified one" in said.message
    assert not {"paper_contradicts_certified", "bandwidth_from_data"} & {each.code for each in plain.cautions}


@pytest.mark.slow
def test_the_metric_asked_for_is_the_metric_given_and_the_same_request_has_the_same_answer() -> None:
    scores = draw(gaussian_shift(0.3), 300)

    for metric in ("precision", "f_beta", "balanced_accuracy"):
        answer, again = (assess(scores, AssessOptions(metric=metric, prior=0.2, seed=3)) for _ in range(2))
        assert answer.metric.name == metric
        for part in ("advantage", "metric", "epsilon"):
            assert getattr(answer, part) == getattr(again, part)
    assert assess(scores, AssessOptions(metric=None)).metric is None
    with pytest.raises(MaceError, match="options: got float, need AssessOptions"):
        assess(Counts.of([20, 30], [30, 20]), 0.1)
    with pytest.raises(MaceError, match="did you mean 'precision'"):
        assess(scores, AssessOptions(metric="precison"))


def test_the_fingerprint_is_of_every_score_and_its_side_and_not_of_how_they_were_kept() -> None:
    base = draw(gaussian_shift(0.3), 50)
    changed = Scores.of(np.where(np.arange(50) == 17, base.members + 1e-9, base.members), base.nonmembers)
    kept = [
        ([1, 2, 3, 2, 1, 3, 3, 2, 1], (np.int16, np.uint8, np.int64)),
        (["a", "bb", "a", "ccc"] * 3, ("U3", "U9", "S5")),
        ([0.5, 0.25, 1.5, 2.0] * 3, (np.float32, np.float64)),
    ]

    assert len({fingerprint(each) for each in (base, changed, Scores.of(base.nonmembers, base.members))}) == 3
    for values, kinds in kept:
        columns = [np.array(values, dtype=kind) for kind in kinds]
        assert len({fingerprint(Scores.of(each, each[::-1], "discrete")) for each in columns}) == 1


def test_the_fingerprint_of_counts_is_of_their_cells_too_and_not_of_how_they_came() -> None:
    sides = [5, 3, 2], [1, 7, 2]
    grid = {"kind": "grid", "exponent": 0, "keys": [1, 2, 5]}
    several = [
        *(Counts.of(*sides, edges) for edges in (None, [0.5, 1.0], [0.5, 2.0])),
        *(
            Counts.from_dict({"members": sides[0], "nonmembers": sides[1], "cells": cells})
            for cells in (
                grid,
                {**grid, "keys": [1, 2, 6]},
                {**grid, "exponents": [-1, -1, 0]},
                {"kind": "values", "labels": [1, 2, 5]},
                {"kind": "categories", "labels": ["a", "b", "c"]},
            )
        ),
        Counts(np.array(sides[0] * 2), np.array(sides[1] * 2), Halves((Counts.of(*sides).cells,) * 2)),
    ]
    frequent = [{"score": 1.5, "members": 5, "nonmembers": 1}]
    same = {"members": sides[0], "nonmembers": sides[1], "cells": {**grid, "frequent": frequent}}

    assert len({fingerprint(each) for each in several}) == len(several)
    assert fingerprint(Counts.from_dict(same)) == fingerprint(several[3])
    assert [fingerprint(Counts.from_dict(each.to_dict())) for each in several[:-1]] == [
        fingerprint(each) for each in several[:-1]
    ]


def test_what_a_rate_needs_and_what_a_curve_shows_is_cautioned_and_said_once() -> None:
    rng = np.random.default_rng(0)
    few = assess(draw(gaussian_shift(0.3), 20)).cautions
    codes = [c.code for c in assess(Scores.of(rng.normal(-2.0, 1.0, 100), rng.normal(0.0, 1.0, 100))).cautions]
    assert codes.count("too_few_nonmembers") == 2  # at 0.001 and 0.01; 100 are enough for 0.1
    assert codes.count("members_score_lower") == 1
    assert len(few) == len(set(few))
    assert [c.code for c in few].count("few_records") == 1


@pytest.mark.parametrize("unit", [1e-310, 1e307])
def test_scores_at_the_ends_of_what_a_float_holds_get_every_answer_but_the_papers(unit) -> None:
    rng = np.random.default_rng(0)
    answer = assess(Scores.of(rng.normal(size=50) * unit, rng.normal(size=50) * unit))

    assert answer.paper is None
    assert "paper_unavailable" in {caution.code for caution in answer.cautions}
    assert 0.0 <= answer.advantage.lower <= answer.advantage.value <= answer.advantage.upper <= 1.0


def test_there_are_upper_ends_for_more_changes_and_a_learned_adversary_of_one_number_a_record() -> None:
    scores = draw(gaussian_shift(0.3), 400)
    answer, learned = (assess(scores, AssessOptions(target=t)) for t in (None, LearnedTarget((logistic(),))))

    ends = {limit.changes: limit.upper for limit in answer.upper_by_changes}
    assert ends[2] <= answer.advantage.upper < ends[32]
    assert assess(draw(categories(10, 0.3), 400)).upper_by_changes == ()
    assert learned.advantage.leader == "logistic"
    assert learned.auc is not None


def test_every_answer_says_in_words_what_its_numbers_say() -> None:
    answer, nothing = assess(draw(gaussian_shift(0.5), 800)), assess(draw(identical(), 100)).epsilon

    area = answer.auc.estimate.interval
    assert f"between {at_least(area.lower)} and {at_most(area.upper)}" in answer.auc.sentence
    assert "accuses 1% of nonmembers" in answer.operating_points[1].sentence
    assert f"at least {at_least(answer.epsilon.value)}" in answer.epsilon.sentence
    assert "not a statement about the advantage" in answer.paper.sentence
    assert f"{at_least(answer.metric.interval.lower)}" in answer.metric.sentence
    assert nothing.value == 0.0
    assert "show no lower bound on the mechanism's epsilon above 0" in nothing.sentence
    assert "no epsilon is excluded" in nothing.sentence  # and it is not called a proof


def test_the_papers_statistic_reads_the_scores_as_asked() -> None:
    scores = draw(gaussian_shift(0.3), 1000)
    by_cells = assess(scores, AssessOptions(reading=EqualWidth(20))).paper
    by_kernel = assess(scores, AssessOptions(reading=Kernel(Fixed(0.3)))).paper

    assert by_cells == algorithm_1(scores, 0.5, reading=EqualWidth(20))
    assert by_cells.statistic == "W_N"
    assert by_kernel.value == algorithm_1(scores, 0.5, reading=Kernel(Fixed(0.3))).value
    assert not by_kernel.cautions  # a bandwidth fixed in advance is what the paper's interval asks for


@each_case("reading, estimator", [(None, "histogram"), (Kernel(), "kde"), (EqualWidth(9), "histogram")])
def test_the_papers_metric_learns_by_the_cells_that_are_there_unless_asked(reading, estimator) -> None:
    scores = Scores.of(*gaussian_shift(0.3).draw(np.random.default_rng(4), 500, 700))

    found = assess(scores, AssessOptions(metric="f_beta", prior=0.3, reading=reading, seed=3))

    source = found.fine if reading is None else scores
    assert found.paper_metric == paper_metric(source, preset("f_beta", 0.3), 0.3, 3, reading)
    assert found.paper_metric.estimator == estimator


@pytest.mark.parametrize(("threshold", "codes"), [(0.79, ["limit_below_baseline"]), (0.8, []), (None, [])])
def test_a_threshold_below_the_baseline_is_said_to_be_exceeded_without_any_leak(threshold, codes) -> None:
    answer = assess(draw(identical(), 200), AssessOptions(prior=0.1, max_advantage=threshold))

    assert [each.code for each in answer.cautions if each.code == "limit_below_baseline"] == codes


def test_a_pass_warns_first_of_members_whom_no_nonmember_is_like() -> None:
    counts = Counts.of([4950, 50], [5000, 0], edges=[0.0])
    options = (AssessOptions(max_advantage=each) for each in (0.1, 0.0, None))
    passed, failed, open_one = (assess(counts, each) for each in options)

    assert passed.verdict.decision is Decision.PASS
    assert passed.cautions[0].code == open_one.cautions[0].code == "rare_exposure"
    assert passed.exposure.score_epsilon > 2.2
    assert failed.exposure == passed.exposure


@pytest.mark.slow
def test_exposed_members_of_a_vector_are_seen_in_its_learned_score() -> None:
    rng = np.random.default_rng(0)
    members = rng.normal(0, 1, (600, 2))
    members[:60] += 8.0
    exposed = assess(Scores.of(members, rng.normal(0, 1, (600, 2))))
    plain = assess(Scores.of(rng.normal(0, 1, (40, 2)), rng.normal(0, 1, (40, 2))))

    assert "rare_exposure" in {each.code for each in exposed.cautions}
    assert not plain.exposure.alarm


def test_twelve_bands_of_members_alone_have_no_upper_end_that_their_roc_curve_contradicts() -> None:
    """Two changes cannot reach twelve narrow bands, but a third of the area proves a leak."""
    rng = np.random.default_rng(11)
    high = rng.random(2000) < 0.05
    members = np.where(high, 10.0, rng.integers(0, 24, 2000) // 2 * 2 + rng.random(2000))
    nonmembers = rng.integers(0, 24, 2000) // 2 * 2 + 1 + rng.random(2000)
    scores = Scores.of(members, nonmembers, "continuous")
    plain = assess(scores, AssessOptions(target=CellsTarget(bins=2, changes=0)))

    assert plain.advantage.upper == 1.0
    assert plain.advantage.lower > 0.95
    honest = assess(draw(gaussian_shift(0.3), 1000))
    assert "resolution_rejected" not in [caution.code for caution in honest.cautions]


def test_an_area_that_needs_more_than_the_upper_end_withdraws_it() -> None:
    answer = assess(draw(gaussian_shift(0.6), 1000))
    interval = replace(answer.advantage.estimate.interval, upper=0.2)
    withdrawn = coherent(replace(answer.advantage, estimate=Estimate(0.1, interval)), answer.auc, ())

    assert (withdrawn.upper, withdrawn.cautions[0].code) == (1.0, "resolution_rejected")
    assert coherent(answer.advantage, answer.auc, answer.operating_points) is answer.advantage


def test_security_and_what_is_left_to_gain_carry_the_advantages_interval() -> None:
    rng = np.random.default_rng(12)
    members = np.where(rng.random(1000) < 0.05, rng.normal(20, 1, 1000), rng.normal(0, 1, 1000))
    result = assess(Scores.of(members, rng.normal(0, 1, 1000)), AssessOptions(prior=0.1)).advantage

    low, high = result.security_limits
    assert low <= result.security <= high
    assert low == pytest.approx(1 - (result.upper - 0.8) / 0.2)
    assert low < 0.95 < high  # a twentieth of the members is given away: 0.81, which is 5% of what 0.8 leaves
    assert "of what that leaves to gain" in result.sentence
    assert "leaves to gain" not in assess(draw(identical(), 200)).sentence
