"""Runs that are looked at after every batch: what their ends cover, what they keep, and what they refuse."""

import json

import numpy as np
import pytest
from scipy.special import ndtr

from estimators import Counts, Scores, advantage
from estimators.adversary.changes import corners_of
from estimators.errors import IncompatibleCells, InputError, MaceError, OptionError, OutOfRange
from estimators.runs.sequential import SequentialRun, sequential_run
from estimators.runs.sequential.limits import Blocks, lower_accuracy, upper_accuracy
from estimators.sample.cells import Values
from estimators.sample.scores import Query
from tests.cases import each_case, refusals
from tests.oracles import comb, half_split_lower, most_misses

LABELS = np.array(list("abcdefgh"))


def labels(rng: np.random.Generator, leak: float, n: int) -> Scores:
    """Eight labels; the best attacker has half of ``leak`` as advantage."""
    tilted = np.repeat([1.0 + leak, 1.0 - leak], 4) / 8.0
    return Scores.of(rng.choice(LABELS, n, p=tilted), rng.choice(LABELS, n))


def bells(rng: np.random.Generator, distance: float, n: int, m: int | None = None) -> Scores:
    return Scores.of(rng.normal(distance, 1.0, n), rng.normal(0.0, 1.0, n if m is None else m))


@pytest.mark.slow
@each_case("shift", [0.0, 0.5])
def test_ends_hold_of_scores_that_many_records_share(shift) -> None:
    """One decimal: nearly every score of the first batch has a cell of its own. Ever, over 3 looks, at 80%."""
    edges = np.append(np.arange(-59, 61) / 10.0 - 0.05, np.inf)
    above = [np.diff(ndtr(edges - mean)) for mean in (shift, 0.0)]
    runs, truth, wrong = 20, float(np.abs(above[0] - above[1]).sum() / 2.0), np.zeros(2)
    for seed in range(runs):
        rng, run = np.random.default_rng([7, seed]), sequential_run(confidence=0.8, planned=1200, seed=seed)
        for size in (100, 200, 300):
            run = run.after(Scores.of(*(np.round(rng.normal(mean, 1.0, size), 1) for mean in (shift, 0.0))))
        wrong += [run.lower > truth + 1e-9, run.upper < truth - 1e-9]

    assert wrong.max() <= most_misses(runs, 0.1)


@pytest.mark.slow
def test_a_pass_names_the_most_changes_for_which_the_upper_end_keeps_the_limit() -> None:
    rng = np.random.default_rng(2)
    run = sequential_run(max_advantage=0.16, planned=4000)
    for _ in range(4):
        run = run.after(bells(rng, 0.0, 500))
    counts, starts = run.counts, np.array(run.starts)

    def upper(changes: int) -> float:
        corners = corners_of(counts.members, counts.nonmembers, starts, changes)
        share = run.blocks[0][1] / (run.blocks[0][1] + run.blocks[0][3])
        sides = counts.n_members, counts.n_nonmembers
        return 2.0 * upper_accuracy(corners, *sides, 0.5, 0.025, 4000, share) - 1.0

    kept = run.holds_up_to_changes
    assert run.decision.value == "pass"
    assert 2 < kept < 32
    assert upper(kept) <= 0.16 < upper(kept + 1)
    assert f"change their guess at most {kept} times along the score" in run.covers[0]
    named = sequential_run(max_advantage=0.9).after(labels(rng, 0.0, 500))
    assert (named.decision.value, named.holds_up_to_changes) == ("pass", None)
    assert named.covers[0].startswith("It covers attackers who see which of 8 groups of similar values")


@pytest.mark.slow
def test_ends_only_ever_narrow_and_are_not_much_wider_than_those_of_one_look() -> None:
    rng = np.random.default_rng(1)
    run, every = sequential_run(planned=8000), list[Scores]()
    for n in (100, 100, 300, 500, 1000, 2000):
        every.append(bells(rng, 0.8, n))
        run = run.after(every[-1])
    sides = zip(*((each.members, each.nonmembers) for each in every), strict=True)
    fixed, looks = advantage(Scores.of(*map(np.concatenate, sides))), run.looks

    assert [look.lower for look in looks] == sorted(look.lower for look in looks)
    assert [look.upper for look in looks] == sorted((look.upper for look in looks), reverse=True)
    assert run.lower < 2.0 * ndtr(0.4) - 1.0 < run.upper
    assert (run.upper - run.lower) / (fixed.upper - fixed.lower) < 1.8
    assert looks[-1].n_members == 4000


