"""Everything beside this file that is made: the figures, and the tables in README.md.

    .venv/bin/python -m examples.theory.mip

Text stays as it is; a table stands between <!-- its name --> and <!-- end -->.
"""

from __future__ import annotations

import re
from pathlib import Path

from examples.theory.drawing import write_svg
from examples.theory.mip import figure1, proposition11, section52

HERE = Path(__file__).parent
README = HERE / "README.md"
BLOCK = re.compile(
    r"(?<=<!-- )(?P<name>(?!end)\w+)(?P<open> -->\n\n)(?P<table>.*?)(?=\n\n<!-- end -->)", re.DOTALL
)


def blocks(text: str) -> dict[str, str]:
    """What stands in it, by name."""
    return {found["name"]: found["table"] for found in BLOCK.finditer(text)}


def main() -> None:
    """Compute all sizes (some minutes), and write."""
    found = [section52.measured(size) for size in section52.FULL.sizes]
    tables = {
        "figure1": figure1.told(),
        "proposition11": proposition11.told(),
        "section52": section52.told(found, section52.FULL),
    }
    text = BLOCK.sub(
        lambda each: each["name"] + each["open"] + tables[each["name"]], README.read_text("utf-8")
    )
    README.write_text(text, encoding="utf-8")
    write_svg(figure1.figure(), HERE / "figure1.svg")
    write_svg(proposition11.figure(), HERE / "proposition11.svg")
    write_svg([section52.figure(each) for each in found], HERE / "section52.svg")


if __name__ == "__main__":
    main()
