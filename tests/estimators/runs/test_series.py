"""A series of steps: each end by hand, how far a limit is kept, and how often that is said wrongly."""

from functools import partial

import numpy as np
import pytest

from estimators import Counts, Scores, Series, advantage, advantage_series
from estimators.decisions.gate import judge
from estimators.decisions.maxima import MaxAdvantage
from estimators.errors import DimensionMismatch, InputError, OptionError, OutOfRange
from estimators.sample.counting import finest
from estimators.statement import roughly
from tests.cases import each_case, refusals
from tests.oracles import most_misses, shift_for


def drawn(rng: np.random.Generator, truths: list[float], n: int) -> dict[str, Scores]:
    """Steps of known advantages; most of a record's noise is the same in all of them, as in one training."""
    sides = rng.normal(size=(2, n))
    own = np.sqrt(1.0 - 0.9**2) * rng.normal(size=(len(truths), 2, n))
    own[:, 0] += np.array([shift_for(truth) for truth in truths])[:, None]
    return {f"step {at}": Scores.of(*(0.9 * sides + each)) for at, each in enumerate(own)}


def decisions(series: Series) -> str:
    return "".join("-" if step.decision is None else step.decision.value[0] for step in series.steps)


def test_bands_share_the_error_among_steps_and_the_walk_does_not() -> None:
    rng = np.random.default_rng(0)
    steps = drawn(rng, [0.0, 0.1, 0.4], 300)
    null = {label: Scores.of(*rng.normal(size=(2, 300))) for label in steps}
    queries = {label: {"one": null[label], "other": each} for label, each in steps.items()}
    series = advantage_series(queries, max_advantage=0.3, confidence=0.9, seed=3)

    for step in series.steps:
        each = queries[step.label]
        at = {
            level: {name: advantage(scores, confidence=1 - level, seed=3) for name, scores in each.items()}
            for level in (0.1, 0.1 / 3, 0.1 / 6)
        }
        assert step.decisive_upper == max(answer.upper for answer in at[0.1].values())
        assert step.estimate.upper == max(answer.upper for answer in at[0.1 / 3].values())
        assert step.estimate.lower == pytest.approx(max(answer.lower for answer in at[0.1 / 6].values()))
        assert step.query == max(at[0.1], key=lambda name: at[0.1 / 3][name].value)
        assert step.estimate.interval.confidence == 0.9
        assert step.decisive_upper <= step.estimate.upper
    assert "the largest of 2 queries' advantages" in series.steps[0].estimate.interval.guarantee.covers
    assert "order were fixed before" in series.steps[0].estimate.interval.guarantee.assumes


def test_of_one_step_and_one_query_it_is_the_advantage_itself_and_counts_are_steps_as_scores_are() -> None:
    scores = Scores.of(*np.random.default_rng(1).normal([[0.4], [0.0]], size=(2, 400)))
    [step], alone = advantage_series({"model": scores}, seed=2).steps, advantage(scores, seed=2)
    steps = drawn(np.random.default_rng(11), [0.0, 0.3], 500)
    counted = {name: finest(scores) for name, scores in steps.items()}

    ends = step.estimate.lower, step.estimate.value, step.estimate.upper
    assert ends == (alone.lower, alone.value, alone.upper)
    assert (step.decisive_upper, step.decision) == (alone.upper, None)
    assert advantage_series(counted, 0.2, seed=1).steps == advantage_series(steps, 0.2, seed=1).steps


def test_a_pass_of_all_steps_holds_up_to_the_fewest_changes_of_any_step_and_query() -> None:
    rng = np.random.default_rng(4)
    steps = {
        label: {"one": drawn(rng, [leak], 700)["step 0"], "other": drawn(rng, [0.0], 700)["step 0"]}
        for label, leak in (("early", 0.02), ("late", 0.1))
    }
    series = advantage_series(steps, max_advantage=0.3, seed=1)
    ask = partial(advantage, seed=1)
    kept = {label: [ask(each).holds_up_to(0.3) for each in of.values()] for label, of in steps.items()}

    assert [step.holds_up_to_changes for step in series.steps] == [min(each) for each in kept.values()]
    fewest = min(map(min, kept.values()))
    assert fewest < max(map(max, kept.values()))
    said = f"change their guess at most {fewest} times along the score, or who sort a score"
    assert said in series.covers[0]
    assert len(series.covers) == 3
    [alone] = advantage_series({"late": steps["late"]["one"]}, 0.3, seed=1).steps
    assert alone.reach.lines == judge(steps["late"]["one"], [MaxAdvantage(0.3)], seed=1).covers[:1]
    failed = advantage_series(steps, max_advantage=-0.1, seed=1)
    assert [step.holds_up_to_changes for step in failed.steps] == [None, None]
    assert failed.covers == ()


