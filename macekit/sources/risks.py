"""The risk of each record of a source that is larger than memory: counted first, then read again and looked up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from estimators import Counts, IndividualRisk, individual_risk, mean_risk
from estimators.metric.individual import IndividualMetric
from estimators.python.dataclass import dataclass, replace
from estimators.risk.individual import RiskByCell
from estimators.sample.locating import SampleRange, cell_of, targets_of
from estimators.sample.plain_arrays import ArgumentScores
from macekit.call import Call
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.options import cells_asked, metric, parse_question, provenance, validate
from macekit.operations.samples import sample_of
from macekit.problems import fault
from macekit.questions.risk import RiskQuestion, work
from macekit.sources.blocks import LIMIT, Source, blamed
from macekit.sources.reading import read

if TYPE_CHECKING:
    import pyarrow as pa

RISK = "individual-risk"
NEED_ALL = ("top", "targets")  # options for which every record is looked at, or that ask about others
SUFFIXES = (".parquet", ".csv", ".arrow")  # what the rows may be written as
ROWS = 2**19  # rows that are written at once: a row group of Parquet

Columns = tuple[tuple[str, str], ...]


def needs_every_record(options: Mapping[str, object]) -> str | None:
    """The first option of ``mace risk`` for which records are held; None if counts and each score by itself do."""
    estimator = options.get("estimator")
    if isinstance(estimator, Mapping) and estimator.get("kind") is not None:
        return "estimator.kind"
    return next((name for name in NEED_ALL if name in options), None)


@dataclass(frozen=True, slots=True)
class Lookup:
    """The risk of each score that was counted."""

    result: IndividualRisk
    of_cells: IndividualMetric | None
    reach: SampleRange | None
    notes: Mapping[str, str]
    content: Mapping[str, object]

    @classmethod
    def of(cls, options: Mapping[str, object], body: DecodedBody) -> Lookup:
        """From a body with counts, and the options of ``mace risk`` that counts answer."""
        call = Call(RISK)
        body = replace(body, options=dict(options))
        question = parse_question(RiskQuestion, body)
        data = sample_of(body, question)
        assert isinstance(data, Counts)
        bins, _ = cells_asked(question)
        result = individual_risk(
            data,
            question.prior,
            question.confidence,
            _some_target(data),
            bins=bins,
            interval=work.INTERVALS[question.interval],
            threshold=question.threshold,
            over=work.OVER[question.over],
            seed=question.seed,
        )
        of_cells = None
        if question.metric is not None:
            of_cells = work.metric_of_cells(data, result, metric(question.metric, question.prior), question, bins)
        by_cell = RiskByCell(result.cells, result.flags)
        source = provenance(call, question, body, data, result.provenance.method)
        mean = mean_risk(data, result.cells, question.confidence, question.seed, bins)
        content = {
            **work.summary(by_cell, mean, of_cells),
            "groups": work.rows_of_groups(body, data, by_cell, question),
            "provenance": source,
        }
        about = encode.notes({"sentence": by_cell.sentence, "provenance": source})
        return cls(result, of_cells, SampleRange.of(data), about, content)

    def rows(self, scores: ArgumentScores, start: int) -> pa.Table:
        """A row for each of these scores, the first of which is record ``start``."""
        cells = self.result.cells.counts.cells
        cell = cell_of(targets_of(scores, cells), cells, self.reach)
        index = np.arange(start, start + len(cell))
        some = replace(self.result, cell=cell, index=index)
        return encode.arrow_table(work.record_columns(some, index, self.of_cells))


def write_risks(
    source: Source, columns: Columns, options: Mapping[str, object], sink: BinaryIO, suffix: str
) -> Mapping[str, object]:
    """Write a row for each record of a source that can be read twice, in its order; what is to be said of all of them.

    Args:
        source: What is read, twice.
        columns: Names of its columns.
        options: Those of ``mace risk``.
        sink: Where to write.
        suffix: ``.parquet``, ``.csv`` or ``.arrow``.
    """
    if (name := needs_every_record(options)) is not None:
        detail = "does not go with the risk of each record of what is larger than memory; leave it out"
        raise fault("bad-option", name, detail)
    validate(RiskQuestion, options)  # before anything is read
    how = {name: value for name, value in options.items() if name == "query"}
    left = {name: value for name, value in options.items() if name != "query"}
    lookup = Lookup.of(left, read(source, "counts", how, columns, merges=False))
    call = Call("counts", query=tuple(each for each in columns if each[0] != "group"), expanded_limit=LIMIT)
    tables = _rows(source, call, lookup)
    first = next(tables)
    writer = _writer(sink, suffix, first.schema.with_metadata(dict(lookup.notes)))
    try:
        for table in chain([first], tables):
            writer.write(table)
    finally:
        writer.close()
    return lookup.content


def _rows(source: Source, call: Call, lookup: Lookup) -> Iterator[pa.Table]:
    import pyarrow as pa

    start, waiting = 0, 0
    tables: list[pa.Table] = []
    for block in source.blocks(call):
        with blamed(block.name):
            scores = block.scores()
            tables.append(lookup.rows(scores, start))
        start += len(scores)
        waiting += len(scores)
        if waiting >= ROWS:
            yield pa.concat_tables(tables)
            tables, waiting = [], 0
    if tables:
        yield pa.concat_tables(tables)


def _some_target(counts: Counts) -> ArgumentScores:
    """A score that can be asked about, since counts need one."""
    labels = getattr(counts.cells, "labels", None)
    return np.zeros(1) if labels is None else labels[:1]


def _writer(sink: BinaryIO, suffix: str, schema: pa.Schema) -> Any:
    """What writes tables of a schema in the format of a suffix."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    match suffix:
        case ".parquet":
            return parquet.ParquetWriter(sink, schema)
        case ".csv":
            return csv.CSVWriter(sink, schema)
        case _:
            return pa.ipc.new_stream(sink, schema)
