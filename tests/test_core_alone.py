"""The core without the wings' folders answers its questions with the same bytes: over Python, the shell and HTTP."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WINGS = (
    "estimators/runs", "estimators/audits", "estimators/theory", "macekit/audits", "macekit/engines",
    "macekit/imports", "macekit/mlflow.py", "macekit/mlflow_evaluator.py", "macekit/questions/runs",
    "macekit/questions/audits", "macekit/questions/theory",
)  # fmt: skip

ASK = """
import contextlib, hashlib, io, json, sys
import macekit
from app.cli import main
from app.main import create_app
from app.openapi.examples import JSON_EXAMPLES, MEMBERS, NONMEMBERS
from macekit.catalogue import CORE, OPERATIONS
from macekit.call import PNG, SVG
from tests.app.client import TestClient

of_wings = {"anytime", "models"}
answers = {}
with TestClient(create_app()) as client:
    for row in CORE:
        for number, (name, example) in enumerate(JSON_EXAMPLES.get(row.name, {}).items()):
            if name in of_wings or row.name == "plan":  # which simulates: a small one is enough
                continue
            whole = row.name in ("advantage", "gate", "report") and not number
            for form in [each for each in row.forms if each not in (PNG, SVG)] if whole else row.forms[:1]:
                headers = {"Accept": form, "X-Request-Id": "0" * 32}
                sent = client.post(f"/v1/{row.name}", json=example.value, headers=headers)
                answers[f"{row.name} {name} {form}"] = f"{sent.status_code} {hashlib.sha256(sent.content).hexdigest()}"
    answers["plan"] = client.post("/v1/plan", json={"expected": 0.2, "max_advantage": 0.5}).text
with open("scores.csv", "w") as file:
    rows = [f"{score},{member}" for scores, member in ((MEMBERS, 1), (NONMEMBERS, 0)) for score in scores]
    print("score,member", *rows, sep="\\n", file=file)
for line in ("estimate", "gate --max-advantage 0.5", "risk", "report --json"):
    command, *options = line.split()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        status = main([command, "scores.csv", *options])
    answers[f"mace {line}"] = f"{status} {printed.getvalue()}"
answers["macekit.estimate"] = str(macekit.estimate(MEMBERS, NONMEMBERS, max_advantage=0.5))
print(json.dumps({"home": macekit.__file__, "wings": sorted({row.wing for row in OPERATIONS}), "answers": answers}))
"""


def asked(tree: Path, folder: Path) -> dict[str, object]:
    folder.mkdir()
    command = [sys.executable, "-c", ASK]
    env = os.environ | {"PYTHONPATH": str(tree)}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_the_core_answers_alone_what_it_answers_beside_its_wings(tmp_path: Path) -> None:
    for package in ("app", "estimators", "macekit", "tests"):
        left_out = shutil.ignore_patterns("__pycache__", "goldens")
        shutil.copytree(ROOT / package, tmp_path / "tree" / package, ignore=left_out)
    for wing in WINGS:
        left_out_here = tmp_path / "tree" / wing
        left_out_here.unlink() if left_out_here.is_file() else shutil.rmtree(left_out_here)

    whole, core = asked(ROOT, tmp_path / "whole"), asked(tmp_path / "tree", tmp_path / "core")

    assert (whole["wings"], core["wings"]) == (["", "audits", "runs", "theory"], [""])
    assert str(tmp_path) in str(core["home"])
    assert len(core["answers"]) > 35  # type: ignore[arg-type]
    assert core["answers"] == whole["answers"]
