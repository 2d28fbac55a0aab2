"""What a pipeline is told: 0 pass, 1 fail, 3 undecided, 2 misuse, by every command that judges something."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from app.cli import main
from app.cli.status import status_of
from macekit.catalogue import OPERATIONS
from macekit.schemas.questions import QUESTIONS
from tests.app.cli.files import signals
from tests.app.cli.test_audits import said, written
from tests.cases import each_case
from tests.macekit.operations.test_synthetic import CLEAN, HOLDOUT, SHIFTED, TRAIN

Capture = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[3]

SHARP = "--train said_train.csv --holdout said_holdout.csv"
CALM = "--train said_other.csv --holdout said_holdout.csv"
RELEASE = "--train train.csv --holdout holdout.csv --synthetic"

JUDGED: dict[str, tuple[str, str, str | None, str]] = {
    "estimate": (
        "estimate scores.csv --max-advantage 0.9",
        "estimate scores.csv --max-advantage 0.05",
        "estimate scores.csv --max-advantage 0.4",
        "estimate scores.csv --max-advantage 2",
    ),
    "report": (
        "report scores.csv --max-advantage 0.9",
        "report scores.csv --max-advantage 0.05",
        "report scores.csv --max-advantage 0.4",
        "report scores.csv --max-advantage much",
    ),
    "gate": (
        "gate scores.csv --max-advantage 0.9",
        "gate scores.csv --max-advantage 0.05",
        "gate scores.csv --max-advantage 0.4",
        "gate scores.csv",
    ),
    "compare": (
        "compare scores.csv --score score,loss --max-advantage 0.9",
        "compare scores.csv --score score,loss --max-advantage 0.05",
        "compare scores.csv --score score,loss --max-advantage 0.4",
        "compare scores.csv --score score,loss --max-advantage 2",
    ),
    "compare-releases": (
        "compare-releases scores.csv --score score,loss --max-advantage 0.9",
        "compare-releases scores.csv --score score,loss --max-advantage 0.05",
        "compare-releases scores.csv --score score,loss --max-advantage 0.4",
        "compare-releases scores.csv --score score,loss --max-advantage 2",
    ),
    "series": (
        "series scores.csv --score loss,score --max-advantage 0.9",
        "series scores.csv --score loss,score --max-advantage 0.05",
        "series scores.csv --score loss,score --max-advantage 0.4",
        "series scores.csv --score loss,score --max-advantage 2",
    ),
    "procedure": (
        "procedure runs.csv --model run --accept-simulated --max-advantage 0.9",
        "procedure runs.csv --model run --accept-simulated --max-advantage 0.01",
        "procedure runs.csv --model run --max-advantage 0.3",
        "procedure runs.csv --max-advantage 0.3",
    ),
    "synthetic": (
        f"synthetic {RELEASE} clean.csv --max-advantage 0.9",
        f"synthetic {RELEASE} train.csv --max-advantage 0.1",
        f"synthetic {RELEASE} clean.csv --max-advantage 0.01",
        f"synthetic {RELEASE} clean.csv --max-advantage 2",
    ),
    "release-size": (
        f"release-size {RELEASE} clean.csv --sizes 50,150 --max-advantage 0.9",
        f"release-size {RELEASE} train.csv --sizes 5,150 --max-advantage 0.4",
        f"release-size {RELEASE} clean.csv --sizes 50,150 --max-advantage 0.01",
        f"release-size {RELEASE} clean.csv --max-advantage 2",
    ),
    "model": (
        f"model {CALM} --max-advantage 0.9",
        f"model {SHARP} --max-advantage 0.1",
        f"model {CALM} --max-advantage 0.01",
        f"model {CALM} --max-advantage 2",
    ),
    "shadows": (
        "shadows signals.npz --scale logit --max-advantage 0.9",
        "shadows signals.npz --scale logit --max-advantage 0.1",
        "shadows signals.npz --scale logit --max-advantage 0.5",
        "shadows signals.npz --scale logit --max-advantage 2",
    ),
    "check": (
        "check --train train.csv --holdout holdout.csv",
        "check --train train.csv --holdout older.csv",
        None,
        "check --train train.csv",
    ),
    "audit": (
        "audit scores.csv --claimed-epsilon 9",
        "audit scores.csv --claimed-epsilon 0.01",
        None,
        "audit scores.csv --claimed-epsilon -1",
    ),
    "theory together": (
        "theory together scores.csv --claimed-epsilon 9",
        "theory together scores.csv --claimed-epsilon 0.01",
        None,
        "theory together scores.csv",
    ),
}
"""Lines that pass, that fail, that records are too few for, and that are misuse; nothing is open about a claim or about
two sides, which is contradicted, or differ, or nothing of the kind is shown."""

OUTCOMES = {"pass": 0, "fail": 1, "undecided": 3, "usage": 2}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Scores of two queries that leak, of four models, and tables."""
    rng = np.random.default_rng(0)
    member = np.repeat([1, 0], 500)
    score, loss = rng.normal(member * 1.0), rng.normal(member * 0.6)
    runs = np.tile(np.arange(4), 250)
    tables = {
        "scores": {"score": score.tolist(), "loss": loss.tolist(), "member": member.tolist()},
        "runs": {"score": score.tolist(), "member": member.tolist(), "run": runs.tolist()},
        "train": TRAIN,
        "holdout": HOLDOUT,
        "older": SHIFTED,
        "clean": CLEAN,
        "said_train": said(0, 12.0),
        "said_holdout": said(1, 2.0),
        "said_other": said(2, 2.0),
    }
    for name, table in tables.items():
        (tmp_path / f"{name}.csv").write_bytes(written(table))
    (tmp_path / "signals.npz").write_bytes(signals())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def status(line: str) -> int:
    """What the command ends with."""
    try:
        return main(line.split())
    except SystemExit as end:  # how argparse refuses
        return int(str(end.code))


