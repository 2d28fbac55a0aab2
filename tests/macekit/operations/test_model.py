"""``/v1/model`` and ``/v1/check``: how predictions are read, what is refused, whose numbers they are."""

import re
from typing import Any

import numpy as np
import pytest

from estimators.audits.model import audit_model, query_strength
from estimators.audits.model.answers import kind_of
from estimators.audits.split import check_split
from macekit.call import CSV, HTML, MARKDOWN
from macekit.reports.rendering import render
from tests.cases import each_case
from tests.macekit.asking import ask, refused
from tests.macekit.decoding.support import in_one
from tests.macekit.operations.test_synthetic import HOLDOUT, SHIFTED, TRAIN

pytestmark = pytest.mark.usefixtures("quick")

RNG = np.random.default_rng(0)
COUNT = 200
PROBABILITIES = ["p_0", "p_1", "p_2"]


def shares(own: np.ndarray, truth: np.ndarray, classes: int) -> np.ndarray:
    """Probabilities of all classes, from that of each row's own."""
    table = np.repeat(((1.0 - own) / (classes - 1))[:, None], classes, axis=1)
    table[np.arange(len(own)), truth] = own
    return table


TRUTHS = RNG.integers(0, 3, (2, COUNT))
OWN = RNG.beta(9.0, 1.0, COUNT), RNG.beta(2.0, 1.0, COUNT)
TABLES = [shares(own, truth, 3) for own, truth in zip(OWN, TRUTHS, strict=True)]


def side(place: int, names: list[str], truth: list[Any] | None = None, label: str = "label") -> dict[str, Any]:
    columns = {name: TABLES[place][:, at].tolist() for at, name in enumerate(names)}
    return columns | {label: TRUTHS[place].tolist() if truth is None else truth}


def both(names: list[str], **options: Any) -> dict[str, Any]:
    return {"train": side(0, names), "holdout": side(1, names), **options}


WANTED = audit_model(*TABLES, *TRUTHS, max_advantage=0.1)


def ends(answer: dict[str, Any]) -> list[tuple[str, float, float]]:
    both = ((each["name"], each["advantage"]) for each in answer["ranking"])
    return [(name, advantage["lower"], advantage["upper"]) for name, advantage in both]


EXPECTED = [(each.name, each.advantage.lower, each.advantage.upper) for each in WANTED.comparison.ranking]


@pytest.mark.slow
@each_case("names", [["0", "1", "2"], ["p_0", "p_1", "p_2"], ["proba0", "proba1", "proba2"], ["a", "b", "c"]])
def test_columns_are_those_of_their_classes(names: list[str]) -> None:
    answer = ask("model", both(names, max_advantage=0.1))

    assert (answer["decision"], answer["outputs"]) == ("fail", "probabilities")
    assert ends(answer) == EXPECTED
    assert (answer["sentence"], answer["fit"]["members"]) == (WANTED.sentence, WANTED.fit.members)


def test_the_order_of_columns_is_of_no_account_where_they_name_their_classes() -> None:
    body = both(PROBABILITIES)
    turned = {name: {column: table[column] for column in reversed(table)} for name, table in body.items()}

    assert ends(ask("model", turned)) == ends(ask("model", body))


def test_classes_may_be_text_and_ten_of_them_begin_alike() -> None:
    words = np.array(["cat", "dog", "owl"])
    for names, truths in (
        (["p_cat", "p_dog", "p_owl"], [words[each].tolist() for each in TRUTHS]),
        (["p_10", "p_11", "p_12"], (TRUTHS + 10).tolist()),
    ):
        body = sided(side(place, names, truth) for place, truth in enumerate(truths))
        assert ends(ask("model", body)) == EXPECTED


def test_two_classes_need_one_column() -> None:
    truth = RNG.integers(0, 2, (2, COUNT))
    second = [np.where(t == 1, own, 1.0 - own) for t, own in zip(truth, OWN, strict=True)]
    body = sided({"y": t.tolist(), "p": p.tolist()} for t, p in zip(truth, second, strict=True))
    wanted = audit_model(second[0], second[1], truth[0], truth[1])

    assert ends(ask("model", body)) == [
        (each.name, each.advantage.lower, each.advantage.upper) for each in wanted.comparison.ranking
    ]


