"""Results of the library as the fields of answers, and answers as bytes: JSON, CSV or Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, TypeVar, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from estimators import (
    VERSION,
    Advantage,
    Assessment,
    Caution,
    Estimate,
    Guarantee,
    IndividualMetric,
    MeanRisk,
    MetricEstimate,
    Scores,
    SetAdvantage,
    Verdict,
)
from estimators.adversary.learned import LearnedScore
from estimators.arrays import is_masked
from estimators.clusters.ends import ClusterSummary
from estimators.decisions.compare import Comparison
from estimators.decisions.difference import Difference
from estimators.decisions.riskiest import RiskiestLimit
from estimators.decisions.verdict import Because, Decision, overall
from estimators.paper import PaperAdvantage, PaperMetric, RecordMetric, RecordRisk
from estimators.privacy.band import BestPrecision, RocBand
from estimators.privacy.epsilon import ClaimCheck, EpsilonBound
from estimators.privacy.exposure import Exposure
from estimators.privacy.roc import OF_RATES, OperatingPoint
from estimators.sample.counts import Counts
from estimators.sample.digests import fingerprint
from estimators.sample.learned import LearnedCounts
from estimators.sample.shape import Shape
from macekit.decoding.body import ColumnRead, DecodedBody
from macekit.decoding.columns_read import columns_by_query, columns_read
from macekit.schemas import answers, statements

if TYPE_CHECKING:
    import pyarrow as pa

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
    if is_masked(value) and value.mask is np.ma.nomask:
        return value.data.tolist()
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"no JSON for {type(value).__name__}")


_JSON = msgspec.json.Encoder(enc_hook=plain)


def arrow_table(columns: Columns) -> pa.Table:
    """Columns as a table of Arrow's; what is masked is null."""
    import pyarrow as pa

    masks = {name: np.ma.getmaskarray(each) if is_masked(each) else None for name, each in columns.items()}
    return pa.table({name: pa.array(np.ma.getdata(c), mask=masks[name]) for name, c in columns.items()})


def arrow_bytes(table: pa.Table, metadata: Mapping[str, str] | None = None) -> bytes:
    """A table as an Arrow stream; metadata, if there are any, travel in its schema in the place of its own."""
    import pyarrow as pa

    if metadata is not None:
        table = table.replace_schema_metadata(dict(metadata))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def notes(about: Mapping[str, object]) -> dict[str, str]:
    """What goes with a table of records, in its metadata."""
    return {"mace": json_bytes(about).decode()}


def csv_bytes(table: pa.Table) -> bytes:
    """A table as CSV with a header; an unknown value is an empty field. It holds no text that would be a formula."""
    import pyarrow as pa
    from pyarrow import csv

    sink = pa.BufferOutputStream()
    csv.write_csv(table, sink)
    return bytes(sink.getvalue())


# The library's results as the answers of ``macekit.schemas.answers``: names change hands here, numbers do
# not.

A = TypeVar("A")


def as_answer(kind: type[A], result: object, /, **others: object) -> A:
    """A result as an answer of a kind: every field but these ``others`` has the name in both, and so the value."""
    fields = kind.__annotations__
    return cast("A", {name: others[name] if name in others else getattr(result, name) for name in fields})


def guarantee(statement: Guarantee) -> statements.GuaranteeAnswer:
    """What stands behind an interval."""
    return as_answer(statements.GuaranteeAnswer, statement)


def interval(estimate: Estimate | MetricEstimate) -> statements.IntervalAnswer:
    """A point and its interval."""
    ends = estimate.interval
    return as_answer(statements.IntervalAnswer, ends, estimate=estimate.value, guarantee=guarantee(ends.guarantee))


def certified(result: Advantage) -> statements.CertifiedAnswer:
    """The optimal advantage."""
    return as_answer(
        statements.CertifiedAnswer, result, **interval(result.estimate), clusters=clusters(result.clusters)
    )


