"""Records that are counted where most of them share a cell: counted once more there, where they can be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import macekit
from estimators.decisions.coverage import NOT_SHOWN
from macekit.sources import reading
from tests.macekit.sources.conftest import Give

RNG = np.random.default_rng(0)
N = 5000
INSIDE = np.arange(2 * N) % 2 == 0


def of(members: np.ndarray, nonmembers: np.ndarray) -> pa.Table:
    scores = np.empty(2 * N)
    scores[INSIDE], scores[~INSIDE] = members, nonmembers
    return pa.table({"score": scores, "member": INSIDE, "region": np.where(np.arange(2 * N) % 3, "a", "b")})


def often(value: float, share: float = 0.3) -> np.ndarray:
    return np.where(RNG.random(N) < share, value, RNG.random(N))


WORLDS = {
    "one far score": of(RNG.gamma(2, 0.05, N), np.append(RNG.gamma(2, 0.5, N - 1), 1e9)),
    "close to 1": of(1 - 1e-7 * RNG.random(N), np.where(RNG.random(N) < 0.2, RNG.random(N), 1 - 1e-5 * RNG.random(N))),
    "close to 100": of(
        100 - 1e-5 * RNG.random(N), 100 * np.where(RNG.random(N) < 0.2, RNG.random(N), 1 - 1e-5 * RNG.random(N))
    ),
    "losses of a model that has learned all": of(RNG.lognormal(-11, 2.5, N), RNG.lognormal(-9.5, 2.5, N)),
    "both ends": of(np.append(-1e9, often(1.0)[1:] - 1), np.append(1e9, often(1.0)[1:])),
    "every magnitude": of(*(10.0 ** RNG.uniform(-300, 300, (2, N)))),
    "a third is 1": of(often(1.0), often(1.0)),
    "a third is 0": of(often(-0.0), often(0.0)),
    "close to 1, a third the same": of(
        np.where(RNG.random(N) < 0.3, 1 - 2e-9, 1 - 1e-7 * RNG.random(N)),
        np.select([RNG.random(N) < 0.3, RNG.random(N) < 0.2], [1 - 2e-9, RNG.random(N)], 1 - 1e-5 * RNG.random(N)),
    ),
}
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis and DuckDB's

CLOSE = WORLDS["close to 100"]


def ends(answer: macekit.Result) -> tuple[str, float, float]:
    limit = answer["limits"][0]
    return answer["decision"], limit["lower"], limit["upper"]


def in_a_file(records: pa.Table, path: Path) -> list[str]:
    pq.write_table(records, path / "scores.parquet", row_group_size=3000)
    return [str(path / "scores.parquet")]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of more than a few bytes are counted."""
    monkeypatch.setattr(reading, "LARGE", 1000)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.usefixtures("counted")
def test_a_file_that_is_counted_is_judged_as_its_records(world: str, tmp_path: Path) -> None:
    records = WORLDS[world]
    of_records = ends(macekit.gate(records, max_advantage=0.2))
    answer = macekit.gate(in_a_file(records, tmp_path), max_advantage=0.2)

    assert ends(answer)[0] == of_records[0]
    assert ends(answer)[1:] == pytest.approx(of_records[1:], abs=0.01)
    assert "crowded_cell" not in {each["code"] for each in answer["warnings"]}


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.usefixtures("counted")
def test_an_engine_counts_crowded_cells_as_a_file_is_counted(give: Give, world: str, tmp_path: Path) -> None:
    there, here = (
        macekit.gate(each, max_advantage=0.2) for each in (give(WORLDS[world]), in_a_file(WORLDS[world], tmp_path))
    )

    assert there["limits"] == here["limits"]
    assert there["provenance"]["input_sha256"] == here["provenance"]["input_sha256"]


