"""The questions of the shell, asked in this process: the service's answers, from any file."""

from __future__ import annotations

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

from app.cli import main, run
from app.cli.commands import QUESTIONS
from app.openapi.examples import JSON_EXAMPLES, MEMBERS, NONMEMBERS
from macekit.call import CSV, Body, Call
from macekit.operations import perform
from tests.app.cli.files import answered, side

Capture = pytest.CaptureFixture[str]

RULE = ("--rule", "top"), {"rule.kind": "top"}
"""What an attack needs that has scores and no guesses: in the shell, and in a query."""


def service(operation: str, file: Path, **query: str) -> dict[str, object]:
    """What the service answers to the same table."""
    reply = perform(Call(operation, CSV, query=tuple(query.items())), Body.of(file.read_bytes()))
    found: dict[str, object] = json.loads(bytes(reply.body))
    return found


def failed(capsys: Capture, *arguments: str) -> str:
    """What the command says when it cannot answer."""
    try:
        status = main(arguments)
    except SystemExit as end:  # how argparse refuses
        status = int(str(end.code))
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert "Traceback" not in err
    return err


def test_the_answer_is_the_services(folder: Path, capsys: Capture) -> None:
    found = answered(capsys, "estimate", "scores.csv", "--max-advantage", "0.1", "--estimator", "threshold")

    query = {"max_advantage": "0.1", "estimator.kind": "threshold"}
    assert found == service("advantage", folder / "scores.csv", **query)


ABOUT_ONE_TABLE = [each for each in QUESTIONS if each.most_files == 1 and each.name != "procedure"]
"""A procedure needs a column more: ``test_procedure``."""


@pytest.mark.parametrize("question", ABOUT_ONE_TABLE, ids=lambda q: q.name)
def test_every_question_about_one_table_is_answered(folder: Path, capsys: Capture, question: object) -> None:
    name, operation = question.command, question.name  # type: ignore[attr-defined]
    options, query = RULE if name == "attack" else ((), {})

    found = answered(capsys, name, "scores.csv", *options)

    assert found == service(operation, folder / "scores.csv", **query)
    assert main([name, "scores.csv", *options]) == 0
    out = capsys.readouterr().out
    assert (
        "24 members and 24 nonmembers in" if name == "counts" else "24  and 24 nonmember records\n"
    ) in out


@pytest.mark.parametrize(
    "name",
    [
        "scores.csv",
        "scores.jsonl",
        "scores.npy",
        "scores.npz",
        "scores.arrow",
        "scores.parquet",
        "request.json",
    ],
)
@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
def test_every_format_gives_the_same_numbers(folder: Path, capsys: Capture, name: str, packing: str) -> None:
    data = (folder / name).read_bytes()
    if packing:
        (folder / name).rename(folder / f"plain-{name}")
        packed = gzip.compress(data) if packing == ".gz" else pa.compress(data, "zstd", asbytes=True)
        (folder / f"{name}{packing}").write_bytes(packed)

    found = answered(capsys, "estimate", f"{name}{packing}", "--prior", "0.2")

    asked = service(
        "advantage", folder / ("plain-scores.csv" if packing and "csv" in name else "scores.csv"), prior="0.2"
    )
    assert found["advantage"] == asked["advantage"]


def test_a_format_is_told_by_the_first_bytes_where_no_suffix_tells(folder: Path, capsys: Capture) -> None:
    expected = answered(capsys, "estimate", "scores.csv")["advantage"]
    for name in ("scores.csv", "scores.jsonl", "scores.npy", "scores.npz", "scores.arrow", "scores.parquet"):
        (folder / "file").write_bytes((folder / name).read_bytes())
        assert answered(capsys, "estimate", "file")["advantage"] == expected
        (folder / "file").write_bytes(gzip.compress((folder / name).read_bytes()))
        assert answered(capsys, "estimate", "file")["advantage"] == expected
    (folder / "file").write_bytes((folder / "request.json").read_bytes())
    assert answered(capsys, "estimate", "file")["advantage"] == expected


