"""One request and its answer, as logs, metrics and traces tell it: counts and names, nothing that was submitted."""

from __future__ import annotations

import time
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "QUERY"})
CLIENT_LEFT = 499
"""What is told of a request whose client left before it was answered; nobody is sent it."""

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The id of the request under way, for whoever logs meanwhile."""


@dataclass(slots=True)
class Exchange:
    """What is known of a request so far; ``operation`` is "none" where there is nothing."""

    request_id: str
    method: str
    route: str | None = None
    operation: str = "none"
    status: int = CLIENT_LEFT
    bytes_in: int = 0
    records: int = 0
    problem: str | None = None
    began: float = field(default_factory=time.perf_counter)

    @property
    def seconds(self) -> float:
        """Seconds since it began."""
        return time.perf_counter() - self.began

    @classmethod
    def begin(cls, scope: Any, name: str) -> Exchange:
        """Begin the exchange of this scope, and leave it there for whoever answers."""
        found = cls(name, scope["method"] if scope["method"] in METHODS else "other")
        scope.setdefault("state", {})["exchange"] = found
        return found

    @classmethod
    def of(cls, scope: Any) -> Exchange:
        """Return the exchange of this scope; where none was begun, one that nobody will read."""
        found = scope.get("state", {}).get("exchange")
        return found if isinstance(found, cls) else cls("", "other")
