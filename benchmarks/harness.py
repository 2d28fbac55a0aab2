"""How every benchmark is asked, and how its tables are printed, kept, and held against the docs that show them.

A benchmark is a module here, or the module ``tables`` of a folder here. A function marked ``@table`` yields one table:
its head first, then its rows, each a text of cells between bars; a ``Note`` is a line below it, and a ``Title`` begins
another table. ``OPTIONS`` are the benchmark's own settings, each with its value and that of ``--quick``; ``QUICK`` is
the share of the runs that ``--quick`` makes. Both are literals, so that a list needs no import.

A result file in docs/results has the tables that docs show. A comment above each names the command that prints it:
``<!-- python -m benchmarks table NAME TABLE -->``.
"""

import argparse
import ast
import importlib
import os
import re
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from scipy.stats import binom

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
RESULTS = DOCS / "results"
SHOWN = re.compile(r"<!-- python -m benchmarks table (\S+) (\S+) -->")
RULE = r"\|[ :|-]+\|"
TABLE = re.compile(rf"^\|.*\n{RULE}\n(?:\|.*\n)*", re.MULTILINE)
NOT_MEASURED = "<!-- not measured -->"
PARTS = ("list", "run", "table", "check")
COMMAND = re.compile(r"python -m benchmarks\s([^`#\n]*)")
Item = TypeVar("Item")
Result = TypeVar("Result")


class Note(str):
    """A line below a table."""


class Refused(Exception):
    """What was asked of a benchmark and cannot be; said like a wrong option."""


class Title(NamedTuple):
    """The name of the table that follows, and what stands above it."""

    name: str
    text: str = ""


def table(function: Callable[["Run"], Iterator[Any]]) -> Callable[["Run"], Iterator[Any]]:
    """Mark a function that yields a table."""
    return function


# --- what benchmarks need -----------------------------------------------------------------------------------


@dataclass
class Run:
    """What was asked of a benchmark; its own settings are attributes."""

    share: float = 1.0
    jobs: int = 1
    quick: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    faults: int = 0
    """What should not have happened; the exit status is 1 if anything has."""

    def __getattr__(self, name: str) -> Any:
        if name not in self.__dict__.get("options", {}):
            raise AttributeError(name)
        return self.options[name]

    def times(self, full: float, least: int = 1) -> int:
        """The asked share of so many runs."""
        return max(least, round(self.share * full))

    def few(self, items: Iterable[Item], most: int = 4) -> list[Item]:
        """All of them; if it is to be quick, at most so many, from the first to the last."""
        every = list(items)
        if not self.quick or len(every) <= most:
            return every
        return [every[round(place * (len(every) - 1) / max(1, most - 1))] for place in range(most)]

    def rate(self, misses: float, runs: int, level: float = 0.025, form: str = ".1f") -> str:
        """So many percent; marked, and a fault, if a method of this level misses less often."""
        odd = mark(int(misses), runs, level)
        self.faults += bool(odd)
        return f"{100 * misses / runs:{form}}%{odd}"

    def map(self, function: Callable[[Any], Result], tasks: Iterable[Any]) -> list[Result]:
        """What a function makes of each task, on as many processes as there are jobs."""
        if self.jobs == 1:
            return [function(task) for task in tasks]
        with ProcessPoolExecutor(self.jobs) as pool:
            return list(pool.map(function, tasks))


def most_misses(runs: int, level: float) -> int:
    """Errors that a method of this level exceeds once in a thousand simulations."""
    return int(binom.isf(1e-3, runs, level))


def mark(misses: int, runs: int, level: float = 0.025) -> str:
    """An exclamation mark behind more than that."""
    return "!" if misses > most_misses(runs, level) else ""


