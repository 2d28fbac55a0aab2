"""Count bare past participles among the names that the code binds: `scripts/check names`.

A name such as ``found`` or ``told`` says what was done to a value, not what the value is, and nobody greps for it.
A few remain where a word is the domain's own (``flagged``) or a contract with others has it; hence a share, not none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("app", "estimators", "macekit")
MOST = 0.003
"""The largest share of bound names that may be participles."""

PARTICIPLES = frozenset(
    """
    added allowed answered asked attained awaited begun born bound brought called calibrated caught checked chosen
    counted covered cut decoded deemed described done drawn driven dropped encoded exposed felt fitted followed found
    gathered given gone granted guessed had heard held hidden included joined judged kept known laid learnt left listed
    looked made meant merged met missed mourned named needed offered opened parsed passed picked posed posted printed
    promised put quoted raised ranked reached received refused rendered said sampled saved seen sent settled shown
    skipped sought sold spelled spelt spent spoken spread stated stood stored sworn taken taught thought told tried
    understood used wanted watched weighed won wrapped written
    """.split()  # noqa: SIM905 - a list of words, to be read as one
) - {"bound", "cut", "left", "put", "spread", "learnt"}
"""Past participles that say nothing of what they name; without those that are nouns as well."""


def bindings(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every name that a module binds, and the line: definitions, arguments, assignments, attributes set, imports."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name, node.lineno
            case (
                ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name)
                | ast.arg(arg=name) | ast.alias(asname=str(name))
                | ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name))
            ):  # fmt: skip
                yield name, node.lineno


def participles(root: Path = ROOT, packages: tuple[str, ...] = PACKAGES) -> tuple[int, list[str]]:
    """How many names are bound, and each that is a bare participle, with its place."""
    names = [
        (path.relative_to(root), line, name)
        for package in packages
        for path in sorted((root / package).rglob("*.py"))
        for name, line in bindings(ast.parse(path.read_text(encoding="utf-8")))
    ]
    bare = [f"{path}:{line}: {name}" for path, line, name in names if name.strip("_").lower() in PARTICIPLES]
    return len(names), bare


def complaints() -> list[str]:
    """What `scripts/check` prints: nothing while the share is small enough."""
    total, places = participles()
    share = len(places) / total
    if share <= MOST:
        return []
    summary = f"{len(places)} of {total} names are bare participles ({share:.2%}); at most {MOST:.1%} may be"
    return [summary, *places]
