"""Answers as bytes: JSON without a number that is not finite, and rows as CSV or Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite

import msgspec
import numpy as np

from estimators import (
    VERSION,
    Advantage,
    Assessment,
    Caution,
    Estimate,
    Guarantee,
    MetricEstimate,
    Scores,
    Verdict,
)
from estimators.audit.epsilon import ClaimCheck, EpsilonBound
from estimators.audit.roc import OF_RATES, OperatingPoint
from estimators.compare import Difference
from estimators.paper import PaperAdvantage
from estimators.report import fingerprint
from estimators.sample.counts import Counts
from estimators.sample.shape import Shape
from estimators.theory.bounds import Bound
from macekit.schemas.answers import AdvantageAnswer, DifferenceAnswer, DistributionAnswer
from macekit.schemas.statements import (
    BoundAnswer,
    CertifiedAnswer,
    ClaimAnswer,
    EpsilonAnswer,
    GuaranteeAnswer,
    IntervalAnswer,
    MetricAnswer,
    OperatingPointAnswer,
    PaperAnswer,
    ProvenanceAnswer,
    RocAnswer,
    VerdictAnswer,
    WarningAnswer,
)

Columns = Mapping[str, "np.ndarray[tuple[int, ...], np.dtype[np.generic]]"]


def json_bytes(answer: object) -> bytes:
    """JSON; arrays as lists, masked entries and what is not finite as null.

    Into an array of Python's own, which says so when memory ends; the encoder's own does not, and crashes.
    """
    buffer = bytearray()
    _JSON.encode_into(answer, buffer)
    return bytes(buffer)


def plain(value: object) -> object:
    """An array or a NumPy scalar as Python's own."""
    if isinstance(value, np.ma.MaskedArray) and value.mask is np.ma.nomask:
        return value.data.tolist()
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"no JSON for {type(value).__name__}")


_JSON = msgspec.json.Encoder(enc_hook=plain)


def arrow_bytes(columns: Columns, notes: Mapping[str, str]) -> bytes:
    """Columns as an Arrow stream; ``notes`` travel in the schema's metadata."""
    import pyarrow as pa

    table = pa.table({name: pa.array(np.ma.getdata(c), mask=_mask(c)) for name, c in columns.items()})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema.with_metadata(dict(notes))) as writer:
        writer.write_table(table.replace_schema_metadata(dict(notes)))
    return bytes(sink.getvalue())


def csv_bytes(columns: Columns) -> bytes:
    """Columns as CSV with a header; an unknown value is an empty field. All columns are numbers: no formula."""
    import pyarrow as pa
    from pyarrow import csv

    table = pa.table({name: pa.array(np.ma.getdata(c), mask=_mask(c)) for name, c in columns.items()})
    sink = pa.BufferOutputStream()
    csv.write_csv(table, sink)
    return bytes(sink.getvalue())


def _mask(column: object) -> object:
    return np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else None


# --- statements ---------------------------------------------------------------------------------------------
# The library's results as the answers of ``macekit.schemas.answers``: names change hands here, numbers do
# not.


def guarantee(given: Guarantee) -> GuaranteeAnswer:
    """What stands behind an interval."""
    return {"covers": given.covers, "assumes": given.assumes, "finite_sample": given.finite_sample}


def interval(given: Estimate) -> IntervalAnswer:
    """A point and its interval."""
    return {
        "estimate": given.value,
        "lower": given.lower,
        "upper": given.upper,
        "confidence": given.interval.confidence,
        "guarantee": guarantee(given.interval.guarantee),
    }


def certified(found: Advantage) -> CertifiedAnswer:
    """The optimal advantage."""
    return {
        **interval(found.estimate),
        "resolution": found.resolution,
        "leader": found.leader,
        "class_rejected": found.class_rejected,
    }


def warnings(cautions: Iterable[Caution]) -> list[WarningAnswer]:
    """What to know first; each once."""
    return [{"code": c.code, "message": c.message} for c in dict.fromkeys(cautions)]


def paper(found: PaperAdvantage) -> PaperAnswer:
    """The statistic as published."""
    return {
        "statistic": found.statistic,
        "estimate": found.value,
        "lower": found.interval.lower,
        "upper": found.interval.upper,
        "covers": found.interval.guarantee.covers,
        "assumes": found.interval.guarantee.assumes,
        "finite_sample": found.interval.guarantee.finite_sample,
    }


def metric(found: MetricEstimate) -> MetricAnswer:
    """A metric at its optimum."""
    low, high = found.share_limits
    return {
        "name": found.name,
        "estimate": found.value,
        "lower": found.interval.lower,
        "upper": found.interval.upper,
        "confidence": found.interval.confidence,
        "guarantee": guarantee(found.interval.guarantee),
        "threshold": found.threshold,
        "direction": "above" if found.cut.above else "below",
        "trivial": found.trivial,
        "degenerate": None if found.degeneracy is None else found.degeneracy.value,
        "least_share": low,
        "most_share": high,
        "resolution": found.resolution,
        "leader": found.leader,
        "paper": found.paper.value,
        "paper_algorithm": found.paper.algorithm,
        "sentence": found.sentence,
        "warnings": warnings(found.cautions),
    }


