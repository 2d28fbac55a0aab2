"""The Gaussian mechanism: Proposition 12 against its literal sum, and against the integral it bounds."""

import numpy as np
import pytest

from estimators.arrays import Floats
from estimators.errors import NotFinite, OutOfRange, TooFewRecords
from estimators.theory import shifts, subsets
from estimators.theory.pmp import bounds
from estimators.theory.pmp.gaussian import Gaussian, clip_rows, dp_epsilon, of_sum
from tests.cases import each_case, refusals


def points_of(seed: int, records: int, dimension: int) -> Floats:
    return np.random.default_rng(seed).normal(size=(records, dimension))


def literal(points: Floats, sigma: float, epsilon: float) -> float:
    """The O(n^2) form after Proposition 12."""
    apart = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2)) / sigma
    deltas = (shifts.gaussian_delta(np.delete(apart[x], x), epsilon) for x in range(len(points)))
    return max(float(each.mean()) for each in deltas)


def integrated(points: Floats, sigma: float, epsilon: float) -> float:
    """Both hockey sticks of the two mixtures on the line, by a fine sum, for the worst record."""
    n = len(points) // 2
    chosen = subsets.matrix(2 * n, n, "")
    centres = chosen @ points[:, 0]
    t = np.linspace(centres.min() - 10 * sigma, centres.max() + 10 * sigma, 20_001)
    densities = np.exp(-(((t - centres[:, None]) / sigma) ** 2) / 2) / (sigma * np.sqrt(2 * np.pi))
    worst = 0.0
    for x in range(2 * n):
        p, q = densities[chosen[:, x]].mean(axis=0), densities[~chosen[:, x]].mean(axis=0)
        for one, other in ((p, q), (q, p)):
            worst = max(worst, float(np.maximum(one - np.exp(epsilon) * other, 0.0).sum() * (t[1] - t[0])))
    return worst


@pytest.mark.slow
@each_case("epsilon", [0.0, 0.05, 0.5, 2.0])
@each_case("sigma", [0.2, 1.0, 5.0])
def test_proposition_12_is_never_below_the_truth(epsilon, sigma) -> None:
    points = points_of(3, 8, 1)
    found = Gaussian(of_sum(points), sigma).delta(epsilon)

    assert integrated(points, sigma, epsilon) <= found + 1e-9
    assert integrated(points, sigma, 0.0) <= Gaussian(of_sum(points), sigma).total_variation() + 1e-9
    assert found == pytest.approx(literal(points, sigma, epsilon), rel=1e-12)


@each_case("epsilon", [0.0, 0.3, 3.0])
def test_for_n_1_it_is_the_truth(epsilon) -> None:
    points = np.array([[0.0], [1.5]])
    found = Gaussian(of_sum(points), 1.0).delta(epsilon)

    assert found == pytest.approx(integrated(points, 1.0, epsilon), abs=1e-7)
    assert found == pytest.approx(shifts.gaussian_delta(1.5, epsilon), rel=1e-12)


def exchanges(query: Floats, n: int) -> list[list[float]]:
    """How far the query moves, record by record, at every exchange of the record for another."""
    rows = subsets.matrix(2 * n, n, "")
    places = range(len(rows))
    neighbours = [(a, b) for a in places for b in places if (rows[a] & rows[b]).sum() == n - 1]
    apart = [(a, b, float(np.linalg.norm(query[a] - query[b]))) for a, b in neighbours]
    return [[each for a, b, each in apart if rows[a, x] and not rows[b, x]] for x in range(2 * n)]


def test_the_quadratic_form_is_the_sum_over_all_neighbours() -> None:
    points, sigma = points_of(0, 8, 3), 0.3
    by_sum = Gaussian(of_sum(points / 4), sigma)
    moves = np.array(exchanges(subsets.matrix(8, 4, "") @ points / 4, 4)) / sigma

    def over_neighbours(epsilon: float) -> float:
        return float(shifts.gaussian_delta(moves, epsilon).mean(axis=1).max())

    assert moves.shape == (8, 4 * 35)
    for epsilon in (0.0, 0.1, 1.0, 4.0):
        assert by_sum.delta(epsilon) == pytest.approx(over_neighbours(epsilon), rel=1e-10)
    for delta in (1e-6, 0.01, 0.3):
        assert over_neighbours(by_sum.epsilon(delta)) == pytest.approx(delta, rel=1e-8)
        farthest = shifts.gaussian_epsilon(float(moves.max()), delta)
        assert by_sum.on_records(delta) == pytest.approx(farthest, rel=1e-9)


@pytest.mark.slow
@each_case("records, dimension, outliers", [(40, 1, 0), (300, 20, 0), (200, 5, 2), (200, 5, 20)])
def test_epsilon_is_the_least_at_which_the_literal_form_gives_delta(records, dimension, outliers) -> None:
    points = points_of(records, records, dimension)
    points[:outliers] *= 1000.0
    moved = of_sum(points)
    sigma = shifts.gaussian_sigma(moved.largest, 10.0, 1e-2)
    found = Gaussian(moved, sigma).epsilon(1e-2)

    assert literal(points, sigma, found) <= 1e-2 * (1 + 1e-9)
    assert literal(points, sigma, found * (1 - 1e-6)) > 1e-2
    assert found <= Gaussian(moved, sigma).on_records(1e-2)


@each_case("outliers", [0, 3])
def test_bins_are_never_below_and_hardly_above(outliers) -> None:
    points = points_of(1, 400, 6)
    points[:outliers] *= 500.0
    grid = np.array([0.0, 0.2, 1.0, 3.0])
    mechanism = Gaussian(of_sum(points), 2.0)
    bins, exact = mechanism.deltas(grid), np.array([mechanism.delta(float(e)) for e in grid])

    assert (bins >= exact).all()
    assert (bins <= exact * 1.03 + 1e-12).all()


