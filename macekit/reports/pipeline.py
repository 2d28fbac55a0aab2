"""A gate's answer for a pipeline: JUnit XML, OpenMetrics, a summary in Markdown, and one line beside the job."""

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree as ET

from estimators.decisions.plan import Decision
from estimators.statement import at_least, at_most, exactly
from macekit.reports.formatting import DASH, three
from macekit.reports.markdown import escape_markdown
from macekit.reports.model import COVERAGE
from macekit.reports.palette import WORDS
from macekit.text import escape_controls

SUITE = "mace gate"
ELEMENTS = {"fail": "failure", "inconclusive": "error"}
UNJUDGED = "no severe exposure that no limit judges"
UNANSWERED = "the records can answer the question"


def junit(answer: Mapping[str, Any]) -> bytes:
    """One test case a limit: one that is exceeded is a failure, one that is open an error; neither is a passed test.

    A severe exposure that no limit judges is one case more, and an error; so are records that cannot answer. Characters
    that XML cannot hold are written out.
    """
    limits = answer["limits"]
    because = answer["undecided_because"]
    decisions = [limit["decision"] for limit in limits] + ["inconclusive"] * (because is not None)
    totals = {
        "name": SUITE,
        "tests": str(len(decisions)),
        "failures": str(decisions.count("fail")),
        "errors": str(decisions.count("inconclusive")),
        "skipped": "0",
        "time": "0",
    }
    top = ET.Element("testsuites", totals)
    suite = ET.SubElement(top, "testsuite", totals)
    properties = ET.SubElement(suite, "properties")
    source = _source(answer)
    for name in ("method", "version", "n_members", "n_nonmembers", "input_sha256", "seed"):
        ET.SubElement(properties, "property", {"name": name, "value": escape_controls(str(source[name]))})
    for limit in limits:
        _case(suite, limit)
    if because is not None:
        name = UNJUDGED if because == "exposed" else UNANSWERED
        case = ET.SubElement(suite, "testcase", {"classname": "mace.gate", "name": name, "time": "0"})
        reason = {"type": because, "message": escape_controls(answer["sentence"])}
        ET.SubElement(case, ELEMENTS["inconclusive"], reason)
    sentences = map(escape_controls, [answer["sentence"], *answer["covers"], *_exposures(answer)])
    ET.SubElement(suite, "system-out").text = "\n".join(sentences)
    ET.indent(top)
    document: bytes = ET.tostring(top, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _case(suite: ET.Element, limit: Mapping[str, Any]) -> None:
    name = f"{escape_controls(limit['about'])}, at most {exactly(limit['maximum'])}"
    case = ET.SubElement(suite, "testcase", {"classname": "mace.gate", "name": name, "time": "0"})
    if limit["decision"] in ELEMENTS:
        reason, stands = escape_controls(limit["reason"]), limit["guarantee"]
        attributes = {"type": limit["decision"], "message": reason}
        element = ET.SubElement(case, ELEMENTS[limit["decision"]], attributes)
        covers, assumes = (escape_controls(stands[name]) for name in ("covers", "assumes"))
        element.text = f"{reason}\nCovers: {covers}.\nAssumes: {assumes}."


# --- openmetrics --------------------------------------------------------------------------------------------
# A gate's answer as OpenMetrics text, which GitLab shows beside the numbers of the target branch.

GAUGES = {
    "maximum": "largest acceptable value",
    "estimate": "point estimate",
    "lower": "lower end of the interval",
    "upper": "upper end of the interval",
    "records_needed": "records of both sides that would settle an open limit",
}


def openmetrics(answer: Mapping[str, Any]) -> bytes:
    """One gauge a number, labelled by its limit; what there is no number of has no line."""
    lines = [*_head("decision", "1 at the decision over all limits")]
    lines += [
        f'mace_gate_decision{{decision="{each.value}"}} {int(each.value == answer["decision"])}'
        for each in Decision
    ]
    for name, about in GAUGES.items():
        lines += _head(name, about)
        lines += [
            f'mace_gate_{name}{{limit="{limit["name"]}"}} {limit[name]!r}'
            for limit in answer["limits"]
            if limit[name] is not None
        ]
    return "\n".join([*lines, "# EOF", ""]).encode()


def _head(name: str, about: str) -> tuple[str, str]:
    return f"# TYPE mace_gate_{name} gauge", f"# HELP mace_gate_{name} {about}"


# --- summary ------------------------------------------------------------------------------------------------
# A gate's answer where a pipeline's reader looks first: a summary in Markdown, and one line beside the job.

LEVELS = {"pass": "notice", "fail": "error", "inconclusive": "warning", "not applicable": "warning"}


def summary(answer: Mapping[str, Any]) -> bytes:
    """The decision, its sentence, and a row for each limit; it begins and ends apart from what stands around it."""
    source = _source(answer)
    rows = [
        "| limit | at most | estimate | lower | upper | decision |",
        "| --- | ---: | ---: | ---: | ---: | --- |",
    ]
    rows += [_row(limit) for limit in answer["limits"]]
    covers = [f"- {_escape(line)}" for line in answer["covers"]]
    notes = [f"- {_escape(note['message'])}" for note in answer["warnings"]]
    scores = f"{source['n_members']} member and {source['n_nonmembers']} nonmember scores"
    last = " of the last batch" if answer["anytime"] else ""
    origin = f"{scores}; methods version {_escape(source['version'])}; input SHA-256{last} `{source['input_sha256']}`"
    parts = [
        f"### mace gate: {_word(answer)}",
        _escape(answer["sentence"]),
        *([f"{COVERAGE}:", "\n".join(covers)] if covers else []),
        "\n".join(rows),
        *(["\n".join(notes)] if notes else []),
        f"{origin}. It speaks of this score at the resolution stated, not of the mechanism.",
    ]
    return ("\n" + "\n\n".join(parts) + "\n").encode()


def _source(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Where the answer is from: of a run, the records of all batches."""
    of_run = answer["anytime"] or {}
    return {
        **answer["provenance"],
        **{name: of_run[name] for name in ("n_members", "n_nonmembers") if of_run},
    }


def annotation(answer: Mapping[str, Any]) -> str:
    """The line GitHub Actions shows beside the job; a percent sign or a line's end within it would end it.

    A pass that hides exposed members is a warning, and says so.
    """
    level, sentences = LEVELS[answer["decision"]], [answer["sentence"], *_exposures(answer)]
    if answer["decision"] == "pass" and len(sentences) > 1:
        level = "warning"
    text = escape_controls(" ".join(sentences)).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return f"::{level} title=mace gate::{text}"


def _exposures(answer: Mapping[str, Any]) -> list[str]:
    return [f"{note['message']}." for note in answer["warnings"] if note["code"] == "rare_exposure"]


def _row(limit: Mapping[str, Any]) -> str:
    writers = {"maximum": exactly, "estimate": three, "lower": at_least, "upper": at_most}
    numbers = [DASH if limit[name] is None else write(limit[name]) for name, write in writers.items()]
    return f"| {' | '.join([_escape(limit['about']), *numbers, f'**{_word(limit)}**'])} |"


def _word(answer: Mapping[str, Any]) -> str:
    """The decision for people."""
    return WORDS[answer["decision"]].word.lower()


def _escape(text: str) -> str:
    return escape_markdown(escape_controls(text))
