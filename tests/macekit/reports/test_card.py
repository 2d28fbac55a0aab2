"""The model card section, and metadata that is read as YAML."""

import re
from typing import Any

import pytest
import yaml

from macekit.reports.rendering import CARD, render
from tests.cases import each_case
from tests.macekit.reports.asked import CASES, case, rendered


@pytest.mark.slow
@each_case("name", CASES)
def test_a_card_is_a_section_of_another_document(name: str) -> None:
    text = rendered(name, CARD).decode()

    assert text.startswith("## Membership leakage\n")
    assert not re.search(r"^# ", text, re.MULTILINE)
    assert "### What was not established" in text


def metadata(text: str) -> list[dict[str, Any]]:
    found = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)[0])["model-index"][0]
    (result,) = found["results"]
    assert set(result) == {"task", "dataset", "metrics"}
    metrics: list[dict[str, Any]] = result["metrics"]
    return metrics


def test_the_metadata_is_yaml_and_holds_the_answers_numbers() -> None:
    operation, answer = case("report, scores")

    metrics = {each["type"]: each["value"] for each in metadata(render(operation, answer, CARD).decode())}

    assert metrics["mace_advantage_lower"] == answer["result"]["advantage"]["lower"]
    assert metrics["mace_baseline"] == answer["result"]["baseline"]


def test_the_metadata_says_what_its_numbers_hold_for_and_what_was_decided() -> None:
    operation, answer = case("fail at a prior")

    found = metadata(render(operation, answer, CARD).decode())

    named = {"type": "mace_decision", "name": "Decision", "value": answer["result"]["verdict"]["decision"]}
    assert found[0] == named | {"args": found[1]["args"]}
    resolution = answer["result"]["advantage"]["resolution"]
    args = {"prior": 0.1, "confidence": 0.95, "resolution": resolution, "max_advantage": 0.81}
    assert all(args.items() <= each["args"].items() for each in found)


@pytest.mark.slow
@each_case("name", [name for name in CASES if not name.startswith("plan")])
def test_a_count_of_records_is_no_metric(name: str) -> None:
    text = rendered(name, CARD).decode()

    counted = [each for each in metadata(text) if isinstance(each["value"], int)] if "```yaml" in text else []
    assert not any("record" in each["type"] for each in counted)
    assert "n_members" not in text.partition("### Metadata")[2]


def test_a_card_says_what_its_interval_assumes_and_whether_it_is_proven() -> None:
    many, vectors = render(*case("report, scores"), CARD).decode(), render(*case("vectors"), CARD).decode()

    assert "records of each side are independent draws" in many
    assert "checked by simulation, including with no leakage at all" in many
    assert "proven at every sample size" in vectors
    assert "Show an attacker the vector of one record" in vectors
