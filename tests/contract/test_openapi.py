"""The OpenAPI document is valid, says everything, and keeps its word: each example runs as it stands."""

import io
import json
import pickle
import re
import runpy
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from jsonschema_rs import Draft202012Validator, meta
from pyarrow import csv
from schemathesis.specs.openapi.definitions import OPENAPI_31

from app.main import create_app
from app.openapi.document import PROBLEMS
from app.openapi.examples import JSON_EXAMPLES, files, files_of
from app.settings import Settings
from macekit.call import ARROW, CSV, FORM_DATA, JSON, PROBLEM
from macekit.catalogue import OPERATIONS
from macekit.problems import KINDS
from macekit.schemas.by_operation import schema_of
from tests.app.running import Running
from tests.cases import each_case
from tests.contract.conftest import Ask
from tests.contract.document import Example, Operation, document, examples, faults, operations, unfolded

ROOT = Path(__file__).parents[2]
PROBLEM_SCHEMA = {"$ref": "#/components/schemas/Problem"}
KEY = "correct-horse-battery-staple"


@cache
def shown() -> list[Example]:
    """Every example of the document."""
    return list(examples())


def work() -> list[Operation]:
    """What is asked with a body."""
    return [each for each in operations() if each.method == "post"]


def body_of(example: Example, served: Running) -> bytes:
    return example.body if example.body is not None else served.ask(str(example.file)).body


@pytest.mark.slow
def test_the_document_is_openapi_3_1_and_its_schemas_are_json_schema() -> None:
    broken = [error.message for error in Draft202012Validator(OPENAPI_31).iter_errors(document())]

    assert broken == []
    assert document()["openapi"].startswith("3.1.")
    for schema in document()["components"]["schemas"].values():
        meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})


@pytest.mark.slow
def test_the_service_shows_this_document(served: Running) -> None:
    assert served.ask("/openapi.json").json() == document()


def test_every_reference_leads_somewhere_and_every_component_is_used() -> None:
    named = set(re.findall(r'"#/components/(\w+)/([^"/]+)"', json.dumps(document())))

    assert named == {(kind, name) for kind, parts in document()["components"].items() for name in parts}


@each_case("wanted", ["enums", "parameters", "responses", "examples"])
def test_nothing_long_is_said_twice(wanted: str) -> None:
    found = Counter(json.dumps(part, sort_keys=True) for part in said(wanted))

    assert [text for text, times in found.items() if times > 1 and len(text) > 100] == []


def said(wanted: str) -> Iterator[Any]:
    """Whatever stands in the document where it could be referred to."""

    def enums(part: Any) -> Iterator[Any]:
        if isinstance(part, dict) and "enum" in part:
            yield part["enum"]
        for each in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            yield from enums(each)

    if wanted == "enums":
        yield from enums(document())
    for item in document()["paths"].values():
        for operation in item.values():
            content = operation.get("requestBody", {}).get("content", {})
            parts = {
                "parameters": operation.get("parameters", ()),
                "responses": operation["responses"].values(),
                "examples": [each for form in content.values() for each in form.get("examples", {}).values()],
            }
            yield from parts.get(wanted, ())


def test_the_document_is_small_enough_to_unfold_an_operation_at_once(served: Running) -> None:
    assert len(served.ask("/openapi.json").body) < 9_750 * len(operations())  # of 36 operations 0.35 MB


def test_the_table_in_docs_names_every_operation_with_its_statuses() -> None:
    table = (ROOT / "docs" / "api.txt").read_text(encoding="utf-8")

    assert len(table.splitlines()) <= 2000
    usual = re.search(r"^  usual problems: (.*)", table, re.MULTILINE)
    assert usual
    for operation in operations():
        _, _, part = table.partition(f"{operation.method.upper()} {operation.path} ({operation.name})\n")
        lines = part.partition("\n\n")[0].replace("\n    ", " ")
        statuses = re.findall(r"^  (\d{3}):", lines, re.MULTILINE)
        problems = re.search(r"^  problems: (.*)", lines, re.MULTILINE) or usual
        as_job = ["202"] * (
            "202" not in statuses and re.search(r"^  parameters: .*\bPrefer$", lines, re.MULTILINE) is not None
        )
        expected = sorted(operation.about["responses"])
        assert sorted([*statuses, *as_job, *problems[1].replace("none", "").split(", ")]) == expected, operation.name


