"""Queries with shadows: the authors' formulas record by record; too few shadows; directions; no leak where none is."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm
from sklearn.ensemble import HistGradientBoostingRegressor

from estimators.audits import queries
from estimators.audits.queries import shadows
from estimators.errors import DimensionMismatch, InputError, NotFinite, OutOfRange, TooFewRecords, UnknownName
from tests.cases import each_case, refusals
from tests.estimators.audits.queries.nulls import RUNS, area, false_alarms

RNG = np.random.default_rng(0)
RECORDS = 40
MODELS = 24
MEMBERSHIP = np.array([RNG.permutation(RECORDS) < RECORDS / 2 for _ in range(MODELS)])
DIFFICULTY = RNG.normal(0, 2, RECORDS)
SIGNALS = DIFFICULTY + 1.5 * MEMBERSHIP + RNG.normal(0, RNG.uniform(0.5, 2, RECORDS), (MODELS, RECORDS))
TARGET = DIFFICULTY + RNG.normal(0, 1, RECORDS)


def split(column: int) -> tuple[np.ndarray, np.ndarray]:
    """Signals of one record, of shadows that saw it and of those that did not."""
    inside = MEMBERSHIP[:, column]
    return SIGNALS[inside, column], SIGNALS[~inside, column]


@each_case("models, records", [(2, 2), (5, 7), (16, 101), (64, 10)])
def test_halves_leave_no_record_without_shadows_of_either_kind(models, records) -> None:
    inside = shadows.random_halves(models, records, 3)

    assert inside.shape == (models, records)
    assert set(inside.sum(axis=0).tolist()) <= {models // 2, models - models // 2}
    assert set(inside.sum(axis=1).tolist()) <= {records // 2, records - records // 2}
    np.testing.assert_array_equal(inside, shadows.random_halves(models, records, 3))
    assert records < 5 or (inside != shadows.random_halves(models, records, 4)).any()


# LiRA


@each_case("centre, middle", [("mean", np.mean), ("median", np.median)])
def test_lira_online_is_the_log_ratio_of_two_normal_densities_and_offline_how_far_the_signal_lies_above(centre, middle):
    online, offline = [], []
    for column, signal in enumerate(TARGET):
        inside, outside = split(column)
        ratio = norm.logpdf(signal, middle(inside), np.std(inside))
        online.append(ratio - norm.logpdf(signal, middle(outside), np.std(outside)))
        offline.append(norm.cdf((signal - np.mean(outside)) / np.std(outside)))  # 1 - P(Z > signal)
    scores = shadows.lira_online(TARGET, SIGNALS, MEMBERSHIP, variance="record", centre=centre)
    above = shadows.lira_offline(TARGET, SIGNALS, MEMBERSHIP, variance="record")

    np.testing.assert_allclose(scores, online, rtol=1e-9)
    np.testing.assert_allclose(norm.cdf(above), offline, rtol=1e-9)


def test_a_pooled_variance_is_that_within_records() -> None:
    inside, outside = zip(*(split(column) for column in range(RECORDS)), strict=True)
    wide = [
        math.sqrt(sum(((x - x.mean()) ** 2).sum() for x in each) / sum(len(x) - 1 for x in each))
        for each in (inside, outside)
    ]
    three = zip(TARGET, inside, outside, strict=True)
    by_hand = [norm.logpdf(x, i.mean(), wide[0]) - norm.logpdf(x, o.mean(), wide[1]) for x, i, o in three]

    np.testing.assert_allclose(shadows.lira_online(TARGET, SIGNALS, MEMBERSHIP, variance="pooled"), by_hand)
    offline = [(signal - o.mean()) / wide[1] for signal, o in zip(TARGET, outside, strict=True)]
    np.testing.assert_allclose(shadows.lira_offline(TARGET, SIGNALS, MEMBERSHIP, variance="pooled"), offline)


def test_a_record_has_a_variance_of_its_own_if_there_are_shadows_enough() -> None:
    many = np.tile(SIGNALS, (8, 1)) + RNG.normal(0, 0.1, (8 * MODELS, RECORDS))
    membership = np.tile(MEMBERSHIP, (8, 1))

    for query in (shadows.lira_online, shadows.lira_offline):
        few = query(TARGET, SIGNALS, MEMBERSHIP)
        np.testing.assert_array_equal(few, query(TARGET, SIGNALS, MEMBERSHIP, variance="pooled"))
        np.testing.assert_array_equal(
            query(TARGET, many, membership), query(TARGET, many, membership, variance="record")
        )


def test_shadows_that_all_agree_are_no_division_by_zero() -> None:
    flat = np.where(MEMBERSHIP, 2.0, 0.0)

    for variance in ("record", "pooled"):
        scores = shadows.lira_online(TARGET, flat, MEMBERSHIP, variance=variance)
        assert np.isfinite(scores).all()
        assert (np.argsort(scores) == np.argsort(TARGET)).all()
        assert np.isfinite(shadows.lira_offline(TARGET, flat, MEMBERSHIP, variance=variance)).all()


# RMIA

PROBABILITIES = expit(SIGNALS)
OWN = expit(TARGET)


def ratios(online: bool, a: float) -> list[float]:
    """p(x | audited) / p(x) of each record."""
    result = []
    for column, own in enumerate(OWN):
        inside, outside = (expit(each).mean() for each in split(column))
        whole = (inside + outside) / 2 if online else (1 + a) / 2 * outside + (1 - a) / 2
        result.append(own / whole)
    return result


@each_case("online, a", [(True, 0.3), (False, 0.0), (False, 0.3), (False, 1.0)])
def test_rmia_is_the_log_of_the_records_ratio_also_of_probabilities_that_no_float_holds(online, a) -> None:
    scores = shadows.rmia(np.log(OWN), np.log(PROBABILITIES), MEMBERSHIP, online=online, a=a)
    far = shadows.rmia([-900.0, -1000.0, -0.0], [[-1000.0, -1000.0, -0.0]] * 2, a=1.0)

    np.testing.assert_allclose(scores, np.log(ratios(online, a)), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(far, [100, 0, 0], atol=1e-9)


@each_case("online, gamma", [(True, 1.0), (False, 1.0), (False, 2.0), (True, 0.5)])
def test_rmia_with_a_population_is_the_papers_share_and_orders_records_alike(online, gamma) -> None:
    z, of_shadows = RNG.uniform(0.05, 0.9, 30), RNG.uniform(0.05, 0.9, (MODELS, 30))
    whole = of_shadows.mean(axis=0) if online else 1.3 / 2 * of_shadows.mean(axis=0) + 0.7 / 2
    relative = [own / average for own, average in zip(z, whole, strict=True)]
    by_hand = [np.mean([ratio / each >= gamma for each in relative]) for ratio in ratios(online, 0.3)]

    ask = {"online": online, "a": 0.3}
    scores = shadows.rmia(
        np.log(OWN), np.log(PROBABILITIES), MEMBERSHIP,
        population=np.log(z), population_signals=np.log(of_shadows), gamma=gamma, **ask,
    )  # fmt: skip

    np.testing.assert_allclose(scores, by_hand)
    alone = shadows.rmia(np.log(OWN), np.log(PROBABILITIES), MEMBERSHIP, **ask)
    assert (np.diff(scores[np.argsort(alone)]) >= 0).all()


# Calibration, references, ranks


def test_calibrated_loss_is_the_signal_less_the_mean_of_shadows_without_the_record_and_a_reference_one():
    by_hand = [signal - split(column)[1].mean() for column, signal in enumerate(TARGET)]
    of_one = shadows.reference(TARGET, SIGNALS[0])

    np.testing.assert_allclose(shadows.calibrated_loss(TARGET, SIGNALS, MEMBERSHIP), by_hand)
    np.testing.assert_array_equal(of_one, TARGET - SIGNALS[0])
    np.testing.assert_array_equal(of_one, shadows.calibrated_loss(TARGET, SIGNALS[:1]))


def test_the_rank_is_the_share_of_shadows_without_the_record_that_are_below() -> None:
    coarse, target = np.round(SIGNALS), np.round(TARGET)
    by_hand = []
    for column, signal in enumerate(target):
        outside = np.round(split(column)[1])
        by_hand.append((sum(outside < signal) + 0.5 * sum(outside == signal)) / len(outside))

    np.testing.assert_allclose(shadows.reference_rank(target, coarse, MEMBERSHIP), by_hand)


@each_case("query", [shadows.lira_offline, shadows.calibrated_loss, shadows.reference_rank])
def test_what_shadows_with_the_record_say_is_passed_over_and_without_a_membership_none_saw_it(query) -> None:
    nobody, other = np.zeros((MODELS, RECORDS), np.uint8), np.where(MEMBERSHIP, 1e6, SIGNALS)

    np.testing.assert_array_equal(query(TARGET, other, MEMBERSHIP), query(TARGET, SIGNALS, MEMBERSHIP))
    np.testing.assert_array_equal(query(TARGET, SIGNALS), query(TARGET, SIGNALS, nobody))


# Quantile regression


@pytest.mark.slow
def test_quantile_regression_is_the_signal_less_scikit_learns_quantile() -> None:
    x, z = RNG.normal(size=(30, 2)), RNG.normal(size=(200, 2))
    signal, calibration = RNG.normal(size=30), z[:, 0] + RNG.normal(size=200)
    model = HistGradientBoostingRegressor(
        loss="quantile", quantile=0.8, max_iter=30, max_leaf_nodes=15, early_stopping=False, random_state=3
    ).fit(z, calibration)
    scores = shadows.quantile_regression(x, signal, z, calibration, level=0.8, trees=30, seed=3)

    np.testing.assert_allclose(scores, signal - model.predict(x))


@pytest.mark.slow
def test_fresh_nonmembers_exceed_their_quantile_as_often_as_asked(rng) -> None:
    z, x = rng.normal(size=(4000, 1)), rng.normal(size=(4000, 1))

    def signal(rows: np.ndarray) -> np.ndarray:
        return 3 * rows[:, 0] + np.exp(rows[:, 0] / 2) * rng.normal(size=len(rows))

    scores = shadows.quantile_regression(x, signal(x), z, signal(z), level=0.9)

    assert (scores > 0).mean() == pytest.approx(0.1, abs=0.03)
    for third in (x[:, 0] < -0.5, x[:, 0] > 0.5):  # of easy records as of hard ones
        assert (scores[third] > 0).mean() == pytest.approx(0.1, abs=0.05)


# Direction


def world(
    rng: np.random.Generator, records: int, models: int, effect: float, target: float | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A target whose first half are members, shadows of random halves; signals rise by ``effect`` for members."""
    member = np.arange(records) < records // 2
    difficulty, noise = rng.normal(0, 3, records), rng.uniform(0.5, 1.5, records)
    inside = shadows.random_halves(models, records, int(rng.integers(2**32)))
    signals = difficulty + effect * inside + noise * rng.normal(size=inside.shape)
    own = difficulty + (effect if target is None else target) * member + noise * rng.normal(size=records)
    return own, signals, inside, member


