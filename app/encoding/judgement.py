"""A gate's decision as its answer."""

from __future__ import annotations

from math import isfinite

from app.encoding.statements import guarantee, warnings
from estimators.gate import Judgement
from estimators.maxima import JudgedLimit
from macekit.schemas.answers import GateAnswer, LimitAnswer
from macekit.schemas.statements import ProvenanceAnswer


def judgement(found: Judgement, source: ProvenanceAnswer) -> GateAnswer:
    """The decision over all limits, and each of them."""
    return {
        "sentence": found.sentence,
        "decision": found.decision.value,
        "records_needed": found.records_needed,
        "baseline": found.baseline,
        "limits": [_limit(each) for each in found.limits],
        "warnings": warnings(found.cautions),
        "provenance": source,
    }


def _limit(judged: JudgedLimit) -> LimitAnswer:
    found, verdict = judged.found, judged.verdict
    return {
        "name": judged.name,
        "about": judged.about,
        "maximum": verdict.threshold,
        "estimate": found.value,
        "lower": found.lower,
        "upper": found.upper if isfinite(found.upper) else None,
        "confidence": found.interval.confidence,
        "guarantee": guarantee(found.interval.guarantee),
        "decision": verdict.decision.value,
        "reason": verdict.reason,
        "records_needed": verdict.records_needed,
    }
