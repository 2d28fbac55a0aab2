"""`mace import`, and `--from`: another tool's result to scores in any form, and to a verdict in one command."""

import json
import shutil
from pathlib import Path

import pytest

import macekit
from tests.app.cli.files import answer, process, refused, typed
from tests.cases import each_case

PEERS = Path(__file__).parents[2] / "macekit" / "imports" / "peers"


@pytest.fixture
def results(empty: Path) -> Path:
    """Files of other tools."""
    for path in PEERS.iterdir():
        if path.suffix in (".json", ".npz", ".pickle"):
            shutil.copy(path, empty)
    return empty


READ_AS = (
    "mace: leakpro.json: read as LeakPro's result: 40 members, 40 nonmembers, score `signal_values`; "
    "higher means member\n"
)


@each_case("suffix", [".csv", ".parquet", ".arrow", ".jsonl", ".ndjson", ".npz"])
def test_scores_are_written_in_every_form_and_read_again(results: Path, suffix: str) -> None:
    done = typed(f"import leakpro.json -o scores{suffix}")

    assert (done.status, done.out, done.err) == (0, "", READ_AS)
    written = macekit.estimate(f"scores{suffix}")
    there = macekit.estimate(**json.loads((PEERS / "expected" / "leakpro.json").read_text()))
    assert written["advantage"] == there["advantage"]
    assert written["provenance"]["input_sha256"] == there["provenance"]["input_sha256"]


def test_without_a_file_to_write_csv_goes_to_the_next_command(results: Path) -> None:
    printed = typed("import leakpro.json --quiet")
    member, other = (
        json.loads((PEERS / "expected" / "leakpro.json").read_text())[side] for side in ("members", "nonmembers")
    )

    lines = printed.out.splitlines()

    assert printed.err == ""
    assert lines[0] == '"score","member"'
    assert sorted(lines[1:]) == sorted([*(f"{each!r},1" for each in member), *(f"{each!r},0" for each in other)])
    piped = typed("gate - --max-advantage 0.1 --json", stdin=printed.out.encode())
    assert (piped.status, piped.answer["decision"]) == (1, "fail")


@pytest.mark.slow
@each_case(
    "line, status",
    ("gate leakpro.json --from leakpro --max-advantage 0.1", 1),
    ("gate jax_privacy.npz --from jax-privacy --max-advantage 0.9", 0),
    ("estimate privacy_meter.npz --from privacy-meter", 0),
    ("report sacro_ml.npz --from sacro-ml", 0),
    ("risk art.npz --from art", 0),
    ("metrics tf_privacy.npz --from tf-privacy --metrics accuracy", 0),
    ("audit privacyguard.json --from privacyguard --claimed-epsilon 9 --claimed-delta 0.01", 0),
    ("counts tf_privacy_losses.npz --from tf-privacy", 0),
)
def test_one_command_imports_and_asks(results: Path, line: str, status: int) -> None:
    command, file, _, tool, *options = line.split()
    typed(f"import {file} -q -o scores.npz --overwrite")

    at_once = typed(f"{line} --json")
    in_two = typed(f"{command} scores.npz --json", *options)

    assert at_once.status == in_two.status == status
    assert at_once.answer == in_two.answer
    assert at_once.err.startswith(f"mace: {file}: read as ")
    assert tool in macekit.imports.peers.BY_NAME


def test_results_of_several_models_are_compared(results: Path) -> None:
    shutil.copy("tf_privacy.npz", "before.npz")
    shutil.copy("tf_privacy_losses.npz", "after.npz")

    compared = answer("compare before.npz after.npz --from tf-privacy --quiet")

    assert [each["name"] for each in compared["ranking"]] == ["before", "after"]


def test_a_report_is_called_like_the_file_that_was_read(results: Path) -> None:
    assert typed("report leakpro.json --from leakpro -o report.md").status == 0

    assert "leakpro.json" in (results / "report.md").read_text()


@each_case(
    "line, words",
    ("import leakpro_counts.json", "mace import: leakpro_counts.json: LeakPro's summary, without the score of"),
    ("import leakpro.json --from jax-privacy", "--from: this is LeakPro's result, not JAX-Privacy's; name leakpro"),
    ("import leakpro.json --from leak-pro", "--from: leak-pro is none of leakpro, privacy-meter, "),
    ("gate sacro_ml.json --from sacro-ml --max-advantage 0.1", "in report_arrays_"),
    ("import leakpro.json -o scores.xlsx", "scores.xlsx: the answer is written as .csv, .parquet, "),
    ("import leakpro.json -o leakpro.npz", "is there already; --overwrite replaces it"),
    ("import nowhere.json", "nowhere.json: No such file or directory"),
    ("import .", "is a folder"),
    ("estimate --members art.npz --nonmembers art.npz --from art", "--from: reads both sides of one file"),
    ("estimate art.npz art_rule.npz --from art", "--from: reads one file; mace import makes a table of each"),
    ("estimate art.npz --format npz --from art", "--from: reads both sides of one file, and tells its format"),
    ("model --train a.csv --holdout b.csv --from art", "--from is not an option"),
    ("gate leakpro.json --max-advantage 0.1", "is a result of LeakPro's: --from leakpro reads it"),
    ("gate privacy_meter.npz --max-advantage 0.1", "is a result of ML Privacy Meter's: --from privacy-meter"),
    ("import attack_result_average_dp.npz", "several models into this file"),
)
def test_what_cannot_be_read_is_one_line_with_a_remedy(results: Path, line: str, words: str) -> None:
    shutil.copy("art.npz", "leakpro.npz")

    said = refused(line)

    assert words in said
    assert [part for part in said.splitlines() if not part.startswith(("See mace ", "mace: "))] == said.splitlines()[:1]


def test_a_pickle_comes_with_three_lines_that_write_its_scores(results: Path) -> None:
    lines = refused("import tf_privacy.pickle").splitlines()

    assert lines[0].startswith("mace import: tf_privacy.pickle: TF Privacy saves its results as a pickle")
    assert (lines[1], len(lines)) == ("import numpy, pickle", 4)
    again = refused("gate tf_privacy.pickle --from tf-privacy --max-advantage 0.1").splitlines()
    assert again[1:] == lines[1:]


def test_sides_the_wrong_way_round_are_asked_about_and_judged_all_the_same(results: Path) -> None:
    import numpy as np

    with np.load("tf_privacy.npz") as right:
        members, nonmembers = right["membership_scores_test"], right["membership_scores_train"]
    np.savez("swapped.npz", membership_scores_train=members, membership_scores_test=nonmembers)

    done = typed("gate swapped.npz --from tf-privacy --max-advantage 0.1")

    assert done.status == 1
    assert "members score lower than nonmembers (AUC 0." in done.err
    assert "wrong way round?" in done.err


@pytest.mark.slow
def test_a_result_through_a_pipe_is_read_whole(results: Path) -> None:
    piped = process("import -", stdin=(results / "privacy_meter.npz").read_bytes())

    assert piped.status == 0
    assert piped.out == typed("import privacy_meter.npz").out
    assert piped.err.startswith("mace: standard input: read as ML Privacy Meter's result: 40 members")
