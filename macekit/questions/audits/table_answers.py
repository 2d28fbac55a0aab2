"""What questions of tables and models answer alike: queries, scores of records by them, exposures, sides, columns."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from estimators import VERSION, Estimate, Scores
from estimators.arrays import Booleans, Floats
from estimators.audits.model import without_same_order
from estimators.audits.queries import Query
from estimators.audits.queries.column import Column
from estimators.audits.queries.rows import Rows
from estimators.audits.queries.table import Encoding
from estimators.audits.queries.values import as_texts, read_values
from estimators.audits.split import Control, SplitCheck
from estimators.audits.split import control as control_of
from estimators.decisions.compare import Comparison
from estimators.decisions.exposed_members import exposures_of
from estimators.decisions.riskiest import (
    AuditVerdict,
    RiskiestLimit,
    compare_queries,
    judge_queries,
    limits_of,
    verdict_of,
)
from estimators.privacy.exposure import Exposure
from estimators.python.dataclass import dataclass
from estimators.sample.digests import digest
from estimators.sample.scores import Query as ScoreKind
from estimators.statement import Caution
from macekit.call import ARROW, CSV, Call, Reply
from macekit.catalogue import BY_NAME
from macekit.decoding.whole_tables import require_tables
from macekit.operations import encode
from macekit.operations.effects import require_acceptance_acts
from macekit.operations.options import provenance_options, reply_of, reply_with_rows, require_form
from macekit.problems import fault, unknown_column, unknown_column_of
from macekit.questions.audits.contract import RiskiestAnswer, ScoredAnswer, ScoredQuestion
from macekit.reports.csv import disarm_formula
from macekit.schemas import answers
from macekit.schemas.questions import LimitsQuestion, QueryLimitsQuestion, TablesQuestion
from macekit.schemas.records import Question
from macekit.schemas.statements import ColumnReadAnswer, ProvenanceAnswer

if TYPE_CHECKING:
    import pyarrow as pa


Values = NDArray[np.generic]
Columns = Mapping[str, Any]

KINDS = {"number": "numbers", "date": "dates", "category": "categories"}
"""What a column holds, by what it was taken for."""


def require_pairs(question: LimitsQuestion) -> None:
    """Refuse what belongs to a limit that is not there."""
    require_rates(question)
    if question.max_group_advantage is not None and question.group is None:
        raise fault("missing-field", "group", "name the column of groups that max_group_advantage limits")


def require_rates(question: QueryLimitsQuestion) -> None:
    """Refuse a rate or a precision that belongs to no limit."""
    if question.max_tpr is None and question.at_fpr is not None:
        detail = "give the largest acceptable true positive rate at the false positive rate at_fpr"
        raise fault("missing-field", "max_tpr", detail)
    require_precision(question.max_exposed, question.at_precision)


def require_precision(max_exposed: float | None, at_precision: float | None) -> None:
    """Refuse a precision that belongs to no limit."""
    if max_exposed is None and at_precision is not None:
        detail = "give the largest acceptable share of training rows that are exposed at at_precision"
        raise fault("missing-field", "max_exposed", detail)


def require_columns(call: Call, question: TablesQuestion, tables: Mapping[str, Columns]) -> None:
    """Refuse what lacks a table, and names that are no columns.

    They are of both sides for what says something of a row, of any table otherwise.
    """
    require_tables(call.operation, tables)
    for option in ("truth", "unit", "group", "control", "predictions", "features"):
        value = getattr(question, option, None)
        for name in [value] if isinstance(value, str) else value or []:
            for side in ("train", "holdout"):
                if name not in tables[side]:
                    raise unknown_column_of(option, name, side, tables[side])
    every = list(dict.fromkeys(name for table in tables.values() for name in table))
    for option in ("categories", "leave_out", "use"):
        for name in getattr(question, option):
            if name not in every:
                raise unknown_column(option, name, every)


def over_queries(
    sentence: str,
    verdict: AuditVerdict,
    limits: Sequence[RiskiestLimit],
    comparison: Comparison,
    exposures_of: Mapping[str, Exposure],
    catalogue: Mapping[str, Query],
) -> RiskiestAnswer:
    """Every query that was asked, and the verdict over all of them."""
    return {
        "sentence": sentence,
        "decision": cast("Any", verdict.word or None),
        "covers": list(verdict.covers),
        "undecided_because": verdict.undecided_because,
        "limits": encode.limits_over_queries(limits),
        "maximum": encode.interval(comparison.maximum),
        "baseline": comparison.ranking[0].advantage.baseline,
        "ranking": encode.ranking(comparison),
        "queries": queries(comparison, catalogue),
        "exposures": exposures(exposures_of),
    }


def queries(comparison: Comparison, catalogue: Mapping[str, Query]) -> list[answers.AskedQueryAnswer]:
    """What the score of each query says, and where it comes from."""
    return [
        encode.as_answer(answers.AskedQueryAnswer, each)
        for each in (catalogue.get(place.name) for place in comparison.ranking)
        if each is not None
    ]


def exposures(by_query: Mapping[str, Exposure]) -> list[answers.QueryExposureAnswer]:
    """Exposure by each query, the surest first."""
    surest = sorted(by_query.items(), key=lambda each: (not each[1].severe, -each[1].score_epsilon))
    return [{"query": name, **encode.exposure(each)} for name, each in surest]


def split(check: SplitCheck) -> answers.SplitAnswer:
    """What tells the sides apart without model or release."""
    ends_of_columns = [encode.interval(Estimate(each.value, each.interval)) for each in check.columns]
    return encode.as_answer(
        answers.SplitAnswer,
        check,
        advantage=encode.interval(Estimate(check.value, check.interval)),
        columns=[
            encode.as_answer(answers.ColumnDifferenceAnswer, each, **ends)
            for each, ends in zip(check.columns, ends_of_columns, strict=True)
        ],
    )


@dataclass(frozen=True, slots=True, eq=False)
class ControlColumn:
    """The column of a control score in both sides; of no names and no scores, if none was named."""

    names: tuple[str, ...] = ()
    scores: tuple[Values, ...] = ()

    def judged(self, confidence: float, seed: int) -> Control | None:
        """How much of the sides' own difference reaches such a score."""
        return control_of(*self.scores, confidence=confidence, seed=seed) if self.scores else None

    def read(self) -> Iterator[ColumnReadAnswer]:
        """The column, and what it was taken for."""
        yield from (column_read("control", name, np.concatenate(self.scores)) for name in self.names)


