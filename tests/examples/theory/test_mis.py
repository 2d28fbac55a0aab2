"""MIS's table, experiment and figures: the paper's numbers, an attack that is simulated, and what is printed."""

from functools import cache
from itertools import product
from math import exp, prod, sqrt
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom, norm
from sklearn.neural_network._stochastic_optimizers import AdamOptimizer

from estimators.theory.bounds import gamma_of
from estimators.theory.mis.binomials import excess
from estimators.theory.mis.overfitting import LossesOf
from estimators.theory.mis.security import c_k, divergence, most_diverse, simple_delta, worst_delta
from examples.theory.drawing import svg
from examples.theory.mis import digits, figure1, figure2, table1
from examples.theory.mis.__main__ import HERE, README
from examples.theory.mis.network import Network
from examples.theory.mis.regression import NOISE, THRESHOLDS, Losses, below, ceiling, draw
from examples.theory.readme import blocks, write_blocks
from tests.examples.scripts import require_a_table_and_a_drawing, table_rows

GAMES = [(0.5, 1.0), (0.7, 1.0), (0.3, 2.0), (0.2, 0.5)]
WORLDS = [(0.5, 0.5), (0.5, 0.3, 0.2), (0.9, 0.05, 0.05), (1.0,)]


# --- Theorem 14, by playing -----------------------------------------------------------------------------------


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(("nu", "weight"), GAMES)
def test_theorem_14_is_what_the_best_attack_gains_over_every_training_set(
    world: tuple[float, ...], nu: float, weight: float
) -> None:
    n, kinds = 4, range(len(world))
    outside: dict[tuple[tuple[int, ...], int], float] = {}
    inside: dict[tuple[tuple[int, ...], int], float] = {}
    for training in product(kinds, repeat=n):
        chance = prod(world[kind] for kind in training)
        model = tuple(training.count(kind) for kind in kinds)  # it hands out its training set
        for kind in kinds:
            outside[model, kind] = outside.get((model, kind), 0.0) + chance * world[kind]
        for kind in training:
            inside[model, kind] = inside.get((model, kind), 0.0) + chance / n

    best = sum(max(nu * outside[key], weight * (1 - nu) * inside.get(key, 0.0)) for key in outside)
    security = (nu + weight * (1 - nu) - best) / min(nu, weight * (1 - nu))  # Definition 3

    assert worst_delta(world, n, gamma_of(nu, weight)) == pytest.approx(1 - security, abs=1e-12)


@pytest.mark.parametrize(("nu", "weight"), GAMES)
def test_the_simulated_attack_gains_what_theorem_14_says(nu: float, weight: float) -> None:
    rng, world, n, games = np.random.default_rng(14), np.array([0.5, 0.3, 0.2]), 6, 200_000
    training = rng.choice(3, size=(games, n), p=world)
    new = rng.random(games) < nu
    member = training[np.arange(games), rng.integers(n, size=games)]
    point = np.where(new, rng.choice(3, size=games, p=world), member)
    says_member = (training == point[:, np.newaxis]).mean(axis=1) > gamma_of(nu, weight) * world[point]

    gains = np.where(new, ~says_member, weight * says_member)
    scale = min(nu, weight * (1 - nu))
    delta = (gains.mean() - max(nu, weight * (1 - nu))) / scale

    assert abs(delta - worst_delta(world, n, gamma_of(nu, weight))) < 4 * gains.std() / sqrt(games) / scale


@pytest.mark.parametrize("n", [2, 8, 32])
@pytest.mark.parametrize("p", [0.05, 0.3])
def test_the_largest_of_bernoulli_draws_gives_away_2p_of_what_lemma_22_calls_negligible(n: int, p: float) -> None:
    none = (1 - p) ** n  # Lemma 22 prints Delta = o((1 - p)^n)
    zero = [none * (1 - p), none * p], [none, 0.0]  # the largest is 0; the record is 0, or 1
    one = [(1 - none) * (1 - p), (1 - none) * p], [(1 - p) - none, p]

    delta = divergence(zero[0] + one[0], zero[1] + one[1])

    assert delta == pytest.approx(2 * p * none, rel=1e-9)


# --- Table 1 --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cell", "paper"), table1.PAPER.items())
def test_the_nine_bounds_round_to_the_papers(cell: tuple[int, float], paper: float) -> None:
    n, diverse = cell

    assert round(simple_delta(diverse, n), 2) == paper


def test_three_of_the_nine_are_rounded_below_the_bound_they_stand_for() -> None:
    low = {cell for cell, paper in table1.PAPER.items() if paper < simple_delta(cell[1], cell[0])}

    assert low == {(5000, 4.3), (10_000, 4.3), (10_000, 6.74)}


