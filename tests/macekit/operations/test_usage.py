"""``usage`` over every door: one answer, its report, and what it refuses."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import macekit
from estimators.audits.usage import dataset_use
from macekit import MaceProblem
from macekit.call import CSV, HTML, MARKDOWN, PARQUET
from tests.cases import refusals
from tests.macekit import asking
from tests.macekit.decoding.support import in_one

RNG = np.random.default_rng(8)
GROUPS = {
    "members": RNG.normal(2.0, 1.0, 150).round(4),
    "nonmembers": RNG.normal(size=150).round(4),
    "candidates": np.append(RNG.normal(2.0, 1.0, 40), RNG.normal(size=80)).round(4),
}
TABLES = {name: {"loss": (-scores).tolist()} for name, scores in GROUPS.items()}
QUESTION = {"max_share": 0.1, "direction": "low", "seed": 3}


asked = partial(asking.asked, "usage")


@pytest.mark.slow
def test_every_door_gives_the_librarys_answer(tmp_path: Path) -> None:
    own = dataset_use(*GROUPS.values(), max_share=0.1, direction="high", seed=3)
    lines = [f"{-score},{name}" for name, scores in GROUPS.items() for score in scores]
    parquet = in_one({name: {"loss": -scores} for name, scores in GROUPS.items()}, PARQUET, "which")
    for name, scores in GROUPS.items():
        (tmp_path / f"{name}.csv").write_text("loss\n" + "".join(f"{-score}\n" for score in scores))
    texts = {name: str(value) for name, value in QUESTION.items()}

    answers = [
        asked(TABLES | QUESTION),
        asked("\n".join(["loss,which", *lines]).encode(), CSV, table="which", **texts),
        asked(parquet, PARQUET, table="which", score="loss", **texts),
        macekit.usage(*(-each for each in GROUPS.values()), **QUESTION),
        macekit.usage(*(tmp_path / f"{name}.csv" for name in GROUPS), **QUESTION),
    ]

    for each in answers:
        assert (each["share"]["lower"], each["share"]["upper"]) == (own.share.lower, own.share.upper)
        assert (each["sentence"], each["decision"], each["direction"]) == (own.sentence, own.decision, "low")
        assert (each["n_members"], each["n_nonmembers"], each["n_candidates"]) == (150, 150, 120)
        assert each["provenance"]["input_sha256"] == answers[0]["provenance"]["input_sha256"]
    assert answers[0]["score"] == "loss"


@pytest.mark.slow
def test_a_report_says_what_the_ends_take_for_granted_and_draws_both() -> None:
    posted = TABLES | QUESTION | {"max_share": 0.6}

    text, page = asked(posted, accept=MARKDOWN), asked(posted, accept=HTML)

    assert "PASS" in text
    assert "seen as often (no data test that)" in text  # beside the pass
    assert "However members score, at least" in text
    assert "<svg" in page
    assert "How large a share was trained on" in page


@pytest.mark.slow
def test_no_mixture_has_no_interval_on_its_page() -> None:
    odd = {**TABLES, "candidates": {"loss": [*TABLES["candidates"]["loss"], *[9.0] * 60]}}

    answer, text = asked(odd | QUESTION), asked(odd | QUESTION, accept=MARKDOWN)

    assert (answer["is_mixture"], answer["decision"]) == (False, "inconclusive")
    assert "no mixture" in text
    assert "not_a_mixture" in [each["code"] for each in answer["warnings"]]


@pytest.mark.slow
def test_passages_of_a_document_count_once() -> None:
    documents = {name: [f"{name}{i}" for i in range(len(table["loss"]))] for name, table in TABLES.items()}
    whole = {name: table | {"document": documents[name]} for name, table in TABLES.items()}
    six = {name: {of: np.repeat(column, 6) for of, column in table.items()} for name, table in whole.items()}

    answer = macekit.usage(*six.values(), unit="document", direction="low")

    assert (answer.n_members, answer.n_candidates) == (150, 120)
    assert [each.role for each in answer.provenance.columns] == ["score", "unit"]
    with pytest.raises(MaceProblem, match="150 of members stand in nonmembers, too"):
        macekit.usage(six["members"], six["members"], six["candidates"], unit="document")


@pytest.mark.slow
def test_several_columns_are_combined_and_a_document_is_its_mean_over_every_door() -> None:
    rng = np.random.default_rng(4)
    hard = {name: rng.normal(0, 3, len(scores)) for name, scores in GROUPS.items()}
    tables = {
        name: {
            "loss": np.repeat(hard[name] - scores, 2) + np.tile([0.25, -0.25], len(scores)),
            "reference": np.repeat(hard[name], 2),
            "document": np.repeat([f"{name}{i}" for i in range(len(scores))], 2),
        }
        for name, scores in GROUPS.items()
    }
    question = {"score": ["loss", "reference"], "combine": "auto", "unit": "document", "per_unit": "mean"}
    posted = {name: {k: v.tolist() for k, v in table.items()} for name, table in tables.items()} | question
    columns = ([(table["loss"][::2] + table["loss"][1::2]) / 2, hard[name]] for name, table in tables.items())
    own = dataset_use(*(np.column_stack(each) for each in columns), combine="auto")

    answer = macekit.usage(*tables.values(), **question)
    page = asked(posted, accept=MARKDOWN)

    assert (answer.score, answer.provenance.query) == ("loss + reference",) * 2
    assert [each.column for each in answer.weights] == ["loss", "reference"]
    assert answer.weights[0].weight < -0.3 < 0.3 < answer.weights[1].weight
    assert answer.share.lower == pytest.approx(own.share.lower, abs=0.01)
    assert asked(posted)["share"] == dict(answer.share)
    assert "| Score that was read | loss \\+ reference | a combination |" in page
    assert "What each score counts in their combination" in page
    assert macekit.usage(*tables.values(), **question | {"combine": "never"}).weights == []


def with_tables(**tables: Any) -> Any:
    return lambda: macekit.usage(*({**TABLES, **tables}).values())


LARGE = [2**62 + i for i in range(9)]

test_what_cannot_be_read_is_refused_with_what_to_do = refusals(
    "ask, words",
    (with_tables(members={"loss": [1.0] * 7}), "members: got 7 records, need at least 8"),
    (with_tables(members={"a": [1.0] * 9, "b": [1.0] * 9}), "score: 0 columns stand in all three"),
    (with_tables(candidates={"loss": [1.0, None] * 9}), "row 1 of candidates has no value"),
    (with_tables(nonmembers={"loss": ["x"] * 9}), "holds no numbers in nonmembers"),
    (with_tables(**{name: {"loss": LARGE} for name in ("members", "nonmembers", "candidates")}), "are one float"),
    (lambda: macekit.usage(*TABLES.values(), score=["margin"]), "margin"),
    (lambda: macekit.usage(*TABLES.values(), unit="person"), "person"),
    (lambda: macekit.usage(*TABLES.values(), max_share=1.0), "max_share"),
    (lambda: macekit.usage(*TABLES.values(), direction="up"), "direction"),
    (lambda: macekit.usage(*TABLES.values(), combine="always"), "combine: got one column of scores"),
    (lambda: macekit.usage(*TABLES.values(), combine="some"), "combine: needs to be"),
    (lambda: macekit.usage(*TABLES.values(), per_unit="mean"), "per_unit: got no units"),
    error=MaceProblem,
)
