"""Batches that were there before: seen in any order, with a record less, and not where chance explains it."""

import re
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.stats import multinomial

from estimators import Counts, Scores
from estimators.errors import InputError
from estimators.runs.sequential import SequentialRun, repeats, sequential_run

Draw = Callable[[np.random.Generator, int], Any]

LEAVES = np.linspace(0.013, 0.987, 12)

LAWS: dict[str, Draw] = {
    "normal": lambda rng, n: rng.normal(0.0, 1.0, n),
    "two digits": lambda rng, n: rng.normal(0.0, 1.0, n).round(2),
    "three digits": lambda rng, n: rng.normal(0.0, 1.0, n).round(3),
    "a tree of 12 leaves": lambda rng, n: rng.choice(LEAVES, n),
    "half of them 0": lambda rng, n: rng.normal(0.0, 1.0, n) * rng.integers(0, 2, n),
    "float16": lambda rng, n: rng.normal(0.0, 1.0, n).astype(np.float16).astype(float),
    "labels": lambda rng, n: rng.choice(list("abcdefgh"), n),
}


def batch(law: str, rng: np.random.Generator, n: int) -> Scores:
    return Scores.of(LAWS[law](rng, n), LAWS[law](rng, n))


def run_of(n_batches: int, n: int, law: str = "normal") -> tuple[SequentialRun, list[Scores]]:
    rng = np.random.default_rng([n_batches, n])
    run, batches = sequential_run(0.1), []
    for _ in range(n_batches):
        batches.append(batch(law, rng, n))
        run = run.after(batches[-1])
    return run, batches


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_no_batch_of_records_that_never_came_is_taken_for_a_repeat(law) -> None:
    rng, kept, chances = np.random.default_rng(7), ((), repeats.Sketch()), []
    for n in [10, 8, 30, 100, 8, 300] * 10:
        marks, sketch, repeat = repeats.with_batch(*kept, repeats.sides_of(batch(law, rng, n)), "key")
        kept = marks, sketch
        chances += [] if repeat is None else [repeat.chance]

    assert min(chances, default=1.0) > repeats.REFUSE_BELOW


