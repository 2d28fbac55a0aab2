"""Traces, if the settings say where they go; without, nothing of OpenTelemetry's is imported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol
from urllib.parse import urlsplit

from app.settings import BadSettings
from app.telemetry.exchange import Exchange

SIGNAL = "/v1/traces"


class Traces(Protocol):
    """Whoever makes a span of a request."""

    def span(self, scope: Any, exchange: Exchange) -> AbstractContextManager[None]:
        """Put a span around a request."""

    def close(self) -> None:
        """Send what is left."""


class NoTraces:
    """No spans: what stands in when nobody asked for any."""

    @contextmanager
    def span(self, scope: Any, exchange: Exchange) -> Iterator[None]:
        """Do nothing around a request."""
        yield

    def close(self) -> None:
        """Nothing is left to send."""


def traces(endpoint: str | None) -> Traces:
    """Return the traces for an endpoint: a collector's base address, or the whole address of its traces."""
    if endpoint is None:
        return NoTraces()
    parts = urlsplit(endpoint)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise BadSettings("MACE_OTLP_ENDPOINT: an address begins with http:// or https:// and names a host")
    try:
        from app.telemetry.spans import Spans  # noqa: PLC0415  the extra may not be installed
    except ImportError:
        raise BadSettings(
            "MACE_OTLP_ENDPOINT is set, but OpenTelemetry is not installed: pip install 'mace[otel]'"
        ) from None
    return Spans.to(endpoint if parts.path.strip("/") else endpoint.rstrip("/") + SIGNAL)
