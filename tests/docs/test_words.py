"""No text we write calls a model, or anything, by a word that only a court or a regulator can give."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from app.cli import main
from app.cli.catalogue import QUESTIONS, THEORY
from app.openapi.examples import JSON_EXAMPLES
from macekit.call import HTML, MARKDOWN, Body, Call
from macekit.operations import perform
from macekit.report.rendering import CARD, render

ROOT = Path(__file__).parents[2]
VERDICTS = re.compile(r"\b(?:private|anonym\w*|complian\w*|safe|safely|safer|safest)\b", re.IGNORECASE)

QUOTED = (
    '"for an AI model to be considered anonymous"',  # EDPB, Opinion 28/2024, paragraph 43
    "into an anonymous file",  # what an operating system calls a file without a name
)

PROSE = sorted(
    {
        ROOT / "README.md",
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("examples/**/*.md"),
        *ROOT.glob("examples/**/*.ipynb"),
    }
)
PAGES = sorted(file for file in ROOT.glob("app/pages/own/**/*") if file.suffix in {".html", ".js", ".css"})
CODE = sorted(
    file
    for folder in (
        "app/report",
        "app/cli",
        "app/schemas",
        "app/openapi",
        "app/operations",
        "macekit",
        "estimators",
    )
    for file in ROOT.glob(f"{folder}/**/*.py")
)


def verdicts(text: str) -> list[str]:
    """Words that stand outside of what is quoted, with what is around them."""
    for quoted in QUOTED:
        text = text.replace(quoted, "")
    return [text[max(0, found.start() - 40) : found.end() + 40] for found in VERDICTS.finditer(text)]


def strings(source: str) -> str:
    """Every string of a module: what may be printed, and what describes it."""
    parts = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    return "\n".join(part for part in parts if isinstance(part, str))


@pytest.mark.parametrize("file", [*PROSE, *PAGES], ids=lambda file: str(file.relative_to(ROOT)))
def test_a_page_gives_no_verdict(file: Path) -> None:
    assert verdicts(file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("file", CODE, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_module_says_nothing_that_is_a_verdict(file: Path) -> None:
    assert verdicts(strings(file.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "command",
    ["", *(question.name for question in (*QUESTIONS, *THEORY)), "theory", "gate", "demo", "serve", "config"],
)
def test_help_gives_no_verdict(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])

    assert verdicts(capsys.readouterr().out) == []


@pytest.mark.parametrize(
    "operation", [question.operation for question in (*QUESTIONS, *THEORY) if question.name != "counts"]
)
def test_a_report_gives_no_verdict(operation: str) -> None:
    for example in JSON_EXAMPLES[operation].values():
        reply = perform(Call(operation), Body.of(json.dumps(example.value).encode()))
        answer = json.loads(bytes(reply.body))

        for form in (HTML, MARKDOWN):
            assert verdicts(render(operation, answer, form).decode()) == []


def test_a_model_card_gives_no_verdict() -> None:
    reply = perform(
        Call("advantage"), Body.of(json.dumps(JSON_EXAMPLES["advantage"]["scores"].value).encode())
    )

    card = render("advantage", json.loads(bytes(reply.body)), CARD).decode()

    assert verdicts(card) == []


def test_a_verdict_would_be_found() -> None:
    assert verdicts("The model is GDPR-compliant, anonymous and safe.")
    assert not verdicts(
        f"The Board writes {QUOTED[0]}, both must be insignificant; `advantage` says nothing of it."
    )