def test_what_is_read_whole_is_covered_whole_and_has_no_number_of_changes() -> None:
    rng = np.random.default_rng(5)
    names = Scores.of(rng.choice([*"abc"], 500), rng.choice([*"abc"], 500))
    numbers = Scores.of(*rng.normal(size=(2, 500)))
    seconds = names, {"n": numbers, "c": names}
    whole, both = (advantage_series({"a": each, "b": each}, 0.5) for each in seconds)

    assert [step.holds_up_to_changes for step in (*whole.steps, *both.steps)] == [None] * 4
    assert "see which of 3 values the score has" in whole.covers[0]
    assert len(whole.covers) == 3
    assert both.covers[0].startswith("It covers attackers who change their guess at most")
    assert "see which of 3 groups of similar values a score falls in" in both.covers[1]
    counted = Counts.of([60, 50, 40], [50, 50, 50], edges=[0.0, 1.0])
    covers = advantage_series({"a": counted, "b": numbers}, 0.5).covers
    assert "scores as they were counted, in 3 cells" in covers[2]


@each_case(
    "truths, expected, last, failed",
    ([0.0, 0.02, 0.5, 0.6], "ppff", "step 1", "step 2"),
    ([0.0, 0.5, 0.0, 0.0], "pfii", "step 0", "step 1"),  # the advantage falls again; the walk has stopped
    ([0.5, 0.0], "fi", None, "step 0"),
    ([0.0, 0.01, 0.02], "ppp", "step 2", None),
    ([0.19, 0.0], "ii", None, None),
)
def test_the_limit_is_kept_up_to_the_first_step_that_is_not_shown_to(truths, expected, last, failed) -> None:
    series = advantage_series(drawn(np.random.default_rng(4), truths, 1500), max_advantage=0.2)

    assert decisions(series) == expected
    assert (series.last_passed.label if series.last_passed else None) == last
    assert (series.first_failed.label if series.first_failed else None) == failed
    said = ["all 3 steps keep"] if expected == "ppp" else [repr(name) for name in (last, failed) if name]
    assert all(each in series.sentence for each in said)
    stopped = expected.find("i")
    if stopped > 0 and "f" in expected[:stopped]:
        assert "a step before it" in series.steps[stopped].reason
        assert series.steps[stopped].records_needed is None


def test_a_limit_that_is_open_says_how_many_records_would_settle_it_and_without_one_nothing_is_decided() -> None:
    series = advantage_series(drawn(np.random.default_rng(5), [0.0, 0.12], 400), max_advantage=0.15)
    free = advantage_series(drawn(np.random.default_rng(6), [0.0, 0.5], 300))
    below = advantage_series(drawn(np.random.default_rng(7), [0.0, 0.1], 300), max_advantage=0.3, prior=0.2)

    assert [decisions(each) for each in (series, free, below)] == ["pi", "--", "ff"]
    needed = series.first_open.records_needed
    assert needed > 800
    assert f"about {roughly(needed)} records in all would settle it, you sent 800" in series.sentence
    assert free.last_passed is None
    assert "'step 1' is at least 0." in free.sentence
    assert [caution.code for caution in below.cautions] == ["limit_below_baseline"]


SCORES = Scores.of(np.arange(10.0), np.arange(10.0) + 0.5)


test_what_makes_no_series_is_refused = refusals("steps, options, error", [
    ({}, {}, OptionError), ([("a", SCORES)], {}, OptionError), ({"a": {}}, {}, OptionError),
    ({"a": [1.0, 2.0]}, {}, InputError), ({"a": {"q": [1.0, 2.0]}}, {}, InputError),
    ({"a": Scores.of(np.ones((9, 2)), np.zeros((9, 2)))}, {}, DimensionMismatch),
    ({"a": SCORES}, {"max_advantage": 1.5}, OutOfRange),
    ({"a": SCORES}, {"max_advantage": float("nan")}, OutOfRange),
    ({"a": SCORES}, {"confidence": 1.0}, OutOfRange), ({"a": SCORES}, {"prior": 0.0}, OutOfRange),
], ask=lambda steps, options: advantage_series(steps, **options))  # fmt: skip


@pytest.mark.slow
@each_case("truths", [[0.0, 0.205, 0.205], [0.0, 0.22, 0.0], [0.205, 0.0]])  # the second rises and falls
def test_a_step_beyond_the_first_that_breaks_the_limit_is_seldom_said_to_keep_it(truths) -> None:
    runs, wrong = 12, 0
    first = next(at for at, truth in enumerate(truths) if truth > 0.2)
    for run in range(runs):
        series = advantage_series(drawn(np.random.default_rng([9, run]), truths, 200), 0.2, seed=run)
        wrong += decisions(series)[first] == "p"

    assert wrong <= most_misses(runs, 0.025)


@pytest.mark.slow
def test_bands_contain_all_advantages_together_and_no_step_fails_that_keeps_the_limit() -> None:
    truths, runs, missed, failed = [0.0, 0.1, 0.25, 0.1], 15, 0, 0
    for run in range(runs):
        series = advantage_series(drawn(np.random.default_rng([10, run]), truths, 200), 0.25, seed=run)
        bands = (step.estimate.interval for step in series.steps)
        missed += not all(truth in band for truth, band in zip(truths, bands, strict=True))
        failed += "f" in decisions(series)

    assert missed <= most_misses(runs, 0.05)
    assert failed <= most_misses(runs, 0.025)