def test_no_part_of_what_fields_must_be_together_is_lost_in_the_table() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "api_table.py"))
    rules = [
        {key: each[key] for key in script["RULES"] if key in each}
        for each in document()["components"]["schemas"].values()
        if "properties" in each
    ]

    assert sum(map(bool, rules)) > 10
    for rule in rules:
        assert [less for less in with_less(rule) if script["rule_of"](less) == script["rule_of"](rule)] == []


def with_less(part: Any) -> Iterator[Any]:
    """Yield a rule as often as it has parts, each time without one."""
    if isinstance(part, dict):
        for key, value in part.items():
            yield {name: each for name, each in part.items() if name != key}
            yield from ({**part, key: less} for less in with_less(value))
    elif isinstance(part, list):
        for place, value in enumerate(part):
            yield part[:place] + part[place + 1 :]
            yield from ([*part[:place], less, *part[place + 1 :]] for less in with_less(value))


def test_every_operation_has_a_name_of_its_own_a_summary_a_description_and_a_tag() -> None:
    names = [operation.name for operation in operations()]

    assert len(set(names)) == len(names) >= 13
    for operation in operations():
        about = operation.about
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", operation.name)
        assert about["summary"]
        assert about["description"]
        assert about["tags"] in (["work"], ["theory"], ["reference"], ["health"], ["jobs"])


def test_the_frameworks_own_picture_of_an_error_is_nowhere() -> None:
    assert "ValidationError" not in json.dumps(document())


@each_case("operation", operations)
def test_every_status_of_an_operation_says_which_problems_it_stands_for(operation: Operation) -> None:
    errors = {int(status): it for status, it in operation.about["responses"].items() if int(status) >= 400}

    assert 500 in errors
    for status, answer in errors.items():
        assert list(answer["content"]) == [PROBLEM]
        assert answer["content"][PROBLEM]["schema"] == PROBLEM_SCHEMA
        assert answer[PROBLEMS] == [kind.slug for kind in KINDS.values() if kind.status == status] != []
        for slug in answer[PROBLEMS]:
            assert f"`{slug}`: {KINDS[slug].title}" in answer["description"]


def test_the_example_of_a_problem_is_one() -> None:
    (example,) = document()["components"]["schemas"]["Problem"]["examples"]

    assert faults(PROBLEM_SCHEMA, example) == []
    assert example["type"].removeprefix("urn:mace:problem:") in KINDS


@each_case("operation", work)
def test_every_format_of_every_body_has_an_example(operation: Operation) -> None:
    offered = {example.media_type for example in shown() if example.operation.name == operation.name}

    assert offered == set(operation.about["requestBody"]["content"]) - {FORM_DATA}


@pytest.mark.slow
@each_case("operation", lambda: [each for each in work() if each.takes(JSON)])
def test_every_json_example_is_as_its_own_schema_says(operation: Operation) -> None:
    schema = operation.about["requestBody"]["content"][JSON]["schema"]

    for example in shown():
        if example.operation.name == operation.name and example.media_type == JSON:
            assert example.body is not None
            assert faults(schema, json.loads(example.body)) == []


@pytest.mark.slow
@each_case("example", shown)
def test_every_example_runs_as_it_stands_and_the_answer_is_as_documented(
    example: Example, served: Running, ask_once: Ask
) -> None:
    answer = ask_once(example.address, example.media_type, body_of(example, served))

    assert answer.status == 200, answer.body
    assert answer.headers["content-type"] == JSON
    assert faults(example.operation.answer_schema(200, JSON), answer.json()) == []


