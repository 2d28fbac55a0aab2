"""`mace completion SHELL`: a script by which the Tab key completes commands, options, their names and files.

It holds all it offers, so that a Tab starts no process of ours. Of libraries, shtab, which makes such scripts, has a
licence that we do not ship, and argcomplete starts the command at every Tab.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from app.cli.parsing import Later, Parser
from app.cli.terminal import write_line

EPILOG = """examples:
  mace completion bash > ~/.local/share/bash-completion/completions/mace
  echo 'source <(mace completion zsh)' >> ~/.zshrc
  mace completion fish > ~/.config/fish/completions/mace.fish"""


@dataclass(frozen=True, slots=True)
class Command:
    """What can follow a command: words, and options with the names that each may have."""

    words: str
    """The command itself, `theory dp`; empty for `mace`."""
    about: str = ""
    following: list[str] = field(default_factory=list)
    options: dict[str, list[str]] = field(default_factory=dict)


def add(commands: Any) -> None:
    """Describe the command."""
    command = commands.add_parser(
        "completion",
        help="print the script that completes commands and options by Tab, of a shell",
        usage=f"mace completion {'|'.join(SHELLS)}",
        epilog=EPILOG,
    )
    command.add_argument("shell", choices=SHELLS, help="the shell that is to read the script")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    from app.cli import parser

    write_line(SHELLS[options.shell](list(_commands(parser(), ""))))
    return 0


def _commands(parser: Parser, words: str) -> Iterator[Command]:
    """A command and all below it, whose parsers are made."""
    from app.cli.options import options_of

    asks = parser.get_default("run")
    question = asks.args[0].name if getattr(asks, "args", None) else None
    names = {each.key: each.schema.get("enum") for each in options_of(question)} if question else {}
    command = Command(words, (parser.description or "").partition("\n")[0])
    yield command
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                command.following.append(name)
                yield from _commands(below.parser() if isinstance(below, Later) else below, f"{words} {name}".strip())
        elif action.help != argparse.SUPPRESS:
            values = [str(each) for each in names.get(action.dest) or action.choices or () if each is not None]
            long = [flag for flag in action.option_strings if flag.startswith("--")]
            command.options.update(dict.fromkeys(long, values))
            if not action.option_strings:
                command.following.extend(values)


BASH = """_mace() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} command=${{COMP_WORDS[1]}} offered=
    local before=${{COMP_WORDS[COMP_CWORD-1]}}
    [[ $COMP_CWORD -gt 2 && $command == theory ]] && command="theory ${{COMP_WORDS[2]}}"
    [[ $COMP_CWORD -lt 2 ]] && command=
    case "$command" in
{commands}
    esac
    case "$command $before" in
{names}
    esac
    COMPREPLY=($(compgen -W "$offered" -- "$current"))
}}
complete -o default -F _mace mace
"""
"""Where nothing is offered, as behind `-o`, `default` completes files."""


def _bash(commands: list[Command]) -> str:
    def case(words: str, word_list: list[str]) -> str:
        return f"        {shlex.quote(words)}) offered={shlex.quote(' '.join(word_list))} ;;"

    return BASH.format(
        commands="\n".join(case(each.words, [*each.following, *each.options]) for each in commands),
        names="\n".join(
            case(f"{each.words} {flag}", values) for each in commands for flag, values in each.options.items() if values
        ),
    )


def _zsh(commands: list[Command]) -> str:
    return f"autoload -U +X compinit && compinit -u\nautoload -U +X bashcompinit && bashcompinit\n{_bash(commands)}"


def _fish(commands: list[Command]) -> str:
    lines = []
    of_words = {each.words: each for each in commands}
    for each in commands:
        condition = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in each.words.split())
        here = condition or "__fish_use_subcommand"
        if each.following and condition:
            here = f"{condition}; and not __fish_seen_subcommand_from {' '.join(each.following)}"
        for name in each.following:
            below = of_words.get(f"{each.words} {name}".strip())
            about = f" -d {shlex.quote(below.about)}" if below and below.about else ""
            lines.append(f"complete -c mace -n {shlex.quote(here)} -f -a {name}{about}")
        for flag, values in each.options.items():
            names = f" -x -a {shlex.quote(' '.join(values))}" if values else ""
            lines.append(f"complete -c mace -n {shlex.quote(condition or here)} -l {flag.removeprefix('--')}{names}")
    return "\n".join(lines)


SHELLS: dict[str, Callable[[list[Command]], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
