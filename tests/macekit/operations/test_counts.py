"""Counts by type alone: the same cells however the scores came, so that shards always merge."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from macekit.call import NPY
from tests.cases import each_case
from tests.macekit.asking import asked
from tests.macekit.decoding.support import npy_bytes

rng = np.random.default_rng(0)
SIDES = {
    "floats of few values": (rng.integers(0, 3, 200) / 2.0, rng.integers(0, 3, 200) / 2.0),
    "floats of many values": (rng.normal(size=200), rng.normal(size=200)),
    "integers of few values": (rng.integers(0, 5, 200), rng.integers(0, 5, 200)),
    "integers of many values": (rng.integers(0, 300, 200), rng.integers(0, 300, 200)),
    "floats near the largest": (rng.uniform(1e307, 1.7e308, 20), rng.uniform(1e307, 1.7e308, 20)),
}


@each_case("name", SIDES)
def test_a_stream_and_merged_shards_are_counted_on_the_same_cells_as_json(name: str) -> None:
    members, nonmembers = SIDES[name]
    whole = asked("counts", of(members, nonmembers))["counts"]
    stream = npy_bytes(np.concatenate([members, nonmembers]))
    shards = [asked("counts", of(members[i::2], nonmembers[i::2]))["counts"] for i in range(2)]

    merged = asked("counts", {"shards": shards})["counts"]

    assert asked("counts", stream, NPY, members=str(len(members)))["counts"] == whole
    assert merged == whole
    assert asked("advantage", {"counts": merged})


def of(members: NDArray[Any], nonmembers: NDArray[Any]) -> dict[str, Any]:
    return {"members": members.tolist(), "nonmembers": nonmembers.tolist()}
