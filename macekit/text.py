"""What came from outside - file names, columns, labels - made fit to be printed."""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, signature
from math import isfinite
from typing import Any, TypeVar

NUMBER = re.compile(r"(\d+(?:\.\d+)?)")

MOST = 60  # characters of a name that are shown


def printable(text: str, most: int = MOST) -> str:
    """A name on one line, without anything a terminal would obey, and not longer than a name should be."""
    line = escape_controls(text[: most + 1])  # what is spelled out grows; what is shown does not
    return line if len(line) <= most else line[: most - 1] + "…"


def escape_controls(text: str) -> str:
    """Text with controls, direction marks and broken characters spelled out: what is printed is what is there."""
    if text.isprintable():  # nearly always, and soon told
        return text
    return "".join(_escape(letter) if unicodedata.category(letter) in CONTROLS else letter for letter in text)


def escape_controls_in_json(text: str) -> str:
    """JSON that says the same and holds nothing a terminal would obey; such letters stand in its strings only."""
    return UNSEEN.sub(lambda letter: f"\\u{ord(letter[0]):04x}", text)


UNSEEN = re.compile("[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")

CONTROLS = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode's categories of characters that do something, or nothing, instead of being seen."""


FORMER = {"threshold": "max_advantage"}
"""What some options were called, where both names are among those of a question; one who types it means the other."""


def current_names(names: Iterable[str]) -> list[str]:
    """Several names in order, without those that are former names of others of them."""
    every = set(names)
    return sorted(name for name in every if FORMER.get(name) not in every)


def closest(name: str, names: Iterable[str]) -> str | None:
    """The one of several names that is most like this one, or was called so; None if none is like it."""
    from estimators.errors import nearest_name  # a mistyped name alone is worth importing the library

    there = set(names)
    if FORMER.get(name) in there:
        return FORMER[name]
    near = nearest_name(name, sorted(there))
    return FORMER[near] if near in FORMER and FORMER[near] in there else near


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """The nearest of several names as a question, or all of them."""
    every = list(names)
    near = closest(name, every)
    return f"did you mean {near!r}?" if near else f"known are {', '.join(current_names(every))}"


Function = TypeVar("Function", bound=Callable[..., Any])
POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
EXAMPLES = {"max_advantage": "max_advantage=0.1", "prior": "prior=0.1"}
"""What a number behind the records may be meant for."""


def names_the_nearest(function: Function) -> Function:
    """A function, or a class, whose error about a keyword that it does not have names the nearest that it has."""
    work: Callable[..., Any] = function.__init__ if isinstance(function, type) else function  # type: ignore[misc]
    names = [
        each.name
        for each in signature(function).parameters.values()
        if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
    ]

    by_position = [name for name, each in signature(work).parameters.items() if each.kind in POSITIONAL]

    @wraps(work)
    def wrapper(*arguments: Any, **keywords: Any) -> Any:
        require_keywords(function.__name__, keywords, names)
        require_by_name(function.__name__, by_position, len(arguments), names)
        return work(*arguments, **keywords)

    if isinstance(function, type):
        function.__init__ = wrapper  # type: ignore[misc]
        return function
    return wrapper  # type: ignore[return-value]


def require_keywords(function: str, names: Iterable[str], keywords: Collection[str]) -> None:
    """Refuse what is no keyword of a function, as Python does, and name the nearest."""
    for name in names:
        if name not in keywords:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}; {did_you_mean(name, keywords)}")


def require_by_name(function: str, by_position: Sequence[str], number: int, keywords: Collection[str]) -> None:
    """Refuse more arguments than have a place, as Python does, and say how the others are given."""
    if number <= len(by_position):
        return
    examples = [example for name, example in EXAMPLES.items() if name in keywords]
    such_as = f", such as {' or '.join(examples)}" if examples else ""
    first = [name for name in by_position if name != "self"]
    raise TypeError(
        f"{function}() takes {' and '.join(first) or 'nothing'} by position, and everything else by its name{such_as}"
    )


def nearest_first(name: str, names: Iterable[str], most: int = 12) -> str:
    """Names in quotes, those most like this one first, and how many more there are; what is mistyped is among them."""
    every = list(dict.fromkeys(names))
    near = get_close_matches(name, every, n=most)
    first = [*near, *(each for each in every if each not in near)]
    in_quotes = ", ".join(f"'{printable(each)}'" for each in first[:most])
    return f"{in_quotes} and {len(first) - most:,} more" if len(first) > most else in_quotes


def nearest(name: str, names: Iterable[str]) -> str:
    """``; did you mean X?``, or nothing if nothing is near."""
    near = closest(name, names)
    return f"; did you mean {near}?" if near else ""


def _escape(letter: str) -> str:
    return letter.encode("unicode_escape").decode()


def in_order(label: object) -> tuple[object, ...]:
    """What labels are sorted by: numbers, also those that came as text; else names, the numbers in them as such."""
    try:
        number = float(str(label))
    except ValueError:
        number = float("nan")
    if isfinite(number):
        return (0, number, str(label))
    parts = NUMBER.split(str(label))  # text and numbers by turns
    return (1, *(float(part) if at % 2 else part for at, part in enumerate(parts)))


def label_name(label: object) -> str:
    """A label as a name: 900 for 900.0."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
