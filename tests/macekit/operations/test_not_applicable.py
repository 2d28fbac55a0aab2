"""Nothing passes by records that cannot answer the question, and no more of them are asked for; a fail stands."""

import json
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import macekit.testing
from app.cli.parsing import UNDECIDED, status_of
from estimators import Scores
from estimators.audits.split import check_split, control
from estimators.decisions.maxima import MaxAdvantage
from estimators.decisions.riskiest import judge_queries, verdict_of
from estimators.decisions.verdict import Decision
from estimators.statement import Caution
from macekit.client.result import Inconclusive
from macekit.reports.pipeline import annotation, junit, summary
from macekit.reports.saved import validate_answer
from tests.cases import each_case
from tests.macekit.asking import asked, decided, refused

pytestmark = pytest.mark.usefixtures("quick")

RNG = np.random.default_rng(0)
N = 2_000
CALM = RNG.normal(size=(2, N))
LEAK = RNG.normal(size=(2, N)) + np.array([[3.0], [0.0]])


def sides(members: Any, nonmembers: Any) -> dict[str, list[float]]:
    return {"members": members.tolist(), "nonmembers": nonmembers.tolist()}


SHORT, AGAIN = CALM[0].copy(), CALM[0].copy()
SHORT[:200] = SHORT[:200].astype(np.float32)
AGAIN[:100] = AGAIN[100:200]
ODD = {
    "sides_share_records": sides(CALM[0], np.append(CALM[0, : N // 2], CALM[1, : N // 2])),
    "sides_differ_in_precision": sides(SHORT, CALM[1]),
    "repeated_scores": sides(AGAIN, CALM[1]),
}
FEW = sides(np.repeat(CALM[0, :40], 2), CALM[1, :80])
DOORS = ("gate", "advantage", "report", "compare", "compare-releases", "series")


def question(operation: str, records: dict[str, Any]) -> dict[str, Any]:
    """Records as these doors take them; where several are, a good query stands beside."""
    several = operation.startswith(("compare", "series"))
    return {"queries": {"calm": sides(*CALM), "odd": records}} if several else records


@pytest.mark.slow
@each_case("operation", DOORS)
def test_no_door_passes_by_records_that_cannot_answer(operation) -> None:
    for code, records in ODD.items():
        answer = asked(operation, {**question(operation, records), "max_advantage": 0.2})
        warnings = [each["code"] for each in answer.get("result", answer)["warnings"]]

        assert (decided(answer)["decision"], decided(answer)["undecided_because"]) == ("not applicable", code)
        assert code in warnings
        assert status_of(answer) == UNDECIDED == 3
        assert validate_answer(operation, answer) == answer  # so that a kept answer is shown
        assert not decided(answer)["covers"]


@pytest.mark.slow
@each_case("operation", DOORS)
def test_every_door_passes_the_same_records_written_alike(operation) -> None:
    written = sides(*CALM.astype(np.float32).astype(float))
    answer = asked(operation, {**question(operation, written), "max_advantage": 0.2})

    assert (decided(answer)["decision"], decided(answer)["undecided_because"]) == ("pass", None)


@pytest.mark.slow
def test_a_run_takes_no_batch_that_cannot_answer() -> None:
    limit = {"max_advantage": 0.3, "anytime": True}
    for code, records in ODD.items():
        problem = refused("gate", {**records, **limit})
        assert problem["kind"] == "bad-records"
        assert problem["detail"].startswith("this batch was not added to the run: "), code

    first = asked("gate", {**sides(*CALM), **limit})
    again = {**ODD["sides_share_records"], "anytime": True, "state": first["state"]}
    assert "not added to the run" in refused("gate", again)["detail"]
    assert first["decision"] == "pass"


def test_a_fail_stands_and_more_of_the_same_is_not_asked_for() -> None:
    leak = sides(LEAK[0].astype(np.float32).astype(float), LEAK[1])
    few = asked("gate", {**FEW, "max_advantage": 0.2})

    assert asked("gate", {**leak, "max_advantage": 0.2})["decision"] == "fail"
    assert few["limits"][0]["decision"] == "inconclusive"
    assert (few["decision"], few["records_needed"]) == ("not applicable", None)
    assert few["sentence"].startswith("Not applicable: ")
    assert "give each record once, or say as cluster whose it is" in few["sentence"]


def test_a_column_whose_rows_are_alike_has_to_be_named() -> None:
    person = np.repeat(np.arange(500), 4)
    score = RNG.normal(size=500)[person] + RNG.normal(size=N)
    order = np.argsort(np.tile([1, 0], N // 2), kind="stable")  # persons lie on both sides
    lines = [f"{score[row]:.6f},{row % 2},{person[row]}" for row in order.tolist()]
    body = "\n".join(["score,member,user_id", *lines]).encode()
    limit = {"max_advantage": "0.5"}

    answer = asked("gate", body, media_type="text/csv", **limit)
    known = asked("gate", body, media_type="text/csv", **limit, cluster="user_id")

    assert (answer["decision"], answer["undecided_because"]) == ("not applicable", "dependent_rows")
    assert "name the column as cluster" in answer["sentence"]
    assert known["decision"] == "pass"


def test_a_pipeline_is_told_in_every_form() -> None:
    answer = asked("gate", {**ODD["repeated_scores"], "max_advantage": 0.2})
    suite = ET.fromstring(junit(answer))
    errors = [(case.get("name"), case.find("error")) for case in suite.iter("testcase")]
    last, error = errors[-1]

    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "0", "1")
    assert last == "the records can answer the question"
    assert error is not None
    assert error.get("type") == "repeated_scores"
    assert summary(answer).decode().startswith("\n### mace gate: not applicable\n")
    assert annotation(answer).startswith("::warning ")
    with pytest.raises(Inconclusive, match="not applicable, which is no pass"):
        macekit.testing.assert_advantage_below(0.2, **ODD["repeated_scores"])


@pytest.mark.slow
def test_a_hold_out_that_drifted_may_hide_a_leak_and_nothing_passes_then() -> None:
    """The score of members is shifted up by a leak and down by drift: what is left of both is nothing."""
    rng = np.random.default_rng(1)
    age = {"members": rng.normal(0.0, 1, N), "nonmembers": rng.normal(0.4, 1, N)}
    score = Scores.of(age["members"] + 0.4, age["nonmembers"])  # the model adds .4 to whoever it has seen
    split = check_split(*({"age": each} for each in age.values()))
    drifted = control(age["members"], age["nonmembers"])

    def verdict(most: float, **beside: Any) -> Any:
        limits = judge_queries([MaxAdvantage(most)], {"score": score})
        return verdict_of(limits, beside.get("split"), "model", beside.get("control"))

    assert verdict(0.15).decision is Decision.PASS  # though the model's own advantage is .16
    for beside in ({"split": split}, {"control": drifted}, {"split": split, "control": drifted}):
        withheld = verdict(0.15, **beside)
        assert (withheld.decision, withheld.undecided_because) == (Decision.NOT_APPLICABLE, "sides_differ")
        assert "so much may hide one" in withheld.sentence
        assert [each.code for each in withheld.cautions] == ["sides_differ"]
        assert verdict(0.6, **beside).decision is Decision.PASS  # even with so much more
    fair = control(*rng.normal(size=(2, N)))
    assert verdict(0.15, split=split, control=fair).decision is Decision.PASS  # it does not reach such a score


@pytest.mark.slow
def test_what_the_sides_differ_by_weighs_as_the_prior_says() -> None:
    """At most 2 (1 - prior) times the distance: the law of nonmembers stands with 1 - prior in the advantage."""
    rng = np.random.default_rng(2)
    split = check_split({"age": rng.normal(0.0, 1, N)}, {"age": rng.normal(0.4, 1, N)})
    shown = split.interval.lower
    for prior in (0.1, 0.5, 0.9):
        [limit] = judge_queries([MaxAdvantage(0.99)], {"score": Scores.of(*CALM)}, prior)
        most = limit.estimate.upper + 2.0 * (1.0 - prior) * shown
        for maximum, outcome in ((most - 1e-6, Decision.NOT_APPLICABLE), (most + 1e-6, Decision.PASS)):
            if maximum <= 1.0:
                limits = judge_queries([MaxAdvantage(maximum)], {"score": Scores.of(*CALM)}, prior)
                assert verdict_of(limits, split, "model", prior=prior).decision is outcome


def test_doubts_that_have_a_good_reason_stop_nothing() -> None:
    sorted_side = asked("gate", {**sides(np.sort(CALM[0]), CALM[1]), "max_advantage": 0.2})

    assert "one_side_sorted" in json.dumps(sorted_side["warnings"])
    assert sorted_side["decision"] == "pass"
    by_little = check_split({"age": np.arange(N) / N}, {"age": np.arange(N) / N + 0.1})
    limits = judge_queries([MaxAdvantage(0.4)], {"score": Scores.of(*CALM)})
    tiny = verdict_of(limits, by_little, "", odd=[Caution("sides_differ", "they do, but by little")])
    assert by_little.differs
    assert tiny.decision is Decision.PASS


@each_case("operation", "compare", "series", "frontier", "gate")
def test_what_whoever_asks_says_of_the_sides_stops_a_pass_at_every_question(operation: str) -> None:
    """Asked of several, ``compare`` passed beside what its caller said of one, where the others did not."""
    said = {**sides(*CALM), "warnings": [{"code": "sides_differ", "message": "members are older"}]}
    several = {"queries": {"one": said, "other": sides(*CALM)}}
    several |= {"utility": [2.0, 1.0]} if operation == "frontier" else {}
    answer = asked(operation, {**(said if operation == "gate" else several), "max_advantage": 0.3})
    steps = answer.get("steps", answer.get("candidates"))
    decision = answer["decision"] if steps is None else steps[0]["decision"]

    assert decision == "not applicable"
    assert "members are older" in json.dumps(answer["warnings"])


@each_case("code", ODD)
def test_a_step_of_a_series_that_a_column_tells_apart_is_looked_at_by_itself(code: str) -> None:
    """Counted on the cells of all, a step lost every doubt: the same records on both sides passed, repeats failed."""
    odd = ODD[code]
    both = {side: CALM[at].tolist() + odd[side] for at, side in enumerate(("members", "nonmembers"))}
    groups = {side: [1] * N + [2] * len(odd[side]) for side in both}
    answer = asked("series", {**both, "groups": groups, "max_advantage": 0.3})
    steps = [(each["decision"], each["undecided_because"]) for each in answer["steps"]]

    assert steps[0] == ("pass", None)
    assert steps[1] == ("not applicable", code)
    assert [(each["code"], each["message"][:4]) for each in answer["warnings"]][-1] == (code, "'2':")


WHOLE = np.random.default_rng(8).integers(0, 10**6, 3000)
"""Whole numbers, of which each is counted."""


def test_counts_of_whole_numbers_from_many_shards_show_what_their_rows_do() -> None:
    """Shards of one file given as both sides passed, those of repeated rows failed: no shard shows it alone."""
    rng = np.random.default_rng(9)
    for code, rows in (("sides_share_records", (WHOLE, rng.permutation(WHOLE))), ("repeated_scores", None)):
        members, nonmembers = rows or (np.repeat(each, 2) for each in (WHOLE, rng.integers(0, 10**6, 3000)))
        parts = [np.array_split(rng.permutation(side), 40) for side in (members, nonmembers)]
        shards = [asked("counts", sides(a, b)) for a, b in zip(*parts, strict=True)]
        merged = asked("counts", {"shards": [each["counts"] for each in shards]})
        answer = asked("gate", {"counts": merged["counts"], "max_advantage": 0.2})

        assert [each["code"] for each in merged["warnings"]] == [code]
        assert (answer["decision"], answer["undecided_because"]) == ("not applicable", code)


@each_case("code", ODD)
def test_counts_on_edges_and_of_vectors_say_what_their_rows_show(code: str) -> None:
    edges = asked("counts", {**ODD[code], "cells": "edges", "edges": np.linspace(-2, 2, 41).tolist()})
    assert code in [each["code"] for each in edges["warnings"]]

    vectors = {side: np.stack([rows, 2 * np.asarray(rows)], axis=1).tolist() for side, rows in ODD[code].items()}
    counted = asked("counts", vectors)
    answer = asked("gate", {"counts": counted["counts"], "warnings": counted["warnings"], "max_advantage": 0.4})
    assert code in [each["code"] for each in counted["warnings"]]
    assert (answer["decision"], answer["undecided_because"]) == ("not applicable", code)
