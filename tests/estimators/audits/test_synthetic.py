"""From three tables to one verdict: each limit by hand, copies, drift, and tables that are not what they should be."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from estimators import Decision, Scores, advantage, errors
from estimators.audits.copies import copied_identifiers, count_copies
from estimators.audits.queries import CATALOGUE, SYNTHETIC, encode, synthetic_scores
from estimators.audits.release_size import release_size
from estimators.audits.sides import one_row_each
from estimators.audits.synthetic import SyntheticAudit, audit_synthetic
from estimators.limits.binomial import excess_lower
from tests.cases import each_case
from tests.estimators.audits.queries.test_synthetic import part, people, stacked
from tests.estimators.cautions import codes
from tests.oracles import most_misses

pytestmark = pytest.mark.usefixtures("quick")

Table = dict[str, Any]
LIMITS: dict[str, Any] = {"max_advantage": 0.2, "max_tpr": 0.15, "at_fpr": 0.02, "max_copies_over_holdout": 0}
WRITERS: list[Any] = [None, lambda column: column.round(1), lambda column: column.astype(np.float32)]
NEAR = ["closeness", "kth_closeness", "exact_copy", "near_copy"]


def categories(rng: np.random.Generator, n: int) -> Table:
    return {name: rng.choice(list("abcd"), n, p=[0.6, 0.2, 0.15, 0.05]) for name in "xyz"}


def drawn(seed: int, n: int = 300, tables: int = 4) -> list[Table]:
    rng = np.random.default_rng(seed)
    drawn = (people(rng, n) | {"height": rng.normal(170, 9, n)} for _ in range(tables))
    return [each | {"debt": rng.lognormal(3, 1, n)} for each in drawn]


def audited(train: Table, holdout: Table, released: Table, *reference: Table, **options: Any) -> SyntheticAudit:
    """By the queries of nearness and without a look at the sides, unless asked otherwise."""
    defaults: dict[str, Any] = {"queries": NEAR, "check_sides": False}
    return audit_synthetic(train, holdout, released, *reference, **defaults | options)


def with_copies(released: Table, train: Table, number: int) -> Table:
    return stacked(part(train, slice(number)), part(released, slice(number, None)))


def decisions(audit: SyntheticAudit) -> dict[str, str]:
    return {limit.name: limit.decision.value for limit in audit.limits}


# --- limits -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_upper_ends_are_not_corrected_and_lower_ends_share_the_error_over_queries_and_limits() -> None:
    train, holdout, released, _ = drawn(0)
    released = with_copies(released, train, 120)
    audit = audited(train, holdout, released, max_advantage=0.2, max_copies_over_holdout=0, seed=2)
    given: dict[str, Any] = {"max_advantage": 0.9, "seed": 2, "accept_copies": True}
    loose, hiding = (audited(train, holdout, released, accept_exposure=accept, **given) for accept in (True, False))
    found = synthetic_scores(encode(train, holdout, released), NEAR)
    scores = {name: Scores.of(found.members[name], found.nonmembers[name], "continuous") for name in NEAR}
    records = [np.r_[each.members, each.nonmembers] for each in scores.values()]
    orders = {np.unique(each, return_inverse=True)[1].tobytes() for each in records}
    shared = 1 - 0.05 / (len(orders) * 2)
    lower = {name: advantage(each, confidence=shared, seed=2).lower for name, each in scores.items()}
    upper = {name: advantage(each, seed=2).upper for name, each in scores.items()}

    limit = audit.limits[0]
    assert len(orders) == 3  # no row lies near a released one without being the same
    assert limit.decision is Decision.FAIL
    assert limit.query == max(lower, key=lambda name: lower[name])
    assert (limit.estimate.lower, limit.estimate.upper) == (lower[limit.query], upper[limit.query])
    assert loose.decision is Decision.PASS
    assert hiding.verdict.undecided_because == "exposed"
    assert "Accepted by name (accept_exposure): query" in loose.sentence
    assert loose.limits[0].estimate.upper == max(upper.values())
    assert loose.limits[0].query == max(upper, key=lambda name: upper[name])
    assert loose.limits[0].query.replace("_", " ") in loose.sentence


@pytest.mark.slow
def test_one_query_that_fails_is_enough_and_all_must_pass() -> None:
    train, holdout, released, _ = drawn(1)
    copied = with_copies(released, train, 150)
    limits: dict[str, Any] = {"max_advantage": 0.3, "max_copies_over_holdout": 0}
    clean, leaky = (audited(train, holdout, each, **limits) for each in (released, copied))
    alone = audited(train, holdout, released)

    assert (clean.verdict.word, decisions(clean)) == ("pass", {"advantage": "pass", "copies": "pass"})
    assert decisions(leaky) == {"advantage": "fail", "copies": "fail"}
    assert leaky.verdict.word == "fail"
    assert leaky.sentence.startswith("Fail: ")
    assert "; with 98.75% confidence (one end of a 97.5% interval) at least" in leaky.sentence
    assert (alone.decision, alone.verdict.word, alone.limits) == (None, "", ())
    assert alone.sentence == alone.comparison.sentence


def test_the_true_positive_rate_is_asked_of_queries_of_two_values() -> None:
    """A leak in a query of two values passed, for no rate was asked of it."""
    train, holdout, released, _ = drawn(2)
    leaky = with_copies(released, train, 90)
    limits = {"max_tpr": 0.1, "at_fpr": 0.02}
    every, two = (audited(train, holdout, leaky, queries=queries, **limits) for queries in (NEAR, NEAR[2:]))

    assert every.decision is two.decision is Decision.FAIL
    assert two.limits[0].query in NEAR[2:]
    assert two.limits[0].estimate.lower > 0.1


def test_ties_do_not_hide_the_true_positive_rate() -> None:
    """Among few categories most rows are copies by chance: coins among equal scores reach any false positive rate."""
    rng = np.random.default_rng(3)
    audit = audited(*(categories(rng, 600) for _ in range(3)), queries=None, max_tpr=0.25, at_fpr=0.05)
    assert audit.decision is Decision.PASS
    assert 0.05 < audit.limits[0].threshold.upper < 0.12
    assert audit.limits[0].threshold.upper < audit.limits[0].estimate.upper < 0.25  # of four ranges


def test_too_few_nonmembers_for_a_rate_are_said() -> None:
    audit = audited(*drawn(4, 60)[:3], max_tpr=0.01, at_fpr=0.001)

    assert audit.decision is Decision.INCONCLUSIVE
    assert "too_few_nonmembers" in codes(audit)


# --- copies and exposed members -----------------------------------------------------------------------------------


def test_copies_are_counted_and_chance_is_left_out() -> None:
    train, holdout, released, _ = drawn(5)
    copies = count_copies(encode(train, holdout, with_copies(released, train, 30)))
    assert (copies.members, copies.nonmembers) == (30, 0)
    assert copies.beyond_chance.interval.upper == copies.beyond_chance.value == 30
    assert copies.beyond_chance.lower == 25  # five by chance, all on this side: 3.1% of 600 in any order; six: 1.5%
    assert "at least 25 training rows were copied" in copies.sentence

    rng = np.random.default_rng(6)
    few = [categories(rng, 400) for _ in range(3)]
    by_chance = count_copies(encode(*few))
    swapped = count_copies(encode(few[1], few[0], few[2]))
    assert by_chance.members > 300
    assert by_chance.beyond_chance.lower == 0.0
    assert "chance may explain them all" in by_chance.sentence
    assert (swapped.members, swapped.nonmembers) == (by_chance.nonmembers, by_chance.members)
    none, all_of_them = (audited(*few, max_copies_over_holdout=most) for most in (0, 400))
    assert (none.decision, all_of_them.decision) == (Decision.INCONCLUSIVE, Decision.PASS)
    assert f"so do {by_chance.nonmembers} of 400 hold-out rows" in none.sentence


@each_case("times", [4, 10])
def test_training_rows_that_stand_there_several_times_are_not_taken_for_copies(times: int) -> None:
    """By rows one release in eight was said to hold copies that had seen neither side."""
    shown, repeated = 0, 0
    for seed in range(100):
        rng = np.random.default_rng([seed, times])
        tables = [
            {"a": rng.integers(0, 12, n), "b": rng.integers(0, 9, n), "c": rng.choice(list("uvwxyz"), n)}
            for n in (240 // times, 240, 240)
        ]
        tables[0] = stacked(*[tables[0]] * times)
        found = encode(*tables)
        repeated += "repeated_rows" in [each.code for each in found.cautions]
        shown += count_copies(found).beyond_chance.lower > 0.0
    assert repeated > 60
    assert shown <= most_misses(100)


@pytest.mark.slow
def test_few_copies_fail_if_limited_or_unasked_and_turn_nothing_but_a_pass_and_are_said_to_be_exposed() -> None:
    train, holdout, released, _ = drawn(7, 800)
    tables = train, holdout, with_copies(released, train, 16)  # one in fifty
    limited = audited(*tables, max_advantage=0.3, max_copies_over_holdout=0)
    assert decisions(limited) == {"advantage": "pass", "copies": "fail"}
    for limits in ({"max_advantage": 0.3}, {"max_exposed": 0.1}, {"max_near_copies_over_holdout": 40}):
        fails, accepted = (audited(*tables, **limits, accept_copies=accept) for accept in (False, True))
        assert (fails.verdict.word, fails.copies_judged) == ("fail", "unasked")
        assert fails.limits[:-1] == accepted.limits
        unasked = fails.limits[-1]
        assert (unasked.name, unasked.maximum, unasked.query) == ("copies", 0.0, "exact_copy")
        assert unasked.estimate.lower == excess_lower(16, 800, 0, 800, 0.0025)
        assert "with 99.75% confidence" in fails.sentence
        assert "accept_copies" in fails.sentence
        assert (accepted.verdict.word, accepted.copies_judged) == ("pass", "accepted")
        assert "copies_accepted" in codes(accepted)
        assert "copies_accepted" not in codes(fails)
        if "max_advantage" in limits:
            assert codes(limited)[0] == codes(accepted)[0] == "rare_exposure"
            assert accepted.most_exposed[1].alarm
            assert accepted.cautions[0].message.startswith(accepted.most_exposed[0].replace("_", " "))

    for limits in ({"max_advantage": 0.001}, {"max_advantage": -1.0}, {"max_tpr": 0.0, "at_fpr": 0.3}, {}):
        noted, accepted = (audited(*tables, **limits, accept_copies=accept) for accept in (False, True))
        assert noted.decision is not Decision.PASS
        assert noted.limits == accepted.limits
        assert "copies_released" in codes(noted)
    assert noted.copies_judged is None


def numbered(rng: np.random.Generator, identifiers: Sequence[object]) -> Table:
    """People of few ages and jobs, each with an identifier."""
    n = len(identifiers)
    return {"age": rng.integers(18, 90, n), "job": rng.choice(["nurse", "cook", "smith"], n), "id": identifiers}


@each_case("kind", ["amounts", "mail", "row numbers", "numbers of all rows"])
@each_case("released", ["all", "half", "values alone"])
def test_identifiers_that_were_carried_over_fail_a_release_that_distances_do_not_see(kind, released) -> None:
    """Whole numbers and texts that nearly every row has for itself were left out, and their copies passed."""
    rng, n = np.random.default_rng(3), 600
    shuffled = rng.permutation(2 * n)
    ones, others, fresh = {
        "amounts": [np.round(rng.lognormal(14.0, 1.0, n)).astype(int) for _ in range(3)],
        "mail": [np.array([f"{each}@example.org" for each in rng.integers(0, 10**9, n)]) for _ in range(3)],
        "row numbers": [np.arange(n), np.arange(n, 2 * n), np.arange(n)],
        "numbers of all rows": [shuffled[:n], shuffled[n:], np.arange(n)],
    }[kind]
    train, holdout, honest = (numbered(rng, each) for each in (ones, others, fresh))
    leaks = {
        "all": part(train, slice(None)),
        "half": stacked(part(train, slice(n // 2)), part(honest, slice(n // 2, None))),
        "values alone": honest | {"id": ones},
    }[released]
    asked = {"max_advantage": 0.3}

    audit, limited = (audited(train, holdout, leaks, **more) for more in (asked, {"max_copies_over_holdout": 100}))
    if kind == "row numbers" and released == "values alone":  # a release that counts its rows from 0, too
        assert audit.verdict.word == "pass"
        return
    assert audit.verdict.word == "fail"
    assert released == "all" or "'id'" in audit.verdict.sentence
    assert (limited.limits[0].name, limited.limits[0].decision.value) == ("copies", "fail")
    accepted = audited(train, holdout, leaks, **asked, accept_copies=True)
    assert accepted.verdict.word == "pass"
    assert "copies_released" in codes(accepted)
    assert any("'id'" in line for line in accepted.verdict.covers)

    fair = audited(train, holdout, honest, **asked)
    assert fair.verdict.word == "pass"
    assert "copies_released" not in codes(fair)


def test_identifiers_that_lost_their_zeros_are_seen_and_raise_no_alarm() -> None:
    """A spreadsheet writes 000123 as 123. Of 20 honest releases, whose identifiers lost them, too, none is accused."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        numbers = np.split(rng.permutation(10**5)[:600], 3)
        padded = [[f"{each:08d}" for each in side] for side in numbers]
        train, holdout = (numbered(rng, each) for each in padded[:2])
        short = [[str(each) for each in side] for side in numbers]
        assert copied_identifiers(encode(train, holdout, numbered(rng, short[2])), 0.95) is None
        if not seed:
            shown = copied_identifiers(encode(train, holdout, numbered(rng, short[0])), 0.95)
            assert shown.beyond_chance.lower > 150


