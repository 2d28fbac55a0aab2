"""What a mechanism gives away to somebody who knows the records it may have used, but not which it did."""

from __future__ import annotations

from app.report.content.theory.shown import Columns, Shown, Tile
from app.report.model import Words

PRACTICAL: Words = (
    "The practical epsilon is about somebody who knows the records and not which half was used. Who knows "
    "more - some members for certain, or several releases - is covered by the epsilon of the mechanism alone.",
)

EXPONENTIAL = Shown(
    "Practical membership privacy of an exponential mechanism",
    (
        Tile("Practical epsilon", "practical_epsilon", "ceiling", "exact, or an estimate where sampled"),
        Tile("Practical epsilon at most", "interval.upper", "ceiling"),
        Tile("Epsilon of the mechanism", "epsilon", "plain"),
        Tile("Success of the best attacker, at most", "success", "ceiling", "on the worst record"),
        Tile("Success of a coin", "baseline", "share", "the baseline: guessing without the score"),
        Tile("Training sets", "training_sets", "count"),
    ),
    (
        Columns(
            "Record by record",
            "records",
            (
                ("Record", "record", "count"),
                ("Practical epsilon", "practical_epsilon", "ceiling"),
                ("Success of the best attacker", "success", "ceiling"),
            ),
            worst="practical_epsilon",
        ),
    ),
    (PRACTICAL,),
)

GAUSSIAN = Shown(
    "Practical membership privacy of the Gaussian mechanism",
    (
        Tile("Practical epsilon at most", "practical_epsilon", "ceiling"),
        Tile("Epsilon of the mechanism", "epsilon", "ceiling", "whatever the records"),
        Tile("Epsilon on these records", "epsilon_on_records", "ceiling"),
        Tile("Noise sigma", "sigma", "ceiling"),
        Tile("Success of any attacker, at most", "success", "ceiling"),
        Tile("Success of a coin", "baseline", "share", "the baseline: guessing without the score"),
    ),
    left_open=(PRACTICAL,),
)
