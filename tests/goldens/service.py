"""The answers of every operation in every form to the requests that the service shows.

They are made in this process, as a worker makes them; those of one operation come over HTTP, with their headers.
"""

import json
import struct
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pyarrow as pa
from pydantic import TypeAdapter

from app.main import create_app
from app.openapi.examples import JSON_EXAMPLES, file_bytes, files_of, options_with
from macekit.call import ARROW, BRIEF, HTML, JSON, MARKDOWN, PNG, Body, Call
from macekit.catalogue import OPERATIONS
from macekit.operation import Operation
from macekit.operations import perform
from macekit.reports.brief import BriefAnswer
from macekit.reports.rendering import render
from macekit.schemas.query_string import query_pairs
from tests.app.client import TestClient
from tests.goldens.steady import digest, steady
from tests.macekit.asking import planned_by_few_samples

OVER_HTTP = "advantage"
"""The operation that is asked over HTTP, and whose PNG is drawn: it is the SVG again, in pixels that depend on the
fonts of the machine."""

REQUEST_ID = "0" * 32

LEFT_OUT = {("theory/dp", "noise")}
"""An accountant adds up a great many small numbers, and processors differ in the tenth digit; the shell prints four."""

BRIEFLY = 1500
"""Bytes of an answer in its brief form at most."""

HEADERS = ("content-type", "content-disposition")
SUFFIXES = {JSON: "json", BRIEF: "brief.json", MARKDOWN: "md", HTML: "html"}
Pairs = tuple[tuple[str, str], ...]
TABLES = ("methods", "metrics/presets")
"""What is told without a question."""


def goldens() -> tuple[dict[str, str], dict[str, str]]:
    """What is kept, by the name of its file, and every text in full: words are kept, and a digest of all the rest."""
    whole: dict[str, str] = {}
    digests: list[str] = []
    words: list[str] = []
    with TestClient(create_app()) as client:
        for row in OPERATIONS:
            for example, form, head, body in _answers(client, row):
                name, text = f"{row.name.replace('/', '-')}/{example}", _text(form, body)
                digests.append(f"{name} {form} {head} {digest(text)}")
                whole[f"{name}.{SUFFIXES.get(form) or form.split('/')[1]}"] = text
                if form == JSON and "." not in example:
                    words += [name, *_words(json.loads(text)), ""]
        for table in TABLES:
            text = steady(client.get(f"/v1/{table}").text)
            digests.append(f"GET {table} {digest(text)}")
            whole[f"GET/{table}.json"] = text
    reports = {name: text for name, text in whole.items() if name.endswith(".md")}
    return reports | {"digests.txt": "\n".join(digests) + "\n", "words.txt": "\n".join(words)}, whole


def _answers(client: TestClient, row: Operation) -> Iterator[tuple[str, str, str, bytes]]:
    """Each example as JSON, each form of body as JSON, and the first example in every form of answer: the example, the
    form, status and headers, and the body."""

    def ask(media_type: str, body: bytes, form: str, query: Pairs = ()) -> tuple[str, str, bytes]:
        if row.name == OVER_HTTP:
            headers = {"Content-Type": media_type, "Accept": form}
            sent = client.post(f"/v1/{row.name}", params=dict(query), content=body, headers=headers)
            told = " ".join(sent.headers.get(header, "-") for header in HEADERS)
            return form, f"{sent.status_code} {told}", sent.content
        call = Call(row.name, media_type, query=query, accept=form, request_id=REQUEST_ID)
        reply = perform(call, Body.of(body))
        return form, f"{reply.status} {reply.media_type}", bytes(reply.body)

    for place, (example, shown) in enumerate(JSON_EXAMPLES.get(row.name, {}).items()):
        if (row.name, example) in LEFT_OUT:
            continue
        with planned_by_few_samples() if place else nullcontext():  # the first plan, and the shell's, by all
            answer = ask(JSON, json.dumps(shown.value).encode(), JSON)
        yield example, *answer
        for number, form in enumerate(() if place else row.forms[1:]):
            if row.name == OVER_HTTP or (form != PNG and (row.rows or not number)):
                yield example, *ask(JSON, json.dumps(shown.value).encode(), form)
            elif form != PNG:  # made of the answer and of nothing else: not computed again
                yield example, form, f"200 {form}", render(row.name, json.loads(answer[-1]), form)
    if row.bodies == (JSON,):
        return
    query = query_pairs(options_with(row.name)) or ()
    for name, media_type in files_of(row.name).items():
        if media_type in row.bodies:
            yield name, *ask(media_type, file_bytes(name), JSON, query)


def _words(answer: Any) -> list[str]:
    """What people read of an answer: its sentence and its notes."""
    notes = [f"- {note['code']}: {note['message']}" for note in answer.get("warnings", ())]
    return [*([answer["sentence"]] if "sentence" in answer else []), *notes]


def _text(form: str, body: bytes) -> str:
    """The answer as a text that is the same on every machine; JSON with a line for each value."""
    if form == ARROW:
        table = pa.ipc.open_stream(body).read_all()
        return steady(f"{table.schema}\n{json.dumps(table.to_pydict())}\n")
    if form == BRIEF:
        assert len(body) <= BRIEFLY, body
        TypeAdapter(BriefAnswer).validate_json(body, strict=True)
    if form == PNG:
        return "{} x {} pixels".format(*struct.unpack(">II", body[16:24]))
    text = steady(body.decode())
    return json.dumps(json.loads(text), indent=1, ensure_ascii=False) + "\n" if form in (JSON, BRIEF) else text
