"""The ROC: what share of members an adversary names for the share of nonmembers it names by mistake."""

from __future__ import annotations

from app.report.charts.curve import asked, curve, limits
from app.report.charts.frame import Spec, chart, halo, note, rows, scaled, words
from app.report.charts.words import ends, three
from app.report.model import Figure
from app.report.palette import BAND, BASELINE, INK, MEMBER
from app.report.place import Place

SIDE = 340


def roc(found: Place, band: Place | None) -> Figure:
    """The curve with its band over the diagonal of an adversary who guesses."""
    given = found.value
    x = scaled("fpr", "false positive rate", (0, 1), tickCount=5)
    y = scaled("tpr", "true positive rate", (0, 1), tickCount=5)
    area = f"area {three(given['auc'])} {ends(given['auc_lower'], given['auc_upper'])}"
    spec = chart(
        *([] if band is None or not len(band) else _band(band, x)),
        {
            "data": rows([{"fpr": 0, "tpr": 0}, {"fpr": 1, "tpr": 1}]),
            "mark": {"type": "line", "color": BASELINE, "strokeDash": [5, 4], "strokeWidth": 1.5},
            "encoding": {"x": x, "y": y},
        },
        {
            "data": rows(curve(given)),
            "mark": {"type": "line", "color": MEMBER, "strokeWidth": 2.5, "interpolate": "linear"},
            "encoding": {"x": x, "y": y, "order": {"value": None}},
        },
        *halo(
            words(
                "guessing: no leakage",
                {"value": SIDE - 8},
                {"value": SIDE - 16},
                align="right",
                color=BASELINE,
            )
        ),
        *halo(
            words(
                area, {"value": SIDE - 8}, {"value": SIDE - 36}, align="right", fontWeight="bold", color=INK
            )
        ),
        width=SIDE,
        height=SIDE,
    )
    text = (
        f"The area under the curve is {three(given['auc'])}, between {three(given['auc_lower'])} and "
        f"{three(given['auc_upper'])}; guessing gives 0.5."
    )
    return Figure("roc", "ROC: members found against false alarms", text, spec, asked(found))


def _band(band: Place, x: Spec) -> list[Spec]:
    """Intervals along the curve, each by itself."""
    encoding = {"x": x, "y": {"field": "lower", "type": "quantitative"}, "y2": {"field": "upper"}}
    return [
        {
            "data": rows(limits(band.value)),
            "mark": {"type": "area", "color": BAND, "opacity": 0.65},
            "encoding": encoding,
        },
        note("band: interval of each rate by itself"),
    ]
