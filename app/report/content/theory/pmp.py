"""What a mechanism gives away to somebody who knows the records it may have used, but not which it did."""

from __future__ import annotations

from app.report.content.theory.shown import Columns, Shown, Tile
from app.report.model import Words

PRACTICAL: Words = (
    "The practical epsilon is about somebody who knows the records and not which half was used. Who knows "
    "more - some members for certain, or several releases - is covered by the epsilon of the mechanism alone.",
)
THESE: Words = ("It is about these records; other records may have another practical epsilon.",)
NOT_COMPOSED: Words = ("Practical epsilons of several releases do not add up as epsilons do.",)

EXPONENTIAL = Shown(
    "Practical membership privacy of an exponential mechanism",
    (
        Tile("Practical epsilon", "practical_epsilon", "ceiling", "exact, or an estimate where sampled"),
        Tile("Practical epsilon at most", "interval.upper", "ceiling"),
        Tile("Epsilon of the mechanism", "epsilon", "exact"),
        Tile("Success of the best attacker", "success", "share", "on the worst record"),
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
        ),
    ),
    (PRACTICAL, THESE, NOT_COMPOSED),
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
    left_open=(PRACTICAL, THESE, NOT_COMPOSED),
)
