"""A report to look at, made anew: the answer, and what a reader gets of it.

    .venv/bin/python examples/report/make.py

The scores are those of `mace demo`, which writes the same report. The answer stands beside its report: every number
on the page is a number of the JSON, and the page says how to make both again. The picture is that of README's answer.
"""

import json
from pathlib import Path

from app.cli.demo import example_table
from app.openapi.examples import JSON_EXAMPLES
from macekit.call import CSV, HTML, JSON, MARKDOWN, SVG, Body, Call
from macekit.operations import perform
from macekit.reports.model import Context
from macekit.reports.rendering import render

HERE = Path(__file__).parent
CONTEXT = Context(source="scores.csv", date="2026-01-01T00:00Z")
FORMS = {"report.html": HTML, "report.md": MARKDOWN}


def main() -> None:
    """Ask once, write the answer, and render what was written."""
    options = (("max_advantage", "0.1"), ("group", "group"))
    reply = perform(Call("report", CSV, query=options), Body.of(example_table()))
    answer = json.loads(bytes(reply.body))
    (HERE / "answer.json").write_text(json.dumps(answer, indent=1) + "\n", "utf-8")
    for name, form in FORMS.items():
        (HERE / name).write_bytes(render("report", answer, form, CONTEXT))
        print(f"wrote {HERE / name}")
    (HERE / "interval.svg").write_bytes(first_picture())


def first_picture() -> bytes:
    """The interval of README's first request beside its limit."""
    asked = json.dumps(JSON_EXAMPLES["advantage"]["scores"].value).encode()
    answer = json.loads(bytes(perform(Call("advantage", JSON), Body.of(asked)).body))
    return render("advantage", answer, SVG, chart="interval")


if __name__ == "__main__":
    main()
