"""Clusters of rows that lie in an engine: counted there by cluster, and answered as the same rows are here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import macekit
from macekit.sources import frame_clusters
from tests.macekit.sources.conftest import Give

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis and DuckDB's

PERSONS, EACH = 60, 20
NAMES = {"score": "loss", "member": "is_train"}


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


NUMBERED = of_persons([*range(PERSONS)])


def shuffled(records: pa.Table) -> pa.Table:
    return records.take(np.random.default_rng(9).permutation(len(records)))


@pytest.mark.parametrize(
    "labels",
    [[f"person {i}" for i in range(PERSONS)], [2**62 + i for i in range(PERSONS)]],
    ids=["text", "large integers"],
)
@pytest.mark.parametrize("cluster", ["person", ["person", "model"]], ids=str)
def test_the_answer_is_that_of_the_same_rows_here(give: Give, labels: list[Any], cluster: Any) -> None:
    records = of_persons(labels)

    here = macekit.estimate(records, **NAMES, cluster=cluster)
    there, again = (
        macekit.estimate(give(each), **NAMES, cluster=cluster) for each in (shuffled(records), records)
    )

    for end in ("lower", "upper", "estimate"):
        assert there.advantage[end] == pytest.approx(here.advantage[end], abs=1e-9)
    assert there.advantage.clusters["effective_sample"] == pytest.approx(
        here.advantage.clusters["effective_sample"]
    )
    assert there.provenance.input_sha256 == again.provenance.input_sha256
    assert [each["name"] for each in there.provenance.columns if each["role"] == "cluster"] == (
        ["person", "model"] if isinstance(cluster, list) else ["person"]
    )


def test_each_question_that_counts_can_answer(give: Give) -> None:
    frame = give(NUMBERED)

    gate = macekit.gate(
        frame, **NAMES, cluster="person", group="region", max_advantage=0.99, max_group_risk=0.99
    )
    here = macekit.gate(
        NUMBERED, **NAMES, cluster="person", group="region", max_advantage=0.99, max_group_risk=0.99
    )
    assert gate.decision == here.decision
    assert gate.clusters["numbers"] == [PERSONS]
    assert macekit.metrics(frame, **NAMES, cluster="person", metrics=["accuracy"]).clusters is not None
    assert macekit.audit(frame, **NAMES, cluster="person").claim is None


def test_labels_that_all_differ_are_no_clusters(give: Give) -> None:
    records = NUMBERED.append_column("row", [np.arange(len(NUMBERED))])

    answer = macekit.estimate(give(records), **NAMES, cluster="row")

    assert answer.advantage.clusters["design_effect"] == 1.0


def test_few_cells_are_no_categories(give: Give) -> None:
    """One score far out leaves the others in few cells of the grid, in which another order may be hidden."""
    scores = NUMBERED["loss"].to_numpy().copy()
    scores[0] = 1e300
    records = NUMBERED.set_column(0, "loss", [scores])

    answer = macekit.estimate(give(records), **NAMES, cluster="person")

    assert "of similar values" in answer.sentence


REFUSED: dict[str, tuple[list[Any], str]] = {
    "a missing label": ([None, *range(1, PERSONS)], "every row needs one"),
    "one label": ([7] * PERSONS, "one label for all rows"),
    "few clusters": ([each % 5 for each in range(PERSONS)], "need at least 8"),
}


@pytest.mark.parametrize(("labels", "words"), REFUSED.values(), ids=REFUSED)
def test_what_no_clusters_are_is_refused(give: Give, labels: list[Any], words: str) -> None:
    with pytest.raises(macekit.MaceProblem, match=words) as problem:
        macekit.estimate(give(of_persons(labels)), **NAMES, cluster="person")

    assert problem.value.field in {"cluster", "cluster.person"}


def test_more_rows_than_are_taken_are_refused_with_a_way_out(
    give: Give, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frame_clusters, "MOST_ROWS", len(NUMBERED) - 1)

    with pytest.raises(macekit.MaceProblem, match="take some of the clusters at random") as problem:
        macekit.estimate(give(NUMBERED), **NAMES, cluster="person")

    assert problem.value.kind == "too-large"


def test_the_risk_of_each_record_needs_the_records(give: Give) -> None:
    with pytest.raises(macekit.MaceProblem, match="only counts come back"):
        macekit.risk(give(NUMBERED), **NAMES, cluster="person")


@pytest.mark.parametrize("whose", ["cluster", "unit"])
def test_a_comparison_by_clusters_needs_the_records(give: Give, whose: str) -> None:
    frame = give(NUMBERED.append_column("other", NUMBERED["loss"]))

    with pytest.raises(macekit.MaceProblem, match="only counts come back"):
        macekit.compare(frame, score=["loss", "other"], member="is_train", **{whose: "person"})
