"""What a pipeline reads of the audits of models, releases and texts, as it does of a gate."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from macekit.reports.pipeline import TEXTS
from tests.app.cli.files import refused, typed
from tests.app.cli.tables import CALM, RELEASE, SAID
from tests.cases import each_case

FILES = "--junit told.xml --sarif told.sarif --metrics told.txt --summary told.md -q"
LIMITS = "--max-advantage 0.1 --max-tpr 0.5 --at-fpr 0.1"
JUDGED = {
    "model": f"model {SAID} {LIMITS}",
    "synthetic": f"synthetic {RELEASE} train.csv {LIMITS} --max-copies-over-holdout 0 --max-near-copies-over-holdout 0",
    "text": f"text tokens.jsonl {LIMITS}",
    "shadows": f"shadows signals.npz --scale logit {LIMITS}",
}
"""Lines that fail."""


@pytest.mark.slow
@pytest.mark.usefixtures("tables")
@each_case("command", JUDGED)
def test_what_a_pipeline_reads_says_which_limit_is_exceeded(command: str) -> None:
    done = typed(f"{JUDGED[command]} {FILES} --json")

    assert done.status == 1, done.err
    suite = ET.parse("told.xml").getroot().find("testsuite")
    assert suite is not None
    assert suite.attrib["name"] == f"mace {command}"
    cases = suite.findall("testcase")
    limits: list[dict[str, Any]] = done.answer["limits"]
    assert [bool(case.find("failure") is not None) for case in cases[: len(limits)]] == [
        each["decision"] == "fail" for each in limits
    ]
    assert cases[0].attrib["name"].endswith(", at most 0.1")
    assert all(each.attrib["message"].startswith("Fail: ") for each in suite.iter("failure"))
    (run,) = json.loads(Path("told.sarif").read_text())["runs"]
    errors = [each["ruleId"] for each in run["results"] if each["level"] == "error"]
    assert errors == [f"mace/{each['name']}" for each in limits if each["decision"] == "fail"]
    assert f'mace_{command}_upper{{limit="advantage"}} ' in Path("told.txt").read_text()
    assert f"\n### mace {command}: fail" in Path("told.md").read_text()  # to which each is appended
    assert {each["name"] for each in limits} <= TEXTS.keys()


@pytest.mark.slow
@pytest.mark.usefixtures("tables")
def test_of_a_release_the_alert_stands_at_the_release() -> None:
    typed(f"synthetic {RELEASE} copied.csv --max-advantage 0.9 --sarif told.sarif -q")

    (run,) = json.loads(Path("told.sarif").read_text())["runs"]
    first = [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in run["results"]]
    assert first
    assert set(first) == {"copied.csv"}


@pytest.mark.slow
@pytest.mark.usefixtures("tables")
def test_without_a_limit_there_is_nothing_to_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    said = refused(f"model {CALM} -q --junit told.xml")

    assert said.startswith("mace model: --junit: nothing was limited")
    assert not Path("told.xml").exists()
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "step.md")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert typed(f"model {CALM} -q").status == 0
    assert not Path("step.md").exists()
    shown = typed(f"model {CALM} {LIMITS} -q")
    assert Path("step.md").read_text().startswith("\n### mace model: ")
    assert shown.err.startswith("::")
