"""Counts by type alone: the same cells however the scores came, so that shards always merge."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from macekit.call import NPY
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


@pytest.mark.parametrize("name", SIDES)
def test_json_and_a_stream_are_counted_on_the_same_cells(name: str) -> None:
    members, nonmembers = SIDES[name]
    stream = npy_bytes(np.concatenate([members, nonmembers]))

    whole = asked("counts", of(members, nonmembers))["counts"]

    assert asked("counts", stream, NPY, members=str(len(members)))["counts"] == whole


@pytest.mark.parametrize("name", SIDES)
def test_what_was_counted_can_be_posted_again_and_merged(name: str) -> None:
    members, nonmembers = SIDES[name]
    shards = [asked("counts", of(members[i::2], nonmembers[i::2]))["counts"] for i in range(2)]

    merged = asked("counts", {"shards": shards})["counts"]

    assert merged == asked("counts", of(members, nonmembers))["counts"]
    assert asked("advantage", {"counts": merged})


def of(members: NDArray[Any], nonmembers: NDArray[Any]) -> dict[str, Any]:
    return {"members": members.tolist(), "nonmembers": nonmembers.tolist()}
