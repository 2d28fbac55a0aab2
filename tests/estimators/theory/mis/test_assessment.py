import numpy as np

from estimators.theory.mis.assessment import Distribution, bounds_of, coarsen, records_of
from estimators.theory.mis.binomials import Tally
from estimators.theory.mis.certified import worst_delta_from
from estimators.theory.mis.security import least_records, most_diverse, simple_delta
from tests.cases import each_case

COUNTS = [310, 240, 170, 120, 90, 70]


@each_case("gamma", [1.0, 0.5])
def test_limits_from_a_sample_say_what_they_take_for_granted_and_none_is_picked_by_its_value(gamma):
    found = bounds_of(Tally.of_counts(COUNTS, 8), 1000, gamma, 0.9)

    assert not any(each.tightest for each in found)
    for each in found:
        sampled = each.name != "uniform"
        assert ("independent draws" in each.assumes) is sampled
        assert ("90% confidence, each on its own" in each.assumes) is sampled
    assert found[-1].assumes == "the universe stated"


def test_bounds_of_a_known_distribution_take_it_for_granted_and_the_smallest_is_marked():
    found = bounds_of(Distribution.of([0.4, 0.3, 0.2, 0.1]), 1000)

    assert [each.name for each in found if each.tightest] == ["theorem_14"]
    assert all("probabilities given" in each.assumes for each in found)
    assert {each.name: each.assumes for each in found}["corollary_15"].endswith("n > 1/p_k for every k")


def test_a_merge_has_the_limit_of_the_categories_as_they_are_and_records_are_certified_apart() -> None:
    tally, other = Tally.of_counts(COUNTS, 8), Tally.of_counts(COUNTS, 6)
    fine = worst_delta_from(tally, 1000).upper
    rows, found = coarsen(tally, [2, 4], 1000, delta=0.02), records_of(other, 0.03)

    assert all(row.delta_upper == fine for row in rows)
    assert all(row.cells_upper == simple_delta(most_diverse(row.cells), 1000) for row in rows)  # Lemma 23
    assert rows[0].cells_upper < fine
    assert found.exact == least_records(other.shares, other.times.astype(np.float64), 0.03, 1.0)
    assert found.exact < found.certified < found.simple