def control_column(name: str | None, train: Columns, holdout: Columns) -> ControlColumn:
    """The control score of either side, which has to be a number in every row."""
    if name is None:
        return ControlColumn()
    scores = []
    for side, table in (("train", train), ("holdout", holdout)):
        column = column_of(side, table, name, "control")
        if column.dtype.kind not in "iuf":
            detail = f"column {name!r} of {side} holds no numbers; name that of the control score"
            raise fault("wrong-type", "control", detail)
        scores.append(column)
    return ControlColumn((name,), tuple(scores))


def control(result: Control | None) -> answers.ControlAnswer | None:
    """How much of the sides' difference reaches a score whose model saw neither; None if there is none."""
    if result is None:
        return None
    return encode.as_answer(answers.ControlAnswer, result, **encode.interval(result.advantage.estimate))


def columns(used: Sequence[Column]) -> Iterator[ColumnReadAnswer]:
    """The columns that are used, and what each was taken for."""
    for column in used:
        yield {
            "role": "column",
            "name": column.name,
            "kind": KINDS[column.kind],
            "distinct": column.levels,
            "notes": [f"rows are compared at {column.precision}"] if column.precision else [],
        }


def column_of(side: str, table: Columns, name: str, what: str) -> Values:
    """A column without missing values, numbers or texts; ``what`` names the option that asked for it."""
    if name not in table:
        raise unknown_column_of(what, name, side, table)
    column = read_values(side, name, table[name], len(table[name]))
    if column.missing.any():
        row = int(np.argmax(column.missing))
        detail = f"row {row} of {side} has no value in column {name!r}; leave the row out, or look why"
        raise fault("bad-records", what, detail, row)
    if column.kind == "number":
        numbers = column.values.astype(np.float64)
        whole = what == "truth" and bool((numbers == np.floor(numbers)).all())
        return numbers.astype(np.int64) if whole else numbers
    if column.kind == "whole" and all(-(2**63) <= each < 2**63 for each in column.values.tolist()):
        return column.values.astype(np.int64)
    return np.asarray(as_texts(column).values.astype(np.str_))


