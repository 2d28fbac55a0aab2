from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families

from app.telemetry.logs import Exchange
from app.telemetry.metrics import Metrics


def samples(metrics: Metrics) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    families = text_string_to_metric_families(metrics.text().decode())
    return {(s.name, tuple(sorted(s.labels.items()))): s.value for family in families for s in family.samples}


def test_an_exchange_is_counted_by_operation_and_status() -> None:
    metrics = Metrics()
    for status, problem in ((200, None), (200, None), (422, "not-finite")):
        metrics.count(Exchange("r", "POST", "/v1/x", "x", status, bytes_in=10, records=5, problem=problem))

    found = samples(metrics)
    assert found["mace_requests_total", (("operation", "x"), ("status", "200"))] == 2
    assert found["mace_requests_total", (("operation", "x"), ("status", "422"))] == 1
    assert found["mace_records_total", (("operation", "x"),)] == 15
    assert found["mace_body_bytes_total", ()] == 30
    assert found["mace_problems_total", (("problem", "not-finite"),)] == 1
    assert found["mace_request_seconds_count", (("operation", "x"),)] == 3


def test_two_apps_in_one_process_do_not_mix() -> None:
    one, other = Metrics(), Metrics()
    one.count(Exchange("r", "GET", "/", "x", 200))

    assert ("mace_requests_total", (("operation", "x"), ("status", "200"))) not in samples(other)
    assert not [family.name for family in REGISTRY.collect() if family.name.startswith("mace")]


def test_the_process_is_measured_too() -> None:
    assert samples(Metrics())["process_resident_memory_bytes", ()] > 0
