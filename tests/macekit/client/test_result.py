"""What can be done with an answer: its fields, what it is written as, how it is drawn, how a notebook shows it."""

import base64
import copy
import csv
import io
import json
import pickle
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import macekit
from macekit.client.display import rows
from macekit.reports.rendering import CARD, FORMS, render
from tests.app.running import Running
from tests.cases import each_case
from tests.macekit.client.worlds import as_lists, shuffled, world
from tests.macekit.reports.test_html import read

MEMBERS, NONMEMBERS = world()
HOSTILE = ["<script>alert(1)</script>", '=HYPERLINK("http://x")', "\u202egnp", "x" * 500]


def estimated(**options: Any) -> macekit.Result:
    return macekit.estimate(MEMBERS, NONMEMBERS, **options)


@pytest.fixture(scope="module")
def results() -> dict[str, macekit.Result]:
    groups = ["a", "b"] * (len(MEMBERS) + len(NONMEMBERS))
    sides = {"members": MEMBERS, "nonmembers": NONMEMBERS}
    return {
        "estimate": macekit.estimate(**sides, max_advantage=0.01),
        "report": macekit.report(**sides, max_advantage=0.1, groups=groups[: len(MEMBERS) + len(NONMEMBERS)]),
        "risk": macekit.risk(**sides),
        "metrics": macekit.metrics(**sides),
        "attack": macekit.attack(**sides, rule={"kind": "top"}),
        "compare": macekit.compare({"a": (MEMBERS, NONMEMBERS), "b": world(seed=4)}),
        "audit": macekit.audit(**sides, claimed_epsilon=0.1),
        "gate": macekit.gate(**sides, max_advantage=0.01, max_epsilon=3),
        "plan": macekit.plan(expected=0.1, max_advantage=0.2),
    }


SHOWN = ("estimate", "report", "risk", "metrics", "attack", "compare", "audit", "gate", "plan")


def test_fields_of_an_answer_are_attributes_and_items_however_deep() -> None:
    found = estimated(max_advantage=0.1)

    assert found.advantage.lower == found["advantage"]["lower"] == found.answer["advantage"]["lower"]
    assert found.roc.operating_points[0].fpr == 0.001
    assert found.advantage.guarantee.finite_sample is False
    assert "advantage" in found
    assert set(found) == set(found.answer) <= set(dir(found))


def test_an_answer_cannot_be_changed() -> None:
    found = estimated()

    for change in (
        lambda: setattr(found, "x", 1),
        lambda: setattr(found, "answer", {}),
        lambda: delattr(found, "made"),
    ):
        with pytest.raises(FrozenInstanceError, match="an answer cannot be changed"):
            change()


@pytest.mark.slow
def test_a_report_knows_the_fields_of_its_result(results: dict[str, macekit.Result]) -> None:
    found = results["report"]

    assert found.advantage == found["result"]["advantage"]
    assert found.sentence == found["sentence"]
    assert found.risk.baseline == found["risk"]["baseline"]


def test_a_field_that_is_not_there_is_an_attribute_error_that_knows_the_nearest() -> None:
    with pytest.raises(AttributeError, match="did you mean advantage"):
        _ = estimated().advantge
    with pytest.raises(AttributeError, match="there are"):
        _ = estimated().advantage.zzz
    assert not hasattr(estimated(), "_repr_latex_")


def test_a_result_does_not_change() -> None:
    with pytest.raises(AttributeError):
        estimated().operation = "audit"  # type: ignore[misc]


def test_a_result_is_read_as_the_dict_it_is_and_nothing_changes_a_copy_of_it(
    results: dict[str, macekit.Result],
) -> None:
    for found in results.values():
        assert dict(found) == {**found} == {name: found[name] for name in found} == found.answer
        assert [*found.keys()] == [*found] == [name for name, _ in found.items()]
        assert found.get("sentence") == found.answer.get("sentence")
        for name in ("update", "clear", "pop", "popitem", "setdefault"):
            assert not hasattr(found, name)


def test_results_are_equal_if_their_answers_are(results: dict[str, macekit.Result]) -> None:
    for found in results.values():
        later = macekit.Result(found.operation, found.to_dict(), "later.csv", "2030-01-01 00:00")

        assert {found, later, copy.deepcopy(found), pickle.loads(pickle.dumps(found))} == {found}
    assert len(set(results.values())) == len(results)
    assert estimated(prior=0.3) == estimated(prior=0.3) != estimated(prior=0.4)


