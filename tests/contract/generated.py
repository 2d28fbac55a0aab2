"""schemathesis reads the document and asks what it allows, and what it does not: every check, every phase.

What JSON Schema cannot say is said here: the options of a JSON body stand in the body, those of a table in the query
string. So the document is asked about in two parts, each of which is a document of its own.
"""

import copy
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.http.jobs import JOBS
from app.openapi.examples import files_of
from macekit.call import FORM_DATA, JSON
from macekit.catalogue import OPERATIONS
from tests.app.running import Running
from tests.contract.bodies import COLUMNS

ROOT = Path(__file__).parents[2]
SETTINGS = ROOT / "tests" / "contract" / "schemathesis.toml"
PATIENCE = 300

JSON_ALONE = {f"/v1/{each.name}" for each in OPERATIONS if each.bodies == (JSON,)}
TABLES_ALONE = {f"/v1/{each.name}" for each in OPERATIONS if JSON not in each.bodies}

Schema = dict[str, Any]


def with_json(whole: Schema) -> Schema:
    """The document as it is for those who post JSON."""
    part = copy.deepcopy(whole)
    for path in [path for path in part["paths"] if path.startswith(JOBS) or path in TABLES_ALONE]:
        del part["paths"][path]  # a drawn name is that of no job; tests/app/http/test_jobs.py asks
    for item in part["paths"].values():
        for about in item.values():
            about.pop("parameters", None)
            if "requestBody" in about:
                about["requestBody"]["content"] = {JSON: about["requestBody"]["content"][JSON]}
    return part


def with_tables(whole: Schema, service: Running) -> Schema:
    """The document as it is for those who post tables, whose columns have the names that ``bodies`` draws."""
    part = copy.deepcopy(whole)
    part["paths"] = {path: item for path, item in part["paths"].items() if "post" in item and path not in JSON_ALONE}
    seen: set[str] = set()
    for path, item in part["paths"].items():
        about = item["post"]
        about["responses"]["200"].pop("links", None)
        content = about["requestBody"]["content"]
        content.pop(JSON, None)
        content.pop(FORM_DATA, None)  # files in parts: tests/macekit/decoding/test_multipart.py
        for file, form in files_of(path.removeprefix("/v1/")).items():
            if form in content:
                address = f"http://127.0.0.1:{service.port}/examples/{file}"
                content[form]["examples"] = {"file": {"externalValue": address}}
        about["parameters"] = [each for each in about.get("parameters", ()) if _is_new(each, seen)]
        for parameter in about["parameters"]:
            if parameter["name"] in COLUMNS:
                parameter["schema"] = {"type": "string", "enum": COLUMNS[parameter["name"]]}
    return part


def _is_new(parameter: Schema, seen: set[str]) -> bool:
    """Whether an option has to be asked about: needed, a column, or told at no address before with these words."""
    words = json.dumps(parameter, sort_keys=True)
    told = words in seen
    seen.add(words)
    return not told or parameter["name"] in COLUMNS or bool(parameter.get("required"))


BRIEF = """\
[phases.examples]
enabled = false # test_openapi asks every example, and asks more of the answer

[[operations]]
# Every wrong value of every field is some 9,000 requests; what reads and refuses them is the same for all operations.
exclude-operation-id = ["check", "compare", "theory_mis_mean"]
phases.coverage.enabled = false

"""
"""What the tests say besides: they ask every operation at random, and few all that there is."""


@dataclass(frozen=True)
class Findings:
    """What schemathesis says of the service, of how many operations, and how many requests it made up."""

    tested: int
    asked: int
    text: str
    """Nothing, if it found nothing."""


def findings(
    part: Schema, service: Running, folder: Path, *arguments: str, seed: int | None = None, patience: float = PATIENCE
) -> Findings:
    """What schemathesis finds. Its cases are few and the same every time, or with a seed all there are, and its own."""
    (folder / "openapi.json").write_text(json.dumps(part), encoding="utf-8")
    settings = SETTINGS.read_text(encoding="utf-8")
    if seed is None:
        settings = settings.replace("[[operations]]", BRIEF + "[[operations]]", 1)
    else:
        settings = settings.replace("deterministic = true", "deterministic = false")
        arguments = (*arguments, "--seed", str(seed))
    (folder / SETTINGS.name).write_text(settings, encoding="utf-8")
    program = Path(sys.executable).parent / "schemathesis"
    url = f"http://127.0.0.1:{service.port}"
    named = ("--config-file", SETTINGS.name, "run", "openapi.json", "--url", url, "--no-color")
    done = subprocess.run(
        [program, *named, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=patience,
        check=False,
    )
    tested, asked = (
        int(found[1].replace(",", "")) if (found := re.search(pattern, done.stdout)) else 0
        for pattern in (r"Tested: ([\d,]+)", r"([\d,]+) generated")
    )
    return Findings(tested, asked, f"{done.stdout}\n{done.stderr}" if done.returncode or not asked else "")
