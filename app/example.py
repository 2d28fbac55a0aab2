"""Example scores with known truth, made from a seed: the same bytes wherever the package is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SEED = 20_240
SIDE = 400
SHIFT = 0.5067
"""Members N(SHIFT, 1), nonmembers N(0, 1): the best advantage is the total variation 2 Phi(SHIFT / 2) - 1 = 0.2000."""

GROUPS = {"18-39": 0.4, "40-64": 0.4, "65 and over": 0.2}
"""Labels and how often each is drawn, whoever is a member and whatever the score."""


def example_table() -> bytes:
    """Scores, membership and group of each record as CSV, with every digit."""
    members, nonmembers, groups = _drawn()
    scores = [*members.tolist(), *nonmembers.tolist()]
    rows = (
        f"{score!r},{int(place < SIDE)},{group}\n"
        for place, (score, group) in enumerate(zip(scores, groups.tolist(), strict=True))
    )
    return ("score,member,group\n" + "".join(rows)).encode()


def _drawn() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.str_]]:
    generator = np.random.default_rng(SEED)
    members, nonmembers = generator.normal(SHIFT, 1.0, SIDE), generator.normal(0.0, 1.0, SIDE)
    return members, nonmembers, generator.choice(list(GROUPS), 2 * SIDE, p=list(GROUPS.values()))
