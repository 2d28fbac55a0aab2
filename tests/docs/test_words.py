"""No text we write calls a model, or anything, by a word that only a court or a regulator can give."""

import ast
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from app.cli import main
from app.cli.commands import QUESTIONS, THEORY
from macekit.reports.rendering import CARD
from tests.cases import each_case
from tests.macekit.reports.asked import CASES, rendered

ROOT = Path(__file__).parents[2]
VERDICTS = re.compile(r"\b(?:private|anonym\w*|complian\w*|safe|safely|safer|safest)\b", re.IGNORECASE)

QUOTED = (
    '"for an AI model to be considered anonymous"',  # EDPB, Opinion 28/2024, paragraph 43
    *("Anonymeter", "anonymeter"),  # a tool's name
    "the private key of a file",
    "not safe to fork",
    "into an anonymous file",  # what an operating system calls a file without a name
)

PROSE = sorted(
    [
        ROOT / "README.md",
        *(file for kind in ("docs/**/*.md", "examples/**/*.md", "examples/**/*.ipynb") for file in ROOT.glob(kind)),
    ]
)
PAGES = sorted(file for file in ROOT.glob("app/pages/own/**/*") if file.suffix in {".html", ".js", ".css"})
CODE = sorted(file for folder in ("app", "macekit", "estimators") for file in ROOT.glob(f"{folder}/**/*.py"))


def verdicts(text: str) -> list[str]:
    """Words that stand outside of what is quoted, with what is around them."""
    for quoted in QUOTED:
        text = text.replace(quoted, "")
    return [text[max(0, found.start() - 40) : found.end() + 40] for found in VERDICTS.finditer(text)]


def strings(source: str) -> str:
    """Every string of a module: what may be printed, and what describes it."""
    parts = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    return "\n".join(part for part in parts if isinstance(part, str))


def offenders(texts: Iterable[tuple[object, str]]) -> list[str]:
    """Every verdict in these texts, each with the name of its text."""
    return [f"{name}: {found}" for name, text in texts for found in verdicts(text)]


def test_a_page_gives_no_verdict() -> None:
    texts = [(file.relative_to(ROOT), file.read_text(encoding="utf-8")) for file in (*PROSE, *PAGES)]

    assert offenders(texts) == []


@pytest.mark.slow
def test_a_module_says_nothing_that_is_a_verdict() -> None:
    texts = [(file.relative_to(ROOT), strings(file.read_text(encoding="utf-8"))) for file in CODE]

    assert offenders(texts) == []


@each_case(
    "command",
    "",
    *(question.command for question in (*QUESTIONS, *THEORY)),
    "theory",
    "gate",
    "demo",
    "serve",
    "config",
)
def test_help_gives_no_verdict(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])

    assert verdicts(capsys.readouterr().out) == []


def test_reports_of_every_question_are_read_where_they_are_made() -> None:
    """`tests/macekit/reports/test_rendering.py` looks for verdicts in each of these cases."""
    named = {question.name for question in (*QUESTIONS, *THEORY) if question.command != "counts"}

    assert named <= {operation for operation, _ in CASES.values()}


def test_a_model_card_gives_no_verdict() -> None:
    assert verdicts(rendered("advantage, scores", CARD).decode()) == []


def test_a_verdict_would_be_found() -> None:
    assert verdicts("The model is GDPR-compliant, anonymous and safe.")
    assert not verdicts(f"The Board writes {QUOTED[0]}, both must be insignificant; `advantage` says nothing of it.")
