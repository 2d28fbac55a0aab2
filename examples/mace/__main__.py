"""All figures, and the pages beside this file: README.md of the digits, mnist.md of MNIST's.

    OMP_NUM_THREADS=1 .venv/bin/python -m examples.mace [FIGURE...] [--quick] [--data mnist] [--write]

Without names all are made. ``--write`` makes those of the page and puts their tables into it, with the size that they
were made with, and draws them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from examples.mace import drawing, figure1, figure2, figure3, figure4, figure5, figure7, figure8, floor
from examples.mace.claims import Claim, Figure, claims_table
from examples.mace.run import arguments, study_of
from examples.mace.study import Study
from examples.theory.readme import write_blocks

HERE = Path(__file__).parent
PAGES = {"digits": HERE / "README.md", "mnist": HERE / "mnist.md"}

FIGURES: dict[str, Callable[[Study], Figure]] = {
    "1": figure1.measured,
    "2": figure2.measured,
    "3": figure3.measured,
    "4": figure4.measured,
    "5": figure5.measured,  # and 6, of the same models
    "7": figure7.measured,
    "8": figure8.measured,
}


ON_PAGE = {"digits": tuple(FIGURES), "mnist": ("1", "7")}


def main() -> None:
    """Train, print, and write if asked."""
    parser = arguments(__doc__)
    parser.add_argument("figures", nargs="*", help=f"of {', '.join(FIGURES)}; all if none is named")
    parser.add_argument("--write", action="store_true", help="put the tables of its figures into the page")
    options = parser.parse_args()
    unknown = set(options.figures) - set(FIGURES)
    if unknown or (options.write and options.figures):
        parser.error(f"figures: {', '.join(unknown)}" if unknown else "--write makes those of the page, name none")
    if options.write and options.data not in PAGES:
        parser.error(f"--write: there is no page of {options.data}")
    study = study_of(options)
    print(study, flush=True)
    tables: dict[str, str] = {"size": str(study), "floor": floor.markdown()}
    claims: list[Claim] = []
    for name in options.figures or (ON_PAGE[options.data] if options.write else FIGURES):
        figure = FIGURES[name](study)
        tables |= figure.tables
        claims += figure.claims
        print("", *figure.tables.values(), claims_table(figure.claims), sep="\n\n", flush=True)
    if options.write:
        write_blocks(PAGES[options.data], {**tables, "claims": claims_table(claims)})
        drawing.main()


if __name__ == "__main__":
    main()
