"""How much noise fits call for, in one statement: the scale, what certifies it, and every other way beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import inf, isfinite

from numpy.typing import ArrayLike

from estimators.arrays import Floats
from estimators.errors import OutOfRange, TooFewRecords, UnknownName
from estimators.python.dataclass import dataclass
from estimators.statement import Caution, Guarantee, at_most, figures_up, percent
from estimators.theory.bounds import Bound
from estimators.theory.mip.calibrate import CERTIFICATES, Calibration, Calibrator, Fits, bounds_of
from estimators.theory.mip.noises import Gaussian, Noise
from estimators.theory.mip.privatize import euclid_laplace, grid_of, max_laplace, moment_laplace, one_laplace
from estimators.theory.mip.scales import Sizes

ETAS = (0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)
"""Where the curve is drawn; the eta of the statement is put among them."""

USUAL = ("gaussian", "laplace_moment")
"""Noises that are always calibrated, beside the one wanted; their scale is in units of the spread."""

COVERS = "accuracy of any attack on any record{}, over the random half and the noise"
EVEN = "an even number of records (of an odd n guessing has (n+1)/(2n), and eta is above that)"
ROUND = Caution(
    "round_to_grid",
    "the certificate is for noise of real numbers. Round the noisy parameters to multiples of noise.grid; "
    "otherwise the last digits of floating point can reveal more than eta allows",
)


@dataclass(frozen=True, slots=True, eq=False)
class MipStatement:
    """Noise of ``scale`` keeps every attack within ``eta`` of guessing; ``mip.assess`` makes it.

    Attributes:
        sentence: The result in plain words.
        cautions: What to know before using the numbers.
        eta: Accuracy that any attack may have above guessing.
        baseline: Accuracy of guessing.
        method: What the certificate rests on: ``swaps`` or ``draws``.
        confidence: Probability that the certificate holds.
        guarantee: What the certificate covers and what it assumes.
        noise: The noise that is added, without its scale.
        scale: The scale of the noise; infinite if none is certified.
        spread: The spread of each coordinate, in which the noise is measured.
        records: Number of records that the certificate covers; None if it covers all.
        calibrations: The scale by every method for this noise and the usual ones, certified or not.
        bounds: The same side by side, as the noise of a coordinate over its spread.
        etas: Etas at which ``curve`` has scales.
        curve: The scale of every method at each of ``etas``.
    """

    sentence: str
    cautions: tuple[Caution, ...]
    eta: float
    baseline: float
    method: str
    confidence: float
    guarantee: Guarantee
    noise: Noise
    scale: float
    spread: Floats
    records: int | None
    calibrations: tuple[Calibration, ...]
    bounds: tuple[Bound, ...]
    etas: tuple[float, ...]
    curve: Mapping[str, tuple[float, ...]]

    @property
    def deviation(self) -> Floats | None:
        """Root mean square of the noise of every coordinate."""
        return self.noise.deviation(self.scale) if isfinite(self.scale) else None

    @property
    def grid(self) -> Floats | None:
        """What every coordinate is to be rounded to multiples of."""
        return grid_of(self.noise, self.scale) if isfinite(self.scale) else None


def shapes(moment: float = 2.0) -> dict[str, Callable[[Floats], Noise]]:
    """Noises by name, from the spread of the coordinates."""
    return {
        "gaussian": Gaussian,
        "laplace_moment": partial(moment_laplace, order=moment),
        "laplace_euclid": euclid_laplace,
        "laplace_max": max_laplace,
        "laplace_one": one_laplace,
    }


def assess(
    fits: Fits,
    eta: float = 0.1,
    *,
    shape: str = "gaussian",
    spread: ArrayLike | None = None,
    moment: float = 2.0,
    confidence: float = 0.95,
    records: int | None = None,
) -> MipStatement:
    """The noise that fits call for, by the certificate that covers most, and every other method beside it.

    Args:
        fits: ``Fits.of`` draws, or pairs before and after a swap, or both.
        eta: Accuracy that any attack may have above guessing, above 0 and below 0.5.
        shape: The noise: ``gaussian``, ``laplace_moment`` (the paper's), ``laplace_euclid``, ``laplace_max`` or
            ``laplace_one``.
        spread: Relative noise of the coordinates, chosen beforehand. None: the spread of the draws, or equal noise if
            there are no draws.
        moment: Order of the moment that stands for the spread, at least 1.
        confidence: Probability that the certificate holds, strictly between 0 and 1.
        records: Number of records in the data set, which says whether all of them were swapped. None: an even number,
            and swaps cover only the records in ``record``.

    Raises:
        MaceError: a number out of its range, an unknown noise, or too few fits.

    Example:
        >>> import numpy as np
        >>> from estimators.theory import mip
        >>> rng = np.random.default_rng(0)
        >>> before = rng.normal(size=(400, 2))
        >>> after = before + 0.01 * rng.normal(size=(400, 2))
        >>> fits = mip.Fits.of(before=before, after=after, record=np.arange(400) % 4)
        >>> print(mip.assess(fits, eta=0.2, records=4).sentence)
        Gaussian noise of scale 0.01345 keeps every attack on each of the 4 records swapped at an accuracy of at
        most 0.700, where guessing has 0.5 (95% confidence).
    """
    options = shapes(moment)
    if shape not in options:
        raise UnknownName.among("noise", shape, options)
    calibrator = Calibrator.of(fits, spread, moment, confidence)
    noise = options[shape](calibrator.spread)
    certificates = calibrator.certificates(noise)
    if not certificates:
        raise TooFewRecords.about("draws", "too few to certify anything; need at least 4")
    choice = _Choice.of(certificates, eta, confidence, records)
    calibrations = tuple(
        each
        for label, make in options.items()
        if label in (shape, *USUAL)
        for each in calibrator.calibrations(label, make(calibrator.spread), eta)
    )
    scale = next(each.scale for each in calibrations if (each.name, each.noise) == (choice.method, shape))
    cautions = (*choice.coverage(), *choice.sample_size(isfinite(scale)), *([ROUND] if 0.0 < scale < inf else []))
    etas = tuple(sorted({*ETAS, eta}))
    return MipStatement(
        choice.sentence(shape, scale, in_spreads=shape in USUAL and bool((calibrator.spread != 1.0).any())),
        cautions,
        eta,
        choice.baseline,
        choice.method,
        confidence,
        choice.guarantee,
        noise,
        scale,
        calibrator.spread,
        choice.sizes.groups if choice.method == "swaps" else None,
        calibrations,
        bounds_of(calibrations, (choice.method, shape)),
        etas,
        {name: tuple(at(each) for each in etas) for name, at in calibrator.scales(noise).items()},
    )


@dataclass(frozen=True, slots=True)
class _Choice:
    """The certificate a statement rests on, among those there are."""

    method: str
    certificates: Mapping[str, Sizes]
    eta: float
    confidence: float
    records: int | None

    @classmethod
    def of(cls, certificates: Mapping[str, Sizes], eta: float, confidence: float, records: int | None) -> _Choice:
        """Swaps, if they are of all records or draws are too few to cover them all: what rows hold decides nothing."""
        method = next(iter(certificates))
        if len(certificates) > 1:
            every, draws = certificates["swaps"].groups == records, certificates["draws"]
            method = "swaps" if every or draws.fewest < draws.least_pairs(eta, confidence) else "draws"
        return cls(method, certificates, eta, confidence, records)

    @property
    def sizes(self) -> Sizes:
        """The sample of the certificate."""
        return self.certificates[self.method]

    @property
    def baseline(self) -> float:
        """What guessing has: of an odd number of records more than half are out."""
        return 0.5 if self.records is None else (self.records - self.records // 2) / self.records

    @property
    def guarantee(self) -> Guarantee:
        """What is certified, and what that takes for granted."""
        covers = COVERS.format(" that was swapped" if self.method == "swaps" else "")
        assumes = CERTIFICATES[self.method][1] + (f"; {EVEN}" if self.records is None else "")
        return Guarantee(covers, assumes, True)

    def coverage(self) -> list[Caution]:
        """Which records the certificate is about."""
        if "swaps" not in self.certificates:
            return []
        swapped = self.certificates["swaps"].groups
        if self.records is not None and self.records < swapped:
            raise OutOfRange.about("records", f"got {self.records}, and {swapped} were swapped")
        if self.method == "draws":
            return [
                Caution(
                    "swaps_not_used",
                    f"swaps cover {swapped} records and draws cover all, so the noise is computed from "
                    "draws; give records if all were swapped",
                )
            ]
        if self.records is None:
            return [
                Caution(
                    "swapped_records_only",
                    f"the certificate covers only the {swapped} records that were swapped; give records, "
                    "the number of records in the data",
                )
            ]
        missing = self.records - swapped
        text = f"{missing} records were never swapped, so the certificate does not cover them"
        return [Caution("records_without_swaps", text)] if missing else []

    def sample_size(self, enough: bool) -> list[Caution]:
        """Why there is no scale, or more than there need be."""
        fewest, least = self.sizes.fewest, self.sizes.least_pairs(self.eta, self.confidence)
        if not enough and fewest >= least:
            return [
                Caution(
                    "still_coordinate",
                    "a parameter without spread changes from fit to fit; give a spread, or more draws",
                )
            ]
        if fewest < 4 * least:
            return [
                Caution(
                    "few_pairs", f"{fewest} pairs, and a certificate needs at least {least}; more pairs mean less noise"
                )
            ]
        return []

    def sentence(self, shape: str, scale: float, in_spreads: bool) -> str:
        """The noise, what it keeps attacks to, and what guessing has."""
        top = at_most(self.baseline + self.eta, within=1.0)
        guessing = f"where guessing has {self.baseline:.3g}"
        if isfinite(scale):
            kind = "Gaussian" if shape == "gaussian" else "Laplace"
            whom = f"each of the {self.sizes.groups} records swapped" if self.method == "swaps" else "every record"
            unit = " times the spread" if in_spreads else ""
            return (
                f"{kind} noise of scale {figures_up(scale)}{unit} keeps every attack on {whom} at an accuracy of at "
                f"most {top}, {guessing} ({percent(self.confidence)} confidence)."
            )
        fewest, least = self.sizes.fewest, self.sizes.least_pairs(self.eta, self.confidence)
        some = "some record has" if self.method == "swaps" else "there are"
        why = (
            f"{some} only {fewest} pairs, and at least {least} are needed"
            if fewest < least
            else "a parameter without spread changes from fit to fit"
        )
        return f"No scale of noise is certified to keep attacks at an accuracy of at most {top}, {guessing}: {why}."
