"""An answer with limits for a pipeline: JUnit XML, OpenMetrics, SARIF, a summary in Markdown, one line beside the job.

``command`` is what was asked: ``gate``, ``model``. An answer of a gate may be about several files (``parts``).
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any
from xml.etree import ElementTree as ET

from estimators.decisions.verdict import Decision
from estimators.python.dataclass import dataclass
from estimators.statement import at_least, at_most, exactly
from macekit.call import __version__
from macekit.reports.content.riskiest import LABELS
from macekit.reports.formatting import DASH, three
from macekit.reports.markdown import escape_markdown
from macekit.reports.model import COVERAGE
from macekit.reports.palette import WORDS
from macekit.text import escape_controls

GATE = "gate"
ELEMENTS = {"fail": "failure", "inconclusive": "error"}
UNJUDGED = "no severe exposure that no limit judges"
UNANSWERED = "the records can answer the question"


@dataclass(frozen=True, slots=True)
class Case:
    """One test case: its name, how it ended, and what is said of an end that is no pass."""

    name: str
    decision: str
    kind: str
    message: str
    text: str = ""


def junit(answer: Mapping[str, Any], command: str = GATE) -> bytes:
    """One test case a limit, or a file of several: a failure where a limit is exceeded, an error where it is open.

    A severe exposure that no limit judges is one case more, and an error; so are records that cannot answer. Characters
    that XML cannot hold are written out.
    """
    cases = [_case_of_file(each) for each in parts(answer)] if "files" in answer else list(_cases(answer))
    decisions = [case.decision for case in cases]
    totals = {
        "name": f"mace {command}",
        "tests": str(len(decisions)),
        "failures": str(decisions.count("fail")),
        "errors": str(decisions.count("inconclusive")),
        "skipped": "0",
        "time": "0",
    }
    top = ET.Element("testsuites", totals)
    suite = ET.SubElement(top, "testsuite", totals)
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(answer):
        ET.SubElement(properties, "property", {"name": escape_controls(name), "value": escape_controls(value)})
    for case in cases:
        attributes = {"classname": f"mace.{command}", "name": case.name, "time": "0"}
        element = ET.SubElement(suite, "testcase", attributes)
        if case.decision in ELEMENTS:
            kind = {"type": case.kind, "message": case.message}
            reason = ET.SubElement(element, ELEMENTS[case.decision], kind)
            reason.text = case.text or None
    sentences = map(escape_controls, [answer["sentence"], *answer["covers"], *_exposures(answer)])
    ET.SubElement(suite, "system-out").text = "\n".join(sentences)
    ET.indent(top)
    document: bytes = ET.tostring(top, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _about(limit: Mapping[str, Any]) -> str:
    """What is limited, in words: a gate says it of each score, an audit of all its queries."""
    return str(limit.get("about") or LABELS[limit["name"]])


def parts(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Each file with the answer about it; of an answer about one sample, that alone, and no file."""
    of_files: list[Mapping[str, Any]] = answer.get("files") or [{"file": None, "answer": answer}]
    return of_files