def test_patience_that_runs_out_leaves_an_upper_bound(monkeypatch) -> None:
    patient = Gaussian(of_sum(points_of(2, 300, 10)), 3.0)
    exact, exact_delta = patient.epsilon(1e-2), patient.delta(0.5)
    monkeypatch.setattr("estimators.theory.pmp.gaussian._patience", lambda distances: 1)

    assert exact <= patient.epsilon(1e-2) <= exact * 1.02
    assert exact_delta <= patient.delta(0.5) <= exact_delta * 1.02


SCALES = (1e-297, 1e-165, 1e-160, 1e-155, 1e-20, 1e20, 1e155, 1e160, 1e297)


@pytest.mark.slow
@each_case("scale", SCALES)
def test_points_and_noise_on_any_scale_give_the_same(scale) -> None:
    points = clip_rows(points_of(6, 40, 3), 1.5)
    moved = of_sum(points)

    found = of_sum(clip_rows(points * scale, 1.5 * scale))

    one, other = Gaussian(moved, 0.8), Gaussian(found, 0.8 * scale)
    assert other.epsilon(1e-3) == pytest.approx(one.epsilon(1e-3), rel=1e-9)
    assert other.on_records(1e-3) == pytest.approx(one.on_records(1e-3), rel=1e-9)
    assert other.delta(0.1) == pytest.approx(one.delta(0.1), rel=1e-12)
    assert other.deltas(np.array([0.0, 1.0])) == pytest.approx(one.deltas(np.array([0.0, 1.0])), rel=1e-6)
    assert bounds.sigma(found, 0.5, 1e-3) == pytest.approx(bounds.sigma(moved, 0.5, 1e-3) * scale, rel=1e-9)


def test_a_tiny_distance_counts_beside_a_huge_one_and_a_power_of_two_changes_no_bit() -> None:
    row = of_sum(np.array([[0.0], [1e-170], [3.0], [3.0 + 2.0**-40]])).row(0)
    points = points_of(6, 40, 3)
    found = {Gaussian(of_sum(points * s), 0.8 * s).epsilon(1e-3) for s in (1.0, 2.0**-900, 2.0**900)}

    assert row.tolist() == pytest.approx([1e-170, 3.0, 3.0 + 2.0**-40], rel=1e-15)
    assert len(found) == 1


def test_equal_points_give_nothing_away_twins_nothing_more_and_one_record_at_most_what_all_do():
    equal = Gaussian(of_sum(np.ones((6, 2))), 0.1)
    assert equal.epsilon(1e-5) == equal.on_records(1e-5) == equal.delta(0.0) == 0.0
    assert equal.deltas(np.array([0.0, 1.0])).tolist() == [0.0, 0.0]

    twins = np.repeat(np.array([[0.0], [1.0]]), 2, axis=0)
    found = Gaussian(of_sum(twins), 1.0)

    assert found.delta(0.0) == pytest.approx(2 / 3 * shifts.gaussian_total_variation(1.0), rel=1e-12)

    mechanism = Gaussian(of_sum(points_of(4, 20, 2)), 1.0)
    rows = map(mechanism.distances.row, range(20))
    worst = max(shifts.gaussian_delta(row, mechanism.epsilon(0.01)).mean() for row in rows)

    assert worst == pytest.approx(0.01, rel=1e-9)


def test_points_are_shortened_to_the_clip_whatever_their_size() -> None:
    points = np.array([[3.0, 4.0], [0.3, 0.4], [3e200, 4e200], [0.0, 0.0]])

    np.testing.assert_allclose(clip_rows(points, 1.0), [[0.6, 0.8], [0.3, 0.4], [0.6, 0.8], [0.0, 0.0]])
    np.testing.assert_allclose(clip_rows(np.array([[1.5e308] * 4] * 2), 1.0), [[0.5] * 4] * 2)
    assert of_sum(clip_rows(points, 1.0)).largest <= 2.0


FOUR = of_sum(np.ones((4, 2)))


test_bad_input_is_refused_one_clear_error_each = refusals(
    "ask, error, words",
    (lambda: clip_rows(np.ones((5, 2)), 1.0), TooFewRecords, "even"),
    (lambda: clip_rows(np.ones((0, 2)), 1.0), TooFewRecords, None),
    (lambda: clip_rows(np.array([[0.0], [np.nan]]), 1.0), NotFinite, "row 1"),
    (lambda: clip_rows(np.ones((4, 2)), 0.0), OutOfRange, "clip"),
    (lambda: Gaussian(FOUR, 0.0), OutOfRange, "sigma"),
    (lambda: Gaussian(FOUR, 1.0).epsilon(0.0), OutOfRange, "delta"),
    (lambda: Gaussian(FOUR, 1.0).delta(-1.0), OutOfRange, "epsilon"),
    (lambda: of_sum(np.zeros((65_538, 1))), OutOfRange, "at most 65536"),
    (lambda: of_sum(np.array([[1e301], [0.0]])), OutOfRange, "points: row 0 holds a number beyond 1e"),
    (lambda: of_sum(np.array([[1e308], [0.0]])), OutOfRange, "points: row 0 holds a number beyond 1e"),
    (lambda: of_sum(np.array([[1e-310], [0.0]])), OutOfRange, "points: differ by less than 1e-300"),
    (lambda: Gaussian(FOUR, 1e-310), OutOfRange, "sigma: need at least 1e-300"),
    (lambda: Gaussian(of_sum(np.array([[0.0], [1.0]])), 1e-110), OutOfRange, "records no more than 1e"),
    (lambda: dp_epsilon(1.0, 1e-110, 0.1), OutOfRange, "smaller clip"),
)