def test_each_end_has_half_of_the_error() -> None:
    run = sequential_run(planned=1000, confidence=0.9).after(Counts.of([20, 80], [70, 30], edges=[0.0]))
    blocks, corners = np.array(run.blocks).T, np.array([[0.8, 0.7]])

    assert run.lower == 2.0 * lower_accuracy(Blocks(*blocks), 0.5, 0.05, 1000) - 1.0
    assert run.upper == pytest.approx(2.0 * upper_accuracy(corners, 100, 100, 0.5, 0.05, 1000, 0.5) - 1.0, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("prior", [0.01, 0.3, 0.9])
def test_unequal_sides_and_any_prior(prior) -> None:
    rng = np.random.default_rng(2)
    run = sequential_run(prior=prior, planned=4000)
    for _ in range(5):
        run = run.after(bells(rng, 1.0, 60, 700))

    assert abs(2 * prior - 1) <= run.lower <= run.upper <= 1.0


@pytest.mark.slow
def test_a_run_survives_its_file_and_goes_on_the_same() -> None:
    rng = np.random.default_rng(3)
    first, second = bells(rng, 1.0, 60), bells(rng, 1.0, 90)
    run = sequential_run(max_advantage=0.2, seed=9).after(first)
    again = SequentialRun.from_dict(json.loads(json.dumps(run.to_dict())))

    assert again.after(second).to_dict() == run.after(second).to_dict()
    assert again.sentence == run.sentence


def test_no_score_of_a_later_batch_is_kept() -> None:
    rng = np.random.default_rng(4)
    later = Scores.of(rng.normal(0, 1, 50) + 0.123456789, rng.normal(0, 1, 50))
    state = json.dumps(sequential_run().after(bells(rng, 1.0, 60)).after(later).to_dict())

    assert len(state) < 100_000
    assert "123456789" not in state


def test_shards_are_merged() -> None:
    rng = np.random.default_rng(5)

    def shard() -> SequentialRun:
        run = sequential_run(max_advantage=0.3, planned=2000)
        for _ in range(4):
            sides = (rng.multinomial(100, law) for law in ([0.1, 0.3, 0.6], [0.5, 0.3, 0.2]))
            run = run.after(Counts.of(*sides, edges=[0, 1]))
        return run

    one, other = shard(), shard()
    both = one.merge(other)

    assert both.looks[-1].n_members == 800
    assert both.upper - both.lower < min(each.upper - each.lower for each in (one, other))
    assert both.lower <= 0.4 <= both.upper
    assert sequential_run(max_advantage=0.3, planned=2000).merge(one) is one
    with pytest.raises(OptionError, match="max_advantage"):
        one.merge(sequential_run(max_advantage=0.2, planned=2000))
    with pytest.raises(MaceError):
        one.merge(sequential_run(max_advantage=0.3, planned=2000).after(Counts.of([9, 9], [9, 9], edges=[0])))


def test_labels_that_were_not_there_before_and_a_score_that_parts_the_sides_completely() -> None:
    run = sequential_run(planned=100)
    run = run.after(Scores.of(["a"] * 8 + ["b"] * 4, ["b"] * 12))
    run = run.after(Scores.of(["c"] * 40, ["a"] * 3 + ["d"] * 37))
    apart = sequential_run(max_advantage=0.5)
    for step in range(6):
        apart = apart.after(Scores.of(np.arange(40.0) + 100 + step / 9, np.arange(40.0) + step / 7))

    assert run.counts.size == 4
    assert run.lower > 0.0
    assert (apart.decision.value, apart.upper) == ("fail", pytest.approx(1.0, abs=1e-6))


def test_few_values_stay_labels_in_batches_too_small_to_show_that_they_are() -> None:
    """Of four values and 16 records it cannot be said; most batches were refused."""
    rng, run = np.random.default_rng(4), sequential_run(planned=1000)
    for size in (60, 8, 8, 9):
        batch = Scores.of(*rng.choice([0.1, 0.2, 0.4, 0.8], (2, size)))
        run = run.after(batch)

    assert batch.query is Query.CONTINUOUS
    assert run.counts.n_records == 170


LINE, WORDS = Scores.of(np.arange(40.0), np.arange(40.0)), Scores.of(["a"] * 9, ["b"] * 9)


def read(run: SequentialRun, **other: object) -> SequentialRun:
    return SequentialRun.from_dict({**run.to_dict(), **other})


test_what_cannot_be_used_is_named = refusals("act, error, words", [
    (lambda run: run.after(Scores.of(np.ones((9, 2)), np.zeros((9, 2)))), InputError, "vectors"),
    (lambda run: run.after(Scores.of(np.arange(8.0), np.arange(8.0))), InputError, "first batch needs 10"),
    (lambda run: run.after([1, 2]), InputError, "Scores"),
    (lambda run: run.after(LINE).after(WORDS), IncompatibleCells, "numbers, not labels"),
    (lambda run: run.after(WORDS).after(LINE), IncompatibleCells, "had text as labels, this one has numbers"),
    (lambda run: sequential_run(max_advantage=2.0), OutOfRange, "from -1 to 1"),
    (lambda run: sequential_run(planned=1), OutOfRange, "planned"),
    (lambda run: SequentialRun.from_dict({}), InputError, "no state"),
    (lambda run: read(run, version=9), InputError, "version 9"),
    (lambda run: read(run, blocks=[[3, 2, 1, 1]]), InputError, "state.blocks: there are more right guesses"),
    (lambda run: read(run, looks=3), InputError, "damaged"),
    (lambda run: read(run, prior=3), InputError, "damaged"),
], ask=lambda act: act(sequential_run()))  # fmt: skip


def test_what_it_says() -> None:
    run = sequential_run(max_advantage=0.3)

    assert run.sentence == "No batch has come yet."
    run = run.after(Counts.of([40, 10], [10, 40], edges=[0.0]))
    assert run.sentence.startswith("Undecided, not enough data after 1 look at 100 records: with 95% confidence at all")
    run = run.after(Counts.of([400, 100], [100, 400], edges=[0.0]))
    assert run.sentence.startswith("Fail after 2 looks at 1100 records")
    assert "at every look at once" in run.interval.guarantee.covers
    assert run.interval.guarantee.finite_sample


def test_a_run_that_was_once_contradicted_stays_so() -> None:
    """A leak, then none at all, then the leak again: batches that are no draws of one law, whatever comes later."""
    run, contradicted = sequential_run(planned=1000), []
    for n, right in ((100, 0.9), (300, 0.5), (2000, 0.9), (10, 0.5), (10, 0.5)):
        hits = int(n * right)
        run = run.after(Counts.of([n - hits, hits], [hits, n - hits], edges=[0.0]))
        contradicted.append(run.contradicted)

    lower = [look.lower for look in run.looks]
    assert contradicted == [False, True, True, True, True]
    assert lower[0] == lower[1] < lower[2] == lower[3] == lower[4]  # an end that stood once stands


def test_values_that_are_new_have_no_part_in_the_rules_that_guess_them() -> None:
    """Guesses of every family about known values are the same, however many new ones lie between them."""
    rng = np.random.default_rng(5)
    values = np.arange(60.0)
    history = rng.integers(0, 900, (2, 60))
    members, nonmembers = rng.integers(0, 5, 60), rng.integers(0, 5, 60)
    run = sequential_run(prior=0.4)

    alone = run._guesses(history, members, nonmembers, Values(values))

    new = np.unique(rng.uniform(20.0, 30.0, 25))  # nobody of this block has one of them
    every = np.union1d(values, new)
    wide = np.zeros((4, len(every)), np.int64)
    wide[:, np.searchsorted(every, values)] = [*history, members, nonmembers]
    assert run._guesses(wide[:2], wide[2], wide[3], Values(every)) == alone
    assert len(alone) > 3


def test_a_new_value_is_guessed_as_the_next_below() -> None:
    values, history = np.array([1.0, 2.0, 2.5, 3.0]), np.array([[0, 0, 0, 20], [20, 0, 0, 0]])
    right = sequential_run()._guesses(history, np.array([0, 3, 4, 0]), np.array([0, 5, 6, 0]), Values(values))

    assert set(right.values()) == {(0, 11)}


@pytest.mark.slow
def test_no_pass_of_a_run_that_neighbours_refute() -> None:
    """Twenty narrow leaks, an advantage of .40: the run passed a limit of .15 that neighbours refute by .14."""
    world, rng = comb(20, 0.1, 5.0), np.random.default_rng(0)
    run, every = sequential_run(max_advantage=0.15), []
    for n in (200, 300, 500, 1000, 1000):
        every.append(world.draw(rng, n, n))
        run = run.after(Scores.of(*every[-1]))
        assert run.decision.value != "pass"
    theirs = half_split_lower(*map(np.concatenate, zip(*every, strict=True)), rng)

    assert 0.25 < theirs < run.upper
    assert run.decision.value == "fail"
    assert run.lower > 0.2
    assert run.changes > 16
    assert [each.code for each in run.cautions] == ["many_changes"]
    assert f"change their guess at most {run.changes} times along the score" in run.reason + run.attacker


@pytest.mark.slow
def test_the_upper_end_is_that_of_a_larger_class_once_more_changes_are_evident() -> None:
    """It rises at that look, as no look before covered so many; a state that comes back says the same."""
    world, rng = comb(20, 0.1, 5.0), np.random.default_rng(1)
    run, covered = sequential_run(), []
    for n in (200, 300, 500):
        run = run.after(Scores.of(*world.draw(rng, n, n)))
        covered.append(run.changes)
    uppers = [look.upper for look in run.looks]

    assert covered[0] == 2 < covered[2]
    assert uppers[2] > uppers[1]
    again = SequentialRun.from_dict(json.loads(json.dumps(run.to_dict())))
    assert (again.lower, again.upper, again.changes) == (run.lower, run.upper, run.changes)


@pytest.mark.slow
def test_rules_at_many_scales_bet_no_better_than_chance_without_a_leak() -> None:
    """Ever, over six looks, at 80% confidence: at most what chance makes of 10%."""
    runs, wrong = 8, 0
    for seed in range(runs):
        rng, run = np.random.default_rng([7, seed]), sequential_run(confidence=0.8, planned=1000, seed=seed)
        for _ in range(6):
            run = run.after(Scores.of(rng.random(80), rng.random(80)))
        wrong += run.lower > 0.0

    assert wrong <= most_misses(runs, 0.1)


def test_a_crowd_within_one_cell_of_a_small_first_batch_is_said() -> None:
    rng = np.random.default_rng(0)
    first = [np.append(rng.normal(size=9), 9.0) for _ in range(2)]
    run = sequential_run(max_advantage=0.3).after(Scores.of(*first))
    far = [np.append(rng.normal(size=500), 1e9 * rng.uniform(low, low + 1.0, 100)) for low in (2.0, 1.0)]

    assert [each.code for each in run.cautions] == []
    assert [each.code for each in run.after(Scores.of(*far)).cautions] == ["crowded_cell"]


@each_case("share", [0.3, 0.0])
def test_a_score_that_many_records_have_hides_nothing(share) -> None:
    rng, run = np.random.default_rng(1), sequential_run(max_advantage=0.35)
    for size in (60, 1000, 1000, 1000):
        run = run.after(Scores.of(*(np.where(rng.random(size) < share, 0.5, rng.random(size)) for _ in "ab")))

    assert (run.decision.value, [each.code for each in run.cautions]) == ("pass", [])


def test_what_comes_next_to_a_score_that_many_had_is_not_taken_for_it() -> None:
    rng, run = np.random.default_rng(2), sequential_run(max_advantage=0.2)
    for each in range(6):
        a, b = rng.random((2, 200))
        a[:100], b[:100] = 0.5, 0.5 + 1e-9 * rng.random(100) * (each > 0)
        run = run.after(Scores.of(a, b))
        assert run.decision.value != "pass"

    assert run.decision.value == "fail"
