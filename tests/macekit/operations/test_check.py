"""What a check says beside the columns: a control score, and rows of both sides that are alike."""

import json
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import macekit
from estimators import check_split, control, match_sides
from macekit import MaceProblem
from macekit.call import MARKDOWN, Body, Call
from macekit.operations import perform
from tests.cases import each_case

pytestmark = pytest.mark.usefixtures("quick")

RNG = np.random.default_rng(0)
N = 600


def people(centre: float, count: int = N) -> dict[str, Any]:
    """Rows whose age is drifted, and whose wage follows it."""
    age = RNG.normal(centre, 10, count).round(1)
    wage, site = (age / 10 + RNG.normal(0, 1, count)).round(2), RNG.choice(["n", "s"], count)
    return {"age": age, "wage": wage, "site": site}


def score(model: LogisticRegression, rows: dict[str, Any], labels: Any) -> Any:
    """Confidence in the label."""
    return model.predict_proba(np.column_stack([rows["age"], rows["wage"]]))[np.arange(len(labels)), labels]


TRAIN, HOLDOUT, OTHERS = people(50), people(44), people(47)
LABELS = [(rows["wage"] + RNG.normal(0, 1, N) > 5).astype(int) for rows in (TRAIN, HOLDOUT, OTHERS)]
OTHER_MODEL = LogisticRegression().fit(np.column_stack([OTHERS["age"], OTHERS["wage"]]), LABELS[2])
LABELLED = zip((TRAIN, HOLDOUT), LABELS[:2], strict=True)
CONTROLS = [score(OTHER_MODEL, rows, labels) for rows, labels in LABELLED]
SIDES = [rows | {"other_model": scores} for rows, scores in zip((TRAIN, HOLDOUT), CONTROLS, strict=True)]


def test_the_control_score_has_its_own_advantage_and_is_no_column() -> None:
    plain = macekit.check_split(TRAIN, HOLDOUT)
    answer, alone = macekit.check_split(*SIDES, control="other_model"), control(*CONTROLS)

    assert answer.columns == plain.columns
    assert (plain.control, answer.control.sentence) == (None, alone.sentence)
    ends = alone.advantage.estimate
    assert (answer.control.lower, answer.control.upper) == (ends.lower, ends.upper)
    assert answer.control.differs == alone.differs
    assert {"role": "control", "name": "other_model"}.items() <= answer["provenance"]["columns"][-1].items()
    assert answer.provenance.input_sha256 != plain.provenance.input_sha256


@pytest.mark.slow
def test_rows_that_are_alike_are_named_and_checked_again() -> None:
    answer = macekit.check_split(*SIDES, control="other_model", match=True)
    match = match_sides(TRAIN, HOLDOUT)

    assert answer.differs
    assert (answer.match.train, answer.match.holdout) == (match.members.tolist(), match.nonmembers.tolist())
    sides = ((TRAIN, match.members), (HOLDOUT, match.nonmembers))
    again = check_split(*({name: column[rows] for name, column in side.items()} for side, rows in sides))
    assert answer.match.split.sentence == again.sentence
    assert not answer.match.split.differs


def test_sides_of_which_nobody_is_like_anybody_are_not_checked_again() -> None:
    age = np.arange(60.0) // 3

    match = macekit.check_split({"age": age}, {"age": age + 1000}, match=True).match

    assert match.split is None
    assert len(match.train) == len(match.holdout) < 8


def test_a_report_states_both() -> None:
    lists = ({column: values.tolist() for column, values in side.items()} for side in SIDES)
    body = dict(zip(("train", "holdout"), lists, strict=True))
    posted = json.dumps({**body, "control": "other_model", "match": True}).encode()

    text = bytes(perform(Call("check", accept=MARKDOWN), Body.of(posted)).body).decode()

    assert "## What reaches a score" in text
    assert control(*CONTROLS).sentence.partition(" has, with")[0] in text
    assert "## Rows that are alike" in text
    assert "Of these rows alone: Nothing shows" in text
    assert "| Rows | Told apart | Lower end | Upper end |" in text


@each_case(
    "sides, name, words",
    (SIDES, "other", "control: train has no column 'other'"),
    (SIDES, "site", "control: column 'site' of train holds no numbers"),
    ([SIDES[0], HOLDOUT], "other_model", "control: holdout has no column 'other_model'"),
    (
        [SIDES[0], HOLDOUT | {"other_model": np.where(np.arange(N) == 3, np.nan, 0.5)}],
        "other_model",
        "control: row 3 of holdout has no value in column 'other_model'",
    ),
)
def test_a_control_score_that_cannot_be_used_is_named(sides: Any, name: str, words: str) -> None:
    with pytest.raises(MaceProblem, match=words):
        macekit.check_split(*sides, control=name)


@pytest.mark.slow
def test_matched_rows_of_a_model_are_audited_as_the_page_says() -> None:
    rows = [np.column_stack([side["age"], side["wage"]]) for side in (TRAIN, HOLDOUT)]
    model = LogisticRegression().fit(rows[0], LABELS[0])
    tables = [{"age": each[:, 0], "wage": each[:, 1]} for each in rows]

    match = match_sides(*tables)
    members, others = match.members, match.nonmembers
    alike = rows[0][members], LABELS[0][members], rows[1][others], LABELS[1][others]
    every = (rows[0], LABELS[0], rows[1], LABELS[1]), alike
    audits = [macekit.audit_model(model, *sides, max_advantage=-0.5) for sides in every]

    assert [audit.split is not None and audit.split.differs for audit in audits] == [True, False]


def test_rows_on_both_sides_are_recognised_in_fewer_digits() -> None:
    rng = np.random.default_rng(5)
    train, others = ({name: rng.normal(40, 9, 80) for name in ("age", "wage")} for _ in range(2))
    mixed = {name: np.r_[train[name][:30], others[name][:50]] for name in train}
    holdout = {name: each.astype(np.float32).astype(float) for name, each in mixed.items()}

    answer = macekit.check_split(train, holdout)

    said = {each["code"]: each["message"] for each in answer["warnings"]}
    assert said["shared_rows"].startswith("30 rows of the members")
    assert "at float32 'age', 'wage'" in said["fewer_digits"]
    notes = [each["notes"] for each in answer["provenance"]["columns"]]
    assert notes == 2 * [["rows are compared at float32"]]
