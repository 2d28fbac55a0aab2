"""The chance of being a member along the score, as the paper states it: by kernel densities, and by slices."""

from collections.abc import Mapping, Sequence
from typing import Any

from macekit.reports.charts import frame
from macekit.reports.formatting import rounded, three
from macekit.reports.model import AnswerPath, Figure, Table
from macekit.reports.palette import BASELINE, MEMBER, MUTED

PLOT = 500
ROWS = 200
MOST_SLICES = 60
"""Slices that are drawn: of more, those of the narrowest intervals."""

KERNELS, SLICES = 3, 2
"""The theorem that each curve is of."""

ENDS = ("lower", "upper")
COLUMNS = ("starts", "ends", "posterior", *ENDS)


def posterior(curves: AnswerPath, prior: float) -> Figure | None:
    """A line with its band for kernel densities, a bar for each slice."""
    by_theorem = {each.value["theorem"]: each for each in curves if each.value["posterior"]}
    if KERNELS not in by_theorem:
        return None
    smooth, slices = by_theorem[KERNELS], by_theorem.get(SLICES)
    low, high = smooth.value["starts"][0], smooth.value["starts"][-1]
    if not frame.drawable(low, high):
        return None
    at = frame.placing(low, high)
    x = frame.scaled("score", "score", (low, high), tickCount=8, grid=False)
    y = frame.scaled("lower", "chance of being a member", (0, 1), tickCount=5)
    bars = [] if slices is None else _bars(slices.value, at)
    spec = frame.chart(
        {
            "data": frame.rows(_line(smooth.value, at)),
            "mark": frame.BANDED,
            "encoding": {"x": x, "y": y, "y2": {"field": "upper"}},
        },
        {
            "data": frame.rows(bars),
            "mark": {"type": "rule", "color": MUTED, "strokeWidth": 1},
            "encoding": {"x": x, "y": y, "y2": {"field": "upper"}},
        },
        {
            "data": frame.rows(bars),
            "mark": {"type": "point", "color": MUTED, "filled": True, "size": 14},
            "encoding": {"x": x, "y": {"field": "posterior", "type": "quantitative"}},
        },
        frame.across("y", rounded(prior), BASELINE, frame.DASHED),
        {
            "data": frame.rows(_line(smooth.value, at)),
            "mark": {"type": "line", "color": MEMBER, "strokeWidth": 2.5},
            "encoding": {"x": x, "y": {"field": "posterior", "type": "quantitative"}},
        },
        frame.words(
            f"no leakage: {three(prior)}", {"value": PLOT + 8}, {"datum": rounded(prior)}, color=BASELINE
        ),
        frame.note("line and band: kernel densities; dots and bars: slices"),
        width=PLOT,
        height=230,
    )
    return Figure(
        "posterior", "Chance of being a member, as published", _in_words(smooth, slices), spec, _table(smooth)
    )


def _line(curve: Mapping[str, Any], at: Any) -> list[dict[str, float]]:
    columns = (curve[name] for name in ("starts", "posterior", *ENDS))
    return [
        {"score": at(x), "posterior": rounded(p), "lower": rounded(low), "upper": rounded(high)}
        for x, p, low, high in zip(*columns, strict=True)
    ]


def _bars(curve: Mapping[str, Any], at: Any) -> list[dict[str, float]]:
    """Slices of the most records, which have the narrowest intervals, in the order of the score."""
    columns = zip(*(curve[name] for name in COLUMNS), strict=True)
    surest = sorted(columns, key=lambda row: row[4] - row[3])[:MOST_SLICES]
    return [
        {"score": at((a + b) / 2), "posterior": rounded(p), "lower": rounded(low), "upper": rounded(high)}
        for a, b, p, low, high in sorted(surest)
    ]


def _in_words(smooth: AnswerPath, slices: AnswerPath | None) -> str:
    values: Sequence[float] = smooth.value["posterior"]
    text = (
        f"Kernel densities (MACE, Theorem 3) put the chance of being a member between {three(min(values))} and "
        f"{three(max(values))} along this score. Their band covers {smooth.value['covers']}."
    )
    if slices is not None:
        text += f" The bars of slices (Theorem 2) cover {slices.value['covers']}."
    return text + " Neither is the certified interval, which is that of the individual risk."


def _table(curve: AnswerPath) -> Table:
    names = ("starts", "posterior", *ENDS)
    size = len(curve["posterior"])
    every = tuple(tuple(curve[name][i].number() for name in names) for i in range(min(size, ROWS)))
    head = ("score", "chance of being a member", "lower end", "upper end")
    return Table("Chance of being a member by kernel densities", head, every, more=0, where=curve.path)
