"""``/v1/text``: log-probabilities of tokens to scores of texts, and to a verdict over every query."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from estimators.arrays import Booleans, Floats
from estimators.audits.queries import TEXT
from estimators.audits.queries.text import aggregate
from estimators.statement import Caution
from macekit.call import FORM_DATA, JSON, Body, Call, Reply
from macekit.decoding import reader_of
from macekit.decoding.body import DecodedBody, table_options
from macekit.decoding.body import options as query_options
from macekit.decoding.columns import Labels
from macekit.decoding.roles import Roles
from macekit.decoding.table import Table, membership
from macekit.decoding.texts import Entry
from macekit.operations.effects import require_left_out
from macekit.operations.options import parse_question
from macekit.problems import Problem, fault
from macekit.questions.audits.table_answers import ScoredRecords, reply_with_scores
from macekit.questions.audits.text import TextQuestion
from macekit.questions.audits.text.reading import LOGPROBS, MEMBER, Reader

Columns = dict[str, list[Any]]

SIDES = ("members", "nonmembers")

NEEDS = {
    "zlib_ratio": "needs text",
    "minkpp": "needs mean and std",
    "reference_difference": "needs reference_logprobs",
    "reference_ratio": "needs reference_logprobs",
}
"""What else a text must have for a query."""

ONLY_TOTALS = "needs the log-probability of each token, and the samples have that of the whole text"


def answer_body(call: Call, body: Body, options: Mapping[str, object] | None = None) -> Reply | None:
    """Scores of texts as they are read; None where they come among the options, or a file a side."""
    if call.media_type in (JSON, FORM_DATA):
        return None
    body_of_query = DecodedBody(options=query_options(call), textual=True).with_options(options)
    return _answer(call, body_of_query, reader_of(call).texts(call, body))


def answer(call: Call, body: DecodedBody) -> Reply:
    """The same of both sides, each a list, or what is read of a file as it is needed."""
    options = dict(body.options)
    sides = [options.pop(name, None) for name in SIDES]
    pairs = zip(sides, SIDES, strict=True)
    entries = chain.from_iterable([_entries(side, name) for side, name in pairs])
    return _answer(call, replace(body, options=options), entries)


def _entries(side: Any, name: str) -> Iterator[Entry]:
    """The texts of one side, each with the name of the side."""
    if side is None:
        raise fault("missing-field", name, "is required and missing")
    if isinstance(side, list):
        side = (Entry(value, f"record {row}", row) for row, value in enumerate(side))
    elif not isinstance(side, Iterator):
        raise fault("wrong-type", name, "need a list, an entry for each text")
    is_member = name == SIDES[0]
    return (each._replace(where=f"{name}: {each.where}", is_member=is_member) for each in side)


def _answer(call: Call, body: DecodedBody, entries: Iterator[Entry]) -> Reply:
    question = parse_question(TextQuestion, body)
    if question.by is None:
        require_left_out(question, ("how",), "it goes with by")
    name, _, value = table_options(call).get(MEMBER, "").partition("=")
    keep = [*question.keep, *([] if question.by is None else [question.by])]
    reader = Reader(question.layout, keep, name or None)
    copied, scores = _scored(reader, entries, question.share)
    if question.by is not None:
        copied, scores = _by_unit(copied, scores, question, reader.member)
    column = copied.get(reader.member or "")
    records = ScoredRecords(
        scores,
        None if column is None else _is_member(column, value),
        copied,
        _not_asked(scores),
        [*_of_generated(reader)],
        [],
        f"log-probabilities of {reader.tokens} tokens of {reader.texts} texts",
    )
    further = {"texts": reader.texts, "tokens": reader.tokens, "layout": reader.layout}
    return reply_with_scores(call, question, records, TEXT, further)


def _scored(reader: Reader, entries: Iterator[Entry], share: float) -> tuple[Columns, dict[str, Floats]]:
    """What is copied of the texts, and their scores by every query: a few numbers a text are all that is held."""
    copied: Columns = {}
    parts: dict[str, list[Floats]] = {}
    for batch in reader.batches(entries):
        for name, values in batch.copied.items():
            copied.setdefault(name, []).extend(values)
        for name, part in reader.scores(batch, share).items():
            parts.setdefault(name, []).append(part)
    if not parts:
        raise Problem("too-few-records", f"{LOGPROBS}: got no text, need those of members and of nonmembers")
    return copied, {name: np.concatenate(each) for name, each in parts.items()}


def _by_unit(
    copied: Columns, scores: Mapping[str, Floats], question: TextQuestion, member: str | None
) -> tuple[Columns, dict[str, Floats]]:
    """One score for each document or person, which is a member with all of its texts, or with none."""
    by = str(question.by)
    labels, columns, names = copied[by], dict[str, Floats](), list[Any]()
    for query, values in scores.items():
        units, columns[query] = aggregate(values, labels, question.how, share=question.share)
        names = units.tolist()
    if member is None:
        return {by: names}, columns
    of_unit: dict[Any, Any] = {}
    for row, (label, is_member) in enumerate(zip(labels, copied[member], strict=True)):
        if of_unit.setdefault(label, is_member) != is_member:
            detail = (
                f"text {row} is of one that other texts have on the other side; one is a member with all of its "
                "texts, or with none"
            )
            raise fault("bad-records", "by", detail, row)
    return {by: names, member: [of_unit[name] for name in names]}, columns


def _is_member(column: list[Any], value: str) -> Booleans:
    """Who is a member, by what every table's column of that may hold."""
    array = np.array(column)
    values = Labels.of(array) if array.dtype.kind == "U" else array
    roles = Roles((), 0, None, None, member_value=value or None)
    return membership(Table({0: values}), roles, set())


def _not_asked(scores: Mapping[str, Floats]) -> dict[str, str]:
    """Queries that the fields do not allow, and what they need."""
    if "byte_loss" in scores:
        return {name: ONLY_TOTALS for name in TEXT if name not in scores}
    return {name: NEEDS[name] for name in NEEDS if name not in scores}


def _of_generated(reader: Reader) -> Iterator[Caution]:
    """That numbers are of what the model wrote, and not of what it was trained on."""
    if reader.is_generated:
        yield Caution(
            "generated_tokens",
            "these are log-probabilities of tokens that the model wrote itself, which say little of whether a text was "
            "trained on; ask for those of the text: completions with echo and max_tokens=0, or prompt_logprobs=0",
        )
