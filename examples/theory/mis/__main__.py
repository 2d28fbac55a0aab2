"""Everything beside this file that is made: the figures, and the tables in README.md.

    OMP_NUM_THREADS=1 .venv/bin/python -m examples.theory.mis [NAME...]

Without names all are made anew.
"""

from __future__ import annotations

import sys
from pathlib import Path

from examples.theory.drawing import write_svg
from examples.theory.mis import digits, figure1, figure2, table1
from examples.theory.readme import blocks, write_blocks
from macekit.reports.charts.frame import Spec

HERE = Path(__file__).parent
README = HERE / "README.md"


def text_and_figure(name: str) -> tuple[str, Spec | list[Spec]]:
    """One example at full size: what it prints and what it draws."""
    if name == "table1":
        return table1.markdown(), table1.figure()
    if name == "figure1":
        networks = figure1.measured(figure1.FULL, figure1.TRAININGS)
        return figure1.markdown(networks), figure1.figure(networks)
    if name == "figure2":
        learners = figure2.measured(figure2.FULL)
        return figure2.markdown(learners), figure2.figure(learners)
    rows = digits.measured(digits.FULL)
    return digits.markdown(rows), digits.figure(rows)


def main() -> None:
    """Compute (all: some minutes), and write."""
    for name in sys.argv[1:] or blocks(README):
        text, drawing = text_and_figure(name)
        write_blocks(README, {name: text})
        write_svg(drawing, HERE / f"{name}.svg")


if __name__ == "__main__":
    main()
