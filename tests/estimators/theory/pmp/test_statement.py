"""What is stated of any finite law."""

import numpy as np
import pytest

from estimators.theory import pmp
from estimators.theory.mip import finite_eta
from tests.cases import each_case
from tests.estimators.theory.pmp.worlds import modular_sum


def test_any_finite_law_is_told_at_a_delta() -> None:
    third = 1.0 / 3.0
    sums = pmp.assess_finite(modular_sum(3))
    published = pmp.assess_finite([[0.5, 0.5, 0.0], [0.5, 0.4, 0.1]], delta=0.05)
    nothing = pmp.assess_finite([[third, third, third]] * 6)

    assert sums.practical_epsilon == pytest.approx(np.log(2.0), abs=1e-14)
    assert "practical epsilon on these 6 records is 0.694" in sums.sentence
    assert (published.practical_epsilon, published.event.outcomes) == (np.inf, (2,))
    assert "no practical epsilon is large enough" in published.sentence
    assert "give record 1 away" in published.sentence
    assert nothing.event is None
    assert "is 0, up to rounding" in nothing.sentence
    assert "at most 0.500;" in nothing.sentence


@each_case("delta", [0.0, 0.02])
def test_the_curve_of_a_finite_law_passes_its_epsilon_and_eta_is_mips(delta) -> None:
    laws = np.random.default_rng(3).dirichlet(np.ones(3), size=20)
    result = pmp.assess_finite(laws, delta)

    assert np.interp(result.practical_epsilon, result.grid, result.deltas) == pytest.approx(delta, abs=2e-3)
    assert result.deltas[0] == pytest.approx(2 * result.mip_eta)
    assert result.mip_eta == pytest.approx(finite_eta(laws, 6).eta, abs=1e-14)
    assert min(b.value for b in result.bounds if b.quantity == "mip_eta") == pytest.approx(result.mip_eta)
