"""A gate with ``anytime``: its state goes with the answer, comes back with the next batch, and is judged then."""

import json
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from hashlib import sha256
from itertools import product
from typing import Any

import numpy as np
import pytest

import macekit
from estimators import Scores
from estimators.runs.sequential import SequentialRun, sequential_run
from tests.cases import each_case
from tests.macekit.asking import asked, post, refused

Body = dict[str, Any]


@cache
def begun() -> Body:
    """The state that a first batch leaves, which nobody changes."""
    state: Body = asked("gate", FIRST)["state"]
    return state


def then(state: Body, **more: Any) -> Body:
    """A question with a further batch."""
    return {"anytime": True, "state": state, **more}


def batch(seed: int, distance: float = 1.0, n: int = 60) -> Body:
    rng = np.random.default_rng([17, seed])
    return {"members": rng.normal(distance, 1.0, n).tolist(), "nonmembers": rng.normal(0.0, 1.0, n).tolist()}


FIRST: Body = {"anytime": True, "max_advantage": 0.2, "planned": 2000, **batch(0)}


@pytest.mark.slow
def test_batch_after_batch_is_the_run_of_the_library() -> None:
    run = sequential_run(0.2, prior=0.4, confidence=0.9, planned=2000, seed=3)
    options = {"max_advantage": 0.2, "prior": 0.4, "confidence": 0.9, "planned": 2000, "seed": 3}
    answer = None
    for seed in range(3):
        records = batch(seed)
        more = options if answer is None else {"state": answer["state"], "prior": 0.4}
        answer = asked("gate", {"anytime": True, **records, **more})
        run = run.after(Scores.of(records["members"], records["nonmembers"]))

    assert answer is not None
    assert answer["state"] == json.loads(json.dumps(run.to_dict()))
    assert (answer["limits"][0]["lower"], answer["limits"][0]["upper"]) == (run.lower, run.upper)
    assert (answer["sentence"], answer["decision"]) == (run.sentence, run.decision.value)
    assert answer["anytime"] == {"looks": 3, "n_members": 180, "n_nonmembers": 180, "planned": 2000}
    assert answer["exposure"] is None
    said = answer["provenance"]["options"]
    assert options.items() <= said.items()
    assert "state" not in said


@pytest.mark.slow
def test_the_state_of_a_run_of_any_length_is_small() -> None:
    answer, sizes = asked("gate", FIRST), []
    for seed in range(1, 10):
        answer = asked("gate", then(answer["state"], **batch(seed)))
        sizes.append(len(json.dumps(answer["state"])))

    assert sizes[-1] < 60_500  # some 60 kB: how many digits the cuts have hangs on the processor
    assert sizes[-1] - sizes[-2] < 200  # once there are as many hashes as are kept, a look adds a line
    assert answer["anytime"]["looks"] == 10


LABELS: Body = {"members": ["a"] * 12 + ["b"] * 8, "nonmembers": ["b"] * 12 + ["a"] * 8}
OF_LABELS: Body = {"counts": {"members": [20, 30, 10], "nonmembers": [30, 20, 10]}}


COUNTS: Body = {"counts": {"members": [12, 8], "nonmembers": [8, 12], "edges": [0.5]}}


@each_case("records, members", [(LABELS, 40), (COUNTS, 40), (OF_LABELS, 120)])
def test_labels_and_counts_go_on_likewise(records: Body, members: int) -> None:
    first = asked("gate", {"anytime": True, "max_advantage": 0.1, **records})
    second = asked("gate", then(first["state"], **records))

    assert second["anytime"]["n_members"] == members
    assert second["limits"][0]["lower"] >= first["limits"][0]["lower"]


@pytest.mark.slow
def test_from_python_the_state_of_a_result_is_given_on() -> None:
    result = macekit.gate(**batch(0), max_advantage=0.2, anytime=True, planned=2000)
    for seed in range(1, 4):
        records = batch(seed, n=200)
        table = {"score": records["members"] + records["nonmembers"], "member": [1] * 200 + [0] * 200}
        result = macekit.gate(table, anytime=True, state=result.state)

    assert (result.decision, result.anytime.looks) == ("fail", 4)
    assert "Looks so far" in result.to_html()
    assert SequentialRun.from_dict(result.state).to_dict() == result.state


