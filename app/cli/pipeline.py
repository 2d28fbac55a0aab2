"""What a pipeline reads of a command that judges: JUnit, SARIF, OpenMetrics and a summary, beside the answer."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli.parsing import Misuse, Parser
from macekit.catalogue import BY_NAME
from macekit.operation import Operation
from macekit.text import printable

if TYPE_CHECKING:
    from app.cli.outputs import Target

    Writer = Callable[[dict[str, Any]], None]

NAMES = ("gate", "model", "synthetic", "text", "shadows")
JUDGES = tuple(BY_NAME[name] for name in NAMES if name in BY_NAME)
"""Questions whose limits become test cases, alerts and gauges; some are of a wing."""

FLAGS = ("junit", "sarif", "metrics", "summary")


def add_files(parser: Parser) -> None:
    """The options for files that a pipeline reads."""
    group = parser.add_argument_group("files for a pipeline; an existing file is replaced")
    group.add_argument("--junit", metavar="FILE", help="JUnit XML (.xml): a test case for each limit, or file")
    group.add_argument(
        "--sarif",
        metavar="FILE",
        help="SARIF 2.1.0 (.sarif): a result for each limit that is not kept, where code scanning reads it",
    )
    group.add_argument("--metrics", metavar="FILE", help="OpenMetrics text (.txt), as GitLab's metrics report")
    group.add_argument(
        "--summary",
        metavar="FILE",
        help="Markdown (.md), appended to the file, and to the one that $GITHUB_STEP_SUMMARY names",
    )


def writer_of(question: Operation, arguments: argparse.Namespace) -> Writer:
    """What writes all of them, the places checked before any work is done."""
    wish = next((flag for flag in FLAGS if getattr(arguments, flag) is not None), None)
    writers = _writers(question, arguments)

    def write(answer: dict[str, Any]) -> None:
        if _is_judged(answer):
            for each in writers:
                each(answer)
        elif wish is not None:
            raise Misuse(
                f"--{wish}: nothing was limited, so that there is nothing to tell; give a limit, such as "
                "--max-advantage 0.1"
            )

    return write


def annotate(question: Operation, answer: dict[str, Any]) -> None:
    """A line that GitHub Actions shows beside the job: on standard error, so that --json stays JSON."""
    from macekit.reports.pipeline import annotation

    if os.environ.get("GITHUB_ACTIONS") == "true" and _is_judged(answer):
        print(annotation(answer, question.command), file=sys.stderr)


def _is_judged(answer: dict[str, Any]) -> bool:
    return bool(answer.get("files") or answer.get("limits"))


def _writers(question: Operation, arguments: argparse.Namespace) -> list[Writer]:
    from app.cli.outputs import target_of

    command = question.command
    writers: list[Writer] = []
    if arguments.junit is not None or arguments.metrics is not None:
        from macekit.reports.pipeline import junit, openmetrics

        files = ((arguments.junit, ".xml", junit), (arguments.metrics, ".txt", openmetrics))
        writers += [
            partial(_replace, target_of(name, (suffix,), overwrite=True), partial(convert, command=command))
            for name, suffix, convert in files
            if name is not None
        ]
    if arguments.sarif is not None:
        from macekit.reports.pipeline import sarif

        target = target_of(arguments.sarif, (".sarif",), overwrite=True)
        writers.append(partial(_replace, target, partial(sarif, places=_places(question, arguments))))
    summaries = [] if arguments.summary is None else [target_of(arguments.summary, (".md",), overwrite=True).path]
    step = os.environ.get("GITHUB_STEP_SUMMARY")
    if step and Path(os.path.realpath(step)) not in summaries:
        summaries.append(Path(step))
    return [*writers, *(partial(_append, place, command) for place in summaries)]


def _places(question: Operation, arguments: argparse.Namespace) -> list[str]:
    """The files that are read, as URIs: relative to this folder where they lie in it, as a checkout is shown.

    Of a release and its tables the release comes first: it is what is at fault, and one place alone may be shown.
    """
    from urllib.parse import quote

    from macekit.sources.shards import ADDRESS, safe_name

    tables = sorted(question.tables, key=lambda name: name != "synthetic")
    options = [getattr(arguments, name, None) for name in (*tables, "members", "nonmembers")]
    files = [each for each in options if each] or getattr(arguments, "files", [])
    if not files or "-" in files:
        raise Misuse("--sarif: a result has to name a file, and standard input is none")
    places = []
    for name in files:
        path = Path(os.path.abspath(name))
        inside = path.is_relative_to(Path.cwd())
        own = quote(path.relative_to(Path.cwd()).as_posix()) if inside else path.as_uri()
        places.append(safe_name(name) if ADDRESS.fullmatch(name) else own)
    return places


def _replace(target: Target, convert: Callable[[dict[str, Any]], bytes], answer: dict[str, Any]) -> None:
    target.write(convert(answer))


def _append(place: Path, command: str, answer: dict[str, Any]) -> None:
    from app.cli.outputs import why_not
    from macekit.reports.pipeline import summary

    try:
        with place.open("ab") as file:
            file.write(summary(answer, command))
    except (OSError, ValueError) as error:
        raise Misuse(f"{printable(str(place))}: cannot be written: {why_not(error)}") from None
