"""The questions of the shell, asked in this process: the service's answers, from any file."""

import gzip
import json
import pickle
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from app.cli import run
from app.cli.commands import QUESTIONS
from app.openapi.examples import FILES, JSON_EXAMPLES, MEMBERS, NONMEMBERS
from macekit.call import CSV
from tests.app.cli.files import answer, refused, service, side, typed
from tests.cases import each_case
from tests.macekit.asking import ask

pytestmark = pytest.mark.usefixtures("quick")

RULE = "--rule top", {"rule.kind": "top"}
"""What an attack needs that has scores and no guesses: in the shell, and in a query."""


@pytest.mark.slow
@each_case(
    "line, operation, query",
    (
        "estimate scores.csv --max-advantage 0.1 --estimator threshold",
        "advantage",
        {"max_advantage": "0.1", "estimator.kind": "threshold"},
    ),
    ("estimate scores.csv --metric f_beta --beta 2", "advantage", {"metric.preset": "f_beta", "metric.beta": "2"}),
    ("compare scores.csv --score score,loss", "compare", {"score": "score,loss"}),
)
def test_the_answer_is_the_services(folder: Path, line: str, operation: str, query: dict[str, str]) -> None:
    assert answer(line) == service(operation, **query)


@pytest.mark.slow
@each_case(
    "question", [each for each in QUESTIONS if each.most_files == 1 and CSV in each.bodies and each.name != "procedure"]
)
def test_every_question_about_one_table_is_answered(folder: Path, question: Any) -> None:
    options, query = RULE if question.name == "attack" else ("", {})
    line = f"{question.command} scores.csv {options}"

    assert answer(line) == service(question.name, **query)
    done = typed(line)
    assert done.status == 0
    read = "24 members and 24 nonmembers in" if question.name == "counts" else "24  and 24 nonmember records\n"
    assert read in done.out


@pytest.mark.slow
@each_case("name", [*FILES, "request.json"])
def test_every_format_gives_the_same_numbers_by_its_name_or_its_first_bytes(folder: Path, name: str) -> None:
    expected = answer("estimate scores.csv --prior 0.2")["advantage"]
    data = (folder / name).read_bytes()
    packed = {"": data, ".gz": gzip.compress(data), ".zst": pa.compress(data, "zstd", asbytes=True)}
    for suffix, content in packed.items():
        for file in (f"packed-{name}{suffix}", "file"):
            (folder / file).write_bytes(content)
            assert answer(f"estimate {file} --prior 0.2")["advantage"] == expected, (file, suffix)


def test_arrow_files_and_tables_separated_by_tabs_are_read(folder: Path) -> None:
    (folder / "scores.tsv").write_text((folder / "scores.csv").read_text().replace(",", "\t"))
    table = pa.ipc.open_stream((folder / "scores.arrow").read_bytes()).read_all()
    with pa.ipc.new_file(str(folder / "scores.feather"), table.schema) as writer:
        writer.write_table(table)

    csv, tsv, feather = (answer(f"estimate scores.{suffix}")["advantage"] for suffix in ("csv", "tsv", "feather"))
    assert csv == tsv == feather


def test_a_side_may_be_a_file_of_one_column_a_column_of_a_table_or_rows_of_a_vector(folder: Path) -> None:
    for name, scores in (("m", MEMBERS), ("n", NONMEMBERS)):
        np.save(folder / f"{name}.npy", np.array(scores))
        (folder / f"{name}.csv").write_text(side(scores))
    (folder / "m-id.csv").write_text("id,score\n" + "".join(f"a{i},{v}\n" for i, v in enumerate(MEMBERS)))
    (folder / "n-loss.csv").write_text("loss\n" + side(NONMEMBERS))
    expected = service("advantage")["advantage"]
    for sides in ("m.npy --nonmembers n.npy", "m.csv --nonmembers n.npy", "m-id.csv --nonmembers n-loss.csv"):
        assert answer(f"estimate --members {sides}")["advantage"] == expected, sides

    rng = np.random.default_rng(0)
    np.save(folder / "m.npy", rng.normal(size=(40, 2)) + 1)
    np.save(folder / "n.npy", rng.normal(size=(40, 2)))
    found = answer("estimate --members m.npy --nonmembers n.npy")
    assert found["provenance"]["n_members"] == 40
    assert found["provenance"]["query"] == "a vector of 2 numbers"
    learned = found["learned_score"]
    assert learned["n_taught"] + learned["n_members"] + learned["n_nonmembers"] == 80
    assert found["roc"]["auc_lower"] > 0.5


def test_a_fault_in_one_of_two_files_is_said_with_its_name_and_row(folder: Path) -> None:
    np.save(folder / "m.npy", np.array([*MEMBERS, np.nan]))
    np.save(folder / "n.npy", np.array(NONMEMBERS))

    said = refused("estimate --members m.npy --nonmembers n.npy")

    assert said == "mace estimate: m.npy: score: row 24 is NaN or infinite\n"


