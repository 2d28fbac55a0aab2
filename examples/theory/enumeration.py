"""Every bound against the truth, on cases so small that all training sets and all adversaries can be gone through.

    .venv/bin/python -m examples.theory.enumeration

All numbers are upper ends: of an advantage, an eta, a true positive rate, an insecurity Delta, a security, an epsilon.
The truth is found by examples/theory/truth, which knows nothing of the library. "refuted" marks what a paper prints
and the case disproves.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from examples.theory.readme import write_blocks
from examples.theory.rows import dp, mip, mis, pmp
from examples.theory.rows.row import HEAD, Row
from examples.theory.table import table

README = Path(__file__).parent / "README.md"
FAMILIES: dict[str, Callable[[], Iterator[Row]]] = {"dp": dp.rows, "mip": mip.rows, "mis": mis.rows, "pmp": pmp.rows}


@cache
def rows_of(family: str) -> tuple[Row, ...]:
    """All cases of one family, computed once."""
    return tuple(FAMILIES[family]())


def tables() -> dict[str, str]:
    """A table for each family of bounds."""
    return {name: table(HEAD, (row.cells() for row in rows_of(name))) for name in FAMILIES}


def main() -> None:
    """Print them all; write them, if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the tables into README.md")
    texts = tables()
    if parser.parse_args().write:
        write_blocks(README, texts)
    print("\n\n".join(f"### {name}\n\n{lines}" for name, lines in texts.items()))


if __name__ == "__main__":
    main()