def roc(found: Assessment) -> RocAnswer | None:
    """Every threshold at once, where scores have an order."""
    if found.roc is None or found.auc is None:
        return None
    area = found.auc.estimate
    return {
        "fpr": found.roc.fpr.tolist(),
        "tpr": found.roc.tpr.tolist(),
        "auc": float(area.value or 0.0),
        "auc_lower": area.lower,
        "auc_upper": area.upper,
        "guarantee": guarantee(area.interval.guarantee),
        "rates_guarantee": guarantee(OF_RATES),
        "operating_points": points(found.operating_points),
    }


def points(found: Iterable[OperatingPoint]) -> list[OperatingPointAnswer]:
    """True positive rates at false ones."""
    return [
        {
            "fpr": point.fpr,
            "tpr": float(point.estimate.value or 0.0),
            "lower": point.estimate.lower,
            "upper": point.estimate.upper,
        }
        for point in found
    ]


def distribution(found: Shape) -> DistributionAnswer:
    """How scores lie, in bins."""
    return {
        "kind": "categories" if found.edges is None else "intervals",
        "edges": None if found.edges is None else found.edges.tolist(),
        "labels": None if found.labels is None else found.labels.tolist(),
        "members": found.members.tolist(),
        "nonmembers": found.nonmembers.tolist(),
        "outside_members": found.outside_members,
        "outside_nonmembers": found.outside_nonmembers,
    }


def epsilon(found: EpsilonBound) -> EpsilonAnswer:
    """What epsilon must be at least."""
    return {
        "lower_bound": found.value,
        "delta": found.delta,
        "confidence": found.confidence,
        "right": found.right,
        "guesses": found.guesses,
        "guarantee": guarantee(found.guarantee),
        "sentence": found.sentence,
    }


def claim(found: ClaimCheck) -> ClaimAnswer:
    """A promise against the records."""
    return {
        "epsilon": found.epsilon,
        "delta": found.delta,
        "decision": "contradicted" if found.decision == "contradicted" else "not contradicted",
        "advantage_ceiling": found.ceiling,
        "sentence": found.sentence,
    }


def verdict(found: Verdict) -> VerdictAnswer:
    """A decision at a threshold."""
    return {
        "threshold": found.threshold,
        "decision": found.decision.value,
        "reason": found.reason,
        "records_needed": found.records_needed,
    }


def difference(first: str, second: str, found: Difference) -> DifferenceAnswer:
    """How much more the first gives away."""
    return {
        "first": first,
        "second": second,
        "estimate": float(found.estimate.value or 0.0),
        "lower": found.estimate.lower,
        "upper": found.estimate.upper,
        "confidence": found.estimate.interval.confidence,
        "guarantee": guarantee(found.estimate.interval.guarantee),
        "decided": found.decided,
        "sentence": found.sentence,
    }


def provenance(
    data: Scores | Counts,
    method: str,
    seed: int,
    options: dict[str, object],
    sha256: str | None = None,
) -> ProvenanceAnswer:
    """How the numbers came about: the method, its version, what came in and what was asked."""
    return {
        "method": method,
        "version": VERSION,
        "n_members": data.n_members,
        "n_nonmembers": data.n_nonmembers,
        "input_sha256": sha256 or fingerprint(data),
        "query": data.reason if isinstance(data, Scores) else f"counts over {data.cells.kind}",
        "seed": seed,
        "options": options,
    }


def assessment(found: Assessment, data: Scores | Counts, options: dict[str, object]) -> AdvantageAnswer:
    """Everything about one sample."""
    return {
        "sentence": found.sentence,
        "advantage": certified(found.advantage),
        "baseline": found.advantage.baseline,
        "mip_eta": found.advantage.mip_eta,
        "security": found.advantage.security,
        "paper": None if found.paper is None else paper(found.paper),
        "metric": None if found.metric is None else metric(found.metric),
        "roc": roc(found),
        "epsilon_lower_bound": None if found.epsilon is None else found.epsilon.value,
        "epsilon": None if found.epsilon is None else epsilon(found.epsilon),
        "claim": None if found.claim is None else claim(found.claim),
        "verdict": None if found.verdict is None else verdict(found.verdict),
        "warnings": warnings(found.cautions),
        "provenance": provenance(
            data, found.advantage.provenance.method, found.options.seed, options, found.input_sha256
        ),
    }


# --- theory -------------------------------------------------------------------------------------------------
# Bounds of theory as answers.


def bounds(table: Iterable[Bound]) -> list[BoundAnswer]:
    """Bounds side by side."""
    return [
        {
            "quantity": each.quantity,
            "name": each.name,
            "says": each.says,
            "value": finite(each.value),
            "source": each.source,
            "assumes": each.assumes,
            "proven": each.proven,
            "tightest": each.tightest,
        }
        for each in table
    ]


def finite(value: float) -> float | None:
    """None for what JSON has no number for."""
    return value if isfinite(value) else None
