"""Algorithms 2 and 3 and Theorem 4, by cells and by kernel densities, against the paper's steps written out slowly."""

import numpy as np
import pytest
from scipy.stats import gaussian_kde, norm

from estimators import PRESETS, Counts, Scores, preset
from estimators.density.bandwidth import Fixed
from estimators.errors import InputError, TooFewRecords
from estimators.metric.definition import Cut
from estimators.paper import EqualWidth, Kernel, algorithm_2, algorithm_3, paper_metric, record_metric, record_risk
from estimators.paper.metric import HALVES, THIRDS
from estimators.sample.counting import by_category, by_lattice, resolution


def normal(n1: int, n0: int, shift: float = 1.0, seed: int = 0) -> Scores:
    rng = np.random.default_rng(seed)
    return Scores.of(rng.normal(shift, 1, n1), rng.normal(0, 1, n0), "continuous")


COUNTS, SCORES = Counts.of(*np.random.default_rng(5).integers(0, 200, (2, 12))), normal(500, 400)


def slow_posterior(first: tuple[np.ndarray, np.ndarray], points: np.ndarray, prior: float, width: float) -> np.ndarray:
    """The posterior by direct sums of Gaussians over the records of the first part."""
    r, q = (norm.pdf((points[:, None] - side[None, :]) / width).mean(axis=1) / width for side in first)
    return np.asarray(prior * r / (prior * r + (1 - prior) * q))


def parts_of(scores: Scores, shares: np.ndarray, seed: int) -> list[list[np.ndarray]]:
    """Both sides in random order, cut into parts."""
    rng = np.random.default_rng(seed)
    mixed = (side[rng.permutation(len(side))] for side in (scores.members, scores.nonmembers))
    return [np.split(side, np.rint(np.cumsum(shares) * len(side)).astype(int)[:-1]) for side in mixed]


WIDTH = 0.4
READINGS = {"histogram": None, "kde": Kernel(Fixed(WIDTH))}


def posteriors_of_parts(reading: str, shares: np.ndarray, prior: float, seed: int) -> list[list[np.ndarray]]:
    """For members, then nonmembers: the posterior of each record of each part, as the first part has it."""
    if reading == "kde":
        members, nonmembers = parts_of(SCORES, shares, seed)
        return [[slow_posterior((members[0], nonmembers[0]), part, prior, WIDTH) for part in side[1:]]
                for side in (members, nonmembers)]  # fmt: skip
    members, nonmembers = COUNTS.blocks(shares, np.random.default_rng(seed))
    r, q = members[0] / members[0].sum(), nonmembers[0] / nonmembers[0].sum()
    with np.errstate(invalid="ignore"):
        eta = np.nan_to_num(prior * r / (prior * r + (1 - prior) * q), nan=-1.0)  # nobody: not accused
    return [[np.repeat(eta, part) for part in side[1:]] for side in (members, nonmembers)]


@pytest.mark.parametrize("prior", [0.5, 0.1])
@pytest.mark.parametrize("reading", READINGS)
def test_algorithm_2_is_the_papers_four_steps_with_rates_weighted_by_the_prior(reading, prior) -> None:
    members, nonmembers = (side[0] > prior for side in posteriors_of_parts(reading, HALVES, prior, 7))

    data = SCORES if reading == "kde" else COUNTS
    paper = algorithm_2(data, preset("balanced_accuracy", prior), prior, 7, READINGS[reading])

    assert (paper.algorithm, paper.estimator) == (2, reading)
    assert paper.member_guesses == members.sum() + nonmembers.sum()
    assert paper.value == pytest.approx((members.mean() + 1 - nonmembers.mean()) / 2, abs=1e-10)


