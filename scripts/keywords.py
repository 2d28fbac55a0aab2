"""Makes macekit/client/keywords.py of the questions' schemas: the keywords that an editor completes, with their types.

Run by every build of the package as a hook of hatchling, installation from a checkout included, and by scripts/setup
where a schema is newer than what was made. The file is in the wheel and not in the repository.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import fill, indent
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent.parent
MADE = Path("macekit", "client", "keywords.py")
HEAD = '''"""The options of each question, as keywords an editor completes: made by scripts/keywords.py of the schemas.

What is not given is not sent: defaults are known to the schemas alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Required, TypeAlias, TypedDict

from macekit.client.options import CountsLike, LabelValues, Values
'''
COLUMNS = "str | list[str]"
ARGUMENTS = {"members", "nonmembers", "queries", "warnings"}
"""Fields that are arguments of their own, or, as warnings, come with the counts they are about."""
RECORDS = {
    "cluster": "str | list[str] | LabelValues | Mapping[str, LabelValues]",
    "column": COLUMNS,
    "counts": "CountsLike",
    "groups": "LabelValues",
    "model": "str | LabelValues",
    "score": COLUMNS,
    "shards": "list[CountsLike]",
    "targets": "Values",
    "units": "LabelValues",
}
"""Fields that hold records or name columns of them: Python takes them in more forms than JSON has."""


class Keywords(BuildHookInterface[Any]):
    """Makes the file before the package is built, and takes it into the package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the file; from the sources of a release, which hold it, only where the schemas can be read."""
        try:
            make()
        except ImportError:
            if not (ROOT / MADE).exists():
                raise
        build_data["artifacts"].append(f"/{MADE}")


def make() -> None:
    """Write the file."""
    sys.path.insert(0, str(ROOT))
    (ROOT / MADE).write_text("".join(source()), encoding="utf-8")


def source() -> Iterator[str]:
    """The text of the file, piece by piece."""
    from macekit.catalogue import OPERATIONS
    from macekit.schemas.by_operation import QUESTIONS

    writer = Writer()
    asked = [row for row in OPERATIONS if row.python and row.name in QUESTIONS]
    classes = [writer.of_operation(row, QUESTIONS[row.name]) for row in asked]
    yield HEAD
    yield from (f"\n{name}: TypeAlias = {text}\n" for name, text in writer.aliases.items())
    yield from writer.classes.values()
    yield from classes
    rows = "".join(f'    "{row.name}": {row.model}Options,\n' for row in asked)
    yield f'\n\nOPTIONS: dict[str, Any] = {{\n{rows}}}\n"""The options of each operation."""\n'


class Writer:
    """Writes types down as Python, and remembers what they are made of."""

    def __init__(self) -> None:
        from macekit.schemas import questions

        named = {value: name for name, value in vars(questions).items() if name.endswith("Name")}
        self.named = {value: name for value, name in named.items() if get_origin(value) is Literal}
        self.aliases: dict[str, str] = {}
        self.classes: dict[str, str] = {}
        self.first: dict[str, tuple[str, str]] = {}

    def of_operation(self, row: Any, question: Any) -> str:
        """The class of an operation's keywords: its fields, and the columns of a table that it may be asked of."""
        from macekit.client.options import explained
        from macekit.schemas.query_string import of_table

        held = set(row.tables) or ARGUMENTS | set(row.arrays)
        columns = [] if row.tables or not held & set(question.model_fields) else of_table(row.name)
        types = {name: (RECORDS.get(name, "str"), "") for name in columns if name not in held}
        types |= self.of_fields(question, held, {} if row.tables else RECORDS)
        about = [f"``{row.python}``.", *explained(types, question.model_fields, self.first, row.paper)]
        self.first = self.first or types
        return written(f"{row.model}Options", "\n".join(about), types)

    def of_fields(self, model: Any, held: set[str], records: Mapping[str, str] = RECORDS) -> dict[str, tuple[str, str]]:
        """The type of each field that is no argument of its own, and what is said of it."""
        found = {}
        for name, field in model.model_fields.items():
            if name in held:
                continue
            text = records.get(name) or self.of_type(field.annotation)
            if name in records and type(None) in get_args(field.annotation):
                text += " | None"
            found[name] = (f"Required[{text}]" if field.is_required() else text, field.description or "")
        return found

    def of_type(self, kind: Any) -> str:
        """One type as Python has it."""
        match get_origin(kind):
            case origin if origin is Annotated:
                return self.of_type(get_args(kind)[0])
            case origin if origin in (Union, types.UnionType):
                parts = dict.fromkeys(self.of_type(each) for each in get_args(kind))
                return " | ".join(sorted(parts, key=lambda part: part == "None"))
            case origin if origin is Literal:
                text = f"Literal[{', '.join(map(repr, get_args(kind)))}]"
                if name := self.named.get(kind):
                    self.aliases[name] = text
                return name or text
            case origin if origin is list:
                return f"list[{self.of_type(get_args(kind)[0])}]"
            case origin if origin is dict:
                return "dict[str, Any]"
        if hasattr(kind, "model_fields"):
            self.classes.setdefault(kind.__name__, "")  # before those that it is made of
            text = written(kind.__name__, kind.__doc__ or "", self.of_fields(kind, set()))
            self.classes[kind.__name__] = text
            return str(kind.__name__)
        return "None" if kind is type(None) else str(kind.__name__)


def written(name: str, about: str, types: dict[str, tuple[str, str]]) -> str:
    """A class of keywords."""
    lines = [f'"""{about}"""\n']
    for option, (kind, text) in types.items():
        lines.append(f"{option}: {kind}")
        lines += [fill(f'"""{text}"""', 112, break_on_hyphens=False)] * bool(text)
    body = indent("\n".join(lines), "    ")
    return f"\n\nclass {name}(TypedDict, total=False):\n{body}\n"


if __name__ == "__main__":
    make()