@pytest.mark.usefixtures("counted")
def test_groups_that_one_file_has_as_text_are_cut_again_with_those_of_another(tmp_path: Path) -> None:
    of_both = CLOSE.set_column(2, "region", [np.arange(2 * N) % 3])
    paths = [str(tmp_path / "0.csv"), str(tmp_path / "1.parquet"), str(tmp_path / "all.parquet")]
    pyarrow.csv.write_csv(of_both.slice(0, N), paths[0])
    pq.write_table(of_both.slice(N), paths[1])
    pq.write_table(of_both, paths[2])

    together, alone = (
        macekit.gate(each, group="region", max_group_advantage=0.9).answer for each in (paths[:2], paths[2:])
    )

    assert together["limits"] == alone["limits"]
    assert [each["label"] for each in together["groups"]] == ["0", "1", "2"]
    assert [each | {"label": ""} for each in together["groups"]] == [each | {"label": ""} for each in alone["groups"]]


@pytest.mark.usefixtures("counted")
def test_scores_of_a_counted_file_are_doubted_and_counts_that_came_say_what_they_do_not_show(tmp_path: Path) -> None:
    a, b = np.random.default_rng(4).normal(size=(2, N))
    short = of(a, b.astype(np.float32).astype(np.float64))

    for asked in ({"max_advantage": 0.15}, {"group": "region", "max_group_advantage": 0.3}):
        answer = macekit.gate(in_a_file(short, tmp_path), **asked).answer
        assert answer["undecided_because"] == "sides_differ_in_precision"
    posted = macekit.gate(counts=macekit.counts(short)["counts"], max_advantage=0.15)
    assert posted.decision == "pass"
    assert NOT_SHOWN in posted.covers
    held = macekit.gate(in_a_file(of(a, b), tmp_path), max_advantage=0.15)
    assert held.decision == "pass"
    assert NOT_SHOWN not in held.covers


def among(values: list[float]) -> np.ndarray:
    """Beside scores that no two share, some that many have, inside cells and not at their ends."""
    return np.where(RNG.random(N) < 0.4, RNG.choice(values, N), RNG.random(N))


OFTEN = [0.82, 0.5008, 0.99705, 1e-3]
INSIDE_CELLS = of(np.append(1e6, among(OFTEN)[1:]), among(OFTEN))


@pytest.mark.slow
@pytest.mark.parametrize("groups", [{}, {"group": "region"}], ids=["all", "of groups"])
def test_an_engine_knows_scores_that_many_have_wherever_they_lie_in_a_cell(give: Give, groups: dict[str, str]) -> None:
    """Of those inside a cell nothing was known, and half of such counts were no pass, though there is no leak."""
    scores = INSIDE_CELLS["score"].to_numpy()
    counts = macekit.counts(give(INSIDE_CELLS), **groups)["counts"]

    assert counts["cells"]["frequent"] == [
        {"score": each, "members": (scores[INSIDE] == each).sum(), "nonmembers": (scores[~INSIDE] == each).sum()}
        for each in sorted(OFTEN)
    ]
    assert macekit.gate(counts=counts, max_advantage=0.2).decision == "pass"


GROUPS: dict[str, Any] = {"group": "region", "max_group_advantage": 0.15}
OF_A_GROUP = of(RNG.random(N), RNG.random(N))
"""In one region all scores are close to 1, and leak there."""
scores = OF_A_GROUP["score"].to_numpy().copy()
few = np.flatnonzero(OF_A_GROUP["region"].to_numpy(zero_copy_only=False) == "b")[:2000]
scores[few] = 1 - np.where(INSIDE[few], 1e-8, 1e-6) * RNG.random(2000)
OF_A_GROUP = OF_A_GROUP.set_column(0, "score", [scores])


def of_groups(answer: macekit.Result) -> list[tuple[Any, ...]]:
    return [(each["label"], each["decision"], *each["advantage"].values()) for each in answer["groups"]]


