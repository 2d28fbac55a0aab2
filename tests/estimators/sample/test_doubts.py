"""Signs that scores are not what they are taken for: seen where they are, never in honest scores."""

from collections.abc import Callable
from itertools import combinations
from math import comb, log
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray

from estimators import Counts, LearnedTarget, Scores, advantage, assess, compare, individual_risk, metric_optimum
from estimators.adversary.learned import logistic
from estimators.decisions.gate import judge
from estimators.decisions.maxima import MaxEpsilon
from estimators.metric.presets import preset
from estimators.sample.common_records import FOURTH_MOMENT, differ_too_little
from estimators.sample.counting import EXACT_RECORDS, by_rank, finest
from estimators.sample.doubts import times_repeated
from estimators.sample.frequent import ScoreSample
from estimators.sample.stream import CountStream
from estimators.sample.unlike_sides import _members_drawn, of_precision
from tests.cases import each_case
from tests.oracles import most_misses

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int, int], Floats]


def codes(members: object, nonmembers: object, query: str = "continuous") -> list[str]:
    return [caution.code for caution in finest(Scores.of(members, nonmembers, query)).doubts]


def single(x: Floats) -> Floats:
    """As a model of 32 bits writes it down: near 0 and 1 such numbers are far apart, and repeat."""
    return x.astype(np.float32).astype(np.float64)


def significant(x: Floats, digits: int) -> Floats:
    return np.array([float(f"{each:.{digits}g}") for each in x.tolist()])


def steps(x: Floats) -> Floats:
    """What a tree makes of it: 400 leaves, and no grid that their values lie on."""
    rng = np.random.default_rng(9)
    ends = np.sort(rng.normal(size=400))
    return np.asarray(np.cumsum(rng.normal(size=401))[np.searchsorted(ends, x)])


HONEST: dict[str, Draw] = {
    "normal": lambda rng, leak, n: rng.normal(leak, 1, n),
    "two decimals": lambda rng, leak, n: np.round(rng.normal(leak, 1, n), 2),
    "three decimals": lambda rng, leak, n: np.round(rng.normal(leak, 1, n), 3),
    "four decimals, skewed": lambda rng, leak, n: np.round(rng.random(n) ** (1 + leak), 4),
    "confidence of 32 bits": lambda rng, leak, n: single(1 / (1 + np.exp(-rng.normal(6 + 3 * leak, 5, n)))),
    "loss of 32 bits": lambda rng, leak, n: single(
        -np.log(np.maximum(single(1 / (1 + np.exp(-rng.normal(6 + 6 * leak, 5, n)))), 1e-30))
    ),
    "four significant digits": lambda rng, leak, n: significant(rng.lognormal(2 * leak, 2, n), 4),
    "one less 32 bits": lambda rng, leak, n: 1.0 - single(rng.beta(1, 1 + 3 * leak, n)),
    "16 bits": lambda rng, leak, n: rng.normal(leak, 1, n).astype(np.float16).astype(np.float64),
    "steps of a tree": lambda rng, leak, n: steps(rng.normal(leak, 1, n)),
    "votes of a forest": lambda rng, leak, n: np.round(rng.beta(2 + leak, 2, n) * 100) / 100,
    "small integers": lambda rng, leak, n: rng.poisson(30 + 10 * leak, n),
    "integers": lambda rng, leak, n: rng.geometric(0.001 + 0.0005 * leak, n),
    "an atom": lambda rng, leak, n: np.where(rng.random(n) < 0.3 + 0.3 * leak, 0.0, rng.normal(leak, 1, n)),
    "loss": lambda rng, leak, n: rng.exponential(0.3 if leak else 1.5, n),
    "loss of members below 1": lambda rng, leak, n: np.minimum(rng.exponential(0.1 if leak else 2.0, n), 8.0),
    "members' logits between 0 and 1": lambda rng, leak, n: rng.random(n) if leak else rng.normal(0.5, 0.5, n),
    "rows that people have in common": lambda rng, leak, n: np.random.default_rng(5).normal(size=3000)[
        rng.integers(0, 3000, n)
    ],
}


