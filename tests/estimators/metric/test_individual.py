"""One record's metric: exact ranges over its posterior's interval."""

import numpy as np
import pytest

from estimators import Counts, individual_metric, metric_optimum, preset
from estimators.metric.definition import Cut
from estimators.risk.cells import cell_risks

COUNTS = Counts.of([60, 30, 10, 0], [10, 40, 50, 0])


@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy", "precision", "f_beta"])
@pytest.mark.parametrize("prior", [0.5, 0.3])
def test_no_posterior_within_the_cells_interval_leaves_the_range(name, prior) -> None:
    metric = preset(name, prior)
    signed = cell_risks(COUNTS, prior).signed
    result = individual_metric(COUNTS, metric, prior)

    for cell in range(3):
        eta = np.linspace((1 + signed.lower[cell]) / 2, (1 + signed.upper[cell]) / 2, 4001)
        either = result.on_threshold[cell] and not metric.has_known_threshold
        rules = (Cut(None, above=True), Cut(None, above=False)) if either else (result.cut,)
        values = np.concatenate([metric.individual_value(eta, rule) for rule in rules])
        values = values[~np.isnan(values)]
        if not values.size:  # the rule never guesses member here, so precision has no value
            assert result.values.mask[cell]
            continue
        assert result.lower[cell] == pytest.approx(values.min(), abs=1e-3)
        assert result.upper[cell] == pytest.approx(values.max(), abs=1e-3)
        assert result.lower[cell] <= values.min() + 1e-12
        assert result.upper[cell] >= values.max() - 1e-12


@pytest.mark.parametrize("confidence", [0.95, 0.9])
def test_accuracy_of_one_record_is_its_risk_put_between_a_half_and_one(confidence) -> None:
    cells = cell_risks(COUNTS, 0.3, confidence)
    reuse = None if confidence == 0.95 else cells
    result = individual_metric(COUNTS, preset("accuracy", 0.3), 0.3, reuse=reuse)

    assert result.confidence == confidence
    assert result.values.mask.tolist() == [False, False, False, True]  # nobody is in the last cell
    np.testing.assert_allclose(result.values[:3], (1 + cells.risk[:3]) / 2, atol=1e-12)
    np.testing.assert_allclose(result.upper[:3], (1 + cells.pointwise.upper[:3]) / 2, atol=1e-12)


def test_a_threshold_learned_from_the_data_is_said_to_be() -> None:
    learned = individual_metric(COUNTS, preset("f_beta", 0.3), 0.3)
    fixed = individual_metric(COUNTS, preset("accuracy", 0.3), 0.3)

    assert "threshold_estimated" in [c.code for c in learned.cautions]
    assert not learned.guarantee.finite_sample
    assert "threshold_estimated" not in [c.code for c in fixed.cautions]


@pytest.mark.parametrize("seed", range(4))
def test_precision_of_the_best_cell_has_a_value_and_the_range_of_both_guesses_at_every_seed(seed) -> None:
    counts = Counts.of([10, 30, 60], [60, 30, 10])
    result = individual_metric(counts, preset("precision", 0.5), 0.5, seed=seed)

    assert result.cut == metric_optimum(counts, preset("precision", 0.5), 0.5, seed=seed).cut
    assert result.on_threshold.tolist() == [False, False, True]
    assert result.values[2] == pytest.approx(60 / 70)
    assert result.lower[2] == pytest.approx((1 + cell_risks(counts, 0.5).signed.lower[2]) / 2)
    assert result.upper[2] == pytest.approx((1 + cell_risks(counts, 0.5).signed.upper[2]) / 2)
    assert result.values.mask.tolist() == [True, True, False]
    assert result.n_undefined == 2
    assert "metric_undefined" in [c.code for c in result.cautions]


def test_no_sample_is_without_any_precision() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        counts = Counts.of(rng.multinomial(300, np.full(8, 1 / 8)), rng.multinomial(300, np.full(8, 1 / 8)))

        assert not individual_metric(counts, preset("precision", 0.5), 0.5, seed=seed).values.mask.all()
