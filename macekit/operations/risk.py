"""``/v1/individual-risk``: the risk of each record and of each group."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators import Counts, IndividualRisk, Scores, by_group, individual_metric, individual_risk
from estimators.compare import GroupAdvantage
from estimators.metric.individual import IndividualMetric
from estimators.risk.cells import CellInterval, Conditional, MoverFieller
from estimators.risk.flags import Multiplicity, OverCells, OverRecords
from estimators.risk.individual import RiskByCell
from estimators.sample.scores import ArgumentScores
from macekit.call import ARROW, CSV, Call, Reply
from macekit.catalogue import rendered
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.encode import arrow_bytes, csv_bytes, json_bytes
from macekit.operations.options import metric, question_of, reply_of, require_form, stated
from macekit.operations.samples import posted, sample_of
from macekit.reports.model import TOP_RECORDS
from macekit.schemas.answers import GroupAnswer
from macekit.schemas.questions import RiskQuestion
from macekit.schemas.records import Judged
from macekit.schemas.statements import ProvenanceAnswer

INTERVALS: dict[str, CellInterval | None] = {
    "auto": None,
    "mover_fieller": MoverFieller(),
    "conditional": Conditional(),
}
OVER: dict[str, Multiplicity] = {"records": OverRecords(), "cells": OverCells()}


def answer(call: Call, material: DecodedBody) -> Reply:
    """A row for each record, a row for each group, and the table of cells they were looked up in."""
    question = question_of(RiskQuestion, material)
    require_form(call)
    if rendered(call) and question.top is None:
        question = question.model_copy(update={"top": TOP_RECORDS})
    data = sample_of(material, question)
    targets, groups = _targets(material, data), cast("ArrayLike | None", material.groups)
    found = individual_risk(
        data,
        question.prior,
        question.confidence,
        targets,
        groups,
        bins=question.bins,
        interval=INTERVALS[question.interval],
        threshold=question.threshold,
        over=OVER[question.over],
    )
    wanted = None
    if question.metric is not None:
        chosen = metric(question.metric, question.prior)
        wanted = individual_metric(
            found.cells.counts, chosen, question.prior, question.confidence, question.seed
        )
    shown = found if question.top is None else found.top(question.top)
    index = (
        shown.index if material.rows is None or material.targets is not None else material.rows[shown.index]
    )
    columns = _columns(shown, index, wanted)
    source = encode.provenance(data, found.provenance.method, question.seed, stated(question, call))
    records = data.n_members + data.n_nonmembers
    if call.accept == CSV:
        return Reply(200, CSV, csv_bytes(columns), records)
    if call.accept == ARROW:
        return Reply(200, ARROW, arrow_bytes(columns, _notes(found, source)), records)
    tables = by_group_of(data, groups, question) if material.targets is None else {}
    answered = {
        **summary(found, wanted),
        "records": {"metric": None, **columns},
        "groups": group_rows(found, tables),
        "provenance": source,
    }
    return reply_of(call, answered, data)


def summary(found: IndividualRisk | RiskByCell, wanted: IndividualMetric | None = None) -> dict[str, object]:
    """Risk over the score: what the flags mean, what stands behind the limits, and the cells."""
    return {
        "sentence": found.sentence,
        "baseline": found.cells.baseline,
        "flags": {
            "threshold": found.flags.threshold,
            "rate": found.flags.rate,
            "over": found.flags.over.name,
            "records": found.n_flagged,
        },
        "guarantee": encode.guarantee(found.cells.pointwise.guarantee),
        "simultaneous_guarantee": encode.guarantee(found.cells.simultaneous.guarantee),
        "cells": _cells(found, wanted),
        "warnings": encode.warnings(found.cautions),
    }


def by_group_of(data: Scores | Counts, groups: object, question: Judged) -> dict[object, GroupAdvantage]:
    """What each group gives away by itself, where its records are those of the sample."""
    if groups is None or not isinstance(data, Scores):
        return {}
    labels = np.asarray(groups)
    if len(labels) != data.n_members + data.n_nonmembers:
        return {}
    sides = labels[: data.n_members], labels[data.n_members :]
    found = by_group(data, *sides, question.prior, question.confidence, question.seed)
    return {each.label: each for each in found}


def _targets(material: DecodedBody, data: Scores | Counts) -> ArgumentScores | None:
    """Scores asked about; all records posted if some were left out because of units."""
    if material.targets is not None or material.units is None or isinstance(data, Counts):
        return material.targets
    return posted(material)


def _columns(
    found: IndividualRisk, index: NDArray[np.int64], wanted: IndividualMetric | None
) -> dict[str, NDArray[np.generic]]:
    columns: dict[str, NDArray[np.generic]] = {
        "index": index,
        "risk": found.risk,
        "lower": found.lower,
        "upper": found.upper,
        "simultaneous_lower": found.simultaneous_lower,
        "simultaneous_upper": found.simultaneous_upper,
        "signed_risk": found.signed_risk,
        "posterior": found.posterior,
        "flagged": found.flagged,
        "cell": found.cell,
    }
    if wanted is not None:
        known = found.cell >= 0
        values = wanted.values.filled(np.nan).take(found.cell, mode="clip")
        columns["metric"] = np.ma.masked_invalid(np.where(known, values, np.nan))
    return columns


def _cells(found: IndividualRisk | RiskByCell, wanted: IndividualMetric | None) -> dict[str, object]:
    cells = found.cells
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
        "posterior": cells.posterior,
        "flagged": found.flags.flagged,
        "metric": None if wanted is None else wanted.values,
    }


def group_rows(found: IndividualRisk, alone: dict[object, GroupAdvantage]) -> list[GroupAnswer]:
    """What each group bears, and what it gives away by itself."""
    table = found.groups
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
                "advantage": None
                if own is None or own.advantage is None
                else encode.certified(own.advantage),
                "warnings": encode.warnings(() if own is None else own.cautions),
            }
        )
    return rows


def _notes(found: IndividualRisk, source: ProvenanceAnswer) -> dict[str, str]:
    return {"mace": json_bytes({"sentence": found.sentence, "provenance": source}).decode()}
