"""A real file store, written by ``macekit.mlflow.log`` and read back by MLflow's own client."""

import json
from collections.abc import Iterator
from pathlib import Path

import mlflow
import pytest
from mlflow import MlflowClient

import macekit
import macekit.mlflow
from tests.macekit.client.worlds import world

MEMBERS, NONMEMBERS = world()


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MlflowClient]:
    """A store in files, which MLflow keeps for those who say that they want it."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.chdir(tmp_path)
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri((tmp_path / "mlruns").as_uri())
    yield MlflowClient()
    while mlflow.active_run() is not None:
        mlflow.end_run()
    mlflow.set_tracking_uri(before)


def text(store: MlflowClient, run: str, path: str, folder: Path) -> str:
    return Path(store.download_artifacts(run, path, str(folder))).read_text(encoding="utf-8")


@pytest.mark.slow
def test_numbers_verdict_and_report_are_in_the_active_run(store: MlflowClient, tmp_path: Path) -> None:
    result = macekit.report(MEMBERS, NONMEMBERS, prior=0.3, max_advantage=0.1)

    with mlflow.start_run() as active:
        run = macekit.mlflow.log(result)

    assert run == active.info.run_id
    data = store.get_run(run).data
    advantage = result.answer["result"]["advantage"]
    assert data.metrics["membership/advantage/estimate"] == advantage["estimate"]
    assert data.metrics["membership/advantage/lower"] == advantage["lower"]
    assert data.metrics["membership/advantage/upper"] == advantage["upper"]
    assert data.metrics["membership/baseline/estimate"] == result.answer["result"]["baseline"] == 0.4
    assert data.metrics["membership/threshold"] == 0.1
    assert data.metrics["membership/metric.accuracy/upper"] == result.answer["result"]["metric"]["upper"]
    source = result.answer["provenance"]
    assert data.tags["membership.verdict"] == result.decision
    assert data.tags["membership.sentence"] == result.sentence
    assert data.tags["membership.method"] == source["method"]
    assert data.tags["membership.version"] == source["version"]
    assert data.tags["membership.input_sha256"] == source["input_sha256"]
    assert json.loads(text(store, run, "membership/answer.json", tmp_path)) == result.answer
    assert text(store, run, "membership/report.html", tmp_path) == result.to_html()
    charts = {Path(each.path).name for each in store.list_artifacts(run, "membership/charts")}
    assert charts == {f"{chart.name}.svg" for chart in result.charts()}


@pytest.mark.slow
def test_a_run_may_be_named_and_logged_to_again(store: MlflowClient) -> None:
    run = store.create_run("0").info.run_id
    first, second = (macekit.estimate(MEMBERS, NONMEMBERS, max_advantage=limit) for limit in (0.9, 0.01))

    macekit.mlflow.log(first, "leakage", run)
    macekit.mlflow.log(second, "leakage", run)

    found = store.get_run(run).data
    assert (found.tags["leakage.verdict"], found.metrics["leakage/threshold"]) == ("fail", 0.01)
    assert [each.value for each in store.get_metric_history(run, "leakage/threshold")] == [0.9, 0.01]


@pytest.mark.slow
def test_without_a_run_one_is_started_and_ended(store: MlflowClient) -> None:
    run = macekit.mlflow.log(macekit.plan(expected=0.1, max_advantage=0.2))

    assert mlflow.active_run() is None
    found = store.get_run(run)
    assert (found.info.status, found.data.tags["membership.operation"]) == ("FINISHED", "plan")


def test_what_has_no_report_is_refused_before_anything_is_logged(store: MlflowClient) -> None:
    with pytest.raises(ValueError, match="no report of counts"):
        macekit.mlflow.log(macekit.counts(MEMBERS, NONMEMBERS))

    assert store.search_runs(["0"]) == []


@pytest.mark.slow
def test_what_was_decided_by_is_logged_however_many_numbers_there_are(store: MlflowClient) -> None:
    labels = [f"group {i % 400}" for i in range(len(MEMBERS) + len(NONMEMBERS))]

    run = macekit.mlflow.log(macekit.report(MEMBERS, NONMEMBERS, groups=labels, max_advantage=0.1))

    metrics = store.get_run(run).data.metrics
    assert (len(metrics), metrics["membership/threshold"]) == (macekit.mlflow.MOST_METRICS, 0.1)


@pytest.mark.slow
def test_a_gate_is_logged_with_every_limit(store: MlflowClient) -> None:
    result = macekit.gate(MEMBERS, NONMEMBERS, max_advantage=0.9, metric="accuracy", max=0.9)

    run = macekit.mlflow.log(result)

    found = store.get_run(run).data
    assert found.tags["membership.verdict"] == result.decision == "pass"
    assert found.metrics["membership/limits.advantage/maximum"] == 0.9
    assert found.metrics["membership/limits.metric/maximum"] == 0.9


@pytest.mark.slow
def test_labels_that_are_no_names_of_metrics_are_logged_all_the_same(store: MlflowClient) -> None:
    labels = ["<b>", "../../etc", "a/b", "a*b", "é", "é" * 300] * 200
    result = macekit.report(MEMBERS, NONMEMBERS, groups=labels[: len(MEMBERS) + len(NONMEMBERS)])

    run = macekit.mlflow.log(result)

    groups = {name.split("/")[1] for name in store.get_run(run).data.metrics if "/groups" in name}
    assert len(groups) == 2 * 6
    assert all(name.isascii() and ".." not in name for name in groups)


def test_several_queries_have_several_origins_and_none_is_told_alone(store: MlflowClient) -> None:
    run = macekit.mlflow.log(macekit.compare({"a": (MEMBERS, NONMEMBERS), "b": world(seed=3)}))

    found = store.get_run(run).data
    assert "membership.input_sha256" not in found.tags
    assert "membership/ranking.a.advantage/upper" in found.metrics
