"""The recipe of docs/architecture.md for a new body format is enough: a reader, a row, an example, a line of docs."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")

READER = """
import json

import numpy as np

from macekit.decoding.compression import expanded
from macekit.decoding.format import Column, Format
from macekit.decoding.roles import roles
from macekit.decoding.table import Table


def lines_of(body):
    return [line.split("|") for line in bytes(body).decode().splitlines()]


class Bars(Format):
    def read(self, call, body, choose):
        names, *rows = lines_of(body)
        layout = choose(names)
        columns = {at: np.array([json.loads(row[at].lower()) for row in rows]) for at in layout.positions}
        return Table(columns, 0, names), layout

    def tables(self, call, body, constants):
        yield self.read(call, expanded(call, body), lambda names: roles(names, call))

    def preview(self, call, body):
        return [Column(name, "number") for name in lines_of(expanded(call, body))[0]]


FORMAT = Bars()
"""

ADDED = {
    "macekit/formats.py": ('    FileFormat("npy"', '    FileFormat("bars", "Bars", ("text/x-bars",)),\n'),
    "app/openapi/examples.py": (
        "    CSV: _csv,\n",
        '    "text/x-bars": lambda columns, sink: sink.write(_written(columns, CSV).replace(b",", b"|")),\n',
    ),
}
"""Lines added to files that are there, and what they stand before."""

ASKED = """
import contextlib, io, json
from app.cli import main
from app.openapi.examples import file_bytes, files_of
from macekit.call import Body, Call
from macekit.catalogue import BY_NAME
from macekit.decoding import blocks, preview, reader_of
from macekit.operations import perform
from macekit.sources.reading import read
from macekit.sources.shards import shards_of
import macekit

name = next(name for name, media_type in files_of("advantage").items() if media_type == "text/x-bars")
data = file_bytes(name)
open(name, "wb").write(data)
open("both.bars", "w").write("score\\n" + "0.5\\n" * 9)
query = (("score", "score"),)

def call(operation, query=query):
    return Call(operation, "text/x-bars", query=query)

shell = io.StringIO()
with contextlib.redirect_stdout(shell):
    status = main(["estimate", name, "--score", "score"])
reply = perform(call("advantage"), Body.of(data))
print(json.dumps({
    "taken": "text/x-bars" in BY_NAME["advantage"].bodies,
    "http": json.loads(bytes(reply.body))["advantage"],
    "python": macekit.estimate(name, score="score").answer["advantage"],
    "shell": status,
    "blocks": sum(len(members) for members, _ in blocks(call("counts"), Body.of(data))),
    "preview": [column.name for column in preview(call("columns", ()), Body.of(data))],
    "side": len(reader_of(one := call("advantage", ())).side(one, Body.of(open("both.bars", "rb").read())).values[0]),
    "files": sum(read(shards_of([name]), "counts", {}, query).samples[""].counts["members"]),
}))
"""


@pytest.mark.slow
def test_a_reader_a_row_and_an_example_make_a_format_that_every_door_takes(tmp_path: Path) -> None:
    for package in ("app", "estimators", "macekit"):
        ignored = shutil.ignore_patterns("__pycache__", "assets", "*.md")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignored)
    (tmp_path / "macekit/decoding/bars.py").write_text(READER, encoding="utf-8")
    for name, (before, line) in ADDED.items():
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert text.count(before) == 1, name
        (tmp_path / name).write_text(text.replace(before, line + before), encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-c", ASKED], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )

    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    assert answers["taken"]
    assert answers["http"] == answers["python"]
    assert answers["shell"] == 0
    assert answers["preview"] == ["score", "loss", "member", "group"]
    assert answers["blocks"] == answers["files"] > 0
    assert answers["side"] == 9


def test_the_recipe_names_the_files_of_a_format() -> None:
    recipe = PAGE[PAGE.index("* A body format:") :].partition("\n* ")[0]

    names = ("decoding/NAME.py", "formats.FILE_FORMATS", "openapi/examples", "service.md")
    assert all(name in recipe for name in names)