def clusters(summary: ClusterSummary | None) -> statements.ClustersAnswer | None:
    """What rows that come in clusters are worth."""
    return None if summary is None else as_answer(statements.ClustersAnswer, summary)


def on_this_set(result: SetAdvantage) -> statements.OnThisSetAnswer:
    """The advantage on a fixed set."""
    sizes = {"set_members": result.members, "set_nonmembers": result.nonmembers}
    return as_answer(statements.OnThisSetAnswer, result, **interval(result.estimate), **sizes)


def mean_risk(result: MeanRisk) -> answers.MeanRiskAnswer:
    """The mean risk over the mixture."""
    worth = clusters(result.advantage.clusters)
    return as_answer(answers.MeanRiskAnswer, result, **interval(result.estimate), clusters=worth)


def warnings(cautions: Iterable[Caution]) -> list[statements.WarningAnswer]:
    """What to know first; each once."""
    return [as_answer(statements.WarningAnswer, each) for each in dict.fromkeys(cautions)]


def paper(result: PaperAdvantage) -> statements.PaperAnswer:
    """The statistic as published."""
    ends = result.interval
    stands = guarantee(ends.guarantee)
    return as_answer(
        statements.PaperAnswer, result, estimate=result.value, lower=ends.lower, upper=ends.upper, **stands
    )


def learned_score(learned: object) -> statements.LearnedScoreAnswer | None:
    """The score that a vector was turned into; None where there was no need."""
    if not isinstance(learned, LearnedScore | LearnedCounts):
        return None
    return as_answer(statements.LearnedScoreAnswer, learned, sentence=learned.caution.message)


def metric(result: MetricEstimate, published: PaperMetric) -> statements.MetricAnswer:
    """A metric at its optimum, and what the paper prints for it."""
    least, most = result.share_limits
    return as_answer(
        statements.MetricAnswer,
        result,
        **interval(result),
        direction="above" if result.cut.above else "below",
        degenerate=None if result.degeneracy is None else result.degeneracy.value,
        least_share=least,
        most_share=most,
        paper=published.value,
        paper_algorithm=published.algorithm,
        paper_estimator=published.estimator,
        paper_records=published.records,
        paper_member_guesses=published.member_guesses,
        warnings=warnings((*result.cautions, *published.cautions)),
    )


def paper_risk(result: RecordRisk, record_metric: RecordMetric | None) -> answers.PaperRiskAnswer:
    """How the paper's risk of each record came about, and what its interval is worth."""
    return {
        "theorem": result.theorem,
        "estimator": "histogram" if result.theorem == 2 else "kde",
        "cells": result.cells,
        "bandwidth": None if result.bandwidth is None else list(result.bandwidth),
        "confidence": result.risk.confidence,
        **guarantee(result.risk.guarantee),
        "metric": None if record_metric is None else record_metric.metric.name,
        "metric_threshold": None if record_metric is None else record_metric.cut.threshold,
        "metric_algorithm": None if record_metric is None else record_metric.algorithm,
        "warnings": warnings(result.cautions),
    }


def metric_rule(result: IndividualMetric) -> answers.MetricRuleAnswer:
    """The rule behind the metric of each record, and what the intervals are worth."""
    undefined = None
    if result.n_undefined:
        undefined = (
            f"{result.metric.name} is 0/0 under what the rule guesses there, in {result.n_undefined} of "
            f"{len(result.values)} cells"
        )
    return {
        "name": result.metric.name,
        "threshold": result.cut.threshold,
        "direction": "above" if result.cut.above else "below",
        "confidence": result.confidence,
        "guarantee": guarantee(result.guarantee),
        "undefined": undefined,
    }


def roc(result: Assessment) -> statements.RocAnswer | None:
    """Every threshold at once, where scores have an order."""
    if result.roc is None or result.auc is None:
        return None
    area = result.auc.estimate
    return {
        "fpr": result.roc.fpr.tolist(),
        "tpr": result.roc.tpr.tolist(),
        "auc": float(area.value or 0.0),
        "auc_lower": area.lower,
        "auc_upper": area.upper,
        "guarantee": guarantee(area.interval.guarantee),
        "rates_guarantee": guarantee(OF_RATES),
        "operating_points": points(result.operating_points),
    }


