"""What any algorithm may give away of data in categories, and what overfitting does."""

from __future__ import annotations

from app.report.content.theory.shown import Columns, Shown, Tile
from app.report.model import Words

WORST: Words = (
    "Delta is that of the worst algorithm there is, one that releases all it saw. A given one may give away less.",
)
INDEPENDENT: Words = ("Records are taken to be independent draws from one distribution.",)
ONE_SIDED: Words = (
    "Losses bound the security from above only: they show what is given away at least, never that no more is.",
)

DISCRETE = Shown(
    "What any algorithm may give away of such data",
    (
        Tile("Diversity C_K", "diversity.estimate", "plain"),
        Tile("C_K at most", "diversity.upper", "ceiling"),
        Tile("Categories", "categories", "count"),
        Tile("Accuracy of guessing", "baseline", "share", "the baseline, as this measure weighs errors"),
        Tile(
            "Training records needed",
            "records_needed.certified",
            "count",
            "certified, whatever the algorithm",
        ),
    ),
    (
        Columns(
            "What coarsening buys",
            "coarsened",
            (
                ("Cells", "cells", "count"),
                ("Merge", "merge", "plain"),
                ("C_K", "c_k", "plain"),
                ("Delta", "delta", "ceiling"),
                ("Delta at most", "delta_upper", "ceiling"),
                ("Records as they were", "kept", "percent"),
                ("Delta of so many cells at most", "cells_upper", "ceiling"),
                ("Training records needed (of the sample: estimated)", "records", "count"),
            ),
        ),
    ),
    (WORST, INDEPENDENT),
)

OVERFITTING = Shown(
    "What losses show of overfitting",
    (
        Tile("Security at most", "security.upper", "share"),
        Tile("Delta at least", "delta_at_least", "floor"),
        Tile("Accuracy of guessing", "baseline", "share", "the baseline, as this measure weighs errors"),
        Tile("The cut that shows it", "threshold", "plain"),
    ),
    left_open=(ONE_SIDED, INDEPENDENT),
)
