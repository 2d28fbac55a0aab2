"""A gate that was declared before its scores were seen: that very question is answered, and no other."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import macekit
from macekit.call import Reply
from macekit.declaration import declaration_of, digest
from tests.cases import each_case
from tests.macekit.asking import content, post

RNG = np.random.default_rng(3)
SCORES = {"members": RNG.normal(0.2, 1, 400).tolist(), "nonmembers": RNG.normal(0, 1, 300).tolist()}
LIMITS: dict[str, Any] = {"max_advantage": 0.6, "confidence": 0.9}


def gate(**more: object) -> Reply:
    return post("gate", {**SCORES, **more})


@pytest.fixture(scope="module")
def declared() -> dict[str, Any]:
    return declaration_of(content(gate(**LIMITS))["provenance"]["options"], 400, None)


def test_the_declared_question_is_answered_as_ever_and_names_its_declaration(declared) -> None:
    plain, found = content(gate(**LIMITS)), content(gate(**LIMITS, declaration=declared))

    assert plain["provenance"].pop("declaration") is None
    assert found["provenance"].pop("declaration") == {"sha256": declared["sha256"], "at": declared["at"]}
    assert found["decision"] == "pass"
    said = f"declared at {declared['at']} in the declaration with SHA-256 {declared['sha256']}"
    assert said in found["covers"].pop()
    assert found == plain
    assert content(gate(declaration=declared)) == content(gate(**LIMITS, declaration=declared)), "it says all by itself"


TABLE = {
    "loss": [*SCORES["members"], *SCORES["nonmembers"]],
    "other": RNG.normal(size=700),
    "member": [1] * 400 + [0] * 300,
}


def test_a_column_that_was_declared_is_the_one_that_is_read(tmp_path: Path) -> None:
    """In Python every declaration of a column was refused, and beside one of none any column could be named."""
    options = content(gate(**LIMITS))["provenance"]["options"]
    of_loss, of_none = (declaration_of(options | named, None, None) for named in ({"score": "loss"}, {}))
    file = str(tmp_path / "table.csv")
    rows = zip(*TABLE.values(), strict=True)
    Path(file).write_text("\n".join([",".join(TABLE), *(",".join(map(str, row)) for row in rows)]))

    for table in (TABLE, file):
        answers = [macekit.gate(table, declaration=of_loss, **named).answer for named in ({}, {"score": "loss"})]
        assert answers[0] == answers[1]
        assert answers[0]["provenance"]["declaration"]["sha256"] == of_loss["sha256"]
        assert answers[0]["limits"] == macekit.gate(table, score="loss", **LIMITS).answer["limits"]
        for declared, name in ((of_loss, "other"), (of_none, "loss")):
            with pytest.raises(macekit.MaceProblem, match="score is not as it was declared"):
                macekit.gate(table, declaration=declared, score=name)
    assert "of which columns the records came is not checked" in content(gate(declaration=of_loss))["covers"][-1]


@pytest.mark.slow
@each_case(
    "more, words",
    ({"max_advantage": 0.7, "confidence": 0.9}, "max_advantage is not as it was declared"),
    ({**LIMITS, "seed": 1}, "seed is not as it was declared"),
    ({**LIMITS, "max_epsilon": 5}, "max_epsilon is not as it was declared"),
    ({**LIMITS, "estimator": {"kind": "histogram", "bins": 9}}, "estimator is not as it was declared"),
    ({**LIMITS, "members": SCORES["members"][1:]}, "n_members was declared as 400, and 399 came"),
    ({"max_advantage": 0.6, "anytime": True}, "declaration"),
)
def test_any_other_question_is_refused(more: dict[str, Any], words: str, declared: dict[str, Any]) -> None:
    reply = gate(**more, declaration=declared)

    assert reply.problem in ("bad-option", "useless-option"), bytes(reply.body)[:200]
    assert words in content(reply)["detail"]
    assert gate(**LIMITS, nonmembers=SCORES["nonmembers"][1:], declaration=declared).status == 200, "not declared"


@each_case("change", [
    {"n_members": None}, {"at": "2020-01-01T00:00:00Z"}, {"sha256": "0" * 64}, {"options": {}},
    {"declares": "report"}, {"more": 1}, {"options": None}, {"n_members": "400"},
])  # fmt: skip
def test_a_declaration_that_was_edited_is_refused(change: dict[str, Any], declared: dict[str, Any]) -> None:
    reply = gate(**LIMITS, declaration={**declared, **change})

    assert (reply.problem, content(reply)["field"]) == ("bad-option", "declaration")


def test_an_edit_with_a_new_digest_is_another_declaration(declared: dict[str, Any]) -> None:
    """A digest guards against accidents: that it was not made anew says whoever keeps it, or a signature."""
    other = {**declared, "options": {**declared["options"], "max_advantage": 0.9}}
    other["sha256"] = digest(other)

    assert gate(**LIMITS, declaration=other).problem == "bad-option"
    assert gate(**{**LIMITS, "max_advantage": 0.9}, declaration=other).status == 200


@pytest.mark.parametrize("declaration", [{}, {"sha256": "x"}, {"declares": "gate"}])
def test_what_is_none_is_refused(declaration: dict[str, Any]) -> None:
    assert "is none as mace declare writes it" in content(gate(**LIMITS, declaration=declaration))["detail"]
