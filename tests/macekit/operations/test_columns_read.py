"""Every answer names the columns that were read, and how each was taken; what is called a label is no membership."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from macekit.call import ARROW, CSV, HTML, MARKDOWN, NPY, PARQUET
from macekit.reports.content import content
from macekit.reports.model import READ
from macekit.reports.text import text
from tests.cases import each_case
from tests.macekit.asking import ask
from tests.macekit.decoding.support import arrow_bytes, npy_bytes, table_bytes

RNG = np.random.default_rng(2)
CLASS = RNG.integers(0, 2, 400)
MEMBER = np.arange(400) % 2
LOSS = RNG.normal(size=400) + MEMBER
SIDES = {"members": LOSS[:200].tolist(), "nonmembers": LOSS[200:].tolist()}
COUNTED = {"counts": {"members": [20, 30], "nonmembers": [30, 20]}}
TABLE = {"label": CLASS, "loss": LOSS, "in_train": MEMBER, "age": CLASS + 20}


def read(answer: dict[str, Any]) -> dict[str, dict[str, Any]]:
    columns = answer["columns"] if "columns" in answer else answer["provenance"]["columns"]
    return {each["role"]: each for each in columns}


def column(role: str, name: str, kind: str, distinct: int | None, *notes: str) -> dict[str, Any]:
    """What an answer says of a column."""
    return {"role": role, "name": name, "kind": kind, "distinct": distinct, "notes": [*notes]}


@pytest.mark.slow
@each_case("media_type", [CSV, ARROW, PARQUET, NPY])
def test_the_columns_of_a_table_are_named_with_what_they_hold(media_type: str) -> None:
    body = table_bytes(TABLE, media_type)
    for operation in ("advantage", "counts", "report", "individual-risk"):
        group = {"group": "age"} if operation == "individual-risk" else {}

        columns = read(ask(operation, body, media_type, score="loss", **group))

        assert columns["score"] == column("score", "loss", "numbers", 400)
        assert (columns["member"]["name"], columns["member"]["distinct"]) == ("in_train", 2)
        assert columns["member"]["notes"] == ["1: members", "0: nonmembers"]
        assert ("group" in columns) == bool(group)
        if group:
            assert (columns["group"]["name"], columns["group"]["distinct"]) == ("age", 2)


def test_a_class_called_label_is_no_membership() -> None:
    body = table_bytes({"label": CLASS, "score": LOSS}, CSV)

    refused = ask("advantage", body, CSV)

    assert refused["type"].endswith("missing-field")
    assert "member=label" in refused["detail"]
    assert read(ask("advantage", body, CSV, member="label"))["member"]["name"] == "label"


def test_what_was_dropped_or_understood_is_said() -> None:
    lines = "\n".join(f" {k % 30},{'train' if k % 2 else 'test'}" for k in range(400))

    columns = read(ask("advantage", f"score,split\n{lines}\n".encode(), CSV))

    assert columns["score"] == column("score", "score", "integers", 30, "blanks around values dropped")
    assert columns["member"]["notes"] == ["train: members", "test: nonmembers"]


def test_columns_of_json_arrays_and_counts_go_by_their_fields() -> None:
    columns = ask("advantage", SIDES)["provenance"]["columns"]
    assert [each["name"] for each in columns] == ["members", "nonmembers"]
    assert read(ask("advantage", COUNTED)) == {"counts": column("counts", "counts", "counts", None)}
    alone = read(ask("advantage", npy_bytes(LOSS), NPY, members="200"))
    assert (alone["score"]["name"], alone["score"]["distinct"]) == ("0", 400)


@pytest.mark.parametrize("blocks", [False, True])
def test_many_values_are_not_counted_and_few_in_many_records_are(blocks: bool) -> None:
    many, few = np.arange(300_000) / 7, np.arange(300_000) % 900 / 7
    options = {} if blocks else {"cells": "equal_mass"}
    for scores, distinct in ((many, None), (few, 900)):
        body = arrow_bytes(pa.table({"score": scores, "member": np.arange(300_000) % 2}))

        assert read(ask("counts", body, ARROW, **options))["score"]["distinct"] == distinct


@pytest.mark.slow
@each_case("media_type", [CSV, ARROW, PARQUET, NPY])
def test_questions_of_theory_name_the_columns_of_their_table_and_json_its_arrays(media_type: str) -> None:
    swaps = {"who": CLASS, "a": LOSS, "b": LOSS + 0.1, "unused": MEMBER}
    roles = {"before": "a", "after": "b", "record": "who"}

    of_table = ask("theory/mip", table_bytes(swaps, media_type), media_type, **roles)["provenance"]
    of_json = ask("theory/mip", {role: swaps[name].tolist() for role, name in roles.items()})["provenance"]

    sides = [column("before", "a", "numbers", 400), column("after", "b", "numbers", 400)]
    assert of_table["columns"] == [*sides, column("record", "who", "integers", 2)]
    assert {each["role"]: each["name"] for each in of_json["columns"]} == {role: role for role in roles}
    assert of_json["arrays"] == of_table["arrays"] == sorted(roles)


def test_of_several_queries_each_names_its_own_columns() -> None:
    """A thousand queries, each with the columns of all, were an answer of 150 megabytes."""
    table = {"loss": LOSS, "margin": -LOSS, "in_train": MEMBER}

    of_table = ask("compare", table_bytes(table, CSV), CSV, score="loss,margin")
    of_json = ask("compare", {"queries": {"a": SIDES, "b": SIDES}})

    read_of = [[each["name"] for each in source["columns"]] for source in of_table["provenance"]]
    assert read_of == [["loss", "in_train"], ["margin", "in_train"]]
    assert [[(each["role"], each["name"]) for each in source["columns"]] for source in of_json["provenance"]] == [
        [("members", name), ("nonmembers", name)] for name in "ab"
    ]
    for shown in (text("compare", of_table), ask("compare", table_bytes(table, CSV), CSV, MARKDOWN)):
        assert all(name in shown for name in table)
    listed = ask("compare", table_bytes(table, CSV), CSV, MARKDOWN)
    for role, name in (("score", "loss"), ("score", "margin"), ("member", "in_train")):
        assert listed.count(f"| {role} | {name} |") == 1


def test_what_was_understood_of_an_array_is_said_and_a_question_of_nothing_read_none() -> None:
    padded = ask("theory/mis", b"city,n\n Oslo,3\nBergen,4\n Oslo,5\n", CSV, column="city", sizes="10")
    losses = table_bytes({"loss": LOSS, "in_train": MEMBER}, CSV)
    fitted = ask("theory/mis-overfitting", losses, CSV, score="loss")
    points = ask("theory/pmp-gaussian", npy_bytes(LOSS.reshape(-1, 4)), NPY, clip="1", sigma="1", delta="0.1")

    assert read(padded) == {"values": column("values", "city", "text", 2, "blanks around values dropped")}
    assert read(fitted)["score"]["name"] == "loss"
    assert read(fitted)["member"]["notes"] == ["1: members", "0: nonmembers"]
    assert read(points)["points"]["kind"] == "rows of 4 numbers"
    assert ask("theory/dp", {"epsilon": 1})["provenance"]["columns"] == []
    assert ask("theory/convert", {"eta": 0.1})["provenance"]["columns"] == []
    for shown in (text("theory/mis", padded), "".join(map(repr, content("theory/mis", padded).facts.items))):
        assert "city" in shown
        assert "blanks around values dropped" in shown


def test_the_first_screen_the_report_and_the_shell_name_them() -> None:
    body = table_bytes({"<b>loss</b>": LOSS, "in_train": MEMBER}, CSV)
    answer = ask("advantage", body, CSV)

    assert content("advantage", answer).facts.items[-1].label == READ
    texts = (text("advantage", answer), text("counts", ask("counts", body, CSV)))
    for shown in (*texts, *(ask("advantage", body, CSV, form) for form in (HTML, MARKDOWN))):
        assert "in_train" in shown
        assert "1: members" in shown
    assert "<b>loss" not in ask("advantage", body, CSV, HTML)


def test_arrays_taken_as_they_were_sent_are_not_worth_a_line() -> None:
    for body in (SIDES, COUNTED):
        answer = ask("advantage", body)
        assert "read:" not in text("advantage", answer)
        assert all(fact.label != READ for fact in content("advantage", answer).facts.items)
    assert READ in ask("advantage", SIDES, accept=MARKDOWN)


def test_of_many_columns_the_first_are_shown_and_the_others_counted() -> None:
    sides = {"members": LOSS[:20].tolist(), "nonmembers": LOSS[20:40].tolist()}
    body = {"queries": {f"q{place}": sides for place in range(30)}}
    answer = ask("compare", body)

    line = next(each for each in text("compare", answer).splitlines() if each.startswith("read: "))
    assert line.count(" from q") == 6
    assert "20 more in the JSON, at `provenance`." in ask("compare", body, accept=MARKDOWN)


@each_case("targets", [[[]], [[], []]])
def test_rows_of_nothing_are_no_targets(targets: list[Any]) -> None:
    records: list[dict[str, Any]] = [
        {"counts": {"members": [20, 30, 50], "nonmembers": [50, 40, 10], "edges": [0.2, 0.7]}},
        SIDES,
        {"members": [[1.0, 2.0]] * 20, "nonmembers": [[1.0, 3.0]] * 20},
    ]
    for sample in records:
        answer = ask("individual-risk", {**sample, "targets": targets})

        assert answer["detail"].startswith("targets: rows are empty")