def test_arrow_files_and_tables_separated_by_tabs_are_read(folder: Path, capsys: Capture) -> None:
    expected = answered(capsys, "estimate", "scores.csv")["advantage"]
    text = (folder / "scores.csv").read_text()
    (folder / "scores.tsv").write_text(text.replace(",", "\t"))
    table = pa.ipc.open_stream((folder / "scores.arrow").read_bytes()).read_all()
    with pa.ipc.new_file(str(folder / "scores.feather"), table.schema) as writer:
        writer.write_table(table)

    assert answered(capsys, "estimate", "scores.tsv")["advantage"] == expected
    assert answered(capsys, "estimate", "scores.feather")["advantage"] == expected


@pytest.mark.parametrize("suffix", ["npy", "csv"])
def test_two_files_are_the_two_sides(folder: Path, capsys: Capture, suffix: str) -> None:
    for name, scores in (("m", MEMBERS), ("n", NONMEMBERS)):
        np.save(folder / f"{name}.npy", np.array(scores))
        (folder / f"{name}.csv").write_text(side(scores))

    found = answered(capsys, "estimate", "--members", f"m.{suffix}", "--nonmembers", "n.npy")

    assert found["advantage"] == service("advantage", folder / "scores.csv")["advantage"]


def test_a_side_may_be_a_column_of_a_table_or_rows_of_a_vector(folder: Path, capsys: Capture) -> None:
    (folder / "m.csv").write_text("id,score\n" + "".join(f"a{i},{v}\n" for i, v in enumerate(MEMBERS)))
    (folder / "n.csv").write_text("loss\n" + side(NONMEMBERS))
    expected = service("advantage", folder / "scores.csv")["advantage"]
    assert (
        answered(capsys, "estimate", "--members", "m.csv", "--nonmembers", "n.csv")["advantage"] == expected
    )

    rng = np.random.default_rng(0)
    np.save(folder / "m.npy", rng.normal(size=(40, 2)) + 1)
    np.save(folder / "n.npy", rng.normal(size=(40, 2)))
    found = answered(capsys, "estimate", "--members", "m.npy", "--nonmembers", "n.npy")
    assert found["provenance"]["n_members"] == 40  # type: ignore[index]
    assert found["provenance"]["query"] == "a vector of 2 numbers"  # type: ignore[index]
    learned = found["learned_score"]
    assert learned["n_taught"] + learned["n_members"] + learned["n_nonmembers"] == 80  # type: ignore[index]
    assert found["roc"]["auc_lower"] > 0.5  # type: ignore[index]


def test_a_fault_in_one_of_two_files_is_said_with_its_name_and_row(folder: Path, capsys: Capture) -> None:
    np.save(folder / "m.npy", np.array([*MEMBERS, np.nan]))
    np.save(folder / "n.npy", np.array(NONMEMBERS))

    error = failed(capsys, "estimate", "--members", "m.npy", "--nonmembers", "n.npy")

    assert error == "mace estimate: m.npy: score: row 24 is NaN or infinite\n"


def test_options_of_the_command_line_win_over_those_of_a_request(folder: Path, capsys: Capture) -> None:
    asked = {**JSON_EXAMPLES["advantage"]["options"].value, "max_advantage": 0.5}  # type: ignore[dict-item]
    (folder / "asked.json").write_text(json.dumps(asked))

    found = answered(capsys, "estimate", "asked.json", "--prior", ".3", "--confidence", "0.8")

    options = found["provenance"]["options"]  # type: ignore[index]
    assert (options["prior"], options["confidence"], options["max_advantage"]) == (0.3, 0.8, 0.5)
    assert options["estimator"] == {"kind": "threshold"}