def column_read(role: str, name: str, values: Values) -> ColumnReadAnswer:
    """A column of both sides that was read, and what it was taken for."""
    kind = "categories" if values.dtype.kind == "U" else "numbers"
    return {"role": role, "name": name, "kind": kind, "distinct": len(np.unique(values)), "notes": []}


def provenance(
    call: Call,
    question: Question,
    sizes: tuple[int, int],
    sha256: str,
    query: str,
    read: Iterable[ColumnReadAnswer],
    method: str = "",
) -> ProvenanceAnswer:
    """What was asked of how many members and nonmembers; the method is called like the operation, unless it is named.

    ``query`` says how scores came about, in words.
    """
    options = provenance_options(question, call)
    return {
        "method": method or BY_NAME[call.operation].key,
        "version": VERSION,
        "n_members": sizes[0],
        "n_nonmembers": sizes[1],
        "input_sha256": sha256,
        "query": query,
        "columns": list(read),
        "seed": cast("int", options["seed"]),
        "options": options,
    }


def provenance_of_tables(
    call: Call, question: TablesQuestion, tables: Encoding, control: ControlColumn
) -> ProvenanceAnswer:
    """The same of a release beside the rows that it was made from, and others."""
    rows = {
        "train": tables.members,
        "holdout": tables.nonmembers,
        "synthetic": tables.synthetic,
        "reference": tables.reference,
    }
    return provenance(
        call,
        question,
        (len(tables.members), len(tables.nonmembers)),
        fingerprint(rows, *control.scores),
        "columns of all tables in one encoding",
        [*columns(tables.columns), *control.read()],
    )


def fingerprint(tables: Mapping[str, Rows | None], *scores: Values) -> str:
    """SHA-256 over tables as they were understood, and over scores that were read beside them."""
    lines = "".join(f"{name} {digest(rows.points)}\n" for name, rows in tables.items() if rows is not None)
    rows = hashlib.sha256(lines.encode()).hexdigest()
    return hashlib.sha256(f"{rows}{digest(*scores)}".encode()).hexdigest() if scores else rows


@dataclass(frozen=True, slots=True, eq=False)
class ScoredRecords:
    """Scores of the same records by several queries, higher for members.

    Attributes:
        scores: A score a record, under the name of each query.
        member: Who is a member; None if nobody says.
        copied: What goes with the scores of a record, column by column.
        not_asked: Other queries, and why they were not asked.
        came: The digest of what came, where scores were computed from arrays: their last digits hang on the processor.
    """

    scores: Mapping[str, Floats]
    member: Booleans | None
    copied: Mapping[str, list[Any]]
    not_asked: Mapping[str, str]
    cautions: Sequence[Caution]
    read: Sequence[ColumnReadAnswer]
    about: str
    came: str | None = None

    @property
    def columns(self) -> dict[str, list[Any]]:
        """What is copied and every query, a value a record."""
        return {**self.copied, **{name: values.tolist() for name, values in self.scores.items()}}

    @property
    def sha256(self) -> str:
        """What ties an answer to what came, or to these scores and to who is a member."""
        if self.came is not None:
            return self.came
        sides = () if self.member is None else (self.member,)
        return digest(*sides, *self.scores.values())

    def __len__(self) -> int:
        return len(next(iter(self.scores.values())))

    @property
    def sentence(self) -> str:
        """How many records have scores, by which queries."""
        return f"{len(self):,} records scored by {', '.join(self.scores)}; higher is more like a member."


