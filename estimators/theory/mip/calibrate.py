"""From fits somebody else made to the noise they need: every calibration side by side; the data are not needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.arrays import Floats
from estimators.errors import OutOfRange, TooFewRecords
from estimators.python.dataclass import dataclass, replace
from estimators.theory.bounds import Bound, rows_of, side_by_side
from estimators.theory.mip.noises import KNorm, Noise, spread_of
from estimators.theory.mip.scales import Formula, Sizes, formulas, moment_of, spread_of_draws

CERTIFIED = "noise of a coordinate, certified"
ALSO = "noise of a coordinate, certified had it been asked for"
ESTIMATED = "noise of a coordinate, moment estimated"
BEFOREHAND = (
    "the noise, the method and the number of fits were chosen before looking at the fits; choosing the "
    "smallest of several afterwards is not covered"
)
OF_SWAPS = (
    "each pair: a random half with the record, which is swapped for a random one from outside; independent pairs; "
    "draws that set the spread are independent of the pairs"
)
OF_DRAWS = "draws are independent fits to random halves"
CERTIFICATES = {
    "swaps": ("eta <= E TV/2 over swaps", f"{OF_SWAPS}; {BEFOREHAND}"),
    "draws": ("eta <= E TV over independent draws", f"{OF_DRAWS}; {BEFOREHAND}"),
}
OF_MOMENTS = "the estimate that was used is at least the moment of the fits to random halves"


@dataclass(frozen=True, slots=True, eq=False)
class Fits:
    """Parameters of fits: independent draws, or pairs before and after a swap of ``record``, or both."""

    draws: Floats | None
    before: Floats | None
    after: Floats | None
    record: NDArray[np.generic] | None

    @classmethod
    def of(
        cls,
        draws: ArrayLike | None = None,
        before: ArrayLike | None = None,
        after: ArrayLike | None = None,
        record: ArrayLike | None = None,
    ) -> Fits:
        """Parameters of fits that were made elsewhere, checked: draws, or pairs before and after a swap, or both.

        Args:
            draws: Parameters fitted to random halves of the data, one fit a row.
            before: Parameters fitted to a random training set with a record in it, one swap a row.
            after: Parameters after that record was swapped for a random one from outside, row by row.
            record: Which record was swapped: a label for each row.

        Raises:
            MaceError: neither draws nor pairs, pairs that are not complete, or rows that are no numbers.

        Example:
            >>> import numpy as np
            >>> from estimators.theory import mip
            >>> rng = np.random.default_rng(0)
            >>> mip.Fits.of(draws=rng.normal(size=(100, 3))).dimension
            3
        """
        pair = (before, after, record)
        if any(each is None for each in pair) and any(each is not None for each in pair):
            raise TooFewRecords("before, after and record: need all three, or none", field="before")
        if draws is None and before is None:
            raise TooFewRecords.about("draws", "need draws, or before, after and record")
        return cls(
            None if draws is None else rows_of("draws", draws),
            None if before is None else rows_of("before", before),
            None if after is None else rows_of("after", after),
            None if record is None else np.asarray(record),
        )

    @property
    def dimension(self) -> int:
        """Number of parameters."""
        rows = self.draws if self.before is None else self.before
        return 0 if rows is None else rows.shape[1]

    def shape(self, weights: ArrayLike | None, order: float) -> tuple[Floats, Floats | None]:
        """The spread of the coordinates, and the draws a certificate may rest on: those that did not set the spread.

        One coordinate needs none: there the spread is a unit, and the noise comes out the same in any.
        """
        if weights is not None or self.draws is None:
            spread = np.ones(self.dimension) if weights is None else spread_of(weights)
            if len(spread) != self.dimension:
                raise OutOfRange.about("spread", f"got {len(spread)} numbers for {self.dimension} parameters")
            return spread, self.draws
        if self.dimension == 1:
            return spread_of_draws(self.draws, order), self.draws
        first = max(2, len(self.draws) // 3)
        return spread_of_draws(self.draws[:first], order), self.draws[first:]

    def certificates(self, noise: Noise, fresh: Floats | None) -> dict[str, Sizes]:
        """What can be certified, by the name of the way."""
        ways = {}
        if self.before is not None and self.after is not None and self.record is not None:
            ways["swaps"] = Sizes.of_swaps(noise, self.before, self.after, self.record)
        if fresh is not None and len(fresh) > 1:
            ways["draws"] = Sizes.of_draws(noise, fresh)
        return ways


@dataclass(frozen=True, slots=True)
class Calibration:
    """One way to find the scale: ``deviation`` is of the noise of a coordinate, in units of its spread."""

    name: str
    noise: str
    says: str
    scale: float
    deviation: float
    certified: bool
    source: str
    assumes: str
    proven: bool = True

    def bound(self, choice: tuple[str, str]) -> Bound:
        """The same beside others of its kind; ``choice`` is the way and the noise that were chosen beforehand."""
        certificate = CERTIFIED if (self.name, self.noise) == choice else ALSO
        quantity = certificate if self.certified else ESTIMATED
        name = f"{self.name}_{self.noise}"
        return Bound(
            quantity, name, f"{self.noise}: {self.says}", self.deviation, self.source, self.assumes, self.proven
        )


@dataclass(frozen=True, slots=True, eq=False)
class Calibrator:
    """Fits, the shape of the noise they are given, and how sure one wants to be."""

    fits: Fits
    spread: Floats
    fresh: Floats | None
    order: float
    confidence: float

    @classmethod
    def of(
        cls, fits: Fits, spread: ArrayLike | None = None, order: float = 2.0, confidence: float = 0.95
    ) -> Calibrator:
        """With the spread given, or that of some of the draws."""
        result, fresh = fits.shape(spread, order)
        return cls(fits, result, fresh, order, confidence)

    def certificates(self, noise: Noise) -> dict[str, Sizes]:
        """What can be certified of a noise."""
        return self.fits.certificates(noise, self.fresh)

    def scales(self, noise: Noise) -> dict[str, Callable[[float], float]]:
        """From eta to a scale, by the name of the way; certified ways first."""
        ways: dict[str, Callable[[float], float]] = {
            name: partial(sizes.scale, confidence=self.confidence) for name, sizes in self.certificates(noise).items()
        }
        return ways | {each.name: each.scale for each in self._formulas(noise)}

    def calibrations(self, label: str, noise: Noise, eta: float) -> tuple[Calibration, ...]:
        """Every way for one noise, called ``label``."""
        rows = []
        for name, sizes in self.certificates(noise).items():
            scale = sizes.scale(eta, self.confidence)
            says, assumes = CERTIFICATES[name]
            size = self.relative(noise, scale)
            rows.append(Calibration(name, label, says, scale, size, True, "this project", assumes))
        for each in self._formulas(noise):
            scale = each.scale(eta)
            size = self.relative(noise, scale)
            rows.append(Calibration(each.name, label, each.says, scale, size, False, each.source, OF_MOMENTS))
            if each.name == "corollary_10" and _is_papers(noise, self.order):
                rows.append(paper_noise(rows[-1], noise.dimension))
        return tuple(rows)

    def relative(self, noise: Noise, scale: float) -> float:
        """Root mean square of the noise of a coordinate in units of its spread, over those that have one."""
        if scale == inf:
            return inf
        varies = self.spread > 0.0
        ratio = noise.deviation(scale)[varies] / self.spread[varies]
        return sqrt(float((ratio**2).mean()))

    def _formulas(self, noise: Noise) -> tuple[Formula, ...]:
        """What draws allow: their moment, put in."""
        if self.fits.draws is None:
            return ()
        sigma = moment_of(self.fits.draws, noise, self.order)
        return formulas(noise, sigma, self.order) if 0.0 < sigma < inf else ()


def _is_papers(noise: Noise, order: float) -> bool:
    """Whether its law and the printed one differ: M = 2, where the refutation is, and more than one dimension."""
    return isinstance(noise, KNorm) and noise.norm.order == order == 2.0 and noise.dimension > 1


def paper_noise(result: Calibration, dimension: int) -> Calibration:
    """Corollary 10 with its Laplace radius: less noise, and of another law, which in many dimensions hides nothing."""
    return replace(
        result,
        name="corollary_10_printed",
        says="the radius is Laplace, not Gamma: refuted in some 10^5 dimensions and more, unproven from 2 on",
        deviation=result.deviation * sqrt(2.0 / (dimension * (dimension + 1.0))),
        source="MIP, Corollary 10 as printed",
        proven=False,
    )


def bounds_of(calibrations: tuple[Calibration, ...], choice: tuple[str, str]) -> tuple[Bound, ...]:
    """Side by side: the noise that is certified, and the least there would be if the estimate were the truth.

    Each certificate misses with its own small probability, and the least of several misses more often. So of these the
    one of ``choice`` (way, noise) alone is marked; the others stand beside it to be asked for next time.
    """
    result = side_by_side(each.bound(choice) for each in calibrations)
    return tuple(replace(each, tightest=each.tightest and each.quantity != ALSO) for each in result)
