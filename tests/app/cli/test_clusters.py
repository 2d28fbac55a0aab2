"""``--cluster`` in the shell: the service's answer, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from app.cli import main
from macekit.call import CSV, Body, Call
from macekit.catalogue import flag
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
        ("metrics", "metrics", {"score": "score", "cluster": "person"}),
        ("risk", "individual-risk", {"score": "score", "cluster": "person", "top": "5"}),
        ("attack", "attack", {"score": "score", "cluster": "person", "rule.kind": "top"}),
        ("audit", "audit", {"score": "score", "cluster": "person", "claimed_epsilon": "1"}),
        ("compare-releases", "compare-releases", {"score": "score,other", "cluster": "person"}),
        (
            "theory together",
            "theory/together",
            {"score": "score", "cluster": "person", "claimed_epsilon": "1"},
        ),
    ],
)
def test_the_answer_is_the_services(
    scores: Path, capsys: Capture, name: str, operation: str, options: dict[str, str]
) -> None:
    flags = [word for option, value in options.items() for word in (flag(option), value)]
    found = answered(capsys, *name.split(), "scores.csv", *flags)

    reply = perform(Call(operation, CSV, query=tuple(options.items())), Body.of(scores.read_bytes()))
    assert found == json.loads(bytes(reply.body))
    said = "100 of 500 rows" if operation == "theory/together" else "'numbers': [100"
    assert said in str(found)


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


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["gate", "--score", "score", "--max-advantage", "0.2"], 1),
        (["gate", "--score", "score", "--max-advantage", "0.9", "--max-tpr", "1", "--at-fpr", "0.1"], 0),
        (["gate", "--score", "score", "--metric", "f_beta", "--max", "0.75"], 3),
        (["series", "--score", "score,other", "--max-advantage", "0.2"], 1),
    ],
)
def test_a_decision_rests_on_the_clusters(
    scores: Path, capsys: Capture, arguments: list[str], status: int
) -> None:
    assert main([*arguments, "scores.csv", "--cluster", "person"]) == status
    out = capsys.readouterr().out
    assert "Worth independent records" in out
    assert "100 of person" in " ".join(out.split())


def test_a_state_takes_no_clusters(scores: Path, capsys: Capture) -> None:
    options = ["--score", "score", "--cluster", "person", "--max-advantage", "0.2", "--state", "run.json"]
    assert main(["gate", "scores.csv", *options]) == 2
    assert "cluster: does not go with --sequential" in capsys.readouterr().err
    assert not (scores.parent / "run.json").exists()


def test_counts_say_what_takes_it(scores: Path, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as end:
        main(["counts", "scores.csv", "--cluster", "person"])
    assert end.value.code == 2
    err = capsys.readouterr().err
    assert "--cluster" in err
    assert "mace estimate, mace risk, mace metrics" in err


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
