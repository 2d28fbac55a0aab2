"""Where a function of one number is zero, to the last digit as ``scipy.optimize.brentq`` finds it.

Importing ``scipy.optimize`` takes longer than most questions.
"""

from collections.abc import Callable
from math import copysign

RELATIVE = 2.0**-50
MOST_STEPS = 100


def brentq(
    function: Callable[[float], float], low: float, high: float, xtol: float = 2e-12, rtol: float = RELATIVE
) -> float:
    """A zero between ``low`` and ``high``, where the function has different signs.

    Raises:
        ValueError: the signs are the same, or a value is NaN.
        RuntimeError: it takes more steps than such a function can need.

    Reference:
        R. P. Brent, Algorithms for Minimization without Derivatives, 1973, chapter 4.
    """
    before, at, other = float(low), float(high), 0.0
    f_before, f_at, f_other = float(function(before)), float(function(at)), 0.0
    if f_before == 0.0 or f_at == 0.0:
        return before if f_before == 0.0 else at
    if not (f_before < 0.0 < f_at or f_at < 0.0 < f_before):
        raise ValueError("the function has the same sign at both ends, or is NaN there")
    last_step = step = 0.0
    for _ in range(MOST_STEPS):
        if f_before != 0.0 and f_at != 0.0 and (f_before < 0.0) != (f_at < 0.0):
            other, f_other = before, f_before
            last_step = step = at - before
        if abs(f_other) < abs(f_at):  # the better end is the one to go on from
            before, at, other = at, other, at
            f_before, f_at, f_other = f_at, f_other, f_at
        near, half = (xtol + rtol * abs(at)) / 2.0, (other - at) / 2.0
        if f_at == 0.0 or abs(half) < near:
            return at
        candidate = None
        if abs(last_step) > near and abs(f_at) < abs(f_before):
            candidate = _interpolated((before, f_before), (at, f_at), (other, f_other))
        if candidate is not None and 2.0 * abs(candidate) < min(abs(last_step), 3.0 * abs(half) - near):
            last_step, step = step, candidate
        else:
            last_step = step = half
        before, f_before = at, f_at
        at += step if abs(step) > near else copysign(near, half)
        f_at = float(function(at))
        if f_at != f_at:
            raise ValueError("the function is NaN between the ends")
    raise RuntimeError(f"no zero within {MOST_STEPS} steps")


def _interpolated(before: tuple[float, float], at: tuple[float, float], other: tuple[float, float]) -> float | None:
    """The step to the zero of the line through two points, or of the inverse parabola through three."""
    (x0, f0), (x1, f1), (x2, f2) = before, at, other
    try:
        if x0 == x2:
            return -f1 * (x1 - x0) / (f1 - f0)
        slope, slope_other = (f0 - f1) / (x0 - x1), (f2 - f1) / (x2 - x1)
        return -f1 * (f2 * slope_other - f0 * slope) / (slope_other * slope * (f2 - f0))
    except ZeroDivisionError:
        return None
