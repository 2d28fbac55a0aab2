"""The recipe of docs/architecture.md for a new operation is enough: four files, and it answers through every door."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
STEP = re.compile(r"^\d\. [^\n]*?in `([^`\n]+)`:\n\n```(?:python|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)

BEFORE = {"macekit/catalogue.py": ')\n"""The operations of the core'}
"""Where a piece of a file that is there already goes: before this line."""

DOORS = """
import contextlib, io, json, sys
from app.cli import main
from app.main import create_app
from tests.app.client import TestClient
import macekit

members, nonmembers = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.9, 0.8, 0.7, 0.6, 0.5], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6] * 4
with TestClient(create_app()) as client:
    body = {"members": members, "nonmembers": nonmembers}
    as_json = client.post("/v1/balance", json=body)
    as_html = client.post("/v1/balance", json=body, headers={"Accept": "text/html"})
    listed = client.get("/openapi.json").json()["paths"]["/v1/balance"]["post"]
with open("scores.csv", "w") as file:
    file.write("score,member\\n")
    file.writelines(f"{score},1\\n" for score in members)
    file.writelines(f"{score},0\\n" for score in nonmembers)
shell = io.StringIO()
with contextlib.redirect_stdout(shell):
    status = main(["balance", "scores.csv"])
print(json.dumps({
    "json": as_json.json(), "status": as_json.status_code, "html": as_html.text, "summary": listed["summary"],
    "example": listed["requestBody"]["content"]["application/json"]["examples"], "shell": shell.getvalue(),
    "exit": status, "macekit": macekit.balance(members, nonmembers).answer,
}))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages with the pieces of the recipe added, and nothing else."""
    folder = tmp_path_factory.mktemp("recipe")
    for package in ("app", "estimators", "macekit", "tests"):
        shutil.copytree(
            ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__", "goldens")
        )
    for name, text in STEP.findall(PAGE):
        path = folder / name
        if name not in BEFORE:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            continue
        source = path.read_text(encoding="utf-8")
        assert source.count(BEFORE[name]) == 1, name
        path.write_text(source.replace(BEFORE[name], text + BEFORE[name]), encoding="utf-8")
    return folder


def test_the_recipe_names_four_files() -> None:
    names = [name for name, _ in STEP.findall(PAGE)]

    assert len(names) == len(set(names)) == 4


@pytest.mark.slow
def test_a_new_operation_answers_over_http_as_a_page_in_the_shell_and_from_python(copy: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DOORS], cwd=copy, capture_output=True, text=True, timeout=240, check=False
    )

    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    sentence = "There are 0.5 members for each nonmember."
    assert (answers["status"], answers["exit"]) == (200, 0)
    assert answers["json"]["ratio"] == answers["macekit"]["ratio"] == 0.5
    assert answers["json"]["sentence"] == answers["macekit"]["sentence"] == sentence
    assert sentence in answers["shell"]
    assert "0.5 members for each nonmember" in answers["html"]
    assert answers["summary"] == "How many members there are for each nonmember"
    assert list(answers["example"]) == ["scores"]
