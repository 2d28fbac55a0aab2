"""Spans, as a collector receives them: a real one, as small as it can be."""

import gzip
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from app.main import create_app
from app.settings import BadSettings, Settings
from app.telemetry.logs import Exchange
from app.telemetry.traces import NoTraces, traces
from tests.app.client import TestClient

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Collector(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.received.append((self.path, ExportTraceServiceRequest.FromString(body)))  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def collector() -> Iterator[tuple[str, list[Any]]]:
    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        server.received = []  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", server.received  # type: ignore[attr-defined]
        finally:
            server.shutdown()
            thread.join()


def one_span(exchange: Exchange, headers: list[tuple[bytes, bytes]]) -> tuple[str, Any]:
    with collector() as (address, received):
        made = traces(address)
        with made.span({"headers": headers}, exchange):
            pass
        made.close()
    ((path, request),) = received
    return path, request.resource_spans[0]


def attributes(found: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in found.attributes}


def test_a_request_is_a_span_with_its_route_its_status_and_its_records() -> None:
    path, resource = one_span(Exchange("r-1", "POST", "/v1/advantage", "advantage", 200, records=800), [])

    span = resource.scope_spans[0].spans[0]
    assert path == "/v1/traces"
    assert span.name == "POST /v1/advantage"
    assert attributes(span) == {
        "http.request.method": "POST", "http.response.status_code": 200, "http.route": "/v1/advantage",
        "mace.operation": "advantage", "mace.records": 800, "mace.request_id": "r-1",
    }  # fmt: skip
    assert attributes(resource.resource)["service.name"] == "mace"


def test_the_service_sends_a_span_for_each_request_and_none_of_what_was_asked() -> None:
    with collector() as (address, received):
        with TestClient(create_app(Settings(otlp_endpoint=address, workers=1))) as client:
            client.get("/version?score=0.1234", headers={"traceparent": CALLER})
            client.get("/nowhere/0.1234")
        sent = [request for _, request in received]

    spans = [span for request in sent for r in request.resource_spans for s in r.scope_spans for span in s.spans]
    assert [span.name for span in spans] == ["GET /version", "GET"]
    assert spans[0].trace_id.hex() in CALLER
    assert attributes(spans[1])["error.type"] == "not-found"
    assert not any(b"0.1234" in request.SerializeToString() for request in sent)


@pytest.mark.slow
@pytest.mark.parametrize(("header", "parent"), [(CALLER.encode(), "b7ad6b7169203331"), (b"\xff nonsense", "")])
def test_a_callers_trace_is_continued_and_nonsense_begins_a_new_one(header: bytes, parent: str) -> None:
    _, resource = one_span(Exchange("r", "GET", "/healthz", "healthz", 200), [(b"traceparent", header)])

    span = resource.scope_spans[0].spans[0]
    assert (span.trace_id.hex() in CALLER) == bool(parent)
    assert span.parent_span_id.hex() == parent


def test_a_failure_is_an_error_that_names_its_problem_and_no_message() -> None:
    with collector() as (address, received):
        made = traces(address)
        with pytest.raises(ValueError, match="the score"), made.span({"headers": []}, Exchange("r", "GET", status=500)):
            raise ValueError("the score was 0.1234")
        made.close()

    (_, request), *_ = received
    assert request.resource_spans[0].scope_spans[0].spans[0].status.code == 2
    assert b"0.1234" not in request.SerializeToString()


BARE = """
import sys
from app.telemetry.traces import traces
traces(None)
print('opentelemetry.sdk' in sys.modules)
sys.modules['opentelemetry.sdk'] = None
try: traces('http://127.0.0.1:4318')
except ValueError as error: print(error)
"""


@pytest.mark.slow
def test_without_an_endpoint_nothing_of_opentelemetrys_sdk_is_loaded_and_a_missing_package_is_said() -> None:
    loaded, said = subprocess.check_output([sys.executable, "-c", BARE], text=True).splitlines()

    assert isinstance(traces(None), NoTraces)
    assert loaded == "False"
    assert said == "MACE_OTLP_ENDPOINT is set, but OpenTelemetry is not installed: pip install 'macekit[otel]'"


@pytest.mark.parametrize("endpoint", ["collector:4318", "ftp://collector", "http://", "4318"])
def test_an_endpoint_that_is_no_address_is_refused(endpoint: str) -> None:
    with pytest.raises(BadSettings, match="MACE_OTLP_ENDPOINT"):
        traces(endpoint)
