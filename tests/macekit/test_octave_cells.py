"""Counts with finer cells next to 0, wherever they are read."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import macekit
from estimators.errors import InputError
from estimators.runs.sequential import SequentialRun

rng = np.random.default_rng(0)

FEW = {
    "score": [0.001] * 40 + [0.002] * 40 + [0.5] * 40 + [100.0] * 40,
    "member": [i % 3 == 0 or i < 35 for i in range(160)],
}


def test_counts_of_more_than_10000_cells_are_read_back_from_json(tmp_path) -> None:
    counts = macekit.counts(rng.gamma(0.3, size=50_000), rng.gamma(0.3, size=50_000))["counts"]
    assert len(counts["cells"]["exponents"]) > 10_000
    file = tmp_path / "request.json"
    file.write_text(json.dumps({"counts": counts}))

    assert macekit.estimate(str(file)).advantage.lower == 0.0


@pytest.mark.parametrize("spread", [False, True])
def test_each_score_has_one_row_in_the_table_of_risks(spread) -> None:
    scores = rng.gamma(0.3, size=2000) if spread else np.array(FEW["score"])
    member = np.arange(2000) % 2 == 0 if spread else FEW["member"]
    table = macekit.risk_table(macekit.counts({"score": scores, "member": member}))
    low, high = (np.array(table[name]) for name in ("low", "high"))

    assert (low < high).all()
    assert [int(((low <= score) & (score < high)).sum()) for score in scores] == [1] * len(scores)


def test_a_report_tells_cells_next_to_1_apart() -> None:
    scores = 1.0 - 10.0 ** rng.normal(-6, 1, 2000)
    report = macekit.report(counts=macekit.counts(scores[::2], scores[1::2])["counts"]).to_html()
    text = re.sub("<[^>]+>", "", report)

    assert not re.search(r"\b1 to 1\b", text)
    assert re.search(r"0\.9999\d+ to 0\.9999\d+", text)


def test_a_report_names_cells_by_the_scores_in_them() -> None:
    page = macekit.report(counts=macekit.counts(FEW)["counts"]).to_html()

    assert not re.search(r">(2\.047|0\.5117) to ", page)


def test_a_run_is_not_merged_with_itself() -> None:
    state = None
    for _ in range(12):
        sides = rng.choice(list("abc"), (2, 40))
        begun = {"max_advantage": 0.1, "planned": 4000} if state is None else {"state": state}
        state = macekit.gate(*sides, anytime=True, **begun).state
    run = SequentialRun.from_dict(state)

    with pytest.raises(InputError):
        run.merge(run)


def test_counts_do_not_pass_what_the_same_records_fail() -> None:
    """A fiftieth of either side within one cell next to 1, members nearer: 2% of the members beyond every nonmember."""
    sides = []
    for width in (1e-9, 1e-6):
        scores = rng.beta(2, 1, 50_000)
        close = rng.random(50_000) < 0.02
        scores[close] = 1 - width * (0.5 + 0.5 * rng.random(close.sum()))
        sides.append(scores)
    counts = macekit.counts(*sides)["counts"]

    assert macekit.gate(*sides, max_advantage=0.05).decision != "pass"
    assert macekit.gate(counts=counts, max_advantage=0.05).decision != "pass"
