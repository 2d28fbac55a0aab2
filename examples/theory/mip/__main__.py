"""Everything beside this file that is made: the figures, and the tables in README.md.

.venv/bin/python -m examples.theory.mip
"""

from __future__ import annotations

from pathlib import Path

from examples.theory.drawing import write_svg
from examples.theory.mip import figure1, proposition11, section52
from examples.theory.readme import write_blocks

HERE = Path(__file__).parent
README = HERE / "README.md"


def main() -> None:
    """Compute all sizes (some minutes), and write."""
    results = [section52.measured(size) for size in section52.FULL.sizes]
    tables = {
        "figure1": figure1.markdown(),
        "proposition11": proposition11.markdown(),
        "section52": section52.markdown(results, section52.FULL),
    }
    write_blocks(README, tables)
    write_svg(figure1.figure(), HERE / "figure1.svg")
    write_svg(proposition11.figure(), HERE / "proposition11.svg")
    write_svg([section52.figure(each) for each in results], HERE / "section52.svg")


if __name__ == "__main__":
    main()
