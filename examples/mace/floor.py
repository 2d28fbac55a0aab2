"""What W_N is on average at the paper's sizes where nothing leaks: the floor that its figures stand on.

.venv/bin/python -m examples.mace.floor
"""

from __future__ import annotations

import numpy as np

from estimators import Scores
from estimators.paper import EqualWidth, algorithm_1
from examples.mace.claims import BINS
from examples.theory.table import table

SIZES = {
    "10% of MNIST": 7000,
    "10% of CIFAR-10": 6000,
    "10% of skin-cancer MNIST": 1000,
    "10% of 6,900 zeros and 700 sixes": 760,
}


def floor(records: int, dimension: int, seed: int = 0) -> float:
    """Of uniform scores, as many of nonmembers as of members; 100 slices of each axis."""
    rng = np.random.default_rng(seed)
    shape = (records, dimension) if dimension > 1 else records
    scores = Scores.of(rng.random(shape), rng.random(shape))
    return algorithm_1(scores, 0.5, reading=EqualWidth(BINS)).null_level


def markdown() -> str:
    """A line for each of the paper's numbers of members."""
    head = ("members, as many nonmembers", "W_N without a leak, one number", "W_N without a leak, two numbers")
    return table(
        head,
        [
            (f"{records:,} ({name})", f"{floor(records, 1):.3f}", f"{floor(records, 2):.3f}")
            for name, records in SIZES.items()
        ],
    )


if __name__ == "__main__":
    print(markdown())
