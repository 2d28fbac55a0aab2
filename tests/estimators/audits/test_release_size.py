"""How many rows may go out: by hand, how often too many are named, and sizes and tables that are none."""

from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp

from estimators import Decision, Scores, advantage, release_size
from estimators.audits.queries import encode, synthetic_scores
from estimators.audits.queries.nested import default_sizes, nested_scores
from estimators.audits.release_size import ReleaseSize
from estimators.audits.sides import one_row_each
from estimators.errors import InputError, NotFinite, OptionError, OutOfRange, TooFewRecords, UnknownName
from estimators.limits.binomial import excess_lower
from tests.cases import each_case, refusals
from tests.estimators.audits.queries.test_synthetic import part, people, stacked
from tests.estimators.audits.test_synthetic import audited, drawn, with_copies
from tests.estimators.cautions import codes
from tests.oracles import most_misses

pytestmark = pytest.mark.usefixtures("quick")

Table = dict[str, Any]
NEAR = ["closeness", "exact_copy"]


def points(rng: np.random.Generator, n: int) -> Table:
    return {name: rng.normal(size=n) for name in "xy"}


def blurred(rng: np.random.Generator, train: Table, n: int, width: float = 0.02) -> Table:
    """A release of training rows, drawn again and again, with a little noise."""
    which = rng.integers(len(train["x"]), size=n)
    return {name: column[which] + rng.normal(0, width, n) for name, column in train.items()}


def decisions(answer: ReleaseSize) -> str:
    return "".join("-" if step.decision is None else step.decision.value[0] for step in answer.series.steps)


def test_a_release_in_another_unit_passes_in_no_audit_and_at_no_size() -> None:
    train, holdout, released, _ = drawn(11, 100)
    released = with_copies(released, train, 50)
    far = released | {"debt": 1000 * released["debt"] + 1e6}

    audit = audited(train, holdout, far, max_advantage=0.9)
    answer = release_size(train, holdout, far, sizes=[20, 100], max_advantage=0.9, queries=NEAR)

    assert audit.decision is Decision.NOT_APPLICABLE
    assert audit.verdict.undecided_because == "released_elsewhere"
    assert [step.decision for step in answer.series.steps] == [Decision.NOT_APPLICABLE] * 2
    assert answer.largest is None


@pytest.mark.slow
def test_each_size_is_an_audit_of_the_first_rows_of_one_random_order() -> None:
    tables, sizes = drawn(0, 200), [20, 90, 200]
    answer = release_size(*tables, sizes=sizes, max_advantage=0.3, seed=4)
    whole = encode(*tables)

    np.testing.assert_array_equal(answer.order, np.random.default_rng(4).permutation(200))
    for step, size, copies in zip(answer.series.steps, sizes, answer.copies, strict=True):
        first = whole.synthetic.part(answer.order[:size])
        alone = synthetic_scores(replace(whole, synthetic=first))
        outside = alone.nonmembers
        scores = {name: Scores.of(side, outside[name], "continuous") for name, side in alone.members.items()}
        at = [partial(advantage, confidence=1 - 0.05 / parts, seed=4) for parts in (1, 3, 36)]
        own, together, shared = ({name: ask(each) for name, each in scores.items()} for ask in at)
        assert (step.label, step.decisive_upper) == (size, max(each.upper for each in own.values()))
        assert step.estimate.upper == max(each.upper for each in together.values())
        assert step.query == max(together, key=lambda name: together[name].value)
        assert step.estimate.lower == pytest.approx(max(each.lower for each in shared.values()))
        assert copies.members == int(np.isin(whole.members.records, first.records).sum())
    assert answer.provenance.method == "release_size"


@pytest.mark.slow
def test_rows_are_those_that_keep_the_limit() -> None:
    rng = np.random.default_rng(1)
    train, holdout = points(rng, 800), points(rng, 800)
    released = blurred(rng, train, 2400)
    answer = release_size(train, holdout, released, sizes=[30, 2400, 600], max_advantage=0.2, queries=NEAR)

    assert (decisions(answer), answer.largest) == ("pff", 30)
    np.testing.assert_array_equal(answer.rows, answer.order[:30])
    scores = synthetic_scores(encode(train, holdout, part(released, answer.rows)), ["closeness"])
    assert advantage(Scores.of(scores.members["closeness"], scores.nonmembers["closeness"])).upper < 0.2
    assert "the first 30 of 2,400 released rows, in the order that was drawn, keep" in answer.sentence
    assert "more of them exceed it. The first 600 of 2,400 released rows: with 95%" in answer.sentence


