"""Ceilings from epsilon by brute force, and their inverses; what the papers print, against counterexamples."""

import numpy as np
import pytest
from scipy.stats import norm

from estimators.errors import OutOfRange
from estimators.theory import dp
from estimators.theory.bounds import accuracy, gamma_of, guess_accuracy, normalised
from estimators.theory.dp import ceilings
from estimators.theory.mis.security import divergence
from tests.cases import each_case, refusals

ALARMS = np.linspace(0.0, 1.0, 400_001)
EPSILONS = [0.01, 0.5, 1.0, 3.0, 8.0]


def best_advantage(heights, prior):
    """Advantage of the best point of a curve TPR(FPR), or of its mirror image."""
    known = prior * heights + (1 - prior) * (1 - ALARMS)
    right = np.maximum(known, prior * ALARMS + (1 - prior) * (1 - heights))
    return 2 * right.max() - 1


def dp_curve(epsilon, delta):
    """Highest TPR at each FPR under (epsilon, delta)-DP (Kairouz, Oh and Viswanath 2015)."""
    miss = np.maximum(0.0, 1 - delta - np.exp(epsilon) * ALARMS)
    miss = np.maximum(miss, np.exp(-epsilon) * (1 - delta - ALARMS))
    return 1 - miss


@each_case(
    "ceiling, expected",
    (dp.advantage_ceiling(1.0), 0.4621),  # tanh(1/2)
    (dp.advantage_ceiling(2.0), 0.7616),  # MACE Appendix G: 0.762
    (dp.advantage_ceiling(1.0, prior=0.1), 0.8),  # E2: the population's
    (dp.individual_risk_ceiling(1.0, prior=0.1), 0.9215),  # E2: the paper's, which holds for one record
    (dp.advantage_ceiling(1.0, 0.05), 0.4890),  # E3
    (dp.individual_risk_ceiling(1.0), 0.4621),
    (dp.gdp_ceiling(1.0), 2 * norm.cdf(0.5) - 1),
)
def test_ceilings_meet_the_golden_values(ceiling, expected):
    assert ceiling == pytest.approx(expected, abs=5e-5)


@each_case("prior", [0.03, 0.1, 0.4, 0.5, 0.8])
@each_case("epsilon, delta", [(0.0, 0.0), (0.3, 0.0), (1.0, 0.05), (3.0, 0.2), (0.0, 0.3), (6.0, 1e-5), (1.0, 1.0)])
def test_advantage_ceiling_is_the_best_point_of_the_dp_curve(epsilon, delta, prior):
    expected = best_advantage(dp_curve(epsilon, delta), prior)
    ceiling = dp.advantage_ceiling(epsilon, delta, prior)

    # the grid misses a corner by at most its step times slope
    assert expected - 1e-12 <= ceiling == pytest.approx(expected, abs=2e-5)


@each_case("mu", [0.0, 0.2, 1.0, 3.0])
def test_gdp_ceiling_is_the_best_point_of_the_gaussian_curve(mu):
    curve = norm.cdf(norm.ppf(ALARMS) + mu)

    for prior in (0.03, 0.3, 0.5, 0.9):
        assert dp.gdp_ceiling(mu, prior) == pytest.approx(best_advantage(curve, prior), abs=1e-6)


@each_case("prior", [0.1, 0.5, 0.7])
def test_individual_ceiling_is_the_largest_risk_within_the_odds(prior):
    odds = np.exp(np.linspace(-1.5, 1.5, 3001)) * prior / (1 - prior)
    assert dp.individual_risk_ceiling(1.5, prior) == pytest.approx(np.abs((odds - 1) / (odds + 1)).max(), abs=1e-12)


@each_case("delta", [0.0, 0.01])
@each_case("prior", [0.2, 0.5, 0.6])
def test_inverses_lead_back_to_the_advantage(prior, delta):
    advantage = 0.75
    epsilon, mu = dp.epsilon_from_advantage(advantage, delta, prior), dp.gdp_from_advantage(advantage, prior)

    assert dp.advantage_ceiling(epsilon, delta, prior) == pytest.approx(advantage, abs=1e-12)
    assert dp.gdp_ceiling(mu, prior) == pytest.approx(advantage, abs=1e-10)


