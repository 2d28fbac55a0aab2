"""`mace gate` of several files: each judged by itself, one level for all, and one decision."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from benchmarks.gate import HAIR, LEAK, at_the_truth
from estimators import Decision
from estimators.decisions.gate import judge
from macekit.call import CSV, NDJSON, PARQUET
from macekit.reports.files import level_of_each
from tests.app.cli.files import answer, refused, typed
from tests.cases import each_case
from tests.macekit.decoding.support import table_bytes

THREE = "gate pass.csv fail.parquet open.jsonl --max-advantage 0.1"
FILES = {"pass.csv": (CSV, 0.0, 6000), "fail.parquet": (PARQUET, 0.7, 1000), "open.jsonl": (NDJSON, 0.0, 200)}


@pytest.fixture
def three(empty: Path) -> Path:
    """A file that passes, one that fails and one that is undecided, in three formats."""
    rng = np.random.default_rng(3)
    for name, (media_type, shift, n) in FILES.items():
        scores = np.concatenate([rng.normal(shift, 1, n), rng.normal(0, 1, n)])
        Path(name).write_bytes(table_bytes({"score": scores, "member": np.repeat([1, 0], n)}, media_type))
    return empty


@each_case(
    "files, status, decision",
    ("pass.csv fail.parquet open.jsonl", 1, "fail"),
    ("pass.csv open.jsonl", 3, "inconclusive"),
    ("pass.csv copy/pass.csv", 0, "pass"),
)
def test_all_pass_or_one_fails_or_it_is_open(three: Path, files: str, status: int, decision: str) -> None:
    (three / "copy").mkdir(exist_ok=True)
    (three / "copy" / "pass.csv").write_bytes((three / "pass.csv").read_bytes())

    done = typed(f"gate {files} --max-advantage 0.1 --json")

    assert (done.status, done.answer["decision"]) == (status, decision)
    assert [each["file"] for each in done.answer["files"]] == files.split()
    assert bool(done.answer["covers"]) == (decision == "pass")


def test_a_file_that_cannot_answer_lets_no_other_pass_for_it(three: Path) -> None:
    rows = [f"{place // 40},{place % 2}" for place in range(4000)]
    (three / "again.csv").write_text("\n".join(["score,member", *rows]))

    done = typed("gate pass.csv again.csv --max-advantage 1 --query continuous --junit g.xml --sarif g.sarif --json")

    assert (done.status, done.answer["decision"]) == (3, "not applicable")
    assert done.answer["decisions"]["not applicable"] == 1
    cases = [[child.tag for child in case] for case in ET.parse("g.xml").iter("testcase")]
    assert cases == [[], ["error"]]
    (result,) = json.loads(Path("g.sarif").read_text())["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("mace/records", "warning")


def test_each_file_is_judged_as_alone_at_its_share_of_the_error(three: Path) -> None:
    found = answer(THREE)

    assert (found["confidence"], found["confidence_of_each"]) == (0.95, level_of_each(0.95, 3))
    for each in found["files"]:
        alone = answer(f"gate {each['file']} --max-advantage 0.1 --confidence {found['confidence_of_each']}")
        assert each["answer"] == alone
    decided = {name: number for name, number in found["decisions"].items() if number}
    assert decided == {"pass": 1, "fail": 1, "inconclusive": 1}
    assert found["sentence"].startswith("Fail: of 3 files fail.parquet exceeds a limit. With 95% confidence")


def test_a_line_a_file_is_printed_and_the_decision_over_all(three: Path) -> None:
    done = typed(f"{THREE} -q")

    assert (done.status, done.err) == (1, "")
    rows = {line.split()[0]: line.split()[1] for line in done.out.splitlines() if "the advantage" in line}
    assert rows == {"pass.csv": "PASS", "fail.parquet": "FAIL", "open.jsonl": "UNDECIDED"}
    assert done.out.startswith("✕ FAIL\n")


def test_what_a_pipeline_reads_is_about_every_file(three: Path) -> None:
    files = "--junit g.xml --sarif g.sarif --summary g.md --metrics g.txt -o g.html"

    assert typed(f"{THREE} {files}").status == 1
    cases = {case.get("name"): [child.tag for child in case] for case in ET.parse("g.xml").iter("testcase")}
    assert cases == {"pass.csv": [], "fail.parquet": ["failure"], "open.jsonl": ["error"]}
    (run,) = json.loads(Path("g.sarif").read_text())["runs"]
    shown = {
        each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]: each["level"] for each in run["results"]
    }
    assert shown == {"fail.parquet": "error", "open.jsonl": "warning"}
    assert "| open.jsonl | the advantage | 0.1 |" in Path("g.md").read_text()
    assert 'mace_gate_upper{file="pass.csv",limit="advantage"}' in Path("g.txt").read_text()
    assert all(name in Path("g.html").read_text() for name in cases)


def test_the_brief_form_has_that_of_each_file(three: Path) -> None:
    found = json.loads(typed(f"{THREE} --brief").out)

    assert found["decision"] == "fail"
    assert [each["answer"]["decision"] for each in found["files"]] == ["pass", "fail", "inconclusive"]
    assert len(json.dumps(found)) < len(json.dumps(answer(THREE))) / 3


@pytest.mark.slow
def test_a_kept_answer_is_shown_again_and_refused_where_its_files_say_something_else(three: Path) -> None:
    shown = typed(f"{THREE} -q").out
    assert typed(f"{THREE} -q -o kept.json").status == 1
    kept = json.loads(Path("kept.json").read_text())

    assert typed("report kept.json").out == shown

    for change in (
        {"decision": "pass"}, {"files": []}, {"files": [{}]}, {"confidence": "much"}, {"covers": ["x"]},
    ):  # fmt: skip
        Path("changed.json").write_text(json.dumps(kept | change))
        assert refused("report changed.json").startswith("mace report: changed.json: not a complete answer")
    kept["files"][1]["answer"]["decision"] = "pass"
    Path("changed.json").write_text(json.dumps(kept))
    assert refused("report changed.json").startswith("mace report: changed.json: not a complete answer")


def test_the_answer_about_one_of_the_files_is_computed_again(three: Path) -> None:
    (three / "one.json").write_text(json.dumps(answer(THREE)["files"][0]["answer"]))

    done = typed("verify one.json --recompute pass.csv")

    assert (done.status, done.out) == (0, "one.json: what pass.csv gives, number by number\n")


def test_limits_stand_in_a_file_as_for_one(three: Path) -> None:
    (three / "mace.toml").write_text("max-advantage = 0.1\nconfidence = 0.9\n")

    done = typed("gate pass.csv fail.parquet --json")

    assert (done.status, done.answer["confidence_of_each"]) == (1, level_of_each(0.9, 2))
    assert done.err.count("note: from mace.toml") == 1


def test_one_table_is_what_several_files_are_elsewhere(three: Path) -> None:
    rows = (three / "pass.csv").read_text().splitlines()
    for name, part in (("a", rows[1:5000]), ("b", rows[5000:])):
        (three / f"{name}.csv").write_text("\n".join([rows[0], *part]))

    found = answer("gate a.csv b.csv --max-advantage 0.1 --one-table")

    assert found["limits"] == answer("gate pass.csv --max-advantage 0.1")["limits"]
    assert found["provenance"]["n_members"] == 6000


def test_groups_are_limited_within_each_file(folder: Path) -> None:
    (folder / "again.csv").write_bytes((folder / "scores.csv").read_bytes())

    found = answer("gate scores.csv again.csv --max-group-advantage 0.9 --group group")

    groups = [{group["label"] for group in each["answer"]["groups"]} for each in found["files"]]
    assert groups == [{"child", "adult"}] * 2


@each_case(
    "line, words",
    ("gate pass.csv ./pass.csv --max-advantage 0.1", "./pass.csv: is given twice"),
    ("gate pass.csv none.csv --max-advantage 0.1", "none.csv: No such file"),
    ("gate pass.csv bad.csv --max-advantage 0.1", "bad.csv: "),
    ("gate pass.csv open.jsonl --max-advantage 0.1 --state run.json", "--state: is about one table"),
    ("gate pass.csv open.jsonl --declared d.json", "--declared: is about one table"),
    ("gate pass.csv open.jsonl --max-advantage 0.1 --confidence 2", "confidence"),
    ("gate pass.csv open.jsonl", "max-advantage"),
    ("gate pass.csv - --max-advantage 0.1 --sarif g.sarif", "--sarif: a result has to name a file"),
)
def test_what_cannot_be_judged_is_said_in_a_line_and_nothing_is_written(three: Path, line: str, words: str) -> None:
    (three / "bad.csv").write_text("score,member\nx\n")

    said = refused(f"{line} -q --junit never.xml")

    assert words in said
    assert said.count("\n") == 1
    assert not (three / "never.xml").exists()


def test_a_name_of_a_file_is_inert_wherever_it_is_told(three: Path) -> None:
    name = '::error::"\\<b>|`\u202e.csv'
    (three / name).write_bytes((three / "open.jsonl").read_bytes())
    files = "--junit g.xml --sarif g.sarif --summary g.md --metrics g.txt"

    done = typed(f"gate pass.csv --max-advantage 0.1 --format jsonl {files}".replace("pass.csv", "open.jsonl"), name)

    assert done.status == 3
    told = done.out + "".join(Path(each).read_text() for each in ("g.xml", "g.sarif", "g.md", "g.txt"))
    assert "\u202e" not in told
    assert not any(line.lstrip().startswith("::") for line in done.out.splitlines())
    assert len(list(ET.parse("g.xml").iter("testcase"))) == 2
    assert "<b>" not in Path("g.md").read_text().replace("\\<b\\>", "")


def test_an_address_is_named_without_its_key(three: Path) -> None:
    said = refused("gate pass.csv s3://key:secret@bucket/a.csv s3://key:secret@bucket/a.csv --max-advantage 0.1 -q")

    assert "s3://bucket/a.csv: is given twice" in said
    assert "secret" not in said


@pytest.mark.slow
def test_no_decision_on_any_file_is_wrong_more_often_than_stated() -> None:
    """Every limit is the truth but for a hair, so that both a pass and a fail are wrong."""
    rng, files, families = np.random.default_rng(1), 20, 20
    limit = at_the_truth(LEAK, 0.5)["advantage"]
    wrong: dict[float, int] = {0.95: 0, level_of_each(0.95, files): 0}

    for family in range(families):
        data = [LEAK.draw(rng, 1000, 1000) for _ in range(files)]
        for level in wrong:
            wrong[level] += any(
                judge(each, [limit(-HAIR, each)], 0.5, level, seed=family).decision is not Decision.INCONCLUSIVE
                for each in data
            )

    shared, alone = wrong[level_of_each(0.95, files)], wrong[0.95]
    assert shared <= 3  # of 20 at 5%: more have a probability of 1.6%
    assert alone > 3  # so that the test would see it
