"""What the statements about security say beside their bounds."""

import numpy as np
import pytest

from estimators.theory import mis


def test_corollary_15_holds_delta_from_below_where_its_condition_is_met() -> None:
    sizes = [3, 4, 11, 100, 10_000]
    known = mis.assess(mis.Distribution.of([0.5, 0.2, 0.2, 0.1]), sizes=sizes)
    sample = mis.assess(mis.Tally.of_counts([50, 20, 20, 10], universe=4), sizes=sizes)
    rare = mis.assess(mis.Distribution.of([0.5, 0.2, 0.2, 0.1]), sizes=sizes, nonmember_share=0.1)

    c_k = sum(np.sqrt(p * (1 - p)) for p in (0.5, 0.2, 0.2, 0.1))
    assert known.simple_lower[:2] == (None, None)  # n is at most 1/p of the rarest
    for n, low, delta in zip(sizes[2:], known.simple_lower[2:], known.deltas[2:], strict=True):
        assert low == pytest.approx(c_k / np.sqrt(8 * n), rel=1e-12)
        assert low <= (delta.value or 0.0)
    assert set(sample.simple_lower) == set(rare.simple_lower) == {None}


def test_the_mean_loss_is_said_with_the_cut_it_vouches_for() -> None:
    train, heldout = np.full(50, 0.01), np.linspace(0.05, 2.0, 50)
    plain, result = (mis.assess_overfitting(train, heldout, alpha=alpha) for alpha in (None, 0.1))

    assert plain.by_mean is None
    assert result.by_mean.epsilon == pytest.approx(0.1)
    assert result.sentence.startswith(plain.sentence)
    said = "at least 90% of the training losses are at most 0.1, and 4% of the held-out losses are"
    assert said in result.sentence
