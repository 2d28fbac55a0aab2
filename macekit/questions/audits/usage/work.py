"""``/v1/usage``: how large a share of some records was trained on."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from estimators import Estimate
from estimators.audits.one_score import GROUPS
from estimators.audits.usage import dataset_use
from estimators.sample.digests import digest
from estimators.sample.integers import require_different_floats
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.decoding.roles import SCORE_NAMES
from macekit.decoding.whole_tables import require_tables
from macekit.operations import encode
from macekit.operations.options import parse_question, reply_of
from macekit.problems import fault, unknown_column
from macekit.questions.audits.table_answers import Columns, column_of, column_read, provenance
from macekit.questions.audits.usage import UsageAnswer, UsageQuestion


def answer(call: Call, body: DecodedBody) -> Reply:
    """The share, between two ends."""
    question = parse_question(UsageQuestion, body)
    require_tables(call.operation, body.tables)
    tables = [body.tables[name] for name in GROUPS]
    names = question.score or [_usual(tables, question.unit)]
    scores = [_scores(name, table, names) for name, table in zip(GROUPS, tables, strict=True)]
    for name in names:
        sides = [column_of(group, table, name, "score") for group, table in zip(GROUPS, tables, strict=True)]
        require_different_floats(sides, "score", "score")
    units = None
    if question.unit is not None:
        units = [column_of(name, table, question.unit, "unit") for name, table in zip(GROUPS, tables, strict=True)]
    result = dataset_use(*scores, units=units, **question.model_dump(exclude={*GROUPS, "score", "unit"}))
    lines = "".join(f"{name} {digest(each)}\n" for name, each in zip(GROUPS, scores, strict=True))
    read = [column_read("score", name, np.concatenate([each[:, i] for each in scores])) for i, name in enumerate(names)]
    if units is not None and question.unit is not None:
        read.append(column_read("unit", question.unit, np.concatenate(units)))
    score = " + ".join(names) if result.weights else names[result.column]
    weights = zip(names, result.weights, strict=bool(result.weights))
    sha256 = hashlib.sha256(lines.encode()).hexdigest()
    content = encode.as_answer(
        UsageAnswer,
        result,
        decision=None if result.decision is None else result.decision.value,
        covers=list(result.covers),
        max_share=result.limit,
        share=encode.interval(Estimate(None, result.share)),
        score=score,
        weights=[{"column": name, "weight": weight} for name, weight in weights],
        direction="low" if result.is_low else "high",
        **dict(zip(("n_members", "n_nonmembers", "n_candidates"), result.numbers, strict=True)),
        warnings=encode.warnings(result.cautions),
        provenance=provenance(call, question, result.numbers[:2], sha256, score, read),
    )
    return reply_of(call, content)


def _usual(tables: Sequence[Columns], unit: str | None) -> str:
    """The only column of all tables, or one with a usual name of scores."""
    names = [name for name in tables[0] if name != unit and all(name in table for table in tables)]
    usual = [name for each in SCORE_NAMES for name in names if name.lower() == each]
    if len(names) != 1 and not usual:
        raise fault(
            "missing-field",
            "score",
            f"{len(names)} columns stand in all three tables and could be the scores; say which with score",
        )
    return usual[0] if usual else names[0]


def _scores(group: str, table: Columns, names: Sequence[str]) -> Any:
    """The columns of scores of one group, a row a record."""
    columns = []
    for place, name in enumerate(names):
        if name not in table:
            raise unknown_column("score", name, list(table))
        column = column_of(group, table, name, "score")
        if column.dtype.kind not in "iuf":
            detail = f"column {place + 1} of those named holds no numbers in {group}; name that of the scores"
            raise fault("wrong-type", "score", detail)
        columns.append(column.astype(np.float64))
    return np.stack(columns, axis=1)