@pytest.mark.slow
@each_case("options, expected, words", [
    ({"max_advantage": 0.25}, "p", "all 600 released rows keep the advantage at or below 0.25"),
    ({"max_advantage": 0.01}, "i", "Undecided, not enough data: not even the smallest size is shown with 97.5% "
     "confidence (one end of a 95% interval) to keep 0.01"),
    ({}, "-", "All 600 released rows give an attacker an advantage between 0.000 and"),
])  # fmt: skip
def test_a_release_without_a_leak(options, expected, words) -> None:
    train, holdout, released, _ = drawn(2, 600)
    answer = release_size(train, holdout, released, queries=NEAR, **options)

    assert [step.label for step in answer.series.steps] == [10, 20, 50, 100, 200, 600]
    assert decisions(answer) == 6 * expected
    assert words in answer.sentence
    assert answer.largest == (600 if expected == "p" else None)
    assert len(answer.rows) == (600 if expected == "p" else 0)


@pytest.mark.slow
def test_no_size_is_said_where_even_the_smallest_exceeds_the_limit() -> None:
    train, holdout, _, _ = drawn(3, 400)
    answer = release_size(train, holdout, train, sizes=[200, 400], max_advantage=0.1, queries=NEAR)

    start = "No size: with 97.5% confidence (one end of a 95% interval) even the smallest exceeds 0.1."
    assert (decisions(answer), answer.largest) == ("ff", None)
    assert answer.sentence.startswith(f"{start} The first 200 of 400 released rows:")


@pytest.mark.slow
def test_an_advantage_that_falls_again_does_not_let_a_larger_size_through() -> None:
    """Rows next to all hold-out rows come later: closeness then says nothing, and it said much before."""
    rng = np.random.default_rng(4)
    train, holdout = points(rng, 400), points(rng, 400)
    both = {name: np.concatenate([train[name], holdout[name]]) for name in train}
    order = np.random.default_rng(0).permutation(800)  # the order that will be drawn
    tables = train, holdout, part(both, np.argsort(order))
    answer = release_size(*tables, sizes=[400, 800], max_advantage=0.3, queries=["closeness"], seed=0)

    np.testing.assert_array_equal(order, answer.order)
    assert decisions(answer) == "fi"
    assert answer.series.steps[1].decisive_upper < 0.2
    assert answer.largest is None


@pytest.mark.slow
def test_copies_and_exposed_members_are_said_beside_a_size_that_keeps_the_limit() -> None:
    train, holdout, released, _ = drawn(5, 800)
    leaky = with_copies(released, train, 24)
    answer = release_size(train, holdout, leaky, max_advantage=0.2, queries=NEAR, accept_copies=True)
    unlimited = release_size(train, holdout, leaky, queries=NEAR)

    assert (answer.largest, answer.copies[-1].members) == (800, 24)
    assert codes(answer)[:2] == ["rare_exposure", "copies_accepted"]
    assert "of the first 800 released rows: 24 of 800 training rows" in answer.cautions[1].message
    assert codes(unlimited)[:2] == ["rare_exposure", "copies_released"]
    assert (answer.copies_judged, unlimited.copies_judged) == ("accepted", None)
    assert "no_reference" not in codes(answer)
    assert codes(release_size(train, holdout, released, max_advantage=0.2)) == ["no_reference"]