def _properties(answer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "files" in answer:
        yield "confidence", str(answer["confidence"])
        for each in answer["files"]:
            yield f"input_sha256 of {each['file']}", each["answer"]["provenance"]["input_sha256"]
        return
    source = _source(answer)
    for name in ("method", "version", "n_members", "n_nonmembers", "input_sha256", "seed"):
        yield name, str(source[name])


def _cases(answer: Mapping[str, Any]) -> Iterator[Case]:
    for limit in answer["limits"]:
        reason, stands = escape_controls(limit["reason"]), limit["guarantee"]
        covers, assumes = (escape_controls(stands[name]) for name in ("covers", "assumes"))
        name = f"{escape_controls(_about(limit))}, at most {exactly(limit['maximum'])}"
        text = f"{reason}\nCovers: {covers}.\nAssumes: {assumes}."
        yield Case(name, limit["decision"], limit["decision"], f"{begin(limit)}: {reason}", text)
    if (because := answer["undecided_because"]) is not None:
        name = UNJUDGED if because == "exposed" else UNANSWERED
        yield Case(name, "inconclusive", because, escape_controls(answer["sentence"]))


def _case_of_file(each: Mapping[str, Any]) -> Case:
    answer = each["answer"]
    open_cases = [case for case in _cases(answer) if case.decision in ELEMENTS]
    text = "\n".join(f"{case.name}:\n{case.text or case.message}" for case in open_cases)
    decision, sentence = answer["decision"], escape_controls(answer["sentence"])
    kind = answer["undecided_because"] or decision
    end = decision if decision in ("pass", "fail") else "inconclusive"
    return Case(escape_controls(each["file"]), end, kind, sentence, text)


GAUGES = {
    "maximum": "largest acceptable value",
    "estimate": "point estimate",
    "lower": "lower end of the interval",
    "upper": "upper end of the interval",
    "records_needed": "records of both sides that would settle an open limit",
}


def openmetrics(answer: Mapping[str, Any], command: str = GATE) -> bytes:
    """One gauge a number, labelled by its limit and its file; what there is no number of has no line.

    GitLab shows it beside the numbers of the target branch.
    """
    prefix = f"mace_{command}"
    words = [each.value for each in Decision] if command == GATE else list(WORDS)
    lines = [*_head(f"{prefix}_decision", "1 at the decision over all limits")]
    lines += [f'{prefix}_decision{{decision="{each}"}} {int(each == answer["decision"])}' for each in words]
    for name, about in GAUGES.items():
        lines += _head(f"{prefix}_{name}", about)
        lines += [
            f'{prefix}_{name}{{{_file_label(part)}limit="{limit["name"]}"}} {limit[name]!r}'
            for part in parts(answer)
            for limit in part["answer"]["limits"]
            if limit.get(name) is not None
        ]
    return "\n".join([*lines, "# EOF", ""]).encode()


def _file_label(part: Mapping[str, Any]) -> str:
    if part["file"] is None:
        return ""
    name = escape_controls(part["file"]).replace("\\", "\\\\").replace('"', '\\"')
    return f'file="{name}",'


def _head(name: str, about: str) -> tuple[str, str]:
    return f"# TYPE {name} gauge", f"# HELP {name} {about}"


LEVELS = {
    "pass": "notice",
    "fail": "error",
    "fail, or drift": "error",
    "inconclusive": "warning",
    "not applicable": "warning",
}


def summary(answer: Mapping[str, Any], command: str = GATE) -> bytes:
    """The decision, its sentence, and a row for each limit; it begins and ends apart from what stands around it."""
    head, rules = list(HEAD), list(RULES)
    if "files" in answer:
        head, rules = ["file", *head], ["---", *rules]
    rows = [_line(head), _line(rules)]
    rows += [_row(part, limit) for part in parts(answer) for limit in part["answer"]["limits"]]
    one = command == GATE
    rows_are, speaks_of = "scores" if one else "rows", "this score" if one else "the scores that were asked"
    covers = [f"- {_escape(line)}" for line in answer["covers"]]
    notes = [f"- {_escape(note['message'])}" for note in answer["warnings"]]
    texts = [
        f"### mace {command}: {_word(answer)}",
        _escape(answer["sentence"]),
        *([f"{COVERAGE}:", "\n".join(covers)] if covers else []),
        "\n".join(rows),
        *(["\n".join(notes)] if notes else []),
        "\n".join(_origin(part, rows_are) for part in parts(answer))
        + ("\n\n" if "files" in answer else " ")
        + f"It speaks of {speaks_of} at the resolution stated, not of the mechanism.",
    ]
    return ("\n" + "\n\n".join(texts) + "\n").encode()


HEAD = ("limit", "at most", "estimate", "lower", "upper", "decision")
RULES = ("---", "---:", "---:", "---:", "---:", "---")


def _origin(part: Mapping[str, Any], rows_are: str) -> str:
    """How many scores or rows, and which."""
    answer = part["answer"]
    source = _source(answer)
    scores = f"{source['n_members']} member and {source['n_nonmembers']} nonmember {rows_are}"
    last = " of the last batch" if answer.get("anytime") else ""
    origin = f"{scores}; methods version {_escape(source['version'])}; input SHA-256{last} `{source['input_sha256']}`"
    return f"{origin}." if part["file"] is None else f"- {_escape(part['file'])}: {origin}"


def _source(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Where the answer is from: of a run, the records of all batches."""
    of_run = answer.get("anytime") or {}
    return {**answer["provenance"], **{name: of_run[name] for name in ("n_members", "n_nonmembers") if of_run}}


def annotation(answer: Mapping[str, Any], command: str = GATE) -> str:
    """The line GitHub Actions shows beside the job; a percent sign or a line's end within it would end it.

    A pass that hides exposed members is a warning, and says so.
    """
    level, sentences = LEVELS[answer["decision"]], [answer["sentence"], *_exposures(answer)]
    if answer["decision"] == "pass" and len(sentences) > 1:
        level = "warning"
    text = escape_controls(" ".join(sentences)).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return f"::{level} title=mace {command}::{text}"


def _exposures(answer: Mapping[str, Any]) -> list[str]:
    return [f"{note['message']}." for note in answer["warnings"] if note["code"] == "rare_exposure"]


def _row(part: Mapping[str, Any], limit: Mapping[str, Any]) -> str:
    writers = {"maximum": exactly, "estimate": three, "lower": at_least, "upper": at_most}
    numbers = [DASH if limit[name] is None else write(limit[name]) for name, write in writers.items()]
    file = [] if part["file"] is None else [_escape(part["file"])]
    return _line([*file, _escape(_about(limit)), *numbers, f"**{_word(limit)}**"])


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def begin(statement: Mapping[str, Any]) -> str:
    """How what is said of a decision begins."""
    return _word(statement).capitalize()


def _word(statement: Mapping[str, Any]) -> str:
    return WORDS[statement["decision"]].word.lower()


def _escape(text: str) -> str:
    return escape_markdown(escape_controls(text))


SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
OPEN_LEVELS = {"fail": "error", "inconclusive": "warning"}
EXPOSURE, RECORDS = "exposure", "records"
TEXTS = {
    "advantage": ("Advantage of the best attacker", "How much better than guessing an attacker tells members."),
    "tpr": ("Members found at few false accusations", "The true positive rate of the best set of a few ranges."),
    "epsilon": ("Epsilon of the score", "How far apart the two distributions of the score may be at delta."),
    "metric": ("Metric of the best attacker", "The largest value of a metric over attackers."),
    "group_advantage": ("Advantage within a group", "What each group gives away by itself, on its own records."),
    "exposed": ("Members exposed", "How many members a score shows to be members so surely."),
    "copies": ("Copied rows", "Training rows that stand in the release beyond what chance explains."),
    "near_copies": ("Rows with a near copy", "Training rows with a near copy in the release beyond chance."),
    "group_risk": ("Mean risk of a group", "The mean over a group of what is read off all records together."),
    RECORDS: ("Records that can answer the question", "Nothing passes by records that cannot say it."),
    EXPOSURE: ("Exposed members that no limit judges", "No pass stands beside members who are severely exposed."),
}
"""Of each limit its title, and what it is about."""
FIRST = {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 2}
"""Where in a file a result is shown: it is about all of it."""


def sarif(answer: Mapping[str, Any], places: Sequence[str]) -> bytes:
    """One run with what is not kept; ``places`` are the files that were read, as URIs, in the order of the answer's.

    Of an answer about one sample they may be several, or none where it came through a pipe. GitHub requires of a result
    its location with a line, and a fingerprint by which it knows the same result of the next run: that is made of the
    file's place and the limit, and of no number that another sample would change.
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
            {"ruleId": rules[name]["id"], "ruleIndex": order.index(name), **result} for name, result in results
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
        if limit["decision"] in OPEN_LEVELS:
            numbers = {name: limit[name] for name in ("maximum", "lower", "upper", "confidence")}
            level, name = OPEN_LEVELS[limit["decision"]], limit["name"]
            stands = f"Covers: {limit['guarantee']['covers']}. Assumes: {limit['guarantee']['assumes']}."
            text = f"{begin(limit)}: {limit['reason']}. {stands}"
            yield name, _result(name, level, text, numbers, answer, places)
    if answer["undecided_because"] is not None:
        name = EXPOSURE if answer["undecided_because"] == "exposed" else RECORDS
        yield name, _result(name, OPEN_LEVELS["inconclusive"], answer["sentence"], {}, answer, places)


def _result(
    name: str, level: str, text: str, numbers: Mapping[str, Any], answer: Mapping[str, Any], places: Sequence[str]
) -> dict[str, Any]:
    fingerprint = sha256("\n".join([name, *places]).encode()).hexdigest()[:32]
    return {
        "level": level,
        "message": {"text": escape_controls(text)},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": place}, "region": FIRST}} for place in places],
        "partialFingerprints": {"primaryLocationLineHash": f"{fingerprint}:1", "maceLimit/v1": fingerprint},
        "properties": {**numbers, "input_sha256": answer["provenance"]["input_sha256"]},
    }
