"""The noise that keeps attacks within eta of guessing, from fits made elsewhere; and what a finite algorithm leaks."""

from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from estimators.theory import mip
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.encode import finite
from macekit.operations.options import origin, parse_question, reply_of
from macekit.problems import fault
from macekit.questions.theory.bounds import bounds
from macekit.questions.theory.mip import (
    CalibrationAnswer,
    MipAnswer,
    MipFiniteAnswer,
    MipFiniteQuestion,
    MipQuestion,
)


def answer_mip(call: Call, body: DecodedBody) -> Reply:
    """Every calibration side by side, and the noise by the certificate that covers most."""
    q = parse_question(MipQuestion, body)
    draws, before, after, record = (
        cast("ArrayLike", body.arrays.get(name)) for name in ("draws", "before", "after", "record")
    )
    fits = mip.Fits.of(draws, before, after, record)
    result = mip.assess(
        fits,
        q.eta,
        shape="gaussian" if q.noise == "gaussian" else f"{q.noise}_{q.norm}",
        spread=q.spread,
        moment=q.moment,
        confidence=q.confidence,
        records=q.records,
    )
    response: MipAnswer = {
        "sentence": result.sentence,
        "eta": result.eta,
        "baseline": result.baseline,
        "method": result.method,
        "certified": True,
        "confidence": result.confidence,
        "guarantee": encode.guarantee(result.guarantee),
        "noise": {
            "kind": q.noise,
            "norm": q.norm if q.noise == "laplace" else "euclid",
            "scale": finite(result.scale),
            "dimension": result.noise.dimension,
            "spread": result.spread.tolist(),
            "deviation": None if result.deviation is None else result.deviation.tolist(),
            "grid": None if result.grid is None else result.grid.tolist(),
        },
        "draws": 0 if fits.draws is None else len(fits.draws),
        "swaps": 0 if fits.before is None else len(fits.before),
        "records": result.records,
        "calibrations": [_calibration(each) for each in result.calibrations],
        "bounds": bounds(result.bounds),
        "curve": {
            "eta": list(result.etas),
            "scale": {name: [finite(scale) for scale in scales] for name, scales in result.curve.items()},
        },
        "warnings": encode.warnings(result.cautions),
        "provenance": origin(call, q, body),
    }
    return reply_of(call, response)


def answer_mip_finite(call: Call, body: DecodedBody) -> Reply:
    """What the best attack attains on every record, exactly, beside its bound by swaps."""
    q = parse_question(MipFiniteQuestion, body)
    laws = body.arrays.get("laws")
    if laws is None:
        raise fault("missing-field", "laws", "is required and missing")
    result = mip.finite_eta(cast("ArrayLike", laws), q.n, q.k)
    response: MipFiniteAnswer = {
        "sentence": result.sentence,
        "eta": result.eta,
        "baseline": result.baseline,
        "accuracy": result.accuracy,
        "worst_record": result.worst,
        "subsets": result.subsets,
        "outcomes": result.outcomes,
        "records": {
            "record": list(range(result.records)),
            "eta": result.per_record.tolist(),
            "coupling": result.coupling.tolist(),
            "says_in": [np.flatnonzero(row).tolist() for row in result.says_in],
        },
        "bounds": bounds(result.bounds),
        "warnings": encode.warnings(result.cautions),
        "provenance": origin(call, q, body),
    }
    return reply_of(call, response)


def _calibration(result: mip.Calibration) -> CalibrationAnswer:
    return {
        "name": result.name,
        "noise": result.noise,
        "scale": finite(result.scale),
        "deviation": finite(result.deviation),
        "certified": result.certified,
        "source": result.source,
        "assumes": result.assumes,
    }