@pytest.mark.parametrize("n", table1.SIZES)
def test_those_are_still_true_since_no_category_comes_that_near_its_share_of_the_bound(n: int) -> None:
    small = np.geomspace(1e-9, 0.5, 20_001)
    shares = np.concatenate((small, 1.0 - small))

    nearest = (excess(shares, n) / (np.sqrt(shares * (1.0 - shares) / n) / 2.0)).max()

    assert nearest == pytest.approx(sqrt(2.0) * exp(-0.5), abs=2e-4)  # where n p = 1/2, as of a Poisson law
    for (size, diverse), paper in table1.PAPER.items():
        assert size != n or nearest * simple_delta(diverse, n) < paper


@pytest.mark.slow
@pytest.mark.parametrize("cell", table1.PAPER)
def test_exact_values_are_below_bound_and_print_whatever_the_distribution(cell: tuple[int, float]) -> None:
    n, diverse = cell
    worlds = [
        table1.nearly_uniform(diverse),
        table1.geometric(diverse, table1.CELLS[diverse]),
        table1.one_large(diverse, table1.CELLS[diverse]),
    ]

    exact = table1.exact(diverse, n)

    for world, delta in zip(worlds, exact, strict=True):
        assert world.sum() == pytest.approx(1.0, abs=1e-12)
        assert world.min() >= 0.0
        assert c_k(world) == pytest.approx(diverse, rel=1e-9)
        assert delta < min(simple_delta(diverse, n), table1.PAPER[cell])
        slowly = sum(np.abs(np.arange(n + 1) / n - p) @ binom.pmf(np.arange(n + 1), n, p) for p in world) / 2
        assert delta == pytest.approx(slowly, rel=1e-9)


def test_the_table_and_the_figure_shown_are_those_computed() -> None:
    assert blocks(README)["table1"] == table1.markdown()
    assert (HERE / "table1.svg").read_text("utf-8") == svg(table1.figure())


def test_a_table_is_put_where_its_name_stands_and_nowhere_else(tmp_path: Path) -> None:
    file = tmp_path / "README.md"
    file.write_text("a\n\n<!-- one -->\n\nold\n\n<!-- end -->\n\n<!-- two -->\n\nold\n\n<!-- end -->\n")

    write_blocks(file, {"two": "new"})

    assert blocks(file) == {"one": "old", "two": "new"}
    assert file.read_text().startswith("a\n\n<!-- one -->")


# --- section 6.2 ----------------------------------------------------------------------------------------------


@cache
def learned() -> list[digits.Row]:
    return digits.measured(digits.QUICK)


def row(cells: int, labels: str) -> digits.Row:
    return next(each for each in learned() if (each.cells, each.labels) == (cells, labels))


def test_with_one_cell_and_two_labels_the_papers_bound_is_0_and_the_labels_leak() -> None:
    assert simple_delta(c_k([1.0]), 100) == 0.0
    assert worst_delta([0.5, 0.5], 100) == pytest.approx(0.0398, abs=1e-4)


@pytest.mark.slow
def test_of_20_clusters_of_digits_the_papers_bound_is_below_what_their_labels_give_away() -> None:
    result = row(20, digits.OF_RECORDS)

    assert result.paper < result.delta
    assert result.delta < simple_delta(result.diversity, result.n)


@pytest.mark.slow
@pytest.mark.parametrize("cells", digits.QUICK.cells)
def test_where_the_cell_has_the_label_the_papers_bound_holds(cells: int) -> None:
    result = row(cells, digits.OF_CELLS)

    assert result.delta < result.paper == simple_delta(result.diversity, result.n)
    assert result.diversity < row(cells, digits.OF_RECORDS).diversity
    assert result.diversity <= most_diverse(cells)


@pytest.mark.slow
@pytest.mark.parametrize("cells", digits.QUICK.cells)
@pytest.mark.parametrize("labels", [digits.OF_RECORDS, digits.OF_CELLS])
def test_certified_ends_enclose_the_estimates(cells: int, labels: str) -> None:
    result = row(cells, labels)

    diversity, delta = result.limits()

    assert diversity.lower < result.diversity < diversity.upper
    assert delta.lower < result.delta < delta.upper


@pytest.mark.slow
def test_the_records_of_the_clusterings_are_used_for_nothing_else() -> None:
    cut = digits.Cut.of(digits.QUICK)

    assert len(cut.own_y) + len(cut.y) == 1797
    assert row(20, digits.OF_CELLS).tallies.sum() == len(cut.y)


# --- Figures 1 and 2 ------------------------------------------------------------------------------------------


def test_gradients_are_those_of_the_mean_squared_error() -> None:
    rng = np.random.default_rng(3)
    sample, network = draw(rng, 7, 4, linear=False), Network(rng, 4, 5, 0.1)
    network.parameters = [each.astype(np.float64) for each in network.parameters]

    result = network.gradients(sample.x, sample.y)

    for parameter, gradient in zip(network.parameters, result, strict=True):
        for place in np.ndindex(parameter.shape):
            value = parameter[place]
            losses = []
            for step in (1e-6, -1e-6):
                parameter[place] = value + step
                losses.append(network.losses(sample.x, sample.y).mean())
            parameter[place] = value
            assert gradient[place] == pytest.approx((losses[0] - losses[1]) / 2e-6, abs=1e-7)