@pytest.mark.parametrize("reading", READINGS)
def test_algorithm_3_learns_the_threshold_on_its_second_part(reading) -> None:
    prior, sides = 0.3, posteriors_of_parts(reading, THIRDS, 0.3, 5)

    def value(x: float, part: int) -> float:
        tp, fp = prior * (sides[0][part] > x).mean(), (1 - prior) * (sides[1][part] > x).mean()
        return float(2 * tp / (tp + fp + prior))

    data = SCORES if reading == "kde" else COUNTS
    paper = algorithm_3(data, preset("f_beta", prior), prior, 5, READINGS[reading])

    assert (paper.algorithm, paper.estimator) == (3, reading)
    every = np.unique(np.concatenate([sides[0][0], sides[1][0]]))
    at = int(np.argmin(np.abs(every - paper.cut.threshold)))  # near one of them: the grid is of 1e-5
    cut = paper.cut.threshold if reading == "histogram" else (every[at] + every[at + 1]) / 2
    assert reading == "histogram" or abs(every[at] - paper.cut.threshold) < 1e-4
    assert value(cut, 0) == pytest.approx(max(value(x, 0) for x in [-1.0, *every]), abs=1e-10)
    assert paper.value == pytest.approx(value(cut, 1), abs=1e-10)


def test_a_continuous_score_is_smoothed_unless_slices_are_asked_for_and_categories_are_counted() -> None:
    scores, metric = normal(300, 300), preset("accuracy", 0.5)
    labels = Scores.of(["a"] * 30 + ["b"] * 20, ["a"] * 10 + ["b"] * 40)

    assert paper_metric(scores, metric, 0.5).estimator == "kde"
    assert paper_metric(labels, metric, 0.5).estimator == "histogram"
    members, nonmembers = by_lattice(scores, 20).blocks(HALVES, np.random.default_rng(3))
    guess = members[0] / members[0].sum() > nonmembers[0] / nonmembers[0].sum()
    paper = paper_metric(scores, metric, 0.5, 3, EqualWidth(20))
    assert (paper.algorithm, paper.estimator) == (2, "histogram")
    assert paper.member_guesses == members[1][guess].sum() + nonmembers[1][guess].sum()
    right = members[1][guess].sum() + nonmembers[1][~guess].sum()
    assert paper.value == pytest.approx(right / (members[1].sum() + nonmembers[1].sum()))


def test_cells_that_are_given_are_joined_and_slices_that_are_asked_for_are_not() -> None:
    """A grid of thousands of cells has too few records in each to learn from; a number of slices is taken literally."""
    scores, metric = normal(300, 300), preset("accuracy", 0.5)
    counts = by_lattice(scores, 200)
    given = paper_metric(counts, metric, 0.5, 3)

    assert given == paper_metric(counts.coarsen(resolution(600)), metric, 0.5, 3)
    assert given != paper_metric(scores, metric, 0.5, 3, EqualWidth(200))


@pytest.mark.slow
@pytest.mark.parametrize("dimension", [2, 8])
def test_vectors_are_read_in_as_many_dimensions_as_they_have(dimension) -> None:
    """A shift of 0.8 along every axis; accuracy of the optimal rule is Phi(0.4 sqrt(d))."""
    rng = np.random.default_rng(3)
    scores = Scores.of(rng.normal(0.8, 1, (1500, dimension)), rng.normal(0, 1, (1500, dimension)))
    paper = paper_metric(scores, preset("accuracy", 0.5), 0.5, 0, Kernel())

    assert paper.estimator == "kde"
    assert paper.value == pytest.approx(norm.cdf(0.4 * np.sqrt(dimension)), abs=0.05)


def test_kernel_densities_of_counts_or_categories_and_too_few_records_are_refused_with_the_remedy() -> None:
    labels, accuracy = Scores.of(["a"] * 30, ["b"] * 20), preset("accuracy", 0.5)
    for data in (by_category(labels), labels):
        for ask in (
            lambda d: paper_metric(d, accuracy, 0.5, 0, Kernel()),
            lambda d: record_risk(d, 0.5, reading=Kernel(), targets=["a"]),
        ):
            with pytest.raises(InputError, match=r"numbers on a line.*by their cells") as refused:
                ask(data)
            assert refused.value.field == "estimator.kind"
    with pytest.raises(TooFewRecords, match="at least 3 records"):
        algorithm_3(Counts.of([1, 1], [5, 5]), preset("f_beta", 0.5), 0.5)


# --- records ------------------------------------------------------------------------------------------------
# Theorems 2 and 3 looked up for each record, and Theorem 4 on top of them.


