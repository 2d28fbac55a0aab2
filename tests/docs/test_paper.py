"""What docs/paper.md advises is what its table says."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "paper.md").read_text(encoding="utf-8")
ADVICE, TABLE = (" ".join(part.split()) if at == 0 else part for at, part in enumerate(PAGE.split("## The table", 1)))
STATISTIC, BIAS, PROMISE, AT_SCORE = range(4)


def row(reading: str, n: int, column: int) -> tuple[float, float]:
    """The least and the greatest of a cell."""
    (line,) = re.findall(rf"^\| {re.escape(reading)} \| {n} \| (.*) \|$", TABLE, re.MULTILINE)
    low, high = line.split(" | ")[column].split(" to ")
    return float(low), float(high)


def least(column: int, *readings: str, sizes: tuple[int, ...] = (300, 1000, 10_000)) -> float:
    return min(row(reading, n, column)[0] for reading in readings for n in sizes)


GOOD = ("silverman", "sheather_jones")
FARTHEST = max(abs(end) for each in GOOD for end in row(each, 10_000, BIAS))
EVERY = ("10 categories", "100 slices", "10 slices", "scott", *GOOD, "least_squares", "fixed 0.3")


@pytest.mark.parametrize(
    "statement",
    [
        f"at least {least(PROMISE, '10 categories'):.0%} of the records in every world",
        f"within {FARTHEST:.3f} of the advantage in every world",
        f"at least {least(STATISTIC, *GOOD, sizes=(10_000,)):.0%} of the intervals contained it",
        f"100 slices read {row('100 slices', 300, BIAS)[1]:.2f} where nothing leaks",
        f"10 slices {-row('10 slices', 10_000, BIAS)[0]:.2f} too little",
        f"({least(PROMISE, *EVERY):.0%} of the records and more)",
        f"10 slices do so for {least(AT_SCORE, '10 slices'):.0%} of the records in the worst world",
        f"100 slices for {least(AT_SCORE, '100 slices'):.0%}",
        f"`silverman` and `sheather_jones` for {least(AT_SCORE, *GOOD):.0%} and more",
    ],
)
def test_the_advice_is_what_the_table_says(statement: str) -> None:
    assert statement in ADVICE


def test_what_is_said_in_words_is_so() -> None:
    assert row("10 categories", 10_000, STATISTIC)[0] == 0.0  # in every sample of some world
    assert row("scott", 10_000, STATISTIC)[0] == 0.5  # half of its intervals
    assert row("fixed 0.3", 10_000, STATISTIC)[0] == 0.25  # a quarter
    assert least(STATISTIC, "least_squares") <= least(STATISTIC, *GOOD)  # no better
