"""``/v1/exposed``: which members are exposed, by name."""

import numpy as np
from numpy.typing import NDArray

from estimators import Counts
from estimators.audits.exposed import ExposedMembers, exposed_members
from macekit.call import ARROW, CSV, Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode, samples
from macekit.operations.options import parse_question, provenance, reply_of, reply_with_rows, require_form
from macekit.problems import fault
from macekit.questions.audits.exposed import ExposedAnswer, ExposedQuestion, ListAnswer

MOST = 200  # lists that an answer has


def answer(call: Call, body: DecodedBody) -> Reply:
    """The longest list that is as right as was asked, and what holds of the others; or a row for each member."""
    question = parse_question(ExposedQuestion, body)
    require_form(call)
    data = samples.sample_of(body, question)
    if isinstance(data, Counts):
        raise fault("bad-option", "counts", "hold no records that could be listed; give the scores")
    result = exposed_members(data, question.max_false_share, question.confidence, question.direction)
    place = result.longest(question.max_false_share)
    rows = _rows(body, question, data.n_members)
    source = provenance(call, question, body, data, "exposed")
    content = encode.as_answer(
        ExposedAnswer,
        result,
        listed=rows[result.listed].tolist(),
        n_listed=len(result.listed),
        most_false=0 if place is None else int(result.most_false[place]),
        max_false_share=question.max_false_share,
        direction="low" if result.is_low else "high",
        n_members=data.n_members,
        n_nonmembers=data.n_nonmembers,
        lists=_lists(result),
        guarantee=encode.guarantee(result.guarantee),
        warnings=encode.warnings((*body.cautions, *result.cautions)),
        provenance=source,
    )
    if call.accept not in (CSV, ARROW):
        return reply_of(call, content, data)
    table = encode.arrow_table({"index": rows, "listed": result.is_listed, "false_share": result.false_share})
    about = {"sentence": result.sentence, "provenance": source}
    return reply_with_rows(call, table, about, data.n_members + data.n_nonmembers, source["input_sha256"])


def _rows(body: DecodedBody, question: ExposedQuestion, n_members: int) -> NDArray[np.int64]:
    """Where each member stood: in the members, or in the rows of a table; of a person the record that was kept."""
    if body.units is None:
        return np.arange(n_members) if body.rows is None else body.rows[:n_members]
    every = np.arange(len(body.units)) if body.rows is None else body.rows
    return np.asarray(every[samples.kept_rows(body, question)[:n_members]])


def _lists(result: ExposedMembers) -> list[ListAnswer]:
    """Lists of ever more members, each a few percent longer."""
    lengths = np.unique(np.geomspace(1, max(1, result.records[-1]), MOST).astype(int))
    places = np.unique(np.searchsorted(result.records, lengths))
    return [
        {
            "score": float(result.scores[place]),
            "records": int(result.records[place]),
            "most_false": int(result.most_false[place]),
            "exposed": int(result.records[place] - result.most_false[place]),
        }
        for place in places
    ]
