"""Questions answered in this process, by the operations of the service; arrays reach them as they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from macekit.client import Client
from macekit.files import File
from macekit.posing import Question
from macekit.problems import answer_of


class Local(Client):
    """What answers here."""

    def __repr__(self) -> str:
        return "macekit.local.Local()"

    def _answer(self, question: Question) -> dict[str, Any]:
        from app.call import Call
        from app.operations import answer, perform
        from app.schemas.query import spelled

        records, options = question.records, dict(question.options)
        if isinstance(records, File):
            pairs = spelled(options)
            if pairs is not None:
                with records.body() as body:
                    reply = perform(records.call(question.operation, question.roles + pairs), body)
                return answer_of(question.operation, reply)
            records = records.material(question.operation, question.roles)
        reply = answer(Call(question.operation), replace(records, options=options, textual=False))
        return answer_of(question.operation, reply)
