"""`mace procedure` and `mace plan` in the shell: the service's answer, and what is said of open verdicts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from app.cli import main
from macekit.call import CSV, Body, Call
from macekit.operations import perform
from tests.app.cli.files import answered

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Scores of eight models, each with rows of its own."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines = [
        f"{rng.normal() + member * (0.5 + 0.1 * run)},{member},seed{run}"
        for run in range(8)
        for member in (0, 1)
        for _ in range(100)
    ]
    path = tmp_path / "runs.csv"
    path.write_text("score,member,run\n" + "\n".join(lines) + "\n")
    return path


def test_the_answer_is_the_services(runs: Path, capsys: Capture) -> None:
    told = answered(capsys, "procedure", "runs.csv", "--model", "run", "--max-advantage", "0.3")

    query = (("model", "run"), ("threshold", "0.3"))
    reply = perform(Call("procedure", CSV, query=query), Body.of(runs.read_bytes()))
    assert told == json.loads(bytes(reply.body))


def test_an_open_verdict_says_what_would_settle_it(runs: Path, capsys: Capture) -> None:
    assert main(["procedure", "runs.csv", "--model", "run", "--max-advantage", "0.3"]) == 0
    out = capsys.readouterr().out

    assert "UNDECIDED" in out
    assert "Models that would settle it" in out
    assert "Advantage of the next model" in out


def test_the_simulated_interval_decides_where_it_is_accepted(runs: Path, capsys: Capture) -> None:
    asked = ["procedure", "runs.csv", "--model", "run", "--max-advantage", "0.6"]
    assert main(asked) == 0
    careful = capsys.readouterr().out
    assert "UNDECIDED" in careful
    assert "accept_simulated lets it decide" in careful
    assert main([*asked, "--accept-simulated"]) == 0
    assert "PASS" in capsys.readouterr().out

    assert main(["procedure", "runs.csv", "--model", "run", "--accept-simulated"]) == 2
    assert "--accept-simulated: without a threshold there is no verdict" in capsys.readouterr().err


def test_without_its_column_it_is_refused_by_name(runs: Path, capsys: Capture) -> None:
    assert main(["procedure", "runs.csv"]) == 2
    assert "model: is required and missing: which model scored each record" in capsys.readouterr().err
    assert main(["procedure", "runs.csv", "--model", "seed"]) == 2
    assert "model" in capsys.readouterr().err


def test_models_and_clusters_are_planned(capsys: Capture) -> None:
    models = answered(
        capsys,
        "plan",
        "--expected",
        "0.3",
        "--max-advantage",
        "0.1",
        "--spread",
        "0.05",
        "--records-per-model",
        "200",
    )
    clusters, alone = (
        answered(capsys, "plan", "--expected", "0.4", "--max-advantage", "0.1", *more)
        for more in (("--design-effect", "3"), ())
    )

    assert models["records"] == 200 * models["models"]
    assert clusters["records"] == 3 * alone["records"]
