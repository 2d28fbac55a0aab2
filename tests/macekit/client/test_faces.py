"""Every public function that answers gives one face: what can be done with one answer can be done with any."""

import inspect
import json
import pickle
from functools import cache, partial
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

import macekit
from app.openapi.examples import JSON_EXAMPLES
from macekit.call import HTML
from macekit.catalogue import BY_NAME, FORMS, OPERATIONS
from macekit.client.result import Result
from macekit.reports.palette import WORDS
from macekit.reports.saved import recognise, validate_answer
from macekit.testing import Inconclusive, LimitExceeded
from tests.cases import each_case
from tests.macekit.asking import quickly

MAKE_NO_ANSWER = {"counts_by", "import_scores", "merged", "partial", "risk_table", "sql", "write_risks"}
"""What gives counts, tables or SQL: functions for engines that only run a function, and another tool's scores."""

SEVERAL = {"compare-releases": "releases", "frontier": "candidates", "series": "steps"}
"""What the argument of several samples is called, where the service calls it ``queries``."""


def asked(operation: str) -> Result:
    """The function's answer to the first example that the service shows."""
    question: Any = next(iter(JSON_EXAMPLES[operation].values())).value
    arguments = {SEVERAL.get(operation, name) if name == "queries" else name: each for name, each in question.items()}
    answer: Result = attrgetter(BY_NAME[operation].python)(macekit)(**arguments)
    return answer


def audited(limit: float | None = 0.1) -> Result:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), rng.integers(0, 2, 80)

    def model(rows: Any) -> Any:
        return 1 / (1 + np.exp(-rows[:, 0]))

    return macekit.audit_model(model, X[:40], y[:40], X[40:], y[40:], max_advantage=limit)


ANSWERS = {each.python: partial(asked, each.name) for each in OPERATIONS if each.python}
ANSWERS["audit_model"] = audited


@cache
def answered(name: str) -> Result:
    """Each is asked once, for all tests that look at it."""
    with quickly():
        return ANSWERS[name]()


def test_no_public_function_that_answers_is_left_out() -> None:
    named = set(macekit.__all__) - {"theory"} - MAKE_NO_ANSWER
    functions = {name for name in named if not inspect.isclass(getattr(macekit, name))}
    theory = {f"theory.{name}" for name in dir(macekit.theory) if not name.startswith("_")}

    assert functions | theory == set(ANSWERS)


@pytest.mark.slow
@each_case("name", ANSWERS)
def test_what_can_be_done_with_one_answer_can_be_done_with_any(name: str) -> None:
    answer = answered(name)

    assert isinstance(answer, Result)
    assert answer.sentence
    assert answer.sentence in repr(answer)
    assert answer.sentence in str(answer)
    assert len(str(answer).splitlines()) < 40 or name.startswith("theory.")
    plain = answer.to_dict()
    assert json.loads(answer.to_json()) == json.loads(json.dumps(plain))
    plain.clear()
    assert answer.to_dict()
    assert len(answer.to_frame()) > 0
    assert answer._repr_html_().startswith("<div>")
    if HTML in FORMS[answer.operation]:
        assert answer.sentence.split(".")[0] in answer.to_markdown().replace("\\", "")
        assert answer.to_html().startswith("<!doctype html>")
    else:
        with pytest.raises(ValueError, match="to_json"):
            answer.to_html()
    if answer.charts():
        assert answer.plot().to_svg().startswith("<svg")
    else:
        with pytest.raises(ValueError, match="there is no chart"):
            answer.plot()


@pytest.mark.slow
@each_case("name", ANSWERS)
def test_a_required_pass_is_the_answer_itself_and_anything_else_an_error_of_its_own(name: str) -> None:
    answer = answered(name)

    if answer.decision == "pass":
        assert answer.require_pass() is answer
    else:
        expected = {"fail": LimitExceeded, "fail, or drift": LimitExceeded, "inconclusive": Inconclusive}
        with pytest.raises(expected.get(str(answer.decision), ValueError)) as raised:
            answer.require_pass()
        assert answer.decision not in expected or answer.sentence in str(raised.value)


@pytest.mark.slow
@each_case("name", ANSWERS)
def test_people_read_one_word_for_a_decision_in_text_and_notebook(name: str) -> None:
    answer = answered(name)

    if answer.decision in WORDS:
        verdict = WORDS[str(answer.decision)]
        assert str(answer).startswith(f"{verdict.sign} {verdict.word}\n")
        assert f"<strong>{verdict.sign} {verdict.word}</strong>" in answer._repr_html_()
        assert verdict.word.lower() in {"pass", "fail", "fail, or drift", "undecided"}
    assert "INCONCLUSIVE" not in str(answer) + answer._repr_html_()


def test_a_model_that_is_asked_and_its_predictions_in_a_table_give_the_same_answer() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 1)), rng.integers(0, 2, 200)
    p = np.where(np.arange(200) < 100, np.where(y == 1, 0.6, 0.4), 0.5) + rng.uniform(-0.1, 0.1, 200)
    rows = np.column_stack([X, p])
    options: dict[str, Any] = {"max_advantage": 0.1, "check_sides": False}

    of_model = macekit.audit_model(lambda X: X[:, 1], rows[:100], y[:100], rows[100:], y[100:], **options)
    of_table = macekit.audit_predictions({"label": y[:100], "p": p[:100]}, {"label": y[100:], "p": p[100:]}, **options)

    assert of_model.decision == of_table.decision == "fail"
    apart = {"provenance"}
    assert {k: v for k, v in of_model.to_dict().items() if k not in apart} == {
        k: v for k, v in of_table.to_dict().items() if k not in apart
    }
    assert of_model.provenance.input_sha256 == of_table.provenance.input_sha256


def test_what_the_library_knows_beside_the_answer_stays_at_hand() -> None:
    audit: Any = answered("audit_model")

    assert list(audit.scores) == ["loss", "confidence"]
    assert audit.comparison.ranking[0].name == audit.riskiest == audit["ranking"][0]["name"]
    assert audit.limits[0].decision == audit["limits"][0]["decision"] == audit.decision
    assert {"scores", "ranking", "to_html", "require_pass"} <= set(dir(audit))
    with pytest.raises(AttributeError, match="did you mean ranking"):
        _ = audit.rankin


def test_an_audit_can_be_kept_and_read_again() -> None:
    audit = answered("audit_model")

    again = pickle.loads(pickle.dumps(audit))
    assert again.to_json() == audit.to_json()
    assert again.comparison == audit.comparison
    assert recognise(json.loads(audit.to_json())) == "model"
    assert validate_answer("model", json.loads(audit.to_json())) == json.loads(audit.to_json())


def test_a_report_of_a_model_that_was_asked_says_how_to_ask_it_again() -> None:
    text = answered("audit_model").to_markdown()

    assert "macekit.audit_model(model, X_train, y_train, X_test, y_test, max_advantage=0.1).to_html()" in text
    assert "mace model" not in text
