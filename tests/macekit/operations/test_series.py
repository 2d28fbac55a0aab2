"""``/v1/series`` of one sample whose groups are the steps: their order, and what cannot be a series."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import macekit
from estimators import Scores, advantage_series
from macekit.call import CSV
from macekit.text import in_order
from tests.cases import each_case
from tests.macekit.asking import asked, refused

RNG = np.random.default_rng(3)
N = 200
LABELS = [1, 2, 10]
SCORES: dict[str, Any] = {
    "members": RNG.normal(np.repeat(LABELS, N) / 10.0).tolist(),
    "nonmembers": RNG.normal(size=3 * N).tolist(),
}


def of(labels: list[Any]) -> dict[str, Any]:
    """The steps of the records, as labels of their own."""
    side = np.repeat(np.arange(3), N).tolist()
    return {name: [labels[at] for at in side] for name in ("members", "nonmembers")}


@each_case(
    "labels, order",
    ([1, 2, 10], ["1", "2", "10"]),
    ([10, 2, 1], ["1", "2", "10"]),
    ([0.5, 2.0, 10.0], ["0.5", "2", "10"]),
    (["1000", "200", "1e4"], ["200", "1000", "1e4"]),
    (["epoch 10", "epoch 2", "epoch 1"], ["epoch 1", "epoch 2", "epoch 10"]),
    (["final", "run/2", "run/10"], ["final", "run/2", "run/10"]),
)
def test_steps_come_in_the_order_of_their_labels(labels: list[Any], order: list[str]) -> None:
    answer = asked("series", {**SCORES, "groups": of(labels)})

    assert [step["name"] for step in answer["steps"]] == order
    assert [step["query"] for step in answer["steps"]] == order
    assert len(answer["provenance"]) == 3


def test_labels_of_any_kind_can_be_sorted_together() -> None:
    mixture = ["b", "7", "a 2", "a 10", "", "-3", "nan", "2a", "a", "a 2 b"]

    assert sorted(mixture, key=in_order) == ["-3", "7", "", "2a", "a", "a 2", "a 2 b", "a 10", "b", "nan"]


def test_it_is_the_series_of_the_scores_split_by_step() -> None:
    """On cells of all, which are as fine: the same to a tenth of the width of an interval."""
    answer = asked("series", {**SCORES, "groups": of(LABELS), "max_advantage": 0.5})
    sides = [np.split(np.array(SCORES[side]), 3) for side in ("members", "nonmembers")]
    steps = {str(label): Scores.of(a, b) for label, a, b in zip(LABELS, *sides, strict=True)}
    own = advantage_series(steps, 0.5)

    assert answer["decision"] is not None
    for step, other in zip(answer["steps"], own.steps, strict=True):
        for name in ("lower", "upper", "value"):
            wanted = getattr(other.estimate, name)
            assert step["estimate" if name == "value" else name] == pytest.approx(wanted, abs=0.03)


CELLS = {"members": [9, 9], "nonmembers": [9, 9]}
FIRST, SECOND = {"members": [9, 0], "nonmembers": [0, 9]}, {"members": [0, 8], "nonmembers": [9, 0]}
ONE_SHORT = {"by_group": [{"label": 1, **FIRST}, {"label": 2, **SECOND}]}
VECTORS = {"members": [[1, 2]] * 20, "nonmembers": [[1, 2]] * 20}


@each_case(
    "question, field, words",
    (SCORES, "groups", "at least 2 steps"),
    ({**SCORES, "groups": of([1, 1, 1])}, "groups", "at least 2 steps"),
    ({**SCORES, "groups": [1, 2] * 7}, "groups", "14 labels for 1200"),
    ({**SCORES, "groups": {"members": [1] * 3 * N, "nonmembers": [1, 2] * 300}}, "groups", "step 2 has 0 member"),
    ({"counts": CELLS}, "groups", "by_group"),
    ({"counts": CELLS | ONE_SHORT}, "groups", "in cell 1 all groups together have 8 members"),
    ({**VECTORS, "groups": [1, 2] * 20}, "members", "vectors"),
    ({"queries": {"a": SCORES}, "groups": [1]}, "groups", "one or the other"),
)
def test_what_is_no_series_is_refused(question: dict[str, Any], field: str, words: str) -> None:
    problem = refused("series", question)

    assert problem["field"] == field
    assert words in problem["detail"]


def test_a_column_of_steps_is_no_score_unless_it_is_named() -> None:
    rows = (b"%d,%d.5,%d\n" % (i % 2, i * 7 % 80, i // 2 % 2) for i in range(80))
    table = b"step,score,member\n" + b"".join(rows)

    assert "column 0 may say each row's step" in refused("series", table, CSV)["detail"]
    assert len(asked("series", table, CSV, group="step")["steps"]) == 2
    assert len(asked("series", table, CSV, score="step,score")["steps"]) == 2


@each_case("operation", "compare", "series", "compare-releases")
def test_units_have_no_part_where_several_queries_are_stated(operation: str) -> None:
    values = [[float(i % 7), float(i % 5)] for i in range(80)]
    queries = {
        name: {"members": [row[at] for row in values[:40]], "nonmembers": [row[at] for row in values[40:]]}
        for at, name in enumerate(("first", "second"))
    }
    units = {"members": [i // 4 for i in range(40)], "nonmembers": [10 + i // 4 for i in range(40)]}

    problem = refused(operation, {"queries": queries, "units": units})

    assert problem["field"] == "units", problem
    assert "by cluster instead" in problem["detail"]


def test_a_step_of_scores_of_which_one_is_frequent_is_counted_on_the_cells_of_all() -> None:
    """A grid keeps how often a frequent score occurs in all steps together, which a step by itself does not reach."""
    rng = np.random.default_rng(0)
    sides = {side: np.where(rng.random(900) < 0.1, 0.5, rng.normal(size=900)) for side in ("members", "nonmembers")}
    question = {**{side: scores.tolist() for side, scores in sides.items()}, "groups": [1, 2, 3] * 600}
    answer = asked("series", {**question, "max_advantage": 0.5})
    counted = asked("counts", question)
    of_counts = asked("series", {"counts": counted["counts"], "max_advantage": 0.5})

    assert [each["decision"] for each in answer["steps"]] == ["pass"] * 3
    assert [each["upper"] for each in answer["steps"]] == [each["upper"] for each in of_counts["steps"]]


@each_case("of_a_record", 1, 2)
def test_a_record_may_be_scored_at_every_step_and_stand_in_each_once(of_a_record: int, tmp_path: Path) -> None:
    """Looked at over all steps the records' numbers said that rows hang together, and no such table passed."""
    rng = np.random.default_rng(0)
    record = np.repeat(np.arange(1000), of_a_record)
    own = rng.normal(size=1000)[record]
    table = {
        "record_id": np.tile(record, 3),
        "member": np.tile(record % 2, 3),
        "step": np.repeat([100, 200, 300], len(record)),
        "loss": np.concatenate([own + 0.2 * rng.normal(size=len(record)) for _ in range(3)]),
    }
    rows = zip(*(each.tolist() for each in table.values()), strict=True)
    text = "\n".join([",".join(table), *(",".join(map(str, row)) for row in rows)])
    (tmp_path / "steps.csv").write_text(text)
    answers = [
        macekit.advantage_series(table, score="loss", by="step", max_advantage=0.3).answer,
        macekit.advantage_series(str(tmp_path / "steps.csv"), score="loss", by="step", max_advantage=0.3).answer,
        asked("series", text.encode(), media_type="text/csv", score="loss", group="step", max_advantage=0.3),
    ]

    for answer in answers:
        said = [each["code"] for each in answer["warnings"]]
        assert answer["decision"] == ("pass" if of_a_record == 1 else "not applicable"), said
        assert ("dependent_rows" in said) == (of_a_record == 2)
