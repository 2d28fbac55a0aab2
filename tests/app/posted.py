"""One question as it would be posted, and what came of it."""

from __future__ import annotations

import json
from typing import Any

from macekit.call import Body, Call, Reply
from macekit.operations import perform

Decoded = dict[str, Any]


def post(operation: str, body: object) -> Reply:
    return perform(Call(operation), Body.of(json.dumps(body).encode()))


def asked(operation: str, body: object) -> Decoded:
    """The answer, its JSON decoded."""
    return _decoded(operation, body, (200,))


def refused(operation: str, body: object) -> Decoded:
    """The problem."""
    return _decoded(operation, body, (400, 422))


def _decoded(operation: str, body: object, statuses: tuple[int, ...]) -> Decoded:
    reply = post(operation, body)
    found: Decoded = json.loads(bytes(reply.body))
    assert reply.status in statuses, found
    return found