@pytest.mark.parametrize("prior", [0.5, 0.1])
def test_a_record_s_risk_by_kernel_densities_is_scipy_s(prior) -> None:
    scores, width = normal(300, 200), 0.5
    points = np.concatenate([scores.members, scores.nonmembers])
    sides = scores.members, scores.nonmembers
    r, q = (gaussian_kde(side, width / side.std(ddof=1))(points) for side in sides)
    rows = record_risk(scores, prior, reading=Kernel(Fixed(width)))

    assert (rows.theorem, rows.cells, rows.bandwidth) == (3, None, (width, width))
    f = (prior * r - (1 - prior) * q) / (prior * r + (1 - prior) * q)
    np.testing.assert_allclose(rows.risk.values, f, atol=2e-4)
    assert ((rows.risk.lower <= rows.risk.values) & (rows.risk.values <= rows.risk.upper)).all()


def test_a_record_s_risk_by_slices_is_the_box_of_its_slice() -> None:
    scores = normal(300, 200)
    sides = scores.members, scores.nonmembers
    edges = np.linspace(*(f(np.concatenate(sides)) for f in (np.min, np.max)), 21)
    slice_of = [np.clip(np.searchsorted(edges, side, "right") - 1, 0, 19) for side in sides]
    r, q = (np.bincount(side, minlength=20) / len(side) for side in slice_of)

    rows = record_risk(scores, 0.3, reading=EqualWidth(20))

    values = (0.3 * r - 0.7 * q) / np.maximum(0.3 * r + 0.7 * q, 1e-300)
    np.testing.assert_allclose(rows.risk.values, values[np.concatenate(slice_of)])
    assert (rows.theorem, rows.cells) == (2, np.count_nonzero(r + q))


def test_a_target_in_no_cell_is_unknown_and_a_far_one_has_no_density() -> None:
    labels = Scores.of(["a"] * 30 + ["b"] * 20, ["a"] * 10 + ["b"] * 40)
    unseen = record_risk(labels, 0.5, targets=["c", "a"]).risk
    far = record_risk(normal(300, 200), 0.5, targets=[1e6, 0.0]).risk

    assert np.isnan(unseen.values[0])
    assert (unseen.lower[0], unseen.upper[0]) == (far.lower[0], far.upper[0]) == (-1.0, 1.0)
    assert unseen.values[1] == pytest.approx(0.5)


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("prior", [0.01, 0.3, 0.99])
@pytest.mark.parametrize("reading", [EqualWidth(10), Kernel(Fixed(0.5))], ids=["histogram", "kde"])
def test_theorem_4_is_the_metric_of_the_posterior_and_its_range(name, prior, reading) -> None:
    """Over every posterior in the interval of f_p, on a fine grid: both ends are the extremes."""
    scores, metric = normal(200, 150), preset(name, prior)
    risk = record_risk(scores, prior, reading=reading)
    rows = record_metric(scores, risk, metric, prior, 1, reading)

    for at in (0, 60, 199, 250, 349):
        low, high = (1 + risk.risk.lower[at]) / 2, (1 + risk.risk.upper[at]) / 2
        grid = metric.individual_value(np.linspace(low, high, 4001), rows.cut)
        if np.isnan(grid).all():
            assert np.isnan(rows.values[at])
            continue
        assert rows.lower[at] == pytest.approx(np.nanmin(grid), abs=2e-3)
        assert rows.upper[at] == pytest.approx(np.nanmax(grid), abs=2e-3)
        own = metric.individual_value(np.array([(1 + risk.risk.values[at]) / 2]), rows.cut)
        np.testing.assert_array_equal(rows.values[at], own[0])


def test_eq_18_for_precision_and_accuracy_by_hand() -> None:
    """Posterior 3/4 where member is guessed: precision and accuracy 3/4; 1/3 where not: accuracy 2/3, precision 0/0."""
    scores = Scores.of(["a"] * 60 + ["b"] * 40, ["a"] * 20 + ["b"] * 80)
    risk = record_risk(scores, 0.5)
    accuracy = record_metric(scores, risk, preset("accuracy", 0.5), 0.5)
    own_rule = record_metric(scores, risk, preset("precision", 0.5), 0.5)

    assert accuracy.cut == Cut(0.5, True)
    np.testing.assert_allclose(accuracy.values[[0, 60]], [3 / 4, 2 / 3])
    assert (own_rule.algorithm, own_rule.values[0]) == (3, pytest.approx(3 / 4))
