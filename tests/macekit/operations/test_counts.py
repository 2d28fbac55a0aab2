"""Counts by type alone: the same cells however the scores came, so that shards always merge."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from macekit.call import JSON, NPY, Body, Call
from macekit.operations import perform


def counted(call: Call, body: bytes) -> Any:
    reply = perform(call, Body.of(body))
    assert reply.status == 200, bytes(reply.body)
    return json.loads(bytes(reply.body))["counts"]


def as_json(members: NDArray[Any], nonmembers: NDArray[Any]) -> bytes:
    return json.dumps({"members": members.tolist(), "nonmembers": nonmembers.tolist()}).encode()


def as_npy(members: NDArray[Any], nonmembers: NDArray[Any]) -> tuple[Call, bytes]:
    sink = io.BytesIO()
    np.save(sink, np.concatenate([members, nonmembers]))
    return Call("counts", NPY, query=(("members", str(len(members))),)), sink.getvalue()


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

    whole = counted(Call("counts", JSON), as_json(members, nonmembers))
    streamed = counted(*as_npy(members, nonmembers))

    assert whole == streamed


@pytest.mark.parametrize("name", SIDES)
def test_what_was_counted_can_be_posted_again_and_merged(name: str) -> None:
    members, nonmembers = SIDES[name]
    parts = [as_json(members[i::2], nonmembers[i::2]) for i in range(2)]
    shards = [counted(Call("counts"), part) for part in parts]

    merged = counted(Call("counts"), json.dumps({"shards": shards}).encode())

    assert merged == counted(Call("counts"), as_json(members, nonmembers))
    assert perform(Call("advantage"), Body.of(json.dumps({"counts": merged}).encode())).status == 200