def test_one_row_of_each_person_is_asked_about() -> None:
    rng = np.random.default_rng(15)
    train, holdout = (points(rng, 90) | {"person": np.arange(90) // 3 + first} for first in (0, 25))
    answer = release_size(train, holdout, points(rng, 50), sizes=[50], unit="person", seed=2)
    *_, places, _ = one_row_each("person", train, holdout, 2)
    rows = places[:30]
    assert (answer.provenance.n_members, answer.provenance.n_nonmembers) == (30, 30)
    assert codes(answer)[0] == "shared_units"
    np.testing.assert_array_equal(answer.tables.members.points[:, 0].argsort(), train["x"][rows].argsort())


def test_what_looks_wrong_with_the_tables_is_said() -> None:
    train, holdout, released, _ = drawn(6, 300)
    mixed = {name: np.concatenate([column[:150], holdout[name][150:]]) for name, column in train.items()}

    of_mixed = release_size(train, mixed, released, sizes=[300], queries=NEAR, max_advantage=0.4)
    assert "shared_rows" in codes(of_mixed)
    assert of_mixed.series.steps[0].undecided_because == "sides_share_records"
    with pytest.raises(InputError, match="nonmembers: these are the training rows, row for row"):
        release_size(train, train, released, sizes=[300], queries=NEAR)


def test_sizes_grow_by_about_two_up_to_all_rows() -> None:
    assert [default_sizes(total) for total in (1, 9, 10, 12, 13)] == [[1], [9], [10], [12], [10, 13]]
    assert default_sizes(100) == [10, 20, 50, 100]
    assert default_sizes(120) == [10, 20, 50, 120]
    assert default_sizes(5000) == [10, 20, 50, 100, 200, 500, 1000, 2000, 5000]


test_sizes_that_are_none_are_refused = pytest.mark.slow(
    refusals(
        "sizes, error, words",
        ([101], OutOfRange, "got 101, and the released table has 100 rows: draw more"),
        ([0, 10], OutOfRange, "sizes: got 0, need a whole number of at least 1"),
        ([-5], OutOfRange, "need a whole number of at least 1"),
        ([10.0], OutOfRange, "need a whole number"),
        ([float("nan")], OutOfRange, "need a whole number"),
        ([True], OutOfRange, "got bool"),
        (["10"], OutOfRange, "got str"),
        ([], OptionError, "got none, need at least 1"),
        ("10", OptionError, "got str, need a list of whole numbers"),
        (10, OptionError, "got int, need a list of whole numbers"),
        field="sizes",
        ask=lambda sizes: release_size(*drawn(8, 100)[:3], sizes=sizes, queries=["closeness"]),
    )
)


FEW, OTHERS = (points(np.random.default_rng(seed), 20) for seed in (9, 19))


test_tables_and_options_that_give_no_answer_are_refused = refusals(
    "tables, options, error",
    ((FEW, OTHERS, {"x": [], "y": []}), {}, TooFewRecords),
    ((part(FEW, slice(5)), OTHERS, FEW), {}, TooFewRecords),
    ((FEW, OTHERS, FEW | {"x": np.full(20, np.inf)}), {}, NotFinite),
    ((FEW, OTHERS, FEW), {"queries": []}, OptionError),
    ((FEW, OTHERS, FEW), {"queries": ["density_ratio"]}, OptionError),
    ((FEW, OTHERS, FEW), {"queries": ["nearness"]}, UnknownName),
    ((FEW, OTHERS, FEW), {"max_advantage": 2.0}, OutOfRange),
    ((FEW, OTHERS, FEW), {"confidence": 0.0}, OutOfRange),
    ((FEW, OTHERS, FEW), {"prior": 1.0}, OutOfRange),
    ((FEW, OTHERS, FEW), {"seed": -1}, OutOfRange),
    ask=lambda tables, options: release_size(*tables, **options),
)


@pytest.mark.slow
def test_one_released_row_and_missing_values_have_an_answer() -> None:
    rng = np.random.default_rng(10)
    train, holdout, released = people(rng, 60), people(rng, 60), people(rng, 40)
    released["wage"][:] = np.nan
    released["wage"][:2] = [3.0, 9.0]
    one = release_size(train, holdout, part(released, slice(1)) | {"age": [40]}, reference=people(rng, 50))
    some = release_size(train, holdout, released, max_advantage=0.9)

    assert [step.label for step in one.series.steps] == [1]
    assert one.series.steps[0].estimate.lower == 0.0
    assert some.largest == 40


def test_equal_released_rows_give_the_same_at_every_size() -> None:
    rng, released = np.random.default_rng(11), {"x": np.full(50, 0.5), "y": np.full(50, -0.5)}
    train, holdout, reference = (points(rng, n) for n in (80, 80, 60))
    answer = release_size(train, holdout, released, reference, queries=["closeness"], sizes=[1, 10, 50])

    ends = {(step.estimate.lower, step.estimate.value, step.estimate.upper) for step in answer.series.steps}
    assert len(ends) == 1


@pytest.mark.slow
def test_the_same_seed_draws_the_same_rows_and_sizes_are_a_set() -> None:
    train, holdout, released, _ = drawn(12, 100)
    sizes = np.array([90, 20, 90, 50])
    options: dict[str, Any] = {"sizes": sizes, "queries": ["closeness"]}
    one, again, other = (release_size(train, holdout, released, seed=each, **options) for each in (6, 6, 7))

    assert [step.label for step in one.series.steps] == [20, 50, 90]
    np.testing.assert_array_equal(one.order, again.order)
    assert one.series == again.series
    assert (one.order != other.order).any()


@pytest.mark.slow
def test_a_size_that_breaks_the_limit_is_seldom_named() -> None:
    """Audits of samples of a training set, whose truth all of its rows and many others say."""
    rng = np.random.default_rng(13)
    train, others = points(rng, 2000), points(rng, 15000)
    released = blurred(rng, train, 2000, 0.001)
    sizes, query, runs = [15, 700, 2000], ["closeness"], 8
    whole = encode(train, others, released)
    whole = replace(whole, synthetic=whole.synthetic.part(np.random.default_rng(0).permutation(2000)))
    nested = [(each.members, each.nonmembers) for each in nested_scores(whole, sizes, query)]
    truths = [float(ks_2samp(*(side["closeness"] for side in sides)).statistic) for sides in nested]
    limit = truths[1] - 0.002  # the second size breaks it, by next to nothing
    wrong = passes = 0
    for run in range(runs):
        rng = np.random.default_rng([14, run])
        sides = [part(table, rng.choice(len(table["x"]), 300, replace=False)) for table in (train, others)]
        answer = release_size(*sides, released, sizes=sizes, queries=query, max_advantage=limit)
        wrong += (answer.largest or 0) > 15
        passes += answer.series.steps[0].decision is Decision.PASS

    assert truths[0] < 0.03 < 0.2 < truths[1] < truths[2]
    assert wrong <= most_misses(runs)
    assert passes > 0.8 * runs


@pytest.mark.slow
def test_a_size_keeps_every_limit_and_the_first_that_breaks_one_ends_the_walk() -> None:
    rng = np.random.default_rng(0)
    train, holdout, drawn = points(rng, 1000), points(rng, 1000), points(rng, 2000)
    tables = train, holdout, {name: np.r_[column[:1800], train[name][:200]] for name, column in drawn.items()}
    options: dict[str, Any] = {"sizes": [20, 200, 2000], "queries": NEAR}
    alone, hiding = (
        release_size(*tables, max_advantage=0.3, accept_copies=True, accept_exposure=accept, **options)
        for accept in (True, False)
    )
    both = release_size(*tables, max_advantage=0.3, max_copies_over_holdout=5, **options)
    exposed = release_size(*tables, max_exposed=0.05, accept_copies=True, **options)

    assert (alone.largest, alone.limits) == (2000, ((), (), ()))
    assert "exposure_accepted" in codes(alone)
    assert (hiding.largest, decisions(hiding)[-1]) == (200, "i")
    assert hiding.series.steps[-1].undecided_because == "exposed"
    assert codes(hiding)[0] == "exposed"
    copies = [each.members for each in both.copies]
    assert copies[0] <= 5 < copies[1] < copies[2] == 200
    assert (both.largest, decisions(both)) == (20, "pff")
    said = "keep the advantage at or below 0.3 and the number of rows that are copied beyond chance at or below 5"
    assert said in both.sentence
    assert (exposed.largest, decisions(exposed)[-1]) == (200, "f")
    assert exposed.limits[-1][0].estimate.lower > 0.05


def test_after_a_size_that_is_not_shown_to_keep_a_limit_none_passes() -> None:
    tables, limits = drawn(1, 300)[:3], {"max_exposed": 0.001, "max_copies_over_holdout": 0}
    answer = release_size(*tables, sizes=[10, 300], queries=["closeness"], **limits)

    assert (decisions(answer), answer.largest, len(answer.rows)) == ("ii", None, 0)
    assert "keep every limit" in answer.sentence


@pytest.mark.slow
def test_copies_that_nobody_limited_turn_a_pass_into_a_fail_and_training_rows_in_a_part_of_them_leave_it_open() -> None:
    """The first 200 of 4,000 rows went out with four training rows, where the table was shown to hold 69 copies."""
    train, holdout, released, _ = drawn(5, 800)
    leaky = with_copies(released, train, 24)
    options: dict[str, Any] = {"sizes": [20, 200, 800], "queries": NEAR, "max_advantage": 0.2}
    ask = partial(release_size, train, holdout, **options)
    ways = product((leaky, released), (True, False))
    accepted, unasked, lifted, clean = (ask(each, accept_copies=accept) for each, accept in ways)

    assert (decisions(accepted), decisions(unasked)) == ("ppp", "iif")
    assert f"{unasked.copies[0].members} training rows stand among them" in unasked.series.steps[0].reason
    shown = excess_lower(24, 800, 0, 800, 0.0025 / 3)
    assert f"at least {shown} training rows were copied" in unasked.series.steps[-1].reason
    assert (unasked.limits, unasked.copies_judged, unasked.largest) == (((), (), ()), "unasked", None)
    few = release_size(train, holdout, with_copies(released, train, 2), **options)
    assert (decisions(few), codes(few)[0]) == ("ppp", "training_rows_released")
    none_at_first = next(answer for seed in range(40) if not (answer := ask(leaky, seed=seed)).copies[0].members)
    assert (decisions(none_at_first), none_at_first.largest) == ("pif", 20)
    assert "more of them are not shown to" in none_at_first.sentence
    jump = ask(leaky, seed=none_at_first.provenance.seed, sizes=[20, 800])
    assert "more of them hold copies of training rows" in jump.sentence
    assert "copied beyond what chance explains, above 0" in jump.sentence
    assert clean.series == lifted.series
    everything = release_size(train, holdout, train, **options | {"max_advantage": 0.9, "sizes": [100, 800]})
    assert decisions(everything) == "ff"
    assert "even the smallest exceeds a limit" in everything.sentence


def test_near_copies_are_limited_size_by_size() -> None:
    train, holdout, released, _ = drawn(6, 400)
    close = part(train, slice(60)) | {"height": train["height"][:60] + 0.01}
    near = stacked(close, part(released, slice(340)))
    options: dict[str, Any] = {"sizes": [5, 400], "queries": ["closeness", "kth_closeness"]}
    answer = release_size(train, holdout, near, max_near_copies_over_holdout=5, **options)

    assert answer.near_copies[-1].members >= 60 > answer.copies[-1].members
    assert decisions(answer) == "pf"
    assert answer.limits[-1][0].name == "near_copies"
    assert "the number of rows that have a near copy beyond chance at or below 5" in answer.sentence


@pytest.mark.slow
def test_no_size_passes_beside_sides_that_differ_by_so_much_that_a_leak_may_hide() -> None:
    rng = np.random.default_rng(8)
    train, holdout, released = points(rng, 1000), points(rng, 1000), points(rng, 1000)
    older = {name: column + 0.5 for name, column in holdout.items()}
    fair, drifted, unasked = (
        release_size(train, side, released, sizes=[50, 1000], max_advantage=most, queries=NEAR)
        for side, most in ((holdout, 0.3), (older, 0.3), (older, None))
    )

    assert (decisions(fair), fair.largest) == ("pp", 1000)
    assert (decisions(drifted), drifted.largest) == ("nn", None)
    assert {each.decision for each in drifted.series.steps} == {Decision.NOT_APPLICABLE}
    assert {each.undecided_because for each in drifted.series.steps} == {"sides_differ"}
    assert drifted.sentence.startswith("Not applicable: not even the smallest size")
    assert "sides_differ" in codes(drifted)
    assert decisions(unasked) == "--"
