"""Options of gate, model and synthetic out of `mace.toml` or `pyproject.toml`: what is typed wins, and nothing else."""

import json
from pathlib import Path

import pytest

from app.cli.limits_file import COMMANDS
from macekit.catalogue import BY_NAME
from tests.app.cli.files import SIDES, refused, table, typed
from tests.cases import each_case

PROJECT = """
[project]
name = "a-model"

[tool.mace]
max-advantage = 0.1
at_fpr = [0.01]

[tool.mace.gate]
max-advantage = 0.9
score = "score"

[tool.mace.synthetic]
queries = ["nearest"]
"""


def test_a_gate_takes_what_was_not_typed_and_says_so(folder: Path) -> None:
    Path("pyproject.toml").write_text(PROJECT)
    Path("scores.csv").write_text(Path("scores.csv").read_text())

    done = typed("gate scores.csv --max-tpr 0.9")
    typed_too = typed("gate scores.csv --max-advantage 0.1 --max-tpr 0.9")

    assert done.status in (0, 3)
    assert done.err == "note: from pyproject.toml: --max-advantage 0.9 --at-fpr 0.01 --score score\n"
    assert typed_too.status == 1
    assert typed_too.err == "note: from pyproject.toml: --at-fpr 0.01 --score score\n"
    assert typed("gate scores.csv --max-advantage 0.1 --limits none").err == ""
    assert typed("gate scores.csv --max-tpr 0.9 --quiet").err == ""


def test_a_column_of_the_file_goes_to_tables_and_not_to_requests(folder: Path) -> None:
    """Refused as ``--score: a JSON request has no columns``, which nobody had typed."""
    Path("other.toml").write_text('[tool.mace]\nmax-advantage = 0.9\n[tool.mace.gate]\nscore = "score"\n')
    Path("request.json").write_text(json.dumps(SIDES))
    limits = "--limits other.toml"

    alone = typed(f"gate request.json {limits}")
    both = typed(f"gate request.json scores.csv {limits} --json")

    assert alone.status in (0, 3)
    assert "note: request.json is a request and has no columns, so not filled in: --score score" in alone.err
    assert "from other.toml: --max-advantage 0.9\n" in alone.err
    assert [each["file"] for each in json.loads(both.out)["files"]] == ["request.json", "scores.csv"]
    assert "--score: a JSON request has no columns" in refused(f"gate request.json {limits} --score score")


@each_case(
    "said, options, file, limits, note",
    ({"max_advantage": 0.1}, "", "max-advantage = 0.9", [0.1], "r.json itself says, so not filled in: --max"),
    ({"max_advantage": None}, "", "max-advantage = 0.2", [0.2], "from mace.toml: --max-advantage 0.2"),
    ({"max_advantage": 0.1}, "--max-advantage 0.3", "max-advantage = 0.9", [0.3], ""),
    ({"max_advantage": 0.1}, "", "max-tpr = 0.9\nat-fpr = 0.1", [0.1, 0.9], "from mace.toml: --max-tpr"),
    ({"metric": "accuracy", "max": 0.6}, "", "metric = 'f_beta'\nbeta = 2\nmax = 0.9", [0.6], "--beta 2"),
    ({"max_advantage": 0.1, "confidence": 0.99, "prior": 0.4}, "", "confidence = 0.5\nprior = 0.1", [0.1], ""),
    (
        {"max_advantage": 0.1, "estimator": {"kind": "histogram", "bins": 9}},
        "",
        "bins = 2",
        [0.1],
        "r.json itself says",
    ),
)
def test_what_a_request_says_itself_wins_over_the_file(
    said: dict[str, object], options: str, file: str, limits: list[float], note: str, folder: Path
) -> None:
    Path("r.json").write_text(json.dumps(SIDES | said))
    alone = typed(f"gate r.json --limits none {options} --json")
    Path("mace.toml").write_text(file + "\n")

    done = typed(f"gate r.json {options} --json")

    assert [each["maximum"] for each in done.answer["limits"]] == limits
    assert note in done.err
    if "from mace.toml" not in done.err:
        assert done.out == alone.out


def test_each_of_several_requests_says_what_it_says(folder: Path) -> None:
    Path("r.json").write_text(json.dumps(SIDES | {"max_advantage": 0.1}))
    Path("mace.toml").write_text("max-advantage = 0.9\n")

    done = typed("gate r.json scores.csv --json")

    assert [each["answer"]["limits"][0]["maximum"] for each in done.answer["files"]] == [0.1, 0.9]
    Path("r.json").write_text(json.dumps(SIDES | {"confidence": 0.99}))
    assert "type the one of all together: --confidence" in refused("gate r.json scores.csv")
    assert typed("gate r.json scores.csv --confidence 0.9").status in (0, 3)


