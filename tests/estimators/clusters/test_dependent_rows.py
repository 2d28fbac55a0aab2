"""The caution that sees dependent rows in columns that nobody named."""

from typing import Any

import numpy as np
import pytest

from benchmarks.clusters import crossed, equal, people
from estimators import Scores
from estimators.clusters.dependent_rows import DEPENDENT, dependent_rows


@pytest.mark.parametrize("truth", [0.0, 0.6])
def test_rows_of_one_person_are_seen_whatever_leaks(truth) -> None:
    for seed in range(8):
        members, nonmembers, labels = people(equal(100, 6), 0.4, truth)(np.random.default_rng(seed))
        columns = {"age": np.random.default_rng(seed).integers(18, 80, 600), "who": labels[0]}
        cautions = dependent_rows(Scores.of(members, nonmembers), columns)
        assert [caution.code for caution in cautions] == [DEPENDENT]
        assert "'who'" in cautions[0].message


def test_few_people_with_many_rows_are_seen_by_the_name_of_their_column() -> None:
    members, nonmembers, labels = people(equal(20, 60), 0.4, 0.0)(np.random.default_rng(0))
    scores = Scores.of(members, nonmembers)

    assert dependent_rows(scores, {"patient_id": [f"p{label}" for label in labels[0]]})
    assert not dependent_rows(scores, {"postcode": labels[0]})  # a group, for all that can be seen


def test_the_column_whose_rows_are_most_alike_is_named() -> None:
    members, nonmembers, labels = crossed(60, 20, (0.6, 0.1), 0.2, True)(np.random.default_rng(0))
    cautions = dependent_rows(
        Scores.of(members, nonmembers), {"model": labels[1], "record": labels[0], "row": np.arange(1200)}
    )
    assert len(cautions) == 1
    assert "'record'" in cautions[0].message


KINDS = {
    "continuous": lambda rng, score: score,
    "rounded": lambda rng, score: np.round(score, 1),
    "counts": lambda rng, score: rng.poisson(2.0, len(score)).astype(float),
    "two values": lambda rng, score: (score > 1.0).astype(float),
    "leaking": lambda rng, score: score + 2.0 * (np.arange(len(score)) < len(score) / 2),
    "heavy tails": lambda rng, score: rng.standard_cauchy(len(score)),
    "mostly tied": lambda rng, score: np.where(rng.random(len(score)) < 0.9, 0.0, score),
}


@pytest.mark.parametrize("kind", KINDS)
def test_independent_rows_raise_no_alarm_whatever_their_ties(kind) -> None:
    for seed in range(25):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(20, 800))
        score = KINDS[kind](rng, rng.normal(size=2 * n))
        labels = max(8, n // int(rng.integers(1, 30)))
        user, tail = rng.integers(0, labels, 2 * n), rng.pareto(1.0, 2 * n)
        half = np.r_[np.arange(n) // 4, n + np.arange(n) // 4]
        columns = {"user_id": user, "document": np.minimum(tail, labels).astype(np.int64), "half_id": half}
        assert not dependent_rows(Scores.of(score[:n], score[n:], "continuous"), columns)


def test_columns_that_cannot_say_whose_a_row_is_are_left_alone() -> None:
    score = np.repeat(np.random.default_rng(0).normal(size=50), 4)
    scores = Scores.of(score[:100], score[100:])
    columns: dict[str, Any] = {
        "share": score,  # a fraction
        "row_id": np.arange(200),
        "constant_id": np.zeros(200, dtype=int),
        "gaps_id": [None] * 200,
        "short_id": np.arange(20),
    }
    assert dependent_rows(scores, columns) == ()
    assert dependent_rows(Scores.of(["a", "b"] * 50, ["a", "c"] * 50), {"id": np.arange(200) // 4}) == ()
    assert dependent_rows(scores, {}) == ()
