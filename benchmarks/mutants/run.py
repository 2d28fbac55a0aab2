"""Every fault against the tests that enter its function, the quick and narrow ones first, until one fails."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.mutants import faults, watch
from benchmarks.mutants.faults import Fault, Function
from benchmarks.mutants.watch import Map, Test

NEAR_FILES, NEAR_SECONDS = 2, 6.0
"""How many test files named like a function's module are asked first, and for how many seconds of tests."""
STAGES = (12.0, 60.0)
"""Seconds of tests after which it is looked whether one failed; the last is the budget of a fault."""
NO_TESTS = 5
"""Pytest's exit status where every test was left out."""
BEFORE = Path(__file__).parent / "outcomes" / "suite.jsonl"
"""Which test found each fault the last time: it is asked first."""


@dataclass(frozen=True)
class Outcome:
    """What became of a fault: the test that failed, or none; how many seconds it took, and how many tests enter it."""

    fault: str
    found_by: str | None
    seconds: float
    tests: int
    complete: bool
    """Whether every test that enters the function was run, or one failed before."""


def run(tree: Path, of_tree: Map, chosen: Sequence[Fault], output: Path, arguments: Sequence[str]) -> None:
    """Try faults that have no outcome yet, and write each outcome as it comes."""
    done = {outcome.fault for outcome in outcomes(output)}
    for fault in (each for each in chosen if each.name not in done):
        outcome = attempt(tree, of_tree, fault, arguments)
        with output.open("a") as file:
            file.write(json.dumps(asdict(outcome)) + "\n")
        print(f"{fault.name:55} {outcome.found_by or 'NOT FOUND'} ({outcome.seconds:.0f} s)", flush=True)


def outcomes(path: Path) -> list[Outcome]:
    lines = path.read_text().splitlines() if path.exists() else []
    return [Outcome(**json.loads(line)) for line in lines]


def attempt(tree: Path, of_tree: Map, fault: Fault, arguments: Sequence[str]) -> Outcome:
    """Put a fault into the tree, run tests until one fails, and take it out again."""
    function, text = faults.broken(fault, tree)
    path = tree / function.path
    whole, began = path.read_text(), time.perf_counter()
    tests = of_tree.entering(function)
    finders = {outcome.found_by for outcome in outcomes(BEFORE) if outcome.fault == fault.name}
    first = [test for test in tests if test.name in finders] or near(function, tests)
    found, complete = None, not tests
    path.write_text(text)
    try:
        for stage, complete in stages(tests, first):  # noqa: B007 (looked at after the last)
            if failed := failures(tree, stage, ("-x", *arguments)):
                found = failed[0]
                break
    finally:
        path.write_text(whole)
    seconds = round(time.perf_counter() - began, 1)
    return Outcome(fault.name, found, seconds, len(tests), found is not None or complete)


def near(function: Function, tests: Sequence[Test]) -> list[Test]:
    """A few quick tests from the files that are likely to be about a function: those named like its module."""
    words = set(Path(function.path).with_suffix("").parts)

    def distance(file: str) -> tuple[int, int]:
        own = {part.removeprefix("test_") for part in Path(file).with_suffix("").parts}
        return -len(words & own), min(len(test.functions) for test in tests if test.file == file)

    files = sorted({test.file for test in tests}, key=distance)[:NEAR_FILES]
    quick, total = [], 0.0
    for test in tests:
        if test.file in files and total + test.seconds <= NEAR_SECONDS:
            quick.append(test)
            total += test.seconds
    return quick


def stages(tests: Sequence[Test], first: Sequence[Test]) -> Iterator[tuple[list[Test], bool]]:
    """Tests in portions of growing length, the first ones before all, and whether they are the last there are."""
    if first:
        yield list(first), len(first) == len(tests)
    rest = [test for test in tests if test not in first]
    total, portion, budgets = 0.0, list[Test](), list(STAGES)
    for place, test in enumerate(rest, 1):
        if portion and total + test.seconds > budgets[0]:
            yield portion, False
            portion = []
            budgets.pop(0)
            if not budgets:
                return
        portion.append(test)
        total += test.seconds
        if place == len(rest):
            yield portion, True


def failures(tree: Path, tests: Sequence[Test], arguments: Sequence[str] = ()) -> list[str]:
    """The tests of these that fail, in the order in which they are given; how the run ended if it ended badly."""
    names = [test.name for test in tests]
    paths = list(dict.fromkeys(test.file for test in tests))
    shutil.copy(Path(__file__).with_name("chosen_tests.py"), watch.site_packages(tree))
    command = [str(tree / ".venv/bin/python"), "-m", "pytest", "-p", "chosen_tests", "-p", "no:cacheprovider"]
    command += ["-q", "--no-header", "--tb=no", "-rfE", *arguments, *paths]
    patience = 120.0 + 8.0 * sum(test.seconds for test in tests)
    with tempfile.NamedTemporaryFile("w+") as chosen, tempfile.TemporaryFile("w+") as printed:
        chosen.write("\n".join(names))
        chosen.flush()
        files: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": printed, "stderr": subprocess.STDOUT}
        names_chosen = os.environ | {"CHOSEN_TESTS": chosen.name}
        process = subprocess.Popen(command, cwd=tree, env=names_chosen, **files, process_group=0)
        try:
            status = process.wait(patience)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return [f"no end within {patience:.0f} s: {paths[0]}"]
        printed.seek(0)
        lines = printed.read().splitlines()
    if status in (0, NO_TESTS):
        return []
    bad = (line for line in lines if line.startswith(("FAILED ", "ERROR ")))
    failed = [line.split(" ", 1)[1].split(" - ")[0] for line in bad]
    return failed or [f"pytest ended with {status}: {' '.join(lines[-1:])}"]


def failing_anyway(tree: Path, of_tree: Map, results: Sequence[Outcome]) -> set[str]:
    """Which of the tests that found a fault fail without one, too: what they found would say nothing."""
    found = {outcome.found_by for outcome in results}
    return set(failures(tree, [test for test in of_tree.tests if test.name in found]))
