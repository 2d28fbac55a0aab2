"""The curves of theory: what a promise, a scale of noise or a number of records makes of it over its range."""

from __future__ import annotations

from app.report.charts.frame import DASHED, Spec, rows
from app.report.charts.lines import Axis, Series, curves
from app.report.model import Figure
from app.report.palette import BASELINE
from app.report.place import Place

Found = tuple[Figure | None, ...]


def promise(answer: Place) -> Found:
    """The most a true positive rate can be, and the deltas that go with epsilons."""
    fpr, tpr = (
        Axis("fpr", "false positive rate", unit=True),
        Axis("tpr", "true positive rate, at most", unit=True),
    )
    epsilon, delta = Axis("epsilon", "epsilon"), Axis("delta", "delta", logarithmic=True)
    allowed = (Series("tpr", "allowed"),)
    return (
        curves("roc", "What the promise leaves an attacker", answer["roc"], fpr, tpr, allowed, _guessing()),
        curves(
            "trade", "Delta against epsilon", answer["curve"], epsilon, delta, (Series("delta", "delta"),)
        ),
    )


def noise(answer: Place) -> Found:
    """Scale of the noise over eta, a curve for each way to find it."""
    held = answer["curve"]
    scales = held["scale"]
    series = tuple(Series(f"scale.{name}", name.replace("_", " ")) for name in scales.value or {})
    eta = Axis("eta", "eta: accuracy beyond guessing", kind="exact")
    scale = Axis("scale", "scale of the noise", logarithmic=True)
    return (curves("noise", "Noise against eta", held, eta, scale, series),)


def discrete(answer: Place) -> Found:
    """Delta of the worst algorithm over the records it is trained on."""
    n = Axis("n", "training records", logarithmic=True, kind="count")
    series = (
        Series("delta_upper", "at most"),
        Series("delta", "worst algorithm"),
        Series("simple", "by C_K alone"),
    )
    return (
        curves(
            "records", "Delta over training records", answer["curve"], n, Axis("delta", "delta", True), series
        ),
    )


def overfitting(answer: Place) -> Found:
    """The upper bound on the security over cuts of the loss."""
    cut, security = Axis("threshold", "cut of the loss"), Axis("security", "security, at most", unit=True)
    series = (Series("security_at_most", "at most"),)
    return (curves("cuts", "What each cut of the loss shows", answer["curve"], cut, security, series),)


def gaussian(answer: Place) -> Found:
    """Deltas over epsilon: practical, on these records, and of the mechanism."""
    epsilon, delta = Axis("epsilon", "epsilon"), Axis("delta", "delta, at most", logarithmic=True)
    series = (
        Series("practical_delta", "not knowing which half was used"),
        Series("records_delta", "the worst case of these records"),
        Series("dp_delta", "the worst case of any"),
    )
    return (curves("deltas", "Delta against epsilon", answer["curve"], epsilon, delta, series),)


def _guessing() -> Spec:
    """The line of an attacker who guesses."""
    return {
        "data": rows([{"x": 0, "y": 0}, {"x": 1, "y": 1}]),
        "mark": {"type": "line", "color": BASELINE, "strokeDash": list(DASHED), "strokeWidth": 1.5},
        "encoding": {
            "x": {"field": "x", "type": "quantitative"},
            "y": {"field": "y", "type": "quantitative"},
        },
    }