@each_case("column, is_other", [("p_no", True), ("no", True), ("p_yes", False), ("p", False), ("casino", False)])
def test_one_column_that_is_called_after_the_first_of_two_classes_is_refused(column: str, is_other: bool) -> None:
    """It was read as that of the other one: accuracy .19 in place of .81, without a word."""
    labels = np.where(RNG.random((2, COUNT)) < np.array(OWN), "yes", "no").tolist()
    body = sided({"y": names, column: p.tolist()} for names, p in zip(labels, OWN, strict=True))

    if is_other:
        assert "that of the other of two classes, 'yes'" in refused("model", body)["detail"]
    else:
        assert ask("model", body)["outputs"] == "probabilities"


@each_case("classes, off, outputs", [(3, 0.01, "probabilities"), (6, 0.03, "probabilities"), (3, 0.02, "logits")])
def test_probabilities_of_several_classes_may_be_rounded_to_two_decimals(
    classes: int, off: float, outputs: str
) -> None:
    """Each of them moves a row's sum by half a hundredth at most; three classes were called no probabilities."""
    table = np.full((40, classes), 1.0 / classes)
    table[::2, 0] += off

    assert kind_of(table, np.arange(40) % classes) == outputs


def test_a_regressor_and_a_classifier_of_labels_alone() -> None:
    truth, errors = RNG.normal(size=(2, COUNT)), RNG.normal(size=(2, COUNT)) * [[0.1], [1.0]]
    guesses = zip(truth, truth + errors, strict=True)
    body = sided({"target": t.tolist(), "guess": guess.tolist()} for t, guess in guesses)
    regressor = ask("model", {**body, "max_advantage": 0.3})
    assert (regressor["decision"], regressor["outputs"]) == ("fail", "predictions")
    assert regressor["fit"]["measure"] == "root mean squared error"

    names, truth = np.array(["no", "yes"]), RNG.integers(0, 2, (2, COUNT))
    guesses = zip(truth, np.where(RNG.random((2, COUNT)) < [[0.0], [0.4]], 1 - truth, truth), strict=True)
    body = sided({"label": names[t].tolist(), "guess": names[guess].tolist()} for t, guess in guesses)
    labels = ask("model", body)
    assert labels["outputs"] == "labels"
    assert [each["name"] for each in labels["ranking"]] == ["correctness"]
    assert "labels_alone" in [each["code"] for each in labels["warnings"]]


def test_features_that_differ_make_a_fail_a_fail_or_drift() -> None:
    body = both(PROBABILITIES, max_advantage=0.1, features=["age"])
    body["train"]["age"], body["holdout"]["age"] = TRAIN["age"][:150] * 2, SHIFTED["age"][:150] * 2
    for table in ("train", "holdout"):
        body[table]["age"] = body[table]["age"][:COUNT]

    answer = ask("model", body)

    assert (answer["decision"], answer["split"]["differs"]) == ("fail, or drift", True)
    assert "FAIL, OR DRIFT" in render("model", answer, MARKDOWN).decode()
    assert ask("model", {**body, "check_sides": False})["decision"] == "fail"


