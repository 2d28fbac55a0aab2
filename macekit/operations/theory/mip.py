"""The noise that keeps attacks within eta of guessing, from fits made elsewhere; and what a finite algorithm leaks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import inf, isfinite
from typing import cast

from numpy.typing import ArrayLike

from estimators.errors import OutOfRange
from estimators.statement import Caution, Guarantee, at_most, figures_up, percent
from estimators.theory import mip
from estimators.theory.bounds import Bound, side_by_side
from estimators.theory.mip.calibrate import CERTIFICATES, Calibration, Calibrator, Fits, bounds_of
from estimators.theory.mip.noises import Floats
from estimators.theory.mip.release import grid_of
from macekit.call import Call, Reply
from macekit.decoding.body import Material
from macekit.operations import encode
from macekit.operations.encode import bounds, finite
from macekit.operations.options import origin, question_of, reply_of
from macekit.problems import Problem
from macekit.schemas.theory.mip import (
    ARRAYS,
    CalibrationAnswer,
    MipAnswer,
    MipFiniteAnswer,
    MipFiniteQuestion,
    MipQuestion,
)

ETAS = (0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)
"""Where the curve is drawn; the eta asked for is put among them."""

COVERS = "accuracy of any attack on any record{}, over the random half and the noise"
EVEN = "an even number of records (of an odd n guessing has (n+1)/(2n), and eta is above that)"
NOTHING = 1e-12
"""An eta below is what rounding leaves of 0."""


def noise(call: Call, material: Material) -> Reply:
    """Every calibration side by side, and the noise by the certificate that covers most."""
    q = question_of(MipQuestion, material)
    draws, before, after, record = (
        cast("ArrayLike", material.arrays.get(name)) for name in ARRAYS["theory/mip"]
    )
    fits = Fits.of(draws, before, after, record)
    asked = Calibrator.of(fits, q.spread, q.moment, q.confidence)
    chosen = _shapes(q.moment)[_label(q)](asked.spread)
    certificates = asked.certificates(chosen)
    if not certificates:
        raise Problem("too-few-records", "draws: too few to certify anything; need at least 4", field="draws")
    method = _method(q, certificates)
    sizes = certificates[method]
    found = tuple(
        each
        for label, shape in _shapes(q.moment).items()
        if label in (_label(q), *USUAL)
        for each in asked.calibrations(label, shape(asked.spread), q.eta)
    )
    scale = next(each.scale for each in found if each.name == method and each.noise == _label(q))
    records = sizes.groups if method == "swaps" else None
    covers = COVERS.format(" that was swapped" if method == "swaps" else "")
    assumes = CERTIFICATES[method][1] + (f"; {EVEN}" if q.records is None else "")
    cautions = [
        *_coverage(q, certificates, method),
        *_too_few(q, sizes, isfinite(scale)),
        *([ROUND] if 0.0 < scale < inf else []),
    ]
    etas = sorted({*ETAS, q.eta})
    answered: MipAnswer = {
        "sentence": _sentence(q, scale, method, sizes, bool((asked.spread != 1.0).any())),
        "eta": q.eta,
        "baseline": _baseline(q),
        "method": method,
        "certified": True,
        "confidence": q.confidence,
        "guarantee": encode.guarantee(Guarantee(covers, assumes, True)),
        "noise": {
            "kind": q.noise,
            "norm": q.norm if q.noise == "laplace" else "euclid",
            "scale": finite(scale),
            "dimension": chosen.dimension,
            "spread": asked.spread.tolist(),
            "deviation": chosen.deviation(scale).tolist() if isfinite(scale) else None,
            "grid": grid_of(chosen, scale).tolist() if isfinite(scale) else None,
        },
        "draws": 0 if fits.draws is None else len(fits.draws),
        "swaps": 0 if fits.before is None else len(fits.before),
        "records": records,
        "calibrations": [_calibration(each) for each in found],
        "bounds": bounds(bounds_of(found, (method, _label(q)))),
        "curve": {
            "eta": etas,
            "scale": {name: [finite(at(eta)) for eta in etas] for name, at in asked.scales(chosen).items()},
        },
        "warnings": encode.warnings(cautions),
        "provenance": origin(call, q, material.arrays),
    }
    return reply_of(call, answered)


def of_laws(call: Call, material: Material) -> Reply:
    """What the best attack attains on every record, exactly, beside its bound by swaps."""
    q = question_of(MipFiniteQuestion, material)
    laws = material.arrays.get("laws")
    if laws is None:
        raise Problem("missing-field", "laws: is needed and not there", field="laws")
    found = mip.finite_eta(cast("ArrayLike", laws), q.n, q.k)
    accuracy = found.baseline + found.eta
    exact = Bound("eta", "exact", "the sum of Proposition 2", found.eta, "MIP, Proposition 2")
    swaps = Bound("eta", "swaps", "E over swaps of what telling two laws gains", found.bound, "this project")
    answered: MipFiniteAnswer = {
        "sentence": _exactly(found),
        "eta": found.eta,
        "baseline": found.baseline,
        "accuracy": accuracy,
        "worst_record": found.worst,
        "subsets": found.subsets,
        "outcomes": found.outcomes,
        "records": {
            "record": list(range(found.records)),
            "eta": found.per_record.tolist(),
            "coupling": found.coupling.tolist(),
        },
        "bounds": bounds(side_by_side((exact, swaps))),
        "warnings": [],
        "provenance": origin(call, q, material.arrays),
    }
    return reply_of(call, answered)


USUAL = ("gaussian", "laplace_moment")
"""Noises shown beside the one asked for."""


def _shapes(moment: float) -> dict[str, Callable[[Floats], mip.Noise]]:
    return {
        "gaussian": mip.Gaussian,
        "laplace_moment": partial(mip.moment_laplace, order=moment),
        "laplace_euclid": mip.euclid_laplace,
        "laplace_max": mip.max_laplace,
        "laplace_one": mip.one_laplace,
    }


def _label(q: MipQuestion) -> str:
    return q.noise if q.noise == "gaussian" else f"{q.noise}_{q.norm}"


ROUND = Caution(
    "round_to_grid",
    "what is certified is noise of real numbers: round the parameters, with the noise in them, to multiples of "
    "noise.grid, or the last digits of floating point tell more than eta",
)


def _baseline(q: MipQuestion) -> float:
    """What guessing has: of an odd number of records more than half are out."""
    return 0.5 if q.records is None else (q.records - q.records // 2) / q.records


def _method(q: MipQuestion, certificates: Mapping[str, mip.Sizes]) -> str:
    """Swaps, if they are of all records or draws are too few to cover them all: what the rows hold decides nothing."""
    if len(certificates) == 1:
        return next(iter(certificates))
    every = certificates["swaps"].groups == q.records
    draws = certificates["draws"]
    return "swaps" if every or draws.fewest < draws.needed(q.eta, q.confidence) else "draws"


def _coverage(q: MipQuestion, certificates: Mapping[str, mip.Sizes], method: str) -> list[Caution]:
    """Which records the certificate is about."""
    if "swaps" not in certificates:
        return []
    swapped = certificates["swaps"].groups
    if q.records is not None and q.records < swapped:
        raise OutOfRange(f"records: got {q.records}, and {swapped} were swapped", field="records")
    if method == "draws":
        return [
            Caution(
                "swaps_not_used",
                f"swaps cover {swapped} records, draws all: the noise is from draws; give records if all were swapped",
            )
        ]
    if q.records is None:
        return [
            Caution(
                "swapped_records_only",
                f"{swapped} records were swapped, and nothing is said of any other; give records, how many there are",
            )
        ]
    missing = q.records - swapped
    text = f"{missing} records were never swapped: nothing is said of them"
    return [Caution("records_without_swaps", text)] if missing else []


def _too_few(q: MipQuestion, sizes: mip.Sizes, enough: bool) -> list[Caution]:
    """Why there is no scale, or more than there need be."""
    needed = sizes.needed(q.eta, q.confidence)
    if not enough and sizes.fewest >= needed:
        return [
            Caution(
                "still_coordinate",
                "a parameter without spread moved under swaps; give a spread, or more draws",
            )
        ]
    if sizes.fewest < 4 * needed:
        return [
            Caution(
                "few_pairs",
                f"{sizes.fewest} pairs, where {needed} are the least that certify anything: more mean less noise",
            )
        ]
    return []


def _sentence(q: MipQuestion, scale: float, method: str, sizes: mip.Sizes, shaped: bool) -> str:
    kind = "Gaussian" if q.noise == "gaussian" else "Laplace"
    top = at_most(_baseline(q) + q.eta, within=1.0)
    guessing = f"where guessing has {_baseline(q):.3g}"
    if isfinite(scale):
        whom = f"each of the {sizes.groups} records swapped" if method == "swaps" else "every record"
        unit = " times the spread" if shaped and _label(q) in USUAL else ""
        return (
            f"{kind} noise of scale {figures_up(scale)}{unit} keeps every attack on {whom} at an accuracy of at most "
            f"{top}, {guessing} ({percent(q.confidence)} confidence)."
        )
    return (
        f"No scale of noise is certified to keep attacks at an accuracy of at most {top}, {guessing}: "
        f"there are {sizes.fewest} pairs for some record, and it takes at least "
        f"{sizes.needed(q.eta, q.confidence)}, without any parameter that moves and has no spread."
    )


def _exactly(found: mip.FiniteEta) -> str:
    if found.eta < NOTHING:
        return f"No attack beats guessing, which is right with probability {found.baseline:.6g}: eta is 0, to rounding."
    return (
        f"The best attack on record {found.worst} is right with probability {found.baseline + found.eta:.6g}, where "
        f"guessing alone is with {found.baseline:.6g}: eta is {found.eta:.6g}, exact to the digits shown."
    )


def _calibration(found: Calibration) -> CalibrationAnswer:
    return {
        "name": found.name,
        "noise": found.noise,
        "scale": finite(found.scale),
        "deviation": finite(found.deviation),
        "certified": found.certified,
        "source": found.source,
        "assumes": found.assumes,
    }


OPERATIONS: dict[str, Callable[[Call, Material], Reply]] = {
    "theory/mip": noise,
    "theory/mip-finite": of_laws,
}
