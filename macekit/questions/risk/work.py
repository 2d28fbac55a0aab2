"""``/v1/individual-risk``: the risk of each record and of each group."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators import (
    Counts,
    IndividualRisk,
    Scores,
    by_group,
    individual_metric,
    individual_risk,
    mean_risk,
    metric_optimum,
)
from estimators.metric.definition import Metric
from estimators.metric.individual import IndividualMetric
from estimators.paper import EqualWidth, Kernel, RecordMetric, RecordRisk, record_metric, record_risk
from estimators.risk.cells import CellInterval, Conditional, MeanRisk, MoverFieller
from estimators.risk.flags import Multiplicity, OverCells, OverRecords
from estimators.risk.groups import GroupRisks
from estimators.risk.individual import RiskByCell
from estimators.risk.within_groups import GroupAdvantage, by_group_of_counts
from estimators.sample.learned import LearnedCounts
from estimators.sample.plain_arrays import ArgumentScores
from macekit.call import ARROW, CSV, Call, Reply
from macekit.catalogue import rendered
from macekit.decoding.body import DecodedBody
from macekit.operations import encode, options, samples
from macekit.operations.effects import require_bins_act
from macekit.problems import fault
from macekit.questions.risk import RiskQuestion
from macekit.reports.model import TOP_RECORDS
from macekit.schemas.answers import GroupAnswer
from macekit.schemas.records import PriorQuestion

INTERVALS: dict[str, CellInterval | None] = {
    "auto": None,
    "mover_fieller": MoverFieller(),
    "conditional": Conditional(),
}
NO_PAPER = dict.fromkeys(
    f"paper_{name}" for name in ("signed_risk", "lower", "upper", "metric", "metric_lower", "metric_upper")
)
"""Columns that are null if the paper's estimate was not asked for."""

NO_METRIC = dict.fromkeys(("metric", "metric_lower", "metric_upper", "metric_guesses_member", "metric_on_threshold"))
"""Columns that are null if no metric was asked for."""

NO_LEARNED = dict.fromkeys(("learned_score", "learned_half"))
"""Columns that are null unless records are vectors."""

OPTIONAL = {**NO_METRIC, **NO_PAPER, **NO_LEARNED}
"""Columns that a table leaves out when they are null; in JSON they follow those that are not."""

OVER: dict[str, Multiplicity] = {"records": OverRecords(), "cells": OverCells()}


def answer(call: Call, body: DecodedBody) -> Reply:
    """A row for each record, a row for each group, and the table of cells they were looked up in."""
    question = options.parse_question(RiskQuestion, body)
    options.require_form(call)
    if rendered(call) and question.top is None:
        question = question.model_copy(update={"top": TOP_RECORDS})
    data = samples.sample_of(body, question)
    if isinstance(data, LearnedCounts):
        raise fault(
            "bad-option",
            "counts",
            "are of a score that was learned, which comes with no record; give the records, or some of them",
        )
    bins, notes = options.cells_asked(question)
    require_bins_act(bins, data, values=False)
    targets, cluster = _targets(body, data), samples.clusters_of(body)
    groups = cast("ArrayLike | None", body.groups)
    result = individual_risk(
        data,
        question.prior,
        question.confidence,
        targets,
        groups,
        bins=bins,
        interval=INTERVALS[question.interval],
        threshold=question.threshold,
        over=OVER[question.over],
        seed=question.seed,
        stand_for=samples.stand_for(body, data, question),
        cluster=cluster,
    )
    lone = samples.lone_of(data, cluster, question.seed)
    if lone is not data and targets is None:
        targets = samples.submitted_scores(body, cast("Scores", data))
    result = replace(result, cautions=(*notes, *body.cautions, *result.cautions))
    of_record = None
    if question.metric is not None:
        of_record = metric_of_cells(lone, result, options.metric(question.metric, question.prior), question, bins)
    reading = options.paper_reading(question.estimator, bins)
    published = None if reading is None else _published(lone, targets, question, reading)
    listing = result if question.top is None else result.top(question.top)
    index = listing.index if body.rows is None or body.targets is not None else body.rows[listing.index]
    columns = record_columns(listing, index, of_record) | _paper_columns(published, listing.index)
    source = options.provenance(call, question, body, data, result.provenance.method)
    if call.accept in (CSV, ARROW):
        about = {"sentence": result.sentence, "provenance": source}
        records = data.n_members + data.n_nonmembers
        return options.reply_with_rows(call, encode.arrow_table(columns), about, records, source["input_sha256"])
    tables = by_group_of(data, groups, question, cluster) if body.targets is None else {}
    whole = samples.with_counts(data) if cluster is None else data
    mean = mean_risk(whole, result.cells, question.confidence, question.seed, bins, cluster)
    document = {
        **summary(result, mean, of_record),
        "paper": None if published is None else encode.paper_risk(*published),
        "records": columns | {name: None for name in OPTIONAL if name not in columns},
        "groups": group_rows(result.groups, tables),
        "provenance": source,
    }
    return options.reply_of(call, document, data)


