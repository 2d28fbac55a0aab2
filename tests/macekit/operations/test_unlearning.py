"""``/v1/unlearning``: the same answer from every door, its report, and what it refuses."""

from typing import Any

import numpy as np
import pytest

import macekit
from estimators.audits.unlearning import NOT_COVERED, audit_unlearning
from macekit.call import CSV, HTML, MARKDOWN, NDJSON
from tests.cases import each_case
from tests.macekit.asking import asked, post, refused
from tests.macekit.decoding.support import in_one

RNG = np.random.default_rng(5)
N = 400
FORGOTTEN, UNSEEN, RETAINED = (
    {"id": [f"{name}{row}" for row in range(N)], "score": RNG.normal(mean, 1, N).round(4).tolist()}
    for name, mean in (("f", 0.0), ("u", 0.0), ("r", 2.5))
)
BODY: dict[str, Any] = {"forgotten": FORGOTTEN, "unseen": UNSEEN, "id": "id", "max_advantage": 0.3}
LARGE = {"score": [2**62 + i for i in range(9)]}
AGAIN = [(np.array(side["score"]) + RNG.normal(0, 0.1, N)).tolist() for side in (FORGOTTEN, UNSEEN)]
BESIDE: dict[str, Any] = BODY | {
    name: side | {"retrained": scores}
    for (name, side), scores in zip((("forgotten", FORGOTTEN), ("unseen", UNSEEN)), AGAIN, strict=True)
}


def numbers(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name != "provenance"}


def test_the_answer_is_the_library_s() -> None:
    answer = asked("unlearning", BODY | {"retained": RETAINED})
    audit = audit_unlearning(FORGOTTEN["score"], UNSEEN["score"], RETAINED["score"], max_advantage=0.3)

    assert audit.share is not None
    assert (answer["sentence"], answer["residual"]["upper"]) == (audit.sentence, audit.residual.upper)
    assert answer["remaining_share"]["lower"] == audit.share.estimate.lower
    assert (answer["least_limit"], answer["records_to_pass"]) == (audit.least_limit, audit.records_to_pass)
    assert answer["verdict"]["decision"] == "pass"
    assert answer["verdict"]["covers"] == [*audit.covers]
    assert NOT_COVERED in answer["verdict"]["covers"]
    assert answer["n_retained"] == N


@pytest.mark.slow
@each_case("body", (BODY, BESIDE, BODY | {"retained": RETAINED}))
def test_json_one_csv_and_python_say_the_same(body: dict[str, Any]) -> None:
    by_json = asked("unlearning", body)
    by_csv = asked("unlearning", in_one(body), CSV, id="id", max_advantage="0.3")
    tables = {name: body[name] for name in ("forgotten", "unseen", "retained") if name in body}
    by_python = macekit.unlearning(**tables, id="id", max_advantage=0.3)

    assert numbers(by_json) == numbers(by_csv)
    assert by_json["provenance"]["input_sha256"] == by_csv["provenance"]["input_sha256"]
    assert by_python.sentence == by_json["sentence"]


def test_a_column_called_retrained_is_found_and_the_limit_is_then_on_the_excess() -> None:
    by_itself, named = asked("unlearning", BESIDE), asked("unlearning", BESIDE | {"retrained": "retrained"})

    assert by_itself["excess"] == named["excess"]
    assert len(by_itself["cuts"]) == 3
    assert "the excess over the retrained model" in by_itself["verdict"]["reason"]
    assert by_itself["records_to_pass"] is None
    assert [each["role"] for each in by_itself["provenance"]["columns"]] == ["score", "retrained", "id"]


def test_the_score_is_the_only_column_or_one_of_a_usual_name() -> None:
    loss = [{"loss": side["score"], "age": list(range(N))} for side in (FORGOTTEN, UNSEEN)]
    usual = asked("unlearning", {"forgotten": loss[0], "unseen": loss[1]})
    only = asked("unlearning", {"forgotten": {"x": FORGOTTEN["score"]}, "unseen": {"x": UNSEEN["score"]}})

    assert usual["residual"] == only["residual"]
    assert usual["verdict"] is None