def test_rows_in_the_order_of_their_numbers_are_not_taken_for_copies() -> None:
    """Sorted by month, rows of one number are alike in any two tables, and so are those of the next."""
    shown = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        tables = [
            {"month": np.sort(rng.integers(1, 13, 120)), "region": rng.choice(list("xyz"), 120), "id": np.arange(120)}
            for _ in range(3)
        ]
        shown += copied_identifiers(encode(*tables), 0.95) is not None
    assert shown <= most_misses(60)


@each_case("law", ["arms in turn", "role in the number", "a check digit"])
@each_case("split", ["at random", "by number"])
def test_columns_that_follow_from_the_number_are_not_taken_for_copies(law: str, split: str) -> None:
    """The row of the next number is no control of them: fresh rows of the same numbers failed as copied."""
    shown = 0
    for seed in range(40):
        rng, n = np.random.default_rng(seed), 300
        every = np.arange(2 * n) if split == "by number" else rng.permutation(2 * n)
        tables = []
        for numbers in (np.sort(every[:n]), np.sort(every[n:]), np.arange(n)):
            of_number = {
                "arms in turn": numbers % 2,
                "role in the number": numbers % 3,
                "a check digit": (numbers // 10 * 7 + numbers % 10 * 3) % 10,
            }[law]
            names = [f"P{each:05}" for each in numbers]
            tables.append({"follows": of_number, "sex": rng.choice(["f", "m"], n), "id": names})
        shown += copied_identifiers(encode(*tables), 0.95) is not None
    assert shown <= most_misses(40)


@each_case("period", [24, 168, 600])
@each_case("released", ["all", "half"])
def test_rows_in_long_turns_are_not_taken_for_copies_and_copies_of_them_are_seen(period: int, released: str) -> None:
    """Fresh rows of the same numbers failed as copied, where the hour follows from the row's number."""
    false_signs = true_signs = 0
    for seed in range(6):
        rng, n = np.random.default_rng(seed), 900

        def rows(numbers: Any, rng: np.random.Generator = rng) -> Table:
            load = rng.choice(3, len(numbers), p=[0.7, 0.2, 0.1])
            return {"row": numbers, "hour": numbers % period * 1.0, "load": load * 1.0}

        numbers = np.arange(n) if released == "all" else np.sort(rng.permutation(n)[: n // 2])
        train, holdout, fresh = rows(np.arange(n)), rows(np.arange(n, 2 * n)), rows(numbers)
        false_signs += copied_identifiers(encode(train, holdout, fresh), 0.95) is not None
        of_members = rng.random(len(numbers)) < 0.6
        leak = fresh | {"load": np.where(of_members, train["load"][numbers], fresh["load"])}
        true_signs += copied_identifiers(encode(train, holdout, leak), 0.95) is not None
    assert (false_signs, true_signs) == (0, 6)


def test_a_table_that_is_the_training_table_but_for_identifiers_is_said_to_be_so_in_the_columns_compared() -> None:
    rng = np.random.default_rng(12)
    train, holdout = numbered(rng, np.arange(100)), numbered(rng, np.arange(100, 200))
    same = train | {"id": np.arange(500, 600)}
    in_part, whole = (
        next(each for each in encode(*tables).cautions if each.code == "synthetic_is_members").message
        for tables in (
            (train, holdout, same),
            [{name: each[name] for name in ("age", "job")} for each in (train, holdout, same)],
        )
    )

    assert "members, row for row in the columns that were compared ('age', 'job'); is it" in in_part
    assert "members, row for row; is it" in whole


def test_a_pass_says_of_how_many_changes_and_of_scores_only_if_these_were_limited() -> None:
    """One query was the same for all rows, and the pass was "for attackers who change their guess never"."""
    rng = np.random.default_rng(3)
    train, holdout, released = ({name: rng.normal(size=2000) for name in "xy"} for _ in range(3))
    of_scores = audited(train, holdout, released, max_advantage=0.2)
    of_copies = audited(train, holdout, released, max_copies_over_holdout=0)

    assert (of_scores.verdict.word, of_copies.verdict.word) == ("pass", "pass")
    assert (of_scores.limits[0].holds_up_to_changes or 0) > 2
    assert of_copies.verdict.covers[0].startswith("It covers training rows that stand in the release alone")


@each_case("accept", [False, True])
def test_nothing_passes_beside_the_training_table_unless_copies_were_accepted(accept: bool) -> None:
    rng = np.random.default_rng(8)
    train, holdout = ({name: rng.choice(["a", "b"], 400) for name in "xy"} for _ in range(2))
    audit = audited(train, holdout, part(train, slice(None, None, -1)), max_advantage=0.3, accept_copies=accept)

    assert codes(audit)[0] == "synthetic_is_members"
    assert audit.verdict.word == ("pass" if accept else "not applicable")
    assert audit.verdict.undecided_because == (None if accept else "synthetic_is_members")


def test_few_copies_beyond_chance_are_not_enough_at_a_tenth_of_the_level() -> None:
    train, holdout, released, _ = drawn(9, 400)
    for number in (5, 7, 8, 9):
        audit = audited(train, holdout, with_copies(released, train, number), max_advantage=0.5)

        chance = np.prod([(400 - k) / (800 - k) for k in range(number)])  # all of them on this side
        assert (audit.decision is Decision.FAIL) == (chance <= 0.0025)


@pytest.mark.slow
def test_near_copies_are_counted_and_limited_like_copies() -> None:
    train, holdout, released, _ = drawn(10)
    blurred = part(train, slice(40)) | {"height": train["height"][:40] + 0.05}
    near, queries = stacked(blurred, part(released, slice(260))), NEAR[:2]
    noted = audited(train, holdout, near, max_copies_over_holdout=0, queries=queries)
    judged, fine = (
        audited(train, holdout, near, max_near_copies_over_holdout=most, queries=queries) for most in (0, 60)
    )

    scores = synthetic_scores(encode(train, holdout, near), ["near_copy"])
    hits = int(scores.members["near_copy"].sum()), int(scores.nonmembers["near_copy"].sum())
    assert (noted.near_copies.members, noted.near_copies.nonmembers) == hits
    assert hits[0] >= 40 > 5 > hits[1]
    assert noted.decision is Decision.PASS
    assert "near_copies_released" in codes(noted)
    assert (decisions(judged), judged.verdict.word) == ({"near_copies": "fail"}, "fail")
    assert judged.limits[0].estimate.lower == excess_lower(hits[0], 300, hits[1], 300, 0.025)
    assert "have a near copy beyond what chance explains" in judged.sentence
    assert fine.decision is Decision.PASS
    clean = audited(train, holdout, released, max_near_copies_over_holdout=0, queries=queries)
    assert clean.decision is not Decision.FAIL
    assert "near_copies_released" not in codes(clean)


def test_copies_of_which_one_column_was_changed_are_warned_of() -> None:
    """A flag turned over, a code moved by one or another date: near copies do not see them."""
    train, holdout, released, _ = drawn(11)
    changed = [part(train, [at]) | {name: part(released, [at])[name]} for at, name in enumerate([*train] * 5)]
    audit = audited(train, holdout, stacked(*changed, part(released, slice(len(changed), None))), max_advantage=0.9)
    clean = audited(train, holdout, released, max_advantage=0.9)

    assert audit.copies.members + audit.near_copies.members < len(changed) / 2
    assert codes(audit).count("altered_copies_released") == 1
    message = next(each.message for each in audit.cautions if each.code == "altered_copies_released")
    assert message.startswith(
        f"{len(changed)} of 300 training rows and 0 of 300 hold-out rows stand in the release, in"
    )
    assert f"at least {excess_lower(len(changed), 300, 0, 300, 0.025)} training rows stand there beyond" in message
    assert "altered_copies_released" not in codes(clean)


def test_rows_that_equal_a_released_one_in_all_columns_but_one_are_those_that_do() -> None:
    rng = np.random.default_rng(12)
    few, enough = ({name: rng.integers(0, 5, 300) for name in "abcde"[:size]} for size in (3, 5))
    sides = [part(enough, slice(at, at + 100)) for at in (0, 100, 200)]
    rows = [np.column_stack([*side.values()]) for side in sides]
    apart = [(side[:, None] != rows[2]).sum(axis=2).min(axis=1) for side in rows[:2]]
    tables, narrow = encode(*sides), encode(*(part(few, slice(at, at + 100)) for at in (0, 100, 200)))

    assert 5 < (apart[0] == 1).sum() < 95
    for side, distance in zip((tables.members, tables.nonmembers), apart, strict=True):
        assert np.array_equal(side.but_one, distance <= 1)
    assert not narrow.members.but_one.any()


@pytest.mark.slow
def test_of_clean_releases_few_fail_and_no_other_decision_changes() -> None:
    """Rounded, float32 and categorical; ``benchmarks.synthetic`` has 2,400 of them."""
    runs, fails = 8, 0
    options: dict[str, Any] = {"max_advantage": 0.5, "queries": ["closeness", "exact_copy"]}
    for run in range(runs):
        rng, write = np.random.default_rng([12, run]), WRITERS[run % 3]
        tables = [{name: rng.normal(0, 2, 60) for name in "xy"} for _ in range(3)]
        if write is None:
            tables = [categories(rng, 60) for _ in range(3)]
        else:
            tables[2] = {name: write(column) for name, column in tables[2].items()}
        decided = [audited(*tables, accept_copies=accept, **options).decision for accept in (False, True)]
        fails += decided[0] is Decision.FAIL
        assert decided[0] is decided[1] or decided == [Decision.FAIL, Decision.PASS]
    assert fails <= most_misses(runs)


def test_a_filter_that_keeps_away_from_members_exposes_them() -> None:
    """Released rows near a training row are withheld: then members are those whom nothing is near."""
    rng = np.random.default_rng(8)
    train, holdout, pool = ({name: rng.uniform(size=n) for name in "xy"} for n in (300, 300, 6000))
    gaps = np.abs(np.array([pool[name][:, None] - train[name][None, :] for name in "xy"])).sum(axis=0)
    released = part(pool, gaps.min(axis=1) > 0.02)
    audit = audited(train, holdout, released, max_advantage=0.2, queries=None)

    assert audit.decision is Decision.FAIL
    assert audit.most_exposed[1].tail is not None
    assert audit.copies.members == 0


# --- drift --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_sides_that_differ_without_the_release_make_it_fail_or_drift() -> None:
    rng = np.random.default_rng(9)
    by_age = [part(table, np.argsort(-table["age"])) for table in (people(rng, 800), people(rng, 800))]
    sides = part(by_age[0], slice(400)), part(by_age[0], slice(400, 800))
    audit = audited(*sides, part(by_age[1], slice(400)), max_advantage=0.1, check_sides=True)

    assert audit.decision is Decision.FAIL
    assert audit.verdict.or_drift
    assert audit.verdict.word == "fail, or drift"
    assert audit.sentence.startswith("Fail, or drift: ")
    assert "shuffle all rows" in audit.sentence
    assert "sides_differ" in codes(audit)
    assert audit.split.columns[0].name == "age"

    fair = [part(by_age[0], half) for half in np.split(rng.permutation(800), 2)]
    leak = audited(*fair, fair[0], max_advantage=0.1, check_sides=True)
    assert (leak.verdict.word, leak.verdict.or_drift) == ("fail", False)
    assert "sides_differ" not in codes(leak)


def mostly_zero(rng: np.random.Generator, n: int, zeros: float, shift: float = 0.0) -> Table:
    """Two numbers a row, both 0 in a known share of the rows."""
    numbers = rng.normal(shift, 1.0, (2, n)) * (rng.random(n) >= zeros)
    return dict(zip("ab", numbers, strict=True))


@pytest.mark.slow
def test_no_limit_passes_beside_a_drift_of_the_holdout_that_hides_who_is_copied() -> None:
    """A quarter of the training rows is released, and the common row, which 1.5% of them are.

    Of a fair hold-out 1.5% are that row, too, and one in four members is exposed; of this one 6% are, which hides it.
    """
    rng = np.random.default_rng(1)
    train, fair = (mostly_zero(rng, 2000, 0.015) for _ in range(2))
    drifted, fresh = mostly_zero(rng, 2000, 0.06, 0.7), mostly_zero(rng, 300, 0.0)
    copies = rng.choice(np.flatnonzero(train["a"]), 500, replace=False)
    released = {name: np.r_[fresh[name], train[name][copies], 0.0] for name in train}
    asked: dict[str, Any] = {"max_exposed": 0.15, "accept_copies": True, "queries": ["exact_copy", "closeness"]}
    audit, beside_fair = (audited(train, side, released, check_sides=True, **asked) for side in (drifted, fair))
    sized = release_size(train, drifted, released, sizes=[801], **asked)

    assert audit.limits[0].decision is Decision.PASS
    assert (audit.decision, audit.verdict.undecided_because) == (Decision.NOT_APPLICABLE, "sides_differ")
    assert "the share of exposed members may be" in audit.sentence
    assert beside_fair.decision is not Decision.PASS
    assert beside_fair.verdict.undecided_because != "sides_differ"
    assert sized.series.steps[0].decision is Decision.NOT_APPLICABLE
    assert sized.series.steps[0].undecided_because == "sides_differ"


def test_what_no_score_reads_is_no_drift() -> None:
    train, holdout, released, _ = drawn(10)
    train, holdout = train | {"side": [1.5] * 300}, holdout | {"side": [2.5] * 300}
    audit = audit_synthetic(train, holdout, released, queries=NEAR)
    assert not audit.split.differs
    assert "columns_differ" in codes(audit)  # the release has no such column

    nothing = audit_synthetic({"x": [1] * 20}, {"x": [1] * 20}, {"x": [1, 2] * 9}, max_copies_over_holdout=0)
    assert nothing.split is None
    assert "split_not_checked" in codes(nothing)


# --- tables that are not what they should be ----------------------------------------------------------------------


@pytest.mark.slow
def test_the_training_file_the_holdout_file_and_shared_rows_are_said_first() -> None:
    train, holdout, released, reference = drawn(11)
    for side, name, decision in ((train, "members", "fail"), (holdout, "nonmembers", "pass")):
        audit = audited(train, holdout, side, reference, **LIMITS)
        assert (codes(audit)[0], decisions(audit)["copies"]) == (f"synthetic_is_{name}", decision)

    both = audited(stacked(train, part(holdout, slice(50))), holdout, released, reference, **LIMITS)
    assert codes(both)[0] == "shared_rows"
    assert "50 rows" in both.cautions[0].message
    with pytest.raises(errors.InputError, match="nonmembers: these are the training rows, row for row"):
        audit_synthetic(train, part(train, slice(None, None, -1)), released, reference, **LIMITS)


@each_case("times", [(2, 1), (1, 5), (3, 3)])
def test_rows_that_repeat_are_asked_about_once(times) -> None:
    """Of rows that stand there twice a release of neither side failed: the advantage was said to be at least .98."""
    rng = np.random.default_rng(23)
    train, holdout = (stacked(*[{name: rng.normal(size=300 // n) for name in "abc"}] * n) for n in times)
    released = {name: rng.normal(size=300) for name in "abc"}
    audit = audit_synthetic(train, holdout, released, max_advantage=0.1, check_sides=False)
    of_all = audit_synthetic(train, holdout, train, max_advantage=0.1, groups=np.arange(600) % 2, check_sides=False)

    assert (audit.decision, audit.comparison.maximum.interval.lower) == (Decision.INCONCLUSIVE, 0.0)
    assert codes(audit)[0] == "repeated_rows"
    assert (audit.provenance.n_members, audit.provenance.n_nonmembers) == (300 // times[0], 300 // times[1])
    assert of_all.decision is Decision.FAIL
    assert of_all.copies.members == 300 // times[0] * times[0]
    sized = release_size(train, holdout, released, sizes=[300], max_advantage=0.1)
    assert sized.series.steps[0].decision is Decision.INCONCLUSIVE


def common_and_own(rng: np.random.Generator, n: int) -> Table:
    """Half of the rows are one of 300, a few of which are common; the others are alone."""
    kinds = np.random.default_rng(1).integers(0, 5, (300, 4)).astype(np.float64)
    which = np.minimum((rng.pareto(1.0, n) * 20).astype(int), 299)
    table = np.where(rng.random((n, 1)) < 0.5, kinds[which], rng.normal(2.0, 1.5, (n, 4)).round(3))
    return dict(zip("uvwx", table.T, strict=True))


def test_no_copies_are_proved_by_rows_that_repeat_and_rows_that_are_equal_by_nature() -> None:
    """Each different row once is another law of a side ten times as large: 30 to 45 copies were proved of none."""
    wrong = 0
    for run in range(8):
        rng = np.random.default_rng([91, run])
        train, holdout, released = (common_and_own(rng, size) for size in (400, 4000, 1500))
        sides = stacked(train, train), stacked(holdout, holdout)
        audit = audited(*sides, released, queries=NEAR, max_copies_over_holdout=5)
        wrong += audit.decision is Decision.FAIL

    assert wrong <= 1  # of 8 runs, an error of 2.5% each: more come once in 60


def test_training_rows_in_the_holdout_hide_no_leak() -> None:
    """Nine of ten of them: the release follows every training row, and the pass was at most .15."""
    rng = np.random.default_rng(18)
    train, fresh = ({name: rng.normal(size=400) for name in "abc"} for _ in range(2))
    released = {name: column + rng.normal(0, 0.02, 400) for name, column in train.items()}
    few, most = (stacked(part(train, slice(n)), part(fresh, slice(400 - n))) for n in (12, 360))
    audits = [
        audit_synthetic(train, holdout, released, max_advantage=limit, accept_exposure=True, queries=NEAR)
        for holdout, limit in ((most, 0.3), (fresh, 0.3), (few, 1.0))
    ]

    assert [each.verdict.word for each in audits] == ["not applicable", "fail", "pass"]
    assert audits[0].verdict.undecided_because == "sides_share_records"
    numbered = {name: side | {"person": np.arange(400) + at} for name, side, at in (("a", train, 0), ("b", fresh, 40))}
    other = {name: rng.normal(size=400) for name in "abc"}
    of_persons = audit_synthetic(numbered["a"], numbered["b"], other, unit="person", max_advantage=0.4, queries=NEAR)
    assert of_persons.verdict.undecided_because == "sides_share_records"
    assert of_persons.shared == 0.9
    assert "90% of the hold-out is of the training side, too" in audits[0].sentence


def test_fewer_rows_than_there_are_neighbours_to_look_for_are_said() -> None:
    train, holdout, released, _ = drawn(13, 60)
    few, enough = part(released, slice(4)), part(released, slice(5))

    for tables, expected in (((few, enough), 1), ((enough, few), 1), ((few, few), 2), ((enough, enough), 0)):
        answer = audited(train, holdout, *tables, use=list(train), queries=None)
        said = [each.message for each in answer.cautions if each.code == "few_rows"]
        assert len(said) == expected
        assert all("has 4 rows, and queries by neighbours look for the 5 nearest" in each for each in said)


def test_without_a_reference_queries_that_need_one_are_left_out_and_that_is_said() -> None:
    *tables, reference = drawn(12, 60)
    needy = [name for name in SYNTHETIC if "reference" in CATALOGUE[name].needs]
    without, beside = (audited(*tables, *more, queries=None) for more in ((), (reference,)))

    said = next(caution for caution in without.cautions if caution.code == "no_reference")
    assert set(without.exposures) == set(SYNTHETIC) - set(needy)
    assert all(name in said.message for name in needy)
    assert set(beside.exposures) == set(SYNTHETIC)
    assert "no_reference" not in codes(beside) + codes(audited(*tables))


@pytest.mark.slow
def test_fewer_rows_than_k_and_a_release_of_one_row_over_and_over() -> None:
    train, holdout, released, reference = drawn(13, 40)
    for odd in (part(released, slice(2)), part(released, np.zeros(40, dtype=int))):
        audit = audited(train, holdout, odd, part(reference, slice(3)), **LIMITS, queries=None)
        assert audit.verdict.word in ("pass", "inconclusive")


@each_case("change, options, error, words", [
    ({}, {"max_advantage": 2}, errors.OutOfRange, "max_advantage: got 2"),
    ({}, {"max_advantage": "0.1"}, errors.OutOfRange, "max_advantage: got str"),
    ({}, {"max_tpr": -0.1}, errors.OutOfRange, "max_tpr"),
    ({}, {"max_tpr": 0.1, "at_fpr": 0.0}, errors.OutOfRange, "at_fpr"),
    ({}, {"max_copies_over_holdout": -1}, errors.OutOfRange, "max_copies_over_holdout"),
    ({}, {"max_copies_over_holdout": 0.5}, errors.OutOfRange, "max_copies_over_holdout"),
    ({}, {"max_copies_over_holdout": 0, "accept_copies": True}, errors.OptionError,
     "accept_copies: max_copies_over_holdout limits the copies already"),
    ({}, {"max_near_copies_over_holdout": -1}, errors.OutOfRange, "max_near_copies_over_holdout"),
    ({}, {"queries": ["closeness"]}, errors.OptionError, "queries: got 1, need at least 2"),
    ({}, {"queries": ["closenes", "ball"]}, errors.UnknownName, "did you mean 'closeness'"),
    ({}, {"queries": ["rare_values", "ball"]}, errors.OptionError, "'rare_values' needs a reference"),
    ({}, {"leave_out": ["agee"]}, errors.InputError, "column 'agee' is in no table"),
    ({}, {"unit": "who"}, errors.InputError, "unit: members has no column 'who'"),
    ({}, {"groups": "who"}, errors.InputError, "groups: members has no column 'who'"),
    ({}, {"groups": ["a"] * 3}, errors.DimensionMismatch, "groups: got 3 labels for 60 rows"),
    ({}, {"confidence": 95}, errors.OutOfRange, "confidence"),
    ({"train": {"x": [1.5] * 5}}, {}, errors.InputError, "no column in common"),
    ({"holdout": {"age": []}}, {}, errors.TooFewRecords, "nonmembers: there are no rows"),
    ({"holdout": {"age": [40, 41, 42]}}, {}, errors.TooFewRecords, "nonmembers: got 3 rows, need at least 8"),
    ({"synthetic": {"age": [None] * 9}}, {}, errors.InputError, "no column can be used.*no value there: 'age'"),
    ({"synthetic": "released.csv"}, {}, errors.InputError, "synthetic: got str, need columns by name"),
])  # fmt: skip
def test_what_is_wrong_is_named(change, options, error, words) -> None:
    train, holdout, released, _ = drawn(14, 30)
    tables = {"train": train, "holdout": holdout, "synthetic": released} | change
    with pytest.raises(error, match=words):
        audit_synthetic(**tables, **options)


# --- people and groups --------------------------------------------------------------------------------------------


def test_one_row_of_each_person_is_asked_about() -> None:
    train, holdout, released, _ = drawn(15)
    whose = [np.char.add(side, (np.arange(300) // 3).astype(str)) for side in ("a", "b")]
    named, theirs = train | {"who": whose[0]}, holdout | {"who": whose[1].tolist()}
    *sides, _, _ = one_row_each("who", named, theirs, 4)
    sides = [{name: side[name] for name in train} for side in sides]
    jobs = np.concatenate([side["job"] for side in sides])
    audit = audited(named, theirs, released, max_advantage=0.5, unit="who", groups="job", seed=4)
    by_hand = audited(*sides, released, max_advantage=0.5, groups=jobs, seed=4)
    shared = audited(named, holdout | {"who": whose[0]}, released, unit="who", queries=None)
    missing = holdout | {"who": [*whose[1][:4], None, *whose[1][5:]]}

    assert (audit.provenance.n_members, audit.provenance.n_nonmembers) == (100, 100)
    assert audit.limits == by_hand.limits
    assert audit.groups.labels.tolist() == by_hand.groups.labels.tolist()
    np.testing.assert_array_equal(audit.groups.upper, by_hand.groups.upper)
    assert audit.groups.records.sum() == 200
    assert "columns_differ" not in codes(audit)
    assert codes(shared)[0] == "shared_units"
    assert shared.cautions[0].message.startswith("100 of 'who'")
    with pytest.raises(errors.InputError, match="row 4 of nonmembers says nothing in column 'who'") as error:
        audited(named, missing, released, unit="who")
    assert error.value.index == 4


@pytest.mark.slow
def test_the_group_that_was_copied_bears_most() -> None:
    train, holdout, released, _ = drawn(16, 600)
    leaky = stacked(released, part(train, np.flatnonzero(train["job"] == "nurse")))
    audit = audited(train, holdout, leaky, groups="job", queries=None)

    assert audit.riskiest in CATALOGUE
    lower = dict(zip(audit.groups.labels.tolist(), audit.groups.lower.tolist(), strict=True))
    assert max(lower, key=lambda label: lower[label]) == "nurse"
    limited = audited(train, holdout, leaky, groups="job", queries=None, max_group_advantage=0.3)
    assert limited.limits[0].name == "group_advantage"
    assert "within group nurse is at least" in limited.limits[0].reason
    missing = audited(train | {"job": [None, *train["job"][1:]]}, holdout, leaky, groups="job")
    assert "(none)" in missing.groups.labels.tolist()
    without = {name: column for name, column in leaky.items() if name != "job"}
    assert "columns_differ" not in codes(audited(train, holdout, without, groups="job"))


@pytest.mark.slow
def test_a_release_that_looked_at_neither_side_hardly_ever_fails() -> None:
    runs, fails, alarms = 5, 0, 0  # more, and larger tables: benchmarks/synthetic.py
    for run in range(runs):
        audit = audited(*drawn(1000 + run, 60), **LIMITS | {"max_advantage": 0.0}, seed=run, queries=None)
        fails += audit.decision is Decision.FAIL
        alarms += audit.most_exposed[1].alarm

    assert max(fails, alarms) <= most_misses(runs)


def test_copies_are_counted_among_all_rows_of_each_person() -> None:
    """One row of each is asked about, and "no training row stands in the release" had been said of those alone."""
    *sides, others = drawn(6, 800, 3)
    for side, table in enumerate(sides):
        table["person"] = np.repeat(np.arange(100), 8) + 100 * side
    released = {name: np.concatenate([column, sides[0][name][::20]]) for name, column in others.items()}

    for most, decision in ((39, Decision.INCONCLUSIVE), (40, Decision.PASS)):
        asked: dict[str, Any] = {"unit": "person", "max_copies_over_holdout": most, "queries": NEAR}
        audit = audited(*sides, released, **asked)
        assert (audit.copies.members, audit.copies.n_members, audit.copies.beyond_chance.upper) == (40, 800, 40)
        assert audit.near_copies.members >= 40
        assert audit.decision is decision
        size = release_size(*sides, released, sizes=[len(released["age"])], **asked)
        assert size.copies == (audit.copies,)
        assert size.near_copies == (audit.near_copies,)
