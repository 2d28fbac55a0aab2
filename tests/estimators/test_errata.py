"""Slips of MACE, each with a number that shows it; most are held where the thing itself is tested."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from estimators import Counts, Guarantee, Scores, advantage, compare, individual_risk, preset
from estimators.metric.bounds import posteriors
from estimators.metric.definition import Cut, Metric
from estimators.paper import algorithm_3, discrete_advantage, discrete_risk
from estimators.paper.metric import THIRDS
from estimators.risk.cells import Limits
from tests.cases import each_case

FOLDERS = ("estimators", "metric", "paper", "dp")
"""Where slips of MACE are held; other folders hold those of other papers, by numbers of their own."""

OF_DP = {
    1: "test_a_model_without_any_dp_loss_has_advantage_1_on_a_fixed_set",
    2: "test_ceilings_meet_the_golden_values",
    3: "test_ceilings_meet_the_golden_values",
}
"""What holds the errata about differential privacy; E23 is misprints in appendix D, with nothing to compute."""


@each_case("number", range(1, 23))
def test_every_erratum_has_a_test(number) -> None:
    paths = Path(__file__).parent.rglob("test_*.py")
    texts = (path.read_text(encoding="utf-8") for path in paths if path.parent.name in FOLDERS)

    assert any(f"def {OF_DP.get(number, f'test_e{number}_')}" in text for text in texts)


@pytest.mark.parametrize(("prior", "baseline"), [(0.5, 0.0), (0.1, 0.8), (0.7, 0.4)])
def test_e4_without_leakage_the_advantage_is_the_baseline_and_not_0(prior, baseline) -> None:
    same = Counts.of([30, 50, 20], [300, 500, 200])

    assert discrete_advantage(same, prior).value == pytest.approx(baseline, abs=1e-12)
    assert advantage(same, prior).lower == pytest.approx(baseline, abs=1e-12)


def test_e5_the_first_n1_rows_are_the_members_and_the_rest_the_nonmembers() -> None:
    n, n1 = 200, 60
    rng = np.random.default_rng(1)
    i = np.arange(1, n + 1)
    labels = np.where(i <= n1, 1, -1)
    weights_in_print = np.where(i <= n1, -1, 0)  # "m_i = -1 if i <= N_1 and 0 if i >= N_1": nobody is one

    scores = Scores.of(5 + rng.random(n1), rng.random(n - n1), "continuous")
    risk = individual_risk(scores, n1 / n, bins=10).signed_risk

    assert np.array_equal(np.sign(risk), labels)
    assert not (np.sign(risk) == weights_in_print).any()
    assert len(np.arange(n - n1 + 1, n1 + 1)) == 0  # "i = N_1 + 1, ..., N_2" is empty where members are many


def test_e6_the_posterior_is_given_the_score_and_not_given_some_adversarys_guess() -> None:
    prior, members, nonmembers = 0.3, np.array([60, 30, 10]), np.array([10, 30, 60])
    r, q = members / 100, nonmembers / 100
    eta = posteriors(members, nonmembers, prior)
    guess = np.array([True, False, True])  # an adversary whose own guess tells little
    given_guess = posteriors(
        np.where(guess, members[guess].sum(), members[~guess].sum()),
        np.where(guess, nonmembers[guess].sum(), nonmembers[~guess].sum()),
        prior,
    )  # P(Y = 1 | A(X) = A(x)), as printed

    gain = prior * r - (1 - prior) * q
    best, circular = (np.where(each > 0.5, gain, -gain).sum() for each in (eta, given_guess))

    np.testing.assert_allclose(eta, prior * r / (prior * r + (1 - prior) * q))
    assert best == pytest.approx(discrete_advantage(Counts.of(members, nonmembers), prior).value)
    assert best == pytest.approx(0.62)
    assert circular == pytest.approx(0.4)  # the baseline: the printed posterior sees nothing here


@pytest.mark.slow
def test_e13_an_interval_of_the_magnitude_is_not_the_pair_of_folded_ends() -> None:
    n, prior, r, q = 60, 0.1, 0.45, 0.05  # p r = (1-p) q: the signed risk is 0
    folded = ends = 0.0
    for x, y in product(range(n + 1), range(16)):
        box = discrete_risk(Counts.of([x, n - x], [y, n - y]), prior)
        fold = Limits(box.lower, box.upper, 0.95, Guarantee("", "", True)).folded()
        chance = binom.pmf(x, n, r) * binom.pmf(y, n, q)
        folded += chance * (fold.lower[0] <= 0.0 <= fold.upper[0])
        ends += chance * (min(abs(box.lower[0]), abs(box.upper[0])) <= 0.0)

    assert folded >= 0.95
    assert ends == 0.0


def test_e19_the_regret_is_bounded_by_the_root_of_the_mean_power_and_not_by_the_mean_power() -> None:
    metric, prior, sigma = preset("accuracy", 0.6), 0.6, 2
    eta, estimated = prior, 0.4  # one score for all: the posterior is the prior
    cut = metric.known_cut(prior)

    at = [float(cut.guesses(posterior)) for posterior in (eta, estimated)]
    regret = float(metric.value(at[0], at[0], prior) - metric.value(at[1], at[1], prior))

    k = metric.coefficients
    top = k["a00"] - k["a10"] + k["a11"] - k["a01"]
    beta_1 = top / (k["b0"] + k["b11"] * prior + k["b00"] * (1 - prior))
    power = abs(estimated - eta) ** sigma
    assert regret == pytest.approx(0.2)
    assert beta_1 * power == pytest.approx(0.08)  # Equation 30c
    assert regret <= beta_1 * power ** (1 / sigma) == pytest.approx(0.4)
    negative = Metric("negative", a11=1.0, a00=1.0, b0=-1.0)  # a11 > a01 and a00 > a10, as Theorem 7 asks
    assert negative.known_cut(0.3) == Cut(0.5, above=False)  # whose rule is then the worst one
    assert float(negative.value(0.2, 0.9, 0.3)) > float(negative.value(0.9, 0.2, 0.3))


def test_e20_algorithm_3_cuts_the_estimated_posterior_and_not_the_true_one() -> None:
    prior, metric, rng = 0.3, preset("f_beta", 0.3), np.random.default_rng(4)
    r, q = np.array([0.3, 0.28, 0.22, 0.2]), np.array([0.2, 0.23, 0.27, 0.3])
    eta = prior * r / (prior * r + (1 - prior) * q)
    by_estimate, by_truth, result = [], [], []

    for seed in range(20):
        counts = Counts.of(rng.multinomial(60, r), rng.multinomial(60, q))
        paper = algorithm_3(counts, metric, prior, seed)
        members, nonmembers = counts.blocks(THIRDS, np.random.default_rng(seed))
        estimated = posteriors(members[0], nonmembers[0], prior)
        for values, posterior in ((by_estimate, estimated), (by_truth, eta)):
            guess = paper.cut.guesses(posterior)
            rates = (side[2][guess].sum() / side[2].sum() for side in (members, nonmembers))
            values.append(float(metric.value(*rates, prior)))
        result.append(paper.value)

    assert result == pytest.approx(by_estimate)
    assert np.abs(np.subtract(result, by_truth)).max() > 0.05


@pytest.mark.parametrize("prior", [0.5, 0.3])
def test_e22_each_of_q_queries_is_taken_at_delta_over_q(prior) -> None:
    rng = np.random.default_rng(5)
    laws = [0.6, 0.3, 0.1], [0.2, 0.3, 0.5]
    queries = {str(k): Counts.of(*(rng.multinomial(400, law) for law in laws)) for k in range(4)}

    result = compare(queries, prior, confidence=0.95, seed=2).maximum

    def lower(delta: float) -> float:
        return max(advantage(each, prior, confidence=1 - delta, seed=2).lower for each in queries.values())

    assert result.lower == pytest.approx(lower(0.05 / 4), abs=1e-12)
    assert result.lower < lower(0.05)


@pytest.mark.parametrize("prior", [0.5, 0.2])
def test_e22_no_query_by_itself_gives_away_more_than_all_of_them_together(prior) -> None:
    rng = np.random.default_rng(6)
    for _ in range(50):
        members, nonmembers = rng.integers(1, 40, (2, 3, 4))

        joint = discrete_advantage(Counts.of(members.ravel(), nonmembers.ravel()), prior).value

        for axis in (0, 1):
            one = Counts.of(members.sum(axis=axis), nonmembers.sum(axis=axis))
            assert discrete_advantage(one, prior).value <= joint + 1e-12


def test_e22_the_maximum_over_queries_can_miss_a_leak_altogether() -> None:
    members, nonmembers = np.array([[35, 15], [15, 35]]), np.full((2, 2), 25)  # signs agree more often
    marginals = [discrete_advantage(Counts.of(members.sum(axis=k), nonmembers.sum(axis=k)), 0.5).value for k in (0, 1)]

    assert marginals == pytest.approx([0.0, 0.0], abs=1e-12)
    assert discrete_advantage(Counts.of(members.ravel(), nonmembers.ravel()), 0.5).value == pytest.approx(0.2)
