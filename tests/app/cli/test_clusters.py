"""``--cluster`` in the shell: the service's answer, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.cli import main
from macekit.call import CSV, Body, Call
from macekit.operations import perform
from tests.app.cli.files import answered

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Scores of people with five rows each, asked of models."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    person = rng.permutation(np.repeat(np.arange(100), 5))
    score = rng.normal(size=100)[person] + rng.normal(size=500) + 1.5 * (person % 2 == 0)
    lines = [
        f"{score[row]},{score[row] + rng.normal()},{int(person[row] % 2 == 0)},p{person[row]},{rng.integers(0, 25)}"
        for row in range(500)
    ]
    path = tmp_path / "scores.csv"
    path.write_text("score,other,member,person,run\n" + "\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("name", "operation", "options"),
    [
        ("estimate", "advantage", {"score": "score", "cluster": "person"}),
        ("estimate", "advantage", {"score": "score", "cluster": "person,run"}),
        ("report", "report", {"score": "score", "cluster": "person"}),
        ("compare", "compare", {"score": "score,other", "cluster": "person"}),
    ],
)
def test_the_answer_is_the_services(
    scores: Path, capsys: Capture, name: str, operation: str, options: dict[str, str]
) -> None:
    flags = [word for option, value in options.items() for word in (f"--{option}", value)]
    found = answered(capsys, name, "scores.csv", *flags)

    reply = perform(Call(operation, CSV, query=tuple(options.items())), Body.of(scores.read_bytes()))
    assert found == json.loads(bytes(reply.body))
    told: Any = found
    certified = told["ranking"][0] if name == "compare" else told.get("result", told)
    assert certified["advantage"]["clusters"]["numbers"][0] == 100


def test_the_first_lines_say_what_the_clusters_cost(scores: Path, capsys: Capture) -> None:
    assert main(["estimate", "scores.csv", "--score", "score", "--cluster", "person"]) == 0
    out = capsys.readouterr().out
    first = out.partition("Optimal advantage")[0]
    assert "Worth independent records" in first
    assert "design effect" in first
    assert "100 of person" in " ".join(first.split())
    assert "have scores that are alike" not in out


def test_nobody_has_to_ask_to_be_warned(scores: Path, capsys: Capture) -> None:
    assert main(["estimate", "scores.csv", "--score", "score"]) == 0
    notes = [line for line in capsys.readouterr().out.splitlines() if line.startswith("note: ")]
    assert "rows of one 'person' have scores that are alike" in notes[0]
    assert "name the column as cluster" in notes[0]


@pytest.mark.parametrize("name", ["metrics", "risk", "gate", "attack", "counts", "audit", "series"])
def test_other_commands_say_which_take_it(scores: Path, capsys: Capture, name: str) -> None:
    with pytest.raises(SystemExit) as end:
        main([name, "scores.csv", "--cluster", "person"])
    assert end.value.code == 2
    err = capsys.readouterr().err
    assert "--cluster" in err
    assert name in ("series",) or "mace estimate, mace compare, mace report take it" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["scores.csv", "--score", "score", "--cluster", "nobody"],
            "cluster: no column of the 5 has this name",
        ),
        (["scores.csv", "--score", "score", "--cluster", "member"], "one column is named for two of them"),
        (["scores.csv", "--score", "score", "--cluster", "person", "--unit", "run"], "does not go with unit"),
        (
            ["--members", "a.npy", "--nonmembers", "b.npy", "--cluster", "person"],
            "needs one table with both sides",
        ),
    ],
)
def test_what_cannot_be_used_is_refused(
    scores: Path, capsys: Capture, arguments: list[str], words: str
) -> None:
    for name in ("a.npy", "b.npy"):
        np.save(scores.parent / name, np.arange(20.0))
    assert main(["estimate", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
