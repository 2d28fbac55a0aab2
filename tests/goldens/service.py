"""The answers of every operation in every form, over HTTP, to the requests that the OpenAPI document shows."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator
from typing import Any

import httpx
import pyarrow as pa

from app.main import create_app
from app.openapi.document import OPTIONS
from tests.app.client import TestClient
from tests.contract.document import unfolded
from tests.goldens.steady import steady

JSON, CSV, HTML, MARKDOWN = "application/json", "text/csv", "text/html", "text/markdown"
ARROW, PNG = "application/vnd.apache.arrow.stream", "image/png"
SUFFIXES = {
    "application/x-ndjson": "jsonl",
    "application/x-npy": "npy",
    "application/x-npz": "npz",
    ARROW: "arrow",
    "application/vnd.apache.parquet": "parquet",
}

WHOLE_HTML = "/v1/advantage"
"""The operation whose HTML is kept as a text; of the others a digest."""

DRAWN_PNG = "/v1/advantage"
"""The operation whose PNG is drawn: it is the SVG again, in pixels that depend on the fonts of the machine."""

LEFT_OUT = {("/v1/theory/dp", "noise")}
"""An accountant adds up a great many small numbers, and processors differ in the tenth digit; the shell prints four."""

HEADERS = ("content-type", "content-disposition")


def goldens() -> dict[str, str]:
    """Every text that is kept, by the name of its file."""
    paths = unfolded()["paths"]
    kept: dict[str, str] = {}
    digests: list[str] = []
    with TestClient(create_app()) as client:
        for path, item in paths.items():
            if "post" not in item:
                continue
            for example, form, response in _answers(client, path, item["post"]):
                text = _text(form, response)
                name = f"{path.removeprefix('/v1/').replace('/', '-')}/{example}"
                headers = " ".join(response.headers.get(header, "-") for header in HEADERS)
                digest = hashlib.sha256(text.encode()).hexdigest()
                digests.append(f"{name} {form} {response.status_code} {headers} {digest}")
                if form == JSON and "." not in example:
                    kept[f"{name}.json"] = json.dumps(json.loads(text), indent=1, ensure_ascii=False) + "\n"
                elif form == MARKDOWN:
                    kept[f"{name}.md"] = text
                elif form == HTML and path == WHOLE_HTML:
                    kept[f"{name}.html"] = text
        for path in ("/v1/methods", "/v1/metrics/presets"):
            text = steady(client.get(path).text)
            kept[f"get{path.replace('/', '-')}.json"] = json.dumps(json.loads(text), indent=1) + "\n"
    kept["digests.txt"] = "\n".join(digests) + "\n"
    return kept


def _answers(
    client: TestClient, path: str, operation: dict[str, Any]
) -> Iterator[tuple[str, str, httpx.Response]]:
    """Each example as JSON, each form of body as JSON, and the first example in every form of answer."""
    forms = list(operation["responses"]["200"]["content"])
    bodies = operation["requestBody"]["content"]
    first = True
    for example, shown in bodies.get(JSON, {}).get("examples", {}).items():
        for form in forms if first else [JSON]:
            if (form != PNG or path == DRAWN_PNG) and (path, example) not in LEFT_OUT:
                yield example, form, _post(client, path, JSON, json.dumps(shown["value"]).encode(), form)
        first = False
    query = {name: _spelled(value) for name, value in operation["requestBody"].get(OPTIONS, {}).items()}
    for table in bodies.get(CSV, {}).get("examples", {}):
        stem = table.removesuffix(".csv")
        for media_type in (form for form in bodies if form != JSON):
            name = f"{stem}.{SUFFIXES.get(media_type, 'csv')}"
            body = client.get(f"/examples/{name}").content
            yield name, JSON, _post(client, path, media_type, body, JSON, query)


def _post(
    client: TestClient,
    path: str,
    media_type: str,
    body: bytes,
    accept: str,
    query: dict[str, str] | None = None,
) -> httpx.Response:
    return client.post(
        path, params=query, content=body, headers={"Content-Type": media_type, "Accept": accept}
    )


def _spelled(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _text(form: str, response: httpx.Response) -> str:
    """The answer as a text that is the same on every machine."""
    if form == ARROW:
        table = pa.ipc.open_stream(response.content).read_all()
        return steady(f"{table.schema}\n{json.dumps(table.to_pydict())}\n")
    if form == PNG:
        return "{} x {} pixels".format(*struct.unpack(">II", response.content[16:24]))
    return steady(response.content.decode())
