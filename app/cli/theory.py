"""`mace theory NAME`: what the papers promise, a question each."""

from __future__ import annotations

from typing import Any

from app.cli.catalogue import THEORY
from app.cli.questions import ENDINGS, describe, fill, run

SUMMARY = "what theory promises: differential privacy, and three papers, as one question each"
EXAMPLES = ("mace theory dp --epsilon 1", "mace theory mip draws.npy --eta 0.1", "mace theory NAME --help")


def add(commands: Any) -> None:
    """Describe the questions, one below the other."""
    shown = "".join(f"\n  {line}" for line in EXAMPLES)
    command = commands.add_parser(
        "theory",
        help=SUMMARY,
        usage="mace theory NAME [OPTIONS] [FILE]",
        description=f"{SUMMARY[0].upper()}{SUMMARY[1:]}.\n\nexamples:{shown}",
        epilog=ENDINGS,
    )
    questions = command.add_subparsers(title="questions", metavar="NAME", prog="mace theory", required=True)
    for question in THEORY:
        describe(questions, question, run, ENDINGS, fill)
