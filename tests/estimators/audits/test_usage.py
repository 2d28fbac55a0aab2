"""How large a share was trained on: exact tests, ends that hold, what is refused and what is warned of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from scipy.stats import binom

from estimators import Decision
from estimators.audits.mixtures import Mixtures, nearest_increasing
from estimators.audits.usage import dataset_use
from estimators.errors import DimensionMismatch, InputError, NotFinite, OutOfRange, TooFewRecords
from tests.cases import each_case, refusals
from tests.estimators.cautions import codes


def groups(seed: int, n: int = 400, share: float = 0.3, shift: float = 2.0) -> list[Any]:
    """Known members and nonmembers, and as many candidates of which a share was used."""
    rng = np.random.default_rng(seed)
    members = int(share * n)
    candidates = np.concatenate([rng.normal(shift, 1, members), rng.normal(size=n - members)])
    return [rng.normal(shift, 1, n), rng.normal(size=n), candidates]


@pytest.mark.slow
@each_case(
    "share, chances, sizes",
    [
        (0.5, ((0.1, 0.2, 0.7), (0.5, 0.3, 0.2)), (40, 40, 30)),
        (0.3, ((0.25,) * 4, (0.25,) * 4), (150, 130, 60)),  # nothing leaks
        (0.05, ((0.9, 0.0, 0.1), (0.95, 0.05, 0.0)), (300, 300, 200)),  # a few stand far out
        (0.0, ((0.1, 0.9), (0.5, 0.5)), (120, 30, 50)),
        (1.0, ((0.1, 0.9), (0.5, 0.5)), (30, 120, 50)),
    ],
)
def test_the_true_share_is_rejected_as_seldom_as_the_level_says(
    share: float, chances: Any, sizes: tuple[int, int, int]
) -> None:
    runs, level, rejected = 200, 0.1, [0, 0]
    for run in range(runs):
        rng = np.random.default_rng((run, 5))
        members = rng.binomial(sizes[2], share)
        candidates = rng.multinomial(members, chances[0]) + rng.multinomial(sizes[2] - members, chances[1])
        known = [rng.multinomial(size, chance) for size, chance in zip(sizes, chances, strict=False)]
        order = Mixtures([*known, candidates], (), rng)
        for side in (0, 1):
            rejected[side] += order.p_value(share, side, 199) <= level

    assert max(rejected) <= binom.isf(1e-4, runs, level), rejected


@pytest.mark.slow
def test_both_ends_hold_and_the_interval_is_no_wider_than_it_need_be() -> None:
    results = [dataset_use(*groups(seed), direction="high") for seed in range(8)]

    assert sum(each.share.lower > 0.3 or each.share.upper < 0.3 for each in results) <= 2
    assert np.mean([each.share.width for each in results]) < 0.2  # best with both laws known: .12
    assert all(each.is_mixture and each.none_used < 0.01 and each.all_used < 0.01 for each in results)
    assert all(0.05 <= each.lower_whatever <= 0.3 for each in results)


@each_case("seed", [0, 2, 4])
def test_an_end_spends_half_of_the_error_and_the_p_value_has_what_is_proven(seed: int) -> None:
    """The median of five orders' p-values decides; times 5/3 it is a p-value whatever the orders have in common."""
    sample = groups(seed, share=0.03)
    median = 0.6 * dataset_use(*sample, direction="high").none_used

    more, less = (
        dataset_use(*sample, direction="high", confidence=1.0 - 2.0 * each * median).share.lower
        for each in (1.4, 1 / 1.4)
    )
    assert more > 0.0 == less


@each_case(
    "share, limit, decision",
    [(0.0, 0.2, Decision.PASS), (0.5, 0.2, Decision.FAIL), (0.2, 0.2, Decision.INCONCLUSIVE)],
)
def test_the_verdict_is_by_the_ends(share: float, limit: float, decision: Decision) -> None:
    result = dataset_use(*groups(3, share=share), max_share=limit)

    assert result.decision is decision
    assert len(result.covers) == (3 if decision is Decision.PASS else 0)


