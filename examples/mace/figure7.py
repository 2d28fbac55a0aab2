"""Figure 7: does the advantage of Eq. 2 rise with the number of synthetic records?

OMP_NUM_THREADS=1 .venv/bin/python -m examples.mace.figure7 --quick
"""

from __future__ import annotations

from estimators import paired_difference
from examples.mace.claims import Claim, Figure, Row, intervals_of, markdown, together
from examples.mace.run import run
from examples.mace.study import Study, of_closeness


def measured(study: Study) -> Figure:
    """Each table is a part of the next one. The weakest form of the claim is judged: the last against the first."""
    rows = [
        Row.of(f"{size} records", of_closeness(study, seed, size), seed, models=study.models)
        for size in study.table_sizes
        for seed in study.seeds
    ]
    first, last = min(study.table_sizes), max(study.table_sizes)
    apart = [
        paired_difference(
            of_closeness(study, seed, last),
            of_closeness(study, seed, first),
            confidence=together(study.models),
            seed=seed,
        )
        for seed in study.seeds
    ]
    claim = Claim(
        "7",
        "the more synthetic records there are, the higher the advantage of who has only them",
        f"advantage with {last} records less that with {first}, same members and nonmembers",
        intervals_of(apart),
    )
    return Figure({"figure7": markdown(rows)}, (claim,))


if __name__ == "__main__":
    run(__doc__, measured)
