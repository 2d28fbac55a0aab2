"""Options to questions: strict, and what is wrong is said without repeating it."""

from typing import Any

import pytest

from estimators import PRESETS, CellsTarget, LearnedTarget, ThresholdTarget
from estimators.paper import EqualWidth, Kernel
from macekit.operations.options import metric, parse_value, reading, target, validate
from macekit.problems import Problem
from macekit.questions.advantage import AdvantageQuestion
from macekit.questions.attack import AttackQuestion
from macekit.questions.gate import GateQuestion
from macekit.questions.metrics import MetricsQuestion
from macekit.questions.risk import RiskQuestion
from macekit.schemas.by_operation import QUESTIONS
from macekit.schemas.questions import Estimator, MetricName, PresetMetric
from tests.cases import each_case, refusals

BAD = [
    ({"prior": True}, "wrong-type", "prior"),
    ({"prior": "0.5"}, "wrong-type", "prior"),
    ({"prior": None}, "wrong-type", "prior"),
    ({"prior": 1}, "out-of-range", "prior"),
    ({"prior": float("nan")}, "out-of-range", "prior"),
    ({"prir": 0.5}, "unknown-field", "prior"),
    ({"seed": 1.5}, "wrong-type", "seed"),
    ({"seed": -1}, "out-of-range", "seed"),
    ({"metric": "acuracy"}, "unknown-name", "metric"),
    ({"metric": 3}, "wrong-type", "metric"),
    ({"metric": {"preset": "f_beta", "beta": -1}}, "out-of-range", "metric.beta"),
    ({"metric": {"preset": "f_beta", "betta": 1}}, "unknown-field", "beta"),
    ({"metric": {"coefficients": {"a1": 1.0}}}, "unknown-field", "a11"),
    ({"metric": {"coefficients": {"a11": "1"}}}, "wrong-type", "metric.coefficients.a11"),
    ({"estimator": {"kind": "histgram"}}, "unknown-name", "estimator.kind"),
    ({"estimator": {"bandwidth": "scot"}}, "unknown-name", "estimator.bandwidth"),
    ({"estimator": []}, "wrong-type", "estimator"),
    ({"operating_points": [0.1, 2]}, "out-of-range", "operating_points"),
    ({"operating_points": 0.1}, "wrong-type", "operating_points"),
]


@each_case("options, slug, field", BAD)
def test_a_bad_option_is_named_with_its_kind_of_problem(options, slug, field) -> None:
    with pytest.raises(Problem) as caught:
        validate(AdvantageQuestion, options)

    assert (caught.value.kind.slug, caught.value.field) == (slug, field)


@each_case(
    "got, near", [("f1_score", "f1"), ("F1", "f1"), ("acuracy", "accuracy"), ("precison", "precision"), ("zzzz", None)]
)
def test_an_unknown_metric_names_the_nearest_in_every_question(got: str, near: str | None) -> None:
    asked: list[tuple[Any, dict[str, object]]] = [
        (AdvantageQuestion, {"metric": got}), (AdvantageQuestion, {"metric": {"preset": got}}),
        (MetricsQuestion, {"metrics": ["accuracy", got]}), (RiskQuestion, {"metric": got}),
        (GateQuestion, {"metric": got, "max": 0.5}), (AttackQuestion, {"metrics": [got]}),
    ]  # fmt: skip
    for kind, options in asked:
        with pytest.raises(Problem) as caught:
            validate(kind, options)

        assert ("; did you mean " in caught.value.detail) == (near is not None)
        assert caught.value.detail.endswith(f"; did you mean {near!r}?" if near else "or 'weighted_accuracy'")


def test_what_was_submitted_is_never_repeated() -> None:
    secret = "h4x0r-s3cr3t-vAlue"

    for options in (
        {secret: 1}, {"metric": secret}, {"metric": {secret: 1}}, {"estimator": {"kind": secret}},
    ):  # fmt: skip
        with pytest.raises(Problem) as caught:
            validate(AdvantageQuestion, options)
        assert secret not in str(caught.value.document())


def test_the_index_of_a_bad_entry_is_given() -> None:
    with pytest.raises(Problem) as caught:
        validate(AdvantageQuestion, {"operating_points": [0.1, 0.2, 7.0]})

    assert caught.value.index == 2


@each_case(
    "text, read",
    ({"prior": "0.5", "paired": "true", "metric": "f_beta"}, {"prior": 0.5, "paired": True, "metric": "f_beta"}),
    ({"points": "0.1,0.2", "e": {"bins": "7"}}, {"points": [0.1, 0.2], "e": {"bins": 7}}),
    ({"against": "2024", "seed": "2024"}, {"against": "2024", "seed": 2024}),  # a name of the caller's own
    ({"prior": ".95"}, {"prior": 0.95}),
    ({"prior": "-.5"}, {"prior": -0.5}),
    ({"prior": "+.1e-2"}, {"prior": 0.001}),
    ({"prior": ".1,0.2"}, {"prior": [0.1, 0.2]}),
    ({"prior": "."}, {"prior": "."}),
)
def test_text_options_are_read_as_the_values_they_spell_and_names_stay_text(text: Any, read: Any) -> None:
    assert parse_value(text) == read


def test_every_preset_of_the_library_can_be_asked_for() -> None:
    assert set(MetricName.__args__) == set(PRESETS)  # type: ignore[attr-defined]


def test_a_metric_by_name_and_parameter_is_the_librarys() -> None:
    f2 = metric(PresetMetric(preset="f_beta", beta=2.0), 0.3)

    assert (f2.b01, f2.a11) == (4.0, 5.0)


def test_an_estimator_names_the_adversaries_and_the_papers_reading() -> None:
    assert target(Estimator()) is None
    assert target(Estimator(kind="histogram", bins=7)) == CellsTarget(7)
    assert isinstance(target(Estimator(kind="threshold")), ThresholdTarget)
    assert isinstance(target(Estimator(kind="learned", learners=["logistic"])), LearnedTarget)
    assert reading(Estimator(kind="histogram", bins=7)) == EqualWidth(7)
    assert isinstance(reading(Estimator(kind="kde", bandwidth=0.2)), Kernel)


MANY_DIGITS: dict[str, Any] = {"points": [[1.0], [2.0]], "clip": 1e308, "delta": 0.1, "sigma": 1.0}

test_why_it_is_refused_is_said_in_few_words = refusals(
    "ask, words",
    (lambda: target(Estimator(kind="threshold", bins=7)), "applies only to kind histogram or learned"),
    (lambda: validate(QUESTIONS["theory/pmp-gaussian"], MANY_DIGITS), r"less than or equal to 1e\+300"),
    (lambda: validate(QUESTIONS["theory/dp"], {"rdp": [[2.0]], "delta": 1e-5}), "a list of at least 2"),
    error=Problem,
)
