"""/v1/theory/one-run: the library's answer, each form of a promise, and a list of pairs from a file."""

from __future__ import annotations

import pytest

from app.cli import main
from estimators import Counts
from estimators.theory.dp import DpCurve
from estimators.theory.one_run import one_run
from tests.macekit.asking import asked, refused

COUNTS = {"members": [20, 90, 150, 240], "nonmembers": [230, 170, 90, 10], "edges": [0.2, 0.5, 0.8]}
PAIRS = [[0.5, 0.01], [1.0, 1e-4], [2.0, 1e-6]]


def test_the_answer_is_the_librarys() -> None:
    found = asked(
        "theory/one-run", {"counts": COUNTS, "draw": "coin", "curve": PAIRS, "delta": 1e-4, "gaussian": True}
    )

    counts = Counts.of(COUNTS["members"], COUNTS["nonmembers"], edges=COUNTS["edges"])
    promise = DpCurve(*map(tuple, zip(*PAIRS, strict=True)))
    expected = one_run(counts, "coin", promise, 1e-4, gaussian=True)
    assert found["sentence"] == expected.sentence
    assert found["decision"] == "contradicted"
    assert found["epsilon"]["lower_bound"] == expected.epsilon.value
    assert expected.promise is not None
    assert found["promise"] == {"p_value": expected.promise.p_value, "epsilon": 1.0, "delta": 1e-4}
    assert expected.gaussian is not None
    assert found["gaussian"]["mu"] == expected.gaussian.mu
    assert found["stops"]["guesses"][-1] == 1000


@pytest.mark.parametrize(
    "text", ["epsilon,delta\n0.5,0.01\n1.0,1e-4\n2,1e-6\n", "0.5;0.01\n\n1;.0001\n2;1e-6"]
)
def test_an_accountants_list_comes_from_a_file(tmp_path, capsys, text) -> None:
    (tmp_path / "list.csv").write_text(text)
    (tmp_path / "scores.csv").write_text(
        "score,member\n" + "".join(f"{i % 7}.{i},{(i * 5) % 2}\n" for i in range(60))
    )
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
