"""Zeros are those of scipy.optimize.brentq, to the last digit."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import optimize

from estimators.limits.root import brentq
from tests.cases import each_case, refusals

FUNCTIONS: dict[str, Callable[[float, float, float], float]] = {
    "steep": lambda x, slope, zero: float(np.tanh(slope * (x - zero))),
    "cubic": lambda x, slope, zero: (x - zero) ** 3 + slope * (x - zero),
    "exponential": lambda x, slope, zero: float(np.exp(slope * x) - np.exp(slope * zero)),
    "vertical at its zero": lambda x, _, zero: float(np.copysign(abs(x - zero) ** 0.3, x - zero)),
    "step": lambda x, _, zero: 1.0 if x > zero else -1.0,
    "flat at its zero": lambda x, _, zero: (x - zero) ** 5,
    "zero for a while": lambda x, _, zero: 0.0 if abs(x - zero) < 0.01 else x - zero,
}


@each_case("name", FUNCTIONS)
def test_zeros_are_those_of_scipy_or_there_are_too_few_steps_to_either(name) -> None:
    rng, function = np.random.default_rng(0), FUNCTIONS[name]
    for _ in range(100):
        slope, zero, xtol = 10 ** rng.uniform(-2, 2), rng.normal(), 10 ** rng.uniform(-14, -3)
        ends = zero - 10 ** rng.uniform(-3, 1), zero + 10 ** rng.uniform(-3, 1)
        found: list[float | None] = []
        for find in (brentq, optimize.brentq):
            with np.errstate(over="ignore"):
                try:
                    found.append(find(lambda x: function(x, slope, zero), *ends, xtol=xtol))  # noqa: B023
                except RuntimeError:
                    found.append(None)
        assert found[0] == found[1]


def test_an_end_may_be_the_zero() -> None:
    assert brentq(lambda x: x - 1.0, 1.0, 2.0) == brentq(lambda x: x - 1.0, 0.0, 1.0) == 1.0


test_what_has_no_zero_there_is_refused = refusals(
    "function",
    [lambda x: x * x + 1.0, lambda x: float("nan"), lambda x: x or float("nan")],
    error=ValueError,
    words=r"sign|NaN",
    ask=lambda function: brentq(function, -1.0, 1.0),
)


@pytest.mark.parametrize("find", [brentq, optimize.brentq])
def test_a_zero_that_no_steps_reach_is_no_answer(find) -> None:
    with pytest.raises(RuntimeError):
        find(lambda x: (x - 1 / 3) ** 9, -1.1, 2.3, xtol=1e-15)
