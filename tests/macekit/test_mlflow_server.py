"""An MLflow server that keeps its history in PostgreSQL: logged to, read back, and asked to evaluate with a gate."""

import json
import os
import socket
import time
import urllib.request
import warnings
from collections.abc import Iterator
from multiprocessing import get_context
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any
from urllib.error import URLError

import mlflow
import numpy as np
import pandas as pd
import psycopg
import pytest
import uvicorn
from mlflow.exceptions import MlflowException
from mlflow.models import MetricThreshold
from sklearn.ensemble import RandomForestClassifier

import macekit
import macekit.mlflow
from tests.cases import each_case

pytestmark = [
    pytest.mark.slow,  # a server is started; and what MLflow itself warns of:
    pytest.mark.filterwarnings("ignore::ImportWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*type hint:UserWarning"),
]
PATIENCE = 300
SIZE = 400
RNG = np.random.default_rng(4)
TRAINED_ON = np.repeat([True, False], SIZE)
TABLE = pd.DataFrame(
    {
        "loss": RNG.normal(-1.5 * TRAINED_ON),
        "noise": RNG.normal(size=2 * SIZE),
        "trained_on": TRAINED_ON,
        "part": np.where(TRAINED_ON, "train", "holdout"),
        "region": RNG.choice(["eu", "us"], 2 * SIZE),
    }
)


def serve(database: str, folder: Path, port: int) -> None:
    """In a forked process: what `mlflow server` does; it would import twice all that is imported here."""
    with open(folder / "log", "wb") as log:
        for number in (1, 2):
            os.dup2(log.fileno(), number)
    warnings.resetwarnings()  # what MLflow warns of is no error of a test
    from mlflow.server import handlers

    root = "mlflow-artifacts:/"
    os.environ |= {
        mlflow.server.BACKEND_STORE_URI_ENV_VAR: database, mlflow.server.ARTIFACT_ROOT_ENV_VAR: root,
        mlflow.server.SERVE_ARTIFACTS_ENV_VAR: "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        mlflow.server.ARTIFACTS_DESTINATION_ENV_VAR: str(folder / "artefacts"), "MLFLOW_DISABLE_TELEMETRY": "true",
    }  # fmt: skip
    handlers.initialize_backend_stores(database, database, root)
    uvicorn.run("mlflow.server.fastapi_app:app", host="127.0.0.1", port=port)


