"""/v1/theory/one-run: the library's answer, each form of a promise, and a list of pairs from a file."""

import json

import numpy as np
import pytest

from app.cli import main
from estimators import Counts, Scores
from estimators.theory.dp import ApproximateDp, DpCurve
from estimators.theory.one_run import one_run, several_runs
from tests.cases import each_case
from tests.macekit.asking import asked, refused

COUNTS = {"members": [20, 90, 150, 240], "nonmembers": [230, 170, 90, 10], "edges": [0.2, 0.5, 0.8]}
PAIRS = [[0.5, 0.01], [1.0, 1e-4], [2.0, 1e-6]]


def test_the_answer_is_the_librarys() -> None:
    found = asked("theory/one-run", {"counts": COUNTS, "draw": "coin", "curve": PAIRS, "delta": 1e-4, "gaussian": True})

    counts = Counts.of(COUNTS["members"], COUNTS["nonmembers"], edges=COUNTS["edges"])
    expected = one_run(counts, "coin", DpCurve(*map(tuple, zip(*PAIRS, strict=True))), 1e-4, gaussian=True)
    assert (found["sentence"], found["decision"]) == (expected.sentence, "contradicted")
    assert found["epsilon"]["lower_bound"] == expected.epsilon.value
    assert expected.promise is not None
    assert found["promise"] == {"p_value": expected.promise.p_value, "epsilon": 1.0, "delta": 1e-4}
    assert expected.gaussian is not None
    assert (found["gaussian"]["mu"], found["stops"]["guesses"][-1]) == (expected.gaussian.mu, 1000)


@pytest.mark.parametrize("text", ["epsilon,delta\n0.5,0.01\n1.0,1e-4\n2,1e-6\n", "0.5;0.01\n\n1;.0001\n2;1e-6"])
def test_an_accountants_list_comes_from_a_file(tmp_path, capsys, text) -> None:
    (tmp_path / "list.csv").write_text(text)
    (tmp_path / "scores.csv").write_text("score,member\n" + "".join(f"{i % 7}.{i},{(i * 5) % 2}\n" for i in range(60)))
    answers = []
    for curve in (str(tmp_path / "list.csv"), "0.5:0.01,1:1e-4,2:1e-6"):
        about = ["--draw", "split", "--adjacency", "replace", "--curve", curve]
        assert main(["theory", "one-run", str(tmp_path / "scores.csv"), *about, "--json"]) == 0
        answers.append(capsys.readouterr().out)
    assert answers[0] == answers[1]


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", None])
def test_what_is_no_file_of_pairs_is_refused_as_pairs_are(tmp_path, capsys, content) -> None:
    (tmp_path / "scores.csv").write_text("score,member\n" + "".join(f"{i},{i % 2}\n" for i in range(60)))
    curve = str(tmp_path / ("list.csv" if content else "x" * 300))  # longer than a name may be
    if content:
        (tmp_path / "list.csv").write_bytes(content)

    about = ["--draw", "split", "--adjacency", "replace", "--curve", curve]
    assert main(["theory", "one-run", str(tmp_path / "scores.csv"), *about]) == 2
    assert "curve" in capsys.readouterr().err


def test_a_delta_of_1_and_sides_that_no_fair_coins_make_are_refused() -> None:
    unfair = {**COUNTS, "members": [1, 2, 3, 4]}

    assert refused("theory/one-run", {"counts": COUNTS, "draw": "coin", "delta": 1.0})["field"] == "delta"
    assert refused("theory/one-run", {"counts": unfair, "draw": "coin"})["field"] == "draw"


RUNS = ["run 2", "run 10", "run 1"]
"""In the order of numbers in names: 1, 2, 10."""


def canaries() -> tuple[list[float], list[int], list[str]]:
    """Scores, who was in, and in which run, the rows of all runs mixed."""
    rng = np.random.default_rng(5)
    run = rng.permutation(np.repeat(RUNS, 150))
    member = rng.random(450) < 0.5
    return np.round(rng.normal(2.0 * member, 1.0), 3).tolist(), member.astype(int).tolist(), run.tolist()