def test_a_record_in_two_tables_has_no_verdict() -> None:
    twice = UNSEEN | {"id": [FORGOTTEN["id"][0], *UNSEEN["id"][1:]]}
    answer = asked("unlearning", BODY | {"unseen": twice})
    verdict = answer["verdict"]

    assert "records of forgotten stand in unseen, too, by their id: 1 of them" in answer["sentence"]
    assert (verdict["decision"], verdict["undecided_because"]) == ("not applicable", "sides_share_records")
    assert verdict["covers"] == []


def test_a_record_whose_id_is_a_number_in_one_table_and_its_text_in_another_is_the_same() -> None:
    """As a Parquet file and a CSV file have them: a hundred records of both passed."""
    forgotten, unseen = (side | {"id": [*range(first, first + N)]} for side, first in ((FORGOTTEN, 0), (UNSEEN, N - 1)))
    answer = asked("unlearning", BODY | {"forgotten": forgotten, "unseen": unseen | {"id": [*map(str, unseen["id"])]}})

    assert "records of forgotten stand in unseen, too, by their id: 1 of them" in answer["sentence"]


@pytest.mark.slow
@each_case("body", (BODY, BESIDE, BODY | {"retained": RETAINED}, {**BODY, "max_advantage": 0.0}))
def test_the_report_has_its_picture_and_says_what_a_pass_is_not(body: dict[str, Any]) -> None:
    page = bytes(post("unlearning", body, accept=HTML).body).decode()
    text = bytes(post("unlearning", body, accept=MARKDOWN).body).decode()

    assert "What is left of forgotten records" in page
    assert "<svg" in page
    assert "is no proof that nothing of them is left" in " ".join(text.split())
    assert ("A pass is no proof of forgetting" in text) == (body["max_advantage"] > 0.0)


@each_case(
    "change, kind, words",
    ({"unseen": {"score": [1, 2, 3]}, "id": None}, "too-few-records", "unseen: got 3"),
    ({"unseen": {"loss": [1.0] * 9}, "id": None}, "missing-field", "score: unseen has no column"),
    ({"id": "person"}, "missing-field", "id: forgotten has no column"),
    ({"retrained": "again"}, "missing-field", "retrained: forgotten has no column"),
    ({"score": "id"}, "wrong-type", "holds no numbers"),
    ({"forgotten": LARGE, "unseen": LARGE, "id": None}, "bad-records", "are one float"),
    ({"max_advantage": -0.1}, "out-of-range", "max_advantage"),
    ({"forgotten": {"a": [1], "b": [2]}, "id": None}, "missing-field", "2 columns of forgotten could be"),
    ({"unseen": None}, "missing-field", "unseen: is required"),
    ({"holdout": UNSEEN}, "unknown-field", "a field is not known; known are"),
    (
        {"forgotten": {"score": [2] * 9}, "unseen": {"score": [2] * 9}, "id": None},
        "bad-records",
        "are equal, so they tell nothing",
    ),
    ({"forgotten": {"score": [None, *range(9)]}, "id": None}, "bad-records", "row 0 of forgotten"),
)
def test_what_cannot_be_used_is_refused(change: dict[str, Any], kind: str, words: str) -> None:
    body = {name: value for name, value in (BODY | change).items() if value is not None}
    problem = refused("unlearning", body)

    assert problem["kind"] == kind
    assert words in problem["detail"]


def test_json_lines_without_a_table_column_are_refused() -> None:
    assert refused("unlearning", b'{"score": 1}\n', NDJSON)["kind"] == "missing-field"


def test_python_refuses_a_pass_that_is_none() -> None:
    result = macekit.unlearning({"score": FORGOTTEN["score"]}, {"score": UNSEEN["score"]}, max_advantage=0.01)

    assert result.decision == "inconclusive"
    with pytest.raises(Exception, match="Undecided"):
        result.require_pass()