@pytest.mark.slow
def test_a_decision_is_that_of_the_threshold_or_of_the_gate(results: dict[str, macekit.Result]) -> None:
    assert estimated().decision is None
    assert estimated().verdict is None
    assert results["estimate"].decision == results["estimate"].verdict.decision == "fail"
    assert results["report"].decision == results["report"].answer["result"]["verdict"]["decision"]
    assert results["gate"].decision == results["gate"].answer["decision"] == "fail"


def test_json_is_what_the_service_sends(service: Running, tmp_path: Path) -> None:
    written = estimated(prior=0.3).to_json(tmp_path / "answer.json")

    sent = posted(service, "advantage", "application/json", prior=0.3)
    assert written.encode() == sent == (tmp_path / "answer.json").read_bytes()


def posted(service: Running, operation: str, accept: str, **options: Any) -> bytes:
    body = json.dumps({**as_lists(MEMBERS, NONMEMBERS), **options}).encode()
    headers = {"Content-Type": "application/json", "Accept": accept}
    return service.ask(f"/v1/{operation}", "POST", body, headers).body


@pytest.mark.slow
@each_case("name", SHOWN)
def test_every_answer_is_written_as_the_reports_writers_write_it(name, results, tmp_path) -> None:
    found = results[name]
    html, markdown, table = FORMS[:3]
    writers = {html: found.to_html, markdown: found.to_markdown, CARD: found.to_card, table: found.to_csv}

    for form, write in writers.items():
        text = write(tmp_path / "written")

        assert (tmp_path / "written").read_bytes() == text.encode()
        if (name, form) != ("risk", table):
            assert text.encode() == render(found.operation, found.answer, form, found._context(dated=False))


def test_the_csv_of_a_risk_answer_is_its_records_as_the_service_writes_them(service: Running) -> None:
    sent = posted(service, "individual-risk", "text/csv")

    assert macekit.risk(MEMBERS, NONMEMBERS).to_csv().encode() == sent


def test_counts_are_for_programs() -> None:
    found = macekit.counts(MEMBERS, NONMEMBERS)

    assert found.charts() == ()
    with pytest.raises(ValueError, match="no report of counts"):
        found.to_html()
    assert found.sentence in found._repr_html_()


def test_a_frame_has_a_row_for_each_statement(results: dict[str, macekit.Result]) -> None:
    found = results["estimate"].to_frame().set_index("name")

    assert isinstance(found, pd.DataFrame)
    advantage = results["estimate"].advantage
    assert found.loc["advantage"].tolist() == [
        advantage.estimate, advantage.lower, advantage.upper, advantage.confidence
    ]  # fmt: skip
    assert found.loc["roc.auc", "upper"] == results["estimate"].roc.auc_upper
    assert {"paper", "metric.accuracy", "baseline"} <= set(found.index)
    assert {"groups.a", "groups.b.advantage", "advantage"} <= set(results["report"].to_frame()["name"])
    assert {"limits.advantage", "limits.epsilon"} <= set(results["gate"].to_frame()["name"])
    assert "ranking.a.advantage" in set(results["compare"].to_frame()["name"])
    assert "differences.a - b" in set(results["compare"].to_frame()["name"])


def test_every_statement_is_a_number_or_has_none(results: dict[str, macekit.Result]) -> None:
    for operation, found in results.items():
        for row in rows(found.answer):
            assert isinstance(row.name, str), operation
            for value in (row.estimate, row.lower, row.upper, row.confidence):
                assert value is None or isinstance(value, int | float), (operation, row.name)


def test_the_frame_of_a_risk_answer_has_a_row_for_each_record() -> None:
    columns = shuffled()

    found = macekit.risk(columns, score="loss", member="is_train").to_frame()

    assert sorted(found["index"]) == list(range(len(columns["loss"])))
    assert {"risk", "lower", "upper", "flagged"} <= set(found.columns)


