"""``/v1/columns``: which columns a table has, from its first bytes."""

from collections.abc import Mapping

from macekit.call import Body, Call, Reply
from macekit.decoding import preview as columns
from macekit.decoding import reader_of
from macekit.decoding.roles import suggestion
from macekit.operations.options import reply_of
from macekit.problems import Problem
from macekit.questions.columns import ColumnsAnswer


def answer_body(call: Call, body: Body, options: Mapping[str, object] | None = None) -> Reply:
    """The columns, and which of them are taken for what."""
    if call.query or options:
        raise Problem("unknown-field", "query string: this question has no options; the body is all it takes")
    table_columns = columns(call, body)
    names = [column.name for column in table_columns]
    roles = suggestion(
        names, [at for at, column in enumerate(table_columns) if column.numbering or column.type == "other"]
    )
    document: ColumnsAnswer = {
        "columns": [{"name": column.name, "type": column.type} for column in table_columns],
        "score": None if roles.scores is None else [names[at] for at in roles.scores],
        "member": None if roles.member is None else names[roles.member],
        "group": None if roles.group is None else names[roles.group],
        "truth": None if roles.truth is None else names[roles.truth],
        "ids": [names[at] for at in roles.ids],
        "rows": reader_of(call).rows(call, body),
        "no_score": roles.reason if table_columns else None,
    }
    return reply_of(call, document)
