"""A gate's answer as JUnit XML: one test case for each limit, as GitHub's and GitLab's readers know it.

A limit that is exceeded is a failure, one that is open an error: neither is a passed test.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree as ET

from macekit.text import plain

SUITE = "mace gate"
ELEMENTS = {"fail": "failure", "inconclusive": "error"}


def junit(answer: Mapping[str, Any]) -> bytes:
    """The file; names from outside are spelt so that XML can hold them."""
    limits = answer["limits"]
    decisions = [limit["decision"] for limit in limits]
    counted = {
        "name": SUITE,
        "tests": str(len(limits)),
        "failures": str(decisions.count("fail")),
        "errors": str(decisions.count("inconclusive")),
        "skipped": "0",
        "time": "0",
    }
    top = ET.Element("testsuites", counted)
    suite = ET.SubElement(top, "testsuite", counted)
    properties = ET.SubElement(suite, "properties")
    source = answer["provenance"]
    for name in ("method", "version", "n_members", "n_nonmembers", "input_sha256", "seed"):
        ET.SubElement(properties, "property", {"name": name, "value": plain(str(source[name]))})
    for limit in limits:
        _case(suite, limit)
    ET.SubElement(suite, "system-out").text = plain(answer["sentence"])
    ET.indent(top)
    written: bytes = ET.tostring(top, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _case(suite: ET.Element, limit: Mapping[str, Any]) -> None:
    name = f"{plain(limit['about'])}, at most {limit['maximum']:g}"
    case = ET.SubElement(suite, "testcase", {"classname": "mace.gate", "name": name, "time": "0"})
    if limit["decision"] in ELEMENTS:
        reason, stands = plain(limit["reason"]), limit["guarantee"]
        told = {"type": limit["decision"], "message": reason}
        found = ET.SubElement(case, ELEMENTS[limit["decision"]], told)
        found.text = f"{reason}\nCovers: {plain(stands['covers'])}.\nAssumes: {plain(stands['assumes'])}."
