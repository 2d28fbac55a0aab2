"""What a metric is: against scikit-learn, brute force over adversaries, and the paper's own examples."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from estimators.errors import MetricError, OutOfRange, UnknownName
from estimators.metric.definition import Cut, Degeneracy, Metric
from estimators.metric.presets import PRESETS, preset
from tests.cases import refusals

PRIORS = (0.1, 0.3, 0.5)
UNIT, SEEDS = st.floats(0, 1), st.integers(0, 2**31)
some = settings(max_examples=80)
COEFFICIENTS = ("a0", "a11", "a10", "a01", "a00", "b0", "b11", "b10", "b01", "b00")


def decimals(low, high, digits=2):
    return st.floats(low, high).map(lambda value: round(value, digits))


def literal(metric, tpr, fpr, prior):
    """MACE, Eq. 8, written out."""
    tp, fp = prior * tpr, (1 - prior) * fpr
    fn, tn = prior - tp, 1 - prior - fp
    k = metric.coefficients
    top = k["a0"] + k["a11"] * tp + k["a10"] * fp + k["a01"] * fn + k["a00"] * tn
    return top / (k["b0"] + k["b11"] * tp + k["b10"] * fp + k["b01"] * fn + k["b00"] * tn)


def atoms(prior, seed, size=7):
    """Posterior and probability of each of a few scores."""
    r, q = np.random.default_rng(seed).dirichlet(np.ones(size), 2)
    weight = prior * r + (1 - prior) * q
    return prior * r / weight, weight


def value_at(cut, metric, posterior, weight, prior):
    """What the rule of this cut earns."""
    guesses = cut.guesses(posterior)
    tpr, fpr = weight @ (guesses * posterior) / prior, weight @ (guesses * (1 - posterior)) / (1 - prior)
    return literal(metric, tpr, fpr, prior)


def best_value(metric, posterior, weight, prior):
    """The best of every one of the 2^K rules on K atoms."""
    rules = np.array(list(itertools.product([False, True], repeat=len(posterior))))
    tp, fp = rules @ (weight * posterior), rules @ (weight * (1 - posterior))
    with np.errstate(invalid="ignore"):
        return float(np.nanmax(metric.value(tp / prior, fp / (1 - prior), prior)))


SKLEARN = {
    "accuracy": metrics.accuracy_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
    "specificity": lambda y, g, sample_weight: metrics.recall_score(1 - y, 1 - g, sample_weight=sample_weight),
    "npv": lambda y, g, sample_weight: metrics.precision_score(1 - y, 1 - g, sample_weight=sample_weight),
    "f1": metrics.f1_score,
    "f_beta": lambda y, g, sample_weight: metrics.fbeta_score(y, g, beta=2, sample_weight=sample_weight),
    "jaccard": metrics.jaccard_score,
}


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("name", SKLEARN)
def test_presets_are_scikit_learns_metrics_weighted_to_the_prior(name, prior):
    rng = np.random.default_rng(7)
    truth, guess = np.repeat([1, 0], [40, 70]), rng.integers(0, 2, 110)
    weight = np.where(truth == 1, prior / 40, (1 - prior) / 70)
    metric = preset(name, prior, **({"beta": 2} if name == "f_beta" else {}))
    value = metric.value(guess[:40].mean(), guess[40:].mean(), prior)

    assert float(value) == pytest.approx(SKLEARN[name](truth, guess, sample_weight=weight), abs=1e-12)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_described_and_equals_the_general_formula(name):
    metric = preset(name, 0.3)

    assert PRESETS[name].formula
    assert PRESETS[name].description
    assert set(metric.coefficients) == set(COEFFICIENTS)
    assert float(metric.value(0.6, 0.2, 0.3)) == pytest.approx(literal(metric, 0.6, 0.2, 0.3))


@some
@given(st.lists(st.floats(-2, 2), min_size=10, max_size=10), st.floats(0.05, 0.95), UNIT, UNIT)
def test_koyejos_constants_give_the_same_value_as_the_ten_coefficients(numbers, prior, tpr, fpr):
    metric = Metric("any", *numbers[:5], 20.0, *numbers[6:])
    k = metric.constants(prior)
    tp, gamma = prior * tpr, prior * tpr + (1 - prior) * fpr
    value = (k.e0 + k.e1 * tp + k.e2 * gamma) / (k.h0 + k.h1 * tp + k.h2 * gamma)

    assert value == pytest.approx(literal(metric, tpr, fpr, prior), abs=1e-9)
    assert float(metric.value(tpr, fpr, prior)) == pytest.approx(value, abs=1e-9)


def test_e21_rates_are_weighted_by_the_prior_and_advantage_and_weighted_accuracy_follow_their_definitions():
    advantage, weighted = preset("advantage", 0.2), preset("weighted_accuracy", 0.2, w1=2, w2=1, w3=3, w4=4)
    tp, fp, fn, tn = 0.2 * 0.7, 0.8 * 0.25, 0.2 * 0.3, 0.8 * 0.75

    assert float(advantage.value(0.7, 0.25, 0.2)) == pytest.approx(2 * (tp + tn) - 1)
    expected = (2 * tp + tn) / (2 * tp + tn + 3 * fp + 4 * fn)
    assert float(weighted.value(0.7, 0.25, 0.2)) == pytest.approx(expected)
    precision = float(preset("precision", 0.1).value(80 / 100, 30 / 100, 0.1))  # half of the sample are members
    assert precision == pytest.approx(0.08 / (0.08 + 0.27))
    assert abs(precision - 80 / (80 + 30)) > 0.4  # TP_n and gamma_n as printed


def test_known_thresholds_are_the_papers():
    for name, prior, threshold in [
        ("accuracy", 0.1, 0.5), ("advantage", 0.3, 0.5), ("balanced_accuracy", 0.1, 0.1), ("recall", 0.2, 0.0),
        ("specificity", 0.2, 1.0),
    ]:  # fmt: skip
        assert preset(name, prior).known_cut(prior) == Cut(pytest.approx(threshold), above=True), name


@some
@given(st.tuples(*[decimals(-2, 2)] * 4), decimals(-1, 1), decimals(-1, 1), st.sampled_from(PRIORS), SEEDS)
def test_e7_lemma_2_with_its_sign_condition_is_the_best_of_all_rules(a, members_b, nonmembers_b, prior, seed):
    metric = Metric("any", 0.0, *a, 0.0, members_b, nonmembers_b, members_b, nonmembers_b)
    if abs(members_b * prior + nonmembers_b * (1 - prior)) < 0.01:
        return
    posterior, weight = atoms(prior, seed)

    value = value_at(metric.known_cut(prior), metric, posterior, weight, prior)

    assert value == pytest.approx(best_value(metric, posterior, weight, prior), abs=1e-9)


def test_e7_without_the_sign_condition_the_paper_picks_the_worst_rule():
    error_rate = Metric("error rate", a10=1.0, a01=1.0, b0=1.0)
    cut = error_rate.known_cut(0.5)

    assert cut == Cut(0.5, above=False)  # the printed rule says sgn(eta - 1/2)
    assert not cut.guesses(0.8)
    assert preset("accuracy", 0.5).known_cut(0.5).guesses(0.8)  # D.2's inequality predicts -1 here


@some
@given(st.sampled_from(["f_beta", "jaccard", "weighted_accuracy"]), st.sampled_from(PRIORS), SEEDS)
def test_lemma_3_at_the_optimum_is_the_best_of_all_rules(name, prior, seed):
    metric = preset(name, prior, **({"beta": 0.5} if name == "f_beta" else {}))
    posterior, weight = atoms(prior, seed)
    best = best_value(metric, posterior, weight, prior)

    assert value_at(metric.cut_at(best, prior), metric, posterior, weight, prior) == pytest.approx(best, abs=1e-9)


def test_lemma_3_turns_its_direction_below_h1_times_the_optimum_and_e18_precision_never_attains_its_own():
    turned = Metric("false discovery", a10=1.0, b11=1.0, b10=1.0).cut_at(0.9, 0.3)
    cut = preset("precision", 0.1).cut_at(0.62, 0.1)
    tp_over_tp_plus_one = Metric("saturating", a11=1.0, b0=1.0, b11=1.0)

    assert turned == Cut(pytest.approx(0.1), above=False)  # worth guessing where 1 - eta > 0.9
    assert cut == Cut(pytest.approx(0.62), above=True)
    assert not cut.guesses([0.1, 0.5, 0.62]).any()
    assert tp_over_tp_plus_one.cut_at(1.0, 0.3).threshold is None  # with equality the rule is constant


@pytest.mark.parametrize("prior", PRIORS)
def test_degenerate_optima_are_named(prior):
    named = dict.fromkeys(("recall", "specificity"), Degeneracy.CONSTANT)
    named |= {"precision": Degeneracy.NO_MEMBER_GUESSES, "npv": Degeneracy.NO_NONMEMBER_GUESSES}

    assert {name: preset(name, prior).degeneracy(prior) for name in PRESETS} == dict.fromkeys(PRESETS) | named


test_what_is_no_metric_is_refused_and_says_where = refusals("ask, error, words", [
    (lambda: Metric("bad", a11=1.0, b11=1.0, b10=-1.0).degeneracy(0.3), MetricError, "changes sign"),
    (lambda: Metric("bad", a11=1.0, b11=1.0).degeneracy(0.3), MetricError, "denominator is 0"),
    (lambda: Metric("bad", a0=1.0, b11=1.0, b10=1.0).degeneracy(0.3), MetricError, "TPR = 0, FPR = 0"),
    (lambda: Metric("bad", a11=1.0).degeneracy(0.3), MetricError, "denominator is 0"),
    (lambda: Metric("bad", a0=2.0, b0=1.0).degeneracy(0.3), MetricError, "every adversary has the same value"),
    (lambda: Metric("bad", a11=1.0, a10=1.0, a01=1.0, a00=1.0, b0=1.0).degeneracy(0.3), MetricError,
     "every adversary has the same value"),
    (lambda: Metric("bad", a10=float("nan")), MetricError, "a10 is not a finite number"),
    (lambda: Metric("extreme", a11=1e300, b0=1.0), MetricError, "scale all of them"),
    (lambda: Metric("extreme", a11=-1e200, b0=1.0), MetricError, "scale all of them"),
    (lambda: Metric("pole", a11=1.0, b11=1.0, b10=-1.0).individual_range(0.2, 0.8, Cut(0.0, above=True)),
     MetricError, "one record"),
    (lambda: preset("balanced_accuracy", 0.3).value(0.5, 0.5, 0.1), MetricError, r"for prior 0\.3, got 0\.1"),
    (lambda: preset("precisoin", 0.1), UnknownName, "did you mean 'precision'"),
    (lambda: preset("F1_score", 0.1), UnknownName, "did you mean 'f1'"),
    (lambda: preset("f_beta", 0.1, betta=2), UnknownName, "beta"),
    (lambda: preset("f_beta", 0.1, beta=0), OutOfRange, "beta"),
])  # fmt: skip


def test_a_metric_may_be_one_only_at_some_priors():
    metric = Metric("close call", a11=1.0, b11=1.0, b01=1.0, b0=-0.2)

    assert metric.degeneracy(0.3) is Degeneracy.CONSTANT
    assert metric.linear(0.1)[1][0] == pytest.approx(0.1)  # negative at this prior: both signs turn
    assert float(metric.value(0.5, 0.5, 0.1)) == pytest.approx(-0.5)


@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy", "advantage", "weighted_accuracy"])
def test_e8_both_branches_agree_at_a_known_threshold_although_c3_and_c4_are_not_0(name):
    metric = preset(name, 0.3)
    cut = metric.known_cut(0.3)
    value = metric.individual_value([cut.threshold - 1e-9, cut.threshold + 1e-9], cut)

    assert value[0] == pytest.approx(value[1], abs=1e-7)
    assert metric.a11 != metric.a01  # c3, which the paper wants to be 0


def test_e9_the_range_of_am_reaches_the_threshold_inside_the_interval():
    metric = preset("balanced_accuracy", 0.3)
    cut = metric.known_cut(0.3)

    low, high = metric.individual_range(0.1, 0.6, cut)

    end_points = metric.individual_value([0.1, 0.6], cut)
    assert end_points == pytest.approx([0.643, 1.0], abs=5e-4)
    assert (float(low), float(high)) == pytest.approx((0.5, 1.0))


@pytest.mark.slow
@some
@given(
    st.lists(decimals(-1, 1), min_size=5, max_size=5),
    st.lists(decimals(0.1, 1), min_size=5, max_size=5),
    *(decimals(*ends, 3) for ends in ((0, 1), (0, 1), (-0.2, 1.2))),
    st.booleans(),
)
def test_the_individual_range_is_what_a_fine_grid_finds(a, b, one, other, threshold, above):
    metric, cut = Metric("any", *a, *b), Cut(threshold, above)
    low, high = min(one, other), max(one, other)
    beside = np.clip([threshold - 1e-9, threshold + 1e-9], low, high)
    grid = np.unique(np.r_[np.linspace(low, high, 2001), beside])

    least, most = metric.individual_range(low, high, cut)

    values = metric.individual_value(grid, cut)
    assert float(least) <= values.min() + 1e-12
    assert float(most) >= values.max() - 1e-12
    if not low <= threshold <= low + 1e-6 and not high - 1e-6 <= threshold <= high:
        assert (float(least), float(most)) == pytest.approx((values.min(), values.max()), abs=1e-6)


def test_the_individual_value_is_the_papers_formula_in_r_and_q():
    metric, prior, t = preset("f_beta", 0.2), 0.2, 0.35
    r, q = np.array([0.1, 0.3, 0.02]), np.array([0.2, 0.02, 0.02])
    k = metric.coefficients
    member = (1 - t) * prior * r > t * (1 - prior) * q
    c, d = ((k[s + "01"], k[s + "00"], k[s + "11"] - k[s + "01"], k[s + "10"] - k[s + "00"]) for s in "ab")
    pr, pq = prior * r, (1 - prior) * q
    eq18 = [  # a0 = b0 = 0
        x[0] * pr + x[1] * pq + x[2] * pr * member + x[3] * pq * member for x in (c, d)
    ]

    value = metric.individual_value(pr / (pr + pq), Cut(t, above=True))

    np.testing.assert_allclose(value, eq18[0] / eq18[1], rtol=1e-12)


def test_e10_two_representations_of_recall_share_the_metric_but_not_the_individual_risk():
    by_parts, by_prior = preset("recall", 0.1), Metric("TP/p", a11=10.0, b0=1.0)
    member = Cut(0.0, above=True)

    assert float(by_parts.value(0.4, 0.2, 0.1)) == pytest.approx(float(by_prior.value(0.4, 0.2, 0.1)))
    assert float(by_parts.individual_value(0.3, member)) == pytest.approx(1.0)
    assert float(by_prior.individual_value(0.3, member)) == pytest.approx(3.0)


def test_a_record_without_a_value_is_not_a_number_rather_than_a_guess():
    precision, cut = preset("precision", 0.1), Cut(0.4, above=True)
    low, high = precision.individual_range([0.1, 0.1, 0.5], [0.3, 0.6, 0.6], cut)

    np.testing.assert_allclose(low, [np.nan, 0.4, 0.5])
    np.testing.assert_allclose(high, [np.nan, 0.6, 0.6])
