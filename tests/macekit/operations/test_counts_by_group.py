"""Counts with the records of each group: made, posted back, and refused where they are none."""

from typing import Any

import numpy as np
import pytest

from tests.cases import each_case
from tests.macekit.asking import asked, refused

RNG = np.random.default_rng(6)
SIZE = 300
SIDES = {"members": RNG.normal(1, 1, SIZE), "nonmembers": RNG.normal(0, 1, SIZE)}
SAMPLE = {side: np.round(scores, 2).tolist() for side, scores in SIDES.items()}
GROUPS = {side: RNG.choice(["eu", "us"], SIZE).tolist() for side in SAMPLE}
COUNTS = asked("counts", {**SAMPLE, "groups": GROUPS})["counts"]
PLAIN = {name: value for name, value in COUNTS.items() if name != "by_group"}


@each_case("cells", [{}, {"cells": "equal_mass", "bins": 12}, {"cells": "edges", "edges": [0.0, 0.5]}])
def test_counts_posted_back_answer_what_is_asked_of_groups(cells: dict[str, Any]) -> None:
    counts = asked("counts", {**SAMPLE, "groups": GROUPS, **cells})["counts"]
    plain = asked("counts", {**SAMPLE, **cells})["counts"]

    report, bare = asked("report", {"counts": counts}), asked("report", {"counts": plain})
    gate = asked("gate", {"counts": counts, "max_group_risk": 0.3})
    own = asked("gate", {"counts": counts, "max_group_advantage": 0.3})

    assert {name: value for name, value in counts.items() if name != "by_group"} == plain
    assert {row["label"]: row["n_members"] for row in report["groups"]} == {
        label: GROUPS["members"].count(label) for label in ("eu", "us")
    }
    assert report["risk"] == bare["risk"]
    assert report["result"]["advantage"] == bare["result"]["advantage"]
    assert gate["limits"][0]["estimate"] == max(row["risk"] for row in report["groups"])
    assert [(row["label"], row["n_members"]) for row in own["groups"]] == [
        (row["label"], row["n_members"]) for row in report["groups"]
    ]
    assert own["limits"][0]["upper"] <= max(row["advantage"]["upper"] for row in report["groups"])
    assert asked("counts", {"counts": counts})["counts"] == counts


@pytest.mark.slow
def test_others_take_no_notice_of_groups() -> None:
    for operation, more in (("advantage", {}), ("metrics", {}), ("gate", {"max_advantage": 0.5})):
        assert asked(operation, {"counts": COUNTS, **more}) == asked(operation, {"counts": PLAIN, **more})


FIRST, SECOND = COUNTS["by_group"]


WRONG: dict[str, Any] = {
    "a number": 12,
    "a list of names": ["eu", "us"],
    "an object": {"eu": FIRST},
    "a field too many": [FIRST | {"n": 3}, SECOND],
    "a field too few": [{name: FIRST[name] for name in ("members", "nonmembers")}, SECOND],
    "a record too many": [FIRST | {"members": [FIRST["members"][0] + 1, *FIRST["members"][1:]]}, SECOND],
    "a cell too few": [FIRST | {"members": FIRST["members"][:-1]}, SECOND],
    "a group too few": [FIRST],
    "text": [FIRST | {"members": ["1"] * len(FIRST["members"])}, SECOND],
    "numbers beyond any": [FIRST | {"members": [10**30, *FIRST["members"][1:]]}, SECOND],
    "a null label": [FIRST | {"label": None}, SECOND],
}


@pytest.mark.parametrize("change", WRONG)
@each_case("operation, more", [("report", {}), ("gate", {"max_group_risk": 0.3}), ("counts", {}), ("metrics", {})])
def test_groups_that_are_none_are_refused(change: str, operation: str, more: dict[str, Any]) -> None:
    problem = refused(operation, {"counts": {**COUNTS, "by_group": WRONG[change]}, **more})

    assert problem["field"] in ("counts", "groups", "counts.by_group.members", "counts.by_group[0].members")


def part(rows: slice, groups: bool = True, scale: float = 1.0) -> dict[str, Any]:
    """The counts of some of the records."""
    sample = {side: (np.array(scores[rows]) * scale).tolist() for side, scores in SAMPLE.items()}
    labels = {"groups": {side: each[rows] for side, each in GROUPS.items()}} if groups else {}
    counts: dict[str, Any] = asked("counts", {**sample, **labels})["counts"]
    return counts


@pytest.mark.parametrize("scale", [1.0, 1000.0, 1e-9])
def test_groups_of_shards_are_those_of_all_records(scale: float) -> None:
    """A shard of larger scores has coarser cells, into which those of the other one go."""
    first, second = part(slice(0, 100)), part(slice(100, None), scale=scale)
    more = {side: (np.array(scores[100:]) * scale).tolist() for side, scores in SAMPLE.items()}
    sample = {side: [*scores[:100], *more[side]] for side, scores in SAMPLE.items()}
    whole = asked("counts", {**sample, "groups": GROUPS})["counts"]
    whole["cells"].pop("frequent", None)  # what is frequent in a small part need not be in all

    for shards in ([first, second], [second, first]):
        merged = asked("counts", {"shards": shards})["counts"]
        merged["cells"].pop("frequent", None)
        assert merged == whole


def test_a_group_need_not_be_in_every_shard() -> None:
    numbers = {
        name: {"members": [5, 3], "nonmembers": [1, 7], "cells": {"kind": "categories", "labels": labels}}
        for name, labels in (("north", ["a", "b"]), ("south", ["b", "c"]))
    }
    sides = "members", "nonmembers"
    rows = {name: {"label": name, **{side: each[side] for side in sides}} for name, each in numbers.items()}
    shards = [{**each, "by_group": [rows[name]]} for name, each in numbers.items()]

    counts = asked("counts", {"shards": shards})["counts"]

    assert counts["members"] == [5, 8, 3]
    assert counts["by_group"] == [
        {"label": "north", "members": [5, 3, 0], "nonmembers": [1, 7, 0]},
        {"label": "south", "members": [0, 5, 3], "nonmembers": [0, 1, 7]},
    ]


def test_what_does_not_go_with_groups_is_said() -> None:
    some, others = part(slice(0, 100)), part(slice(100, None), groups=False)

    for operation, question, words in (
        ("counts", {**SAMPLE, "groups": ["a"] * 3}, "3 labels for 600 records"),
        ("counts", {**SAMPLE, "groups": GROUPS, "units": list(range(600))}, "do not go with units"),
        ("counts", {"shards": [some, others]}, "shard 1 has no by_group"),
        ("counts", {"shards": [some], "groups": ["a"]}, "nothing beside it"),
        ("counts", {"counts": PLAIN, "groups": ["a"]}, "none is in a group"),
        ("gate", {"counts": PLAIN, "max_group_risk": 0.3}, "with those of each group"),
        ("gate", {"counts": PLAIN, "max_group_advantage": 0.3}, "with those of each group"),
    ):
        assert words in refused(operation, question)["detail"]
