"""The mean of Gaussian records: against integrals over the record, and against records drawn at random."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from estimators.errors import MaceError, OutOfRange
from estimators.theory import mis
from estimators.theory.mis.mean import MOST_DIMENSIONS, mean_delta, mean_norm, mean_records, proposition_25
from tests.cases import each_case


def slow_delta(n: int) -> float:
    """Of one coordinate: E over the record of the total variation of two laws of the mean, at their crossings."""
    spread = np.sqrt(1.0 - 1.0 / n)

    def apart(record: float) -> float:
        centre = record / np.sqrt(n)
        twice = 2 * spread**2
        roots = np.sort(np.roots([1 / twice - 0.5, -2 * centre / twice, centre**2 / twice + np.log(spread)]))
        return float(np.diff(norm.cdf(roots, centre, spread))[0] - np.diff(norm.cdf(roots))[0])

    return float(quad(lambda z: norm.pdf(z) * apart(z), -12, 12, epsabs=1e-13, limit=300)[0])


@pytest.mark.slow
@each_case("n", [2, 3, 10, 100, 10_000])
def test_one_coordinate_is_the_integral_over_the_record(n) -> None:
    assert mean_delta(n) == pytest.approx(slow_delta(n), abs=1e-11)


@each_case(
    "d, n, gamma",
    [(1, 2, 3.0), (2, 5, 1.0), (3, 10, 2.0), (3, 10, 0.4), (50, 40, 1.0), (50, 40, 0.9), (1000, 500, 1.0)],
)
def test_any_number_of_coordinates_is_what_records_drawn_at_random_say(d, n, gamma) -> None:
    """The excess of one density over the other, a mean over draws of a nonmember's record and mean."""
    rng = np.random.default_rng(d + n)
    r = 1.0 / np.sqrt(n)
    u, w = rng.chisquare(d, 100_000), rng.chisquare(d, 100_000)  # of the sum and the difference of each pair
    ratio = np.exp(-d / 2 * np.log1p(-r * r) + 0.5 * (r / (1 + r) * u - r / (1 - r) * w))
    excess = np.maximum(ratio - gamma, 0.0) if gamma >= 1.0 else np.maximum(1.0 - ratio / gamma, 0.0)

    error = excess.std() / np.sqrt(excess.size)
    assert mean_delta(n, d, gamma) == pytest.approx(excess.mean(), abs=4.0 * error)


def test_pairs_of_means_and_records_are_told_apart_as_stated(rng) -> None:
    """The game itself, with a covariance and a mean: the best attack is right as often as accuracy says."""
    n, d, runs = 4, 2, 20_000
    mix, centre = np.array([[2.0, 0.0], [1.5, 0.3]]), np.array([5.0, -1.0])
    records = rng.normal(size=(runs, n, d)) @ mix.T + centre
    other = rng.normal(size=(runs, d)) @ mix.T + centre
    back = np.linalg.inv(mix).T

    def ratio(record: np.ndarray) -> np.ndarray:
        a, b = np.sqrt(n) * (records.mean(axis=1) - centre) @ back, (record - centre) @ back
        r = 1.0 / np.sqrt(n)
        square = (a**2 + b**2).sum(axis=1)
        inner = (a * b).sum(axis=1)
        exponent = (r * r * square - 2 * r * inner) / (2 * (1 - r * r))
        return np.asarray(-d / 2 * np.log1p(-r * r) - exponent)

    right = (np.mean(ratio(records[:, 0]) > 0.0) + np.mean(ratio(other) <= 0.0)) / 2

    accuracy = mis.assess_mean(d, sizes=[n], nonmember_share=0.5).accuracy
    assert right == pytest.approx(accuracy, abs=4 * np.sqrt(0.25 / (2 * runs)))


@each_case("d", [1, 2, 10, 1000])
def test_proposition_25_is_never_exceeded_and_theorem_13s_factor_is_not_needed(d) -> None:
    for n in (2, 5, 100, 10**6):
        for gamma in (0.3, 1.0, 2.0):
            assert mean_delta(n, d, gamma) <= proposition_25(n, d)
        assert mean_delta(n, d, 2.0) <= mean_delta(n, d)


def test_many_records_give_away_1_over_pi_root_n_and_one_record_all() -> None:
    for n in (10**8, 10**12, 10**15):
        assert mean_delta(n) == pytest.approx(1.0 / (np.pi * np.sqrt(n)), rel=1e-5)
    assert mean_delta(1, 5, 0.3) == 1.0
    at_d = mean_delta(10**6, MOST_DIMENSIONS)  # d = n: LLR ~ N(1/2, 1)
    assert at_d == pytest.approx(2 * norm.cdf(0.5) - 1, abs=1e-3)
    norms = [mean_norm(d) for d in (1, 2)]
    assert norms == pytest.approx([np.sqrt(2 / np.pi), np.sqrt(np.pi / 2)], rel=1e-14)


@each_case("delta, d, gamma", [(0.01, 10, 1.0), (0.3, 1, 1.0), (0.02, 3, 2.0)])
def test_records_needed_are_the_least_that_keep_delta(delta, d, gamma) -> None:
    n = mean_records(delta, d, gamma)

    assert mean_delta(n, d, gamma) <= delta < mean_delta(n - 1, d, gamma)
    assert mean_records(1e-9) is None


def test_the_statement_is_about_the_first_size_and_says_what_it_is_not() -> None:
    result = mis.assess_mean(10, sizes=[1000, 100], nonmember_share=0.5, delta=0.05)
    worst = mis.assess_mean(10, member_weight=2.0)

    assert (result.n, result.delta) == (1000, result.deltas[0])
    assert "606 records or more keep Delta at most 0.05" in result.sentence
    assert [each.code for each in result.cautions] == ["gaussian_records"]
    assert worst.gamma == 1.0
    assert "worst_share" in [each.code for each in worst.cautions]
    assert "With a share of 0.666667" in worst.sentence
    assert all(low < high for high, low in zip(worst.deltas, worst.deltas[1:], strict=False))


@each_case("options, field", [
    ({"dimension": 0}, "dimension"), ({"dimension": MOST_DIMENSIONS + 1}, "dimension"),
    ({"sizes": [10**15 + 1]}, "sizes"), ({"nonmember_share": 1.0}, "nonmember_share"),
    ({"member_weight": 0.0, "nonmember_share": 0.5}, "member_weight"), ({"delta": 1.1}, "delta"),
])  # fmt: skip
def test_what_is_no_mean_is_refused_by_name(options, field) -> None:
    with pytest.raises(MaceError) as refused:
        mis.assess_mean(**options)

    assert refused.value.field == field
    assert isinstance(refused.value, OutOfRange)
