"""An answer with limits as SARIF 2.1.0, as code scanning shows it: a rule for each limit, a result for each not kept.

GitHub requires of a result its location with a line, and a fingerprint by which it knows the same result of the next
run: that is made of the file's place and the limit, and of no number that another sample would change.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from macekit.call import __version__
from macekit.reports.pipeline import begin, parts
from macekit.text import escape_controls

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {"fail": "error", "inconclusive": "warning"}
EXPOSURE, RECORDS = "exposure", "records"
TEXTS = {
    "advantage": (
        "Advantage of the best attacker",
        "How much better than guessing an attacker tells members.",
    ),
    "tpr": (
        "Members found at few false accusations",
        "The true positive rate of the best set of a few ranges.",
    ),
    "epsilon": ("Epsilon of the score", "How far apart the two distributions of the score may be at delta."),
    "metric": ("Metric of the best attacker", "The largest value of a metric over attackers."),
    "group_advantage": (
        "Advantage within a group",
        "What each group gives away by itself, on its own records.",
    ),
    "exposed": ("Members exposed", "How many members a score shows to be members so surely."),
    "copies": ("Copied rows", "Training rows that stand in the release beyond what chance explains."),
    "near_copies": ("Rows with a near copy", "Training rows with a near copy in the release beyond chance."),
    "group_risk": ("Mean risk of a group", "The mean over a group of what is read off all records together."),
    RECORDS: ("Records that can answer the question", "Nothing passes by records that cannot say it."),
    EXPOSURE: (
        "Exposed members that no limit judges",
        "No pass stands beside members who are severely exposed.",
    ),
}
"""Of each limit its title, and what it is about."""
FIRST = {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 2}
"""Where in a file a result is shown: it is about all of it."""


def sarif(answer: Mapping[str, Any], places: Sequence[str]) -> bytes:
    """One run with what is not kept; ``places`` are the files that were read, as URIs, in the order of the answer's.

    Of an answer about one sample they may be several, or none where it came through a pipe.
    """
    each = [[place] for place in places] if "files" in answer else [list(places)]
    rules: dict[str, dict[str, Any]] = {}
    results = []
    for part, of_part in zip(parts(answer), each, strict=True):
        rules |= {name: rule for name, rule in _rules(part["answer"]) if name not in rules}
        results += list(_results(part["answer"], of_part))
    driver = {"name": "mace", "version": __version__, "rules": list(rules.values())}
    order = list(rules)
    run = {
        "tool": {"driver": driver},
        "results": [
            {"ruleId": rules[name]["id"], "ruleIndex": order.index(name), **result}
            for name, result in results
        ],
        "properties": {"decision": answer["decision"], "sentence": escape_controls(answer["sentence"])},
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1).encode() + b"\n"


def _rules(answer: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """A rule for each limit, and for what no limit judges; none depends on the records."""
    for name in (*(limit["name"] for limit in answer["limits"]), EXPOSURE, RECORDS):
        yield name, _rule(name, *TEXTS[name])


def _rule(name: str, title: str, text: str) -> dict[str, Any]:
    return {
        "id": f"mace/{name}",
        "name": name.title().replace("_", ""),
        "shortDescription": {"text": title},
        "fullDescription": {"text": text},
        "help": {"text": text},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["privacy", "membership-inference"]},
    }


def _results(answer: Mapping[str, Any], places: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is not kept, each after the name of its limit."""
    for limit in answer["limits"]:
        if limit["decision"] in LEVELS:
            numbers = {name: limit[name] for name in ("maximum", "lower", "upper", "confidence")}
            level, name = LEVELS[limit["decision"]], limit["name"]
            stands = f"Covers: {limit['guarantee']['covers']}. Assumes: {limit['guarantee']['assumes']}."
            text = f"{begin(limit)}: {limit['reason']}. {stands}"
            yield name, _result(name, level, text, numbers, answer, places)
    if answer["undecided_because"] is not None:
        name = EXPOSURE if answer["undecided_because"] == "exposed" else RECORDS
        yield name, _result(name, LEVELS["inconclusive"], answer["sentence"], {}, answer, places)


def _result(
    name: str,
    level: str,
    text: str,
    numbers: Mapping[str, Any],
    answer: Mapping[str, Any],
    places: Sequence[str],
) -> dict[str, Any]:
    fingerprint = sha256("\n".join([name, *places]).encode()).hexdigest()[:32]
    return {
        "level": level,
        "message": {"text": escape_controls(text)},
        "locations": [
            {"physicalLocation": {"artifactLocation": {"uri": place}, "region": FIRST}} for place in places
        ],
        "partialFingerprints": {"primaryLocationLineHash": f"{fingerprint}:1", "maceLimit/v1": fingerprint},
        "properties": {**numbers, "input_sha256": answer["provenance"]["input_sha256"]},
    }
