"""Releases side by side, and a series of checkpoints, as Python and the shell ask for them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import estimators
import macekit
from app.cli import main
from estimators import Scores
from macekit import MaceProblem
from tests.cases import each_case

pytestmark = pytest.mark.usefixtures("quick")

RNG = np.random.default_rng(0)
MEMBERS, NONMEMBERS = RNG.normal(size=(2, 2000))
SHIFTS = {"model/loss": 0.6, "model/entropy": 0.0, "table": 0.05}
PAIRS = {name: (MEMBERS + shift, NONMEMBERS) for name, shift in SHIFTS.items()}
NESTED: dict[str, Any] = {
    "model": {"loss": Scores.of(*PAIRS["model/loss"]), "entropy": Scores.of(*PAIRS["model/entropy"])},
    "table": Scores.of(*PAIRS["table"]),
}
EPOCHS = {f"epoch_{k}": (MEMBERS + k / 50, NONMEMBERS) for k in (20, 5, 1)}  # a limit is kept from the last one on
LIMIT = 0.1
EMPTY: dict[str, Any] = {}
PAIR = MEMBERS, NONMEMBERS
VECTORS = tuple(np.stack([side, side], 1) for side in PAIR)


def frame(pairs: dict[str, Any]) -> dict[str, Any]:
    """Both sides in one table, a column for each name."""
    return {name: np.concatenate(sides) for name, sides in pairs.items()} | {
        "member": np.repeat([True, False], len(MEMBERS))
    }


def written(folder: Path, pairs: dict[str, Any]) -> str:
    table = frame(pairs)
    rows = zip(*(column.tolist() for column in table.values()), strict=True)
    path = folder / "scores.csv"
    path.write_text("\n".join([",".join(table), *(",".join(map(repr, row)) for row in rows)]))
    return str(path)


@pytest.mark.slow
def test_releases_are_those_of_the_library() -> None:
    plain = estimators.compare_releases(NESTED, max_advantage=LIMIT)
    answer = macekit.compare_releases(NESTED, max_advantage=LIMIT)

    assert answer.sentence == plain.sentence
    assert answer.against == plain.against == "model"
    assert [(place.name, place.advantage.lower, place.best_rank) for place in answer.ranking] == [
        (place.name, place.advantage.lower, place.best_rank) for place in plain.comparison.ranking
    ]
    assert [(each.name, each.query, each.decision) for each in answer.releases] == [
        (place.name, plain.riskiest[place.name], plain.decisions[place.name].value)
        for place in plain.comparison.ranking
    ]
    [difference], [wanted] = answer.differences, plain.comparison.differences
    assert (difference.first, difference.second) == ("table", "model")
    assert (difference.lower, difference.upper) == (wanted.estimate.lower, wanted.estimate.upper)


def test_a_series_is_that_of_the_library() -> None:
    steps = {name: Scores.of(*sides) for name, sides in EPOCHS.items()}
    plain = estimators.advantage_series(steps, max_advantage=LIMIT)
    answer = macekit.advantage_series(EPOCHS, max_advantage=LIMIT)

    assert answer.sentence == plain.sentence
    assert [(s.name, s.lower, s.upper, s.decisive_upper, s.decision, s.reason) for s in answer.steps] == [
        (s.label, s.estimate.lower, s.estimate.upper, s.decisive_upper, s.decision.value, s.reason)
        for s in plain.steps
        if s.decision is not None
    ]
    assert answer.decision == "fail"
    assert (answer.last_passed, answer.first_failed) == (None, "epoch_20")


def test_steps_are_walked_in_the_order_in_which_they_come() -> None:
    answer = macekit.advantage_series(dict(reversed(EPOCHS.items())), max_advantage=LIMIT)

    assert [step.name for step in answer.steps] == ["epoch_1", "epoch_5", "epoch_20"]
    assert (answer.last_passed, answer.first_failed) == ("epoch_5", "epoch_20")


@pytest.mark.slow
def test_columns_of_a_table_are_queries_of_releases_by_their_names(tmp_path: Path) -> None:
    wanted = macekit.compare_releases(NESTED, against="table").answer
    for source in (PAIRS, frame(PAIRS), written(tmp_path, PAIRS)):
        answer = macekit.compare_releases(source, against="table").answer

        assert {**answer, "provenance": None} == {**wanted, "provenance": None}


@pytest.mark.slow
def test_tables_are_compared_by_the_queries_that_an_audit_asks() -> None:
    train, holdout, other = ({"x": RNG.normal(size=200), "y": RNG.normal(size=200)} for _ in range(3))
    tables = {"copy": train, "fresh": other}
    releases = {name: estimators.release_queries(train, holdout, each) for name, each in tables.items()}

    answer = macekit.compare_releases(releases, max_advantage=0.5)

    assert [(each.name, each.decision) for each in answer.releases] == [("copy", "fail"), ("fresh", "pass")]


@pytest.mark.slow
@each_case(
    "limits, status, sentence",
    (("--max-advantage", "0.1"), 1, "'epoch_20' is the first that is shown to be above"),
    (("--max-advantage", "0.9"), 0, "all 3 steps keep the advantage"),
    (("--max-advantage", "0.05"), 1, "No step is shown with 97.5% confidence (one end of a 95% interval) to keep"),
    (("--max-advantage", "0.15"), 3, "'epoch_20' is the first that is not"),
    ((), 0, "the advantage at 'epoch_20' "),
)
def test_the_exit_status_of_a_series_is_its_decision(limits, status, sentence, tmp_path, capsys) -> None:
    source = written(tmp_path, EPOCHS)
    assert main(["series", source, "--score", ",".join(reversed(EPOCHS)), "--quiet", *limits]) == status
    assert sentence in capsys.readouterr().out


def test_files_are_steps_in_the_order_in_which_they_are_named(tmp_path, capsys) -> None:
    for name, sides in EPOCHS.items():
        written(tmp_path, {"score": sides})
        (tmp_path / "scores.csv").rename(tmp_path / f"{name}.csv")
    files = [str(tmp_path / f"{name}.csv") for name in ("epoch_5", "epoch_1")]

    assert main(["series", *files, "--json"]) == 0
    assert [step["name"] for step in json.loads(capsys.readouterr().out)["steps"]] == ["epoch_5", "epoch_1"]


@pytest.mark.slow
def test_a_column_of_steps_in_a_file_in_several_or_in_kept_counts(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    epochs = ((name.removeprefix("epoch_"), zip((1, 0), of, strict=True)) for name, of in EPOCHS.items())
    rows = [f"{score},{inside},{name}" for name, sides in epochs for inside, side in sides for score in side]
    head = "score,member,step"
    Path("all.csv").write_text("\n".join([head, *rows]))
    for at in range(2):
        Path(f"part-{at}.csv").write_text("\n".join([head, *rows[at::2]]))

    def steps(*command: str) -> list[dict[str, Any]]:
        assert main(["series", *command, "--max-advantage", "0.1", "--json"]) == 1
        answer: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["steps"]
        return answer

    whole = steps("all.csv", "--by", "step")
    assert [step["name"] for step in whole] == sorted((step["name"] for step in whole), key=int)
    assert main(["counts", "all.csv", "--group", "step", "-o", "counts.json", "--quiet"]) == 0
    assert steps("counts.json") == steps("part-*.csv", "--by", "step") == whole
    assert steps("part-0.csv", "part-1.csv", "--by", "step") == whole


@pytest.mark.slow
def test_the_shell_compares_releases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = written(tmp_path, PAIRS)
    command = ["compare-releases", source, "--score", ",".join(PAIRS), "--against", "table", "--json"]

    assert main(command) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [each["first"] for each in answer["differences"]] == ["model"]
    assert main([*command[:-1], "-o", str(tmp_path / "releases.html")]) == 0


@pytest.mark.slow
@each_case(
    "operation, queries, charts, words",
    ("compare-releases", PAIRS, ["ranking", "differences"], "Riskiest query"),
    ("series", EPOCHS, ["steps"], "By itself at most"),
)
def test_both_have_reports_with_pictures(operation, queries, charts, words) -> None:
    ask = macekit.compare_releases if operation == "compare-releases" else macekit.advantage_series

    result = ask(queries, max_advantage=LIMIT)

    page, text = result.to_html(), result.to_markdown()
    assert page.count("<svg") >= len(charts)
    assert words in page
    assert words in text
    assert f"mace {operation} " in text
    assert [chart.name for chart in result.charts()] == charts


def test_the_words_below_a_frontier_name_its_columns() -> None:
    text = macekit.frontier({"a": PAIR, "b": PAIR}, utility=[1, 2], max_advantage=LIMIT).to_markdown()

    assert "| Judged by at most |" in text
    assert "Judged by at most is the upper end" in text
    assert "By itself" not in text


@each_case(
    "ask, releases, options, words",
    ("compare_releases", {"a": PAIR}, EMPTY, "queries: need at least 2, by name"),
    ("compare_releases", {"a": {"loss": PAIR, "margin": PAIR}}, EMPTY, "queries: all are of one, 'a'; need at least 2"),
    ("compare_releases", PAIRS, {"against": "tabel"}, "against: "),
    ("compare_releases", {"a": {"b": PAIR}, "a/b": PAIR}, EMPTY, "queries: two have the same name"),
    ("advantage_series", {"a": VECTORS, "b": PAIRS["table"]}, EMPTY, "got vectors, need one number a record"),
)
def test_what_is_wrong_is_said(ask: str, releases: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(MaceProblem, match=words):
        getattr(macekit, ask)(releases, **options)
