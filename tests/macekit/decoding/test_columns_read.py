"""How many different values of a column the account names, and several bodies as one."""

import numpy as np
import pytest

from estimators import Caution
from macekit.decoding.body import DecodedBody, Sample
from macekit.decoding.columns_read import LOOKS, MOST_DISTINCT, join_queries
from macekit.decoding.columns_read import ColumnRecorder as Account
from macekit.problems import Problem

TYPES = (np.bool_, np.int8, np.uint8, np.int16, np.int64, np.uint64, np.float64)
RANGES = {
    "two": (0, 2), "one": (7, 8), "on both sides of 0": (-128, 128), "at the top": (2**64 - 900, 2**64),
    "at the bottom": (-(2**63), -(2**63) + 5), "as many as are named": (0, MOST_DISTINCT),
    "one more": (0, MOST_DISTINCT + 1),
}  # fmt: skip


def holds(kind: type[np.generic], low: int, high: int) -> bool:
    """Whether all of these numbers are values of the type."""
    if not issubclass(kind, np.integer):
        return True
    return np.iinfo(kind).min <= low < high <= np.iinfo(kind).max + 1


HELD = ((kind, name, ends) for kind in TYPES for name, ends in RANGES.items() if holds(kind, *ends))
CASES = [pytest.param(kind, *ends, id=f"{kind.__name__}: {name}") for kind, name, ends in HELD]


@pytest.mark.parametrize(("kind", "low", "high"), CASES)
def test_different_values_are_counted_exactly(kind: type[np.generic], low: int, high: int) -> None:
    """Every type has a way of its own to count them, and a long column another than a short one."""
    few = [low + at for at in range(high - low)]
    values = np.array((few * (2 * LOOKS))[: 2 * LOOKS], dtype=kind)
    different = len(set(values.tolist()))
    account = Account()

    account.add("score", "score", "score", values[:0])
    account.add("score", "score", "score", values)

    (column,) = account.columns()
    assert column.distinct == (different if different <= MOST_DISTINCT else None)


def test_files_of_a_query_each_are_one_body_with_the_name_of_each_before_what_is_said_of_it() -> None:
    sample, odd = Sample(np.arange(9.0), np.arange(9.0)), Caution("odd", "rows repeat")
    bodies = [(name, DecodedBody({"": sample}, cautions=(odd,))) for name in ("old", "new")]

    joined = join_queries(bodies)

    assert [*joined.samples] == ["old", "new"]
    assert [each.message for each in joined.cautions] == ["old: rows repeat", "new: rows repeat"]
    assert {(each.name, each.query) for each in joined.columns} == {
        (f"{name}: {side}", name) for name in ("old", "new") for side in ("members", "nonmembers")
    }
    with pytest.raises(Problem) as raised:
        join_queries([("old", joined)])
    assert raised.value.detail == "a query: holds several queries; each of several files is one"
    assert raised.value.local.startswith("old: holds several")