def test_inverses_have_their_closed_forms_and_ends():
    assert dp.epsilon_from_advantage(0.3) == pytest.approx(2 * np.arctanh(0.3), abs=1e-12)
    assert dp.gdp_from_advantage(0.3) == pytest.approx(2 * norm.ppf(0.65), abs=1e-10)
    assert dp.epsilon_from_advantage(0.8, prior=0.1) == dp.gdp_from_advantage(0.8, prior=0.1) == 0.0
    assert dp.epsilon_from_advantage(1.0) == dp.gdp_from_advantage(1.0, 0.2) == np.inf
    assert ceilings.epsilon_from_mip_eta(0.5) == np.inf
    assert ceilings.epsilon_from_mip_eta(0.1, 0.3) == 0.0


def test_a_model_without_any_dp_loss_has_advantage_1_on_a_fixed_set():
    """E1: the query ignores training, Q(z) = z; S is 50 numbers, known and fixed."""
    known = (rng := np.random.default_rng(0)).normal(size=50)
    tpr, fpr = np.isin(rng.choice(known, 1000), known).mean(), np.isin(rng.normal(size=1000), known).mean()

    assert tpr - fpr == 1.0 > dp.advantage_ceiling(0.0) == 0.0


test_numbers_out_of_range_are_refused_by_name = refusals(
    "ask, field",
    (lambda: dp.gdp_ceiling(np.inf), "mu"),
    (lambda: dp.advantage_ceiling(1.0, prior=0.0), "prior"),
    (lambda: dp.advantage_ceiling(-1.0), "epsilon"),
    (lambda: dp.advantage_ceiling(1.0, delta=1.1), "delta"),
    (lambda: dp.epsilon_from_advantage(1.5), "advantage"),
    (lambda: ceilings.epsilon_from_mip_eta(0.51), "eta"),
    error=OutOfRange,
)


def discretised(g, out, inside):
    """MIS's D_gamma of two discrete laws, by Eqs. 3 and 4."""
    raw = np.maximum(g * out - inside, 0.0).sum() / g
    return max(1.0, g) * (raw - max(0.0, 1.0 - 1.0 / g))


def truthful(epsilon, delta):
    """MIP's Theorem 4: laws of the randomised response that tells the truth outright with probability delta."""
    right, wrong = (1 - delta) / (1 + np.exp(-epsilon)), (1 - delta) / (1 + np.exp(epsilon))
    return np.array([delta, 0.0, right, wrong]), np.array([0.0, delta, wrong, right])


def subset_selection(epsilon, size, chosen):
    """A(z) is a random set of ``chosen`` of ``size`` letters, likelier by e^epsilon if z is in it (Ye and Barg 2018).

    By symmetry it is enough to know whether z is in: its probability where z is the record, and where it is another.
    """
    k = np.exp(epsilon)
    share = chosen * k / (chosen * k + size - chosen)
    return share, chosen / size


@each_case("delta", [0.0, 0.01, 0.3])
@each_case("epsilon", EPSILONS)
def test_theorem_4_is_attained_and_turned_round(epsilon, delta):
    member, nonmember = truthful(epsilon, delta)
    eta = ceilings.mip_eta(epsilon, delta)

    assert eta == pytest.approx(np.abs(member - nonmember).sum() / 4.0, abs=1e-14)
    assert eta == pytest.approx(delta + (1 - delta) / (1 + np.exp(-epsilon)) - 0.5, abs=1e-14)  # as printed
    assert ceilings.epsilon_from_mip_eta(eta, delta) == pytest.approx(epsilon, rel=1e-9)


@each_case("epsilon", EPSILONS)
def test_randomised_response_refutes_theorem_8_and_lemma_13_is_up_to_twice_too_large(epsilon):
    eta, fpr = ceilings.mip_eta(epsilon), 1.0 / (1.0 + np.exp(epsilon))
    tpr, printed = 1.0 - fpr, ceilings.lemma_13_printed(epsilon)

    assert tpr > ceilings.theorem_8_printed(eta, fpr) + 1e-4
    assert tpr == pytest.approx(ceilings.theorem_8(eta, fpr), abs=1e-14)
    assert eta == pytest.approx(ceilings.lemma_6(epsilon) - 0.5, abs=1e-15)
    assert printed / eta == pytest.approx(1.0 + np.exp(-epsilon), rel=1e-12)