def log_probability(signals: np.ndarray) -> np.ndarray:
    return np.asarray(-np.logaddexp(0, -signals))


QUERIES: dict[str, Callable[..., np.ndarray]] = {
    "lira_online": shadows.lira_online,
    "lira_online of records": lambda own, signals, inside: shadows.lira_online(own, signals, inside, variance="record"),
    "lira_offline": shadows.lira_offline,
    "rmia online": lambda own, signals, inside: shadows.rmia(
        log_probability(own), log_probability(signals), inside, online=True
    ),
    "rmia": lambda own, signals, inside: shadows.rmia(log_probability(own), log_probability(signals), inside),
    "calibrated_loss": shadows.calibrated_loss,
    "reference_rank": shadows.reference_rank,
}


@each_case("name", QUERIES)
def test_members_score_higher_and_are_told_better_than_by_the_signal_alone(name) -> None:
    own, signals, inside, member = world(np.random.default_rng(1), 600, 64, 1.5)

    assert area(QUERIES[name](own, signals, inside), member) > max(0.6, area(own, member) + 0.02)


def test_members_lie_above_the_quantile_of_records_like_them(rng) -> None:
    x, z = rng.normal(size=(400, 1)), rng.normal(size=(400, 1))
    member = np.arange(400) < 200
    signal = 4 * x[:, 0] + 1.5 * member + rng.normal(size=400)
    scores = shadows.quantile_regression(x, signal, z, 4 * z[:, 0] + rng.normal(size=400))

    assert area(scores, member) > max(0.75, area(signal, member) + 0.1)


