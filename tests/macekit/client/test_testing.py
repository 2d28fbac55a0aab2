"""Limits as assertions: what passes, what fails, and that too few records are no pass."""

import copy
import multiprocessing
import pickle
import re
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import macekit
from estimators import MaceError
from estimators.statement import at_least, at_most, roughly
from macekit.testing import Inconclusive, LimitExceeded, assert_advantage_below, assert_gate
from tests.cases import each_case
from tests.macekit.client.worlds import world

pytest_plugins = ["pytester"]
MEMBERS, NONMEMBERS = world(2000)


def test_a_limit_above_the_upper_end_holds_and_the_answer_comes_back() -> None:
    result = assert_advantage_below(0.5, MEMBERS, NONMEMBERS)

    assert result.decision == "pass"
    assert result.advantage.upper <= 0.5


def test_a_limit_below_the_lower_end_fails_with_the_sentence_and_the_interval() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_advantage_below(0.1, MEMBERS, NONMEMBERS, prior=0.5, confidence=0.9)

    assert isinstance(caught.value, LimitExceeded)
    found = caught.value.result
    assert found.sentence in str(caught.value)
    ends = f"{at_least(found.advantage.lower)} to {at_most(found.advantage.upper)}"
    assert f"90% interval {ends}" in str(caught.value)
    assert "baseline 0.000" in str(caught.value)


def test_what_is_said_of_an_interval_holds_and_stands_on_the_right_side_of_the_maximum() -> None:
    lower = macekit.estimate(MEMBERS, NONMEMBERS, confidence=0.999).advantage.lower

    with pytest.raises(LimitExceeded) as caught:
        assert_advantage_below(lower - 1e-6, MEMBERS, NONMEMBERS, confidence=0.999)

    said = re.search(r"99\.9% interval ([0-9.]+) to ([0-9.]+)", str(caught.value))
    assert said is not None
    assert lower - 1e-6 < float(said[1]) <= lower
    assert float(said[2]) >= caught.value.result.advantage.upper


def test_a_limit_within_the_interval_fails_too_and_says_how_many_records_are_needed() -> None:
    few = MEMBERS[:60], NONMEMBERS[:60]

    with pytest.raises(Inconclusive) as caught:
        assert_advantage_below(0.3, *few)

    needed = caught.value.result.verdict.records_needed
    assert needed is not None
    assert str(caught.value).startswith("undecided, which is no pass")
    assert f"records needed: about {roughly(needed)}" in str(caught.value)
    assert issubclass(Inconclusive, AssertionError)


def test_the_prior_moves_the_baseline_that_the_message_states() -> None:
    with pytest.raises(LimitExceeded, match=r"baseline 0\.800"):
        assert_advantage_below(0.5, MEMBERS, NONMEMBERS, prior=0.1)


def test_a_table_and_a_server_do_as_well(mace: macekit.Mace) -> None:
    inside = np.repeat([True, False], [len(MEMBERS), len(NONMEMBERS)])
    table = {"loss": np.concatenate([MEMBERS, NONMEMBERS]), "is_train": inside}

    found = assert_advantage_below(0.5, table, score="loss", member="is_train", client=mace)

    assert found.answer == assert_advantage_below(0.5, MEMBERS, NONMEMBERS).answer


def test_a_gate_holds_if_all_limits_do() -> None:
    found = assert_gate(MEMBERS, NONMEMBERS, max_advantage=0.5, metric="accuracy", max=0.8)

    assert (found.decision, len(found.limits)) == ("pass", 2)


def test_a_gate_fails_with_every_limit_and_what_the_records_say_of_it() -> None:
    with pytest.raises(LimitExceeded) as caught:
        assert_gate(MEMBERS, NONMEMBERS, max_advantage=0.05, max_epsilon=10)

    lines = str(caught.value).splitlines()
    limits = caught.value.result.limits
    assert lines[0] == caught.value.result.sentence
    assert len(lines) == len(limits) + 1
    for line, limit in zip(lines[1:], limits, strict=True):
        word = "undecided" if limit.decision == "inconclusive" else limit.decision
        assert line.startswith(f"{word}: ")
        assert f"{at_least(limit.lower)} to" in line


