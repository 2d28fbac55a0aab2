"""Section 4 of the PMP paper: an exponential mechanism picks one of m unit vectors, near the geometric median of D.

l(w, D) is the mean distance of w to D's n points; X holds 2n points, N(w_1, sigma^2), some of them times 100, and none
longer than C. The paper leaves open, and here it is taken as follows:

* Delta_l = (C + 1)/n, the supremum of Definition 7: |w - x| goes from 0 to C + 1.
* eps(X) "as in Definition 1", for subsets of X: two readings. **sensitivity**, eps(X) = eps Delta(X)/Delta_l with
  Delta(X) the supremum over X: only so are the numbers found that the paper states for Figure 2. **exact**, the
  largest |ln ratio| between neighbours, which is what the definition says.
* T = 100 draws of W and X for each value (3 with --quick), the same random numbers along the axis; on the line, where
  W holds -1 and 1 only, a draw with but one of them is drawn again.
* The ranges of the axes; and C = 10 in Figure 3, whose caption gives none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from estimators.theory.pmp.exponential import Summed
from examples.theory.pmp.sweep import Sweep

Floats = NDArray[np.float64]
OUTLIER = 100.0
DRAWS, FEW = 100, 3


@dataclass(frozen=True)
class Setting:
    """What a caption fixes; ``target`` is eps(X)."""

    dimension: int
    sigma: float
    clip: float
    vectors: int
    target: float
    outliers: int = 0
    half: int = 6

    @property
    def sensitivity(self) -> float:
        """Delta_l: over all data of norm at most C."""
        return (self.clip + 1.0) / self.half


def losses(setting: Setting, seed: int) -> Floats:
    """One W and one X, as the distance of every point to every vector: 2n x m."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(setting.vectors, setting.dimension))
    while setting.dimension == 1 and abs(np.sign(vectors).sum()) == len(vectors):
        vectors = rng.normal(size=vectors.shape)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    points = vectors[0] + setting.sigma * rng.normal(size=(2 * setting.half, setting.dimension))
    points[rng.choice(len(points), setting.outliers, replace=False)] *= OUTLIER
    points *= np.minimum(1.0, setting.clip / np.linalg.norm(points, axis=1))[:, np.newaxis]
    return np.asarray(np.linalg.norm(points[:, np.newaxis] - vectors, axis=2))


@dataclass(frozen=True)
class Epsilons:
    """Of one mechanism on one X: DP's, DP's on subsets of X as the reading has it, and the practical one."""

    dp: float
    on_points: float
    practical: float


def by_sensitivity(setting: Setting, distances: Floats) -> Epsilons:
    """The mechanism with eps Delta(X)/Delta_l = eps(X)."""
    on_points = float(np.ptp(distances, axis=0).max()) / setting.half
    dp = setting.target * setting.sensitivity / on_points
    return Epsilons(dp, setting.target, Summed.mean(distances, setting.sensitivity).exact(dp).epsilon)


def exactly(setting: Setting, distances: Floats) -> Epsilons:
    """The mechanism whose neighbours within X differ by eps(X) and no less."""
    mechanism = Summed.mean(distances, setting.sensitivity)

    def excess(log_epsilon: float) -> float:
        return mechanism.on_records(float(np.exp(log_epsilon))) - setting.target

    # the loss between two neighbours is at most eps, and eps(X) falls short of it by as much as X is easier
    least = np.log(setting.target)
    dp = float(np.exp(brentq(excess, least - 1e-9, least + 20.0, xtol=1e-9)))
    return Epsilons(dp, setting.target, mechanism.exact(dp).epsilon)


def mean_ratios(setting: Setting, draws: int) -> dict[str, float]:
    """The four ratios, each the mean over as many draws."""
    samples = [losses(setting, seed) for seed in range(draws)]
    ratios = {}
    for reading, mechanism in (("sensitivity", by_sensitivity), ("exact", exactly)):
        each = [mechanism(setting, distances) for distances in samples]
        ratios[f"eps~/eps, {reading}"] = float(np.mean([e.practical / e.dp for e in each]))
        ratios[f"eps~/eps(X), {reading}"] = float(np.mean([e.practical / e.on_points for e in each]))
    return ratios


def sweep(title: str, axis: str, field: str, at: tuple[float, ...], setting: Setting, *, quick: bool) -> Sweep:
    """The ratios along one field of the setting."""
    values = at[:: max(1, len(at) // 3)] if quick else at
    means = [mean_ratios(replace(setting, **{field: value}), FEW if quick else DRAWS) for value in values]
    series = {name: tuple(each[name] for each in means) for name in means[0]}
    solid = {name: ratios for name, ratios in series.items() if name.endswith("sensitivity")}
    dashed = {name: ratios for name, ratios in series.items() if name not in solid}
    return Sweep(title, axis, values, solid, dashed, log_x=True)