@pytest.mark.slow
def test_neither_the_order_of_records_nor_the_direction_changes_the_answer() -> None:
    sample, rng = groups(1), np.random.default_rng(9)
    result = dataset_use(*sample, seed=4)

    assert dataset_use(*map(rng.permutation, sample), seed=4) == result
    low = dataset_use(*(-each for each in sample), direction="low", seed=4)
    high = dataset_use(*sample, direction="high", seed=4)
    assert (low.share.lower, low.share.upper) == (high.share.lower, high.share.upper)
    assert (low.is_low, high.is_low, result.is_low) == (True, False, False)
    assert dataset_use(*(-each for each in sample), seed=4).is_low


def test_of_several_scores_the_sharpest_is_read() -> None:
    rng, sample = np.random.default_rng(2), groups(2)
    several = [np.column_stack([rng.normal(size=len(each)), -each]) for each in sample]

    result = dataset_use(*several)

    assert (result.column, result.is_low) == (1, True)
    assert result.share.lower < 0.3 < result.share.upper
    assert result.share.width < 0.3


def test_one_record_of_each_unit_is_compared() -> None:
    sample = groups(5, 100)
    passages = [np.repeat(each, 6) for each in sample]
    units = [np.repeat(np.arange(100) + 1000 * i, 6) for i in range(3)]

    result = dataset_use(*passages, units=units)

    assert result.numbers == (100, 100, 100)
    assert result.share.width > dataset_use(*passages).share.width  # six times the same say no more than one
    with pytest.raises(InputError, match="100 of members stand in nonmembers, too"):
        dataset_use(*passages, units=[units[0], units[0], units[2]])


def test_what_is_no_mixture_is_no_pass() -> None:
    members, nonmembers, candidates = groups(6, 600, 0.1)
    odd = np.concatenate([candidates, np.full(150, -4.0)])

    result = dataset_use(members, nonmembers, odd, max_share=0.9)

    assert not result.is_mixture
    assert "not_a_mixture" in codes(result)
    assert result.decision is Decision.INCONCLUSIVE
    assert "no mixture" in result.sentence


def test_scores_that_say_nothing_and_records_that_stand_twice_are_said() -> None:
    nothing, twice = groups(7, shift=0.0), groups(7)

    assert codes(dataset_use(*nothing)) == ["says_little"]
    assert codes(dataset_use(twice[0], twice[1], twice[0])) == ["groups_share_records"]


test_a_question_that_cannot_be_answered_is_refused = refusals(
    "ask, error, words",
    [
        (lambda: dataset_use([1.0] * 7, *groups(1)[1:]), TooFewRecords, "members: got 7 records"),
        (lambda: dataset_use(*groups(1)[:2], [np.nan] * 9), NotFinite, "candidates: score 0"),
        (lambda: dataset_use(*groups(1)[:2], ["a"] * 9), InputError, "candidates: need numbers"),
        (lambda: dataset_use(*groups(1)[:2], np.ones((9, 2))), DimensionMismatch, "1, 1, 2 scores a record"),
        (lambda: dataset_use(*groups(1), max_share=1.0), OutOfRange, "max_share"),
        (lambda: dataset_use(*groups(1), confidence=1.0), OutOfRange, "confidence"),
        (
            lambda: dataset_use(*groups(1), units=[[1], [2], [3]]),
            DimensionMismatch,
            "a label for each record",
        ),
    ],
)


def test_the_nearest_increasing_numbers_are_those_of_scipy() -> None:
    rng = np.random.default_rng(5)
    for size in (1, 2, 9, 23):
        for values in (rng.random(size), np.round(rng.random(size), 1), np.arange(size)[::-1] / size):
            weights = rng.uniform(0.5, 40.0, size)
            expected = isotonic_regression(values, weights=weights).x
            assert nearest_increasing(values, weights) == pytest.approx(expected, abs=1e-12)
