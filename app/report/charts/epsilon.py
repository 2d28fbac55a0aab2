"""What epsilon must be at least, beside what was claimed."""

from __future__ import annotations

from app.report.charts.frame import Spec, chart, halo, rows, scaled, threshold, words
from app.report.charts.words import rounded
from app.report.model import Cell, Figure, Table
from app.report.palette import INK, THRESHOLD
from app.report.place import Place
from estimators.statement import at_least, percent


def epsilon(answer: Place) -> Figure:
    """A bar from the lower bound onwards: epsilon is somewhere on it; a claim left of it is contradicted."""
    found, claim = answer.value["epsilon"], answer.value["claim"]
    bound, least = rounded(found["lower_bound"]), at_least(found["lower_bound"])
    claimed = None if claim is None else rounded(claim["epsilon"])
    high = max(1.6 * bound, 1.25 * (claimed or 0.0)) or 1.0
    x = scaled("lower", "epsilon", (0, high), tickCount=7)
    middle = {"value": 40}
    bar = {"type": "rule", "color": INK, "strokeWidth": 9}
    dot = {
        "type": "point",
        "shape": "triangle-right",
        "filled": True,
        "color": INK,
        "size": 260,
        "opacity": 1,
    }
    layers: list[Spec] = [
        {
            "data": rows([{"lower": bound, "upper": rounded(high)}]),
            "mark": bar,
            "encoding": {"x": x, "x2": {"field": "upper"}, "y": middle},
        },
        {
            "data": rows([{"at": rounded(high)}]),
            "mark": dot,
            "encoding": {"x": {"field": "at", "type": "quantitative"}, "y": middle},
        },
        *halo(
            words(
                f"the records say: at least {least}",
                {"datum": bound, "type": "quantitative"},
                {"value": 18},
                fontWeight="bold",
            )
        ),
    ]
    text = (
        f"If inclusion was random and independent, epsilon is at least {least} at delta {found['delta']:g}, with "
        f"{percent(found['confidence'])} confidence."
    )
    lines: list[tuple[Cell, ...]] = [("lower bound", answer["epsilon"]["lower_bound"].number())]
    if claim is not None and claimed is not None:
        text += f" The claim of {claimed:g} is {claim['decision']}."
        lines.append(("claimed", answer["claim"]["epsilon"].number("plain")))
        far = claimed > high / 2
        name = words(
            f"claimed: {claimed:g}, {claim['decision']}",
            {"datum": claimed, "type": "quantitative"},
            {"value": -10},
            align="right" if far else "left",
            color=THRESHOLD,
            fontWeight="bold",
        )
        layers = [threshold(claimed), *layers, name]
    table = Table("Epsilon", ("", "epsilon"), tuple(lines))
    return Figure("epsilon", "What epsilon must be at least", text, chart(*layers, height=64), table)