def summary(
    result: IndividualRisk | RiskByCell, mean: MeanRisk, record_metric: IndividualMetric | None = None
) -> dict[str, object]:
    """Risk over the score: what the flags mean, what stands behind the limits, and the cells."""
    return {
        "sentence": result.sentence,
        "baseline": result.cells.baseline,
        "signed_baseline": 2.0 * result.cells.prior - 1.0,
        "mean": encode.mean_risk(mean),
        "flags": {
            "threshold": result.flags.threshold,
            "rate": result.flags.rate,
            "over": result.flags.over.name,
            "records": result.n_flagged,
            "member_share": result.member_share,
        },
        "guarantee": encode.guarantee(result.cells.pointwise.guarantee),
        "simultaneous_guarantee": encode.guarantee(result.cells.simultaneous.guarantee),
        "metric_rule": None if record_metric is None else encode.metric_rule(record_metric),
        "learned_scores": None if result.learned is None else [encode.learned_score(each) for each in result.learned],
        "cells": _cells(result, record_metric),
        "warnings": encode.warnings((*result.cautions, *(() if record_metric is None else record_metric.cautions))),
    }


def metric_of_cells(
    data: Scores | Counts,
    result: IndividualRisk | RiskByCell,
    definition: Metric,
    question: PriorQuestion,
    bins: int | None = None,
) -> IndividualMetric:
    """The metric of each cell, under the rule that ``/v1/metrics`` finds for the same records."""
    prior = question.prior
    cut = None
    if not definition.has_known_threshold:
        counts = samples.with_counts(data) if result.learned is None else result.learned[0].counts
        if isinstance(counts, Counts):
            best = metric_optimum(counts, definition, prior, None, question.confidence, bins, question.seed)
            cut = best.cut
    return individual_metric(
        result.cells.counts, definition, prior, question.confidence, question.seed, cut, result.cells
    )


def _published(
    data: Scores | Counts, targets: ArgumentScores | None, question: RiskQuestion, reading: EqualWidth | Kernel
) -> tuple[RecordRisk, RecordMetric | None]:
    """Theorem 2 or 3 for each record, and Theorem 4 if a metric was asked for."""
    risk = record_risk(data, question.prior, question.confidence, reading, targets)
    if question.metric is None:
        return risk, None
    definition = options.metric(question.metric, question.prior)
    return risk, record_metric(data, risk, definition, question.prior, question.seed, reading)


def _paper_columns(
    published: tuple[RecordRisk, RecordMetric | None] | None, rows: NDArray[np.int64]
) -> dict[str, NDArray[np.generic]]:
    """The paper's columns of these rows."""
    if published is None:
        return {}
    risk, by_metric = published
    columns: dict[str, NDArray[np.generic]] = {
        "paper_signed_risk": np.ma.masked_invalid(risk.risk.values[rows]),
        "paper_lower": risk.risk.lower[rows],
        "paper_upper": risk.risk.upper[rows],
    }
    if by_metric is not None:
        columns |= {
            "paper_metric": np.ma.masked_invalid(by_metric.values[rows]),
            "paper_metric_lower": np.ma.masked_invalid(by_metric.lower[rows]),
            "paper_metric_upper": np.ma.masked_invalid(by_metric.upper[rows]),
        }
    return columns


def by_group_of(
    data: Scores | Counts, groups: object, question: PriorQuestion, cluster: Mapping[str, ArrayLike] | None = None
) -> dict[object, GroupAdvantage]:
    """What each group gives away by itself, where its records are those of the sample."""
    if groups is None or not isinstance(data, Scores):
        return {}
    labels = np.asarray(groups)
    if len(labels) != data.n_members + data.n_nonmembers:
        return {}
    sides = labels[: data.n_members], labels[data.n_members :]
    groups_of_data = by_group(data, *sides, question.prior, question.confidence, question.seed, cluster)
    return {each.label: each for each in groups_of_data}


