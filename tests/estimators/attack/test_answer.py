"""A given attack: its own advantage and not the optimum, valid however it found its cut, and how far from the best."""

from collections import defaultdict
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from estimators import (
    Counts,
    Estimate,
    GuessRule,
    MaceError,
    QuantileRule,
    Scores,
    ThresholdRule,
    TopRule,
    advantage,
    attack_advantage,
    preset,
)
from estimators.attack.answer import AttackAdvantage
from estimators.attack.rules import AttackRule, judge_records
from tests.cases import each_case
from tests.oracles import World, gaussian_shift, identical, most_misses


def normal(n1: int = 400, n0: int = 400, shift: float = 1.0, seed: int = 0) -> Scores:
    rng = np.random.default_rng(seed)
    return Scores.of(rng.normal(shift, 1, n1), rng.normal(0, 1, n0), "continuous")


@each_case("rule, sizes", (TopRule(), (1000, 1000)), (TopRule(), (300, 1000)), (QuantileRule(0.5), (1173, 1173)))
def test_ties_at_the_cut_are_lots_of_their_own_in_every_sample(rule, sizes) -> None:
    """Nothing leaks. Drawn by the seed alone the same ranks had the luck in each sample: 116 of 150 ends were wrong."""
    runs, above, below = 30, 0, 0
    for run in range(runs):
        rng = np.random.default_rng([3, run])
        found = attack_advantage(Scores.of(*(rng.choice(3, n, p=(0.02, 0.96, 0.02)) for n in sizes)), rule)
        above += found.lower > 0.0
        below += found.upper < 0.0

    assert max(above, below) <= most_misses(runs)


def test_guesses_are_rated_as_they_are_and_not_as_the_best_use_of_them() -> None:
    rng = np.random.default_rng(1)
    guesses = Scores.of(rng.random(1000) < 0.7, rng.random(9000) < 0.18)

    found = attack_advantage(guesses, prior=0.1)

    tpr, fpr = guesses.members.mean(), guesses.nonmembers.mean()
    assert found.value == pytest.approx(2 * (0.1 * tpr + 0.9 * (1 - fpr)) - 1)
    assert found.lower < 0.1 * 2 * 0.7 + 0.9 * 2 * 0.82 - 1 < found.upper < 0.7
    assert found.optimum.lower == pytest.approx(0.8)
    assert found.gap.lower < 0.8 - 0.616 < found.gap.upper
    assert found.share is None  # nothing is to be gained over the baseline of 0.8
    assert "where always guessing the likelier side already gives 0.800" in found.sentence


@pytest.mark.slow
def test_guesses_mean_the_same_as_booleans_numbers_and_words() -> None:
    sides = [True] * 30 + [False] * 10, [True] * 5 + [False] * 20
    expected = attack_advantage(Scores.of(*sides))

    for yes, no in ((1, 0), (1.0, 0.0), ("true", "false"), ("True", "False"), ("member", "nonmember")):
        members, nonmembers = ([yes if each else no for each in side] for side in sides)
        found = attack_advantage(Scores.of(members, nonmembers))
        assert (found.estimate, found.gap) == (expected.estimate, expected.gap)


@pytest.mark.slow
@each_case(
    "rule, expected",
    (ThresholdRule(0.5), lambda m, n: (m >= 0.5, n >= 0.5)),
    (ThresholdRule(0.5, "below"), lambda m, n: (m <= 0.5, n <= 0.5)),
    (TopRule(), lambda m, n: beyond(m, n, len(m))),
    (TopRule(10), lambda m, n: beyond(m, n, 10)),
    (TopRule(10, "below"), lambda m, n: beyond(-m, -n, 10)),
    (QuantileRule(0.5), lambda m, n: beyond(m, n, 250)),
    (QuantileRule(0.9, "nonmembers"), lambda m, n: (m >= np.sort(n)[-20], n >= np.sort(n)[-20])),
    (QuantileRule(0.1, "members", "below"), lambda m, n: (m <= np.sort(m)[29], n <= np.sort(m)[29])),
)
def test_each_rule_accuses_whom_it_says(rule, expected) -> None:
    scores = normal(300, 200)

    attack = judge_records(scores, rule, 0.5, 0)

    wanted = expected(scores.members, scores.nonmembers)
    assert all(map(np.array_equal, attack.guesses, wanted))
    assert not attack.cautions
    assert attack_advantage(scores, rule).rates == pytest.approx((wanted[0].mean(), wanted[1].mean()))


