"""``exposed`` over every door: the same names, as an answer, a table and a report."""

import io
import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import macekit
from estimators import Scores
from estimators.audits.exposed import exposed_members
from macekit import MaceProblem
from macekit.call import ARROW, CSV, HTML, JSON, Body, Call
from macekit.operations import perform
from tests.cases import refusals

RNG = np.random.default_rng(5)
MEMBERS = np.append(RNG.normal(size=180), RNG.normal(7.0, 0.5, 20)).round(3)
NONMEMBERS = RNG.normal(size=900).round(3)
POSTED = json.dumps({"members": MEMBERS.tolist(), "nonmembers": NONMEMBERS.tolist()}).encode()


def asked(body: bytes, media_type: str = JSON, accept: str = JSON, **query: str) -> bytes:
    reply = perform(Call("exposed", media_type, accept=accept, query=tuple(query.items())), Body.of(body))
    assert reply.status == 200, bytes(reply.body)
    return bytes(reply.body)


@pytest.mark.slow
def test_every_door_names_the_same_members() -> None:
    own = exposed_members(Scores.of(MEMBERS, NONMEMBERS))
    answer = json.loads(asked(POSTED))
    python = macekit.exposed(MEMBERS, NONMEMBERS)

    assert answer["listed"] == own.listed.tolist() == python.listed
    assert (answer["at_least"], answer["sentence"]) == (own.at_least, own.sentence)
    assert answer["guarantee"]["finite_sample"] is True
    assert answer["lists"][-1]["records"] == 200
    assert all(each["most_false"] <= each["records"] for each in answer["lists"])


@pytest.mark.slow
def test_a_table_has_a_row_for_each_member_as_csv_and_as_arrow() -> None:
    own = exposed_members(Scores.of(MEMBERS, NONMEMBERS))

    by_csv, by_arrow = asked(POSTED, accept=CSV), asked(POSTED, accept=ARROW)
    tables = [csv.read_csv(io.BytesIO(by_csv)), pa.ipc.open_stream(by_arrow).read_all()]

    for table in tables:
        assert table["index"].to_pylist() == list(range(200))
        assert table["listed"].to_pylist() == own.is_listed.tolist()
        np.testing.assert_allclose(table["false_share"].to_numpy(), own.false_share, rtol=1e-12)
    assert json.loads(tables[1].schema.metadata[b"mace"])["sentence"] == own.sentence


@pytest.mark.slow
def test_of_a_table_the_names_are_its_rows() -> None:
    rows = [(score, 1) for score in MEMBERS] + [(score, 0) for score in NONMEMBERS]
    order = np.random.default_rng(1).permutation(len(rows))
    text = "score,member\n" + "".join(f"{rows[i][0]},{rows[i][1]}\n" for i in order)

    answer = json.loads(asked(text.encode(), CSV, max_false_share="0.4"))

    named = {rows[order[row]] for row in answer["listed"]}
    assert {(score, 1) for score in MEMBERS[180:]} <= named
    assert all(member == 1 for _, member in named)


@pytest.mark.slow
def test_of_each_unit_one_record_is_listed_in_its_place() -> None:
    members, nonmembers = np.repeat(MEMBERS, 3), np.repeat(NONMEMBERS, 3)
    table = {"score": np.concatenate([members, nonmembers]), "member": np.repeat([True, False], [600, 2700])}
    table["person"] = np.repeat(np.arange(1100), 3)

    answer, other = (macekit.exposed(table, unit="person", seed=seed, max_false_share=0.4) for seed in (1, 2))

    assert answer.n_members == 200
    assert {place // 3 for place in answer.listed} >= set(range(180, 200))
    assert sorted(place // 3 for place in answer.listed) == sorted(place // 3 for place in other.listed)
    assert answer.listed != other.listed


@pytest.mark.slow
def test_a_report_draws_how_right_a_list_is() -> None:
    page = asked(POSTED, accept=HTML).decode()

    assert "<svg" in page
    assert "Which members are exposed" in page
    assert "Handle it as you handle the records themselves" in page


test_what_cannot_be_listed_is_refused = refusals(
    "ask, words",
    (lambda: macekit.exposed(counts={"members": [9, 9], "nonmembers": [9, 9]}), "counts: hold no records"),
    (lambda: macekit.exposed(MEMBERS, NONMEMBERS, cluster=[*range(1100)]), "does not allow for clusters"),
    (lambda: macekit.exposed(["a"] * 9, ["b"] * 9), "no order"),
    (lambda: macekit.exposed(np.ones((9, 2)), np.zeros((9, 2))), "vectors"),
    (lambda: macekit.exposed(MEMBERS, NONMEMBERS, max_false_share=0), "max_false_share"),
    error=MaceProblem,
)
