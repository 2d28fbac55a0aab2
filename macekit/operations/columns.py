"""``/v1/columns``: which columns a table has, from its head."""

from __future__ import annotations

from macekit.call import Body, Call, Reply
from macekit.decoding.preview import columns
from macekit.decoding.roles import usual
from macekit.operations.options import reply_of
from macekit.problems import Problem
from macekit.schemas.answers import ColumnsAnswer


def answer(call: Call, body: Body) -> Reply:
    """The columns, and which of them are taken for what."""
    if call.query:
        raise Problem("unknown-field", "query string: this question has no options; the body is all it takes")
    found = columns(call, body)
    names = [column.name for column in found]
    scores, member, group = usual(names)
    answered: ColumnsAnswer = {
        "columns": [{"name": column.name, "type": column.type} for column in found],
        "score": None if scores is None else [names[at] for at in scores],
        "member": None if member is None else names[member],
        "group": None if group is None else names[group],
    }
    return reply_of(call, answered)
