"""The report that is shown as an example is what its command makes, byte for byte."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from macekit.reports.rendering import render

PLACE = Path(__file__).parents[2] / "examples" / "report"


def command() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make", PLACE / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def numbers(value: Any) -> list[Any]:
    if isinstance(value, dict | list):
        return [part for each in (value.values() if isinstance(value, dict) else value) for part in numbers(each)]
    return [value]


def test_the_answer_shown_is_the_answer_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = command()
    monkeypatch.setattr(made, "HERE", tmp_path)

    made.main()

    shown, given = (json.loads((where / "answer.json").read_text("utf-8")) for where in (PLACE, tmp_path))
    for before, after in zip(numbers(shown), numbers(given), strict=True):
        assert after == (pytest.approx(before, abs=1e-9) if isinstance(before, float) else before)


@pytest.mark.parametrize("name", ["report.html", "report.md"])
def test_the_report_shown_is_that_of_the_answer(name: str) -> None:
    made = command()
    answer = json.loads((PLACE / "answer.json").read_text("utf-8"))

    rendered = render("report", answer, made.FORMS[name], made.CONTEXT)

    assert rendered == (PLACE / name).read_bytes(), "made anew by .venv/bin/python examples/report/make.py"


def test_the_picture_of_the_readme_is_that_of_its_first_request() -> None:
    picture = command().first_picture()

    assert picture == (PLACE / "interval.svg").read_bytes(), "made anew by examples/report/make.py"
