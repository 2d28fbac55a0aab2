"""A fault: a piece of a function's text, and what is put there instead."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

PACKAGES = ("app", "estimators", "macekit")
LIST = Path(__file__).with_name("faults.json")


@dataclass(frozen=True)
class Fault:
    """What is changed where: `function` is its module's path and its qualified name, `app/http/jobs.py:Jobs.take`.

    Where that module has no such function any more, the one function of that name that holds the text is meant.
    """

    name: str
    kind: str
    function: str
    old: str
    new: str
    nth: int = 0
    """Which of the places in the function that read `old`, from 0."""


@dataclass(frozen=True)
class Function:
    """Where a function stands in a file: lines from the first decorator to the end, counted from 1."""

    path: str
    name: str
    first: int
    last: int
    node: ast.FunctionDef | ast.AsyncFunctionDef

    @property
    def label(self) -> str:
        return f"{self.path}:{self.name}"

    def parts_of(self, text: str) -> tuple[str, str, str]:
        """Of its file's text: what stands before it, itself, and what stands behind it."""
        lines = text.splitlines(keepends=True)
        ends = (0, self.first - 1), (self.first - 1, self.last), (self.last, None)
        before, inside, after = ("".join(lines[start:end]) for start, end in ends)
        return before, inside, after


def load(path: Path = LIST) -> list[Fault]:
    return [Fault(**entry) for entry in json.loads(path.read_text())]


def save(faults: list[Fault], path: Path = LIST) -> None:
    """Keep faults, one field a line, so that a diff can be read."""
    path.write_text(json.dumps([asdict(fault) for fault in faults], indent=1, ensure_ascii=False) + "\n")


def files(tree: Path) -> list[str]:
    """The product's modules, as paths below a tree."""
    every = (path for package in PACKAGES for path in (tree / package).rglob("*.py"))
    return sorted(str(path.relative_to(tree)) for path in every)


def functions(path: str, text: str) -> Iterator[Function]:
    """Every function of a module with its qualified name, outer before inner, in the order of the text."""

    def below(node: ast.AST, prefix: str) -> Iterator[Function]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                name = f"{prefix}{child.name}"
                yield Function(path, name, first, child.end_lineno or first, child)
                yield from below(child, f"{name}.")
            elif isinstance(child, ast.ClassDef):
                yield from below(child, f"{prefix}{child.name}.")
            elif not isinstance(child, ast.expr):  # which holds no function with a name
                yield from below(child, prefix)

    yield from below(ast.parse(text), "")


def places(fault: Fault, tree: Path) -> list[Function]:
    """The functions that a fault may mean: the one it names, or those of its name that hold the text."""
    path, name = fault.function.split(":")

    def named(file: str) -> list[Function]:
        text = (tree / file).read_text()
        if fault.old not in text:
            return []
        of_name = [function for function in functions(file, text) if function.name == name]
        return [each for each in of_name if each.parts_of(text)[1].count(fault.old) > fault.nth]

    if (tree / path).exists() and (here := named(path)):
        return here
    return [function for file in files(tree) for function in named(file)]


def broken(fault: Fault, tree: Path) -> tuple[Function, str]:
    """The function that a fault means, and its file's text with the fault in it."""
    if len(found := places(fault, tree)) != 1:
        raise LookupError(f"{fault.name}: {len(found)} functions {fault.function} hold {fault.old!r}")
    function = found[0]
    before, inside, after = function.parts_of((tree / function.path).read_text())
    pieces = inside.split(fault.old)
    changed = fault.old.join(pieces[: fault.nth + 1]) + fault.new + fault.old.join(pieces[fault.nth + 1 :])
    text = before + changed + after
    ast.parse(text)
    return function, text
