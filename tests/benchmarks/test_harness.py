"""One way to every benchmark: what is listed, run, printed, kept, and held against docs."""

from pathlib import Path

import pytest

from benchmarks import harness
from benchmarks.__main__ import main

EVERY = harness.benchmarks()
TOY = '''"""Toys, counted.

Nothing else.
"""
from benchmarks.harness import Note, Refused, Run, Title, table

OPTIONS = {"rows": (100, 5), "loud": (False, False), "name": ("", "")}
QUICK = 0.1

def helper():
    """No table."""

@table
def counted(run: Run):
    """Two rows, a note and another table."""
    if run.name == "nobody":
        raise Refused("--name: nobody is called so")
    run.faults += run.loud
    yield "toy | runs | rows"
    yield f"ball | {run.times(200)} | {run.rows}"
    yield f"doll | {run.times(2)} | {run.rows}"
    yield Note("That is all.")
    yield Title("widths", "How wide:")
    yield "toy | width"
    yield "ball | 0.5"

@table
def other(run: Run):
    yield "a | b"
'''
KEPT = "| toy | runs | rows |\n| --- | --- | --- |\n| ball | 200 | 100 |\n| doll | 2 | 100 |"
COMMAND = "<!-- python -m benchmarks table toys counted -->"
SHOWN = f"`python -m benchmarks run toys`:\n\n{COMMAND}\n\n{KEPT}\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one benchmark, with docs beside it that show one of its tables."""
    folder = tmp_path / f"of_{tmp_path.name.replace('-', '_')}"
    (folder / "games").mkdir(parents=True)
    (folder / "toys.py").write_text(TOY)
    (folder / "games" / "tables.py").write_text(TOY)
    (folder / "helpers.py").write_text("QUICK = 1.0\n")
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("")
    monkeypatch.setattr(harness, "HERE", folder)
    monkeypatch.setattr(harness, "DOCS", tmp_path / "docs")
    monkeypatch.setattr(harness, "RESULTS", tmp_path / "docs" / "results")
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def documented(place: Path, text: str = SHOWN) -> list[str]:
    """What is said of a document, beside the kept table and no other."""
    harness.write_results("toys", {"counted": KEPT.splitlines()})
    (place / "docs" / "toys.md").write_text(text)
    return harness.complaints()


