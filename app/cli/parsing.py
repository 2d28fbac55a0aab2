"""The command line's grammar: options are spelled out in full, and what is wrong is said in a line or two."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from macekit.text import nearest, plain, shown

MISUSE = 2
"""The exit status of what was typed, or of input, that cannot be used."""

CHOICE = re.compile(r"argument \S+: invalid choice: '(.*)' \(choose from (.*)\)", re.DOTALL)


class Once(argparse.Action):
    """An option with a value that may be given once: of two, the last one would win unseen."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Keep the value."""
        if option_string is not None and getattr(namespace, self.dest) is not None:
            parser.error(f"{option_string}: given twice")
        setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
    """A parser that describes itself only when it is used, and knows what was meant.

    ``fill`` adds the options: what a command needs to know about its question is imported when the command is named.
    """

    def __init__(self, *, fill: Callable[[Parser], None] | None = None, **described: Any) -> None:
        super().__init__(
            **{"formatter_class": argparse.RawDescriptionHelpFormatter, **described}, allow_abbrev=False
        )
        self._fill = fill

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Everything known: names between options are files too, and what is then left over is misuse."""
        if self._fill is not None:
            fill, self._fill = self._fill, None
            fill(self)
        found, extra = super().parse_known_args(args, namespace)
        for word in extra:
            if word.startswith("-") and word != "-":
                known = [name for name in self._option_string_actions if name.startswith("--")]
                name = word.split("=")[0]
                self.error(f"{shown(name)} is not an option{nearest(name, known)}")
        if extra and "files" not in found:
            self.error(f"{shown(extra[0])} is more than this command takes")
        if extra:
            found.files = [*found.files, *extra]
        return found, []

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and where to read more; misuse is 2."""
        wrong = CHOICE.fullmatch(message)
        if wrong:
            names = wrong[2].replace("'", "").split(", ")
            message = f"{wrong[1]} is not a command{nearest(wrong[1], names)}\ncommands: {', '.join(names)}"
        lines = "\n".join(plain(line) for line in message.split("\n"))
        print(f"{self.prog}: {lines}\nSee {self.prog} --help.", file=sys.stderr)
        raise SystemExit(MISUSE)
