"""What the functions take: records in every form that Python has them; ``keywords`` has the options of each.

``macekit/client/keywords.py`` is made of the schemas by scripts/keywords.py, when the package is built or installed.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from inspect import cleandoc
from textwrap import fill, indent
from types import ModuleType
from typing import Any, Protocol, TypeAlias


class SupportsDict(Protocol):
    """What can be written down as counts: ``estimators.Counts``."""

    def to_dict(self) -> dict[str, Any]:
        """The counts as plain values."""


Values: TypeAlias = Any
"""One value a record: a list, a NumPy array, a column of pandas, Polars or Arrow, a tensor; rows for vectors."""

Data: TypeAlias = Any
"""``Values`` of members; or a table of both sides (a frame, an Arrow table, a dict of columns); or a file, several, a
folder, a pattern, an address in a bucket, or anything that gives Arrow batches."""

LabelValues: TypeAlias = Values | Mapping[str, Values]
CountsLike: TypeAlias = Mapping[str, Any] | SupportsDict


PLAIN = (str, float, int, list)
SAME = "As for ``{}``."
NAMES = "name of the table's column, or names of several"
USUAL = ("confidence", "prior")  # options that mean the same, whatever they are of


def explained(
    types: Mapping[str, tuple[str, str]], fields: Mapping[str, Any], first: Mapping[str, tuple[str, str]], theory: bool
) -> Iterator[str]:
    """What a docstring says of each option: that of its field; of those the first question has, that it has them."""
    same = SAME.format("macekit.estimate" if theory else "estimate")
    for name, (kind, text) in types.items():
        if first.get(name, ("", " "))[1] == text:
            yield f"{name}: {same}"
            continue
        field = fields.get(name)
        about = text or (NAMES if field is None else field.annotation.__doc__.rstrip("."))
        about = f"{same[:-1]}: {about}" if name in USUAL and first else about[:1].upper() + about[1:]
        forms = "; or a dict of ``members`` and ``nonmembers``" * ("LabelValues" in kind)
        default = getattr(field, "default", None)
        usual = f" ``{default!r}`` by default." if default != [] and isinstance(default, PLAIN) else ""
        yield fill(f"{name}: {about}{forms}.{usual}", 104, subsequent_indent="    ")


def explain(method: Any, keywords: ModuleType) -> Sequence[str]:
    """The options of a method, each of which its docstring then explains; none of what takes no options."""
    named = re.fullmatch(r"Unpack\[keywords\.(\w+)\]", getattr(method, "__annotations__", {}).get("options", ""))
    if named is None:
        return ()
    options = getattr(keywords, named[1])
    if method.__doc__ and options.__doc__:  # Python may have left docstrings out
        about, mark, rest = cleandoc(method.__doc__).partition("\n\nReturns:")
        known = ", ".join(re.findall(r"^ {4}(\w[\w, ]*):", about, re.MULTILINE)).split(", ")
        entries = [each.partition(":") for each in re.split(r"\n(?=\S)", cleandoc(options.__doc__))[1:]]
        more: dict[str, list[str]] = {}
        for name, _, text in entries:
            if name not in known:
                more.setdefault(text, []).append(name)
        args = ["" if "\nArgs:\n" in about else "\n\nArgs:"]
        for text, names in sorted(more.items(), key=lambda each: len(each[1]) > 1):
            lines = (", ".join(names[at : at + 8]) for at in range(0, len(names), 8))
            args += [indent(f"{line}:{text}", "    ") for line in lines]
        method.__doc__ = f"{about}{chr(10).join(args) if more else ''}{mark}{rest}"
    return [*options.__annotations__]
