"""``/v1/theory/mis``: membership inference security of any algorithm on data in categories; and of a learner."""

from collections.abc import Sequence
from math import inf
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from estimators.theory import mis
from estimators.theory.mis.assessment import Coarsening, Records, Source
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.effects import require_left_out
from macekit.operations.encode import as_answer, finite
from macekit.operations.options import parse_question
from macekit.problems import fault
from macekit.questions.theory import mis as room
from macekit.questions.theory.reply import reply

SOURCES = ("values", "tallies", "probabilities")


def answer_mis(call: Call, body: DecodedBody) -> Reply:
    """Delta of the worst algorithm over sizes, how many records are enough, and what coarsening buys."""
    q = parse_question(room.MisQuestion, body)
    source = _source(q, body)
    result = mis.assess(source, **q.model_dump(exclude={*SOURCES, "universe"}))
    fields = {
        "categories": source.categories,
        "records": source.records if isinstance(source, mis.Tally) else None,
        "accuracy_at_most": result.accuracy,
        "diversity": _diversity(result, isinstance(source, mis.Tally)),
        "curve": _curve(result),
        "records_needed": None if result.records is None else _records(result.records),
        "coarsened": None if result.merges is None else _merges(result.merges),
    }
    return reply(call, q, body, room.MisAnswer, result, **fields)


def answer_mis_overfitting(call: Call, body: DecodedBody) -> Reply:
    """The least upper bound on security over cuts of the loss, with the cuts."""
    q = parse_question(room.MisOverfittingQuestion, body)
    train, heldout = (np.asarray(body.arrays[name], dtype=np.float64) for name in ("train_losses", "heldout_losses"))
    result = mis.assess_overfitting(train, heldout, **q.model_dump(exclude={"train_losses", "heldout_losses"}))
    mean = result.by_mean
    fields = {
        "security": encode.interval(result.security),
        "delta_at_least": 1.0 - result.security.upper,
        "accuracy_at_least": result.accuracy,
        "by_mean": None if mean is None else as_answer(room.ByMeanAnswer, mean, security_at_most=mean.security_upper),
        "curve": as_answer(room.CutsAnswer, result.cuts, security_at_most=result.cuts.at_most),
    }
    return reply(call, q, body, room.MisOverfittingAnswer, result, **fields)


def answer_mis_divergence(call: Call, body: DecodedBody) -> Reply:
    """How far two laws of an output are apart, and the attack that shows it."""
    q = parse_question(room.MisDivergenceQuestion, body)
    result = mis.assess_divergence(
        cast("ArrayLike", body.arrays["outputs"]), nonmember_share=q.nonmember_share, member_weight=q.member_weight
    )
    fields = {
        "security": 1.0 - result.delta,
        "outputs": len(result.says_member),
        "says_member": np.flatnonzero(result.says_member),
        "curve": {"nonmember_share": result.shares, "delta": result.deltas},
    }
    return reply(call, q, body, room.MisDivergenceAnswer, result, **fields)


def answer_mis_mean(call: Call, body: DecodedBody) -> Reply:
    """What the mean of Gaussian records gives away, over their number."""
    q = parse_question(room.MisMeanQuestion, body)
    result = mis.assess_mean(
        q.dimension, sizes=q.sizes, nonmember_share=q.nonmember_share, member_weight=q.member_weight, delta=q.delta
    )
    fields = {
        "security": 1.0 - result.delta,
        "delta_to_keep": result.target,
        "records_needed": result.records,
        "curve": {"n": result.sizes, "delta": result.deltas, "simple": result.simple},
    }
    return reply(call, q, body, room.MisMeanAnswer, result, **fields)


def _source(q: room.MisQuestion, body: DecodedBody) -> Source:
    names = [name for name in SOURCES if name in body.arrays]
    if len(names) != 1:
        kind = "missing-field" if not names else "bad-option"
        field = names[1] if names else "values"
        raise fault(kind, field, f"give one of {', '.join(SOURCES)}, and only one")
    column = body.arrays[names[0]]
    if names[0] == "probabilities":
        require_left_out(q, ("confidence",), "probabilities are exact, so there is no interval")
        if q.universe is not None:
            detail = "applies only to values or tallies; a list of probabilities already names every category"
            raise fault("bad-option", "universe", detail)
        return mis.Distribution.of(np.asarray(column, dtype=np.float64))
    if names[0] == "tallies":
        return mis.Tally.of_counts(np.asarray(column), q.universe)
    return mis.Tally.of_values(cast("list[object]", column), q.universe)


def _diversity(result: mis.MisStatement, from_sample: bool) -> room.DiversityAnswer:
    interval = result.diversity.interval
    return as_answer(
        room.DiversityAnswer,
        result.spread,
        estimate=float(result.diversity.value or 0.0),
        lower=interval.lower,
        upper=finite(interval.upper),
        confidence=interval.confidence if from_sample else None,
        guarantee=encode.guarantee(interval.guarantee) if from_sample else None,
        largest_share=result.spread.largest,
    )


def _curve(result: mis.MisStatement) -> room.MisCurveAnswer:
    deltas = [float(each.value or 0.0) for each in result.deltas]
    uppers = [each.upper for each in result.deltas]
    return {
        "n": list(result.sizes),
        "delta": deltas,
        "delta_lower": [each.lower for each in result.deltas],
        "delta_upper": uppers,
        "security": [1.0 - delta for delta in deltas],
        "security_at_least": [1.0 - upper for upper in uppers],
        "simple": list(result.simple),
        "simple_lower": list(result.simple_lower),
    }


def _records(result: Records) -> room.NeededAnswer:
    sizes = {name: _whole(getattr(result, name)) for name in ("exact", "certified", "simple")}
    return as_answer(room.NeededAnswer, result, **sizes)


def _merges(rows: Sequence[Coarsening]) -> room.CoarsenedAnswer:
    return {
        "cells": [row.cells for row in rows],
        "merge": [row.merge for row in rows],
        "c_k": [row.c_k for row in rows],
        "delta": [row.delta for row in rows],
        "delta_upper": [row.delta_upper for row in rows],
        "cells_upper": [row.cells_upper for row in rows],
        "kept": [row.intact for row in rows],
        "records": [None if row.records is None else _whole(row.records) for row in rows],
    }


def _whole(value: float) -> int | None:
    return int(value) if value < inf else None
