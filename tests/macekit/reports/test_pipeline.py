"""What a pipeline reads of a gate: JUnit XML, OpenMetrics, a Markdown summary and one line, all of them inert."""

import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from markdown_it import MarkdownIt
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from app.openapi.examples import SAMPLE
from macekit.reports.files import together
from macekit.reports.pipeline import annotation, junit, openmetrics, summary
from macekit.text import escape_controls
from tests.cases import each_case
from tests.macekit.asking import asked as answer_of

HOSTILE = [
    "<script>alert(1)</script>",
    "]]></failure><testcase/>",
    "a\x00b\x08c\x1b[31m\ufffe",
    "line\r\n::error::owned",
    "\u202egnp.exe",
    "| a | b |\n# head",
    "![x](https://evil.example/p.png) www.evil.example @admin #1 `code`",
    "100%0A::warning::x",
    "\ud800 lone",
]


def asked(**more: Any) -> dict[str, Any]:
    found: dict[str, Any] = answer_of("gate", {**SAMPLE, "max_epsilon": 1.0, "delta": 0.05, **more})
    return found


MIXED = {"max_advantage": 0.1, "metric": "accuracy", "max": 0.99}


def hostile(text: str) -> dict[str, Any]:
    """A gate whose only limit is about a group of this name."""
    answer = asked()
    limit = answer["limits"][0]
    limit |= {"about": f"the mean risk of group {text}", "reason": f"group {text} is at most 1"}
    return {**answer, "limits": [limit], "sentence": f"Undecided: group {text}."}


def test_a_test_case_for_each_limit_says_how_it_ended() -> None:
    top = ET.fromstring(junit(asked(**MIXED)))

    suite = top.find("testsuite")
    assert suite is not None
    assert top.tag == "testsuites"
    cases = suite.findall("testcase")
    assert [[child.tag for child in case] for case in cases] == [["failure"], ["error"], []]
    for holder in (top, suite):
        counts = {name: int(holder.attrib[name]) for name in ("tests", "failures", "errors", "skipped")}
        assert counts == {"tests": 3, "failures": 1, "errors": 1, "skipped": 0}
        float(holder.attrib["time"])
    assert all(case.attrib.keys() == {"classname", "name", "time"} for case in cases)
    assert len({case.attrib["name"] for case in cases}) == 3
    for case in cases[:2]:
        assert case[0].attrib["message"]
        assert case[0].attrib["type"] in {"fail", "inconclusive"}
        assert "Covers: " in (case[0].text or "")


def test_openmetrics_is_read_by_prometheus_own_parser() -> None:
    answer = asked(**MIXED)

    families = {f.name: f for f in text_string_to_metric_families(openmetrics(answer).decode())}

    uppers = {s.labels["limit"]: s.value for s in families["mace_gate_upper"].samples}
    assert uppers == {each["name"]: each["upper"] for each in answer["limits"] if each["upper"] is not None}
    decided = {s.labels["decision"]: s.value for s in families["mace_gate_decision"].samples}
    assert decided == {"pass": 0, "fail": 1, "inconclusive": 0, "not applicable": 0}


def test_the_summary_has_a_row_for_each_limit() -> None:
    shown = MARKDOWN.render(summary(asked(**MIXED)).decode())

    assert shown.count("<tr>") == 1 + 3
    assert "<h3>mace gate: fail</h3>" in shown
    assert shown.count("<strong>") == 3


@each_case("text", HOSTILE)
def test_a_hostile_name_stays_text_wherever_a_pipeline_reads_it(text: str) -> None:
    answer = hostile(text)

    data = junit(answer)
    (case,) = ET.fromstring(data).findall("testsuite/testcase")
    assert [child.tag for child in case] == ["error"]
    assert not re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]", data)
    assert "\u202e" not in data.decode()

    shown = MARKDOWN.render(summary(answer).decode())
    assert shown.count("<tr>") == 2
    assert not any(tag in shown for tag in ("<script", "<img", "<a ", "<em>"))
    assert shown.count("<code>") == 1
    assert shown.count("<h") == 1 + shown.count("<hr")

    line = annotation(answer)
    assert line.startswith("::warning title=mace gate::")
    assert len(line.splitlines()) == 1  # and no second command to the runner
    assert "%0A" not in line.replace("%250A", "")


def test_a_pass_that_hides_exposed_members_says_so_wherever_a_pipeline_is_read() -> None:
    counts = {"members": [4950, 50], "nonmembers": [5000, 0], "edges": [0.0]}
    answer = answer_of("gate", {"counts": counts, "max_advantage": 0.1})
    who = "50 of 5,000 members score higher than every nonmember"

    assert annotation(answer).startswith("::warning title=mace gate::Pass")
    assert who in annotation(answer)
    assert who in summary(answer).decode()
    assert who in (ET.fromstring(junit(answer)).findtext(".//system-out") or "")
    assert who not in annotation(asked())


MARKDOWN = MarkdownIt("commonmark").enable("table")


def test_what_a_pass_covers_stands_in_every_file_that_has_its_sentence() -> None:
    passed, failed = asked(max_advantage=0.99, max_epsilon=None, delta=0.0), asked(max_advantage=0.1)

    covers = passed["covers"]
    assert passed["decision"] == "pass"
    assert len(covers) >= 3
    said = ET.fromstring(junit(passed)).findtext(".//system-out").splitlines()
    assert said[: 1 + len(covers)] == [passed["sentence"], *covers]
    written = summary(passed).decode().replace("\\", "")
    assert "What this pass covers:" in written
    assert all(f"- {line}" in written for line in covers)
    assert "covers:" not in summary(failed).decode()


def of_files(*names: str) -> dict[str, Any]:
    """A gate of several files, one answer under each name."""
    answers: list[Any] = [{"file": name, "answer": asked(**MIXED)} for name in names]
    found: Any = together(answers, 0.95)
    return dict(found)


@pytest.mark.slow
@each_case("name", HOSTILE)
def test_a_hostile_name_of_a_file_stays_text_wherever_a_pipeline_reads_it(name: str) -> None:
    answer = of_files(name, "b.csv")

    data = junit(answer)
    cases = ET.fromstring(data).findall("testsuite/testcase")
    assert [[child.tag for child in case] for case in cases] == [["failure"], ["failure"]]
    assert not re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]", data)

    families = {f.name: f for f in text_string_to_metric_families(openmetrics(answer).decode())}
    named = {sample.labels["file"] for sample in families["mace_gate_maximum"].samples}
    assert named == {escape_controls(name), "b.csv"}

    shown = MARKDOWN.render(summary(answer).decode())
    assert shown.count("<tr>") == 1 + 2 * 3
    assert not any(tag in shown for tag in ("<script", "<img", "<a ", "<em>"))

    line = annotation(answer)
    assert line.startswith("::error title=mace gate::Fail: of 2 files")
    assert len(line.splitlines()) == 1
