"""Which test enters which function: one run of a tree's tests, with every function of the product marking itself."""

from __future__ import annotations

import ast
import json
import marshal
import os
import shutil
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from benchmarks.mutants import faults

FOLDER = ".watched"
MODULES = ("watched_functions.py", "watched_tests.py")


@dataclass(frozen=True)
class Test:
    """One test: how long it took, and the numbers of the functions it entered, in any process."""

    name: str
    seconds: float
    functions: frozenset[int]

    @property
    def file(self) -> str:
        """The file that it stands in."""
        return self.name.partition("::")[0]


@dataclass(frozen=True)
class Map:
    """Which test enters which function."""

    functions: list[str]
    tests: list[Test]

    def entering(self, function: faults.Function) -> list[Test]:
        """The tests that enter a function, the quick and narrow first."""
        numbers = {number for number, label in enumerate(self.functions) if label == function.label}
        found = [test for test in self.tests if numbers & test.functions]
        return sorted(found, key=lambda test: test.seconds + len(test.functions) / 5_000)


def load(path: Path) -> Map:
    kept = json.loads(path.read_text())
    return Map(kept["functions"], [Test(name, seconds, frozenset(of)) for name, seconds, of in kept["tests"]])


def write(tree: Path, path: Path, arguments: list[str]) -> None:
    """Run the tests of a tree and write the map down."""
    folder = tree / FOLDER
    labels = compile_copies(tree, folder)
    site = site_packages(tree)
    for name in MODULES:
        shutil.copy(Path(__file__).with_name(name), site)
    start = site / "watched_functions.pth"
    start.write_text(f"import watched_functions; watched_functions.install({str(tree)!r}, {str(folder)!r})\n")
    command = [str(tree / ".venv/bin/python"), "-m", "pytest", "-p", "watched_tests", "-p", "no:cacheprovider"]
    try:
        environment = os.environ | {"WATCHED_FOLDER": str(folder)}
        subprocess.run([*command, *arguments], cwd=tree, env=environment, check=False)
    finally:
        start.unlink()
    seconds: dict[str, float] = {}
    entered: dict[str, set[int]] = defaultdict(set)
    for part in folder.glob("tests-*.jsonl"):
        for line in part.read_text().splitlines():
            name, took, numbers = json.loads(line)
            seconds[name] = took
            entered[name].update(numbers)
    tests = [[name, round(seconds[name], 3), sorted(entered[name])] for name in sorted(seconds)]
    path.write_text(json.dumps({"functions": labels, "tests": tests}))


def compile_copies(tree: Path, folder: Path) -> list[str]:
    """Compile each module with functions that mark themselves; return the names of the functions by number."""
    labels: list[str] = []
    for path in faults.files(tree):
        text = (tree / path).read_text()
        module = ast.parse(text)
        nodes = {(each.node.lineno, each.node.col_offset): each for each in faults.functions(path, text)}
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                mark = ast.parse(f"__marks__[{len(labels)}] = 1").body[0]
                for part in ast.walk(mark):
                    ast.copy_location(part, node.body[0])
                node.body.insert(1 if ast.get_docstring(node) is not None else 0, mark)
                labels.append(nodes[node.lineno, node.col_offset].label)
        copy = folder / "copies" / f"{path}.code"
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(marshal.dumps(compile(module, str(tree / path), "exec")))
    (folder / "marks").write_bytes(bytes(len(labels)))
    return labels


def site_packages(tree: Path) -> Path:
    """Where the packages of a tree's `.venv` stand."""
    return next((tree / ".venv/lib").glob("python*/site-packages"))
