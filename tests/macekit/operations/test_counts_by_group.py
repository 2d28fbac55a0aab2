"""Counts with the records of each group: made, posted back, and refused where they are none."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from macekit.call import JSON, Body, Call
from macekit.operations import perform

RNG = np.random.default_rng(6)
SIZE = 300
SAMPLE = {
    "members": np.round(RNG.normal(1, 1, SIZE), 2).tolist(),
    "nonmembers": np.round(RNG.normal(0, 1, SIZE), 2).tolist(),
}
GROUPS = {side: RNG.choice(["eu", "us"], SIZE).tolist() for side in SAMPLE}


def answer(operation: str, document: dict[str, Any], status: int = 200) -> Any:
    reply = perform(Call(operation, JSON), Body.of(json.dumps(document).encode()))
    assert reply.status == status, bytes(reply.body)
    return json.loads(bytes(reply.body))


@pytest.mark.parametrize(
    "cells", [{}, {"cells": "equal_mass", "bins": 12}, {"cells": "edges", "edges": [0.0, 0.5]}]
)
def test_counts_posted_back_answer_what_is_asked_of_groups(cells: dict[str, Any]) -> None:
    counts = answer("counts", {**SAMPLE, "groups": GROUPS, **cells})["counts"]
    plain = answer("counts", {**SAMPLE, **cells})["counts"]

    report, bare = answer("report", {"counts": counts}), answer("report", {"counts": plain})
    gate = answer("gate", {"counts": counts, "max_group_risk": 0.3})

    assert {name: value for name, value in counts.items() if name != "by_group"} == plain
    assert [row["label"] for row in report["groups"]] == ["eu", "us"]
    assert [row["n_members"] for row in report["groups"]] == [
        GROUPS["members"].count(each) for each in ("eu", "us")
    ]
    assert report["risk"] == bare["risk"]
    assert report["result"]["advantage"] == bare["result"]["advantage"]
    assert gate["limits"][0]["estimate"] == max(row["risk"] for row in report["groups"])
    assert answer("counts", {"counts": counts})["counts"] == counts


def test_others_take_no_notice_of_groups() -> None:
    counts = answer("counts", {**SAMPLE, "groups": GROUPS})["counts"]
    plain = {name: value for name, value in counts.items() if name != "by_group"}

    for operation, more in (("advantage", {}), ("metrics", {}), ("gate", {"max_advantage": 0.5})):
        assert answer(operation, {"counts": counts, **more}) == answer(operation, {"counts": plain, **more})


def wrong(change: str) -> dict[str, Any]:
    counts = answer("counts", {**SAMPLE, "groups": GROUPS})["counts"]
    first = counts["by_group"][0]
    match change:
        case "a number":
            counts["by_group"] = 12
        case "a list of names":
            counts["by_group"] = ["eu", "us"]
        case "an object":
            counts["by_group"] = {"eu": first}
        case "a field too many":
            first["n"] = 3
        case "a field too few":
            del first["label"]
        case "a record too many":
            first["members"][0] += 1
        case "a cell too few":
            first["members"].pop()
        case "a group too few":
            counts["by_group"].pop()
        case "text":
            first["members"] = ["1"] * len(counts["members"])
        case "numbers beyond any":
            first["members"][0] = 10**30
        case "a null label":
            first["label"] = None
    return dict(counts)


@pytest.mark.parametrize(
    "change",
    [
        "a number",
        "a list of names",
        "an object",
        "a field too many",
        "a field too few",
        "a record too many",
        "a cell too few",
        "a group too few",
        "text",
        "numbers beyond any",
        "a null label",
    ],
)
@pytest.mark.parametrize(
    ("operation", "more"),
    [("report", {}), ("gate", {"max_group_risk": 0.3}), ("counts", {}), ("metrics", {})],
)
def test_groups_that_are_none_are_refused(change: str, operation: str, more: dict[str, Any]) -> None:
    problem = answer(operation, {"counts": wrong(change), **more}, 422)

    assert problem["field"] in ("counts", "groups", "counts.by_group.members", "counts.by_group[0].members")


@pytest.mark.parametrize(
    ("document", "match"),
    [
        ({"groups": ["a"] * 3}, "3 labels for 600 records"),
        ({"groups": GROUPS, "units": list(range(600))}, "do not go with units"),
    ],
)
def test_labels_that_say_nothing_of_the_records_are_refused(document: dict[str, Any], match: str) -> None:
    assert match in answer("counts", {**SAMPLE, **document}, 422)["detail"]


def part(rows: slice, groups: bool = True, scale: float = 1.0) -> dict[str, Any]:
    """The counts of some of the records."""
    sample = {side: (np.array(scores[rows]) * scale).tolist() for side, scores in SAMPLE.items()}
    labels = {"groups": {side: each[rows] for side, each in GROUPS.items()}} if groups else {}
    counts: dict[str, Any] = answer("counts", {**sample, **labels})["counts"]
    return counts


@pytest.mark.parametrize("scale", [1.0, 1000.0, 1e-9])
def test_groups_of_shards_are_those_of_all_records(scale: float) -> None:
    """A shard of larger scores has coarser cells, into which those of the other one go."""
    first, second = part(slice(0, 100)), part(slice(100, None), scale=scale)
    sample = {
        side: [*scores[:100], *(np.array(scores[100:]) * scale).tolist()] for side, scores in SAMPLE.items()
    }
    whole = answer("counts", {**sample, "groups": GROUPS})["counts"]

    for shards in ([first, second], [second, first]):
        assert answer("counts", {"shards": shards})["counts"] == whole


def test_a_group_need_not_be_in_every_shard() -> None:
    numbers = {
        name: {"members": [5, 3], "nonmembers": [1, 7], "cells": {"kind": "categories", "labels": labels}}
        for name, labels in (("north", ["a", "b"]), ("south", ["b", "c"]))
    }
    shards = [
        {**each, "by_group": [{"label": name, **{side: each[side] for side in ("members", "nonmembers")}}]}
        for name, each in numbers.items()
    ]

    counts = answer("counts", {"shards": shards})["counts"]

    assert counts["members"] == [5, 8, 3]
    assert counts["by_group"] == [
        {"label": "north", "members": [5, 3, 0], "nonmembers": [1, 7, 0]},
        {"label": "south", "members": [0, 5, 3], "nonmembers": [0, 1, 7]},
    ]


def test_shards_with_and_without_groups_are_refused() -> None:
    shards = [part(slice(0, 100)), part(slice(100, None), groups=False)]

    assert "shard 1 has no by_group" in answer("counts", {"shards": shards}, 422)["detail"]
    assert "nothing beside it" in answer("counts", {"shards": shards[:1], "groups": ["a"]}, 422)["detail"]


def test_groups_called_by_numbers_do_not_go_with_groups_called_by_text() -> None:
    counts = part(slice(0, 100))
    by_number = {**counts, "by_group": [{**each, "label": i} for i, each in enumerate(counts["by_group"])]}

    assert "all text or all numbers" in answer("counts", {"shards": [counts, by_number]}, 422)["detail"]


def test_labels_do_not_go_with_counts() -> None:
    counts = answer("counts", SAMPLE)["counts"]

    assert "none is in a group" in answer("counts", {"counts": counts, "groups": ["a"]}, 422)["detail"]


def test_a_limit_for_groups_needs_them() -> None:
    counts = answer("counts", SAMPLE)["counts"]

    assert (
        "with those of each group" in answer("gate", {"counts": counts, "max_group_risk": 0.3}, 422)["detail"]
    )
