"""Queries of models: the authors' formulas, written out; rounding; labels; directions; no leak where there is none."""

import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from scipy.special import expit, logit, softmax
from scipy.stats import entropy as entropy_of
from sklearn.metrics import log_loss

from estimators.audits.queries import DISCRIMINATORS, MODELS, WHITE_BOX, discriminators, models, white_box
from estimators.errors import (
    DimensionMismatch,
    InputError,
    NotDistribution,
    NotFinite,
    OutOfRange,
    RaggedRows,
    TooFewRecords,
)
from tests.cases import each_case, refusals
from tests.estimators.audits.queries.nulls import area

RNG = np.random.default_rng(0)
LOGITS = RNG.normal(0, 3, (200, 4))
PROBABILITIES = softmax(LOGITS, axis=1)
LABELS = RNG.integers(0, 4, 200)
NAMES = np.array(["ant", "bee", "cat", "dog"])

Labelled = Callable[..., np.ndarray]
LABELLED: tuple[Labelled, ...] = (
    models.loss, models.scaled_confidence, models.margin, models.modified_entropy,
)  # fmt: skip
UNLABELLED: tuple[Labelled, ...] = (models.confidence, models.entropy)


def name(function: Labelled) -> str:
    return function.__name__


# The authors' formulas


def test_the_loss_is_minus_the_cross_entropy_and_the_scaled_confidence_the_logit_of_the_own_class() -> None:
    own = PROBABILITIES[np.arange(200), LABELS]
    others = [np.delete(row, y).sum() for row, y in zip(PROBABILITIES, LABELS, strict=True)]
    loss, scaled = models.loss(PROBABILITIES, LABELS), models.scaled_confidence(PROBABILITIES, LABELS)

    np.testing.assert_allclose(loss, [math.log(each) for each in own], rtol=1e-12)
    assert loss.mean() == pytest.approx(-log_loss(LABELS, PROBABILITIES, labels=range(4)), rel=1e-9)
    np.testing.assert_allclose(scaled, logit(own), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(scaled, np.log(own) - np.log(others), rtol=1e-12, atol=1e-12)


def test_the_margin_is_the_own_logit_less_the_largest_other() -> None:
    by_hand = [row[y] - np.delete(row, y).max() for row, y in zip(LOGITS, LABELS, strict=True)]

    np.testing.assert_allclose(models.margin(LOGITS, LABELS, logits=True), by_hand, rtol=1e-12)
    np.testing.assert_allclose(models.margin(PROBABILITIES, LABELS), by_hand, rtol=1e-9)


def test_the_confidence_is_the_log_odds_of_the_largest_probability_and_the_entropy_minus_shannons():
    np.testing.assert_allclose(expit(models.confidence(PROBABILITIES)), PROBABILITIES.max(axis=1), rtol=1e-12)

    np.testing.assert_allclose(models.entropy(PROBABILITIES), -entropy_of(PROBABILITIES, axis=1), rtol=1e-12)


def test_the_modified_entropy_is_minus_song_and_mittals_and_of_two_classes_the_weighted_loss():
    by_hand = []
    for row, y in zip(PROBABILITIES, LABELS, strict=True):
        total = -(1 - row[y]) * math.log(row[y])
        total -= sum(p * math.log(1 - p) for j, p in enumerate(row) if j != y)
        by_hand.append(-total)

    np.testing.assert_allclose(models.modified_entropy(PROBABILITIES, LABELS), by_hand, rtol=1e-9)

    p = PROBABILITIES[:, 0]
    scores = models.modified_entropy(p, np.ones(200, int))

    np.testing.assert_allclose(scores, 2 * (1 - p) * np.log(p), rtol=1e-9)
    assert (np.argsort(scores) == np.argsort(models.loss(p, np.ones(200, int)))).all()


def test_correctness_is_one_where_the_labels_agree() -> None:
    guesses = LOGITS.argmax(axis=1)
    by_hand = [float(a == b) for a, b in zip(guesses, LABELS, strict=True)]

    assert models.correctness(NAMES[guesses], NAMES[LABELS]).tolist() == by_hand
    assert models.correctness([1, 0, 1], [1.0, 1.0, 1.0]).tolist() == [1, 0, 1]


def test_errors_of_regressors_are_negated_and_summed_over_outputs() -> None:
    p, t = RNG.normal(size=(2, 50, 3))
    gaps = [a - b for a, b in zip(p, t, strict=True)]

    np.testing.assert_allclose(models.squared_error(p, t), [-sum(gap**2) for gap in gaps])
    np.testing.assert_allclose(models.absolute_error(p, t), [-sum(abs(gap)) for gap in gaps])
    assert models.squared_error(p[:, 0], t[:, :1]) == pytest.approx(-((p - t)[:, 0] ** 2))


# One question, asked in different words


@each_case("query", (*LABELLED, *UNLABELLED))
def test_logits_and_probabilities_give_one_answer(query) -> None:
    labels = (LABELS,) if query in LABELLED else ()

    for far in (5, -5):
        logits = query(LOGITS + far, *labels, logits=True)
        np.testing.assert_allclose(logits, query(PROBABILITIES, *labels), rtol=1e-8, atol=1e-11)


@each_case("query", LABELLED)
def test_two_classes_may_be_one_number_a_record_and_all_records_of_one_class(query):
    p, y = PROBABILITIES[:, 0], LABELS % 2
    expected = query(np.column_stack([1 - p, p]), y)

    for same in (
        query(p, y), query(p[:, None], y), query(p, np.where(y, "yes", "no"), classes=["no", "yes"]),
        query(p, y.astype(bool)), query(p, 2 * y - 1, classes=[-1, 1]),
    ):  # fmt: skip
        np.testing.assert_allclose(same, expected, rtol=1e-12)
    np.testing.assert_allclose(query(logit(p), y, logits=True), expected, rtol=1e-7, atol=1e-10)

    assert np.isfinite(query(PROBABILITIES, np.zeros(200, int))).all()
    of_one_class = query(np.ones((3, 1)), ["ill"] * 3, classes=["ill"])
    assert of_one_class == pytest.approx(query([[1.0, 0.0]] * 3, [0] * 3), abs=1e-12)


@each_case("query", LABELLED)
def test_classes_say_which_column_a_label_is_single_precision_is_read_and_inputs_left_as_they_were(query):
    order = np.array([2, 0, 3, 1])
    expected = query(PROBABILITIES, LABELS)

    for labels, classes in (
        (NAMES[LABELS], NAMES),
        (NAMES[LABELS].astype(object), NAMES.tolist()),
        (LABELS * 10, [0, 10, 20, 30]),
        (LABELS.astype(float), None),
        (LABELS[:, None].astype(np.uint8), None),
    ):
        np.testing.assert_array_equal(query(PROBABILITIES, labels, classes=classes), expected)
    np.testing.assert_allclose(
        query(PROBABILITIES[:, order], NAMES[LABELS], classes=NAMES[order]), expected, rtol=1e-12
    )

    single, labels = PROBABILITIES.astype(np.float32), LABELS.copy()
    before = single.copy()

    np.testing.assert_array_equal(query(single, labels), query(single.astype(np.float64), LABELS))
    np.testing.assert_allclose(query(single, labels), query(PROBABILITIES, LABELS), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(single, before)
    np.testing.assert_array_equal(labels, LABELS)


# Probabilities of 0 and 1


def test_a_probability_of_0_counts_as_the_floor() -> None:
    hard, floor, log = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), math.log(1e-30), math.log(0.005)
    own_floor = models.scaled_confidence([0.0, 1.0, 0.5], [1, 1, 1], floor=0.005)

    assert models.loss(hard, [1, 1]) == pytest.approx([floor, 0.0])
    assert models.scaled_confidence(hard, [1, 1]) == pytest.approx([floor, -math.log(2e-30)])
    assert models.margin(hard, [1, 1]) == pytest.approx([floor, -floor])
    assert models.confidence(hard) == pytest.approx([-math.log(2e-30)] * 2)
    assert models.entropy(hard) == pytest.approx([0.0, 0.0], abs=1e-27)
    assert models.modified_entropy(hard, [1, 1]) == pytest.approx([2 * floor, 0.0], rel=0.02, abs=1e-27)
    assert own_floor == pytest.approx([log, -log, 0.0])


@each_case("query", LABELLED)
def test_hard_answers_of_either_precision_are_scored(query) -> None:
    for kind in (np.float16, np.float32, np.float64):
        scores = query(np.eye(3, dtype=kind)[[0, 1, 2, 0]], [0, 1, 0, 2])
        assert np.isfinite(scores).all()
        assert scores[0] == scores[1] > scores[2] == scores[3]


@each_case("query", (*LABELLED, *UNLABELLED))
def test_an_overconfident_model_makes_no_ties(query) -> None:
    logits = np.zeros((6, 3))
    logits[:, 0] = [20, 40, 60, 100, 300, 600]
    scores = query(logits, *([np.zeros(6, int)] if query in LABELLED else []), logits=True)

    assert (np.diff(scores) > 0).all(), scores
    single = softmax(logits[:4], axis=1).astype(np.float32)
    scores = query(single, *([np.zeros(4, int)] if query in LABELLED else []))
    assert (np.diff(scores[:3]) > 0).all(), scores


@each_case("gap", (-700.0, -40.0, -1.0, 0.0, 1.0, 40.0, 700.0))
def test_every_digit_is_right_where_probabilities_are_nearly_0_or_1(gap) -> None:
    logits = [gap, 0.0, -1.0]
    with mpmath.workdps(700):
        powers = [mpmath.exp(mpmath.mpf(v)) for v in logits]
        p = [v / sum(powers) for v in powers]
        loss = mpmath.log(p[0])
        entropy = sum(v * mpmath.log(v) for v in p)
        modified = (1 - p[0]) * mpmath.log(p[0]) + sum(v * mpmath.log(1 - v) for v in p[1:])
        odds = mpmath.log(p[0] / (1 - p[0]))

    rows = np.array([logits])
    assert models.loss(rows, [0], logits=True)[0] == pytest.approx(float(loss), rel=1e-12)
    assert models.entropy(rows, logits=True)[0] == pytest.approx(float(entropy), rel=1e-12)
    assert models.modified_entropy(rows, [0], logits=True)[0] == pytest.approx(float(modified), rel=1e-12)
    assert models.scaled_confidence(rows, [0], logits=True)[0] == pytest.approx(float(odds), rel=1e-12)


# White box and discriminators


def test_hidden_features_are_in_units_of_the_reference() -> None:
    rows, others = RNG.normal(size=(10, 3)), RNG.normal(2, 5, (40, 3))
    others[:, 2] = 0.1  # a dead unit

    scores = white_box.hidden_features(rows, others)

    for j in range(2):
        np.testing.assert_allclose(scores[:, j], (rows[:, j] - others[:, j].mean()) / others[:, j].std())
    np.testing.assert_allclose(scores[:, 2], rows[:, 2] - 0.1)
    np.testing.assert_array_equal(white_box.hidden_features(rows.reshape(10, 3, 1)), rows)


def test_the_hidden_distance_is_that_to_the_mean_of_the_records_class() -> None:
    rows, others = RNG.normal(size=(12, 3)), RNG.normal(2, 5, (40, 3))
    labels, theirs = NAMES[np.arange(12) % 3], NAMES[np.arange(40) % 4]
    centres = {each: others[theirs == each].mean(axis=0) for each in NAMES}
    scale = np.sqrt(np.mean([(x - centres[c]) ** 2 for x, c in zip(others, theirs, strict=True)], axis=0))

    scores = white_box.hidden_distance(rows, others, labels, theirs)

    by_hand = [-np.linalg.norm((x - centres[c]) / scale) for x, c in zip(rows, labels, strict=True)]
    np.testing.assert_allclose(scores, by_hand)
    features = white_box.hidden_features(rows, others)
    np.testing.assert_allclose(white_box.hidden_distance(rows, others), -np.linalg.norm(features, axis=1))


def test_equations_3_to_6() -> None:
    d = RNG.normal(size=(20, 3))
    away = RNG.random(20)

    np.testing.assert_array_equal(discriminators.discriminator(d[:, :1]), d[:, 0])
    np.testing.assert_array_equal(discriminators.discriminator_maximum(d), [max(row) for row in d])
    np.testing.assert_array_equal(discriminators.discriminator_vector(d), d)
    np.testing.assert_array_equal(
        discriminators.hybrid(d[:, 0], away), [[a, -b] for a, b in zip(d[:, 0], away, strict=True)]
    )


# Direction


def test_records_and_targets_that_a_model_learned_by_heart_score_higher(rng) -> None:
    from sklearn.linear_model import LogisticRegression

    own = np.random.default_rng(1)
    x, y = own.normal(size=(120, 80)), own.integers(0, 3, 120)
    member = np.arange(120) < 60
    model = LogisticRegression(C=1.0, max_iter=500).fit(x[member], y[member])
    p = model.predict_proba(x)
    rows, targets = rng.normal(size=(120, 50)), rng.normal(size=120)
    predictions = rows @ np.linalg.lstsq(rows[member], targets[member], rcond=None)[0]

    for query in LABELLED:
        assert area(query(p, y, classes=model.classes_), member) > 0.9, name(query)
    for query in UNLABELLED:
        assert area(query(p), member) > 0.7, name(query)
    assert area(models.correctness(model.predict(x), y), member) > 0.7
    assert area(models.squared_error(predictions, targets), member) > 0.8
    assert area(models.absolute_error(predictions, targets), member) > 0.8


# No leak

REFERENCE, THEIRS = RNG.normal(size=(50, 5)), RNG.integers(0, 4, 50)
ASKED: dict[str, Callable[..., np.ndarray]] = {
    **{name(each): lambda x, y, z, each=each: each(z, y, logits=True) for each in LABELLED},
    **{name(each): lambda x, y, z, each=each: each(z, logits=True) for each in UNLABELLED},
    "correctness": lambda x, y, z: models.correctness(z.argmax(axis=1), y),
    "squared_error": lambda x, y, z: models.squared_error(z[:, :3], x[:, :3]),
    "absolute_error": lambda x, y, z: models.absolute_error(z[:, 0], x[:, 0]),
    "hidden_distance": lambda x, y, z: white_box.hidden_distance(x, REFERENCE, y, THEIRS),
    "hidden_features": lambda x, y, z: white_box.hidden_features(x, REFERENCE),
    "discriminator": lambda x, y, z: discriminators.discriminator(expit(z[:, 0])),
    "discriminator_maximum": lambda x, y, z: discriminators.discriminator_maximum(z),
    "discriminator_vector": lambda x, y, z: discriminators.discriminator_vector(z[:, :2]),
    "hybrid": lambda x, y, z: discriminators.hybrid(z[:, 0], np.linalg.norm(x, axis=1)),
}
"""By query: the scores of records x with labels y, whose logits are z."""


def test_every_query_of_a_model_is_asked() -> None:
    assert set(ASKED) == {*MODELS, *WHITE_BOX, *DISCRIMINATORS}


@each_case("query", ASKED)
def test_a_records_score_is_its_own_so_that_records_that_no_model_saw_are_scored_alike(query) -> None:
    """Scores of records that are drawn alike, each by itself, are drawn alike: there is nothing to see."""
    sides = RNG.normal(size=(200, 5)), LABELS, LOGITS
    together = ASKED[query](*sides)

    for i in range(20):
        np.testing.assert_array_equal(ASKED[query](*(side[i : i + 1] for side in sides))[0], together[i])


# What is wrong is named, with what to do


P = [[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]
NAN = float("nan")


test_what_cannot_be_scored_is_named = refusals("ask, error, field, index, words", [
    (lambda: models.loss([[0.9, 0.1], [NAN, 0.8]], [0, 1]), NotFinite, "outputs", 1, "record 1 is NaN; look at"),
    (lambda: models.entropy([[1.0, np.inf]], logits=True), NotFinite, "outputs", 0, "record 0 is infinite"),
    (lambda: models.loss([[2.0, -1.0]], [0]), NotDistribution, "outputs", 0, "say that they are logits"),
    (lambda: models.loss([0.3, 3.0], [0, 1]), NotDistribution, "outputs", 1, "say that they are logits"),
    (lambda: models.loss([[0.5, 0.5], [0.9, 0.9]], [0, 1]), NotDistribution, "outputs", 1, "sum to 1"),
    (lambda: models.loss(P, ["a", "b", "a"]), InputError, "labels", None, "model.classes_"),
    (lambda: models.loss(P, [0, 1, 2]), InputError, "labels", 2, "record 2 names no column from 0 to 1"),
    (lambda: models.loss(P, [0, 1, 0.5]), InputError, "labels", 2, "record 2 names no column"),
    (lambda: models.loss(P, ["a", "b", "c"], classes=["a", "b"]), InputError, "labels", 2,
     "none of the 2 classes"),
    (lambda: models.loss(P, [1, 2, 1], classes=["1", "2"]), InputError, "labels", None, "both be text or both"),
    (lambda: models.loss(P, [0, 1, 0], classes=[0, 1, 2]), DimensionMismatch, "classes", None, "got 3"),
    (lambda: models.loss(P, [0, 0, 0], classes=[0, 0]), InputError, "classes", None, "occurs twice"),
    (lambda: models.loss(P, [0, 1]), DimensionMismatch, "labels", None, "got 2, need one for each of 3"),
    (lambda: models.loss(P, [0, NAN, 1]), NotFinite, "labels", 1, "record 1 has no label"),
    (lambda: models.loss(P, np.array(["a", NAN, "b"], dtype=object), classes=["a", "b"]), InputError, "labels",
     1, "record 1 is missing"),
    (lambda: models.loss(P, np.array(["a", 1, "b"], dtype=object)), InputError, "labels", None, "are mixed"),
    (lambda: models.loss(P, [b"a", b"a", b"b"]), InputError, "labels", None, "got bytes"),
    (lambda: models.loss(P, np.array(["a", {}, "b"], dtype=object)), InputError, "labels", 1,
     "record 1 is dict"),
    (lambda: models.loss(np.array(P) * 1j, [0, 1, 0]), InputError, "outputs", None, "values of type complex128"),
    (lambda: models.loss(P, np.array([0, None, 1])), InputError, "labels", 1, "record 1 is missing"),
    (lambda: models.loss(P, np.eye(3)), DimensionMismatch, "labels", None, "argmax"),
    (lambda: models.loss(np.empty((0, 3)), []), TooFewRecords, "outputs", None, "got none"),
    (lambda: models.loss(np.zeros((2, 2, 2)), [0, 1]), DimensionMismatch, "outputs", None, "3 dimensions"),
    (lambda: models.loss([[0.1, 0.9], [1.0]], [0, 1]), RaggedRows, "outputs", None, "different length"),
    (lambda: models.loss(["a", "b"], [0, 1]), InputError, "outputs", None, "got text, need numbers"),
    (lambda: models.loss(P, [0, 1, 0], floor=0.0), OutOfRange, "floor", None, "between 0 and 1"),
    (lambda: models.correctness(["a", "b"], [0, 1]), InputError, "predictions", None, "one type"),
    (lambda: models.correctness(P, [0, 1, 0]), DimensionMismatch, "predictions", None, "one label"),
    (lambda: models.squared_error([1.0, NAN], [1.0, 1.0]), NotFinite, "predictions", 1, "record 1 is NaN"),
    (lambda: models.squared_error([1.0], [1.0, 2.0]), DimensionMismatch, "targets", None, "got 2"),
    (lambda: models.absolute_error(np.ones((2, 3)), np.ones((2, 2))), DimensionMismatch, "targets", None,
     "got 2"),
    (lambda: white_box.hidden_features(P, np.ones((4, 3))), DimensionMismatch, "reference", None, "need 2"),
    (lambda: white_box.hidden_features(P, [[1.0, 2.0]]), TooFewRecords, "reference", None, "at least two"),
    (lambda: white_box.hidden_distance(P, P, labels=[0, 1, 0]), InputError, "reference_labels", None, "missing"),
    (lambda: white_box.hidden_distance(P, P, [0, 1, 2], [0, 1, 1]), InputError, "labels", 2, "of the reference"),
    (lambda: discriminators.discriminator(P), DimensionMismatch, "outputs", None, "discriminator_maximum"),
    (lambda: discriminators.discriminator_maximum([1.0, 2.0]), DimensionMismatch, "outputs", None, "one row"),
    (lambda: discriminators.hybrid([1.0, 2.0], [0.1, -0.1]), OutOfRange, "distances", 1, "record 1 is below 0"),
    (lambda: discriminators.hybrid([1.0, 2.0], [0.1]), DimensionMismatch, "distances", None, "got 1"),
    (lambda: models.loss(np.ma.masked_less(P, 0.15), [0, 1, 0]), InputError, "outputs", 0, "record 0 is masked"),
])  # fmt: skip