@each_case("operation", lambda: [o for o in operations() if o.method == "get" and "{" not in o.path])
def test_everything_that_is_only_read_is_as_documented(operation: Operation, served: Running) -> None:
    answer = served.ask(operation.path)

    assert answer.status == 200
    documented = operation.about["responses"]["200"]["content"]
    media_type = answer.headers["content-type"].partition(";")[0]
    assert media_type in documented
    if media_type == JSON:
        assert faults(documented[JSON]["schema"], answer.json()) == []


@pytest.mark.slow
@each_case("example", lambda: [e for e in shown() if e.operation.name == "individual_risk"])
def test_the_records_at_risk_are_the_same_as_json_csv_and_arrow(example: Example, served: Running) -> None:
    def ask(accept: str) -> bytes:
        headers = {"Content-Type": example.media_type, "Accept": accept}
        answer = served.ask(example.operation.path, "POST", body_of(example, served), headers)
        assert (answer.status, answer.headers["content-type"].partition(";")[0]) == (200, accept)
        return answer.body

    records = {name: values for name, values in json.loads(ask(JSON))["records"].items() if values is not None}
    as_csv = csv.read_csv(io.BytesIO(ask(CSV)))
    as_arrow = pa.ipc.open_stream(ask(ARROW)).read_all()

    assert {JSON, CSV, ARROW} < set(example.operation.about["responses"]["200"]["content"])
    assert as_arrow.to_pydict() == records
    assert as_csv.column_names == list(records)
    for name, values in records.items():
        found = as_csv[name].to_pylist()
        assert found == pytest.approx(values, rel=1e-15, abs=0.0) if None not in values else found == values
    notes = json.loads(as_arrow.schema.metadata[b"mace"])
    assert notes["provenance"]["n_members"] > 0


def test_the_files_of_the_examples_are_served_as_what_they_are(served: Running) -> None:
    for name, media_type in files().items():
        answer = served.ask(f"/examples/{name}")
        assert (answer.status, answer.headers["content-type"].partition(";")[0]) == (200, media_type)

    assert served.ask("/examples/other.csv").json()["type"] == "urn:mace:problem:not-found"


