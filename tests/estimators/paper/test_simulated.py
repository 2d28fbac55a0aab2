"""Beside every interval as published stands how often it contained the truth in the simulations of docs/paper.md."""

import re
from pathlib import Path

import numpy as np
import pytest

from estimators import Counts, Scores
from estimators.density.bandwidth import Fixed, ImprovedSheatherJones, LeastSquaresCV, Scott, Silverman
from estimators.paper import EqualWidth, Kernel, algorithm_1, discrete_advantage, record_risk
from estimators.paper.risk import SHARES
from tests.cases import each_case

PAGE = Path(__file__).parents[3] / "docs" / "paper.md"
ROW = re.compile(r"^\| (?P<reading>[^|]+) \| (?P<n>\d+) \| (?P<columns>.+) \|$", re.MULTILINE)


def sides(n: int, *axes: int) -> Scores:
    rng = np.random.default_rng(1)
    return Scores.of(rng.normal(1, 1, (n, *axes)), rng.normal(0, 1, (n, *axes)))


def test_the_shares_are_those_of_the_page() -> None:
    page: dict[str, dict[int, tuple[str, str]]] = {}
    for row in ROW.finditer(PAGE.read_text()):
        columns = row["columns"].split(" | ")
        page.setdefault(row["reading"], {})[int(row["n"])] = columns[0], columns[3]

    ours = {
        reading: {n: tuple(f"{low:.2f} to {high:.2f}" for low, high in shares) for n, shares in sizes.items()}
        for reading, sizes in SHARES.items()
    }
    assert page == ours


@each_case("reading, name", [
    (EqualWidth(100), "100 slices"), (EqualWidth(12), "10 slices"), (Kernel(Scott()), "scott"),
    (Kernel(Silverman()), "silverman"), (Kernel(ImprovedSheatherJones()), "sheather_jones"),
    (Kernel(LeastSquaresCV()), "least_squares"), (Kernel(Fixed(0.3)), "fixed 0.3"),
])  # fmt: skip
@pytest.mark.parametrize(("n", "size"), [(50, "300"), (700, "1,000"), (4000, "10,000")])
def test_an_interval_names_the_simulation_that_is_nearest(reading, name, n, size) -> None:
    setting = f"at 95% confidence, simulated ({name}, {size} records a side)"  # whatever its own is

    advantage = algorithm_1(sides(n), 0.5, 0.99, reading=reading).interval.guarantee.covers
    risk = record_risk(sides(n), 0.5, reading=reading, targets=[0.5]).risk.guarantee.covers

    least, greatest = SHARES[name][int(size.replace(",", ""))][0]
    assert f"{setting}, it contains the advantage in {least:.0%} to {greatest:.0%} of samples" in advantage
    assert f"{setting}, it contains f_p at the score in" in risk


def test_categories_and_counts_have_the_shares_of_categories() -> None:
    counts = Counts.of([200, 300], [350, 150])

    for result in (discrete_advantage(counts, 0.5).interval, record_risk(counts, 0.5, targets=[0, 1]).risk):
        assert "simulated (10 categories, 300 records a side)" in result.guarantee.covers


@pytest.mark.parametrize("reading", [EqualWidth(10), Kernel()])
def test_of_vectors_nothing_was_simulated_and_nothing_is_said(reading) -> None:
    scores = sides(100, 2)

    assert "simulated" not in algorithm_1(scores, 0.5, reading=reading).interval.guarantee.covers
    assert "simulated" not in record_risk(scores, 0.5, reading=reading).risk.guarantee.covers
