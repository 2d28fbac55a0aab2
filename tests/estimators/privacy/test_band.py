"""Operating points along the whole curve, for a picture."""

import numpy as np
import pytest

from estimators import Counts, Scores
from estimators.privacy.roc import band, operating_point
from estimators.sample.counting import finest
from tests.cases import each_case


@each_case("records, least", [(8, 0.1), (200, 1 / 200), (50_000, 1e-4)])
def test_a_band_reaches_from_one_nonmember_to_nearly_all(records, least) -> None:
    rng = np.random.default_rng(0)

    result = band(finest(Scores.of(rng.normal(1.0, 1.0, records), rng.normal(0.0, 1.0, records))))

    rates = [point.fpr for point in result]
    assert rates == sorted(set(rates))
    assert (rates[0], rates[-1]) == pytest.approx((least, 0.99))
    assert sum(rate > 0.1 for rate in rates) == 20
    assert len(rates) <= 40


def test_each_point_of_a_band_is_the_operating_point_at_its_rate_and_none_is_lower(rng):
    counts = Counts.of([120, 300, 580], [310, 420, 270], [0.4, 0.7])

    for point in band(counts, 0.9):
        assert point == operating_point(counts, point.fpr, 0.9)

    result = band(finest(Scores.of(rng.normal(1.0, 1.0, 3000), rng.normal(0.0, 1.0, 3000))))

    assert np.all(np.diff([float(point.estimate.value or 0.0) for point in result]) >= 0.0)
