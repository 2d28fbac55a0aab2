"""How many rows of a release may go out, of tables of every kind; what goes wrong is a problem as everywhere here."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import estimators
import macekit
from macekit import MaceProblem
from tests.cases import each_case
from tests.estimators.audits.queries.test_synthetic import part, people

pytestmark = pytest.mark.usefixtures("quick")

RNG = np.random.default_rng(0)
TRAIN, HOLDOUT, RELEASED, REFERENCE = (people(RNG, 120) for _ in range(4))
OPTIONS: dict[str, Any] = {"sizes": [20, 120], "max_advantage": 0.4, "seed": 3}


@cache
def of_library() -> Any:
    return estimators.release_size(TRAIN, HOLDOUT, RELEASED, REFERENCE, **OPTIONS)


def at(folder: Path, table: dict[str, Any], ending: str) -> str:
    path = folder / f"{len(list(folder.iterdir()))}.{ending}"
    if ending == "csv":
        pd.DataFrame(table).to_csv(path, index=False)
    else:
        pq.write_table(pa.table(table), path)
    return str(path)


@pytest.mark.slow
@each_case(
    "kind",
    lambda table, folder: pd.DataFrame(table),
    lambda table, folder: pl.DataFrame(table),
    lambda table, folder: pa.table(table),
    lambda table, folder: at(folder, table, "csv"),
    lambda table, folder: Path(at(folder, table, "parquet")),
)
def test_every_kind_of_table_gives_the_answer_of_its_columns(kind, tmp_path) -> None:
    plain = of_library()

    answer = macekit.release_size(
        *(kind(table, tmp_path) for table in (TRAIN, HOLDOUT, RELEASED, REFERENCE)), **OPTIONS
    )

    assert answer.sentence == plain.sentence
    assert [(step.size, step.lower, step.upper) for step in answer.steps] == [
        (step.label, step.estimate.lower, step.estimate.upper) for step in plain.series.steps
    ]
    assert answer.rows == plain.rows.tolist()


@each_case(
    "tables, options, words",
    ((None, HOLDOUT, RELEASED), {}, "train: is required and missing"),
    ((TRAIN, HOLDOUT, [1, 2]), {}, "synthetic: got list; need a frame"),
    ((TRAIN, HOLDOUT, RELEASED), {"sizes": [500]}, "the released table has 120 rows"),
    ((part(TRAIN, slice(3)), HOLDOUT, RELEASED), {}, "got 3 rows, need at least 8"),
)
def test_what_gives_no_answer_is_a_problem(tables, options, words) -> None:
    with pytest.raises(MaceProblem, match=words):
        macekit.release_size(*tables, **options)


@pytest.mark.slow
def test_further_limits_stand_size_by_size_in_the_answer_and_its_report() -> None:
    limits: dict[str, Any] = {"max_exposed": 0.5, "at_precision": 0.8, "max_copies_over_holdout": 0}
    plain = estimators.release_size(TRAIN, HOLDOUT, RELEASED, **OPTIONS, **limits)
    answer = macekit.release_size(TRAIN, HOLDOUT, RELEASED, **OPTIONS, **limits)
    alone = macekit.release_size(TRAIN, HOLDOUT, RELEASED, **OPTIONS)
    reports = [each.to_markdown() for each in (answer, alone)]

    assert answer.sentence == plain.sentence
    assert [[(each.name, each.decision, each.lower, each.upper) for each in step.limits] for step in answer.steps] == [
        [(each.name, each.decision.value, each.estimate.lower, each.estimate.upper) for each in step]
        for step in plain.limits
    ]
    assert [step.limits for step in alone.steps] == [None, None]
    assert ["## Further limits" in each for each in reports] == [True, False]
    assert ["The advantage alone is limited here" in each for each in reports] == [False, True]
    section = reports[0].partition("## Further limits")[2].partition("\n## ")[0]
    assert [section.count(f"| {name} |") for name in ("Members exposed", "Copied rows")] == [2, 2]


@pytest.mark.slow
def test_copies_are_judged_unasked_unless_they_are_accepted() -> None:
    tables = (TRAIN, HOLDOUT, TRAIN)
    limits: dict[str, Any] = {"max_advantage": 1.0, "queries": ["closeness"], "sizes": [len(TRAIN["age"])]}
    unasked = macekit.release_size(*tables, **limits)
    accepted = macekit.release_size(*tables, **limits, accept_copies=True, accept_exposure=True)

    assert (unasked.decision, unasked.copies_judged) == ("fail", "unasked")
    assert (accepted.decision, accepted.copies_judged) == ("pass", "accepted")
    exposed = macekit.release_size(*tables, **limits, accept_copies=True)
    assert (exposed.decision, exposed.undecided_because) == ("inconclusive", "exposed")
    assert unasked.steps[0].near_copies == unasked.steps[0].copies == len(TRAIN["age"])
    assert "Nobody limited copies" in unasked.to_markdown()
    assert "Copies were accepted" in accepted.to_markdown()


def test_a_precision_belongs_to_a_limit() -> None:
    with pytest.raises(MaceProblem, match="max_exposed: give the largest acceptable share"):
        macekit.release_size(TRAIN, HOLDOUT, RELEASED, at_precision=0.8)
    with pytest.raises(MaceProblem, match=r"at_precision: got 0\.3, need more than the prior, 0\.5"):
        macekit.release_size(TRAIN, HOLDOUT, RELEASED, max_exposed=0.1, at_precision=0.3)