def test_a_batch_of_one_score_for_all_is_taken_for_later_ones_may_have_others() -> None:
    answer = asked("gate", FIRST | {"members": [0.5] * 400, "nonmembers": [0.5] * 400, "query": "continuous"})
    then_others = asked("gate", then(answer["state"], **batch(1)))

    assert (answer["decision"], answer["undecided_because"]) == ("not applicable", "one_score_for_all")
    assert then_others["undecided_because"] is None


def test_two_pipelines_merge_in_the_library() -> None:
    on_edges = {"cells": "edges", "edges": np.linspace(-2.0, 3.0, 12).tolist()}
    of_seed = [macekit.counts(**batch(seed, n=300), **on_edges)["counts"] for seed in (1, 2, 3)]
    gates = (macekit.gate(counts=each, max_advantage=0.2, anytime=True) for each in of_seed[:2])
    one, other = (SequentialRun.from_dict(each.state) for each in gates)

    both = macekit.gate(counts=of_seed[2], anytime=True, state=one.merge(other).to_dict())

    assert both.anytime.n_members == 900


@each_case(
    "change, field, words",
    ({"max_advantage": 0.3}, "max_advantage", "begun with 0.2, which cannot change"),
    ({"prior": 0.3}, "prior", "begun with 0.5"),
    ({"confidence": 0.9}, "confidence", "begun with 0.95"),
    ({"seed": 1}, "seed", "begun with 0"),
    ({"planned": 99}, "planned", "begun with 2000"),
    ({"max_tpr": 0.5, "at_fpr": 0.1}, "max_tpr", "with anytime"),
    ({"estimator": {"kind": "threshold"}}, "estimator", "with anytime"),
    ({"metric": "accuracy", "max": 0.9}, "metric", "with anytime"),
    ({"groups": ["a", "b"] * 60}, "groups", "with anytime"),
    ({"anytime": False, "max_advantage": 0.2}, "state", "goes with anytime"),
    ({"state": {}}, "state", "no state"),
    ({"state": []}, "state", ""),
    ({"members": ["a"] * 20, "nonmembers": ["b"] * 20}, "members", "numbers, not labels"),
    ({"members": [[1.0, 2.0]] * 20, "nonmembers": [[1.0, 2.0]] * 20}, "members", "vectors"),
)
def test_another_question_than_that_of_the_state_is_refused(change: Body, field: str, words: str) -> None:
    problem = refused("gate", {**then(begun(), **batch(1)), **change})

    assert problem["field"] == field
    assert words in problem["detail"]


GRID = {"kind": "grid", "exponent": 0, "keys": [1, 2]}
ON_A_GRID = {"members": [9, 9], "nonmembers": [9, 9], "cells": GRID}


@each_case(
    "question, field",
    ({"anytime": True, **batch(0)}, "max_advantage"),
    ({"anytime": True, "max_advantage": 0.2, **batch(0, n=9)}, "members"),
    ({"planned": 100, "max_advantage": 0.2, **batch(0)}, "planned"),
    ({"anytime": True, "max_advantage": 0.2, "counts": ON_A_GRID}, "counts"),
)
def test_a_first_batch_that_cannot_be_one_is_refused(question: Body, field: str) -> None:
    assert refused("gate", question)["field"] == field


# --- hostile ------------------------------------------------------------------------------------------------