def test_each_module_with_a_table_is_a_benchmark_and_is_listed_with_its_tables_and_settings(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list"]) == 0

    first, second, *_ = capsys.readouterr().out.splitlines()
    assert list(harness.benchmarks()) == ["games", "toys"]
    assert first.split() == ["games", "Toys,", "counted."]
    assert second.split() == ["counted,", "other", "--rows", "--loud", "--name"]


def test_a_run_prints_each_table_with_its_head_and_its_notes(place: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["run", "toys", "--only", "counted"]) == 0

    out = capsys.readouterr().out
    assert out == f"\n## counted\n\n{KEPT}\n\nThat is all.\n" + (
        "\n## widths\n\nHow wide:\n\n| toy | width |\n| --- | --- |\n| ball | 0.5 |\n"
    )


@pytest.mark.parametrize(
    ("words", "row"),
    [
        (["--quick"], "| ball | 20 | 5 |"),
        (["--quick", "--runs", "0.5", "--rows", "7"], "| ball | 100 | 7 |"),
        (["--runs", "0.001"], "| ball | 1 | 100 |"),
        (["--rows", "0"], "| ball | 200 | 0 |"),
    ],
)
def test_what_is_asked_comes_before_quick_and_quick_before_the_whole(
    place: Path, capsys: pytest.CaptureFixture[str], words: list[str], row: str
) -> None:
    assert main(["run", "games", *words]) == 0

    assert row in capsys.readouterr().out.splitlines()
    assert main(["run", "games", "--loud"]) == 1  # a fault is an exit status


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "nothing"], "invalid choice: 'nothing'"),
        (["run", "toys", "--only", "counted,none"], "no table none; there are counted, other"),
        (["run", "toys", "--runs", "0"], "a share above 0"),
        (["run", "toys", "--name", "nobody"], "nobody is called so"),
        (["run", "toys", "--more"], "unrecognized arguments: --more"),
        (["list", "--more"], "unrecognized arguments: --more"),
        (["table", "toys", "counted"], "no table counted is kept; there are none"),
    ],
)
def test_what_cannot_be_is_refused(
    place: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(words)

    assert said in capsys.readouterr().err


def test_what_docs_name_is_saved_and_printed_again_and_tables_of_other_runs_stay(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    documented(place, "\n".join([SHOWN, *(COMMAND.replace("counted", each) for each in ("old", "widths"))]))
    harness.write_results("toys", {"old": ["| a |", "| --- |"], "unnamed": ["| b |"]})
    main(["run", "toys", "--save"])
    capsys.readouterr()

    assert main(["table", "toys", "widths"]) == 0

    assert capsys.readouterr().out.splitlines()[-3:] == ["| toy | width |", "| --- | --- |", "| ball | 0.5 |"]
    assert list(harness.results("toys")) == ["old", "counted", "widths"]


def test_docs_that_show_what_is_kept_pass(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    aligned = SHOWN.replace("| --- | --- | --- |", "| --- | ---: | ---: |").replace("| 2 |", "|   2 |")

    assert documented(place, aligned) == []
    assert main(["check"]) == 0


WRONG = {
    "5: ['ball', '201', '100'] is ['ball', '200', '100'] in docs/results/toys.txt": ("| 200 |", "| 201 |"),
    "5: 2 rows, 3 in docs/results/toys.txt": ("| doll | 2 | 100 |\n", ""),
    "5: docs/results/toys.txt has no table widths": ("table toys counted", "table toys widths"),
    "5: a table of numbers that names no command": (COMMAND, ""),
    " does not say python -m benchmarks run toys": ("`python -m benchmarks run toys`", ""),
    " python -m benchmarks run balls: no such benchmark": ("run toys", "run balls"),
    " python -m benchmarks run toys --row 3 --more: refused": ("run toys", "run toys --row 3 --more"),
    " python -m benchmarks run toys --only none: refused": ("run toys", "run toys --only none"),
    " python -m benchmarks do toys: not one of list, run, table, check": ("run toys", "do toys"),
    " no table stands below that of toys counted": (KEPT, ""),
    " python -m benchmarks.toys is no command": ("`python", "`python -m benchmarks.toys`, `python"),
}


@pytest.mark.parametrize("said", WRONG)
def test_docs_that_show_anything_else_are_told_where(place: Path, said: str) -> None:
    found = documented(place, SHOWN.replace(*WRONG[said]))

    assert f"toys.md:{said}" in found or f"toys.md{said}" in found


def test_a_kept_table_that_nobody_shows_is_told(place: Path) -> None:
    harness.write_results("gone", {"old": ["| a |"]})

    found = documented(place, "")

    assert found == [
        "docs/results/gone.txt: no document shows old",
        "docs/results/toys.txt: no document shows counted",
        "docs/results/gone.txt: no such benchmark",
    ]


@pytest.mark.parametrize("comment", ["<!-- not measured -->", COMMAND.replace("python", "read off: python")])
def test_a_table_of_numbers_may_say_that_no_command_makes_it(place: Path, comment: str) -> None:
    table = "| prior | right |\n| --- | --- |\n| 0.5 | 5,000 |\n"

    assert documented(place, f"{SHOWN}\n{comment}\n\n{table}") == []
    assert documented(place, f"{SHOWN}\nWords:\n\n{table}") == ["toys.md:12: a table of numbers that names no command"]


def test_docs_are_written_from_what_is_kept_and_keep_their_alignment(place: Path) -> None:
    aligned = SHOWN.replace("| --- | --- | --- |", "| --- | ---: | ---: |")
    documented(place, aligned.replace("| 200 |", "| 201 |"))

    assert main(["table", "toys", "--docs"]) == 0

    assert (place / "docs" / "toys.md").read_text() == aligned


def test_quick_takes_a_few_from_the_first_to_the_last() -> None:
    assert harness.Run(quick=True).few(range(10), 4) == [0, 3, 6, 9]
    assert harness.Run(quick=True).few(range(10), 1) == [0]
    assert harness.Run(quick=True).few(range(3), 4) == [0, 1, 2]
    assert harness.Run().few(range(10), 4) == list(range(10))


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_come_in_the_order_of_their_tasks(jobs: int) -> None:
    assert harness.Run(jobs=jobs).map(abs, range(-5, 5)) == [5, 4, 3, 2, 1, 0, 1, 2, 3, 4]


@pytest.mark.parametrize("benchmark", EVERY.values(), ids=EVERY)
def test_every_benchmark_says_what_it_is_about_and_reads_its_settings(benchmark: harness.Benchmark) -> None:
    run, tables, _ = benchmark.asked(benchmark.parser(), ["--quick"])

    assert benchmark.about
    assert tuple(tables) == benchmark.tables
    assert run.options == {option: quick for option, (_, quick) in benchmark.options.items()}


@pytest.mark.slow
def test_a_real_benchmark_runs_quickly(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "theory", "--only", "noise", "--quick"]) == 0

    assert "\n| 50 | 1.53 - 1.87 (" in capsys.readouterr().out
