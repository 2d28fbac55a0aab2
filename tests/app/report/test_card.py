"""The model card section, and metadata that is read as YAML."""

from __future__ import annotations

import re

import pytest
import yaml

from app.report.model import Context
from app.report.rendering import CARD, render
from tests.app.report.asked import CASES, case


@pytest.mark.parametrize("name", CASES)
def test_a_card_is_a_section_of_another_document(name: str) -> None:
    operation, answer = case(name)

    text = render(operation, answer, CARD, Context("scores.csv")).decode()

    assert text.startswith("## Membership leakage\n")
    assert not re.search(r"^# ", text, re.MULTILINE)
    assert "### What was not established" in text


def test_the_metadata_is_yaml_and_holds_the_answers_numbers() -> None:
    operation, answer = case("report, scores")
    text = render(operation, answer, CARD).decode()

    found = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)[0])["model-index"][0]

    metrics = {each["type"]: each["value"] for each in found["results"][0]["metrics"]}
    assert metrics["mace_advantage_lower"] == answer["result"]["advantage"]["lower"]
    assert metrics["mace_baseline"] == answer["result"]["baseline"]
    assert set(found["results"][0]) == {"task", "dataset", "metrics"}