DATA = ("pyarrow", "pandas", "polars", "scipy")
HEAVY = (*DATA, "mlflow", "pytest", "pydantic", "vl_convert", "estimators")
PROGRAM = f"""
import sys
from importlib.machinery import PathFinder
import macekit, macekit.testing, macekit.mlflow

print([name for name in {HEAVY} if name in sys.modules])

class Lacking(PathFinder):
    hidden = ["pandas"]
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in cls.hidden else super().find_spec(name, path, target)

sys.meta_path[:] = [Lacking if each is PathFinder else each for each in sys.meta_path]
found = macekit.estimate([*range(20)], [*range(9, 30)])
print(type(found.to_frame()).__module__)
Lacking.hidden.append(sys.modules.pop("polars").__name__)
try:
    found.to_frame()
except ImportError as error:
    print("ImportError", error)
"""


@pytest.mark.slow
def test_the_client_loads_no_library_and_does_without_pandas_and_polars() -> None:
    """A finder that knows no such package stands in for an environment that lacks it."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=True)

    loaded, frame, error = done.stdout.splitlines()
    assert loaded == "[]"
    assert frame.startswith("polars")
    assert error.startswith("ImportError")


@pytest.mark.slow
@each_case("name", sorted(set(SHOWN) - {"plan"}))
def test_every_chart_is_a_specification_and_a_picture(name, results, tmp_path) -> None:
    for chart in results[name].charts():
        assert chart.spec["$schema"].startswith("https://vega.github.io/schema/vega-lite/")
        assert json.loads(json.dumps(chart.spec)) == chart.spec
        assert chart.title
        assert chart.description
        assert ET.parse(chart.save(tmp_path / "chart.svg")).getroot().tag.endswith("svg")
        assert chart.save(tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")
        assert chart._repr_mimebundle_()["image/svg+xml"].encode() == (tmp_path / "chart.svg").read_bytes()
        assert repr(chart) == f"<Chart {chart.name}: {chart.title}>"


def test_a_chart_is_found_by_its_name_and_the_first_without_one(results: dict[str, macekit.Result]) -> None:
    charts = results["report"].charts()

    assert results["report"].plot().name == charts[0].name
    assert [results["report"].plot(chart.name).title for chart in charts] == [chart.title for chart in charts]
    with pytest.raises(ValueError, match="did you mean 'roc'"):
        results["report"].plot("rock")
    with pytest.raises(ValueError, match="there is no chart of plan"):
        results["plan"].plot()
    with pytest.raises(ValueError, match=r"\.svg or \.png"):
        results["report"].plot().save("chart.gif")


PLAIN = {"div", "p", "strong", "img", "table", "thead", "tbody", "tr", "th", "td"}


@each_case("name", SHOWN)
def test_a_notebook_gets_plain_elements_that_style_nothing_run_nothing_and_fetch_nothing(name, results):
    nodes = list(read(results[name]._repr_html_()).all())

    assert {node.tag for node in nodes} <= PLAIN
    assert {attribute for node in nodes for attribute in node.given} <= {"alt", "src"}
    for source in (str(node.given["src"]) for node in nodes if "src" in node.given):
        picture = base64.b64decode(source.removeprefix("data:image/svg+xml;base64,"), validate=True).decode()
        assert ET.fromstring(picture).tag.endswith("svg")
        assert "<script" not in picture
        assert not re.findall(r"(?:href|src|url\()\s*=?\s*[\"']?(?!#)http", picture)


def test_labels_are_inert_wherever_they_are_shown() -> None:
    labels = [HOSTILE[at % len(HOSTILE)] for at in range(len(MEMBERS) + len(NONMEMBERS))]

    found = macekit.report(MEMBERS, NONMEMBERS, groups=labels)

    shown = found._repr_html_()
    assert {node.tag for node in read(shown).all()} <= PLAIN
    assert "\u202e" not in shown + str(found)
    assert "x" * 100 not in shown + str(found)
    cells = [cell for row in csv.reader(io.StringIO(found.to_csv())) for cell in row]
    assert not [cell for cell in cells if cell.startswith("=")]


def test_the_riskiest_records_that_were_asked_for_are_shown() -> None:
    found = macekit.risk(MEMBERS, NONMEMBERS, top=5)

    for shown in (str(found), found._repr_html_(), found.to_markdown()):
        assert all(re.search(rf"\b{index}\b", shown) for index in found.records.index)
    for top, answer in ((5, found), (30, macekit.risk(MEMBERS, NONMEMBERS, top=30))):
        assert len(re.findall(r"^ +\d+ +0\.\d{3} ", str(answer), re.MULTILINE)) == top
