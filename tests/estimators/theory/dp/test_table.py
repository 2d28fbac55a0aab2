"""The table: what is in it, what is marked, what is refused; and the way back from an advantage."""

import numpy as np
import pytest

from estimators.errors import OutOfRange
from estimators.theory import dp
from tests.cases import each_case, refusals


def table(*args, **more):
    return {(b.quantity, b.name): b for b in dp.bounds(*args, **more)}


def test_the_population_s_ceiling_is_below_the_paper_s_when_the_prior_is_not_a_half():
    found = table(dp.ApproximateDp(1.0), prior=0.1)

    assert found["advantage", "envelope"].value == 0.8  # max(0.8, tanh(1/2))
    assert found["advantage", "mace_theorem_1_4"].value == pytest.approx(0.9215, abs=5e-5)
    assert found["advantage", "envelope"].tightest
    assert not found["advantage", "mace_theorem_1_4"].tightest
    assert found["individual_risk", "mace_theorem_1_4"].value == pytest.approx(0.9215, abs=5e-5)


def test_equal_bounds_are_all_marked_and_what_a_counterexample_refutes_never():
    found = table(dp.ApproximateDp(1.0), false_positive_rates=[0.26894142137])

    printed = found["tpr_at_fpr_0.268941", "mip_theorem_8"]
    assert printed.value < found["tpr_at_fpr_0.268941", "envelope"].value
    assert (printed.proven, printed.tightest) == (False, False)
    marked = {name for (quantity, name), b in found.items() if quantity == "success" and b.tightest}
    assert marked == {"envelope", "pmp_lemma_6"}


def test_a_delta_leaves_no_ceiling_on_one_record_and_our_own_results_are_called_one_thing():
    found = table(dp.ApproximateDp(1.0, 1e-9), false_positive_rates=[0.1])

    assert found["individual_risk", "none"].value == 1.0
    assert not [key for key in found if key[0] == "advantage_iid"]
    sources = {b.source for b in found.values()}
    assert "this project" in sources
    assert not [source for source in sources if ".md" in source]


def test_a_gaussian_promise_is_tighter_than_any_epsilon_and_delta_it_implies():
    found = table(dp.GaussianDp(1.0), delta=1e-5, prior=0.3)

    assert found["advantage", "envelope"].value == pytest.approx(dp.gdp_ceiling(1.0, 0.3), abs=1e-12)
    assert found["advantage", "epsilon_delta"].value > found["advantage", "envelope"].value + 0.3
    assert ("mis_delta", "mis_equation_9") in found
    assert ("mis_delta", "mis_equation_9") not in table(dp.GaussianDp(1.0))


def test_a_curve_is_read_where_asked_and_two_steps_are_as_the_group_argument_has_it():
    curve = dp.DpCurve((0.0, 1.0, 2.0), (0.3, 0.05, 1e-6))

    assert curve.pair(1e-5) == (2.0, 1e-5)
    assert curve.pair(1e-9) is None
    assert dp.grant_of(curve).pair is None
    assert table(curve)["advantage", "envelope"].value <= min(0.3, dp.advantage_ceiling(1.0, 0.05)) + 1e-15

    assert dp.grant_of(dp.ApproximateDp(1.0, 0.01), "add_remove").pair == (2.0, pytest.approx((1 + np.e) * 0.01))
    assert dp.grant_of(dp.ApproximateDp(5.0, 0.1), "add_remove").pair is None  # (1 + e^5) 0.1 > 1
    assert dp.grant_of(dp.GaussianDp(1.0), "add_remove", delta=1e-5).pair == dp.GaussianDp(2.0).pair(1e-5)


@each_case("epsilon", [0.0, 700.0])
@each_case("adjacency", ["replace", "add_remove"])
@each_case("prior", [1e-6, 0.5])
def test_the_ends_of_epsilon_are_exact_and_at_those_of_its_weights_no_delta_is_above_one(epsilon, adjacency, prior):
    found = dp.bounds(dp.ApproximateDp(epsilon), prior, 1.0, [0.01], adjacency)
    value = {b.quantity: b.value for b in found if b.name == "envelope"}
    at_an_end = table(dp.ApproximateDp(700.0), prior=1e-12, member_weight=1e6)

    assert value["advantage"] == (1.0 if epsilon else abs(2 * prior - 1))
    assert value["mis_delta"] == pytest.approx(1.0 if epsilon else 0.0, abs=1e-9)
    assert value["tpr_at_fpr_0.01"] == (1.0 if epsilon else 0.01)
    assert at_an_end["mis_delta_iid", "iid"].value == at_an_end["mis_delta", "envelope"].value == 1.0


@each_case("delta", [0.0, 0.01])
@each_case("prior", [0.4, 0.5])
def test_what_keeps_an_advantage_is_the_inverse_of_the_ceiling(prior, delta):
    found = dp.keeping(0.5, delta, prior)

    assert found.epsilon == pytest.approx(dp.epsilon_from_advantage(0.5, delta, prior), rel=1e-12)
    assert found.mu == pytest.approx(dp.gdp_from_advantage(0.5, prior), rel=1e-9)
    assert dp.advantage_ceiling(found.epsilon, delta, prior) <= 0.5 + 1e-15


def test_what_keeps_an_advantage_by_adding_and_removing_is_less_and_below_the_baseline_none_does():
    one, two = dp.keeping(0.5), dp.keeping(0.5, adjacency="add_remove")

    assert two.epsilon == pytest.approx(-np.log(0.5), rel=1e-9)  # 1 - e^-epsilon = 1/2
    assert two.epsilon < one.epsilon
    assert two.mu == pytest.approx(one.mu / 2.0, rel=1e-9)

    below = dp.keeping(0.5, prior=0.1)

    assert (below.epsilon, below.mu, dp.keeping(0.01, delta=0.02).epsilon) == (None, None, None)


test_numbers_out_of_range_are_refused_by_name = refusals(
    "ask, field",
    (lambda: dp.ApproximateDp(-1.0), "epsilon"),
    (lambda: dp.ApproximateDp(float("nan")), "epsilon"),
    (lambda: dp.ApproximateDp(1.0, 1.1), "delta"),
    (lambda: dp.GaussianDp(float("inf")), "mu"),
    (lambda: dp.DpCurve((), ()), "curve"),
    (lambda: dp.DpCurve((1.0,), (-0.1,)), "delta"),
    (lambda: dp.bounds(dp.ApproximateDp(1.0), prior=1.0), "prior"),
    (lambda: dp.bounds(dp.ApproximateDp(1.0), member_weight=0.0), "member_weight"),
    (lambda: dp.bounds(dp.ApproximateDp(1.0), false_positive_rates=[0.0]), "false_positive_rates"),
    (lambda: dp.keeping(1.0), "advantage"),
    error=OutOfRange,
)


@each_case("advantage", [0.999, 1.0 - 1e-9, 1.0 - 1e-16])
def test_what_keeps_an_advantage_next_to_one_keeps_it_to_rounding(advantage):
    assert dp.advantage_ceiling(dp.keeping(advantage).epsilon) == pytest.approx(advantage, abs=3e-16)
