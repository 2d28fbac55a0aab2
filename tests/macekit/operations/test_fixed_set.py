"""``set_members`` and ``set_nonmembers``: what the service says of exactly these records, and what it refuses."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import macekit
from app.cli import main
from estimators import Scores, advantage_on_set
from tests.macekit.asking import asked, refused

RNG = np.random.default_rng(0)
MEMBERS, NONMEMBERS = RNG.normal(1.0, 1.0, 60).tolist(), RNG.normal(0.0, 1.0, 80).tolist()
SIDES: dict[str, Any] = {"members": MEMBERS, "nonmembers": NONMEMBERS}


@pytest.mark.slow
def test_the_answer_is_that_of_the_library() -> None:
    options: dict[str, Any] = {"prior": 0.3, "confidence": 0.9, "seed": 4}
    question = {**SIDES, **options, "set_members": 100, "set_nonmembers": 200}
    answer = asked("advantage", question)["on_this_set"]

    by_library = advantage_on_set(Scores.of(MEMBERS, NONMEMBERS), 100, 200, **options)
    assert answer["estimate"] == pytest.approx(by_library.estimate.value, abs=1e-9)
    assert answer["lower"] == pytest.approx(by_library.estimate.lower, abs=1e-9)
    assert answer["upper"] == pytest.approx(by_library.estimate.upper, abs=1e-9)
    assert answer["sentence"] == by_library.sentence
    assert (answer["set_members"], answer["set_nonmembers"]) == (100, 200)
    assert by_library.sentence in str(asked("report", question))


def test_of_a_side_without_a_number_all_were_sent() -> None:
    answer = asked("advantage", {**SIDES, "set_members": 60})["on_this_set"]

    assert (answer["set_members"], answer["set_nonmembers"]) == (60, 80)
    assert answer["lower"] == answer["estimate"] == answer["upper"]
    assert answer["guarantee"]["finite_sample"] is True


def test_nothing_is_said_of_a_set_that_nobody_named() -> None:
    without = asked("advantage", SIDES)
    named = asked("advantage", {**SIDES, "set_members": 60, "set_nonmembers": 80})

    assert without["on_this_set"] is None
    assert named["sentence"].startswith(without["sentence"])
    assert named["advantage"] == without["advantage"]


def test_a_verdict_is_about_records_drawn_anew() -> None:
    """Of 60 and 80 records of which all are known, the best rule fits them: that is no reason to fail."""
    rng = np.random.default_rng(3)
    sides = {"members": rng.normal(size=60).tolist(), "nonmembers": rng.normal(size=80).tolist()}

    answer = asked("advantage", {**sides, "max_advantage": 0.1, "set_members": 60})

    assert answer["on_this_set"]["lower"] > 0.1
    assert answer["verdict"]["decision"] == "inconclusive"
    assert answer["on_this_set"]["if_nothing_leaks"] > 0.1


@pytest.mark.parametrize(("more", "field"), [
    ({"set_members": 59}, "set_members"), ({"set_nonmembers": 79}, "set_nonmembers"),
    ({"set_members": 4 * 10**8 + 1}, "set_members"), ({"set_members": 0}, "set_members"),
    ({"set_members": 60.5}, "set_members"), ({"set_members": "all"}, "set_members"),
])  # fmt: skip
def test_numbers_that_no_set_has_are_refused_by_their_field(more: dict[str, Any], field: str) -> None:
    assert refused("advantage", {**SIDES, **more})["field"] == field


def test_rows_of_clusters_or_units_are_not_drawn_one_by_one() -> None:
    labels = {"members": [f"a{i // 2}" for i in range(60)], "nonmembers": [f"b{i // 2}" for i in range(80)]}
    for name in ("cluster", "units"):
        problem = refused("advantage", {**SIDES, name: labels, "set_members": 100})
        assert "one by one" in str(problem), problem


def test_a_learned_score_is_refused() -> None:
    rows = {side: RNG.normal(size=(60, 3)).tolist() for side in SIDES}
    assert "learned score" in str(refused("advantage", {**rows, "set_members": 100}))


def test_counts_have_the_same_answer() -> None:
    counts = asked("counts", SIDES)
    set_size = {"set_members": 100, "set_nonmembers": 90}

    of_counts = asked("advantage", {"counts": counts["counts"], **set_size})["on_this_set"]
    of_scores = asked("advantage", {**SIDES, **set_size})["on_this_set"]

    for name in ("estimate", "lower", "upper"):
        assert of_counts[name] == of_scores[name]
    # dealt at random, in other cells
    assert of_counts["if_nothing_leaks"] == pytest.approx(of_scores["if_nothing_leaks"], abs=0.02)


def test_from_python_and_the_shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "scores.csv"
    rows = [(score, 1) for score in MEMBERS] + [(score, 0) for score in NONMEMBERS]
    path.write_text("score,member\n" + "".join(f"{score!r},{member}\n" for score, member in rows))

    result = macekit.estimate(MEMBERS, NONMEMBERS, set_members=100)
    assert main(["estimate", str(path), "--set-members", "100"]) == 0

    sentence = result.on_this_set.sentence
    assert "100 members and 80 nonmembers, 60 and 80 were scored" in sentence
    assert " ".join(capsys.readouterr().out.split()).count(sentence) == 1
    assert main(["estimate", str(path), "--set-members", "10"]) == 2
    assert "set_members: got 10, but 60 members were scored" in capsys.readouterr().err
