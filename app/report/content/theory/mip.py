"""How much noise keeps every attack near guessing, and what an algorithm with finitely many outputs gives away."""

from __future__ import annotations

from app.report.content.theory.shown import PAPERS, Columns, Shown, Tile
from app.report.model import Words

ONCE: Words = (
    "The noise is drawn once, for one release of parameters fitted to one random half. Each further release from "
    "the same data gives away more.",
)
HALF: Words = (
    "The guarantee is about this data set, this way of fitting and a training set drawn at random; an attacker "
    "who knows more than chance about who was drawn is not covered.",
)

CALIBRATIONS = Columns(
    "Ways to find the scale",
    "calibrations",
    (
        ("Way", "name", "plain"),
        ("Noise", "noise", "plain"),
        ("Scale", "scale", "ceiling"),
        ("Noise of a coordinate, in units of its spread", "deviation", "ceiling"),
        ("Certified", "certified", "plain"),
        ("Source", "source", "plain"),
    ),
)

COORDINATES = Columns(
    "The noise, coordinate by coordinate",
    "noise",
    (
        ("Root mean square of the noise", "deviation", "ceiling"),
        ("Spread, which the scale multiplies", "spread", "plain"),
    ),
)

NOISE = Shown(
    "Noise for membership inference privacy",
    (
        Tile("Scale of the noise", "noise.scale", "ceiling", "times the spread of each coordinate, below"),
        Tile("Eta: accuracy beyond guessing, at most", "eta", "exact"),
        Tile("Accuracy of guessing", "baseline", "share", "the baseline: guessing without the score"),
        Tile("Fits", "draws", "count", "parameters of random halves"),
        Tile("Swaps", "swaps", "count", "pairs that differ by one record"),
    ),
    (CALIBRATIONS, COORDINATES),
    (ONCE, HALF),
    value="Noise needed",
)

FINITE = Shown(
    "What an algorithm with finitely many outputs gives away",
    (
        Tile("Eta of the worst record", "eta", "share", "exact: accuracy beyond guessing"),
        Tile("Accuracy of the best attack on it", "accuracy", "share"),
        Tile("Accuracy of guessing", "baseline", "share", "the baseline: guessing without the score"),
        Tile("Training sets", "subsets", "count", "gone through"),
        Tile("Outputs", "outcomes", "count"),
    ),
    (
        Columns(
            "Record by record",
            "records",
            (
                ("Record", "record", "count"),
                ("Eta", "eta", "share"),
                ("Bound by swaps", "coupling", "ceiling"),
            ),
            worst="eta",
        ),
    ),
    (HALF, PAPERS),
)
