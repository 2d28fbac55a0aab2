"""Individual risk without a row for each record: the same cells and flags, from scores or from counts."""

import numpy as np
import pytest

from estimators import Counts, Scores, individual_risk
from estimators.risk.individual import risk_by_cell
from estimators.sample.counting import finest
from tests.cases import each_case

RNG = np.random.default_rng(0)
SAMPLES = {
    "continuous": Scores.of(RNG.normal(1.0, 1.0, 900), RNG.normal(0.0, 1.0, 700)),
    "integers": Scores.of(RNG.integers(2, 9, 900), RNG.integers(0, 7, 700)),
    "text": Scores.of(RNG.choice(list("abc"), 900), RNG.choice(list("bcd"), 700)),
    "vectors": Scores.of(RNG.normal(1.0, 1.0, (300, 2)), RNG.normal(0.0, 1.0, (300, 2))),
}


@pytest.mark.slow
@each_case("name", SAMPLES)
def test_the_cells_and_the_flags_are_those_of_every_record(name) -> None:
    data, prior = SAMPLES[name], 0.3
    every = individual_risk(data, prior, 0.9)
    result = risk_by_cell(data, prior, 0.9)

    assert result.n_flagged == every.n_flagged == int(every.flagged.sum())
    assert result.sentence == every.sentence
    assert result.cells.risk.tolist() == every.cells.risk.tolist()
    assert result.cells.simultaneous.upper.tolist() == every.cells.simultaneous.upper.tolist()


@each_case("name", ["continuous", "integers", "text"])
def test_counts_that_were_made_already_give_the_same_and_are_enough(name) -> None:
    by_scores, by_counts = risk_by_cell(SAMPLES[name], 0.3), risk_by_cell(finest(SAMPLES[name]), 0.3)
    result = risk_by_cell(Counts.of([120, 300, 580], [310, 420, 270], [0.4, 0.7]), 0.5)

    assert by_counts.cells.counts.cells.to_dict() == by_scores.cells.counts.cells.to_dict()
    assert by_counts.sentence == by_scores.sentence
    assert result.n_flagged == 580 + 270
    said = "850 of 2,000 records lie where scores speak for membership more than chance"
    assert result.sentence.startswith(said)