def beyond(members: np.ndarray, nonmembers: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    least = np.sort(np.concatenate([members, nonmembers]))[-number]
    return members >= least, nonmembers >= least


def test_the_cut_that_is_stated_makes_the_same_guesses_as_a_threshold() -> None:
    scores = normal()
    for rule in (TopRule(70), TopRule(None, "below"), QuantileRule(0.3, "members")):
        first = judge_records(scores, rule, 0.5, 0)
        again = judge_records(scores, ThresholdRule(first.cut or 0.0, rule.side), 0.5, 0)
        assert all(map(np.array_equal, first.guesses, again.guesses))


@pytest.mark.slow
def test_of_records_that_tie_at_the_cut_some_are_drawn_and_it_says_so() -> None:
    scores = Scores.of([1.0] * 30 + [0.0] * 30, [1.0] * 10 + [0.0] * 50)
    found = attack_advantage(scores, TopRule(20), seed=3)

    assert sum(found.accusations) == 20
    assert found.cautions[0].code == "ties_at_cut"
    assert found.cautions[0].message.startswith("40 records have the score at the cut")
    assert attack_advantage(scores, TopRule(20), seed=3).accusations == found.accusations
    assert len({attack_advantage(scores, TopRule(20), seed=seed).accusations for seed in range(8)}) > 1


def test_metrics_are_those_of_the_attack() -> None:
    found = attack_advantage(normal(), ThresholdRule(0.5), prior=0.3)

    tpr, fpr = found.rates
    for name, estimate in found.metrics.items():
        assert estimate.value == pytest.approx(float(preset(name, 0.3).value(tpr, fpr, 0.3)))
        assert estimate.lower < float(estimate.value or 0.0) < estimate.upper
    accuracy = found.metrics["accuracy"]
    assert (2 * accuracy.lower - 1, 2 * accuracy.upper - 1) == pytest.approx((found.lower, found.upper))


@pytest.mark.parametrize("records", [1, 2, 47])
@pytest.mark.parametrize("prior", [0.5, 0.01])
def test_few_accused_leave_metrics_that_are_0_over_0_at_an_end_their_range(records, prior) -> None:
    """Precision is 0/0 where nobody is accused, which limits of the share beyond the cut allow."""
    nobody = attack_advantage(normal(), ThresholdRule(50.0))
    assert (nobody.metrics["precision"].value, nobody.value) == (None, pytest.approx(0.0))
    assert (nobody.metrics["precision"].lower, nobody.metrics["precision"].upper) == (0.0, 1.0)
    found = attack_advantage(normal(24, 24), TopRule(records), prior, confidence=0.999)

    for name in ("precision", "npv", "recall", "f_beta"):
        estimate = found.metrics[name]
        assert 0.0 <= estimate.lower <= float(estimate.value or 0.0) <= estimate.upper <= 1.0


def test_the_best_threshold_is_close_to_the_optimum_and_the_opposite_far_from_it() -> None:
    scores = normal(2000, 2000)
    best, worst = (attack_advantage(scores, ThresholdRule(0.5, side)) for side in ("above", "below"))

    other = attack_advantage(scores, TopRule(), prior=0.2, confidence=0.9, seed=5)
    assert other.optimum == advantage(scores, 0.2, confidence=0.9, seed=5)
    assert best.gap.lower == 0.0
    assert best.gap.upper < 0.04
    assert best.share.lower > 0.85
    assert worst.value == pytest.approx(-best.value)
    assert worst.gap.lower < 2 * 0.383 < worst.gap.upper
    assert worst.gap.lower > 0.6


def test_a_threshold_chosen_here_has_a_wider_interval_than_one_from_before() -> None:
    scores = normal()
    rules = (ThresholdRule(0.5, chosen_before=each) for each in (True, False))
    before, here = (attack_advantage(scores, rule) for rule in rules)

    assert here.value == before.value
    assert here.lower < before.lower
    assert here.upper >= here.optimum.value
    assert here.gap.upper > before.gap.upper
    assert here.estimate.interval.guarantee.assumes != before.estimate.interval.guarantee.assumes


PERFECT = World(
    "perfectly separated",
    lambda rng, a, b: (rng.random(a) + 1.0, rng.random(b)),
    lambda prior: 1.0,
    lambda x: np.clip(np.asarray(x) - 1.0, 0.0, 1.0),
    lambda x: np.clip(x, 0.0, 1.0),
)


def best_cut(members: np.ndarray, nonmembers: np.ndarray, prior: float) -> ThresholdRule:
    """What an attacker reports who tries all thresholds on these records."""

    def gain(cut: float) -> float:
        return float(prior * (members >= cut).mean() - (1 - prior) * (nonmembers >= cut).mean())

    cut = max(np.concatenate([members, nonmembers]), key=lambda cut: abs(gain(cut) - prior + 0.5))
    return ThresholdRule(float(cut), "above" if gain(cut) > 0.0 else "below", chosen_before=False)


CUTS: dict[str, Callable[..., AttackRule]] = {
    "the best threshold here": best_cut,
    "top n1": lambda *_: TopRule(),
    "90% quantile of nonmembers": lambda *_: QuantileRule(0.9, "nonmembers"),
    "lowest half of members": lambda *_: QuantileRule(0.5, "members", "below"),
}


@pytest.mark.slow
@pytest.mark.parametrize("rule", CUTS)
@pytest.mark.parametrize(("confidence", "runs"), [(0.95, 2), (0.999, 1)])
def test_intervals_cover_the_rule_with_the_cut_it_made(rule, confidence, runs) -> None:
    """No end misses what is true of the rule on new records more often than it may, over worlds, sides and priors."""
    worlds = identical(), gaussian_shift(0.3), PERFECT
    designs = (15, 15, 0.5), (30, 120, 0.01), (100, 40, 0.9)
    rng, misses = np.random.default_rng([*rule.encode()]), defaultdict(lambda: np.zeros(2))
    for world, (n1, n0, prior), run in product(worlds, designs, range(runs)):
        members, nonmembers = (side.astype(np.float64) for side in world.draw(rng, n1, n0))
        attack, jaccard = CUTS[rule](members, nonmembers, prior), [preset("jaccard", prior)]
        found = attack_advantage(Scores.of(members, nonmembers), attack, prior, confidence, run, jaccard)
        for name, (truth, said) in beside_the_truth(world, attack.side, prior, found).items():
            misses[name] += said.lower > truth + 1e-6, said.upper < truth - 1e-6

    most = most_misses(9 * runs, (1 - confidence) / 2)
    assert all(ends.max() <= most for ends in misses.values()), misses


def beside_the_truth(
    world: World, side: str, prior: float, found: AttackAdvantage
) -> dict[str, tuple[float, Estimate]]:
    """What is true of the rule that a sample led to, beside what was said of it."""
    assert world.member_cdf is not None
    assert world.nonmember_cdf is not None
    tpr, fpr = (float(cdf(np.array(found.cut))) for cdf in (world.member_cdf, world.nonmember_cdf))
    if side == "above":
        tpr, fpr = 1 - tpr, 1 - fpr
    own = 2 * (prior * tpr + (1 - prior) * (1 - fpr)) - 1
    return {
        "advantage": (own, found.estimate),
        "true positive rate": (tpr, found.tpr),
        "false positive rate": (fpr, found.fpr),
        "jaccard": (prior * tpr / (prior + (1 - prior) * fpr), found.metrics["jaccard"]),
        "gap": (world.truth(prior) - own, found.gap),
    }


HALF, SURE = [0.5, 1.0] * 8, [0.0, 1.0] * 8


@each_case("ask, field, text", [
    (lambda: attack_advantage(Scores.of(HALF, SURE), GuessRule()), "members", "members: need guesses"),
    (lambda: attack_advantage(Scores.of(SURE, HALF), GuessRule()), "nonmembers", "nonmembers: need guesses"),
    (lambda: attack_advantage(Scores.of(["yes", "no"] * 8, ["yes", "no"] * 8), GuessRule()), "members",
     "true or false"),
    (lambda: attack_advantage(Scores.of(["a", "b"] * 8, ["a", "b"] * 8), ThresholdRule(0.0)), "members",
     "threshold cuts numbers, got text"),
    (lambda: attack_advantage(Scores.of([[0.0, 1.0]] * 8, [[0.0, 1.0]] * 8), TopRule()), "members",
     "top cuts one number a record"),
    (lambda: attack_advantage(Scores.of(HALF, SURE), TopRule(32)), "rule.records", "got 32 of 32 records"),
    (lambda: attack_advantage(Scores.of(HALF, SURE), QuantileRule(0.99)), "rule.quantile", "leaves 0 of 32"),
    (lambda: attack_advantage(Scores.of(HALF, SURE), QuantileRule(0.01, "members", "below")), "rule.quantile",
     "leaves 0 of 16 records"),
    (lambda: attack_advantage(Counts.of([5, 5], [5, 5])), "data", r"data: got Counts, need Scores\.of"),
    (lambda: attack_advantage(Scores.of(HALF, SURE), TopRule(), seed=-1), "seed", None),
    (lambda: ThresholdRule(float("nan")), "threshold", None),
    (lambda: ThresholdRule("1"), "threshold", None),
    (lambda: ThresholdRule(1.0, "left"), "side", None),
    (lambda: TopRule(0), "records", None),
    (lambda: QuantileRule(1.0), "quantile", None),
    (lambda: QuantileRule(0.5, "everybody"), "of", None),
])  # fmt: skip
def test_what_cannot_be_judged_is_refused_by_name(ask, field, text) -> None:
    with pytest.raises(MaceError, match=text) as refusal:
        ask()

    assert refusal.value.field == field
