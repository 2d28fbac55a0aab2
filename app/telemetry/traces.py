"""Traces of requests, sent by OTLP over HTTP if the settings name a collector.

OpenTelemetry is the extra ``otel``: it is imported where a span is made, and never without an endpoint.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from app.settings import BadSettings
from app.telemetry.logs import Exchange
from macekit.call import __version__

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span

COLLECTOR_SECONDS = 5
"""Seconds a collector is given to take spans, so that one that is down does not hold up the end."""

CALLER = frozenset({b"traceparent"})


class Spans:
    """Spans on their way to a collector."""

    def __init__(self, provider: TracerProvider) -> None:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._provider = provider
        self._tracer = provider.get_tracer("mace", __version__)
        self._propagator = TraceContextTextMapPropagator()

    @classmethod
    def to(cls, address: str) -> Spans:
        """Spans that go to this address, in batches, from a thread of their own."""
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.sdk.trace.sampling import ALWAYS_ON, ParentBased

        provider = TracerProvider(
            sampler=ParentBased(ALWAYS_ON),
            resource=Resource.create({"service.name": "mace", "service.version": __version__}),
            shutdown_on_exit=False,  # the app's own end does it
        )
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=address, timeout=COLLECTOR_SECONDS)))
        return cls(provider)

    @contextmanager
    def span(self, scope: Any, exchange: Exchange) -> Iterator[None]:
        """Put a span around a request; what it says is known only at its end."""
        from opentelemetry.trace import SpanKind

        with self._tracer.start_as_current_span(
            exchange.method,
            context=self._caller(scope),
            kind=SpanKind.SERVER,
            record_exception=False,  # an exception's message may hold a value
            set_status_on_exception=False,
        ) as span:
            try:
                yield
            finally:
                _describe(span, exchange)

    def close(self) -> None:
        """Send what is left and stop."""
        self._provider.shutdown()

    def _caller(self, scope: Any) -> Context:
        """Return the context that the caller named; an empty one if there is none, or if it is no good."""
        from opentelemetry.context import Context

        carrier = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"] if k in CALLER}
        return self._propagator.extract(carrier, Context())


def _describe(span: Span, exchange: Exchange) -> None:
    from opentelemetry.trace import StatusCode

    span.set_attribute("http.request.method", exchange.method)
    span.set_attribute("http.response.status_code", exchange.status)
    span.set_attribute("mace.operation", exchange.operation)
    span.set_attribute("mace.records", exchange.records)
    span.set_attribute("mace.request_id", exchange.request_id)
    if exchange.route is not None:
        span.update_name(f"{exchange.method} {exchange.route}")
        span.set_attribute("http.route", exchange.route)
    if exchange.problem is not None:
        span.set_attribute("error.type", exchange.problem)
    if exchange.status >= 500:
        span.set_status(StatusCode.ERROR)


SIGNAL = "/v1/traces"


class Traces(Protocol):
    """Makes a span of a request."""

    def span(self, scope: Any, exchange: Exchange) -> AbstractContextManager[None]:
        """Put a span around a request."""

    def close(self) -> None:
        """Send what is left."""


class NoTraces:
    """No spans: used when tracing is off."""

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
        return Spans.to(endpoint if parts.path.strip("/") else endpoint.rstrip("/") + SIGNAL)
    except ImportError:
        message = "MACE_OTLP_ENDPOINT is set, but OpenTelemetry is not installed: pip install 'macekit[otel]'"
        raise BadSettings(message) from None