def test_options_of_the_command_line_win_over_those_of_a_request(folder: Path) -> None:
    asked: Any = {**JSON_EXAMPLES["advantage"]["options"].value, "max_advantage": 0.5}  # type: ignore[dict-item]
    (folder / "asked.json").write_text(json.dumps(asked))

    options = answer("estimate asked.json --prior .3 --confidence 0.8")["provenance"]["options"]

    assert (options["prior"], options["confidence"], options["max_advantage"]) == (0.3, 0.8, 0.5)
    assert options["estimator"] == {"kind": "threshold"}


def test_several_files_are_compared_by_their_stems(folder: Path) -> None:
    found = answer("compare before.csv after.csv --no-paired --against after")

    asked = ask("compare", {**JSON_EXAMPLES["compare"]["models"].value, "against": "after"})  # type: ignore[dict-item]
    read = [each.pop("columns") for each in found["provenance"]]
    assert [[(column["role"], column["name"]) for column in columns] for columns in read] == [
        [(role, f"{file}: {role}") for role in ("score", "member")] for file in ("before", "after")
    ]
    for each in asked["provenance"]:
        del each["columns"]
    assert found == asked


def test_files_of_one_stem_are_told_apart_by_their_whole_names(folder: Path) -> None:
    found = answer("compare scores.csv scores.parquet")

    assert {place["name"] for place in found["ranking"]} == {"scores.csv", "scores.parquet"}
    assert "was given twice" in refused("compare scores.csv scores.csv")
    for labels in ("--cluster group", "--group group --max-group-advantage 0.2"):
        said = refused(f"compare before.csv after.csv {labels}")
        assert "labels of rows are not read of several files" in said


@pytest.mark.slow
def test_files_between_options_are_files(folder: Path) -> None:
    apart = answer("compare before.csv --prior 0.4 after.csv --no-paired")

    assert apart == answer("compare --prior 0.4 before.csv after.csv --no-paired")


def test_a_file_called_like_a_number_can_be_compared_against(folder: Path) -> None:
    (folder / "after.csv").rename(folder / "2024.csv")

    found = answer("compare before.csv 2024.csv --against 2024")

    assert [each["second"] for each in found["differences"]] == ["2024"]


def test_what_is_missing_is_named_with_what_it_may_be(folder: Path) -> None:
    assert "--draw: is required and missing: one of coin, split, chosen" in refused(
        "theory one-run before.csv --epsilon 1"
    )


def test_a_plan_needs_no_file() -> None:
    assert "records" in typed("plan --expected 0.1 --max-advantage 0.6").out
    assert "--expected: is required and missing" in refused("plan")
    assert "give --max-advantage or --width" in refused("plan --expected 0.05")


@each_case("line, records", [("risk scores.csv", 10), ("risk scores.csv --top 3", 3)])
def test_ten_records_are_printed_unless_asked_otherwise(folder: Path, line: str, records: int) -> None:
    assert len(typed(line).out.partition("\nRecord ")[2].partition("\n\n")[0].splitlines()) - 1 == records
    assert len(answer("risk scores.csv")["records"]["index"]) == 48


@each_case("name", [name for name in FILES if not name.endswith("npz")])
def test_a_large_file_is_counted_and_the_counts_are_asked(folder: Path, name: str) -> None:
    counted = answer(f"counts {name}")
    (folder / "counts.json").write_text(json.dumps({"counts": counted["counts"], "max_advantage": 0.1}))
    expected = answer("estimate counts.json")
    expected["provenance"]["columns"] = counted["columns"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "LARGE", 100)
        done = typed(f"estimate {name} --max-advantage 0.1 --json")

    assert (done.status, done.answer) == (1, expected)
    assert f"{name} is large, so mace counts it while reading" in done.err