# No leak


def nothing_seen(query: Callable[..., np.ndarray]) -> Callable[[np.random.Generator, int], np.ndarray]:
    """The audited model saw neither side; shadows saw halves of both, and show it."""

    def scored(rng: np.random.Generator, records: int) -> np.ndarray:
        own, signals, inside, _ = world(rng, records, 16, 1.5, target=0.0)
        return query(own, signals, inside)

    return scored


def of_quantiles(rng: np.random.Generator, records: int) -> np.ndarray:
    x, z = rng.normal(size=(records, 2)), rng.normal(size=(60, 2))
    signal, theirs = x[:, 0] + rng.normal(size=records), z[:, 0] + rng.normal(size=60)
    return shadows.quantile_regression(x, signal, z, theirs, trees=5)


def rmia_of_a_population(own: np.ndarray, signals: np.ndarray, inside: np.ndarray) -> np.ndarray:
    some = {"population": np.linspace(-3, 0, 30), "population_signals": np.full((len(signals), 30), -1.0)}
    return shadows.rmia(log_probability(own), log_probability(signals), inside, **some)


UNSEEN = {
    **{name: nothing_seen(query) for name, query in QUERIES.items()},
    "reference": nothing_seen(lambda own, signals, inside: shadows.reference(own, signals[0])),
    "rmia of a population": nothing_seen(rmia_of_a_population),
    "quantile_regression": of_quantiles,
}