def rows_of_groups(body: DecodedBody, counts: Counts, risks: RiskByCell, question: PriorQuestion) -> list[GroupAnswer]:
    """What each group bears and gives away, of counts that were posted with their groups."""
    table = samples.groups_of_counts(body, counts)
    if table is None:
        return []
    alone = by_group_of_counts(counts, table, question.prior, question.confidence, question.seed)
    return group_rows(risks.of_groups(counts, table, question.confidence), {each.label: each for each in alone})


def _targets(body: DecodedBody, data: Scores | Counts) -> ArgumentScores | None:
    """Scores asked about; all records posted if some were left out because of units."""
    if body.targets is not None or body.units is None or isinstance(data, Counts):
        return body.targets
    return samples.submitted_scores(body, data)


def record_columns(
    result: IndividualRisk, index: NDArray[np.int64], record_metric: IndividualMetric | None
) -> dict[str, NDArray[np.generic]]:
    """What is said of each of these records, column by column."""
    names = (*("risk", "lower", "upper", "simultaneous_lower", "simultaneous_upper"), "signed_risk", "posterior")
    columns: dict[str, NDArray[np.generic]] = {"index": index}
    columns |= {name: getattr(result, name) for name in (*names, "flagged", "cell")}
    if result.learned_score is not None and result.learned_half is not None:
        unknown = result.cell < 0
        columns["learned_score"] = np.ma.MaskedArray(result.learned_score, mask=unknown)
        columns["learned_half"] = result.learned_half
    return columns | _metric_columns(record_metric, result.cell)


def _cells(result: IndividualRisk | RiskByCell, record_metric: IndividualMetric | None) -> dict[str, object]:
    cells = result.cells
    return {
        "cells": cells.counts.cells.to_dict(),
        "members": cells.counts.members,
        "nonmembers": cells.counts.nonmembers,
        "risk": cells.risk,
        "lower": cells.pointwise.lower,
        "upper": cells.pointwise.upper,
        "simultaneous_lower": cells.simultaneous.lower,
        "simultaneous_upper": cells.simultaneous.upper,
        "signed_risk": cells.signed_risk,
        "signed_lower": cells.signed.lower,
        "signed_upper": cells.signed.upper,
        "posterior": cells.posterior,
        "flagged": result.flags.flagged,
        **NO_METRIC,
        **_metric_columns(record_metric, np.arange(cells.size)),
    }


def _metric_columns(record_metric: IndividualMetric | None, cell: NDArray[np.int64]) -> dict[str, NDArray[np.generic]]:
    """The metric of each of these cells; -1 is none."""
    if record_metric is None:
        return {}
    inside = cell >= 0

    def looked_up(column: np.ma.MaskedArray[Any, Any]) -> np.ma.MaskedArray[Any, Any]:
        mask = np.ma.getmaskarray(column).take(cell, mode="clip")
        return np.ma.MaskedArray(column.data.take(cell, mode="clip"), mask=mask | ~inside)

    return {
        "metric": looked_up(record_metric.values),
        "metric_lower": looked_up(record_metric.lower),
        "metric_upper": looked_up(record_metric.upper),
        "metric_guesses_member": looked_up(record_metric.guesses_member),
        "metric_on_threshold": inside & record_metric.on_threshold.take(cell, mode="clip"),
    }


def group_rows(table: GroupRisks | None, alone: dict[object, GroupAdvantage]) -> list[GroupAnswer]:
    """What each group bears, and what it gives away by itself."""
    if table is None:
        return []
    rows: list[GroupAnswer] = []
    for i, label in enumerate(table.labels.tolist()):
        own = alone.get(label)
        rows.append(
            {
                "label": label,
                "records": int(table.records[i]),
                "unknown": int(table.unknown[i]),
                "flagged": int(table.flagged[i]),
                "risk": None if np.ma.getmaskarray(table.risk)[i] else float(table.risk.data[i]),
                "lower": float(table.lower[i]),
                "upper": float(table.upper[i]),
                "n_members": None if own is None else own.n_members,
                "n_nonmembers": None if own is None else own.n_nonmembers,
                "advantage": None if own is None or own.advantage is None else encode.certified(own.advantage),
                "warnings": encode.warnings(() if own is None else own.cautions),
            }
        )
    return rows
