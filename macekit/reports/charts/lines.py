"""Curves over one axis, as the answers of theory have them, and the numbers behind them."""

from collections.abc import Iterator, Sequence, Set
from math import ceil, floor, log10

from estimators.python.dataclass import dataclass
from macekit.reports.charts.frame import DASHED, Spec, amount, chart, layer, scaled
from macekit.reports.formatting import format_number, rounded, short_label
from macekit.reports.model import TOP_RECORDS, AnswerPath, Cell, Figure, Kind, Number, Table, at
from macekit.reports.palette import BASELINE, INK, MEMBER, NONMEMBER, OPEN, THRESHOLD

HEIGHT = 300
COLOURS = (MEMBER, NONMEMBER, INK, THRESHOLD, BASELINE, OPEN)
DASHES = ([1, 0], [5, 4], [2, 3], [9, 3, 2, 3], [1, 5], [12, 4])
"""Of the curves in their order: told apart without their colours, too; a seventh looks like the sixth."""

LEAST = 1e-12  # what a logarithmic axis begins at, if a curve goes further down
MOST_POWERS = 8  # powers of ten that are written along an axis

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Axis:
    """One direction of a chart: the list behind it, what it is called, whether it is logarithmic."""

    name: str
    title: str
    logarithmic: bool = False
    kind: Kind = "plain"
    unit: bool = False
    """Whether it goes from 0 to 1, whatever is drawn."""


@dataclass(frozen=True, slots=True)
class Series:
    """One curve: the list of the answer behind it (dotted, if it lies deeper), and what it is called."""

    name: str
    label: str
    kind: Kind = "ceiling"


def curves(
    name: str, title: str, lists: AnswerPath, x: Axis, y: Axis, series: Sequence[Series], *beneath: Spec
) -> Figure | None:
    """Curves over one axis, with the numbers behind them; none where there are fewer than two points to join."""
    lines = [(each, _points(lists[x.name], at(lists, each.name), x, y)) for each in series]
    lines = [(each, points) for each, points in lines if len(points) > 1]
    if not lines:
        return None
    labels = [short_label(each.label) for each, _ in lines]
    data = [
        {"x": rounded(a), "y": rounded(b), "curve": label}
        for label, (_, points) in zip(labels, lines, strict=True)
        for a, b in points
    ]
    where = {
        "x": _scale("x", x, [a for _, points in lines for a, _ in points]),
        "y": _scale("y", y, [b for _, points in lines for _, b in points]),
        "color": _by_curve(labels, COLOURS, {} if len(labels) > 1 else None),
        "strokeDash": _by_curve(labels, DASHES, None),
    }
    drawn = layer("line", where, data, strokeWidth=2.5, interpolate="linear")
    text = f"{y.title} over {x.title}. " + " ".join(
        f"{label}: {_point_in_words(points[0], x, each)}, {_point_in_words(points[-1], x, each)}."
        for label, (each, points) in zip(labels, lines, strict=True)
    )
    ends = {at for _, points in lines for at in (points[0][0], points[-1][0])}
    table = _table(title, lists, x, [each for each, _ in lines], ends)
    return Figure(name, title, text, chart(*beneath, drawn, height=HEIGHT), table)


def _point_in_words(point: Point, x: Axis, series: Series) -> str:
    """A point in words, rounded as its table rounds it."""
    return f"{format_number(Number(point[1], '', series.kind))} at {format_number(Number(point[0], '', x.kind))}"


def _points(xs: AnswerPath, ys: AnswerPath, x: Axis, y: Axis) -> list[Point]:
    """What there is to see: a logarithmic axis has no place for 0, nor for a hundred empty decades."""
    return [
        (a, b)
        for a, b in zip(xs.value or (), ys.value or (), strict=False)
        if a is not None and b is not None and (a >= LEAST or not x.logarithmic) and (b >= LEAST or not y.logarithmic)
    ]


def _scale(field: str, axis: Axis, values: Sequence[float]) -> Spec:
    """The axis; a logarithmic one has its lines at powers of ten, and not more of them than can be read."""
    if not axis.logarithmic:
        return scaled(field, axis.title, (0, 1) if axis.unit else None, tickCount=6)
    first, last = floor(log10(min(values))), ceil(log10(max(values)))
    step = max(1, ceil((last - first) / MOST_POWERS))
    spec = scaled(field, axis.title, values=[10.0**power for power in range(first, last + 1, step)])
    spec["scale"] = {"type": "log", "nice": False}
    return spec


def _by_curve(labels: Sequence[str], looks: Sequence[object], legend: Spec | None) -> Spec:
    return {
        "field": "curve",
        "type": "nominal",
        "scale": {"domain": list(labels), "range": [looks[min(place, len(looks) - 1)] for place in range(len(labels))]},
        "legend": legend,
    }