def test_several_files_are_compared_by_their_stems(folder: Path, capsys: Capture) -> None:
    found = answered(capsys, "compare", "before.csv", "after.csv", "--no-paired", "--against", "after")

    posted = json.dumps({**JSON_EXAMPLES["compare"]["models"].value, "against": "after"}).encode()  # type: ignore[dict-item]
    asked = json.loads(bytes(perform(Call("compare"), Body.of(posted)).body))
    read = [each.pop("columns") for each in found["provenance"]]  # type: ignore[attr-defined]
    assert [[(column["role"], column["name"]) for column in columns] for columns in read] == [
        [(role, f"{file}: {role}") for role in ("score", "member")] for file in ("before", "after")
    ]
    for each in asked["provenance"]:
        del each["columns"]
    assert found == asked


def test_files_of_one_stem_are_told_apart_by_their_whole_names(folder: Path, capsys: Capture) -> None:
    found = answered(capsys, "compare", "scores.csv", "scores.parquet")

    assert {place["name"] for place in found["ranking"]} == {"scores.csv", "scores.parquet"}  # type: ignore[attr-defined]
    assert "was given twice" in failed(capsys, "compare", "scores.csv", "scores.csv")


def test_files_between_options_are_files(folder: Path, capsys: Capture) -> None:
    apart = answered(capsys, "compare", "before.csv", "--prior", "0.4", "after.csv", "--no-paired")

    assert apart == answered(capsys, "compare", "--prior", "0.4", "before.csv", "after.csv", "--no-paired")


def test_a_file_called_like_a_number_can_be_compared_against(folder: Path, capsys: Capture) -> None:
    (folder / "after.csv").rename(folder / "2024.csv")

    found = answered(capsys, "compare", "before.csv", "2024.csv", "--against", "2024")

    assert [each["second"] for each in found["differences"]] == ["2024"]  # type: ignore[attr-defined]


def test_several_scores_of_one_table_are_compared(folder: Path, capsys: Capture) -> None:
    found = answered(capsys, "compare", "scores.csv", "--score", "score,loss")

    assert found == service("compare", folder / "scores.csv", score="score,loss")


def test_a_metric_with_parameters_is_asked_as_the_service_has_it(folder: Path, capsys: Capture) -> None:
    found = answered(capsys, "estimate", "scores.csv", "--metric", "f_beta", "--beta", "2")

    assert found == service(
        "advantage", folder / "scores.csv", **{"metric.preset": "f_beta", "metric.beta": "2"}
    )


def test_a_plan_needs_no_file(capsys: Capture) -> None:
    assert main(["plan", "--expected", "0.05", "--max-advantage", "0.1"]) == 0
    assert "records" in capsys.readouterr().out
    assert "--expected: is required and missing" in failed(capsys, "plan")


def _records_in(out: str) -> int:
    """Rows of the table of records."""
    table = out.partition("\nRecord ")[2].partition("\n\n")[0]
    return len(table.splitlines()) - 1


def test_ten_records_are_printed_unless_asked_otherwise(folder: Path, capsys: Capture) -> None:
    main(["risk", "scores.csv"])
    assert _records_in(capsys.readouterr().out) == 10
    main(["risk", "scores.csv", "--top", "3"])
    assert _records_in(capsys.readouterr().out) == 3
    assert len(answered(capsys, "risk", "scores.csv")["records"]["index"]) == 48  # type: ignore[index]


