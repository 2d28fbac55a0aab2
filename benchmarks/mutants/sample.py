"""Faults drawn at random from the syntax tree: operators, constants, branches and dropped calls."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.mutants import faults
from benchmarks.mutants.faults import Fault, Function

SEED = 20261125
SWAPS: dict[type[ast.AST], type[Any]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def draw(tree: Path, how_many: int) -> list[Fault]:
    """Draw faults from the whole product: a function by the lines it has, then one of its places."""
    chosen: list[Fault] = []
    random_numbers = random.Random(SEED)
    texts = {path: (tree / path).read_text() for path in faults.files(tree)}
    everything = [each for path, text in texts.items() for each in faults.functions(path, text)]
    lengths = [function.last - function.first + 1 for function in everything]
    while len(chosen) < how_many:
        [function] = random_numbers.choices(everything, lengths)
        candidates = list(changes(function, texts[function.path]))
        if not candidates or any(function.label == fault.function for fault in chosen):
            continue
        kind, old, new, nth = random_numbers.choice(candidates)
        fault = Fault(f"drawn-{len(chosen) + 1:02}", kind, function.label, old, new, nth)
        try:
            faults.broken(fault, tree)
        except (LookupError, SyntaxError):
            continue
        chosen.append(fault)
    return chosen


def changes(function: Function, text: str) -> Iterator[tuple[str, str, str, int]]:
    """Every change of a function that this module knows: its kind, the text before and after, and which place."""
    lines = text.splitlines(keepends=True)
    inside = "".join(lines[function.first - 1 : function.last])

    def place(node: ast.expr | ast.stmt, kind: str, new: ast.AST) -> Iterator[tuple[str, str, str, int]]:
        old = ast.get_source_segment(text, node)
        if old is None or "\n" in old:
            return
        begin = sum(len(line) for line in lines[function.first - 1 : node.lineno - 1])
        column = len(lines[node.lineno - 1].encode()[: node.col_offset].decode())
        replaced = ast.unparse(new)
        if isinstance(node, ast.expr) and not isinstance(node, ast.Constant):
            replaced = f"({replaced})"
        yield kind, old, replaced, inside[: begin + column].count(old)

    for node in nodes(function.node):
        match node:
            case ast.Compare(left, [operator, *more], others) if type(operator) in SWAPS:
                swapped = [SWAPS[type(operator)](), *more]
                yield from place(node, "operator", ast.Compare(left, swapped, others))
            case ast.BinOp(left, operator, right) if type(operator) in SWAPS:
                yield from place(node, "operator", ast.BinOp(left, SWAPS[type(operator)](), right))
            case ast.BoolOp(operator, values):
                yield from place(node, "operator", ast.BoolOp(SWAPS[type(operator)](), values))
            case ast.UnaryOp(ast.Not(), operand):
                yield from place(node, "branch", operand)
            case ast.Constant(bool() as value):
                yield from place(node, "constant", ast.Constant(not value))
            case ast.Constant(int() | float() as value):
                yield from place(node, "constant", ast.Constant(value + 1))
            case ast.If(test) | ast.IfExp(test) | ast.While(test) if not isinstance(test, ast.NamedExpr):
                yield from place(test, "branch", ast.UnaryOp(ast.Not(), test))
            case ast.Expr(ast.Call()):
                yield from place(node, "dropped call", ast.Pass())


def nodes(node: ast.AST) -> Iterator[ast.AST]:
    """What a function does: neither its annotations nor the words it says nor functions inside it."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.JoinedStr | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            if isinstance(child, ast.AST):
                yield child
                yield from nodes(child)
