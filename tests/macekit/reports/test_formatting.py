"""Numbers as they are read: ends of intervals are rounded outward, and what is not certain never reads as certain."""

from macekit.reports.formatting import format_number
from macekit.reports.model import Kind, Number
from tests.cases import each_case


@each_case("value, path, kind, shown", [
    (0.12349, "advantage.lower", "share", "0.123"), (0.12341, "advantage.upper", "share", "0.124"),
    (0.1236, "epsilon.lower_bound", "share", "0.123"), (0.1236, "roc.auc_lower", "share", "0.123"),
    (0.1231, "roc.auc_upper", "share", "0.124"),
    (0.1236, "risk.cells.simultaneous_lower.12", "share", "0.123"),
    (0.1231, "risk.cells.simultaneous_upper.12", "share", "0.124"),
    (-0.0001, "differences.0.lower", "share", "-0.001"),
    (-0.0001, "differences.0.upper", "share", "0.000"), (0.1236, "advantage.estimate", "share", "0.124"),
    (0.125, "advantage.upper", "share", "0.125"), (0.95, "flags.rate", "percent", "95%"),
    (0.95, "advantage.confidence", "percent", "95%"),
    (0.99999999, "advantage.confidence", "percent", "99.999999%"),
    (0.99999999, "limits.2.confidence", "percent", "99.999999%"), (0.0, "baseline", "guesses", "50"),
    (0.12345, "advantage.lower", "guesses", "56.1"), (0.12345, "advantage.upper", "guesses", "56.2"),
    (0.99999, "advantage.upper", "guesses", "99.9995"), (0.99999, "advantage.lower", "guesses", "99.9"),
    (0.99999, "advantage.estimate", "guesses", "99.9995"), (1.0, "advantage.upper", "guesses", "100"),
    (-0.99999, "advantage.lower", "guesses", "0.0005"), (-1.0, "advantage.lower", "guesses", "0"),
    (1 - 2**-53, "advantage.upper", "guesses", "99.999999999999995"),
    (None, "advantage.upper", "guesses", "–"), (30.0, "limits.1.lower", "count", "30"),
    (0.0, "limits.1.maximum", "count", "0"), (399.99999999999966, "limits.1.estimate", "count", "400"),
    (12345, "n_members", "count", "12,345"), (2749, "records_needed", "roughly", "2,750"),
])  # fmt: skip
def test_what_is_said_holds(value: float | None, path: str, kind: Kind, shown: str) -> None:
    assert format_number(Number(value, path, kind)) == shown


def test_ends_that_differ_read_unlike() -> None:
    ends = 0.10004, 0.100041

    for kind in ("share", "guesses"):
        low, high = (format_number(Number(end, name, kind)) for end, name in zip(ends, ("lower", "upper"), strict=True))
        assert float(low) < float(high)