@pytest.mark.parametrize("world", [*WORLDS, "of a group"])
@pytest.mark.usefixtures("counted")
def test_groups_of_a_file_are_judged_as_those_of_its_records(world: str, tmp_path: Path) -> None:
    records = WORLDS.get(world, OF_A_GROUP)
    answer = macekit.gate(in_a_file(records, tmp_path), **GROUPS)
    for counted, of_records in zip(of_groups(answer), of_groups(macekit.gate(records, **GROUPS)), strict=True):
        assert counted[:2] == of_records[:2]
        assert counted[2:] == pytest.approx(of_records[2:], abs=0.02)
    assert answer["decision"] == ("pass" if world.startswith(("a third", "every")) else "fail")


@pytest.mark.slow
@pytest.mark.parametrize("world", ["losses of a model that has learned all", "a third is 1", "of a group"])
@pytest.mark.usefixtures("counted")
def test_an_engine_counts_crowded_cells_of_groups_as_a_file_is_counted(give: Give, world: str, tmp_path: Path) -> None:
    records = WORLDS.get(world, OF_A_GROUP)
    there, here = (macekit.gate(each, **GROUPS) for each in (give(records), in_a_file(records, tmp_path)))

    assert of_groups(there) == of_groups(here)


@pytest.mark.usefixtures("counted")
def test_what_cannot_be_read_again_does_not_pass() -> None:
    answer = macekit.gate(iter(CLOSE.to_batches(max_chunksize=1000)), max_advantage=0.999)

    assert answer["undecided_because"] == "crowded_cell"
    assert [each["code"] for each in answer["warnings"]].count("crowded_cell") == 1


COUNTED: dict[str, Callable[[pa.Table, Path], macekit.Result]] = {
    "a file": lambda records, path: macekit.counts(in_a_file(records, path)),
    "batches": lambda records, path: macekit.counts(iter(records.to_batches(max_chunksize=1000))),
    "parts": lambda records, path: macekit.merged(map(macekit.partial, records.to_batches(max_chunksize=1000))),
    "shards": lambda records, path: macekit.counts(
        shards=[macekit.counts(records.slice(at, 1000))["counts"] for at in range(0, 2 * N, 1000)]
    ),
}


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.usefixtures("counted")
def test_counts_that_merge_are_judged_as_the_records_but_where_these_crowd_elsewhere(
    world: str, tmp_path: Path
) -> None:
    of_records = ends(macekit.gate(WORLDS[world], max_advantage=0.2))
    by_counts = {}
    for way, count in COUNTED.items():
        counts = count(WORLDS[world], tmp_path)["counts"]
        by_counts[way] = macekit.gate(counts=counts, max_advantage=0.2)

        if world == "close to 100":
            assert by_counts[way]["undecided_because"] == "crowded_cell"
            continue
        assert ends(by_counts[way])[0] == of_records[0]
        assert ends(by_counts[way])[1:] == pytest.approx(of_records[1:], abs=0.01)
    assert len({ends(each) for each in by_counts.values()}) == 1


@pytest.mark.usefixtures("counted")
def test_records_that_change_between_two_readings_are_counted_as_they_were_read_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = in_a_file(CLOSE, tmp_path)
    first = macekit.gate(counts=macekit.counts(files)["counts"], max_advantage=0.99)

    def changes_first(*arguments: Any) -> Any:
        in_a_file(CLOSE.slice(0, 2 * N - 7), tmp_path)
        return cut(*arguments)

    cut = reading._with_crowds_cut
    monkeypatch.setattr(reading, "_with_crowds_cut", changes_first)
    again = macekit.gate(files, max_advantage=0.99)

    assert again["undecided_because"] == "crowded_cell"
    assert ends(again) == ends(first)


@pytest.mark.usefixtures("counted")
def test_the_risk_of_each_record_is_looked_up_in_the_finer_cells(tmp_path: Path) -> None:
    macekit.write_risks(in_a_file(WORLDS["one far score"], tmp_path), str(tmp_path / "risks.parquet"))
    posterior = pq.read_table(tmp_path / "risks.parquet")["posterior"].to_numpy()

    assert np.median(posterior[INSIDE]) > 0.9
    assert np.median(posterior[~INSIDE]) < 0.1