@each_case("options", ["--estimator kde", "--unit loss", "--query discrete"])
def test_a_large_file_is_held_if_the_records_are_needed(folder: Path, options: str) -> None:
    expected = answer(f"estimate scores.csv --score score {options}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "LARGE", 100)
        assert answer(f"estimate scores.csv --score score {options}") == expected


def test_large_files_are_counted_before_they_are_compared(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "LARGE", 100)

    done = typed("compare before.csv after.csv")

    assert done.status == 0
    assert re.search(r"^before – after ", done.out, re.MULTILINE)
    assert done.err.count("is large") == 2


@each_case(
    "line, said",
    ("scores.csv plain.npy", "plain.npy: an array of one dimension is no table"),
    ("plain.npy", "members: an array of one dimension needs --member-count N"),
    ("nofile.csv", "nofile.csv: No such file or directory"),
    (".", "bad.csv: score: row 1 is text"),
    ("empty.csv", "empty.csv: empty"),
    ("rubbish.csv", "rubbish.csv: "),
    ("bad.csv", "bad.csv: score: row 1 "),
    ("wide.csv", "wide.csv: "),
)
def test_what_is_wrong_with_a_file_is_said(folder: Path, line: str, said: str) -> None:
    """What is wrong with a line stands in the transcripts of tests/goldens."""
    np.save(folder / "plain.npy", np.arange(20.0))
    (folder / "empty.csv").touch()
    (folder / "rubbish.csv").write_bytes(np.random.default_rng(0).bytes(3000))
    (folder / "bad.csv").write_text("score,member\n0.25,1\nabc,0\n")
    (folder / "wide.csv").write_text("x" * 2_000_000 + ",member\n0.25,1\n")

    problem = refused(f"estimate {line}")

    assert said in problem
    assert len(problem) < 1500
    assert "abc" not in problem


@each_case("name", ["scores.pkl", "model.joblib", "net.pt", "scores.csv.gz", "objects.npy"])
def test_a_pickle_is_refused_by_its_name_and_what_to_write_is_said(folder: Path, name: str) -> None:
    content = pickle.dumps({"members": MEMBERS, "nonmembers": NONMEMBERS})
    if name == "objects.npy":
        np.save(folder / name, np.array([*MEMBERS, None], dtype=object), allow_pickle=True)
    elif name == "model.joblib":
        (folder / name).write_bytes(zlib.compress(content))
    else:
        (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)

    for line in (f"estimate {name}", f"estimate --members {name} --nonmembers scores.npy"):
        said = refused(line)
        assert said.startswith(f"mace estimate: {name}: ")
        assert "mace never opens one" in said
        assert "numpy.savez('scores.npz', members=a, nonmembers=b)" in said


HOSTILE = "a\n\x1b[31mb\u202ec\x9bd.csv"


@each_case("words", [[HOSTILE, "--score", "x"], ["no" + HOSTILE], [f"--{HOSTILE}"], ["-o", HOSTILE]])
def test_no_name_reaches_the_terminal_raw(folder: Path, words: list[str]) -> None:
    (folder / HOSTILE).write_bytes((folder / "scores.csv").read_bytes())

    said = refused("estimate", *words)

    assert not set("\x1b\u202e\x9b") & set(said)
    assert r"a\n\x1b[31mb\u202ec\x9bd" in said


def test_labels_are_printed_as_what_they_are(folder: Path) -> None:
    text = (folder / "scores.csv").read_text().replace("child", "\x1b]0;\x9btitle\x7f")
    (folder / "labels.csv").write_text(text)

    printed, as_json = (typed(f"risk labels.csv --group group {more}") for more in ("", "--json"))

    assert "\n\\x1b]0;\\x9btit " in printed.out  # the rest of it stands below
    assert "\nle\\x7f\n" in printed.out
    assert not set("\x1b\x9b\x7f") & set(printed.out + as_json.out)
    assert {group["label"] for group in as_json.answer["groups"]} == {"adult", "\x1b]0;\x9btitle\x7f"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FILES, "request.json"])
def test_a_damaged_file_is_refused_or_answered_and_never_our_mistake(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    rng = np.random.default_rng(0)
    whole = (folder / name).read_bytes()
    np.save(folder / "n.npy", np.array(NONMEMBERS))
    for i in range(20):
        monkeypatch.setattr(run, "LARGE", (10**9, 10)[i % 2])
        data = bytearray(whole)
        for place in rng.integers(len(data), size=1 + i % 5):
            data[place] = rng.integers(256)
        (folder / f"damaged-{name}").write_bytes(data[: rng.integers(1, len(data))] if i % 3 == 0 else data)
        for line in (f"estimate damaged-{name}", f"risk --members damaged-{name} --nonmembers n.npy"):
            done = typed(line)
            assert done.status in (0, 2), done.err
            assert len(done.err) < 1500
            assert done.err.isprintable() or set(done.err) - {"\n"} <= set(filter(str.isprintable, done.err))


@pytest.mark.slow
@each_case("line", ["estimate scores.csv", "report scores.csv", "plan --expected 0.5"])
def test_a_limit_of_the_advantage_has_one_name_and_the_former_one_says_the_same(folder: Path, line: str) -> None:
    assert answer(f"{line} --threshold 0.1") == answer(f"{line} --max-advantage 0.1")
    said = typed(f"{line.split(maxsplit=1)[0]} --help").out
    assert "--max-advantage" in said
    assert "--threshold" not in said


def test_the_threshold_of_risk_is_no_limit_of_the_advantage(folder: Path) -> None:
    assert answer("risk scores.csv --threshold 0.3")["flags"]["threshold"] == 0.3
