"""Runs at the start of each process of a tree whose functions are watched: a `.pth` file in its `.venv` says so.

Modules of the product are loaded from compiled copies whose functions first mark themselves in a file that all
processes of one test share in memory. Standard library only; nothing of the product or of the benchmarks.
"""

from __future__ import annotations

import builtins
import importlib.machinery
import marshal
import mmap
import os
import sys
from types import CodeType

VARIABLE = "WATCHED_FUNCTIONS"
"""Names the file in which functions mark themselves."""


def mark_in(path: str) -> None:
    """From now on functions mark themselves in this file."""
    with open(path, "r+b") as file:
        vars(builtins)["__marks__"] = mmap.mmap(file.fileno(), 0)


class Loader(importlib.machinery.SourceFileLoader):
    """Loads a module from its compiled copy."""

    def __init__(self, name: str, path: str, copy: str) -> None:
        super().__init__(name, path)
        self.copy = copy

    def get_code(self, fullname: str) -> CodeType | None:
        try:
            with open(self.copy, "rb") as file:
                code: CodeType = marshal.loads(file.read())
        except OSError:  # a process that may read no file but its own
            return super().get_code(fullname)
        return code


class Finder:
    """Finds what the path finder finds, and loads what has a compiled copy from that."""

    def __init__(self, tree: str, copies: str) -> None:
        self.tree, self.copies = tree, copies

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        if name.partition(".")[0] not in ("app", "estimators", "macekit"):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)  # type: ignore[arg-type]
        origin = spec.origin if spec else None
        if spec and origin and origin.startswith(self.tree + os.sep) and origin.endswith(".py"):
            copy = os.path.join(self.copies, origin[len(self.tree) + 1 :] + ".code")
            if os.path.exists(copy):
                spec.loader = Loader(name, origin, copy)
        return spec


def install(tree: str, folder: str) -> None:
    """Watch the modules of a tree; ``folder`` has their copies, and the marks of processes that were given no file."""
    try:
        mark_in(os.environ.get(VARIABLE) or os.path.join(folder, "marks"))
    except OSError:
        return
    sys.meta_path.insert(0, Finder(tree, os.path.join(folder, "copies")))  # type: ignore[arg-type]