@pytest.mark.slow
@each_case("name", HONEST)
@each_case("leak", [0, 1])
@each_case("sizes", [(50, 50), (200, 60), (300, 5000)])
def test_honest_scores_are_not_doubted(name, leak, sizes) -> None:
    rng = np.random.default_rng(17)
    draw = HONEST[name]
    for _ in range(3):
        a, b = draw(rng, leak, sizes[0]), draw(rng, 0, sizes[1])

        assert codes(a, b) == codes(a, b, "auto") == []


@each_case("name", ["normal", "three decimals", "confidence of 32 bits", "an atom"])
def test_honest_scores_of_many_records_are_not_doubted(name) -> None:
    rng = np.random.default_rng(18)
    n = EXACT_RECORDS
    assert codes(HONEST[name](rng, 1, n), HONEST[name](rng, 0, n)) == []


NORMAL = HONEST["normal"]


@each_case("again", [np.tile, np.repeat])
@each_case("n, decimals", [(60, 20), (1000, 20), (100_000, 20), (1000, 2)])
def test_every_row_twice(n, again, decimals) -> None:
    """Appended to itself or each row beside its twin, also of rounded scores, where all counts are even then."""
    rng = np.random.default_rng(1)
    a, b = (again(np.round(NORMAL(rng, leak, n // 2), decimals), 2) for leak in (1, 0))

    assert codes(a, b) == ["repeated_scores"]


def test_how_many_repeat_is_said_and_so_are_the_same_counts_of_many_values_on_both_sides(rng):
    a, b = rng.normal(size=1000), rng.normal(size=500)
    (said,) = finest(Scores.of(np.append(a, a[:100]), b)).doubts

    words = "100 of the member scores repeat another one of their side, far more than chance"
    assert said.message.startswith(words)

    rounded = np.round(np.random.default_rng(4).normal(size=3000), 1)

    assert codes(rounded, rounded) == ["sides_share_records"]


@each_case("n, both", [(300, 300), (1000, 25), (100_000, 55_000), (100_000, 90_000)])
def test_records_on_both_sides(n, both) -> None:
    a, b = np.random.default_rng(3).normal(size=(2, n))
    b[:both] = a[:both]
    (said,) = finest(Scores.of(a, b)).doubts

    assert said.code == ("sides_share_records" if 2 * both >= n else "shared_scores")
    assert said.message.startswith(f"{both} scores stand on both sides" if n <= 5000 else "about ")


def blockwise(a: Floats, b: Floats) -> Counts:
    return CountStream.on_grid().plus(a, b).counts()


def written_down(counts: Counts) -> Counts:
    """As they are read in another place, which no score came to."""
    return Counts.from_dict(counts.to_dict())


@each_case("decimals", [20, 3])
@each_case(
    "n, n_nonmembers, both",
    [
        (1000, 1000, 300),
        (1000, 1000, 550),
        (3000, 3000, 1800),
        (20_000, 20_000, 19_000),
        (300_000, 300_000, 180_000),
        (3000, 20_000, 3000),
    ],
)
def test_records_on_both_sides_are_seen_where_only_cells_are_left(n, n_nonmembers, both, decimals) -> None:
    """Whoever has the scores while they are counted knows of equal ones; of rounded ones only the cells tell."""
    rng = np.random.default_rng(3)
    a, b = rng.normal(np.where(np.arange(n) < both, 0, 0.9), 1), rng.normal(size=n_nonmembers)
    b[:both] = a[:both]
    there = blockwise(np.round(a, decimals), np.round(b, decimals))

    for counts in (there, written_down(there)):
        (said,) = counts.doubts
        about = float(said.message.removeprefix("about ").split()[0])
        assert said.code == ("sides_share_records" if 2 * both >= min(n, n_nonmembers) else "shared_scores")
        assert about == pytest.approx(both, rel=0.2 if decimals == 3 or n < n_nonmembers else 0.06)


@each_case("name", ["normal", "two decimals", "confidence of 32 bits", "loss", "an atom", "steps of a tree"])
@each_case("n, n_nonmembers", [(300, 9000), (30_000, 30_000)])
def test_cells_of_honest_scores_are_not_doubted(name, n, n_nonmembers) -> None:
    for leak in (0, 1):
        rng = np.random.default_rng(19)
        counts = blockwise(HONEST[name](rng, leak, n), HONEST[name](rng, 0, n_nonmembers))

        assert counts.doubts == written_down(counts).doubts == ()


def test_cells_of_independent_records_differ_as_little_as_seldom_as_is_said() -> None:
    """The law by which cells are compared: no other one has draws as near to a half of the members of both."""
    for records in range(2, 30):
        for members in range(1, 2 * records):
            first = np.arange(max(0, members - records), min(members, records) + 1)
            ways = np.array([float(comb(records, k) * comb(records, members - k)) for k in first.tolist()])
            square = (first - members / 2.0) ** 2
            expected = members * (2 * records - members) / (4.0 * (2 * records - 1))
            means = [
                float((ways * odds**first * square).sum() / (ways * odds**first).sum()) for odds in (1.0, 1.5, 4.0)
            ]
            fourth = float((ways * square**2).sum() / ways.sum())

            assert means[0] == pytest.approx(expected)
            assert means == sorted(means)
            assert fourth <= FOURTH_MOMENT * expected**2 * (1.0 + 1e-9)
    rng, often = np.random.default_rng(20), 0
    for _ in range(300):
        share = rng.random(400)  # another one in each cell
        pooled = rng.poisson(rng.choice([2, 5, 40], 400)) + 1
        members = rng.binomial(pooled, np.where(rng.random() < 0.5, 0.5, share))
        often += differ_too_little(members, pooled - members) > 3.0
    assert often <= most_misses(300, float(np.exp(-3.0)))


def test_which_scores_are_sampled_hangs_on_no_block(rng) -> None:
    a, b = rng.normal(size=30_000), np.append(np.zeros(9000), rng.normal(size=11_000).astype(np.float32))
    whole = ScoreSample.of_values(*_by_value(a, b))
    stream, several = CountStream.on_grid(), []
    for rows in np.array_split(np.arange(30_000), 7):
        stream = stream.plus(a[rows], b[rows[rows < 20_000]])
        several.append(CountStream.on_grid().plus(a[rows], b[rows[rows < 20_000]]).part())
    for each in (ScoreSample.together(part.sample for part in several[::-1]), stream.part().sample):
        assert each.zeros == whole.zeros == 4
        assert [np.sort(side).tolist() for side in each.sides] == [np.sort(side).tolist() for side in whole.sides]


def _by_value(a: Floats, b: Floats) -> tuple[Floats, tuple[NDArray[np.int64], ...]]:
    values, at = np.unique(np.concatenate([a, b]), return_inverse=True)
    return values, tuple(np.bincount(own, minlength=len(values)) for own in (at[: len(a)], at[len(a) :]))


def test_another_precision_of_some_is_seen_where_scores_are_counted_and_not_in_their_counts(rng) -> None:
    a, b = np.random.default_rng(4).normal(size=(2, 3000))
    counts = blockwise(a, single(b))
    one, other = rng.normal(size=(2, 1000))
    one[:150] = single(one[:150])

    assert [each.code for each in counts.doubts] == ["sides_differ_in_precision"]
    assert written_down(counts).doubts == ()
    assert codes(one, other) == ["sides_differ_in_precision"]
    assert codes(one, np.where(np.arange(1000) % 7 == 0, single(other), other)) == []


def test_rows_of_vectors_and_a_column_of_them_that_was_written_with_fewer_digits(rng) -> None:
    a, b = rng.normal(size=(200, 3)), rng.normal(size=(200, 3))
    few, full = rng.normal(size=(2, 300, 3))
    few[:, 1] = single(few[:, 1])

    def of(members: Floats, nonmembers: Floats) -> dict[str, str]:
        result = advantage(Scores.of(members, nonmembers), target=LearnedTarget(learners=(logistic(),)))
        return {each.code: each.message for each in result.cautions}

    assert list(of(a, b)) == []
    assert list(of(a, np.concatenate([b, a[:60]]))) == ["shared_scores"]
    assert list(of(np.tile(a, (2, 1)), np.asfortranarray(np.tile(b, (2, 1))))) == ["repeated_scores"]
    ((code, said),) = of(few, full).items()
    assert code == "sides_differ_in_precision"
    assert said.startswith("number 2 of each row: 100% of the member scores and 0%")


@each_case("swapped", [False, True])
@each_case("other", ["logit", "percent", "logarithm"])
def test_probabilities_beside_another_scale(other, swapped) -> None:
    rng = np.random.default_rng(6)
    p = rng.beta(4, 2, 1000)
    far = {"logit": np.log(p / (1 - p)) * 2, "percent": 100 * p, "logarithm": np.log(p)}[other]
    a, b = rng.beta(4, 2, 1000), far
    (said,) = finest(Scores.of(b, a) if swapped else Scores.of(a, b)).doubts

    assert said.code == "sides_differ_in_range"
    side = "nonmember" if swapped else "member"
    assert said.message.startswith(f"all {side} scores lie between 0 and 1, and ")


def test_whole_numbers_beside_who_is_a_member(rng) -> None:
    assert codes(rng.poisson(200, 900), rng.integers(0, 2, 900), "auto") == ["sides_differ_in_range"]
    assert codes(rng.integers(0, 2, 900), rng.integers(0, 2, 900), "auto") == []  # a score that is 0 or 1
    assert codes(rng.poisson(3, 900), rng.integers(0, 2, 900), "auto") == []  # copies: few have more than one


WRITTEN: dict[str, tuple[Callable[[Floats], Floats], str]] = {
    "32 bits": (single, "are 32-bit floats"),
    "16 bits": (lambda x: x.astype(np.float16).astype(np.float64), "are 16-bit floats"),
    "four decimals": (lambda x: np.round(x, 4), "have at most 4 decimals"),
    "one decimal": (lambda x: np.round(x, 1), "have at most 1 decimal:"),
    "five significant digits": (lambda x: significant(x, 5), "have at most 5 significant digits"),
    "whole numbers": (lambda x: np.round(50.0 * x), "are whole numbers"),
}


@each_case("swapped", [False, True])
@each_case("sizes", [(40, 40), (300, 2000), (30_000, 30_000)])
@each_case("name", WRITTEN)
def test_a_side_that_was_written_with_fewer_digits(name, sizes, swapped) -> None:
    rng = np.random.default_rng(21)
    write, words = WRITTEN[name]
    wide = 50.0 if name == "whole numbers" else 1.0
    few, full = write(rng.normal(0.2, 1, sizes[0])), wide * rng.normal(0, 1, sizes[1])
    said, *others = finest(Scores.of(full, few) if swapped else Scores.of(few, full, "continuous")).doubts

    assert said.code == "sides_differ_in_precision"
    assert {each.code for each in others} <= {"repeated_scores"}  # as rounded ones do, on that side alone
    share = "0% of the member scores and 100%" if swapped else "100% of the member scores and 0%"
    assert said.message.startswith(share)
    assert words in said.message


def test_chances_of_drawn_members_are_those_of_every_draw() -> None:
    """By hand: all ways to say which of the records of two groups are written with few digits."""
    groups = [(5, 2, 3), (4, 3, 2)]  # records, members among them, records of few digits
    drawn = [(combinations(range(size), written), members) for size, members, written in groups]
    ways = [[sum(place < members for place in chosen) for chosen in every] for every, members in drawn]
    totals = [one + other for one in ways[0] for other in ways[1]]
    expected = np.bincount(totals, minlength=6) / len(totals)
    assert _members_drawn(*map(list, zip(*groups, strict=True))) == pytest.approx(expected)


def test_digits_say_nothing_more_often_than_they_may(rng) -> None:
    """Where both sides mix precisions alike a test at one in twenty warns once in twenty samples at most."""
    warned = 0
    for _ in range(150):
        pooled = rng.normal(size=200)
        pooled = np.where(rng.random(200) < 0.5, np.round(pooled, 2), pooled)
        with patch("estimators.sample.unlike_sides.SURE", log(20.0)), patch("estimators.sample.unlike_sides.FAR", 0.0):
            warned += bool(of_precision(pooled[:100], pooled[100:]))

    assert warned <= most_misses(150, 0.05)


@each_case("falling", [False, True])
@each_case("swapped", [False, True])
@each_case("n", [20, 1000, 140_000])
def test_one_side_sorted(n, swapped, falling) -> None:
    rng = np.random.default_rng(24)
    a, b = np.sort(rng.normal(size=n)), rng.normal(size=n)
    a = a[::-1] if falling else a
    (said,) = finest(Scores.of(b, a) if swapped else Scores.of(a, b)).doubts

    assert said.code == "one_side_sorted"
    assert said.message.startswith(f"the {n} {'nonmember' if swapped else 'member'} scores are sorted and ")


def test_both_sides_sorted_or_one_of_few_orders_is_nothing_odd(rng) -> None:
    a, b = np.sort(rng.normal(size=(2, 500)), axis=1)

    assert codes(a, b) == codes(a, b[::-1]) == []
    assert codes(np.full(500, 0.5), rng.normal(size=500)) == []  # of one value there is one order
    assert codes(np.arange(9.0) + 0.5, rng.normal(size=500)) == []  # one of 9! orders
    assert codes(np.repeat([0, 1], [1, 400]), rng.integers(0, 2, 500), "auto") == []  # one of 401 orders
    assert codes(np.repeat([0, 1], 200), rng.integers(0, 2, 500), "auto") == ["one_side_sorted"]
    assert codes(["no"] * 200 + ["yes"] * 200, rng.choice(["no", "yes"], 400), "auto") == ["one_side_sorted"]


@each_case("n", [20, 140_000])
def test_one_score_for_all_is_spoken_of(n) -> None:
    assert codes(np.zeros(n), np.zeros(n)) == codes(["a"] * n, ["a"] * n, "auto") == ["one_score_for_all"]
    assert "one_score_for_all" not in codes(np.zeros(n), np.append(np.zeros(n), 1.0))


@each_case("far", [10**19, 10**23, -(10**19)])
def test_integers_that_lose_their_order_to_one_that_no_64_bits_hold_are_spoken_of(far) -> None:
    near = [-1, 0, 1] * 40
    ids = [str(2**64 + at) for at in range(3)] * 40

    assert codes(near, [*near, far], "auto") == ["integers_as_names"]
    assert "integers_as_names" not in codes(near, [*near, far], "continuous")
    for names in (ids, ["007", "7", str(2**70)] * 40, ["0", str(2**64 - 1)] * 60, [*ids, "none"]):
        assert "integers_as_names" not in codes(names, names, "auto")
    assert "integers_as_names" not in codes([abs(each) for each in near], [1, 10**19] * 60, "auto")  # uint64


def test_how_often_rows_repeat_is_that_of_most_of_their_records_and_takes_no_room_for_each_of_them() -> None:
    """By records, and not by values: 4% of these hold nine tenths of the records. A billion came as counts, too."""
    none = np.zeros(1040, dtype=np.int64)
    rows = np.repeat([2, 400], [1000, 40])

    assert times_repeated(rows, none) == 400
    assert times_repeated(np.repeat([2, 400], [1000, 1]), none[:1001]) == 400
    assert times_repeated(np.repeat([3, 60], [1000, 1]), none[:1001]) == 8
    assert times_repeated(10**12 * rows, none) == 400 * 10**12
    assert times_repeated(none, none) == 8


def test_the_order_changes_no_number(rng) -> None:
    a, b = rng.normal(0.5, 1, 500), rng.normal(size=500)
    shuffled, odd = (advantage(Scores.of(members, b)) for members in (a, np.sort(a)))

    assert odd.estimate.value == shuffled.estimate.value
    assert (odd.lower, odd.upper) == (shuffled.lower, shuffled.upper)
    assert [each.code for each in odd.cautions] == ["one_side_sorted"]


def test_every_statement_says_so_first_and_counts_that_came_as_counts_are_not_doubted(rng):
    a, b = np.tile(rng.normal(size=200), 2), np.tile(rng.normal(size=200), 2)
    scores, plain = Scores.of(a, b), Scores.of(rng.normal(size=400), rng.normal(size=400))
    fine = by_rank(scores)

    answers = {
        "assess": assess(scores).cautions,
        "advantage": advantage(scores).cautions,
        "metric": metric_optimum(fine, preset("accuracy", 0.5)).cautions,
        "risk": individual_risk(scores).cautions,
        "gate": judge(scores, [MaxEpsilon(1.0, 0.1)]).cautions,
        "compare": compare({"odd": scores, "plain": plain}).cautions,
    }

    assert {name: each[0].code for name, each in answers.items()} == dict.fromkeys(answers, "repeated_scores")
    assert answers["compare"][0].message.startswith("query 'odd': ")

    even = Counts.of([4] * 50, [6] * 50, edges=list(range(49)))

    assert not {"repeated_scores", "shared_scores"} & {caution.code for caution in assess(even).cautions}
