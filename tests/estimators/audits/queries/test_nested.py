"""Ever more rows of one release: the scores of a search from scratch, and no row searched twice."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from estimators.audits.queries import nearest, synthetic_scores
from estimators.audits.queries import nested as module
from estimators.audits.queries.nested import nested_scores
from estimators.audits.queries.table import Encoding, encode, encode_points
from tests.cases import each_case
from tests.estimators.audits.queries.test_synthetic import drawn, people


def without_reference() -> Encoding:
    return replace(drawn(1), reference=None)


def of_points() -> Encoding:
    rng = np.random.default_rng(2)
    members, nonmembers, released, reference = (rng.normal(size=(n, 3)) for n in (20, 30, 90, 25))
    return encode_points(members, nonmembers, np.concatenate([released, members[:3]]), reference)


def of_equal_rows() -> Encoding:
    rng = np.random.default_rng(3)
    released = {"age": [30, 40] * 25, "job": ["baker", "nurse"] * 25, "wage": [1.0, 2.0] * 25}
    return encode(people(rng, 30), people(rng, 30), released, people(rng, 30))


def of_one_row_again_and_again() -> Encoding:
    return encode_points([[0.0, 1.0], [2.0, 2.0]], [[5.0, 1.0], [2.0, 3.0]], [[1.0, 1.0]] * 44)


def many_rows() -> Encoding:
    """More than are always searched by a tree."""
    rng = np.random.default_rng(4)
    return encode_points(*(rng.normal(size=(n, 12)) for n in (40, 40, 5000)))


@pytest.mark.slow
@each_case("tables, metric", [
    (drawn(0), "l1"), (without_reference(), "l1"), (of_points(), "l2"), (of_equal_rows(), "l1"),
    (of_one_row_again_and_again(), "l1"), (many_rows(), "l2"),
])  # fmt: skip
def test_scores_are_those_of_a_search_from_scratch(tables, metric) -> None:
    sizes = [1, 2, 3, 7, 31, 33, 40, len(tables.synthetic)]
    for size, scores in zip(sizes, nested_scores(tables, sizes, metric=metric), strict=True):
        alone = synthetic_scores(replace(tables, synthetic=tables.synthetic.part(slice(size))), metric=metric)
        assert scores.members.keys() == alone.members.keys()
        for name in alone.members:
            np.testing.assert_array_equal(scores.members[name], alone.members[name], err_msg=f"{size} {name}")
            np.testing.assert_array_equal(scores.nonmembers[name], alone.nonmembers[name], err_msg=f"{size} {name}")


def test_no_pair_is_searched_twice(monkeypatch) -> None:
    pairs = {"asked": 0}

    def counted(records: Any, rows: Any, k: int, metric: str) -> Any:
        pairs["asked"] += len(records) * len(rows)
        return nearest(records, rows, k, metric)

    monkeypatch.setattr(module, "nearest", counted)
    tables = drawn(5)
    sides, people = len(tables.members) + len(tables.nonmembers), len(tables.reference)
    total = len(tables.synthetic)
    every = range(1, total + 1)
    list(nested_scores(tables, every, ["closeness", "kth_closeness", "closeness_ratio"]))
    assert pairs["asked"] == sides * total

    pairs["asked"] = 0
    list(nested_scores(tables, every, ["calibrated_closeness", "density_ratio", "local_rank", "rare_pairs"]))
    assert pairs["asked"] == sides * total + sides * people + people * total + total * people
