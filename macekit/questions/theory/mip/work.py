"""The noise that keeps attacks within eta of guessing, from fits made elsewhere; and what a finite algorithm leaks."""

from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from estimators.theory import mip
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.encode import as_answer, finite
from macekit.operations.options import parse_question
from macekit.problems import fault
from macekit.questions.theory import mip as room
from macekit.questions.theory.reply import reply


def answer_mip(call: Call, body: DecodedBody) -> Reply:
    """Every calibration side by side, and the noise by the certificate that covers most."""
    q = parse_question(room.MipQuestion, body)
    draws, before, after, record = (
        cast("ArrayLike", body.arrays.get(name)) for name in ("draws", "before", "after", "record")
    )
    fits = mip.Fits.of(draws, before, after, record)
    result = mip.assess(
        fits,
        shape="gaussian" if q.noise == "gaussian" else f"{q.noise}_{q.norm}",
        **q.model_dump(include={"eta", "spread", "moment", "confidence", "records"}),
    )
    noise = as_answer(
        room.NoiseAnswer,
        result,
        kind=q.noise,
        norm=q.norm if q.noise == "laplace" else "euclid",
        scale=finite(result.scale),
        dimension=result.noise.dimension,
    )
    fields = {
        "certified": True,
        "guarantee": encode.guarantee(result.guarantee),
        "noise": noise,
        "draws": 0 if fits.draws is None else len(fits.draws),
        "swaps": 0 if fits.before is None else len(fits.before),
        "calibrations": [
            as_answer(room.CalibrationAnswer, each, scale=finite(each.scale), deviation=finite(each.deviation))
            for each in result.calibrations
        ],
        "curve": {
            "eta": result.etas,
            "scale": {name: [finite(scale) for scale in scales] for name, scales in result.curve.items()},
        },
    }
    return reply(call, q, body, room.MipAnswer, result, **fields)


def answer_mip_finite(call: Call, body: DecodedBody) -> Reply:
    """What the best attack attains on every record, exactly, beside its bound by swaps."""
    q = parse_question(room.MipFiniteQuestion, body)
    laws = body.arrays.get("laws")
    if laws is None:
        raise fault("missing-field", "laws", "is required and missing")
    result = mip.finite_eta(cast("ArrayLike", laws), q.n, q.k)
    records = {
        "record": list(range(result.records)),
        "eta": result.per_record,
        "coupling": result.coupling,
        "says_in": [np.flatnonzero(row) for row in result.says_in],
    }
    return reply(call, q, body, room.MipFiniteAnswer, result, worst_record=result.worst, records=records)
