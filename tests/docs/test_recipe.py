"""The recipes of docs/architecture.md are enough: five files for a question, an entry for a metric or a bandwidth."""

import json
import re
import shutil
import subprocess
import sys
from math import log, sqrt
from pathlib import Path

import pytest
from scipy.stats import ks_2samp

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
STEP = re.compile(r"^\d\. [^\n]*?in `([^`\n]+)`:\n\n```(?:python|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)

MEMBERS, NONMEMBERS = [k / 100 for k in range(30, 150)], [k / 200 for k in range(200)]

ENTRIES = {
    "macekit/catalogue.py": (')\n"""The operations of the core', None),
    "estimators/metric/presets.py": (
        '}\n"""Every named metric',
        '    "miss_rate": Preset("FN/(TP + FN)", "share missed", lambda: {"a01": 1.0, "b11": 1.0, "b01": 1.0}),\n',
    ),
    "estimators/density/bandwidth.py": ('}\n"""Every rule by the name', '    "a_tenth": Fixed(0.1),\n'),
}
"""Files that are there already: before which line a piece goes, and the piece where it is none of the page's."""

DOORS = """
import contextlib, io, json, sys
from app.cli import main
from app.main import create_app
from tests.app.client import TestClient
import macekit

sides = json.load(sys.stdin)
members, nonmembers = sides["members"], sides["nonmembers"]
with TestClient(create_app()) as client:
    as_json = client.post("/v1/distance", json=sides)
    as_html = client.post("/v1/distance", json=sides, headers={"Accept": "text/html"})
    described = client.get("/openapi.json").json()
    listed = described["paths"]["/v1/distance"]["post"]
    metric = client.post("/v1/metrics", json={**sides, "metrics": ["miss_rate"]})
    named, given = (
        client.post("/v1/advantage", json={**sides, "estimator": {"kind": "kde", "bandwidth": bandwidth}}).json()
        for bandwidth in ("a_tenth", 0.1)
    )
    page = client.get("/").text
with open("scores.csv", "w") as file:
    file.write("score,member\\n")
    file.writelines(f"{score},1\\n" for score in members)
    file.writelines(f"{score},0\\n" for score in nonmembers)
shell = io.StringIO()
with contextlib.redirect_stdout(shell):
    status = main(["distance", "scores.csv"])
print(json.dumps({
    "json": as_json.json(), "status": as_json.status_code, "html": as_html.text, "summary": listed["summary"],
    "example": listed["requestBody"]["content"]["application/json"]["examples"], "shell": shell.getvalue(),
    "exit": status, "macekit": macekit.distance(members, nonmembers).answer, "metric": metric.json(),
    "named": named["paper"], "given": given["paper"], "page": page,
}))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages with the pieces of the recipes added, and nothing else."""
    folder = tmp_path_factory.mktemp("recipe")
    for package in ("app", "estimators", "macekit", "tests"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__", "goldens"))
    pieces = dict(STEP.findall(PAGE))
    for name, (line, piece) in ENTRIES.items():
        source = (folder / name).read_text(encoding="utf-8")
        assert source.count(line) == 1, name
        added = pieces.pop(name) if piece is None else piece
        (folder / name).write_text(source.replace(line, added + line), encoding="utf-8")
    for name, text in pieces.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def test_the_recipe_of_a_question_names_five_files() -> None:
    names = [name for name, _ in STEP.findall(PAGE)]

    assert len(names) == len(set(names)) == 5


@pytest.mark.slow
def test_what_the_recipes_add_answers_over_http_as_a_page_in_the_shell_and_from_python(copy: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DOORS],
        cwd=copy,
        input=json.dumps({"members": MEMBERS, "nonmembers": NONMEMBERS}),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    gap = ks_2samp(MEMBERS, NONMEMBERS).statistic
    least = gap - sum(sqrt(log(4 / 0.05) / (2 * len(side))) for side in (MEMBERS, NONMEMBERS))
    assert (answers["status"], answers["exit"]) == (200, 0)
    for door in ("json", "macekit"):
        assert answers[door]["distance"]["estimate"] == pytest.approx(gap)
        assert answers[door]["distance"]["lower"] == pytest.approx(least)
        assert answers[door]["sentence"].startswith(f"The distance is between {least:.3f} and ")
    assert answers["json"]["sentence"] in answers["shell"]
    assert f"{least:.3f}" in answers["html"]
    assert answers["summary"] == "How far apart the scores of both sides are"
    assert list(answers["example"]) == ["scores"]
    assert [each["name"] for each in answers["metric"]["metrics"]] == ["miss_rate"]
    assert answers["named"] == answers["given"]
    assert "a tenth" in answers["page"].lower()
    assert 'value="miss_rate"' in answers["page"]