@pytest.mark.parametrize(
    "name", ["scores.csv", "scores.jsonl", "scores.npy", "scores.arrow", "scores.parquet"]
)
def test_a_large_file_is_counted_and_the_counts_are_asked(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    counted = answered(capsys, "counts", name)
    (folder / "counts.json").write_text(json.dumps({"counts": counted["counts"], "max_advantage": 0.1}))
    expected: Any = answered(capsys, "estimate", "counts.json")
    expected["provenance"]["columns"] = counted["columns"]
    monkeypatch.setattr(run, "LARGE", 100)

    assert main(["estimate", name, "--max-advantage", "0.1", "--json"]) == 1

    out, err = capsys.readouterr()
    assert json.loads(out) == expected
    assert f"{name} is large, so mace counts it while reading" in err


@pytest.mark.parametrize("arguments", [["--estimator", "kde"], ["--unit", "loss"], ["--query", "discrete"]])
def test_a_large_file_is_held_if_the_records_are_needed(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    expected = answered(capsys, "estimate", "scores.csv", "--score", "score", *arguments)
    monkeypatch.setattr(run, "LARGE", 100)

    assert answered(capsys, "estimate", "scores.csv", "--score", "score", *arguments) == expected


def test_large_files_are_counted_before_they_are_compared(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "LARGE", 100)

    assert main(["compare", "before.csv", "after.csv"]) == 0

    out, err = capsys.readouterr()
    assert re.search(r"^before – after ", out, re.MULTILINE)
    assert err.count("is large") == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["scores.csv", "--prior", "2"], "--prior: needs to be less than 1"),
        (["scores.csv", "--metric", "nosuch", "--beta", "2"], "--metric: needs to be 'accuracy'"),
        (["scores.csv", "--estimator", "kd"], "--estimator: needs to be 'auto', 'histogram'"),
        (
            ["scores.csv", "--estimator", "kde", "--bins", "9"],
            "scores.csv: --bins applies only to kind histogram or learned, not kde",
        ),
        (["scores.csv", "--score", "lost"], "scores.csv: score: no column of the 4 has this name"),
        (["scores.csv", "plain.npy"], "plain.npy: an array of one dimension is no table"),
        (["--members", "scores.npy"], "--members and --nonmembers go together"),
        (["--members", "a", "--nonmembers", "b", "--group", "c"], "--group is not an option"),
        (["request.json", "--score", "x"], "--score: a JSON request has no columns"),
        (["scores.csv", "--format", "tsvv"], "did you mean tsv?"),
        (["scores.csv", "--piror", "1"], "--piror is not an option; did you mean --prior?"),
        (["plain.npy"], "members: an array of one dimension needs --member-count N"),
        (["nofile.csv"], "nofile.csv: No such file or directory"),
        (["."], "bad.csv: score: row 1 is text"),
        (["empty.csv"], "empty.csv: empty"),
        (["rubbish.csv"], "rubbish.csv: "),
        (["bad.csv"], "bad.csv: score: row 1 "),
        (["wide.csv"], "wide.csv: "),
        (["scores.csv", "-o", "answer.txt"], "answer.txt: the answer is written as .json, .html"),
        (["scores.csv", "-o", "there/answer.json"], "there is no such folder"),
        (["scores.csv", "-o", "request.json"], "request.json: is there already; --overwrite replaces it"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, capsys: Capture, arguments: list[str], said: str) -> None:
    np.save(folder / "plain.npy", np.arange(20.0))
    (folder / "empty.csv").touch()
    (folder / "rubbish.csv").write_bytes(np.random.default_rng(0).bytes(3000))
    (folder / "bad.csv").write_text("score,member\n0.25,1\nabc,0\n")
    (folder / "wide.csv").write_text("x" * 2_000_000 + ",member\n0.25,1\n")

    error = failed(capsys, "estimate", *arguments)

    assert said in error
    assert len(error) < 1500
    assert "abc" not in error


@pytest.mark.parametrize("name", ["scores.pkl", "model.joblib", "net.pt", "scores.csv.gz", "objects.npy"])
def test_a_pickle_is_refused_by_its_name_and_what_to_write_is_said(
    folder: Path, capsys: Capture, name: str
) -> None:
    content = pickle.dumps({"members": MEMBERS, "nonmembers": NONMEMBERS})
    if name == "objects.npy":
        np.save(folder / name, np.array([*MEMBERS, None], dtype=object), allow_pickle=True)
    elif name == "model.joblib":
        (folder / name).write_bytes(zlib.compress(content))
    else:
        (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)

    alone = failed(capsys, "estimate", name)
    of_one_side = failed(capsys, "estimate", "--members", name, "--nonmembers", "scores.npy")

    for error in (alone, of_one_side):
        assert error.startswith(f"mace estimate: {name}: ")
        assert "mace never opens one" in error
        assert "numpy.savez('scores.npz', members=a, nonmembers=b)" in error


HOSTILE = "a\n\x1b[31mb\u202ec\x9bd.csv"


@pytest.mark.parametrize(
    "arguments", [[HOSTILE, "--score", "x"], ["no" + HOSTILE], [f"--{HOSTILE}"], ["-o", HOSTILE]]
)
def test_no_name_reaches_the_terminal_raw(folder: Path, capsys: Capture, arguments: list[str]) -> None:
    (folder / HOSTILE).write_bytes((folder / "scores.csv").read_bytes())

    error = failed(capsys, "estimate", *arguments)

    assert not set("\x1b\u202e\x9b") & set(error)
    assert r"a\n\x1b[31mb\u202ec\x9bd" in error


def test_labels_are_printed_as_what_they_are(folder: Path, capsys: Capture) -> None:
    text = (folder / "scores.csv").read_text().replace("child", "\x1b]0;\x9btitle\x7f")
    (folder / "labels.csv").write_text(text)

    assert main(["risk", "labels.csv", "--group", "group"]) == 0
    printed = capsys.readouterr().out
    assert main(["risk", "labels.csv", "--group", "group", "--json"]) == 0
    as_json = capsys.readouterr().out

    assert "\n\\x1b]0;\\x9btitle\\x7f " in printed
    assert not set("\x1b\x9b\x7f") & set(printed + as_json)
    assert {group["label"] for group in json.loads(as_json)["groups"]} == {"adult", "\x1b]0;\x9btitle\x7f"}


@pytest.mark.parametrize(
    "name",
    [
        "scores.csv",
        "scores.jsonl",
        "scores.npy",
        "scores.npz",
        "scores.arrow",
        "scores.parquet",
        "request.json",
    ],
)
def test_a_damaged_file_is_refused_or_answered_and_never_our_mistake(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    rng = np.random.default_rng(0)
    whole = (folder / name).read_bytes()
    np.save(folder / "n.npy", np.array(NONMEMBERS))
    for i in range(40):
        monkeypatch.setattr(run, "LARGE", (10**9, 10)[i % 2])
        data = bytearray(whole)
        for place in rng.integers(len(data), size=1 + i % 5):
            data[place] = rng.integers(256)
        (folder / f"damaged-{name}").write_bytes(data[: rng.integers(1, len(data))] if i % 3 == 0 else data)
        for arguments in (
            ["estimate", f"damaged-{name}"],
            ["risk", "--members", f"damaged-{name}", "--nonmembers", "n.npy"],
        ):
            status = main(arguments)
            err = capsys.readouterr().err
            assert status in (0, 2), err
            assert len(err) < 1500
            assert err.isprintable() or set(err) - {"\n"} <= set(filter(str.isprintable, err))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "asked",
    [("estimate", "scores.csv"), ("report", "scores.csv"), ("plan", "--expected", "0.05")],
    ids=lambda asked: str(asked[0]),
)
def test_a_limit_of_the_advantage_has_one_name_and_the_former_one_says_the_same(
    capsys: pytest.CaptureFixture[str], asked: tuple[str, ...]
) -> None:
    found = answered(capsys, *asked, "--max-advantage", "0.1")

    assert answered(capsys, *asked, "--threshold", "0.1") == found
    with pytest.raises(SystemExit):
        main([asked[0], "--help"])
    said = capsys.readouterr().out
    assert "--max-advantage" in said
    assert "--threshold" not in said


@pytest.mark.usefixtures("folder")
def test_the_threshold_of_risk_is_no_limit_of_the_advantage(capsys: pytest.CaptureFixture[str]) -> None:
    found = answered(capsys, "risk", "scores.csv", "--threshold", "0.3")

    assert found["flags"]["threshold"] == 0.3
    assert main(["plan", "--expected", "0.05"]) == 2
    assert "give --max-advantage or --width" in capsys.readouterr().err
