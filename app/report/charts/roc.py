"""The ROC: what share of members an adversary names for the share of nonmembers it names by mistake."""

from __future__ import annotations

from app.report.charts.curve import SIDE, asked, curve, diagonal, guessing, in_corner, limits
from app.report.charts.frame import BANDED, Spec, chart, note, rows, scaled
from app.report.charts.words import between, ends, three
from app.report.model import Figure
from app.report.palette import INK, MEMBER
from app.report.place import Place


def roc(found: Place, band: Place | None) -> Figure:
    """The curve with its band over the diagonal of an adversary who guesses."""
    given = found.value
    x = scaled("fpr", "false positive rate", (0, 1), tickCount=5)
    y = scaled("tpr", "true positive rate", (0, 1), tickCount=5)
    area = f"area {three(given['auc'])} {ends(given['auc_lower'], given['auc_upper'])}"
    spec = chart(
        *([] if band is None or not len(band) else _band(band, x)),
        diagonal(0, x, y),
        {
            "data": rows(curve(given)),
            "mark": {"type": "line", "color": MEMBER, "strokeWidth": 2.5, "interpolate": "linear"},
            "encoding": {"x": x, "y": y, "order": {"value": None}},
        },
        *guessing(),
        *in_corner(area, 36, fontWeight="bold", color=INK),
        width=SIDE,
        height=SIDE,
    )
    text = (
        f"The area under the curve is {three(given['auc'])}, "
        f"{between(given['auc_lower'], given['auc_upper'])}; guessing gives 0.5."
    )
    return Figure("roc", "ROC: members found against false alarms", text, spec, asked(found))


def _band(band: Place, x: Spec) -> list[Spec]:
    """Intervals along the curve, each by itself."""
    encoding = {"x": x, "y": {"field": "lower", "type": "quantitative"}, "y2": {"field": "upper"}}
    return [
        {
            "data": rows(limits(band.value)),
            "mark": BANDED,
            "encoding": encoding,
        },
        note("band: interval of each rate by itself"),
    ]