def test_groups_and_one_row_of_each_person_are_named_in_the_body_or_in_the_query() -> None:
    body = both(PROBABILITIES)
    for table in ("train", "holdout"):
        body[table]["site"] = ["north", "south"] * (COUNT // 2)
        body[table]["who"] = [f"{table} {place // 2}" for place in range(COUNT)]
    names = {"group": "site", "unit": "who"}

    answers = (
        ask("model", {**body, **names, "max_advantage": 0.1}),
        ask("model", in_one(body), CSV, **names, max_advantage="0.1"),
    )

    for answer in answers:
        assert answer["decision"] == "fail"
        assert {each["label"] for each in answer["groups"]} == {"north", "south"}
        assert sum(each["records"] for each in answer["groups"]) == COUNT
        assert answer["provenance"]["n_members"] == COUNT // 2
    assert "Risk of each group" in render("model", answers[0], HTML).decode()


@pytest.mark.slow
def test_planted_and_spared_records_say_how_strong_the_queries_are() -> None:
    strength = {"planted": side(0, PROBABILITIES), "spared": side(1, PROBABILITIES)}
    body = both(PROBABILITIES, max_advantage=0.2, copies=4) | strength
    wanted = query_strength(*TABLES, *TRUTHS, copies=4, limit=0.2)

    answers = (ask("model", body), ask("model", in_one(body), CSV, max_advantage="0.2", copies="4"))

    for answer in answers:
        strength = answer["strength"]
        assert (strength["sentence"], strength["strong"]) == (wanted.sentence, True)
        assert strength["advantage"]["lower"] == wanted.interval.lower
        assert (strength["planted"], strength["spared"], strength["copies"]) == (COUNT, COUNT, 4)
        assert strength["beside"] is None
    assert "How strong the queries are" in render("model", answers[0], HTML).decode()
    again = ask("model", body | {"planted": body["planted"]})
    assert answers[0] | {"strength": None} == again | {"strength": None}


def test_twins_that_see_nothing_make_a_pass_one_of_weak_queries() -> None:
    rng = np.random.default_rng(5)
    tables = "train", "holdout", "planted", "spared"
    body = {name: {"p": rng.beta(2.0, 1.0, 800).tolist(), "y": [1] * 800} for name in tables}

    answer = ask("model", body | {"max_advantage": 0.3, "outputs": "probabilities"})

    assert (answer["decision"], answer["strength"]["strong"]) == ("pass", False)
    assert answer["sentence"].endswith("It is a pass of these queries, which are weak here.")
    assert answer["strength"]["sentence"] in answer["covers"]
    assert "weak_queries" in {each["code"] for each in answer["warnings"]}


@each_case(
    "further, field",
    ({"planted": side(0, PROBABILITIES)}, "spared"),
    ({"spared": side(0, PROBABILITIES)}, "planted"),
    ({"copies": 2}, "planted"),
    ({"planted": side(0, ["p_0"]), "spared": side(0, PROBABILITIES)}, "predictions"),
    (dict.fromkeys(("planted", "spared"), side(0, PROBABILITIES) | {"label": ["a"] * COUNT}), "predictions"),
)
def test_planted_records_without_what_belongs_to_them_are_refused(further, field) -> None:
    answer = ask("model", both(PROBABILITIES) | further)

    assert answer["status"] in (400, 422)
    assert answer["field"] == field


@each_case(
    "change, detail",
    ({"p_1": [None] + [0.3] * (COUNT - 1)}, "predictions: row 0 of train has no value in column 'p_1'"),
    ({"label": [0] * (COUNT - 1) + [None]}, f"truth: row {COUNT - 1} of train has no value"),
    ({"p_0": ["much"] * COUNT}, "column 'p_0' of train holds no numbers"),
    ({"p_0": [-0.5] * COUNT}, "train: outputs: record 0 has a number below 0"),
    ({"y": [0] * COUNT}, "'label' and 'y' could be"),
    ({"p_3": [0.0] * (COUNT - 1)}, "train: column 'p_3' has 199 rows"),
)
def test_what_cannot_be_predictions_is_refused_with_what_to_do(change: dict[str, Any], detail: str) -> None:
    body = both(PROBABILITIES, outputs="probabilities")
    body["train"] |= change
    if "y" not in change:
        body["truth"] = "label"

    answer = ask("model", body)

    assert answer["status"] in (400, 422)
    assert detail in answer["detail"]


def test_names_of_columns_and_classes_are_inert_in_reports() -> None:
    hostile = "<img src=x onerror=alert(1)>\x1b[2J"
    body = both([f"{hostile}0", f"{hostile}1", f"{hostile}2"], group=hostile)
    for table in ("train", "holdout"):
        body[table][hostile] = [hostile, "b"] * (COUNT // 2)
    answer = ask("model", body)

    for form in (HTML, MARKDOWN):
        report = render("model", answer, form).decode()
        report = re.sub(r"```.*?```", "", report, flags=re.DOTALL).replace(r"\<img src", "")  # Markdown's escapes
        assert "<img src" not in report
        assert "\x1b" not in report


@pytest.mark.slow
def test_a_check_is_the_librarys_and_csv_says_the_same() -> None:
    body = {"train": TRAIN, "holdout": SHIFTED}
    answer, check = ask("check", body), check_split(TRAIN, SHIFTED)
    assert (answer["differs"], answer["sentence"]) == (True, check.sentence)
    assert answer["advantage"]["lower"] == check.interval.lower
    assert ask("check", {"train": TRAIN, "holdout": HOLDOUT})["differs"] is False

    as_csv = ask("check", in_one(body), CSV)
    as_csv["provenance"]["options"].pop("table", None)
    assert as_csv == answer


def sided(columns: Any) -> dict[str, Any]:
    """A body of both sides, from what each of them is made of."""
    return dict(zip(("train", "holdout"), columns, strict=True))


def test_a_table_that_is_not_asked_for_is_refused() -> None:
    answer = ask("check", {"train": TRAIN, "holdout": HOLDOUT, "synthetic": TRAIN})

    assert answer["status"] == 422
    assert "a field is not known" in answer["detail"]


@pytest.mark.slow
def test_the_seed_alone_decides_what_is_drawn() -> None:
    body = both(PROBABILITIES, together=True, seed=3)

    assert ask("model", body) == ask("model", body)
    with pytest.raises(AssertionError):
        assert ask("model", body) == ask("model", {**body, "seed": 4})