def reply_with_scores(
    call: Call,
    question: ScoredQuestion,
    records: ScoredRecords,
    catalogue: Mapping[str, Query],
    further: Mapping[str, object],
) -> Reply:
    """The verdict over all queries, or the scores as a table: CSV, or Arrow with the verdict in its metadata.

    A table without a limit is of scores alone, so that records of which nobody says who is a member can be scored.
    """
    require_form(call)
    require_rates(question)
    require_acceptance_acts(question)
    limited = any(each is not None for each in (question.max_advantage, question.max_tpr, question.max_exposed))
    content: dict[str, object] = {"sentence": records.sentence, "warnings": encode.warnings(records.cautions)}
    if call.accept != CSV and (limited or call.accept != ARROW):
        content = {**_verdict(call, question, records, catalogue), **further}
    if call.accept in (CSV, ARROW):
        table = _table(records, for_spreadsheets=call.accept == CSV)
        return reply_with_rows(call, table, content, len(records), records.sha256)
    return reply_of(call, content | {"records": records.columns if question.scores else None})


def _verdict(
    call: Call, question: ScoredQuestion, records: ScoredRecords, catalogue: Mapping[str, Query]
) -> ScoredAnswer:
    """All intervals holding together, and one decision over all queries."""
    member = records.member
    if member is None:
        detail = (
            "no record says who is a member; give it in each, or members and nonmembers apart. The scores "
            "alone are answered as CSV or Arrow"
        )
        raise fault("missing-field", "member", detail)
    every = {
        name: Scores.of(each[member], each[~member], ScoreKind.CONTINUOUS) for name, each in records.scores.items()
    }
    queries, same = without_same_order(every)
    prior, confidence, seed = question.prior, question.confidence, question.seed
    rates = question.model_dump(exclude_none=True, include=set(QueryLimitsQuestion.model_fields))
    comparison = compare_queries(queries, prior, confidence, seed)
    limits = judge_queries(limits_of(**rates), queries, prior, confidence, seed)
    exposures = exposures_of(queries, prior, confidence)
    odd = (*records.cautions, *comparison.cautions)
    verdict = verdict_of(limits, None, "", None, exposures, question.accept_exposure, odd)
    first, *others = comparison.ranking
    result = comparison.sentence if others else first.advantage.sentence
    return {
        **over_queries(f"{verdict.sentence} {result}".lstrip(), verdict, limits, comparison, exposures, catalogue),
        "not_asked": {**same, **records.not_asked},
        "records": None,
        "warnings": encode.warnings((*records.cautions, *verdict.cautions, *comparison.cautions)),
        "provenance": provenance(
            call, question, (int(member.sum()), int((~member).sum())), records.sha256, records.about, records.read
        ),
    }


def _table(records: ScoredRecords, *, for_spreadsheets: bool = False) -> "pa.Table":
    """A row for each record; whole numbers beyond 64 bits as text, and no text that a spreadsheet would run."""
    import pyarrow as pa

    columns = records.columns
    for name, values in records.copied.items():
        kinds = {*map(type, values)}
        if int in kinds and any(not -(2**63) <= each < 2**63 for each in values):
            columns[name] = [str(each) for each in values]
        elif kinds == {int, float}:
            columns[name] = [float(each) for each in values]
        elif for_spreadsheets and str in kinds:
            columns[name] = [disarm_formula(each) for each in values]
    return pa.table(columns)