def _table(title: str, lists: AnswerPath, x: Axis, series: Sequence[Series], ends: Set[float]) -> Table:
    """Evenly spread rows of the lists that were drawn, with the ends of which the description speaks."""
    xs = lists[x.name].value
    spread = {round(i * (len(xs) - 1) / (TOP_RECORDS - 1)) for i in range(TOP_RECORDS)}
    places = sorted(spread | {place for place, value in enumerate(xs) if value in ends})
    lines = tuple(tuple(_row(lists, x, series, place)) for place in places)
    return Table(title, (x.title, *(each.label for each in series)), lines)


def _row(lists: AnswerPath, x: Axis, series: Sequence[Series], place: int) -> Iterator[Cell]:
    yield lists[x.name][place].number(x.kind)
    for each in series:
        column = at(lists, each.name)
        yield column[place].number(each.kind) if place < len(column) else ""


Charts = tuple[Figure | None, ...]


def promise(answer: AnswerPath) -> Charts:
    """The most a true positive rate can be, and the deltas that go with epsilons."""
    fpr = Axis("fpr", "false positive rate", unit=True)
    tpr = Axis("tpr", "true positive rate, at most", unit=True)
    epsilon, delta = Axis("epsilon", "epsilon"), Axis("delta", "delta", logarithmic=True)
    series = (Series("tpr", "allowed"),)
    return (
        curves("roc", "What the promise leaves an attacker", answer["roc"], fpr, tpr, series, _guessing()),
        curves("trade", "Delta against epsilon", answer["curve"], epsilon, delta, (Series("delta", "delta"),)),
    )


def noise(answer: AnswerPath) -> Charts:
    """Scale of the noise over eta, a curve for each way to find it."""
    curve = answer["curve"]
    scales = curve["scale"]
    series = tuple(Series(f"scale.{name}", name.replace("_", " ")) for name in scales.value or {})
    eta = Axis("eta", "eta: accuracy beyond guessing", kind="exact")
    scale = Axis("scale", "scale of the noise", logarithmic=True)
    return (curves("noise", "Noise against eta", curve, eta, scale, series),)


def discrete(answer: AnswerPath) -> Charts:
    """Delta of the worst algorithm over the records it is trained on."""
    n, delta = Axis("n", "training records", logarithmic=True, kind="count"), Axis("delta", "delta", True)
    series = (
        Series("delta_upper", "at most"),
        Series("delta", "worst algorithm"),
        Series("simple", "by C_K alone"),
        Series("simple_lower", "by C_K alone, at least", "floor"),
    )
    return (curves("records", "Delta over training records", answer["curve"], n, delta, series),)


def divergence(answer: AnswerPath) -> Charts:
    """Delta of two laws over the share of nonmembers."""
    share, delta = (Axis("nonmember_share", "share of nonmembers", unit=True), Axis("delta", "delta", unit=True))
    series = (Series("delta", "exact"),)
    return (curves("shares", "Delta over the share of nonmembers", answer["curve"], share, delta, series),)


def mean(answer: AnswerPath) -> Charts:
    """Delta of a mean over the records in it."""
    n, delta = Axis("n", "records in the mean", logarithmic=True, kind="count"), Axis("delta", "delta", True)
    series = (Series("delta", "exact"), Series("simple", "by the paper's bound"))
    return (curves("records", "Delta over records in the mean", answer["curve"], n, delta, series),)


def overfitting(answer: AnswerPath) -> Charts:
    """The upper bound on the security over cuts of the loss."""
    cut, security = Axis("threshold", "cut of the loss"), Axis("security", "security, at most", unit=True)
    series = (Series("security_at_most", "at most"),)
    return (curves("cuts", "What each cut of the loss shows", answer["curve"], cut, security, series),)


def finite(answer: AnswerPath) -> Charts:
    """The delta that goes with a practical epsilon."""
    epsilon, delta = Axis("epsilon", "practical epsilon"), Axis("delta", "delta", logarithmic=True)
    series = (Series("delta", "worst record"),)
    return (curves("deltas", "Delta against practical epsilon", answer["curve"], epsilon, delta, series),)


def gaussian(answer: AnswerPath) -> Charts:
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
    look = {"color": BASELINE, "strokeDash": list(DASHED), "strokeWidth": 1.5}
    return layer("line", {"x": amount("x"), "y": amount("y")}, [{"x": 0, "y": 0}, {"x": 1, "y": 1}], **look)


def one_run(answer: AnswerPath) -> Charts:
    """The share of right guesses as more records were opened."""
    guesses = Axis("guesses", "guesses made, surest first", logarithmic=True, kind="count")
    right = Axis("right", "share that was right", unit=True)
    series = (Series("right", "right", "share"),)
    return (curves("guesses", "Right guesses", answer["stops"], guesses, right, series),)