def test_no_other_command_reads_it(folder: Path) -> None:
    Path("pyproject.toml").write_text(PROJECT)

    with_file = typed("estimate scores.csv --json")
    Path("pyproject.toml").unlink()

    assert with_file == typed("estimate scores.csv --json")
    assert "--limits is not an option" in refused("estimate scores.csv --limits none")


def test_mace_toml_comes_first_and_a_file_that_is_named_before_all(folder: Path) -> None:
    Path("pyproject.toml").write_text(PROJECT)
    Path("mace.toml").write_text("max_advantage = 0.8\n")
    Path("strict.toml").write_text("[gate]\nmax-advantage = 0.2\naccept-exposure = true\n")

    assert typed("gate scores.csv").err == "note: from mace.toml: --max-advantage 0.8\n"
    named = typed("gate scores.csv --limits strict.toml")
    assert named.err == "note: from strict.toml: --max-advantage 0.2 --accept-exposure\n"
    assert named.status == 1


def test_a_run_keeps_the_limits_of_its_first_batch(folder: Path) -> None:
    Path("mace.toml").write_text("max-advantage = 0.3\n")
    assert typed("gate scores.csv --state run.json").err.startswith("note: from mace.toml")
    Path("mace.toml").write_text("max-advantage = 0.9\n")

    sides = ([start + 0.01 * n for n in range(20)] for start in (0.31, 0.11))
    Path("more.csv").write_text(table(*sides))
    again = typed("gate more.csv --state run.json --json")

    assert "note: from" not in again.err
    assert json.loads(again.out)["limits"][0]["maximum"] == 0.3


@each_case(
    "name, text, words",
    ("mace.toml", "max-advantag = 0.1", "max-advantag: is not an option; did you mean max-advantage?"),
    ("mace.toml", "workers = 7", "workers: is not an option; settings of the service stand in a file of"),
    ("mace.toml", "[gat]\nprior = 0.1", "gat is none of gate, model, synthetic; did you mean gate?"),
    ("mace.toml", "[model]\nscore = 'loss'", "model.score: is not an option"),
    ("mace.toml", "prior = 0.1\n[gate.estimator]\nbins = 9", "gate.estimator: need a text, a number"),
    ("mace.toml", "max-tpr = 0.1\nmax_tpr = 0.2", "max_tpr: is given twice"),
    *(
        ("mace.toml", f"prior = {value}", "prior: need a text, a number, true, false, or a list")
        for value in ("[[0.1]]", "2026-01-01", "[]")
    ),
    ("mace.toml", "prior = ", "mace.toml: is not TOML: "),
    ("mace.toml", "\x00", "mace.toml: is not TOML: "),
    ("pyproject.toml", "[tool]\nmace = 3", "tool.mace is no table; write [tool.mace], and below it"),
    ("mace.toml", "\ufeffmax-advantage = 'x'", "--max-advantage: needs to be a number"),
    ("mace.toml", "max-advantage = 'x'", "--max-advantage: needs to be a number"),
    ("mace.toml", "#" * 2_000_000, "larger than"),
)
def test_what_is_wrong_with_a_file_is_misuse_that_names_it(name: str, text: str, words: str, folder: Path) -> None:
    Path("mace.toml").unlink(missing_ok=True)
    Path(name).write_text(text)

    assert words in refused("gate scores.csv")


@each_case("named, words", [("absent.toml", "cannot be read"), (".", "cannot be read"), ("pyproject.toml", "has no")])
def test_a_file_that_is_named_must_be_one(named: str, words: str, folder: Path) -> None:
    Path("pyproject.toml").write_text("[tool.ruff]\n")

    assert words in refused(f"gate scores.csv --max-advantage 0.1 --limits {named}")


def test_a_project_without_a_table_is_passed_over(folder: Path) -> None:
    Path("pyproject.toml").write_text("[tool.ruff]\nline-length = 90\n")

    assert typed("gate scores.csv --max-advantage 0.9").err == ""


def test_config_prints_what_each_command_takes(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("pyproject.toml").write_text(PROJECT)

    done = typed("config")

    assert done.status == 0
    assert "from pyproject.toml, unless typed otherwise:" in done.out
    assert "  mace gate --max-advantage 0.9 --at-fpr 0.01 --score score\n" in done.out
    Path("pyproject.toml").write_text("[tool.mace]\nno = 1\n")
    assert typed("config").status == 2


def test_the_commands_are_questions() -> None:
    assert set(COMMANDS) <= set(BY_NAME)
