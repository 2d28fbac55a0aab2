"""How the paper reads a continuous score: in equal slices of its range, or through kernel densities."""

from dataclasses import dataclass

from estimators.density.bandwidth import Bandwidth, Scott


@dataclass(frozen=True, slots=True)
class EqualWidth:
    """Read a continuous score as discrete: ``bins`` equal slices of each axis (MACE section 6.1).

    Args:
        bins: Slices of each axis between the smallest and the largest score, at least 1.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores
        >>> from estimators.paper import EqualWidth, algorithm_1
        >>> rng = np.random.default_rng(0)
        >>> scores = Scores.of(rng.normal(1, 1, 2000), rng.normal(0, 1, 2000))
        >>> algorithm_1(scores, prior=0.5, reading=EqualWidth(bins=20)).statistic
        'W_N'
    """

    bins: int = 100


@dataclass(frozen=True, slots=True)
class Kernel:
    """Read a continuous score through kernel densities.

    Args:
        bandwidth: How wide the kernels are: ``Scott()``, ``Silverman()``, ``ImprovedSheatherJones()``,
            ``LeastSquaresCV()`` or ``Fixed(width)`` from ``estimators.density.bandwidth``.
        seed: Whole number from which everything random is drawn; the same seed gives the same answer. Used beyond two
            axes, where the densities are compared at random points.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores
        >>> from estimators.density.bandwidth import Fixed
        >>> from estimators.paper import Kernel, algorithm_1
        >>> rng = np.random.default_rng(0)
        >>> scores = Scores.of(rng.normal(1, 1, 2000), rng.normal(0, 1, 2000))
        >>> algorithm_1(scores, prior=0.5, reading=Kernel(Fixed(0.3))).statistic
        'U_N'
    """

    bandwidth: Bandwidth = Scott()
    seed: int = 0
