"""Clusters of rows that lie in an engine: counted there by cluster, and answered as the same rows are here."""

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import macekit
from macekit.call import Call
from macekit.engines import reading as frame_clusters
from macekit.engines.frames import frame_of
from tests.macekit.sources.conftest import Give
from tests.macekit.sources.support import NAMES

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis and DuckDB's

PERSONS, EACH = 60, 20
LABELS: dict[str, list[Any]] = {
    "numbers": [*range(PERSONS)],
    "text": [f"person {i:02}" for i in range(PERSONS)],
    "large integers": [2**62 + i for i in range(PERSONS)],
}


def of_persons(labels: list[Any]) -> pa.Table:
    """Scores on a grid of 1/64, twenty of each of 60 persons, of whom half are members."""
    rng = np.random.default_rng(8)
    person = np.repeat(np.arange(PERSONS), EACH)
    scores = rng.normal(size=PERSONS)[person] + rng.normal(size=len(person)) + (person < PERSONS // 2)
    return pa.table(
        {
            "loss": np.round(64 * scores) / 64,
            "is_train": person < PERSONS // 2,
            "person": pa.array([labels[each] for each in person]),
            "model": np.tile(np.arange(EACH), PERSONS),
            "region": [["north", "south"][each % 2] for each in person],
        }
    )


NUMBERED = of_persons(LABELS["numbers"])


def shuffled(records: pa.Table) -> pa.Table:
    return records.take(np.random.default_rng(9).permutation(len(records)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("labels", "clusters"), [("text", ["person"]), ("large integers", ["person", "model"])], ids=str
)
def test_rows_come_back_as_they_are_in_an_order_of_their_own(give, labels, clusters) -> None:
    """By their scores within the last column of labels, within that before it; of members first, then of others."""
    records = of_persons(LABELS[labels])
    frame = frame_of(give(shuffled(records)))
    assert frame is not None

    rows = frame_clusters.rows_by_cluster(
        frame, Call("advantage", query=(*NAMES.items(), ("cluster", ",".join(clusters)))), False
    )

    score, inside = (records[name].to_numpy(zero_copy_only=False) for name in NAMES.values())
    numbers = [np.unique(records[name].to_pylist(), return_inverse=True)[1] for name in clusters]
    order = np.lexsort([score, *numbers])
    sides = order[inside[order]], order[~inside[order]]
    np.testing.assert_array_equal(rows.members, score[sides[0]])
    np.testing.assert_array_equal(rows.nonmembers, score[sides[1]])
    for name, expected in zip(clusters, numbers, strict=True):
        np.testing.assert_array_equal(rows.clusters[name], expected[np.concatenate(sides)])
    assert [each.name for each in rows.columns if each.role == "cluster"] == clusters


@cache
def answer_here() -> macekit.Result:
    return macekit.estimate(of_persons(LABELS["text"]), **NAMES, cluster=["person", "model"])


@pytest.mark.slow
def test_the_answer_is_that_of_the_same_rows_here(give: Give) -> None:
    here = answer_here()

    there = macekit.estimate(give(shuffled(of_persons(LABELS["text"]))), **NAMES, cluster=["person", "model"])

    for end in ("lower", "upper", "estimate"):
        assert there.advantage[end] == pytest.approx(here.advantage[end], abs=1e-9)
    assert there.advantage.clusters["effective_sample"] == pytest.approx(here.advantage.clusters["effective_sample"])
    columns = [each["name"] for each in there.provenance.columns if each["role"] == "cluster"]
    assert columns == ["person", "model"]


@pytest.mark.slow
def test_each_question_that_counts_can_answer(give: Give) -> None:
    frame = give(NUMBERED)
    limits = {"cluster": "person", "group": "region", "max_advantage": 0.99, "max_group_risk": 0.99}

    gate, here = (macekit.gate(source, **NAMES, **limits) for source in (frame, NUMBERED))

    assert gate.decision == here.decision
    assert gate.clusters["numbers"] == [PERSONS]
    assert macekit.metrics(frame, **NAMES, cluster="person", metrics=["accuracy"]).clusters is not None
    assert macekit.audit(frame, **NAMES, cluster="person").claim is None


@pytest.mark.slow
def test_labels_that_all_differ_are_no_clusters(give: Give) -> None:
    records = NUMBERED.append_column("row", [np.arange(len(NUMBERED))])

    answer = macekit.estimate(give(records), **NAMES, cluster="row")

    assert answer.advantage.clusters["design_effect"] == 1.0


@pytest.mark.slow
def test_few_cells_are_no_categories(give: Give) -> None:
    """One score far out leaves the others in few cells of the grid, in which another order may be hidden."""
    scores = 1.0 + 1e-9 * NUMBERED["loss"].to_numpy()
    scores[0] = 1e300
    frame = give(NUMBERED.set_column(0, "loss", [scores]))

    answer = macekit.estimate(frame, **NAMES, cluster="person")

    assert "of similar values" in answer.sentence
    assert [each["code"] for each in answer["warnings"]].count("crowded_cell") == 1
    gate = macekit.gate(frame, **NAMES, cluster="person", max_advantage=0.99)
    assert gate["undecided_because"] == "crowded_cell"


REFUSED: dict[str, tuple[list[Any], str]] = {
    "a missing label": ([None, *range(1, PERSONS)], "every row needs one"),
    "one label": ([7] * PERSONS, "one label for all rows"),
    "few clusters": ([each % 5 for each in range(PERSONS)], "need at least 8"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("labels", "words"), REFUSED.values(), ids=REFUSED)
def test_what_no_clusters_are_is_refused(give: Give, labels: list[Any], words: str) -> None:
    records = of_persons(labels)
    records = records.set_column(0, "loss", [(64 * records["loss"].to_numpy()).astype(int)])

    with pytest.raises(macekit.MaceProblem, match=words) as problem:
        macekit.estimate(give(records), **NAMES, cluster="person")

    assert problem.value.field in {"cluster", "cluster.person"}


@pytest.mark.slow
def test_what_cannot_be_had_of_a_frame_is_refused(give: Give, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = give(NUMBERED.append_column("other", NUMBERED["loss"]))

    with pytest.raises(macekit.MaceProblem, match="only counts come back"):
        macekit.risk(frame, **NAMES, cluster="person")
    for whose in ("cluster", "unit"):
        with pytest.raises(macekit.MaceProblem, match="only counts come back"):
            macekit.compare(frame, score=["loss", "other"], member="is_train", **{whose: "person"})
    monkeypatch.setattr(frame_clusters, "MOST_ROWS", len(NUMBERED) - 1)
    with pytest.raises(macekit.MaceProblem, match="take some of the clusters at random") as problem:
        macekit.estimate(frame, **NAMES, cluster="person")
    assert problem.value.kind == "too-large"