@pytest.mark.slow
@each_case("name", UNSEEN)
def test_a_score_of_records_that_the_model_did_not_see_shows_no_leak(name) -> None:
    assert false_alarms(UNSEEN[name]) <= 0.05 * RUNS


def test_every_query_with_shadows_is_asked_of_records_that_the_model_did_not_see_and_a_leak_would_be_shown():
    def leaking(rng: np.random.Generator, records: int) -> np.ndarray:
        return np.where(np.arange(records) < records // 2, 3.0, 0.0) + rng.normal(size=records)

    assert {name.partition(" ")[0] for name in UNSEEN} == set(queries.SHADOWS)
    assert false_alarms(leaking, runs=20) == 20


# What is wrong is named, with what to do

NAN = float("nan")
TWO = [[1.0, 2.0, 3.0], [2.0, 1.0, 0.0]]
HALF = [[True, False, True], [False, True, True]]


test_what_cannot_be_scored_is_named = refusals("ask, error, field, index, words", [
    (lambda: shadows.lira_online([1, 2, 3], TWO, HALF), TooFewRecords, "signals", 2,
     "record 2: 0 of 2 shadows were trained without it, need at least 1"),
    (lambda: shadows.lira_online([1, 2, 3], TWO, [[0, 0, 1], [0, 1, 0]]), TooFewRecords, "signals", 0,
     "record 0: 0 of 2 shadows were trained on it, need at least 1; train more shadows, on random_halves of all "
     r"records, or use a query without them \(offline\)"),
    (lambda: shadows.lira_online([1, 2], [r[:2] for r in TWO], [[1, 0], [0, 1]]), TooFewRecords, "signals", None,
     "one shadow with it"),
    (lambda: shadows.lira_online([1, 2], [r[:2] for r in TWO], [[1, 0], [0, 1]], variance="record"), TooFewRecords,
     "signals", 0, "need at least 2"),
    (lambda: shadows.lira_offline([1, 2, 3], TWO[:1]), TooFewRecords, "signals", None, "one shadow without it"),
    (lambda: shadows.calibrated_loss([1, 2, 3], TWO, HALF), TooFewRecords, "signals", 2, "record 2"),
    (lambda: shadows.reference_rank([1, 2, 3], TWO, HALF), TooFewRecords, "signals", 2, "record 2"),
    (lambda: shadows.rmia([-1, -2, -3], -np.abs(TWO), HALF), TooFewRecords, "signals", 2, "record 2"),
    (lambda: shadows.rmia([-1, -2, -3], TWO), OutOfRange, "signals", 0, "record 0 is above 0, need log-prob"),
    (lambda: shadows.rmia([-1, 2, -3], -np.abs(TWO)), OutOfRange, "target", 1, "record 1 is above 0"),
    (lambda: shadows.rmia([-1, -2, -3], -np.abs(TWO), a=1.5), OutOfRange, "a", None, "from 0 to 1"),
    (lambda: shadows.rmia([-1, -2, -3], -np.abs(TWO), gamma=0), OutOfRange, "gamma", None, "above 0"),
    (lambda: shadows.rmia([-1, -2, -3], -np.abs(TWO), population=[-1.0]), InputError, "population_signals", None,
     "need both"),
    (lambda: shadows.rmia([-1, -2, -3], -np.abs(TWO), population=[-1.0], population_signals=[[-1.0]]),
     DimensionMismatch, "population_signals", None, "got 1 by 1, need 2 shadows by 1 records"),
    (lambda: shadows.lira_offline([1, 2, 3], np.transpose(TWO)), DimensionMismatch, "signals", None, "transpose"),
    (lambda: shadows.lira_offline([1, 2], TWO), DimensionMismatch, "signals", None, "need shadows by 2 records"),
    (lambda: shadows.lira_offline([1, 2, 3], TWO, np.transpose(HALF)), DimensionMismatch, "membership", None,
     "got 3 by 2, need 2 shadows by 3 records; it seems to be a row a record: transpose it"),
    (lambda: shadows.lira_offline([1, 2, 3], TWO, [[0.5] * 3] * 2), InputError, "membership", None, "True or F"),
    (lambda: shadows.lira_offline([1, 2, 3], TWO, [["a"] * 3] * 2), InputError, "membership", None, "True or F"),
    (lambda: shadows.lira_offline([1, 2, 3], [1, 2, 3]), DimensionMismatch, "signals", None, "numbers a model"),
    (lambda: shadows.random_halves(1, 10, 0), OutOfRange, "shadows", None, "at least 2"),
    (lambda: shadows.random_halves(2, 10, -1), OutOfRange, "seed", None, "at least 0"),
    (lambda: shadows.lira_offline([1, 2, 3], [TWO[0], [1, NAN, 1]]), NotFinite, "signals", 1,
     "record 1 of model 1 is NaN; look at"),
    (lambda: shadows.lira_offline([1, NAN, 3], TWO), NotFinite, "target", 1, "record 1 is NaN"),
    (lambda: shadows.lira_offline([1, 2, 3], TWO, variance="own"), UnknownName, "variance", None, "auto, pooled"),
    (lambda: shadows.lira_offline([1, 2, 3], TWO, centre="mode"), UnknownName, "centre", None, "mean, median"),
    (lambda: shadows.reference([1, 2], [1, 2, 3]), DimensionMismatch, "signal", None, "got 3"),
    (lambda: shadows.quantile_regression([[1.0]], [1.0], [[1.0]] * 19, [1.0] * 19), TooFewRecords,
     "calibration_features", None, "got 19, need at least 20 records that are neither scored nor members"),
    (lambda: shadows.quantile_regression([[1.0]], [1.0], [[1.0, 2.0]] * 20, [1.0] * 20), DimensionMismatch,
     "calibration_features", None, "need 1"),
    (lambda: shadows.quantile_regression([[1.0]], [1.0], [[1.0]] * 20, [1.0] * 20, level=1.0), OutOfRange, "level",
     None, "between 0 and 1"),
    (lambda: shadows.quantile_regression([[NAN]], [1.0], [[1.0]] * 20, [1.0] * 20), NotFinite, "features", 0,
     "record 0 is NaN"),
])  # fmt: skip


def test_one_record_is_enough() -> None:
    one = np.array([[1.0], [2.0], [3.0], [5.0]])
    inside = [[0], [1], [0], [1]]

    assert shadows.lira_online([4.0], one, inside).shape == (1,)
    assert shadows.lira_offline([4.0], one).shape == (1,)
    assert shadows.rmia([-1.0], -one, inside, online=True).shape == (1,)
    assert shadows.calibrated_loss([4.0], one).tolist() == [1.25]
    assert shadows.reference_rank([4.0], one).tolist() == [0.75]