def test_adam_moves_as_scikit_learns_does() -> None:
    rng = np.random.default_rng(4)
    sample, network = draw(rng, 30, 4, linear=False), Network(rng, 4, 8, 0.01)
    network.parameters = [each.astype(np.float64) for each in network.parameters]
    theirs = [each.copy() for each in network.parameters]
    optimizer = AdamOptimizer(theirs, learning_rate_init=0.01)

    for _ in range(20):
        optimizer.update_params(theirs, network.gradients(sample.x, sample.y))
        network.step(sample.x, sample.y)

    for ours, other in zip(network.parameters, theirs, strict=True):
        assert ours == pytest.approx(other, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_no_model_meets_new_noise_more_often_than_the_ceiling(threshold: float) -> None:
    reach = sqrt(threshold)

    masses = [quad(norm(0, NOISE).pdf, off - reach, off + reach)[0] for off in (0.0, 0.01, 0.1, 0.3)]

    assert masses[0] == pytest.approx(ceiling(threshold), rel=1e-9)
    assert masses == sorted(masses, reverse=True)


@pytest.mark.slow
def test_a_small_network_learns_by_heart_and_what_is_certified_falls() -> None:
    first, *_, last = figure1.trained(figure1.QUICK, [figure1.SEED]).values()

    assert (below(last.train) == 1.0).all()
    assert below(last.heldout)[0] < 0.02
    assert last.security_at_most() < 0.1 < first.security_at_most()


@pytest.mark.parametrize("learner", figure2.LEARNERS, ids=lambda each: each.name)
def test_beyond_as_many_dimensions_as_records_no_training_loss_is_left(learner: figure2.Learner) -> None:
    losses = figure2.one_model(learner, figure2.QUICK, 200)

    assert losses.train.max() < 1e-20
    assert below(losses.heldout)[0] < 0.02


@pytest.mark.slow
def test_independent_trainings_certify_the_learner_and_say_less_than_one_models_many_losses() -> None:
    learner, size = figure2.LEARNERS[0], figure2.QUICK
    one, many = figure2.one_model(learner, size, 110), figure2.independent(learner, size, 110)

    assert len(many.train) == len(many.heldout) == size.trainings
    assert one.security_at_most() < many.security_at_most() < 0.3


def test_one_training_certifies_nothing_of_a_learner_that_overfits_every_other_time() -> None:
    rng, runs, security = (np.random.default_rng(6), 200, 0.5)  # told apart if it memorised, and not at all if not

    def wrong(trainings: int, of: LossesOf) -> int:
        memorised = rng.random((runs, trainings)) < 0.5
        result = [
            Losses(np.resize(np.where(each, 0.0, 1.0), 60), np.ones(60), of).security_at_most() for each in memorised
        ]
        return sum(each < security for each in result)

    one, many = wrong(1, "one_model"), wrong(60, "independent_trainings")

    assert one > 0.4 * runs
    assert many <= 0.05 * runs


def test_least_squares_with_few_dimensions_is_certified_of_nothing() -> None:
    losses = figure2.one_model(figure2.LEARNERS[0], figure2.QUICK, 10)

    assert losses.security_at_most() == 1.0


# --- what is shown --------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("example", [table1, figure1, figure2, digits])
def test_every_example_prints_a_table_and_draws(example: ModuleType, tmp_path: Path) -> None:
    require_a_table_and_a_drawing(example, tmp_path)


def test_figure_1_as_shown_says_what_the_paper_says() -> None:
    moments = [each for each in table_rows(blocks(README)["figure1"]) if each[0].isdigit() and len(each) == 8]
    learned_by_heart = {int(each[0]): float(each[1]) for each in moments}

    assert learned_by_heart[2500] == 1.0
    assert learned_by_heart[500] < 0.5
    assert all(float(each[4]) < 0.01 for each in moments)


def test_figure_2_as_shown_stays_near_0_in_any_dimension() -> None:
    rows = [each for each in table_rows(blocks(README)["figure2"]) if each[0].isdigit()]

    assert len(rows) == 2 * len(figure2.FULL.dimensions)
    assert all(float(each[2]) < 0.01 for each in rows)


def test_digits_as_shown_cost_accuracy_for_security() -> None:
    rows = [each for each in table_rows(blocks(README)["digits"]) if each[0] == "900" and each[2] == digits.OF_CELLS]

    accuracies, deltas = ([float(each[at].split()[0]) for each in rows] for at in (3, 7))
    assert len(rows) == len(digits.FULL.cells)
    assert accuracies == sorted(accuracies)
    assert deltas == sorted(deltas)
