"""The grammar of the command line: options in full and once each, and mistakes explained in a line or two."""

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from macekit.text import closest, escape_controls, nearest, printable

PASS, FAIL, UNDECIDED = 0, 1, 3  # 2 is misuse (``parsing.MISUSE``)

STATUS = {
    "pass": PASS,
    "not contradicted": PASS,
    "fail": FAIL,
    "fail, or drift": FAIL,
    "contradicted": FAIL,
    "inconclusive": UNDECIDED,
    "not applicable": UNDECIDED,
}
"""What each decision ends with; records never prove a claim, so one that they do not contradict is all there is."""

ENDINGS = """exit status:
  0    pass: every limit holds; or nothing was limited
  1    fail: a limit is exceeded, the records contradict a claimed epsilon, or the sides differ without any model
  2    misuse, or input that cannot be used; standard error says why
  3    undecided: not enough data, and the answer says how many records are needed; or members are exposed, and no
       limit judges that; or not applicable: what was sent cannot answer the question, and the answer says why
  70   an error in mace itself
  130  interrupted
  141  the program that read the answer stopped reading"""


def status_of(answer: Mapping[str, Any]) -> int:
    """1 if anything that was judged fails, else 3 if any of it is open, else 0."""
    statuses = {STATUS[decision] for decision in _decisions(answer)}
    return FAIL if FAIL in statuses else max(statuses, default=PASS)


def _decisions(answer: Mapping[str, Any]) -> Iterator[str]:
    """Every decision that an answer states as a whole: over its limits, about its one limit, about a claim."""
    part = answer.get("result", answer)  # a report holds the answer that it is about
    for statement in (answer.get("gate"), part, part.get("verdict"), part.get("claim")):
        if statement is not None and statement.get("decision") is not None:
            yield statement["decision"]
    if part.get("differs", False):
        yield "fail"


MISUSE = 2  # the exit status of what was typed, or of input, that cannot be used


def misuse(why: str) -> int:
    """Say what cannot be used, and return the status that says so, too."""
    print(f"mace: {why}", file=sys.stderr)
    return MISUSE


class Misuse(Exception):
    """A command that cannot be carried out; the text says why, and can be printed as it is."""


def run_command(name: str, work: Callable[[], int]) -> int:
    """The exit status of a command; 2 if what was typed or read cannot be used."""
    try:
        return work()
    except Misuse as error:
        print(f"mace {name}: {error}", file=sys.stderr)
    except MemoryError:
        print(f"mace {name}: not enough memory", file=sys.stderr)
    return MISUSE


CHOICE = re.compile(r"argument (\S+): invalid choice: '(.*)' \(choose from (.*)\)", re.DOTALL)


class Once(argparse.Action):
    """An option with a value that may be given once: of two, the last one would win silently."""

    def __call__(self, parser: Any, namespace: Any, values: object, option_string: str | None = None) -> None:
        """Store the value."""
        _require_new(parser, namespace, self.dest, option_string)
        setattr(namespace, self.dest, values)


class Former(Once):
    """The name that an option had in earlier versions, whose value is the option's; ``former`` keeps what was typed."""

    def __call__(self, parser: Any, namespace: Any, values: object, option_string: str | None = None) -> None:
        """Store the value, and that it came by this name."""
        super().__call__(parser, namespace, values, option_string)
        namespace.former = option_string


class OnceEither(argparse.BooleanOptionalAction):
    """An option that is ``--name`` or ``--no-name``, and may be given once."""

    def __call__(self, parser: Any, namespace: Any, values: object, option_string: str | None = None) -> None:
        """Store true or false."""
        _require_new(parser, namespace, self.dest, option_string)
        super().__call__(parser, namespace, values, option_string)  # type: ignore[arg-type]


def _require_new(parser: argparse.ArgumentParser, namespace: argparse.Namespace, name: str, option: str | None) -> None:
    """Refuse an option that has a value already; each is None until then. Files have no option string."""
    if option is not None and getattr(namespace, name) is not None:
        names = [each.option_strings[0] for each in parser._actions if each.dest == name]
        alike = f"; {' and '.join(names)} are one option" if len(names) > 1 else ""
        parser.error(f"{option}: given twice{alike}")


def add_overwrite(group: Any, what: str) -> None:
    """Add ``--overwrite`` to a command that writes, and the name that it had."""
    group.add_argument("--overwrite", action="store_true", help=f"replace {what}")
    group.add_argument("--force", dest="overwrite", action="store_true", help=argparse.SUPPRESS)


class Parser(argparse.ArgumentParser):
    """A parser that suggests the nearest name for a mistyped one."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"formatter_class": argparse.RawDescriptionHelpFormatter, **settings}, allow_abbrev=False)
        self.register("action", None, Once)
        self.register("action", "either", OnceEither)
        self.register("action", "former", Former)
        self.elsewhere: dict[str, str] = {}
        """Options of other commands, and what to say of them."""
        self.listing: Callable[[], str] | None = None
        """Makes what stands at the end of the help, once that is asked for."""

    def format_help(self) -> str:
        """What `--help` prints."""
        if self.listing is not None:
            self.epilog = self.listing()
        return super().format_help()

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Everything known: names between options are files too, and what is then left over is misuse."""
        options, extra = super().parse_known_args(args, namespace)
        for word in extra:
            if word.startswith("-") and word != "-":
                names = [flag[2:] for flag in self._option_string_actions if flag.startswith("--")]
                name = word.split("=")[0]
                near = closest(name.lstrip("-"), names)  # dashes are alike in all of them
                hint = self.elsewhere.get(name) or (f"; did you mean --{near}?" if near else "")
                self.error(f"{printable(name)} is not an option{hint}")
        if extra and "files" not in options:
            self.error(f"{printable(extra[0])} is more than this command takes")
        if extra:
            options.files = [*options.files, *extra]
        return options, []

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and where to read more; misuse is 2."""
        choice = CHOICE.fullmatch(message)
        if choice:
            where, word, names = choice[1], choice[2], choice[3].replace("'", "").split(", ")
            message = (
                f"{where}: {printable(word)} is none of {', '.join(names)}{nearest(word, names)}"
                if where.startswith("--")
                else f"{word} is not a command{nearest(word, names)}\ncommands: {', '.join(names)}"
            )
        lines = "\n".join(escape_controls(line) for line in message.split("\n"))
        print(f"{self.prog}: {lines}\nSee {self.prog} --help.", file=sys.stderr)
        raise SystemExit(MISUSE)


class Later:
    """The parser of a command before the command is named: ``fill`` adds its options then.

    There are dozens of commands, whose parsers take longer to make than a line to parse; and what a command needs to
    know about its question is imported only for that command.
    """

    def __init__(self, *, fill: Callable[[Parser], None], **settings: Any) -> None:
        self._fill = fill
        self._settings = settings

    def parse_known_args(
        self, args: Sequence[str], namespace: argparse.Namespace | None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Make the parser, and have it parse."""
        return self.parser().parse_known_args(args, namespace)

    def parser(self) -> Parser:
        """The parser with all its options."""
        parser = Parser(**self._settings)
        self._fill(parser)
        return parser


def parser_of(**settings: Any) -> Parser | Later:
    """The parser of a command, made when the command is named if ``fill`` says how."""
    return Later(**settings) if "fill" in settings else Parser(**settings)
