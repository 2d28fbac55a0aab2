"""`mace demo`: a first answer and a first report, on example scores that are made from a seed."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli.parsing import MISUSE, Misuse, Parser, add_overwrite
from app.cli.terminal import screen_width, write_line
from macekit.text import escape_controls

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SEED = 20_240
SIDE = 400
SHIFT = 0.5067
"""Members N(SHIFT, 1), nonmembers N(0, 1): the best advantage is the total variation 2 Phi(SHIFT / 2) - 1 = 0.2000."""

GROUPS = {"18-39": 0.4, "40-64": 0.4, "65 and over": 0.2}
"""Labels and how often each is drawn, independent of membership and score."""


def example_table() -> bytes:
    """Scores, membership and group of each record as CSV, with every digit."""
    members, nonmembers, groups = _draw()
    scores = [*members.tolist(), *nonmembers.tolist()]
    rows = (
        f"{score!r},{int(place < SIDE)},{group}\n"
        for place, (score, group) in enumerate(zip(scores, groups.tolist(), strict=True))
    )
    return ("score,member,group\n" + "".join(rows)).encode()


def _draw() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.str_]]:
    import numpy as np

    generator = np.random.default_rng(SEED)
    members, nonmembers = generator.normal(SHIFT, 1.0, SIDE), generator.normal(0.0, 1.0, SIDE)
    return members, nonmembers, generator.choice(list(GROUPS), 2 * SIDE, p=list(GROUPS.values()))


FOLDER = "mace-demo"
TABLE = "scores.csv"
ANSWER = "answer.json"
REPORT = "report.html"
LIMIT = 0.1


def add(commands: Any) -> None:
    """Describe the command."""
    commands.add_parser(
        "demo",
        help="a first answer and a first report, on built-in example scores",
        usage="mace demo [OPTIONS]",
        description=f"A first answer and a first report, on built-in example scores.\n\n"
        f"Writes a folder with the scores ({TABLE}), the answer ({ANSWER}) and the report ({REPORT}).",
        fill=_fill,
    )


def run(arguments: argparse.Namespace) -> int:
    """Print a first answer, write it with its scores and its report, and print where they are."""
    import msgspec

    from estimators.statement import at_least, at_most, percent
    from macekit.call import CSV, Body, Call
    from macekit.operations import perform
    from macekit.reports.text import text

    output = FOLDER if arguments.output is None else arguments.output
    table = example_table()
    call = Call("report", CSV, query=(("group", "group"),))
    reply = perform(call, Body.of(table), {"max_advantage": LIMIT})
    answer = msgspec.json.decode(reply.body)
    advantage = answer["result"]["advantage"]
    write_line(
        f"Advantage: {advantage['estimate']:.3f}, and with {percent(advantage['confidence'])} confidence between "
        f"{at_least(advantage['lower'])} and {at_most(advantage['upper'])}\n"
    )
    write_line(f"{SIDE} member and {SIDE} nonmember scores whose true advantage is 0.200; the rest of their answer:\n")
    write_line(text("report", answer, screen_width()))
    try:
        _save(output, table, bytes(reply.body), answer, overwrite=arguments.overwrite)
    except Misuse as error:
        print(f"mace demo: {error}\nThe report was not written; -o names another folder.", file=sys.stderr)
        return MISUSE
    report = Path(output).resolve() / REPORT
    scores = str(Path(output) / TABLE)
    scores = f"./{scores}" if scores.startswith("-") else scores  # a name that is not read as an option
    again = ["mace", "report", scores, "--group", "group", "--max-advantage", str(LIMIT)]
    where = f"Report: {escape_controls(str(report))}\n        {report.as_uri()}"
    write_line(f"\n{where}\nAgain:  {escape_controls(shlex.join(again))} -o report.html")
    return 0


def _fill(parser: Parser) -> None:
    parser.set_defaults(run=run)
    parser.add_argument("-o", "--output", metavar="FOLDER", help=f"folder to write (default {FOLDER})")
    add_overwrite(parser, "files in it that have other content")


def _save(output: str, table: bytes, body: bytes, answer: dict[str, Any], *, overwrite: bool) -> None:
    """Write the three files into a folder; files that are there with the same content are left alone."""
    from app.cli.outputs import folder_of, target_of
    from macekit.call import HTML
    from macekit.reports.model import Context
    from macekit.reports.rendering import render

    folder = folder_of(output)
    # without the time, so that the same version writes the same bytes again
    report = render("report", answer, HTML, Context(source=TABLE))
    files = {TABLE: table, ANSWER: body, REPORT: report}
    stale = {name: data for name, data in files.items() if not _is_same(folder / name, data)}
    targets = {name: target_of(str(folder / name), (Path(name).suffix,), overwrite) for name in stale}
    for name, target in targets.items():
        target.write(stale[name])


def _is_same(path: Path, data: bytes) -> bool:
    try:
        return path.is_file() and path.read_bytes() == data
    except OSError:
        return False
