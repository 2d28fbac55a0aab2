"""What ``shadows`` and ``text`` answer alike: scores of records by several queries, and one verdict over all."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from estimators import Scores
from estimators.arrays import Booleans, Floats
from estimators.audits.model import without_same_order
from estimators.audits.queries import Query
from estimators.decisions.exposed_members import exposures_of
from estimators.decisions.riskiest import compare_queries, judge_queries, limits_of, verdict_of
from estimators.python.dataclass import dataclass
from estimators.sample.digests import digest
from estimators.sample.scores import Query as ScoreKind
from estimators.statement import Caution
from macekit.call import ARROW, CSV, Call, Reply
from macekit.operations import encode
from macekit.operations.effects import require_acceptance_acts
from macekit.operations.options import reply_of, reply_with_rows, require_form
from macekit.problems import fault
from macekit.questions.audits import table_answers
from macekit.questions.audits.contract import ScoredAnswer, ScoredQuestion
from macekit.reports.csv import disarm_formula
from macekit.schemas.questions import QueryLimitsQuestion
from macekit.schemas.statements import ColumnReadAnswer

if TYPE_CHECKING:
    import pyarrow as pa


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
    table_answers.require_rates(question)
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
        **table_answers.over_queries(
            f"{verdict.sentence} {result}".lstrip(), verdict, limits, comparison, exposures, catalogue
        ),
        "not_asked": {**same, **records.not_asked},
        "records": None,
        "warnings": encode.warnings((*records.cautions, *verdict.cautions, *comparison.cautions)),
        "provenance": table_answers.provenance(
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
