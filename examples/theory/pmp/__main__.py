"""Everything beside this file that is made: the figures, and the tables in README.md.

OMP_NUM_THREADS=1 .venv/bin/python -m examples.theory.pmp
"""

from __future__ import annotations

from pathlib import Path

from examples.theory.pmp import figure1, figure2, figure3, figure4, figure5, figure6, stated
from examples.theory.readme import write_blocks

HERE = Path(__file__).parent
FIGURES = {
    "figure1": figure1.figure,
    "figure2": figure2.figure,
    "figure3": figure3.figure,
    "figure4": figure4.figure,
    "figure5": figure5.figure,
    "figure6": figure6.figure,
}


def main() -> None:
    """Compute all of it (about three minutes on one core), and write."""
    tables = {"stated": stated.markdown(quick=False)}
    for name, figure in FIGURES.items():
        sweep = figure(False)
        tables[name] = sweep.table()
        sweep.draw(str(HERE / f"{name}.svg"))
    write_blocks(HERE / "README.md", tables)


if __name__ == "__main__":
    main()
