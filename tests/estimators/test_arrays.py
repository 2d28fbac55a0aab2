"""What stands in for NumPy on few numbers is NumPy's to the last digit."""

import numpy as np

from estimators.arrays import distinct, is_masked, lengths, median, quantiles
from tests.cases import each_case


def test_medians_quantiles_and_lengths_are_numpys_to_the_last_digit() -> None:
    rng = np.random.default_rng(0)
    for size in (*range(1, 40), 257, 1000):
        for values in (rng.normal(size=size), rng.integers(0, 5, size).astype(float), 1e9 + rng.random(size)):
            assert quantiles(values, (0.25, 0.75)) == tuple(np.quantile(values, [0.25, 0.75]))
            assert quantiles(values, (0.05, 0.95)) == tuple(np.quantile(values, [0.05, 0.95]))
            assert median(values) == np.median(values)
            assert np.array_equal(distinct(values), np.unique(values))
            columns = np.column_stack([values, -values[::-1]])
            assert np.array_equal(median(columns), np.median(columns, axis=0))
        starts = np.unique(rng.integers(0, size, 9))
        assert np.array_equal(lengths(starts, size), np.diff(starts, append=size))


@each_case(
    "values", [np.array([]), np.array([2, 2]), np.array([["b", "a"], ["b", "c"]]), np.array([np.inf, -np.inf] * 2)]
)
def test_few_values_none_and_texts_are_told_apart_as_numpy_does(values) -> None:
    assert np.array_equal(distinct(values), np.unique(values))
    assert distinct(values).dtype == values.dtype


def test_only_numpys_masked_arrays_are_masked() -> None:
    class Own(np.ma.MaskedArray):  # type: ignore[type-arg]
        """Somebody's own."""

    assert all(is_masked(each) for each in (np.ma.masked_invalid([1.0, np.nan]), Own([1.0]), np.ma.masked))
    assert not any(is_masked(each) for each in (np.array([np.nan]), np.rec.array([(1,)]), [None], None, 1.0))