def test_a_gate_that_is_open_is_no_pass() -> None:
    with pytest.raises(Inconclusive, match=r"undecided, which is no pass(.|\n)*records needed: about \d+"):
        assert_gate(MEMBERS[:60], NONMEMBERS[:60], max_advantage=0.3)
    with pytest.raises(Inconclusive, match=r"unbounded(.|\n)*no number of records"):
        assert_gate(MEMBERS, NONMEMBERS, max_epsilon=10)


@each_case(
    "limit, members, options, kind, said",
    (None, MEMBERS, {}, TypeError, "needs a number"),
    (0.5, MEMBERS, {"max_advantage": 0.1}, TypeError, "first argument"),
    (0.5, MEMBERS[:3], {}, macekit.MaceProblem, "member scores: got 3"),
)
def test_what_cannot_be_asserted_is_an_error_and_no_failure(limit, members, options, kind, said) -> None:
    with pytest.raises(kind, match=said):
        assert_advantage_below(limit, members, NONMEMBERS, **options)


@pytest.mark.slow
def test_pytest_shows_the_line_that_asserted_and_the_message(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import numpy as np
        from macekit.testing import assert_advantage_below

        def test_release():
            rng = np.random.default_rng(0)
            assert_advantage_below(0.05, rng.normal(1.0, size=500), rng.normal(size=500))
        """
    )

    done = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:xdist")

    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*assert_advantage_below(0.05*", "*LimitExceeded: *", "*95% interval*"])
    assert "def _settle" not in done.stdout.str()
    assert Path(pytester.path).exists()


def test_a_pass_that_hides_exposed_members_warns() -> None:
    counts = {"members": [4950, 50], "nonmembers": [5000, 0], "edges": [0.0]}

    who = "50 of 5,000 members score higher than every nonmember"
    with pytest.warns(UserWarning, match=who):
        assert assert_gate(None, counts=counts, max_advantage=0.1).decision == "pass"
    with pytest.warns(UserWarning, match=who):
        assert assert_advantage_below(0.1, None, counts=counts).decision == "pass"


def passed_there(maximum: float) -> str | None:
    """The decision of a gate, asked in a process of its own."""
    return macekit.gate(MEMBERS, NONMEMBERS, max_advantage=maximum).require_pass().decision


@pytest.mark.slow
def test_a_limit_that_does_not_hold_in_a_worker_fails_here_and_the_pool_lives_on() -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        broken, kept = pool.submit(passed_there, 0.1), pool.submit(passed_there, 0.9)

        with pytest.raises(LimitExceeded, match=r"above 0\.1") as caught:
            broken.result(60)
        assert caught.value.result.decision == "fail"
        assert kept.result(60) == "pass"


def exceptions() -> Iterator[type[Exception]]:
    """Every one that macekit and estimators define."""
    root = Path(macekit.__file__).parents[1]
    for path in (each for package in ("macekit", "estimators") for each in (root / package).rglob("*.py")):
        if re.search(r"(?m)^class \w+\(\w*(Error|Exception)\)", path.read_text("utf-8")):
            module = import_module(".".join(path.relative_to(root).with_suffix("").parts))
            for each in vars(module).values():
                if isinstance(each, type) and issubclass(each, Exception) and each.__module__ == module.__name__:
                    yield each


GIVEN = {"message": "words", "slug": "busy", "detail": "words", "document": {"detail": "words"}}


@pytest.mark.slow
def test_every_exception_survives_the_way_between_processes() -> None:
    given: dict[str, Any] = {**GIVEN, "result": macekit.plan(expected=0.3, max_advantage=0.1)}
    several = set(exceptions())
    assert {LimitExceeded, Inconclusive, macekit.MaceProblem, macekit.MaceUnreachable, MaceError} < several
    for kind in several:
        own = signature(kind).parameters.values() if isinstance(kind.__init__, FunctionType) else ()
        needed = [given[each.name] for each in own if each.default is Parameter.empty]
        error = kind(*(needed or ["words"]))
        for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
            assert (type(again), str(again), vars(again)) == (kind, str(error), vars(error))