def points(rates: Iterable[OperatingPoint]) -> list[statements.OperatingPointAnswer]:
    """True positive rates at false ones."""
    return [
        as_answer(statements.OperatingPointAnswer, at.estimate, fpr=at.fpr, tpr=float(at.estimate.value or 0.0))
        for at in rates
    ]


def band(of: RocBand) -> list[statements.OperatingPointAnswer]:
    """Limits along the ROC that hold together."""
    columns = (of.fpr.tolist(), of.tpr.tolist(), of.lower.tolist(), of.upper.tolist())
    return [
        {"fpr": fpr, "tpr": tpr, "lower": lower, "upper": upper}
        for fpr, tpr, lower, upper in zip(*columns, strict=True)
    ]


def best_precision(of: list[BestPrecision]) -> list[statements.BestPrecisionAnswer]:
    """A row for each least share of members."""
    return [
        as_answer(statements.BestPrecisionAnswer, at.estimate, share=at.share, estimate=at.estimate.value) for at in of
    ]


def distribution(shape: Shape) -> answers.DistributionAnswer:
    """How scores lie, in bins."""
    kind = "categories" if shape.edges is None else "intervals"
    return as_answer(answers.DistributionAnswer, shape, kind=kind)


def posterior_curve(
    rows: RecordRisk, starts: NDArray[np.float64], ends: NDArray[np.float64]
) -> answers.PosteriorCurveAnswer:
    """The chance of being a member along the score; slices without a record are left out."""
    there = ~np.isnan(rows.risk.values)
    posterior, lower, upper = (
        ((1.0 + column[there]) / 2.0).tolist() for column in (rows.risk.values, rows.risk.lower, rows.risk.upper)
    )
    return {
        "theorem": rows.theorem,
        "starts": starts[there].tolist(),
        "ends": ends[there].tolist(),
        "posterior": posterior,
        "lower": lower,
        "upper": upper,
        "bandwidth": None if rows.bandwidth is None else list(rows.bandwidth),
        "covers": rows.risk.guarantee.covers,
        "assumes": rows.risk.guarantee.assumes,
    }


def epsilon(bound: EpsilonBound) -> statements.EpsilonAnswer:
    """What epsilon must be at least."""
    return as_answer(statements.EpsilonAnswer, bound, lower_bound=bound.value, guarantee=guarantee(bound.guarantee))


def exposure(result: Exposure) -> statements.ExposureAnswer:
    """Members that almost no nonmember reaches, if an end of the score holds any."""
    tail, other = result.tail, result.nonmember_tail
    return as_answer(
        statements.ExposureAnswer,
        result,
        tail=None if tail is None else as_answer(statements.TailAnswer, tail),
        nonmember_tail=None if other is None else as_answer(statements.NonmemberTailAnswer, other),
        guarantee=guarantee(result.guarantee),
    )


def claim(check: ClaimCheck) -> statements.ClaimAnswer:
    """A promise against the records."""
    return as_answer(statements.ClaimAnswer, check, advantage_ceiling=check.ceiling)


def verdict(result: Verdict) -> statements.VerdictAnswer:
    """A decision at a threshold."""
    return as_answer(statements.VerdictAnswer, result, decision=result.decision.value)


def difference(first: str, second: str, result: Difference) -> answers.DifferenceAnswer:
    """How much more the first gives away."""
    ends = {**interval(result.estimate), "estimate": float(result.estimate.value or 0.0)}
    return as_answer(answers.DifferenceAnswer, result, first=first, second=second, **ends)