@pytest.mark.slow
def test_with_a_key_the_document_says_where_it_is_needed() -> None:
    locked = create_app(Settings(api_key=KEY)).openapi()

    assert locked["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    for path, item in locked["paths"].items():
        for about in item.values():
            needed = about["security"] == [{"key": []}]
            assert needed == (path not in {"/.well-known/jwks.json", "/healthz", "/readyz"})
            assert needed <= ("401" in about["responses"])


SCORES = [float(i) for i in range(8)]
BOTH = {"members": SCORES, "nonmembers": SCORES}
CELLS = {"members": [9, 1], "nonmembers": [1, 9]}
VECTORS = {"members": [[x, x] for x in SCORES], "nonmembers": [[x, -x] for x in SCORES]}

MANY = {"losses": [[float(i), -float(i)] for i in range(80)], "epsilon": 1.0, "sensitivity": 100.0}

PROVOKED: list[tuple[str, str, Any, dict[str, str]]] = [
    ("malformed-body", "advantage", b"{]", {}),
    ("malformed-body", "audit", b'{"seed": 1, "seed": 2}', {}),
    ("malformed-body", "counts", b"no parquet", {"Content-Type": "application/vnd.apache.parquet"}),
    ("incomplete-body", "metrics", b"", {}),
    ("incomplete-body", "advantage", b"\x1f\x8b", {"Content-Encoding": "gzip"}),
    ("not-acceptable", "compare", b"{}", {"Accept": "image/gif"}),
    ("not-acceptable", "plan", b"{}", {"Accept": "image/png"}),
    ("not-acceptable", "counts", b"{}", {"Accept": "text/html"}),
    ("unsupported-media-type", "columns", b"{}", {}),
    ("incomplete-body", "columns", b"", {"Content-Type": "text/csv"}),
    ("unsupported-media-type", "plan", b"", {"Content-Type": "text/csv"}),
    ("unsupported-media-type", "advantage", b"{}", {"Content-Encoding": "br"}),
    ("pickle", "advantage", pickle.dumps(SCORES), {"Content-Type": "application/x-pickle"}),
    ("pickle", "counts", pickle.dumps(SCORES, 0), {"Content-Type": "text/csv"}),
    ("pickle", "columns", pickle.dumps(SCORES), {"Content-Type": "application/vnd.apache.parquet"}),
    ("too-few-records", "advantage", {"members": [1.0, 2.0], "nonmembers": SCORES}, {}),
    ("not-finite", "advantage", b'{"members": [1e999], "nonmembers": [1]}', {}),
    ("mixed-types", "advantage", {"members": [1, "a"], "nonmembers": SCORES}, {}),
    ("ragged-rows", "advantage", {"members": [[1], [1, 2]], "nonmembers": SCORES}, {}),
    ("dimension-mismatch", "individual-risk", {**BOTH, "units": [1, 2]}, {}),
    ("bad-records", "advantage", {**VECTORS, "query": "discrete"}, {}),
    ("out-of-range", "advantage", {**BOTH, "prior": 1.0}, {}),
    ("unknown-name", "metrics", {**BOTH, "metrics": ["f3"]}, {}),
    ("unknown-field", "individual-risk", {**BOTH, "treshold": 0.1}, {}),
    ("missing-field", "counts", {"members": SCORES}, {}),
    ("wrong-type", "audit", {**BOTH, "seed": "1"}, {}),
    ("bad-option", "plan", {"expected": 0.1, "max_advantage": 0.2, "width": 0.1}, {}),
    ("bad-metric", "advantage", {**BOTH, "metric": {"coefficients": {"a11": 1}}}, {}),
    ("bad-counts", "audit", {"counts": {"members": [1, -1], "nonmembers": [1, 1]}}, {}),
    ("incompatible-cells", "counts", {"shards": [{**CELLS, "edges": [0]}, {**CELLS, "edges": [1]}]}, {}),
    ("unsupported-media-type", "theory/dp", b"", {"Content-Type": "text/csv"}),
    ("missing-field", "theory/pmp-gaussian", {"clip": 1, "delta": 0.1, "sigma": 1}, {}),
    ("bad-probabilities", "theory/mip-finite", {"laws": [[0.5, 0.6], [0.5, 0.5]], "n": 2}, {}),
    ("too-many-subsets", "theory/pmp-exponential", MANY, {}),
    ("too-many-cells", "advantage", {"members": [*"abcdefgh"], "nonmembers": [*"ijklmnop"]}, {}),
]


@each_case("slug, path, body, headers", PROVOKED)
def test_a_documented_problem_occurs_where_it_is_documented(
    slug: str, path: str, body: object, headers: dict[str, str], served: Running
) -> None:
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()

    answer = served.ask(f"/v1/{path}", "POST", sent, {"Content-Type": JSON, **headers})

    assert answer.headers["content-type"] == PROBLEM
    assert len(answer.body) < 4096
    found = answer.json()
    assert found["type"] == f"urn:mace:problem:{slug}", found
    assert (found["status"], answer.status) == (KINDS[slug].status, KINDS[slug].status)
    assert found["instance"] == f"urn:mace:request:{answer.headers['x-request-id']}"
    assert faults(PROBLEM_SCHEMA, found) == []
    documented = unfolded()["paths"][f"/v1/{path}"]["post"]["responses"]
    assert slug in documented[str(answer.status)][PROBLEMS]


def test_what_was_not_provoked_here_is_provoked_elsewhere_or_cannot_be() -> None:
    elsewhere = {
        "bad-request": "tests/app/http/test_connection.py",
        "unauthorized": "tests/app/http/test_front.py",
        "too-large-head": "tests/app/http/test_connection.py",
        "too-long-address": "tests/app/http/test_connection.py",
        "forbidden": "tests/app/http/test_access.py",
        "rate-limit": "tests/app/http/test_access.py",
        "upload-stalled": "tests/app/http/test_v1_limits.py",
        "request-stalled": "tests/app/http/test_connection.py",
        "too-large": "tests/app/http/test_v1_limits.py",
        "memory-limit": "tests/app/workers/test_pool.py",
        "too-many-requests": "tests/app/http/test_v1_limits.py",
        "internal": "tests/app/workers/test_pool.py",
        "not-installed": "tests/app/http/test_theory.py",
        "worker-lost": "tests/app/http/test_v1_limits.py",
        "not-found": "tests/app/http/test_jobs.py",
        "outdated-state": "tests/app/test_runs.py",
        "busy": "tests/app/http/test_v1_limits.py",
        "time-limit": "tests/app/http/test_v1_limits.py",
        "not-ready": "tests/app/http/test_health.py",
        "shutting-down": "tests/app/http/test_health.py",
    }
    documented = {
        slug
        for operation in operations()
        for status, answer in operation.about["responses"].items()
        if int(status) >= 400
        for slug in answer[PROBLEMS]
    }

    assert documented == {slug for slug, *_ in PROVOKED} | set(elsewhere)
    for slug, file in elsewhere.items():
        assert slug in (ROOT / file).read_text(encoding="utf-8"), (slug, file)


def test_no_parameter_has_a_value_that_a_page_would_send_beside_a_json_body() -> None:
    parameters = [each for operation in operations() for each in operation.about.get("parameters", ())]

    assert len(parameters) > 300
    assert [each["name"] for each in parameters if {"example", "examples"} & {*each, *each["schema"]}] == []


def test_every_form_of_body_that_is_no_json_says_what_to_send_and_a_table_with_a_header_is_shown() -> None:
    forms = [
        (operation, form, about)
        for operation in operations()
        for form, about in operation.about.get("requestBody", {}).get("content", {}).items()
        if form not in (JSON, FORM_DATA)
    ]

    assert len(forms) > 100
    for operation, form, about in forms:
        schema = document()["components"]["schemas"][about["schema"]["$ref"].rpartition("/")[2]]
        assert schema["description"]
        assert (schema.get("format") == "binary") == (form != CSV) == ("examples" not in about), (form, about)
        files = [name for name, made in files_of(operation.path.removeprefix("/v1/")).items() if made == form]
        assert f"](examples/{files[0]})" in operation.about["requestBody"]["description"], operation.path


def test_counts_are_described_where_they_are_taken_and_nowhere_else(ask_once: Ask) -> None:
    records = {"members", "nonmembers", "units", "models", "cluster", "groups"}
    counts = {"members": [300, 40, 7], "nonmembers": [20, 20, 100], "cells": {"kind": "values", "labels": [1, 2, 3]}}
    by_name = {}

    for row in OPERATIONS:
        if "counts" not in schema_of(row.name)["properties"] or not JSON_EXAMPLES.get(row.name):
            continue
        example = next(iter(JSON_EXAMPLES[row.name].values())).value
        asked = {**{name: each for name, each in example.items() if name not in records}, "counts": counts}
        answer = ask_once(f"/v1/{row.name}", JSON, json.dumps(asked).encode())
        by_name[row.name] = answer.json().get("field") != "counts"
        assert by_name[row.name] or not Draft202012Validator(schema_of(row.name)).is_valid(asked), row.name

    refused = [name for name, is_taken in by_name.items() if not is_taken]
    assert {"attack", "exposed"} <= set(refused)
    assert len(by_name) > 2 * len(refused)


def test_a_form_has_a_field_for_each_file_that_a_question_takes() -> None:
    fields = {
        operation.path.removeprefix("/v1/"): set(content[FORM_DATA]["schema"].get("properties", ()))
        for operation in operations()
        if FORM_DATA in (content := operation.about.get("requestBody", {}).get("content", {}))
    }

    assert fields["synthetic"] == {"train", "holdout", "synthetic", "reference"}
    assert fields["gate"] == {"members", "nonmembers", "scores"}
    assert fields["compare"] == set(), "any name: each file is a query"
    assert not any(name.startswith("theory") for name in fields)


@pytest.mark.slow
def test_without_a_service_the_script_prints_the_same_document(capsys: pytest.CaptureFixture[str]) -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "api_table.py"))

    assert script["main"](["--openapi"]) == 0

    assert json.loads(capsys.readouterr().out) == document()