CHANGES: dict[str, Callable[[Any, np.random.Generator], Any]] = {
    "in another order": lambda side, rng: rng.permutation(side),
    "without one record": lambda side, _: side[1:],
    "1e-12 higher": lambda side, _: side + 1e-12,
    "two thirds of it": lambda side, rng: np.where(
        np.arange(len(side)) < 2 * len(side) // 3, side, rng.normal(0.0, 1.0, len(side))
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(("n_batches", "n"), [(1, 60), (3, 200), (8, 40)])
def test_a_batch_that_comes_again_is_refused_with_the_number_of_its_records(change, n_batches, n) -> None:
    run, batches = run_of(n_batches, n)
    rng = np.random.default_rng(1)

    for earlier in batches:
        again = Scores.of(*(CHANGES[change](side, rng) for side in (earlier.members, earlier.nonmembers)))
        with pytest.raises(InputError, match=r"\d+ of its .*records.* share their value with") as caught:
            run.after(again)
        (number,) = re.findall(r"(\d+) of its", str(caught.value))
        assert 0.5 * 2 * n < int(number) <= 2 * n
        assert caught.value.field == "members"


def test_a_batch_that_comes_again_with_its_sides_in_each_other_s_place_is_refused() -> None:
    sides = np.random.default_rng(4).normal([[0.5], [0.0]], 1.0, (2, 200))
    run = sequential_run(0.3).after(Scores.of(*sides))

    with pytest.raises(InputError, match=r"all 400 of its records share .* on the other side; a run takes"):
        run.after(Scores.of(*sides[::-1]))


@pytest.mark.slow
@pytest.mark.parametrize("mean", [1.0, 4.0, 30.0])
def test_sides_of_few_values_and_two_laws_are_not_taken_for_each_other(mean) -> None:
    rng, kept, chances = np.random.default_rng(9), ((), repeats.Sketch()), []
    for n, m in [(300, 10), (10, 300), (8, 8), (30, 1000), (1000, 30), (40, 40)] * 10:
        sides = repeats.sides_of(Scores.of(rng.poisson(mean, n), rng.poisson(1.5 * mean, m)))
        marks, sketch, repeat = repeats.with_batch(*kept, sides, "key")
        kept = marks, sketch
        chances += [] if repeat is None else [repeat.chance]

    assert min(chances, default=1.0) > repeats.REFUSE_BELOW


def with_others(parts: list[tuple[Scores, int]], n: int) -> Scores:
    """So many records of each earlier batch, and new ones."""
    new = np.random.default_rng(2).normal(0.0, 1.0, (2, n))
    return Scores.of(
        np.concatenate([*(batch.members[:k] for batch, k in parts), new[0]]),
        np.concatenate([*(batch.nonmembers[:k] for batch, k in parts), new[1]]),
    )


@pytest.mark.slow
def test_the_number_of_shared_records_is_exact_while_all_hashes_fit_and_else_said_to_be_estimated() -> None:
    run, (first, second) = run_of(2, 60)
    many, batches = run_of(4, 400)

    with pytest.raises(InputError, match="80 of its 120 records share"):
        run.after(with_others([(first, 25), (second, 15)], 20))
    with pytest.raises(InputError, match=r"about 798 of its 798 records \(estimated from a sample of"):
        many.after(with_others([(batches[1], 399)], 0))


def test_less_than_half_is_no_repeat() -> None:
    run, (first,) = run_of(1, 100)
    later = run.after(with_others([(first, 40)], 60))

    assert (len(later.looks), later.cautions) == (2, ())


@pytest.mark.parametrize(
    "again",
    [Scores.of(["a"] * 12 + ["b"] * 8, ["b"] * 12 + ["a"] * 8), Counts.of([12, 8], [8, 12], edges=[0.5])],
    ids=["labels", "counts"],
)
def test_where_chance_explains_it_the_batch_is_taken_with_a_caution(again) -> None:
    run = sequential_run(0.1).after(again)

    (caution,) = run.after(again).cautions
    assert caution.code == "repeated_batch"
    assert "all 40 of its records" in caution.message
    assert "with a probability of up to 0.033" in caution.message  # (20! 12^12 8^8 / 12! 8! 20^20)^2
    assert run.cautions == ()


def test_so_many_equal_counts_come_only_from_the_same_records() -> None:
    rng = np.random.default_rng(4)
    counts = Counts.of(*rng.multinomial(10_000, np.full(40, 1 / 40), 2), edges=np.arange(39.0))
    run = sequential_run(0.1).after(counts)

    with pytest.raises(InputError, match="one of those before, score by score: all 20000 of its records"):
        run.after(counts)


def test_the_mark_hangs_on_sides_and_numbers_of_records_and_on_no_order() -> None:
    one = Scores.of([1.5, 2.0, 2.0, 3, 4, 5, 6, 7], [8.0, 9, 10, 11, 12, 13, 14, 15])
    other_order = Scores.of([7, 2.0, 3, 1.5, 4, 6, 5, 2.0], [15.0, 9, 10, 11, 12, 13, 14, 8])
    swapped = Scores.of(one.nonmembers, one.members)
    other_times = Scores.of([1.5, 1.5, 2.0, 3, 4, 5, 6, 7], one.nonmembers)
    marks = [repeats.mark_of(repeats.sides_of(each)) for each in (one, other_order, swapped, other_times)]

    assert marks[0] == marks[1]
    assert len(set(marks)) == 3


@pytest.mark.parametrize("counts", [[3, 5], [1] * 8, [10, 1, 1], [20]])
def test_no_law_makes_a_batch_likelier_than_its_own_shares_do(counts) -> None:
    law = multinomial(sum(counts), np.array(counts) / sum(counts))
    chance = repeats.chance_of_mark(repeats.sides_of(Counts.of(counts, counts)))

    assert chance == pytest.approx(law.pmf(counts) ** 2)
    for other in np.random.default_rng(5).dirichlet(np.ones(len(counts)), 50):
        assert multinomial.pmf(counts, sum(counts), other) ** 2 <= chance * (1.0 + 1e-9)


@pytest.mark.parametrize("seen", [2, 4])
@pytest.mark.parametrize("totals", [[2, 2, 2, 2], [3, 3, 1, 1], [2, 1, 1, 1, 1, 2], [4, 2, 2, 1]])
def test_the_chance_of_sharing_is_never_less_than_that_of_all_ways_to_part_the_records(totals, seen) -> None:
    values = np.repeat(np.arange(len(totals)), totals)
    size = len(values) // 2
    parts = values[list(combinations(range(len(values)), size))]
    now = (parts[:, :, None] == np.arange(seen)).sum(axis=1)
    shared = ((now > 0) & (now < totals[:seen])).sum(axis=1)

    known = np.array(totals[:seen]), np.ones(seen, bool), (len(values) - size, 0), [size, 0]
    for least in set(shared.tolist()) - {0}:
        assert (shared >= least).mean() <= repeats._chance_of_sharing(least, *known) <= 1.0


@pytest.mark.parametrize("side", [1, 0])
def test_a_sketch_of_more_records_than_it_has_is_damaged(side) -> None:
    rng = np.random.default_rng(0)
    state = sequential_run().after(Scores.of(rng.normal(size=20), rng.normal(size=20))).to_dict()
    hashes = re.findall("........", state["sketch"]["hashes"])
    state["sketch"]["counts"] = [21 if int(each, 16) & 1 == side else 1 for each in hashes]

    with pytest.raises(InputError, match="its hashes are of more records than it has"):
        SequentialRun.from_dict(state)


def test_the_sketch_of_two_runs_is_that_of_all_their_records() -> None:
    rng = np.random.default_rng(6)
    both, together = [repeats.Sketch(), repeats.Sketch()], repeats.Sketch()
    for place in range(12):
        sides = repeats.sides_of(batch("two digits" if place % 3 else "normal", rng, 150))
        both[place % 2], _ = both[place % 2].after(sides, "key")
        together, _ = together.after(sides, "key")
    merged, _ = both[0].merge(both[1])

    assert merged.to_dict() == together.to_dict()
    assert len(merged.hashes) == repeats.MOST_HASHES


def test_runs_of_two_names_have_no_hash_in_common() -> None:
    records = batch("normal", np.random.default_rng(8), 100)
    hashes = [set(sequential_run(run_id=name).after(records).sketch.hashes.tolist()) for name in ("a", "b")]

    assert [len(each) for each in hashes] == [200, 200]
    assert not hashes[0] & hashes[1]


@pytest.mark.slow
def test_merged_runs_refuse_the_batches_of_both() -> None:
    rng = np.random.default_rng(9)
    counted = [Counts.of(*rng.multinomial(500, np.full(10, 0.1), 2), edges=np.arange(9.0)) for _ in range(2)]
    scored = [batch("normal", rng, 100) for _ in range(2)]
    runs = [sequential_run(0.1).after(one).after(two) for one, two in zip(counted, scored, strict=True)]

    merged = runs[0].merge(runs[1])

    for again in (*counted, *scored):
        with pytest.raises(InputError, match="one of those before"):
            merged.after(again)
    with pytest.raises(InputError, match="a batch in common"):
        merged.merge(runs[0])
    fewer = Scores.of(scored[0].members[1:], scored[0].nonmembers)
    with pytest.raises(InputError, match="or most records"):
        runs[0].merge(sequential_run(0.1).after(counted[1]).after(fewer))
