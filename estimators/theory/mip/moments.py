"""Central moments of the parameters over random halves, estimated: plug-in values, which no sample makes upper bounds.

Nothing bounded is known of a fit in general, and so no number of draws can bound its moments: a half with
probability 1/B^2 may send it anywhere, and move the moment by as much as it likes. What draws can certify is total
variation, which is bounded (``certificate``).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from estimators.errors import OutOfRange, TooFewRecords, require_number
from estimators.theory.mip.noises import Noise

Floats = NDArray[np.float64]


def spread_of_draws(draws: Floats, order: float = 2.0) -> Floats:
    """(mean |theta_i - mean|^M)^(1/M) of every coordinate, as in Algorithm 1, which forgets the bars around it."""
    order = require_order(order)
    if len(draws) < 2:
        raise TooFewRecords(f"draws: got {len(draws)}, need at least 2", field="draws")
    centred = np.abs(draws - draws.mean(axis=0))
    top = centred.max(axis=0)
    unit = np.where(top > 0.0, top, 1.0)
    found = unit * ((centred / unit) ** order).mean(axis=0) ** (1.0 / order)
    if not found.any():
        raise OutOfRange(
            "draws: all are the same, so there is nothing to hide and nothing to measure noise by",
            field="draws",
        )
    return np.asarray(found)


def moment_of(draws: Floats, noise: Noise, order: float = 2.0) -> float:
    """(mean size(theta - mean)^M)^(1/M) in the norm of a noise: an estimate of sigma."""
    sizes = noise.size(draws - draws.mean(axis=0))
    top = float(sizes.max())
    return top * float(((sizes / top) ** require_order(order)).mean()) ** (1.0 / order) if top > 0.0 else 0.0


def require_order(order: float) -> float:
    """Return ``order`` if it is at least 1 and finite."""
    number = require_number("moment", order)
    if not 1.0 <= number < float("inf"):
        raise OutOfRange(f"moment: got {number!r}, need a finite number of at least 1", field="moment")
    return number
