"""What a promise of differential privacy allows."""

from __future__ import annotations

from app.report.content.theory.shown import PAPERS, Shown, Tile
from app.report.model import Words

TAKEN: Words = (
    "The promise is taken as it was made. Whether the training kept it is not examined here: see mace audit and "
    "mace theory together.",
)
INDEPENDENT: Words = (
    "Differential privacy speaks of records that were drawn at random into the training set; records that belong "
    "together, as several rows of one person do, are worse off than one.",
)

PROMISE = Shown(
    "What a promise of differential privacy allows",
    (
        Tile("Advantage without any leak", "baseline", "share", "the baseline: guessing without the score"),
        Tile("Largest epsilon that keeps the advantage", "keeping.epsilon", "floor"),
        Tile("Largest mu that keeps it", "keeping.mu", "floor"),
    ),
    left_open=(TAKEN, INDEPENDENT, PAPERS),
    tightest=4,
)
