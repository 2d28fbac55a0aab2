"""The reference of the Python API as a file, made from signatures and docstrings.

A docstring is one sentence, prose if it needs any, then ``Args:`` (or ``Attributes:`` of what is not made by hand),
``Returns:``, ``Raises:`` and ``Example:``, each indented. ``GROUPS`` is the order of the page: by what a reader wants.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from pathlib import Path
from pkgutil import resolve_name
from types import FunctionType
from typing import Any, cast, get_args

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference.md"
SECTIONS = ("Args", "Attributes", "Returns", "Raises", "Example")

INTRODUCTION = """# Reference

Every public name of `macekit` and `estimators`. `scripts/reference` makes this page from the docstrings, and every
example runs as a test (long output lines are wrapped).

Start with `macekit`: it takes lists, frames and files, and answers with numbers, charts and reports
([python.md](python.md) is a tour of it). `estimators` is the library below it: arrays in, dataclasses out. What the
numbers mean for people is in [interpretation.md](interpretation.md), the mathematics in [methods.md](methods.md).
"""

CONSTANTS = {"PRESETS": "estimators.metric.presets", "VERSION": "estimators.statement"}
"""Where a constant and the text below it stand: Python keeps no docstring for either."""


@dataclass(frozen=True)
class Group:
    """Names that serve one purpose, as ``module:name``."""

    title: str
    about: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """One documented thing: a public name, or a public method of one."""

    title: str
    item: Any
    text: str

    @property
    def own(self) -> str:
        """The docstring before its first section."""
        return re.split(rf"^(?:{'|'.join(SECTIONS)}):$", self.text, maxsplit=1, flags=re.MULTILINE)[0].strip()

    def section(self, name: str) -> str:
        """The text of one section, without its indentation; empty if there is none."""
        match = re.search(rf"^{name}:\n((?:[ ]{{4}}.*\n|\n)*)", self.text + "\n", re.MULTILINE)
        return textwrap.dedent(match[1]).strip() if match else ""

    def rows(self, name: str) -> dict[str, str]:
        """The lines of a section as names, which may share a line, and what is said of them."""
        lines = re.findall(r"^(\S.*?): ((?:.*)(?:\n[ ]+.*)*)", self.section(name), re.MULTILINE)
        return {names: " ".join(text.split()) for names, text in lines}

    @property
    def explained(self) -> dict[str, str]:
        """What is said of each argument or attribute."""
        rows = {**self.rows("Args"), **self.rows("Attributes")}
        return {name.strip(" *"): text for names, text in rows.items() for name in names.split(",")}

    @property
    def parameters(self) -> list[str]:
        """What has to be explained: the arguments, keywords of ``**options`` by name; the members of an enumeration."""
        if isinstance(self.item, type) and issubclass(self.item, Enum):
            return list(self.item.__members__)
        if not callable(self.item):
            return []
        return [name for each in _parameters(self.item) for name in _names(self.item, each)]


def entry(name: str) -> Entry:
    """The entry of a public name, given as ``module:name``."""
    title, item = name.replace(":", "."), resolve_name(name)
    constant = name.partition(":")[2]
    text = _below(CONSTANTS[constant], constant) if constant in CONSTANTS else inspect.getdoc(item)
    return Entry(title, item, text or "")


def methods(owner: Entry) -> Iterator[Entry]:
    """The public methods of a class, none of any other name."""
    for name, value in vars(owner.item).items() if isinstance(owner.item, type) else ():
        if not name.startswith("_") and isinstance(value, classmethod | FunctionType):
            item = getattr(owner.item, name)
            yield Entry(f"{owner.title.rpartition('.')[2]}.{name}", item, inspect.getdoc(item) or "")


def properties(owner: Entry) -> Iterator[tuple[str, str]]:
    """The public properties of a class, and the first paragraph of what is said of each."""
    for name, value in vars(owner.item).items() if isinstance(owner.item, type) else ():
        if isinstance(value, property) and not name.startswith("_"):
            yield name, " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())


def page() -> str:
    """The whole page."""
    parts: list[str] = []
    for group in GROUPS:
        parts += [f"## {group.title}", _wrapped(group.about), *(_shown(entry(name)) for name in group.names)]
    body = "\n\n".join(parts)
    anchors = _anchors(body)
    contents = (_wrapped(_contents(group, anchors), "- ") for group in GROUPS)
    return "\n\n".join([INTRODUCTION.strip(), "\n".join(contents), body]) + "\n"


def _contents(group: Group, anchors: dict[str, str]) -> str:
    titles = [name.replace(":", ".") for name in group.names]
    links = (f"[{title.rpartition('.')[2]}](#{anchors[f'`{title}`']})" for title in titles)
    return f"[{group.title}](#{anchors[group.title]}): {', '.join(links)}"


def _anchors(body: str) -> dict[str, str]:
    """How GitHub links to each heading: two that differ in capitals alone get a number."""
    anchors: dict[str, str] = {}
    for title in re.findall(r"^#{2,4} (.+)$", body, re.MULTILINE):
        plain = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        before = sum(re.sub(r"-\d+$", "", each) == plain for each in anchors.values())
        anchors[title] = f"{plain}-{before}" if before else plain
    return anchors


def _shown(owner: Entry) -> str:
    parts = [f"### `{owner.title}`", *_described(owner)]
    members = [_wrapped(f"`{name}`: {text}", "- ") for name, text in properties(owner)]
    if members:
        parts.insert(-1, "Computed from these:\n\n" + "\n".join(members))
    for each in methods(owner):
        parts += [f"#### `{each.title}`", *_described(each)]
    return "\n\n".join(part for part in parts if part)


def _described(owner: Entry) -> list[str]:
    example = owner.section("Example")
    prose = owner.own.replace("``", "`")
    return [*_signature(owner), prose, _explained(owner), f"```pycon\n{example}\n```" if example else ""]


def _explained(owner: Entry) -> str:
    rows = {**owner.rows("Args"), **owner.rows("Attributes")}
    lines = [_wrapped(f"``{names.replace(', ', '``, ``')}``: {text}", "- ") for names, text in rows.items()]
    if returns := owner.section("Returns"):
        lines.append("\n" + _wrapped(f"Returns {returns}"))
    if raises := owner.rows("Raises"):
        causes = "; ".join(f"``{name}``: {text.rstrip('.')}" for name, text in raises.items())
        lines.append("\n" + _wrapped(f"Raises {causes}."))
    return "\n".join(lines).strip()


def _wrapped(text: str, bullet: str = "") -> str:
    """A paragraph as Markdown, or an item of a list."""
    plain = bullet + " ".join(text.replace("``", "`").split())
    return textwrap.fill(
        plain, 120, subsequent_indent=" " * len(bullet), break_long_words=False, break_on_hyphens=False
    )


def _signature(owner: Entry) -> Iterator[str]:
    """A call, where a reader makes one."""
    if not callable(owner.item) or owner.section("Attributes"):
        return
    spelled: list[str] = []
    for each in _parameters(owner.item):
        if each.kind is inspect.Parameter.KEYWORD_ONLY and "*" not in spelled:
            spelled.append("*")
        spelled.append(_spelled(each))
    returns = inspect.signature(owner.item).return_annotation
    tail = "" if isinstance(owner.item, type) or returns is inspect.Signature.empty else f" -> {returns}"
    line = f"{owner.title}({', '.join(spelled)}){tail}"
    if len(line) > 100:
        line = "\n    ".join([f"{owner.title}(", *(f"{each}," for each in spelled)]) + f"\n){tail}"
    yield f"```python\n{line}\n```"


def _parameters(item: Any) -> list[inspect.Parameter]:
    every = inspect.signature(item).parameters.values()
    return [each for each in every if each.name not in ("self", "cls")]


def _names(item: Any, parameter: inspect.Parameter) -> list[str]:
    """The name of a parameter; of ``**options`` whose keywords are known, theirs."""
    if parameter.kind is inspect.Parameter.VAR_KEYWORD and "Unpack" in str(parameter.annotation):
        (options,) = get_args(eval(parameter.annotation, inspect.unwrap(item).__globals__))
        return list(options.__annotations__)
    return [parameter.name]


def _spelled(parameter: inspect.Parameter) -> str:
    stars = "**" if parameter.kind is inspect.Parameter.VAR_KEYWORD else ""
    plain = "Unpack" in str(parameter.annotation) or parameter.annotation is inspect.Parameter.empty
    name = f"{stars}{parameter.name}" if plain else f"{stars}{parameter.name}: {parameter.annotation}"
    if parameter.default is inspect.Parameter.empty:
        return name
    default = str(parameter.default) if isinstance(parameter.default, Enum) else repr(parameter.default)
    return f"{name} = {default if len(default) <= 40 else '...'}"


def _below(module: str, name: str) -> str:
    """The text that stands below an assignment."""
    body = ast.parse(inspect.getsource(importlib.import_module(module))).body
    for above, below in pairwise(body):
        targets = above.targets if isinstance(above, ast.Assign) else [getattr(above, "target", None)]
        if any(isinstance(each, ast.Name) and each.id == name for each in targets):
            return inspect.cleandoc(str(ast.literal_eval(cast("ast.Expr", below).value)))
    raise LookupError(f"{module}: no {name}")


GROUPS = (
    Group(
        "Scores and counts",
        "What a model gives to members (records it was trained on) and to nonmembers (records it has never seen), "
        "checked once. Counts stand for scores that are too many or too sensitive to move.",
        (
            "estimators:Scores",
            "estimators:Query",
            "estimators:one_per_unit",
            "estimators:Counts",
            "estimators.sample.counting:finest",
            "estimators.sample.counting:by_category",
            "estimators.sample.counting:by_equal_mass",
            "estimators.sample.counting:by_edges",
            "estimators.sample.counting:by_grid",
            "estimators.sample.counting:by_lattice",
            "estimators.sample.counting:by_boxes",
            "estimators.sample.counting:on_cells",
            "estimators.sample.stream:Tally",
        ),
    ),
    Group(
        "The advantage, and everything at once",
        "`assess` answers what an auditor asks of one sample; `advantage` only the part to decide by.",
        (
            "estimators:assess",
            "estimators:Ask",
            "estimators:Assessment",
            "estimators:advantage",
            "estimators:Advantage",
            "estimators:CellsTarget",
            "estimators:ThresholdTarget",
            "estimators:TwoSidedTarget",
            "estimators:LearnedTarget",
        ),
    ),
    Group(
        "Decisions and plans",
        "From an interval to pass, fail or inconclusive, and from a question to the records that answer it.",
        (
            "estimators:verdict",
            "estimators:Verdict",
            "estimators:Decision",
            "estimators:plan_verdict",
            "estimators:plan_width",
            "estimators:Plan",
        ),
    ),
    Group(
        "Comparisons",
        "Several scores of one model, two models, or groups of people.",
        (
            "estimators:compare",
            "estimators:difference",
            "estimators:paired_difference",
            "estimators:by_group",
        ),
    ),
    Group(
        "The risk of a record",
        "What each record's own score tells of its membership.",
        ("estimators:individual_risk", "estimators:IndividualRisk"),
    ),
    Group(
        "Metrics",
        "Accuracy, precision, F1 and others, each for the adversary who is best at it.",
        (
            "estimators:metric_optimum",
            "estimators:MetricEstimate",
            "estimators:preset",
            "estimators:PRESETS",
            "estimators:Metric",
            "estimators:individual_metric",
            "estimators:IndividualMetric",
        ),
    ),
    Group(
        "The parts of an answer",
        "Every answer is made of these.",
        (
            "estimators:Estimate",
            "estimators:Interval",
            "estimators:Guarantee",
            "estimators:Caution",
            "estimators:VERSION",
            "estimators:MaceError",
        ),
    ),
)
"""The page, in its order."""


def main(arguments: list[str]) -> int:
    """Write the page, or compare it; 0 when it is as it should be."""
    if arguments == ["--check"]:
        current = PAGE.exists() and PAGE.read_text(encoding="utf-8") == page()
        print(
            f"docs/reference.md is {'' if current else 'not '}what the docstrings make"
            + ("" if current else ": run scripts/reference")
        )
        return 0 if current else 1
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name} written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