def of_several(**options: object) -> dict[str, object]:
    """The same as a question."""
    score, member, run = (np.array(column) for column in canaries())
    sides = {"members": score[member == 1].tolist(), "nonmembers": score[member == 0].tolist()}
    labels = {"members": run[member == 1].tolist(), "nonmembers": run[member == 0].tolist()}
    return {**sides, "model": labels, "draw": "coin", "direction": "high", **options}


def test_several_runs_are_the_librarys_in_the_order_of_their_names_however_rows_are_mixed(tmp_path, capsys):
    found = asked("theory/one-run", of_several(epsilon=0.5))

    score, member, run = (np.array(column) for column in canaries())
    names = ["run 1", "run 2", "run 10"]
    places = [(run == name) & (member == side) for name in names for side in (1, 0)]
    runs = [Scores.of(score[a], score[b]) for a, b in zip(places[::2], places[1::2], strict=True)]
    expected = several_runs(runs, "coin", ApproximateDp(0.5), direction="high")
    assert [each["name"] for each in found["runs"]] == names
    assert [each["lower_bound"] for each in found["runs"]] == list(expected.bounds)
    assert [each["coins"] for each in found["runs"]] == [150, 150, 150]
    assert (found["sentence"], found["decision"]) == (expected.sentence, "contradicted")
    assert found["epsilon"]["lower_bound"] == expected.bounds[-1] > 0.5

    rows = zip(*canaries(), strict=True)
    table = "score,member,seed\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows)
    (tmp_path / "runs.csv").write_text(table)
    about = ["--draw", "coin", "--direction", "high", "--model", "seed", "--epsilon", "0.5", "--json"]
    assert main(["theory", "one-run", str(tmp_path / "runs.csv"), *about]) == 1
    assert json.loads(capsys.readouterr().out)["runs"] == found["runs"]

    report = tmp_path / "it.md"
    assert main(["theory", "one-run", str(tmp_path / "runs.csv"), *about[:-1], "-o", str(report)]) == 1
    report = (tmp_path / "it.md").read_text()
    rows = [line for line in report.splitlines() if line.startswith("| run ")]
    bounds = [line.split(" | ")[-1].rstrip(" |") for line in rows][1:]
    assert [float(each) for each in bounds] == pytest.approx(expected.bounds, abs=1e-3)


def test_without_a_word_about_runs_nothing_is_said_of_them() -> None:
    assert "runs" not in asked("theory/one-run", {**of_several(), "model": None})


@each_case(
    "change, field, words",
    ({"draw": "chosen"}, "draw", "certify nothing"),
    ({"gaussian": True}, "gaussian", "one run"),
    ({"mu": 1.0}, "delta", "above 0"),
    ({"model": ["a"] * 450}, "model", "got 1 runs"),
    ({"model": ["a", "b"] * 225 + ["c"]}, "model", "451 labels for 450"),
    ({"model": ["a"] * 440 + ["b"] * 10}, "model", "run 2 has 0 member and 10 nonmember"),
    ({"model": ["", "b"] * 225}, "model", "no label"),
    ({"model": [str(at) for at in range(450)]}, "model", "at most 100"),
    ({"units": list(range(450))}, "units", "model"),
    ({"members": None, "nonmembers": None, "counts": COUNTS}, "counts", "which model"),
)
def test_runs_that_cannot_be_taken_together_are_refused(change, field, words) -> None:
    problem = refused("theory/one-run", of_several(**change))

    assert problem["field"] == field
    assert words in problem["detail"]


def test_another_question_takes_no_runs() -> None:
    question = {name: value for name, value in of_several().items() if name in ("members", "nonmembers")}

    problem = refused("theory/together", {**question, "model": ["a"] * 450, "claimed_epsilon": 1.0})
    assert "/v1/theory/one-run tell several apart" in problem["detail"]