JUNK: list[Any] = [
    *(None, True, False, "", "x", [], {}, [[]], [[1]], {"a": 1}, -1, 0, 1, 2, 0.5, -0.5, 1.5),
    *(2**53, 2**53 + 1, 2**62, 2**63, 2**64, 10**30, -(2**63), 1e300, 5e-324, [1] * 4, [[2**62] * 4] * 3),
    *([[1, 1, 1, 1]] * 5, [[0, 1, 0, 1]], [None], ["a", "b"], [1e308, -1e308], [0, 0]),
]


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a state, the first entries of its lists only."""
    places = [path] if path else []
    listed = list(enumerate(value))[:2] if isinstance(value, list) else ()
    inner = value.items() if isinstance(value, dict) else listed
    return places + [place for name, each in inner for place in _places(each, (*path, name))]


def _put(state: Body, path: tuple[Any, ...], junk: Any) -> Body:
    changed = deepcopy(state)
    at: Any = changed
    for name in path[:-1]:
        at = at[name]
    at[path[-1]] = junk
    return changed


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["numbers", "labels", "counts"])
def test_a_state_that_was_tampered_with_never_breaks_anything(kind: str) -> None:
    """Anything in any place, or a part that is missing: refused with its place, or taken, if it could be a state."""
    records = {"numbers": batch(0, n=20), "labels": LABELS, "counts": COUNTS}[kind]
    state = asked("gate", {"anytime": True, "max_advantage": 0.2, "planned": 100, **records})["state"]
    if kind == "numbers":
        records = batch(1, n=20)
    rng = np.random.default_rng(0)
    places = _places(state)
    refusals = 0
    for place in places:
        for at in rng.choice(len(JUNK), 4, replace=False):
            reply = post("gate", then(_put(state, place, JUNK[at]), **records))
            problem = json.loads(bytes(reply.body))
            assert reply.status in (200, 422), (place, JUNK[at], problem)
            if reply.status == 422:
                refusals += 1
                assert problem["field"].partition(".")[0] in ("state", "counts", "members"), (place, problem)
    for name in state:
        missing = {part: value for part, value in state.items() if part != name}
        assert refused("gate", then(missing, **records))["field"].startswith("state")
    assert refusals > 2.5 * len(places)


NEVER_WRITTEN: list[tuple[str, object]] = [
    ("contradicted", 1), ("contradicted", None), ("rights", {}), ("batches", [["0" * 15, 0.1]]),
    ("batches", [["z" * 16, 0.1]]), ("batches", ["0" * 16]), ("run_id", "a b"),
    ("sketch", {"records": [60, 60], "hashes": "0" * 20, "counts": None}),
    ("sketch", {"records": [60, 60], "hashes": "0" * 10, "counts": [1, 1]}),
    ("sketch", {"records": [60, 61], "hashes": "", "counts": None}),
]  # fmt: skip


@each_case(
    "part, junk, field, words",
    *(("version", each, "state", "reads version 4") for each in (1, 2, 3, "4", None, 10**30, True)),
    *((part, junk, f"state.{part}", "") for part, junk in NEVER_WRITTEN),
)
def test_a_part_that_no_run_writes_is_named(part: str, junk: object, field: str, words: str) -> None:
    problem = refused("gate", then(begun() | {part: junk}, **batch(1)))

    assert problem["field"] == field
    assert words in problem["detail"]


AGAIN: dict[str, Callable[[list[float]], list[float]]] = {
    "as it was": lambda side: side,
    "in another order": lambda side: side[::-1],
    "without one record": lambda side: side[1:],
    "1e-12 higher": lambda side: [score + 1e-12 for score in side],
}
"""How a pipeline that was started anew may send a batch."""


@pytest.mark.slow
def test_a_batch_that_came_before_is_not_counted_twice() -> None:
    later = asked("gate", then(begun(), **batch(1)))["state"]

    for (how, change), before in product(AGAIN.items(), (batch(0), batch(1))):
        problem = refused("gate", then(later, **{name: change(side) for name, side in before.items()}))
        assert problem["type"] == "urn:mace:problem:bad-records", how
        assert "of its records" in problem["detail"], how
        assert "a run takes each record once" in problem["detail"], how
    assert asked("gate", then(later, **batch(2)))["anytime"]["looks"] == 3


def test_few_labels_may_come_again_by_chance() -> None:
    state = asked("gate", {"anytime": True, "max_advantage": 0.2, **LABELS})["state"]

    answer = asked("gate", then(state, **LABELS))

    assert answer["anytime"]["n_members"] == 40
    assert "repeated_batch" in [warning["code"] for warning in answer["warnings"]]


def forged(state: Body, *, halved: bool, earlier: int) -> Body:
    """A failed run that says it passed: another upper end, fewer right guesses, and looks that never were."""
    changed = deepcopy(state)
    n, m, _, _, n_blocks = changed["looks"][0]
    never = [[n - step, m - step, 0.0, 0.02, 0] for step in range(earlier, 0, -1)]
    changed["looks"] = [*never, [n, m, 0.0, 0.02, n_blocks]]
    if halved:
        changed["rights"] = {name: [tp // 2, tn // 2] for name, (tp, tn) in changed["rights"].items()}
        changed["blocks"] = [[tp // 2, n1, tn // 2, n0] for tp, n1, tn, n0 in changed["blocks"]]
    return changed


def test_ends_that_counts_and_guesses_cannot_give_are_refused() -> None:
    failed = asked("gate", {"anytime": True, "max_advantage": 0.1, **batch(3, 2.0, 150)})
    assert failed["decision"] == "fail"

    for halved, earlier in product((False, True), (0, 1, 3)):
        state = forged(failed["state"], halved=halved, earlier=earlier)
        problem = refused("gate", then(state, **batch(4, 2.0, 8)))
        assert problem["field"] == "state.looks", (halved, earlier)
        assert "cannot give these ends" in problem["detail"], (halved, earlier)


def test_a_lower_end_that_no_guesses_gave_is_refused() -> None:
    state = asked("gate", {"anytime": True, "max_advantage": 0.1, **batch(0, 0.0, 200)})["state"]
    n, m, lower, upper, n_blocks = state["looks"][0]
    raised = state | {"looks": [[n - 8, m - 8, 0.05, upper, n_blocks - 1], [n, m, 0.05, upper, n_blocks]]}

    assert lower < 0.05
    assert refused("gate", then(raised, **batch(4)))["field"] == "state.looks"


def test_the_answer_names_the_states_that_came_and_went_and_says_that_nobody_checked_their_origin() -> None:
    first = asked("gate", FIRST)
    later = asked("gate", then(first["state"], **batch(1)))
    alone = asked("gate", {"max_advantage": 0.2, **batch(0)})

    said = [answer["limits"][0]["guarantee"]["assumes"] for answer in (first, later)]
    assert "origin" not in said[0]
    assert said[1] == (
        f"{said[0]}; the state that came is one that was given out before, unchanged (its origin was not checked)"
    )
    runs = [answer["provenance"]["run"] for answer in (first, later)]
    assert [run["look"] for run in runs] == [1, 2]
    assert [run["state_before"] for run in runs] == [None, runs[0]["state_after"]]
    assert runs[0]["run_id"] == runs[1]["run_id"] == later["state"]["run_id"]
    for run, answer in zip(runs, (first, later), strict=True):
        canonical = json.dumps(answer["state"], sort_keys=True, separators=(",", ":"))
        assert run["state_after"] == sha256(canonical.encode()).hexdigest()
    assert "run" not in alone["provenance"]
    assert (alone["state"], alone["anytime"]) == (None, None)
    assert alone["exposure"] is not None


def test_how_scores_are_read_stays_as_it_was() -> None:
    coded = {"members": [0.5, 0.25] * 20, "nonmembers": [0.25] * 40}
    labels = asked("gate", {"anytime": True, "max_advantage": 0.2, "query": "discrete", **coded})["state"]

    for state, query, records in ((begun(), "discrete", batch(1)), (labels, "continuous", coded)):
        problem = refused("gate", then(state, query=query, **records))
        assert problem["field"] == "query"
        assert "cannot change on the way" in problem["detail"]
    answer = asked("gate", then(labels, **batch(1)))  # many numbers, each a label
    assert answer["state"]["counts"]["cells"]["kind"] == "values"
    problem = refused("gate", then(labels, members=["a"] * 20, nonmembers=["b"] * 20))
    assert "the batches before had numbers as labels, this one has text" in problem["detail"]