@each_case("weight", [0.2, 1.0, 7.0])
@each_case("nu", [0.1, 0.5, 0.9])
def test_delta_is_what_a_weighted_attack_gains_over_a_constant_one(nu, weight):
    rng = np.random.default_rng(3)
    out, inside = rng.dirichlet(np.ones(6), 2)
    sets = (np.arange(64)[:, None] >> np.arange(6)) & 1
    best = (nu * ((1 - sets) @ out) + weight * (1 - nu) * (sets @ inside)).max()  # Definition 2, every attack
    delta = normalised(best - guess_accuracy(nu, weight), weight * (1 - nu), nu)

    assert delta == pytest.approx(discretised(gamma_of(nu, weight), out, inside), abs=1e-12)  # Theorem 6
    assert accuracy(delta, nu, weight) == pytest.approx(best, abs=1e-12)
    assert delta <= 0.5 * np.abs(out - inside).sum() + 1e-12  # total variation, at every gamma


@each_case("weight", [0.2, 1.0, 7.0])
@each_case("nu", [0.1, 0.5, 0.9])
@each_case("epsilon, delta", [(0.3, 0.0), (1.0, 0.05), (4.0, 1e-3)])
def test_equation_9_holds_and_is_loose(epsilon, delta, nu, weight):
    member, nonmember = truthful(epsilon, delta)
    truth = discretised(gamma_of(nu, weight), nonmember, member)
    distance = 0.5 * np.abs(member - nonmember).sum()
    printed = ceilings.equation_9(epsilon, delta, nu, weight)

    assert truth <= printed + 1e-12
    assert truth <= distance + 1e-12 <= ceilings.total_variation_printed(distance, nu, weight) + 2e-12
    if nu == 0.5 and weight == 1.0:
        assert printed == pytest.approx(np.expm1(epsilon) + delta, rel=1e-12)
        assert printed > distance


def test_equation_53_starts_from_another_quantity_than_delta():
    """It has gamma P(member's law) - P(nonmember's), Eqs. 3 and 5 the other way round; DP makes good for it."""
    out, inside = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.8, 0.1])
    right, as_in_the_proof = divergence(out, inside, 2.0), divergence(inside, out, 2.0)

    assert right == pytest.approx(discretised(2.0, out, inside), abs=1e-14)
    assert abs(right - as_in_the_proof) > 0.05


@each_case("prior", [0.1, 0.4, 0.5, 0.7])
@each_case("epsilon", [0.1, 1.0, 4.0])
def test_subset_selection_attains_what_iid_records_allow(epsilon, prior):
    size, best = 4000, 0.0
    for chosen in range(1, size, 3):
        tpr, fpr = subset_selection(epsilon, size, chosen)
        best = max(best, prior * tpr + (1 - prior) * (1 - fpr), prior, 1 - prior)
    allowed = max(prior, 1.0 - prior) + ceilings.iid_gain(epsilon, prior, 1.0 - prior)

    assert best <= allowed + 1e-12
    assert best == pytest.approx(allowed, abs=1e-5)


@each_case("epsilon", EPSILONS)
def test_what_mis_calls_the_supremum_is_not_one(epsilon):
    """Appendix H.2 has tanh(epsilon/2) at delta 0; as the nonmember is a fresh draw it is tanh(epsilon/4)."""
    rng = np.random.default_rng(1)
    supremum = normalised(ceilings.iid_gain(epsilon, 0.5, 0.5), 0.5, 0.5)

    assert supremum == pytest.approx(np.tanh(epsilon / 4.0), rel=1e-9)
    assert supremum < np.tanh(epsilon / 2.0)
    for _ in range(300):  # no epsilon-DP A(z) on a random alphabet, under a random P, exceeds it
        records, outcomes = rng.integers(2, 7, 2)
        laws = np.exp(epsilon * rng.integers(0, 2, (records, outcomes)))
        laws *= rng.random(outcomes) / laws.sum(axis=1, keepdims=True)
        laws = np.column_stack([laws, 1.0 - laws.sum(axis=1)])
        p = rng.dirichlet(np.ones(records))
        true_epsilon = np.log(laws.max(axis=0) / laws.min(axis=0)).max()
        delta = 0.5 * p @ np.abs(laws - p @ laws).sum(axis=1)
        assert delta <= np.tanh(true_epsilon / 4.0) + 1e-12


@each_case("epsilon", [1e-9, 40.0, 700.0])
@each_case("weights", [(1e-6, 1.0), (1.0, 1e-6), (0.5, 0.5)])
def test_what_iid_records_allow_is_never_more_than_all_there_is(epsilon, weights):
    delta = normalised(ceilings.iid_gain(epsilon, *weights), *weights)

    assert 0.0 <= delta <= 1.0
    assert delta == pytest.approx(float(epsilon > 1.0), abs=1e-5)
