"""``/v1/shadows``: signals of a model and of its shadows to LiRA, RMIA, calibrated loss, and to a verdict."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from estimators.arrays import Booleans
from estimators.audits.model import left_out_of_shadows, shadow_scores
from estimators.audits.queries import SHADOWS
from estimators.audits.queries.shadows import quantile_regression, records_with_shadows
from estimators.statement import Caution
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.options import fingerprint_of, parse_question
from macekit.problems import fault
from macekit.questions.audits.shadows import ShadowsQuestion
from macekit.questions.audits.table_answers import ScoredRecords, reply_with_scores

COPIED = ("id", "group", "unit")
LEARNED = ("features", "calibration_features", "calibration_signal")
OF_SHADOWS = ("signals", "membership")  # arrays of which a column is a record

UNLIKE = 0.1
"""How far the shares of shadows with a record may be apart between the sides before that is worth a word."""

Arrays = dict[str, NDArray[Any]]


def answer(call: Call, body: DecodedBody) -> Reply:
    """Every query that the arrays allow, and one verdict over all."""
    arrays = {name: np.asarray(column) for name, column in body.arrays.items()}
    question = parse_question(ShadowsQuestion, body)
    _require_alike(arrays)
    arrays["member"] = _flags(arrays["member"])
    arrays, cautions = _with_shadows(arrays)
    member = arrays["member"]
    signals, membership = arrays["signals"], arrays.get("membership")
    both = (arrays["target"], signals)
    if question.scale == "logit" and all(0.0 <= each.min() <= each.max() <= 1.0 for each in both):
        words = "all lie from 0 to 1, as probabilities p do; for scale logit give log(p / (1 - p)), for log log(p)"
        raise fault("bad-records", "target", words)
    scores, reasons = shadow_scores(arrays["target"], signals, membership, scale=question.scale)
    if question.scale == "plain":
        reasons["rmia"] = "needs probabilities; say scale logit or log"
    if LEARNED[0] in arrays:
        features, others, signal = (arrays[name] for name in LEARNED)
        scores["quantile_regression"] = quantile_regression(features, arrays["target"], others, signal)
    else:
        reasons["quantile_regression"] = f"needs {', '.join(LEARNED)}"
    records = ScoredRecords(
        scores,
        member,
        {name: arrays[name].tolist() for name in (*COPIED, "member") if name in arrays},
        reasons,
        [*cautions, *_drawn_unlike(membership, member)],
        encode.columns_of(body),
        f"{question.scale} signals of a model beside those of {len(signals)} shadows",
        fingerprint_of(body.arrays),
    )
    return reply_with_scores(call, question, records, SHADOWS, {"shadows": len(signals), "scale": question.scale})


def _require_alike(arrays: Arrays) -> None:
    """One value of each array for each record; and what belongs together, or none of it."""
    some = [name for name in LEARNED if name in arrays]
    if some and len(some) < len(LEARNED):
        lacking = next(name for name in LEARNED if name not in some)
        raise fault("missing-field", lacking, f"is missing; {', '.join(LEARNED)} go together")
    for name in ("member", *COPIED):
        if name in arrays and arrays[name].shape != arrays["target"].shape:
            raise fault("dimension-mismatch", name, "need one for each record of target, in one dimension")


def _flags(member: NDArray[Any]) -> Booleans:
    """Who is a member of the audited model."""
    if not np.isin(member, (0, 1)).all():
        raise fault("bad-records", "member", "need true or false (1 or 0) for each record")
    return member.astype(np.bool_)


def _with_shadows(arrays: Arrays) -> tuple[Arrays, list[Caution]]:
    """The records that have the shadows that queries need, and how many are left out."""
    if "membership" not in arrays:
        return arrays, []
    keep = records_with_shadows(arrays["membership"], arrays["member"])
    if keep.all():
        return arrays, []
    along = {
        name: array[:, keep] if name in OF_SHADOWS else array[keep]
        for name, array in arrays.items()
        if name not in LEARNED[1:]
    }
    return {**arrays, **along}, [*left_out_of_shadows(keep)]


def _drawn_unlike(membership: NDArray[Any] | None, member: Booleans) -> Iterator[Caution]:
    """Whether one side is in far more of the shadows than the other."""
    if membership is None or member.all() or not member.any():
        return
    share = membership.mean(axis=0)
    of_members, of_others = share[member].mean(), share[~member].mean()
    if abs(of_members - of_others) > UNLIKE:
        yield Caution(
            "shadows_unlike",
            f"members are in {of_members:.0%} of the shadows and nonmembers in {of_others:.0%}: shadows that are not "
            "drawn from both sides alike know who is a member, and find a leak that is none",
        )