def least(work: Callable[[], object], times: int = 3, clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds of the fastest of several times."""

    def once() -> float:
        start = clock()
        work()
        return clock() - start

    return min(once() for _ in range(times))


def of_rounds(rounds: int, rows: Callable[[], Iterable[str]]) -> Iterator[str]:
    """Rows ``what | wanted | measured | note``, each as in the middle of so many rounds, and what it ranged over."""
    yield "what | wanted | measured | of several runs | "
    made = [[cells(f"|{row}|") for row in rows()] for _ in range(rounds)]
    for same in zip(*made, strict=True):
        by_size = sorted(same, key=lambda row: float(re.findall(r"[\d.]+", row[2])[0]))
        what, wanted, measured, *note = by_size[(rounds - 1) // 2]
        least, most = by_size[0][2], by_size[-1][2]
        yield f"{what} | {wanted} | {measured} | {least} to {most} | {' '.join(note)}"


# --- which there are ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Benchmark:
    """A module, read but not imported."""

    name: str
    module: str
    about: str
    tables: tuple[str, ...]
    options: dict[str, tuple[Any, Any]]
    quick: float

    def parser(self, **settings: Any) -> argparse.ArgumentParser:
        """Reads what is asked of this one."""
        parser = argparse.ArgumentParser(
            f"python -m benchmarks run {self.name}",
            description=self.about,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **settings,
        )
        parser.add_argument("--quick", action="store_true", help="in seconds: that it works, and no more")
        parser.add_argument("--runs", type=float, help="share of the runs, 1 for all")
        parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at once")
        parser.add_argument("--only", default=",".join(self.tables), help="of %(default)s")
        parser.add_argument("--save", action="store_true", help="keep those that docs name in docs/results")
        for name, (value, _) in self.options.items():
            settings = {"action": "store_true"} if value is False else {"type": type(value)}
            settings["default"] = None
            parser.add_argument(f"--{name.replace('_', '-')}", **settings, help=f"{value!r} if not given")
        return parser

    def asked(self, parser: argparse.ArgumentParser, words: Sequence[str]) -> tuple[Run, list[str], bool]:
        """The run, the tables that are wanted, and whether they are kept."""
        given = parser.parse_args(words)
        only = given.only.split(",")
        if unknown := sorted(set(only) - set(self.tables)):
            parser.error(f"--only: no table {', '.join(unknown)}; there are {', '.join(self.tables)}")
        if (given.runs is not None and given.runs <= 0.0) or given.jobs < 1:
            parser.error("--runs needs a share above 0, --jobs at least one process")
        share = given.runs or (self.quick if given.quick else 1.0)
        options = {name: getattr(given, name) for name in self.options}
        options |= {name: self.options[name][given.quick] for name, value in options.items() if value is None}
        return Run(share, given.jobs, given.quick, options), only, given.save

    def run(self, words: Sequence[str]) -> int:
        """Make the tables, print them, and keep them if that was asked."""
        parser = self.parser()
        run, only, save = self.asked(parser, words)
        module, kept = importlib.import_module(self.module), results(self.name)
        for name in only:
            lines = []
            try:
                for text in printed(name, getattr(module, name)(run)):
                    print(text, flush=True)
                    lines.append(text)
            except Refused as error:
                parser.error(str(error))
            kept |= sections(lines)
        if save:
            write_results(self.name, {each: kept[each] for each in kept if (self.name, each) in named()})
        return int(run.faults > 0)


def benchmarks() -> dict[str, Benchmark]:
    """All that there are."""
    found = {}
    for path in sorted([*HERE.glob("*.py"), *HERE.glob("*/tables.py")]):
        tree = ast.parse(path.read_text())
        marked = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.decorator_list]
        tables = [each.name for each in marked if ast.unparse(each.decorator_list[0]) == "table"]
        literals = {
            ast.unparse(each.targets[0]): ast.literal_eval(each.value)
            for each in tree.body
            if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) in ("OPTIONS", "QUICK")
        }
        if tables:
            name = path.stem if path.parent == HERE else path.parent.name
            module = ".".join(path.relative_to(HERE.parent).with_suffix("").parts)
            options, quick = literals.get("OPTIONS", {}), literals.get("QUICK", 0.01)
            about = ast.get_docstring(tree) or ""
            found[name] = Benchmark(name, module, about, tuple(tables), options, quick)
    return dict(sorted(found.items()))


# --- tables -------------------------------------------------------------------------------------------------


def printed(name: str, rows: Iterable[Any]) -> Iterator[str]:
    """Lines of markdown of a table and of those that follow in the same run."""
    title: Title | None = Title(name)
    for row in rows:
        if isinstance(row, Title):
            title = row
        elif isinstance(row, Note):
            yield f"\n{row}"
        elif title:
            yield f"\n## {title.name}\n" + (f"\n{title.text}\n" if title.text else "")
            yield f"| {row} |"
            yield "|" + " --- |" * len(cells(f"| {row} |"))
            title = None
        else:
            yield f"| {row} |"


def cells(line: str) -> list[str]:
    """Of a line of a table."""
    return [cell.strip() for cell in line.strip()[1:-1].split("|")]


def rows_of(lines: Iterable[str]) -> list[list[str]]:
    """Cells of a table, its head first."""
    return [cells(line) for line in lines if line.startswith("|") and not re.fullmatch(RULE, line)]


def sections(lines: Iterable[str]) -> dict[str, list[str]]:
    """Tables by their names, each as it was printed."""
    parts = re.split(r"^## (.*)\n", "\n".join(lines), flags=re.MULTILINE)[1:]
    return {name: text.splitlines() for name, text in zip(parts[::2], parts[1::2], strict=True)}


def results(name: str) -> dict[str, list[str]]:
    """What is kept of a benchmark."""
    path = RESULTS / f"{name}.txt"
    return sections(path.read_text().splitlines()) if path.exists() else {}


def write_results(name: str, kept: dict[str, list[str]]) -> None:
    """Keep tables."""
    RESULTS.mkdir(exist_ok=True)
    parts = [f"python -m benchmarks run {name}"]
    parts += [f"## {each}\n\n" + "\n".join(lines).strip() for each, lines in kept.items()]
    (RESULTS / f"{name}.txt").write_text("\n\n".join(parts) + "\n")


# --- docs ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shown:
    """A table in docs, what stands above it, and the benchmark and the table that this names."""

    path: Path
    first: int
    lines: list[str]
    above: str

    @property
    def names(self) -> tuple[str, str] | None:
        """Those of the command in the comment above it."""
        found = SHOWN.fullmatch(self.above)
        return (found[1], found[2]) if found else None

    @property
    def is_measured(self) -> bool:
        """Whether most of its cells, but for those of the first column, are numbers."""
        every = [cell for row in rows_of(self.lines)[1:] for cell in row[1:] if cell]
        numbers = [cell for cell in every if re.fullmatch(r"[\[(<]?[-+±]?\d[\d.,:%\] x±/-]*", cell)]
        return 2 * len(numbers) > len(every) and self.above != NOT_MEASURED

    def differences(self) -> list[str]:
        """Its rows that are not those of its result file, if it has one."""
        place = f"{self.path.name}:{self.first + 1}"
        if not self.names:
            strange = self.is_measured and not self.above.startswith("<!-- read off: ")
            return [f"{place}: a table of numbers that names no command"] if strange else []
        name, table = self.names
        where, kept = f"docs/results/{name}.txt", results(name)
        if table not in kept:
            return [f"{place}: {where} has no table {table}"]
        ours, theirs = rows_of(self.lines), rows_of(kept[table])
        found = [f"{place}: {len(ours)} rows, {len(theirs)} in {where}"] if len(ours) != len(theirs) else []
        pairs = zip(ours, theirs, strict=False)
        return found + [f"{place}: {row} is {other} in {where}" for row, other in pairs if row != other]


def tables_in(path: Path) -> Iterator[Shown]:
    """Every table of a document."""
    text = path.read_text() + "\n"
    for found in TABLE.finditer(text):
        before = text[: found.start()]
        above = before.strip().rpartition("\n")[2].strip()
        yield Shown(path, before.count("\n"), found[0].splitlines(), above)


def documents() -> list[Path]:
    """Every document that may show a table."""
    return [DOCS.parent / "README.md", *sorted(DOCS.glob("*.md"))]


def named() -> set[tuple[str, str]]:
    """Every benchmark and table that a comment in docs names."""
    return {(name, table) for path in documents() for name, table in SHOWN.findall(path.read_text())}


def complaints() -> list[str]:
    """What docs show that their result files do not hold, and commands that would not run."""
    every, found = benchmarks(), []
    for path in documents():
        text = path.read_text()
        for each in tables_in(path):
            found += each.differences()
            if each.names and f"python -m benchmarks run {each.names[0]}" not in text:
                found.append(f"{path.name} does not say python -m benchmarks run {each.names[0]}")
        found += [f"{path.name}: {line}" for line in wrong_commands(text, every)]
        alone = set(SHOWN.findall(text)) - {each.names for each in tables_in(path)}
        found += [f"{path.name}: no table stands below that of {' '.join(names)}" for names in sorted(alone)]
    kept = {(path.stem, name) for path in RESULTS.glob("*.txt") for name in results(path.stem)}
    found += [f"docs/results/{name}.txt: no document shows {table}" for name, table in sorted(kept - named())]
    return found + [f"docs/results/{name}.txt: no such benchmark" for name, _ in kept if name not in every]


def wrong_commands(text: str, every: dict[str, Benchmark]) -> Iterator[str]:
    """Commands of a document that the harness would refuse."""
    for old in sorted(set(re.findall(r"-m (benchmarks\.\w+)", text))):
        yield f"python -m {old} is no command"
    for command in COMMAND.findall(text.replace("-->", "`")):
        part, *words = shlex.split(command) or [""]
        if part not in PARTS:
            yield f"python -m benchmarks {command}: not one of {', '.join(PARTS)}"
        elif part in ("run", "table") and (not words or words[0] not in every):
            yield f"python -m benchmarks {command}: no such benchmark"
        elif part == "table" and not set(words[1:]) <= {*results(words[0]), "--docs"}:
            yield f"python -m benchmarks {command}: no such table"
        elif part == "run":
            try:
                every[words[0]].asked(every[words[0]].parser(exit_on_error=False), words[1:])
            except (argparse.ArgumentError, SystemExit):
                yield f"python -m benchmarks {command}: refused"


def write_docs(name: str) -> list[str]:
    """Put a benchmark's kept tables into the documents that show them; which these are."""
    written = []
    for path in documents():
        lines = path.read_text().splitlines()
        for shown in reversed(list(tables_in(path))):
            if shown.names and shown.names[0] == name and shown.differences():
                fresh = [line for line in results(name)[shown.names[1]] if line.startswith("|")]
                if len(cells(fresh[1])) == len(cells(shown.lines[1])):
                    fresh[1] = shown.lines[1]
                lines[shown.first : shown.first + len(shown.lines)] = fresh
                written.append(f"{path.name}: {shown.names[1]}")
        path.write_text("\n".join(lines) + "\n")
    return written