def provenance(
    data: Scores | Counts,
    method: str,
    seed: int,
    options: dict[str, object],
    read: list[statements.ColumnReadAnswer],
    sha256: str | None = None,
) -> statements.ProvenanceAnswer:
    """How the numbers came about: the method, its version, what came in and what was asked."""
    return {
        "method": method,
        "version": VERSION,
        "n_members": data.n_members,
        "n_nonmembers": data.n_nonmembers,
        "input_sha256": sha256 or fingerprint(data),
        "query": data.reason if isinstance(data, Scores) else _of_counts(data),
        "columns": read,
        "seed": seed,
        "options": options,
    }


def _of_counts(counts: Counts) -> str:
    of = " of a learned score" if isinstance(counts, LearnedCounts) else ""
    return f"counts{of} over {counts.cells.kind}"


def columns(read: Iterable[ColumnRead]) -> list[statements.ColumnReadAnswer]:
    """Columns that were read."""
    return [as_answer(statements.ColumnReadAnswer, each, notes=list(each.notes)) for each in read]


def columns_of(body: DecodedBody) -> list[statements.ColumnReadAnswer]:
    """The columns that were read of a body."""
    return columns(columns_read(body))


def assessment(
    result: Assessment, data: Scores | Counts, options: dict[str, object], read: list[statements.ColumnReadAnswer]
) -> answers.AdvantageAnswer:
    """Everything about one sample."""
    return {
        "sentence": result.sentence,
        "advantage": certified(result.advantage),
        "baseline": result.advantage.baseline,
        "mip_eta": result.advantage.mip_eta,
        "security": result.advantage.security,
        "security_lower": result.advantage.security_limits[0],
        "security_upper": result.advantage.security_limits[1],
        "upper_by_changes": [{"changes": each.changes, "upper": each.upper} for each in result.upper_by_changes],
        "paper": None if result.paper is None else paper(result.paper),
        "metric": None
        if result.metric is None or result.paper_metric is None
        else metric(result.metric, result.paper_metric),
        "roc": roc(result),
        "epsilon_lower_bound": result.epsilon.value,
        "epsilon": epsilon(result.epsilon),
        "exposure": exposure(result.exposure),
        "claim": None if result.claim is None else claim(result.claim),
        "verdict": None if result.verdict is None else verdict(result.verdict),
        "on_this_set": None if result.on_this_set is None else on_this_set(result.on_this_set),
        "learned_score": learned_score(result.learned or result.fine),
        "warnings": warnings(result.cautions),
        "provenance": provenance(
            data, result.advantage.provenance.method, result.options.seed, options, read, result.input_sha256
        ),
    }


def finite(value: float | None) -> float | None:
    """None for what JSON has no number for."""
    return value if value is not None and isfinite(value) else None


# What several queries of one model or release answer alike.


def provenances(
    body: DecodedBody, samples: Mapping[str, Scores | Counts], method: str, seed: int, options: dict[str, object]
) -> list[statements.ProvenanceAnswer]:
    """Where each of several queries comes from."""
    read = columns_by_query(body)
    return [provenance(data, method, seed, options, columns(read[name])) for name, data in samples.items()]


def limits_over_queries(judged: Sequence[RiskiestLimit]) -> list[answers.RiskiestLimitAnswer] | None:
    """Each limit with its decision; None if nothing was limited."""
    return [
        as_answer(
            answers.RiskiestLimitAnswer,
            limit,
            **interval(limit.estimate),
            decision=limit.decision.value,
            threshold=None if limit.threshold is None else interval(limit.threshold),
        )
        for limit in judged
    ] or None


def because(decisions: Iterable[Decision], reasons: Iterable[Because | None]) -> Because | None:
    """Why the decision over several is open or not applicable, if for nothing else."""
    if overall(decisions) not in (Decision.INCONCLUSIVE, Decision.NOT_APPLICABLE):
        return None
    return next(filter(None, reasons), None)


def ranking(comparison: Comparison) -> list[answers.RankedAnswer]:
    """Every query with its advantage, the riskiest first."""
    return [
        as_answer(answers.RankedAnswer, place, advantage=certified(place.advantage)) for place in comparison.ranking
    ]
