import json
import re
from pathlib import Path

import pytest
from dashboards import dashboard_faults, exported, parts, scrape_faults, targets, unseen

ROOT = Path(__file__).resolve().parents[2]
DASHBOARD = json.loads((ROOT / "deploy/grafana/dashboards/mace.json").read_text())
HISTOGRAM = r"_(bucket|sum|count)$"


@pytest.fixture(scope="module")
def series():
    return exported()


def test_every_query_of_the_dashboard_asks_for_what_the_service_exports(series):
    assert list(dashboard_faults(DASHBOARD, series, "prometheus")) == []


def test_everything_the_service_counts_of_itself_is_shown(series):
    assert unseen(DASHBOARD, series) == []


def test_the_series_that_the_docs_describe_are_those_of_the_service(series):
    section = (ROOT / "docs/operations.md").read_text().split("## Observability")[1].split("\n## ")[0]
    described = set(re.findall(r"\bmace_\w+", section))

    assert described == {re.sub(HISTOGRAM, "", name) for name in series if name.startswith("mace_")}


@pytest.mark.parametrize(
    ("query", "series", "labels"),
    [
        (
            'histogram_quantile(0.5, sum by (le, a) (rate(x_bucket{b=~"$b", c!="sum(y)"}[$__rate_interval]))) / z',
            {"x_bucket", "z"},
            {"le", "a", "b", "c"},
        ),
        ("sum(x) without (a) or (y - on (b) z)", {"x", "y", "z"}, {"a", "b"}),
        ("topk(scalar(n), max_over_time(x[5m:1m]))", {"n", "x"}, set()),
    ],
)
def test_a_query_is_taken_apart_into_series_and_labels(query, series, labels):
    assert parts(query) == (series, labels)


def test_a_misspelt_series_and_a_label_that_it_does_not_have_are_found(series):
    broken = json.loads(json.dumps(DASHBOARD))
    broken["panels"][0]["targets"][0]["expr"] = "sum by (operation) (rate(mace_request_total[1m]))"
    broken["panels"][1]["targets"][0]["expr"] = 'sum by (kind) (mace_workers{state="busy"})'
    broken["panels"][2]["targets"][0]["expr"] = "sum by ("

    found = "\n".join(dashboard_faults(broken, series, "prometheus"))

    assert "does not export mace_request_total" in found
    assert "mace_workers has no label kind" in found
    assert "mace_workers has no label state" in found
    assert "unclosed left parenthesis" in found


def test_a_panel_that_draws_from_another_source_is_found(series):
    found = list(dashboard_faults(DASHBOARD, series, "other"))

    assert len(found) == len(DASHBOARD["panels"])


def test_the_dashboard_shows_rates_errors_three_quantiles_queue_workers_kills_records_bytes_and_problems():
    queries = " ".join(query for _, query in targets(DASHBOARD))

    for part in (
        "by (operation) (rate(mace_requests_total", 'status=~"5.."', "histogram_quantile(0.5,",
        "histogram_quantile(0.95,", "histogram_quantile(0.99,", "mace_queue_waiting", "mace_workers_busy",
        "by (reason) (increase(mace_worker_kills_total", "mace_records_total", "mace_body_bytes_total",
        "by (problem) (rate(mace_problems_total",
    ):  # fmt: skip
        assert part in queries


def test_a_scrape_of_another_address_or_a_report_to_elsewhere_is_found():
    jobs = [{"static_configs": [{"targets": ["mace:9000"]}]}]

    found = list(scrape_faults({"scrape_configs": jobs, "remote_write": []}, "mace:8000"))

    assert len(found) == 2
