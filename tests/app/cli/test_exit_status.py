"""What a pipeline is told: 0 pass, 1 fail, 3 undecided, 2 misuse, by every command that judges something."""

import json
from pathlib import Path

import pytest

from app.cli.parsing import status_of
from macekit.catalogue import OPERATIONS
from macekit.schemas.by_operation import QUESTIONS
from tests.app.cli.files import typed
from tests.app.cli.tables import CALM, RELEASE, SAID, UNLEARNT
from tests.cases import each_case

pytestmark = pytest.mark.usefixtures("quick")

ROOT = Path(__file__).parents[3]

LIMIT = "--max-advantage"


def limited(by: str, *values: str | None) -> tuple[str | None, ...]:
    """A line with each of these limits."""
    return tuple(value and f"{by} {value}" for value in values)


JUDGED: dict[str, tuple[str | None, ...]] = {
    "estimate": limited(f"two.csv {LIMIT}", "0.9", "0.05", "0.4", "2"),
    "report": limited(f"two.csv {LIMIT}", "0.9", "0.05", "0.4", "much"),
    "gate": (*limited(f"two.csv {LIMIT}", "0.9", "0.05", "0.4"), "two.csv"),
    "compare": limited(f"two.csv --score score,loss {LIMIT}", "0.9", "0.05", "0.4", "2"),
    "compare-releases": limited(f"two.csv --score score,loss {LIMIT}", "0.9", "0.05", "0.4", "2"),
    "series": limited(f"two.csv --score loss,score {LIMIT}", "0.9", "0.05", "0.4", "2"),
    "frontier": limited(f"two.csv --score score,loss --utility 1,2 {LIMIT}", "0.9", "0.05", "0.4", "2"),
    "procedure": (
        *limited(f"four.csv --model run --accept-simulated --confidence 0.8 {LIMIT}", "0.9", "0.01"),
        f"four.csv --model run {LIMIT} 0.3",
        f"four.csv {LIMIT} 0.3",
    ),
    "synthetic": limited(
        RELEASE, f"clean.csv {LIMIT} 0.9", f"train.csv {LIMIT} 0.1", f"clean.csv {LIMIT} 0.01", f"clean.csv {LIMIT} 2"
    ),
    "release-size": limited(
        RELEASE,
        f"clean.csv --sizes 50,150 {LIMIT} 0.9",
        f"train.csv --sizes 5,150 {LIMIT} 0.4",
        f"clean.csv --sizes 50,150 {LIMIT} 0.01",
        f"clean.csv {LIMIT} 2",
    ),
    "model": (f"{CALM} {LIMIT} 0.9", f"{SAID} {LIMIT} 0.1", f"{CALM} {LIMIT} 0.01", f"{CALM} {LIMIT} 2"),
    "text": limited(f"tokens.jsonl {LIMIT}", "1", "0.1", "0.99", "2"),
    "shadows": limited(f"signals.npz --scale logit {LIMIT}", "0.9", "0.1", "0.5", "2"),
    "usage": limited(
        "--members older.csv --nonmembers train.csv --score age --candidates",
        "holdout.csv --max-share 0.9",
        "older.csv --max-share 0.01",
        "holdout.csv --max-share 0",
        "holdout.csv --max-share 1",
    ),
    "check": (*limited("--train train.csv --holdout", "holdout.csv", "older.csv", None), "--train train.csv"),
    "unlearning": limited(
        UNLEARNT,
        f"forgotten.csv {LIMIT} 0.3",
        f"remembered.csv {LIMIT} 0.1",
        f"forgotten.csv {LIMIT} 0.02",
        f"forgotten.csv {LIMIT} 2",
    ),
    "audit": limited("two.csv --claimed-epsilon", "9", "0.01", None, "-1"),
    "theory together": (*limited("two.csv --claimed-epsilon", "9", "0.01", None), "two.csv"),
}
"""Lines that pass, that fail, that records are too few for, and that are misuse; nothing is open about a claim or about
two sides, which is contradicted, or differ, or nothing of the kind is shown."""

OUTCOMES = (0, 1, 3, 2)
WORDS = {
    0: ("PASS", "Pass: ", "not contradicted", "Nothing shows", "do not contradict"),
    1: ("FAIL", "Fail: ", "contradict", "The two sides differ"),
    3: ("UNDECIDED", "Undecided: ", "Undecided, not enough data: "),
}
"""How each is told to people."""


@pytest.mark.slow
@pytest.mark.usefixtures("tables")
@each_case("command", JUDGED)
def test_the_exit_status_is_what_was_decided(command: str) -> None:
    for line, outcome in zip(JUDGED[command], OUTCOMES, strict=True):
        if line is None:
            continue
        done = typed(f"{command} {line}")

        assert done.status == outcome, (line, done.err)
        if outcome == 2:
            assert done.out == "", line
        else:
            assert done.err == "", line
            assert any(word in done.out for word in WORDS[outcome]), (line, done.out)


def test_every_question_that_has_a_limit_or_a_claim_is_among_them() -> None:
    judging = {
        row.command
        for row in OPERATIONS
        if row.command and any(name.startswith(("max", "claimed_epsilon")) for name in QUESTIONS[row.name].model_fields)
    }

    # a plan is made before there are records to judge, and a list is as right as it is asked to be; what has no limit
    # stands beside them
    assert judging - {"plan", "exposed"} | {"check"} == JUDGED.keys()


def test_the_manual_names_every_command_that_judges() -> None:
    manual = (ROOT / "docs/cli.md").read_text().split("## Exit status", 1)[1]

    assert [name for name in JUDGED if f"`mace {name}`" not in manual] == []


@pytest.mark.slow
@pytest.mark.usefixtures("tables")
def test_a_report_that_fails_is_written_first_and_a_kept_answer_is_shown_and_judged_no_more() -> None:
    assert typed("report two.csv --max-advantage 0.05 -o report.html").status == 1
    assert "FAIL" in Path("report.html").read_text()
    assert typed("gate two.csv --max-advantage 0.05 -o answer.json").status == 1
    assert typed("report answer.json").status == 0


@pytest.mark.slow
@pytest.mark.usefixtures("tables")
@each_case("line", ["estimate two.csv", "compare two.csv --score score,loss", "metrics two.csv", "audit two.csv"])
def test_nothing_that_is_limited_ends_with_0(line: str) -> None:
    assert typed(line).status == 0


@pytest.mark.usefixtures("empty")
def test_a_limit_in_a_request_counts_as_one_that_was_typed() -> None:
    members, nonmembers = [k / 10 for k in range(40)], [k / 10 - 2.5 for k in range(40)]
    request = {"members": members, "nonmembers": nonmembers, "max_advantage": 0.05}
    Path("request.json").write_text(json.dumps(request))

    assert typed("estimate request.json").status == 1


@each_case(
    "answer, ended",
    ({"verdict": {"decision": "pass"}, "claim": {"decision": "contradicted"}}, 1),
    ({"verdict": {"decision": "inconclusive"}, "claim": {"decision": "not contradicted"}}, 3),
    ({"verdict": {"decision": "inconclusive"}, "claim": {"decision": "contradicted"}}, 1),
    ({"result": {"verdict": {"decision": "fail"}, "claim": None}}, 1),
    ({"verdict": None, "claim": None}, 0),
    ({"decision": "fail, or drift"}, 1),
    ({"decision": None, "differs": False}, 0),
)
def test_of_several_decisions_a_fail_counts_first_and_an_open_one_next(answer: dict[str, object], ended: int) -> None:
    assert status_of(answer) == ended
