"""From a model's answers to a verdict: which queries are asked, what is decided, and nothing where nothing leaks."""

from typing import Any

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.naive_bayes import GaussianNB

from estimators import Decision, compare
from estimators.adversary.learned import Learner, logistic
from estimators.audits.model import TOGETHER, ModelAudit, Shadows, audit_model, floor_of, shadow_signals
from estimators.audits.queries import MODELS, models, shadows
from estimators.errors import (
    DimensionMismatch,
    InputError,
    MaceError,
    NotDistribution,
    NotFinite,
    OptionError,
    UnknownName,
)
from tests.cases import each_case
from tests.oracles import most_misses

pytestmark = pytest.mark.usefixtures("quick")

BAYES = (Learner("naive_bayes", lambda seed: GaussianNB()),)
"""The quickest learner."""


def world(
    seed: int, records: int = 200, classes: int = 3, push: float = 0.0
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Logits and labels of both sides; the own class of members is pushed up by so much."""
    rng = np.random.default_rng(seed)
    labels = list(rng.integers(0, classes, (2, records)))
    logits = []
    for side, y in enumerate(labels):
        z = rng.normal(0, 2, (records, classes))
        z[np.arange(records), y] += 1.0 + (push if side == 0 else 0.0)
        logits.append(z)
    return logits, labels


def audited(logits: list[np.ndarray], labels: list[np.ndarray], **options: Any) -> ModelAudit:
    return audit_model(*(softmax(z, axis=1) for z in logits), *labels, **options)


# Which queries


def test_of_several_classes_every_query_with_an_order_of_its_own_is_asked_or_those_named() -> None:
    audit, named = audited(*world(0)), audited(*world(7), queries=["correctness", "loss", "loss"])

    assert list(audit.scores) == ["loss", "margin", "confidence", "entropy", "modified_entropy"]
    assert audit.not_asked["scaled_confidence"] == "orders records as loss does"
    assert audit.not_asked["lira_online"] == "needs shadow models"
    assert list(named.scores) == ["correctness", "loss"]
    assert named.not_asked["margin"] == "was not asked for"


def test_what_is_left_out_of_two_classes_orders_records_as_what_is_asked() -> None:
    logits, labels = world(1, classes=2)
    audit = audited(logits, labels)
    every = audited(logits, labels, queries=[name for name in MODELS if not name.endswith("error")])
    answers, truth = np.concatenate([softmax(z, axis=1) for z in logits]), np.concatenate(labels)

    def order(name: str) -> np.ndarray:
        return getattr(models, name)(answers, *([truth] if "labels" in MODELS[name].needs else [])).argsort()

    assert list(audit.scores) == ["loss", "confidence"]
    assert list(every.scores) == ["loss", "confidence", "correctness"]  # named, and still asked once
    alike = "scaled_confidence", "margin", "modified_entropy"
    for name, twin in {"entropy": "confidence", **dict.fromkeys(alike, "loss")}.items():
        np.testing.assert_array_equal(order(name), order(twin))
        assert name in audit.not_asked
        assert every.not_asked[name] == f"orders records as {twin} does"


def test_lira_of_few_shadows_is_calibrated_loss_and_is_asked_once() -> None:
    """With one deviation for all records both are the signal less the mean of shadows, on another scale."""
    rng = np.random.default_rng(33)
    truth, predictions = rng.normal(size=(2, 200)), rng.normal(size=(2, 200))
    stock = Shadows(-np.abs(rng.normal(size=(8, 400))), shadows.random_halves(8, 400, seed=0))
    options: dict[str, Any] = {"outputs": "predictions", "shadows": stock, "max_advantage": 0.1}
    audit = audit_model(*predictions, *truth, **options)

    assert list(audit.scores) == ["squared_error", "lira_online", "lira_offline"]
    assert audit.not_asked["calibrated_loss"] == "orders records as lira_offline does"
    assert audit.comparison.ranking[0].advantage.estimate.interval.confidence == pytest.approx(1 - 0.05 / 3)


def test_of_logits_and_of_the_probability_of_the_second_class_the_same_is_asked() -> None:
    logits, labels = world(2, classes=2)
    expected = audited(logits, labels).scores
    ones = [expit(z[:, 1] - z[:, 0]) for z in logits]

    for found in (audit_model(*ones, *labels), audit_model(*logits, *labels, outputs="logits")):
        assert list(found.scores) == list(expected)
        for name, scores in expected.items():
            np.testing.assert_allclose(found.scores[name].members, scores.members, err_msg=name)


def test_scores_are_those_of_the_queries_and_their_maximum_is_that_of_compare() -> None:
    logits, labels = world(3, push=1.0)
    audit = audited(logits, labels, seed=5)

    margins = models.margin(softmax(logits[1], axis=1), labels[1])
    np.testing.assert_array_equal(audit.scores["margin"].nonmembers, margins)
    assert audit.comparison.maximum == compare(audit.scores, seed=5).maximum
    assert audit.riskiest == audit.comparison.ranking[0].name


def test_of_labels_there_is_the_gap_alone() -> None:
    right, wrong = np.array(["cat"] * 90 + ["dog"] * 10), np.array(["cat"] * 50 + ["dog"] * 50)
    truth = np.array(["cat"] * 100)
    audit = audit_model(right, wrong, truth, truth, outputs="labels", max_advantage=0.1)

    assert list(audit.scores) == ["correctness"]
    assert audit.decision is Decision.FAIL
    assert audit.comparison.maximum.value == pytest.approx(0.4, abs=0.05)
    assert (audit.fit.members, audit.fit.nonmembers) == (0.9, 0.5)
    assert "labels_alone" in {caution.code for caution in audit.cautions}


def test_a_query_that_is_the_same_for_all_records_takes_no_share_of_the_level() -> None:
    """A tree is sure of every row: its confidence said nothing, and a limit that its loss breaks stayed open."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, (2, 400))
    guesses = np.where(rng.random((2, 400)) < [[0.0], [0.2]], 1 - labels, labels)
    answers = [np.eye(2)[side] for side in guesses]
    every, alone = (
        audit_model(*answers, *labels, outputs="probabilities", max_advantage=0.15, queries=queries)
        for queries in (None, ["loss"])
    )

    assert every.not_asked["confidence"] == "is the same for all records"
    assert every.comparison.maximum == alone.comparison.maximum


def test_a_regressor_of_one_output_has_one_query_and_of_several_two() -> None:
    rng = np.random.default_rng(6)
    truth, errors = rng.normal(size=(2, 300, 2)), rng.normal(size=(2, 300, 2))
    errors[0] /= 10.0
    one = audit_model(*(truth + errors)[..., 0], *truth[..., 0], outputs="predictions", max_advantage=0.1)
    two = audit_model(*(truth + errors), *truth, outputs="predictions", max_advantage=0.1)

    assert list(one.scores) == ["squared_error"]
    needy = dict.fromkeys(("lira_online", "lira_offline", "rmia", "calibrated_loss"), "needs shadow models")
    assert one.not_asked == needy | {"absolute_error": "orders records as squared_error does"}
    assert list(two.scores) == ["squared_error", "absolute_error"]
    assert one.decision is two.decision is Decision.FAIL
    assert one.fit.measure == "root mean squared error"
    assert one.fit.nonmembers == pytest.approx(np.sqrt(np.mean(errors[1][:, 0] ** 2)))
    assert "riskiest" not in audit_model(*truth[..., 0], *truth[..., 0] + 1, outputs="predictions").sentence


def test_all_together_are_one_query_more_on_the_records_that_were_not_learned_from() -> None:
    audit = audited(*world(8, push=1.0), together=True, learners=BAYES, max_advantage=0.9)

    assert list(audit.scores)[-1] == TOGETHER
    assert audit.scores[TOGETHER].n_members == 120
    codes = {caution.code for caution in audit.cautions}
    assert codes & {"learned_score", "joint_query_may_exceed"} == {"learned_score"}


# Shadows


def signals_of(seed: int, count: int, leak: float, records: int = 300) -> tuple[Any, Any, Shadows]:
    """Records of differing difficulty, which hides a leak that shadows show."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(0, 3, 2 * records)
    membership = shadows.random_halves(count, 2 * records, seed)
    own = np.arange(2 * records) < records
    table = hard + leak * membership + rng.normal(0, 0.5, membership.shape)
    target = hard + leak * own + rng.normal(0, 0.5, 2 * records)
    return target[:records], target[records:], Shadows(table, membership)


def of_signals(members: Any, nonmembers: Any, **options: Any) -> ModelAudit:
    """Of records that are all of the second class."""
    labels = (np.ones(len(side), dtype=int) for side in (members, nonmembers))
    return audit_model(members, nonmembers, *labels, outputs="logits", **options)


@pytest.mark.slow
def test_shadows_show_what_the_answers_alone_do_not() -> None:
    *sides, table = signals_of(0, 16, leak=1.0)
    without, beside = (of_signals(*sides, shadows=each, max_advantage=0.25) for each in (None, table))

    assert without.decision is not Decision.FAIL
    assert "no_shadows" in {caution.code for caution in without.cautions}
    assert beside.decision is Decision.FAIL
    assert beside.riskiest in {"lira_online", "rmia", "lira_offline"}
    assert "no_shadows" not in {caution.code for caution in beside.cautions}


def test_what_shadows_say_is_what_the_queries_say() -> None:
    members, nonmembers, table = signals_of(1, 4, leak=1.0)
    audit = of_signals(members, nonmembers, shadows=table)
    target = np.append(members, nonmembers)
    own, theirs = (-np.logaddexp(0, -each) for each in (target, table.signals))

    by_hand = {
        "lira_online": shadows.lira_online(target, table.signals, table.membership),
        "lira_offline": shadows.lira_offline(target, table.signals, table.membership),
        "rmia": shadows.rmia(own, theirs, table.membership, online=True),
        "calibrated_loss": shadows.calibrated_loss(own, theirs, table.membership),
    }

    for name, scores in by_hand.items():
        both = np.append(audit.scores[name].members, audit.scores[name].nonmembers)
        np.testing.assert_allclose(both, scores, err_msg=name)


@pytest.mark.slow
def test_shadows_that_saw_none_of_the_records_serve_what_is_offline_and_two_what_needs_no_variance() -> None:
    *sides, table = signals_of(2, 4, leak=1.0)
    *others, two = signals_of(3, 2, leak=1.0)
    offline = of_signals(*sides, shadows=Shadows(table.signals, np.zeros_like(table.membership)))
    by_two = of_signals(*others, shadows=two)

    assert {"lira_offline", "rmia", "calibrated_loss"} <= set(offline.scores)
    assert offline.not_asked["lira_online"] == "needs several shadows that were trained on each record"
    assert {"rmia", "calibrated_loss"} <= set(by_two.scores)
    assert by_two.not_asked["lira_online"] == by_two.not_asked["lira_offline"]
    assert by_two.not_asked["lira_offline"].startswith("needs more shadows")


def test_zeros_of_votes_count_half_a_vote_and_others_as_ever() -> None:
    votes = np.array([[1.0, 0.0], [0.99, 0.01], [0.5, 0.5]])
    tiny, certain = [[1.0, 0.0], [1e-300, 1.0]], [[1.0, 0.0], [0.0, 1.0]]

    assert floor_of(votes) == floor_of(votes[:, 1]) == pytest.approx(0.005)
    assert (floor_of(votes[1:]), floor_of(tiny), floor_of(certain)) == (models.FLOOR, models.FLOOR, 0.05)
    np.testing.assert_allclose(shadow_signals(votes, [0, 0, 0], floor=0.005)[0], np.log(1.0 / 0.005))


# Decision and words


@pytest.mark.slow
def test_a_leak_fails_and_nothing_passes_where_there_is_room() -> None:
    limits = {"max_advantage": 0.15, "max_tpr": 0.5, "at_fpr": 0.01}
    failing, passing = (audited(*world(9, records=1500, push=push), **limits) for push in (1.8, 0.0))

    assert failing.decision is Decision.FAIL
    assert failing.sentence.startswith("Fail: ")
    assert passing.decision is Decision.PASS
    assert passing.sentence.startswith("Pass: all 5 queries keep within the limit; ")
    assert [limit.name for limit in passing.limits] == ["advantage", "tpr"]
    assert audited(*world(9)).decision is None
    assert audit_model(P, P, Y, Y).comparison.maximum.lower == 0.0


def test_who_asks_for_progress_is_told_each_query_in_its_turn() -> None:
    told: list[tuple[int, int, str]] = []
    audit = audited(*world(10, records=100), progress=lambda *step: told.append(step))

    assert repr(audit) == f"<ModelAudit: {audit.sentence}>"
    total = len(audit.scores)
    assert told == [(place, total, f"queries asked: {name}") for place, name in enumerate(audit.scores, 1)]


@pytest.mark.slow
def test_groups_are_those_of_the_riskiest_query_and_the_exposed_one_fails_a_limit_however_queries_are_asked() -> None:
    logits, labels = world(11, records=400)
    group = np.repeat(["few", "many"], [100, 300])
    logits[0][np.arange(100), labels[0][:100]] += 4.0
    options = {"groups": (group, group), "max_advantage": 0.9, "max_group_advantage": 0.3}
    few, many = audited(logits, labels, groups=(group, group)).by_group

    assert few.advantage.lower > many.advantage.upper
    assert few.advantage.estimate.interval.confidence == pytest.approx(1 - 0.05 / 5 / 2)
    for more in ({}, {"together": True, "learners": [logistic()]}):
        audit = audited(logits, labels, **options, **more)
        assert (audit.limits[1].name, audit.limits[1].decision.value) == ("group_advantage", "fail")
        assert "within group few is at least" in audit.limits[1].reason
        assert audit.decision is Decision.FAIL
    with pytest.raises(OptionError, match="needs groups"):
        audited(logits, labels, max_group_advantage=0.3)


def test_exposed_members_are_told_beside_a_pass() -> None:
    logits, labels = world(12, records=2000)
    logits[0][np.arange(40), labels[0][:40]] += 40.0
    audit = audited(logits, labels, max_advantage=0.2)

    assert audit.decision is Decision.PASS
    assert audit.most_exposed[1].alarm
    assert "rare_exposure" in {caution.code for caution in audit.cautions}


# No leak


def of_answers(run: int) -> ModelAudit:
    return audited(*world([1, run], records=100), max_advantage=0.0)


def of_shadows(run: int) -> ModelAudit:
    *sides, table = signals_of(run, 4, leak=0.0, records=100)
    return of_signals(*sides, shadows=table, max_advantage=0.0)


@pytest.mark.slow
@pytest.mark.parametrize("audit", [of_answers, of_shadows])
def test_of_records_that_no_model_saw_the_interval_covers_nothing(audit) -> None:
    audits = [audit(run) for run in range(10)]

    assert sum(each.comparison.maximum.lower > 0.0 for each in audits) <= most_misses(10)
    assert sum(each.decision is Decision.FAIL for each in audits) <= most_misses(10)


# What is wrong is named


P = np.array([[0.9, 0.1], [0.2, 0.8]] * 10)
Y = np.array([0, 1] * 10)
NAN = np.where(np.arange(20)[:, None] == 3, np.nan, P)


def shadowed(membership: Any) -> Shadows:
    return Shadows(np.zeros(membership.shape), membership)


@each_case("ask, error, field, index, words", [
    (lambda: audit_model(P, NAN, Y, Y), NotFinite, "nonmembers", 3, "nonmembers: outputs: record 3 is NaN"),
    (lambda: audit_model(P * 2, P, Y, Y), NotDistribution, "members", 0, "logits"),
    (lambda: audit_model(P, P, Y, Y + 1), InputError, "nonmembers", 1, "names no column"),
    (lambda: audit_model(P, P, Y[:5], Y), DimensionMismatch, "members", None, "got 5, need one for each of 20"),
    (lambda: audit_model(P, P, Y.astype(str), Y), InputError, "members", None, "text needs classes"),
    (lambda: audit_model(P, P, Y, Y, classes=[1, 1]), InputError, "classes", None, "twice"),
    (lambda: audit_model(P, P[:, :1], Y, Y), DimensionMismatch, "nonmembers", None, "another shape"),
    (lambda: audit_model(P, P, Y, Y, outputs="odds"), UnknownName, "outputs", None, "probabilities"),
    (lambda: audit_model(P, P, Y, Y, queries=["los"]), UnknownName, "queries", None, "did you mean 'loss'"),
    (lambda: audit_model(P, P, Y, Y, queries=["rmia"]), OptionError, "queries", None, "needs shadow models"),
    (lambda: audit_model(P, P, Y, Y, queries=["squared_error"]), OptionError, "queries", None, "not apply"),
    (lambda: audit_model(P, P, Y, Y, queries=[]), OptionError, "queries", None, "got none"),
    (lambda: audit_model(P[:4], P, Y[:4], Y), MaceError, "members", None, "at least 8"),
    (lambda: audit_model(P, P, Y, Y, max_advantage=2.0), OptionError, "max_advantage", None, "from -1 to 1"),
    (lambda: audit_model(P, P, Y, Y, groups=["a"] * 40), InputError, "groups", None, "two arrays"),
    (lambda: audit_model(P, P, Y, Y, shadows=shadowed(np.zeros((2, 20), np.bool_))), DimensionMismatch, "shadows",
     None, "signals of 20 records, need 40"),
    (lambda: audit_model(P, P, Y, Y, shadows=shadowed(np.full((2, 40), 0.5))), InputError, "membership", None,
     "True or False"),
    (lambda: audit_model(P, P, Y, Y, shadows=shadowed(np.ones((2, 40), np.bool_))), InputError, "membership", None,
     "0 of 20 members have a shadow that was trained without them"),
    (lambda: audit_model(Y, Y, Y, Y, outputs="labels", shadows=shadowed(np.zeros((2, 40)))), OptionError, "shadows",
     None, "labels alone"),
])  # fmt: skip
def test_what_is_wrong_is_named_with_its_side(ask, error, field, index, words) -> None:
    with pytest.raises(error) as raised:
        ask()

    assert (raised.value.field, raised.value.index) == (field, index)
    assert words in raised.value.message


@pytest.mark.slow
@each_case("outputs", ["probabilities", "logits", "labels", "predictions"])
def test_sides_the_wrong_way_round_are_asked_about(outputs) -> None:
    """A model that has learned half of its training rows by heart, its sides as they are and swapped."""
    rng = np.random.default_rng(31)
    labels = rng.integers(0, 2, (2, 900))
    known = np.stack([rng.random(900) < 0.5, np.zeros(900, bool)])
    logits = np.where(known, 6.0 * (2 * labels - 1), rng.normal(2 * labels - 1, 1.5))
    answers = {"probabilities": expit(logits), "logits": logits, "labels": (logits > 0).astype(int)}
    answers["predictions"] = np.where(known, labels, labels + rng.normal(0, 1, (2, 900)))
    options: dict[str, Any] = {"outputs": outputs, "max_advantage": 0.05}

    right = audit_model(*answers[outputs], *labels, **options)
    swapped = audit_model(*answers[outputs][::-1], *labels[::-1], **options)

    assert "members_do_worse" not in {each.code for each in right.cautions}
    (said,) = (each for each in swapped.cautions if each.code == "members_do_worse")
    assert said.message.startswith("members do worse than nonmembers: are the two the wrong way round?")
    assert swapped.decision is right.decision is Decision.FAIL


@pytest.mark.slow
def test_sides_of_one_kind_are_not_asked_about() -> None:
    """One in 10,000 by chance: of 100 audits without a leak none."""
    for seed in range(100):
        rng = np.random.default_rng([32, seed])
        labels = rng.integers(0, 2, (2, 60))
        audit = audit_model(*(labels ^ (rng.random((2, 60)) < 0.2)), *labels, outputs="labels")
        assert "members_do_worse" not in {each.code for each in audit.cautions}


@pytest.mark.slow
def test_rows_that_shadows_lack_are_left_out_of_every_query_and_counted() -> None:
    """The same as an audit without these rows; shadows are kept whole for the next model of the same rows."""
    *answers, stock = signals_of(5, 8, 1.0)
    groups = [np.repeat(["a", "b"], 150)] * 2
    membership = stock.membership.copy()
    membership[:, [3, 7, 420]] = True
    membership[:, 500] = False
    lacking, keep = Shadows(stock.signals, membership), np.isin(np.arange(600), [3, 7, 420, 500], invert=True)

    def kept(sides: list[np.ndarray]) -> list[np.ndarray]:
        return [side[part] for side, part in zip(sides, (keep[:300], keep[300:]), strict=True)]

    audit = of_signals(*answers, shadows=lacking, groups=tuple(groups), max_advantage=0.1)
    rest = Shadows(stock.signals[:, keep], membership[:, keep])
    without = of_signals(*kept(answers), shadows=rest, groups=tuple(kept(groups)), max_advantage=0.1)

    (said,) = (each.message for each in audit.cautions if each.code == "records_left_out")
    assert said.startswith("4 of 600 records left out: ")
    assert audit.comparison.maximum == without.comparison.maximum
    assert [each.advantage for each in audit.by_group] == [each.advantage for each in without.by_group]
    assert audit.shadows is lacking


@each_case("sides", [(300, 100), (100, 300)])
def test_shadows_of_one_side_alone_leave_nobody_out(sides) -> None:
    """No shadow was trained on members: these are no records to leave out, and what is offline is asked."""
    member = np.repeat([True, False], sides)
    membership = shadows.random_halves(8, 400, seed=1) & ~member

    assert shadows.records_with_shadows(membership, member).all()