@pytest.mark.usefixtures("folder")
@each_case("command", JUDGED)
def test_the_exit_status_is_what_was_decided(command: str, capsys: Capture) -> None:
    lines = dict(zip(OUTCOMES, JUDGED[command], strict=True))

    ends = {name: None if line is None else status(line) for name, line in lines.items()}

    assert ends == {name: None if lines[name] is None else OUTCOMES[name] for name in OUTCOMES}
    assert "Traceback" not in capsys.readouterr().err


def test_every_question_that_has_a_limit_or_a_claim_is_among_them() -> None:
    judging = {
        row.command
        for row in OPERATIONS
        if row.command
        and any(name.startswith(("max", "claimed_epsilon")) for name in QUESTIONS[row.name].model_fields)
    }

    # a plan is made before there are records to judge; what is no operation, or has no limit, stands beside them
    assert judging - {"plan"} | {"shadows", "check"} == JUDGED.keys()


def test_the_manual_names_every_command_that_judges() -> None:
    manual = (ROOT / "docs/cli.md").read_text().split("## Exit status", 1)[1]

    assert [name for name in JUDGED if f"`mace {name}`" not in manual] == []


@pytest.mark.usefixtures("folder")
def test_a_report_that_fails_is_written_first() -> None:
    ended = status("report scores.csv --max-advantage 0.05 -o report.html")

    assert ended == 1
    assert "FAIL" in Path("report.html").read_text()


@pytest.mark.usefixtures("folder")
def test_an_answer_that_was_kept_is_shown_and_judged_no_more() -> None:
    assert status("gate scores.csv --max-advantage 0.05 -o answer.json") == 1

    assert status("report answer.json") == 0


@pytest.mark.usefixtures("folder")
@each_case(
    "line",
    [
        "estimate scores.csv",
        "compare scores.csv --score score,loss",
        "metrics scores.csv",
        "audit scores.csv",
    ],
)
def test_nothing_that_is_limited_ends_with_0(line: str) -> None:
    assert status(line) == 0


@pytest.mark.usefixtures("folder")
def test_a_limit_in_a_request_counts_as_one_that_was_typed() -> None:
    members, nonmembers = [k / 10 for k in range(40)], [k / 10 - 2.5 for k in range(40)]
    request = {"members": members, "nonmembers": nonmembers, "max_advantage": 0.05}
    Path("request.json").write_text(json.dumps(request))

    assert status("estimate request.json") == 1


@each_case(
    "answer, ended",
    [
        ({"verdict": {"decision": "pass"}, "claim": {"decision": "contradicted"}}, 1),
        ({"verdict": {"decision": "inconclusive"}, "claim": {"decision": "not contradicted"}}, 3),
        ({"verdict": {"decision": "inconclusive"}, "claim": {"decision": "contradicted"}}, 1),
        ({"result": {"verdict": {"decision": "fail"}, "claim": None}}, 1),
        ({"verdict": None, "claim": None}, 0),
        ({"decision": "fail, or drift"}, 1),
        ({"decision": None, "differs": False}, 0),
    ],
)
def test_of_several_decisions_a_fail_counts_first_and_an_open_one_next(
    answer: dict[str, object], ended: int
) -> None:
    assert status_of(answer) == ended