@pytest.fixture(scope="module")
def address(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of MLflow, in a process of its own."""
    folder = tmp_path_factory.mktemp("mlflow")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    database = postgres.replace("postgresql://", "postgresql+psycopg://")
    process = get_context("fork").Process(target=serve, args=(database, folder, port), daemon=True)
    process.start()
    try:
        _wait(process, f"http://127.0.0.1:{port}/health", folder / "log")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.join()


def _wait(process: ForkProcess, health: str, log: Path) -> None:
    """Until it answers."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.is_alive():
        try:
            with urllib.request.urlopen(health):
                return
        except (URLError, ConnectionError):
            time.sleep(0.01)
    pytest.fail(f"MLflow's server did not start:\n{log.read_text(encoding='utf-8')[-2000:]}")


@pytest.fixture
def client(address: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[mlflow.MlflowClient]:
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(address)
    yield mlflow.MlflowClient()
    while mlflow.active_run() is not None:
        mlflow.end_run()
    mlflow.set_tracking_uri(before)


def evaluate(data: pd.DataFrame = TABLE, evaluator_config: Any = None, **arguments: Any) -> Any:
    config = {"member": "trained_on", **(evaluator_config or {})}
    ways = {"model_type": "membership", "evaluators": "mace", "evaluator_config": config}
    return mlflow.models.evaluate(data=data, **ways, **arguments)


def test_what_is_logged_lies_in_the_database_and_is_found_again(client, postgres, tmp_path) -> None:
    result = macekit.report(TABLE, score="loss", member="trained_on", max_advantage=0.1)

    with mlflow.start_run() as active:
        macekit.mlflow.log(result)

    run = active.info.run_id
    with psycopg.connect(postgres) as database:
        query = "select value from metrics where run_uuid = %s and key = 'membership/advantage/lower'"
        assert database.execute(query, (run,)).fetchone() == (result.answer["result"]["advantage"]["lower"],)
    (entry,) = client.search_runs(
        ["0"], "metrics.`membership/advantage/lower` > 0.1 and tags.`membership.verdict` = 'fail'"
    )
    assert entry.info.run_id == run
    answer = Path(client.download_artifacts(run, "membership/answer.json", str(tmp_path)))
    assert json.loads(answer.read_text(encoding="utf-8")) == result.answer
    assert {each.path for each in client.list_artifacts(run, "membership")} >= {"membership/report.html"}


@each_case(
    "score, limit, decision, member",
    ("loss", 0.1, "fail", {}),
    ("noise", 0.5, "pass", {"member": "part", "members": "train"}),
    ("noise", 0.1, "inconclusive", {}),
)
def test_the_gate_s_verdict_is_in_the_run(client, score, limit, decision, member) -> None:
    config = {"score": score, "max_advantage": limit, **member}

    with mlflow.start_run() as active:
        result = evaluate(evaluator_config=config)

    data = client.get_run(active.info.run_id).data
    gate = macekit.gate(TABLE, score=score, member="trained_on", max_advantage=limit)
    assert data.tags["membership.verdict"] == gate.decision == decision
    assert data.metrics["membership/limits.advantage/maximum"] == limit
    assert result.metrics == {name: value for name, value in data.metrics.items() if name.startswith("membership/")}
    assert result.metrics["membership/limits.advantage/upper"] == gate.limits[0]["upper"]
    assert result.artifacts["membership/answer"].content["decision"] == decision


def test_mlflow_s_own_thresholds_hold_the_numbers(client: mlflow.MlflowClient) -> None:
    with mlflow.start_run():
        result = evaluate(evaluator_config={"score": "loss", "max_advantage": 0.9, "prefix": "leak"})
    limits = {"leak/limits.advantage/upper": MetricThreshold(threshold=0.3, greater_is_better=False)}

    with pytest.raises(MlflowException, match=r"leak/limits\.advantage/upper"):
        mlflow.validate_evaluation_results(candidate_result=result, validation_thresholds=limits)


def test_a_pass_may_be_required_and_all_is_logged_before_it_is_refused(client: mlflow.MlflowClient) -> None:
    with pytest.raises(MlflowException, match="fail: Fail: with 95% confidence"), mlflow.start_run() as active:
        evaluate(evaluator_config={"score": "loss", "max_advantage": 0.1, "require_pass": True})

    assert client.get_run(active.info.run_id).data.tags["membership.verdict"] == "fail"


def test_a_model_is_audited_by_what_it_predicts(client: mlflow.MlflowClient) -> None:
    features = RNG.normal(size=(2 * SIZE, 4))
    truth = (features[:, 0] + RNG.normal(size=2 * SIZE) > 0).astype(int)
    forest = RandomForestClassifier(30, random_state=0).fit(features[TRAINED_ON], truth[TRAINED_ON])
    columns = [f"x{place}" for place in range(4)]
    beside = {"y": truth, "trained_on": TRAINED_ON, "region": TABLE["region"]}
    table = pd.DataFrame(features, columns=columns).assign(**beside)
    config = {"max_advantage": 0.1, "group": "region"}

    with mlflow.start_run():
        of_model = evaluate(
            table, config, model=lambda rows: forest.predict_proba(rows[columns].to_numpy()), targets="y"
        )
        static = table.assign(p=forest.predict_proba(features)[:, 1]).drop(columns=columns)
        of_predictions = evaluate(static, config, targets="y", predictions="p")

    for result in (of_model, of_predictions):
        answer = result.artifacts["membership/answer"].content
        assert answer["decision"] == "fail"
        assert {group["label"] for group in answer["groups"]} == {"eu", "us"}


ANY = MlflowException, macekit.MaceProblem, TypeError


@each_case(
    "config, error, words, columns",
    ({"score": "los"}, ANY, "score: the data have no column 'los'; it has loss, noise", {}),
    ({"score": "loss", "member": "train"}, ANY, "member: the data have no column 'train'", {}),
    ({"score": "loss"}, ANY, "max_advantage", {}),
    ({"max_advantage": 0.1}, ANY, "neither a score nor targets", {}),
    ({"score": "loss", "max_advantage": 2.0}, ANY, "max_advantage", {}),
    ({"score": "loss", "max_advantage": 0.1, "max_advantge": 1}, ANY, "max_advantge", {}),
    ({"score": "loss", "max_advantage": 0.1, "member": "region"}, ANY, "row 0 is none of", {}),
    ({}, MlflowException, "neither a model nor predictions", {"targets": "noise"}),
    ({"member": "region"}, MlflowException, "need 0 and 1", {"targets": "noise", "predictions": "loss"}),
)
def test_what_it_cannot_do_is_one_error(client, config, error, words, columns) -> None:
    with pytest.raises(error, match=words), mlflow.start_run():
        evaluate(evaluator_config=config, **columns)


def test_a_server_that_cannot_be_reached_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri("http://127.0.0.1:9")
    try:
        with pytest.raises(MlflowException, match=r"failed with exception|Max retries"):
            macekit.mlflow.log(macekit.estimate(TABLE, score="loss", member="trained_on"))
    finally:
        mlflow.set_tracking_uri(before)
