"""A gate's answer as SARIF 2.1.0: what its schema and GitHub's code scanning require, and that names in it stay text.

OASIS publishes the schema under terms of its own, and no package of Python brings it: `SHAPE` is what it requires and
forbids of the objects that are written here. Files were held against the whole schema (2.1.0, errata 01) when it was
written.
"""

import json
from typing import Any

from jsonschema_rs import Draft202012Validator

from macekit.reports.files import together
from macekit.reports.pipeline import TEXTS, sarif
from tests.cases import each_case
from tests.macekit.reports.test_pipeline import HOSTILE, MIXED, asked, hostile

TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
LINE = {"type": "integer", "minimum": 1}


def closed(required: str, **properties: Any) -> dict[str, Any]:
    """An object with these properties and no other."""
    bag = {"properties": {"type": "object"}}
    known = {"required": required.split(), "properties": {**bag, **properties}}
    return {"type": "object", **known, "additionalProperties": False}


RULE = closed(
    "id shortDescription fullDescription help",  # of which GitHub shows the last three
    id={"type": "string"},
    name={"type": "string", "pattern": "^[A-Za-z]+$", "maxLength": 255},
    shortDescription=TEXT,
    fullDescription=TEXT,
    help=TEXT,
    defaultConfiguration=closed("", level={"enum": ["none", "note", "warning", "error"]}),
)
PLACE = closed(
    "physicalLocation",
    physicalLocation=closed(
        "artifactLocation region",
        artifactLocation=closed("uri", uri={"type": "string", "pattern": r"^[!-~]+$"}),
        region=closed("startLine", startLine=LINE, startColumn=LINE, endLine=LINE, endColumn=LINE),
    ),
)
RESULT = closed(
    "message ruleId locations partialFingerprints",
    ruleId={"type": "string"},
    ruleIndex={"type": "integer", "minimum": 0},
    level={"enum": ["error", "warning"]},
    message=TEXT,
    locations={"type": "array", "items": PLACE, "minItems": 1, "maxItems": 10},
    partialFingerprints={
        "type": "object",
        "required": ["primaryLocationLineHash"],  # the one that GitHub reads
        "additionalProperties": {"type": "string"},
    },
)
RULES = {"type": "array", "items": RULE, "uniqueItems": True}
DRIVER = closed("name rules", name={"type": "string"}, version={"type": "string"}, rules=RULES)
SHAPE = closed(
    "version runs",
    version={"const": "2.1.0"},
    runs={
        "type": "array",
        "minItems": 1,
        "maxItems": 20,
        "items": closed(
            "tool results",
            tool=closed("driver", driver=DRIVER),
            results={"type": "array", "items": RESULT, "maxItems": 25000},
        ),
    },
)
SHAPE["properties"]["$schema"] = {"type": "string", "format": "uri"}


def run_of(answer: dict[str, Any], *places: str) -> Any:
    document = json.loads(sarif(answer, places))
    Draft202012Validator(SHAPE).validate(document)
    (run,) = document["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert all(rules[each["ruleIndex"]]["id"] == each["ruleId"] for each in run["results"])
    return run


def test_each_limit_is_a_rule_and_what_is_not_kept_a_result() -> None:
    answer = asked(**MIXED)

    run = run_of(answer, "scores.csv")

    shown = [(each["ruleId"], each["level"]) for each in run["results"]]
    assert shown == [("mace/advantage", "error"), ("mace/epsilon", "warning")]
    rules = [each["id"] for each in run["tool"]["driver"]["rules"]]
    assert rules == ["mace/advantage", "mace/epsilon", "mace/metric", "mace/exposure", "mace/records"]
    assert answer["limits"][0]["reason"] in run["results"][0]["message"]["text"]
    assert run["results"][0]["properties"]["lower"] == answer["limits"][0]["lower"]


def test_a_pass_has_no_result() -> None:
    run = run_of(asked(max_advantage=0.99, max_epsilon=None, delta=0.0), "scores.csv")

    assert run["results"] == []
    assert run["properties"]["decision"] == "pass"


def test_a_severe_exposure_that_no_limit_judges_is_a_warning() -> None:
    counts = {"members": [4000, 1000], "nonmembers": [5000, 0], "edges": [0.0]}
    answer = asked(members=None, nonmembers=None, counts=counts, max_advantage=0.9, max_epsilon=None, delta=0.0)

    run = run_of(answer, "scores.csv", "more.csv")

    assert [(each["ruleId"], each["level"]) for each in run["results"]] == [("mace/exposure", "warning")]
    places = [each["physicalLocation"]["artifactLocation"]["uri"] for each in run["results"][0]["locations"]]
    assert places == ["scores.csv", "more.csv"]


def test_the_same_result_of_another_sample_has_the_same_fingerprint() -> None:
    first, second = asked(**MIXED), asked(**MIXED, confidence=0.9)

    runs = (run_of(*each) for each in ((first, "a.csv"), (second, "a.csv"), (first, "b.csv")))
    prints = [[each["partialFingerprints"] for each in run["results"][:1]] for run in runs]

    assert prints[0] == prints[1] != prints[2]
    assert first["limits"][0]["lower"] != second["limits"][0]["lower"]


def test_results_of_several_files_stand_at_their_own() -> None:
    answers: list[Any] = [{"file": name, "answer": asked(**MIXED)} for name in ("a.csv", "b.csv")]
    answer: Any = together(answers, 0.95)

    run = run_of(answer, "a.csv", "b.csv")

    places = [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in run["results"]]
    assert places == ["a.csv", "a.csv", "b.csv", "b.csv"]
    assert len({each["partialFingerprints"]["primaryLocationLineHash"] for each in run["results"]}) == 4
    assert len(run["tool"]["driver"]["rules"]) == 5


@each_case("text", HOSTILE)
def test_a_hostile_name_stays_text(text: str) -> None:
    (result,) = run_of(hostile(text), "scores.csv")["results"]

    assert "\u202e" not in result["message"]["text"]
    assert result["message"]["text"].isprintable()


def test_every_limit_of_a_gate_has_its_text() -> None:
    labels = ["a", "b"] * 24
    answer = asked(**MIXED, max_tpr=0.5, at_fpr=0.1, max_group_advantage=0.9, max_group_risk=0.9, groups=labels)

    names = [limit["name"] for limit in answer["limits"]]

    of_audits = {"exposed", "copies", "near_copies"}
    assert {*names, *of_audits, "exposure", "records"} == TEXTS.keys()
