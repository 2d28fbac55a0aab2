"""What is said of forgotten records holds as often as it says, and what cannot be answered is not."""

import numpy as np
import pytest

from benchmarks.harness import most_misses
from benchmarks.unlearning import UNSEEN, WORLDS, World, once
from estimators.audits.unlearning import ABOVE, NO_PROOF, NOT_COVERED, UnlearningAudit, audit_unlearning
from estimators.errors import DimensionMismatch, InputError, NotFinite, OutOfRange, TooFewRecords
from estimators.limits.binomial import upper_limit
from estimators.statement import Caution
from tests.cases import each_case, refusals

RNG = np.random.default_rng(0)
NEW, ALIKE = RNG.normal(size=(2, 1000))
RUNS = 4
HALF, TOO_MUCH = WORLDS[1], WORLDS[2]


def judged(forgotten: np.ndarray, most: float, **more: object) -> UnlearningAudit:
    return audit_unlearning(forgotten, NEW, max_advantage=most, **more)  # type: ignore[arg-type]


@pytest.mark.slow
@each_case("world", WORLDS)
def test_every_end_misses_as_seldom_as_it_says(world: World) -> None:
    rng, misses = np.random.default_rng(3), np.zeros((3, 2))
    for run in range(RUNS):
        audit = once(world, rng, 60, 120, run)
        told = [(audit.residual.estimate, world.advantage()), (audit.excess.estimate, world.excess(audit))]
        told.append((audit.share.estimate, world.share(audit.share.cut)))
        for place, (estimate, truth) in enumerate(told):
            misses[place] += estimate.lower > truth + 1e-9, estimate.upper < truth - 1e-9

    assert misses.max() <= most_misses(RUNS, 0.025)


def test_the_truth_of_the_worlds_is_that_of_many_records() -> None:
    world, rng = WORLDS[4], np.random.default_rng(1)
    gone, _ = world.scores(rng, 400_000, world.forgotten, world.retrained)
    new, _ = world.scores(rng, 400_000, UNSEEN, UNSEEN)
    values = np.unique(np.concatenate([gone, new]))
    apart = sum(abs(float((gone == each).mean() - (new == each).mean())) for each in values) / 2

    assert world.advantage() == pytest.approx(apart, abs=0.005)
    assert world.survival(world.forgotten, 1.0) == pytest.approx(float((gone > 1.0).mean()), abs=0.005)


def test_what_is_left_and_what_was_forgotten_too_much_fail_and_the_rest_passes_with_a_word_of_caution() -> None:
    left, gone = judged(NEW[::-1] + 1.0, 0.2), judged(ALIKE, 0.2)
    too_much = audit_unlearning(ALIKE - 0.8, NEW, NEW[::-1] + 2.0, max_advantage=0.1)

    assert (left.verdict.decision, left.leans, left.covers) == ("fail", "above", ())
    assert (gone.verdict.decision, gone.covers[0]) == ("pass", NOT_COVERED)
    assert gone.sentence.startswith("Pass: ")
    assert gone.sentence.endswith(NO_PROOF)
    assert (too_much.verdict.decision, too_much.leans) == ("fail", "below")
    assert too_much.share.estimate.upper < 0.0
    assert "too much was forgotten" in too_much.sentence


def test_a_difference_of_kind_is_no_memory_beside_a_retrained_model() -> None:
    newer = ALIKE + 0.8
    alone = judged(newer, 0.2)
    beside = judged(newer, 0.2, retrained=(newer + RNG.normal(0, 0.1, 1000), NEW + RNG.normal(0, 0.1, 1000)))

    assert (alone.verdict.decision, beside.verdict.decision) == ("fail", "pass")
    assert "one_retrained_model" in {each.code for each in beside.cautions}
    assert any("three cuts" in line for line in beside.covers)
    assert [each.above for each in beside.excess.cuts] == [*ABOVE]


def test_the_excess_sees_what_retraining_does_not_have_in_either_direction() -> None:
    for shift in (0.8, -0.8):
        audit = judged(ALIKE + shift, 0.1, retrained=(ALIKE, NEW))

        assert audit.verdict.decision == "fail"
        estimates = [each.estimate for each in audit.excess.cuts]
        assert all(np.sign(each.value or 0.0) == np.sign(shift) for each in estimates)
        assert all(each.lower < each.value < each.upper for each in estimates)


def test_the_ends_of_single_cuts_share_the_error_of_which_the_upper_end_of_the_largest_has_all() -> None:
    """A sixth of the error of 85% on one side is that of 97.5%: three cuts, two ends each."""
    beside = {"retrained": (ALIKE, NEW)}
    largest, single = (audit_unlearning(ALIKE + 0.1, NEW, **beside, confidence=c).excess for c in (0.95, 0.7))
    ends = (max(each.estimate.upper, -each.estimate.lower) for each in single.cuts)

    assert largest.estimate.upper == pytest.approx(max(ends))


def test_the_excess_is_narrower_than_four_limits_of_clopper_and_pearson_and_other_seeds_set_other_cuts() -> None:
    audit = once(WORLDS[0], np.random.default_rng(2), 500, 1000, 0)
    first, again, other = (
        audit_unlearning(ALIKE, NEW, retrained=(ALIKE + 0.1, NEW), seed=seed).excess for seed in (1, 1, 2)
    )

    assert audit.excess.least_limit < 2.0 * upper_limit(0, 750, 0.025 / 4.0)
    assert first == again != other


def test_a_few_records_that_are_remembered_wholly_leave_a_pass_open() -> None:
    new, gone = RNG.normal(size=(2, 4000))
    gone[:200] = new.max() + 1.0 + RNG.random(200)
    audit, accepted = (
        audit_unlearning(gone, new, max_advantage=0.3, accept_exposure=accept) for accept in (False, True)
    )

    assert (audit.verdict.decision, audit.verdict.undecided_because) == ("inconclusive", "exposed")
    assert accepted.verdict.decision == "pass"


def test_the_same_records_in_two_tables_have_no_verdict() -> None:
    by_score = audit_unlearning(NEW, NEW[::-1], max_advantage=0.5)
    by_id = judged(ALIKE, 0.5, doubts=[Caution("sides_share_records", "one record stands in both tables")])
    kept = [judged(ALIKE, 0.5, retained=table[::-1]) for table in (ALIKE, NEW)]

    for audit in (by_score, by_id, *kept):
        assert audit.verdict.decision == "not applicable"
        assert (audit.verdict.undecided_because, audit.covers) == ("sides_share_records", ())


@pytest.mark.slow
def test_an_open_limit_says_how_many_records_it_needs_and_what_these_can_pass() -> None:
    audit, far = audit_unlearning(ALIKE[:100], NEW[:100], max_advantage=0.2), judged(ALIKE, 0.01)

    assert (audit.verdict.decision, audit.records_to_pass) == ("inconclusive", audit.verdict.records_needed)
    assert audit.records_to_pass > 200
    assert "so few records seldom keep" in audit.verdict.reason
    assert "no records of these sizes keep less than" in far.verdict.reason


@pytest.mark.slow
def test_no_sample_passes_less_than_the_smallest_limit() -> None:
    for n, m in ((8, 8), (30, 60), (200, 200)):
        ends = [once(WORLDS[0], np.random.default_rng(seed), n, m, seed, 1.0) for seed in range(8)]

        assert min(each.residual.upper for each in ends) >= ends[0].least_limit > 0.0
    constant = audit_unlearning([0.0] * 99 + [1e-9], [0.0] * 100)
    assert constant.residual.upper >= constant.least_limit


def test_the_remaining_share_is_the_same_of_scores_turned_round_and_not_stated_if_a_score_sees_no_memory() -> None:
    kept = RNG.normal(2.0, 1.0, 1000)
    up, down = audit_unlearning(ALIKE, NEW, kept).share, audit_unlearning(-ALIKE, -NEW, -kept).share
    blind = audit_unlearning(ALIKE, NEW, NEW[::-1] + 0.01)

    assert up.cut == pytest.approx(-down.cut, abs=0.5)
    assert up.estimate.value == pytest.approx(down.estimate.value, abs=0.1)
    assert blind.share is None
    assert "retained_not_told_apart" in {each.code for each in blind.cautions}


test_what_cannot_be_used_is_refused = refusals(
    "ask, error, words",
    (lambda: audit_unlearning(NEW[:7], NEW), TooFewRecords, "forgotten: got 7"),
    (lambda: audit_unlearning(NEW, NEW[:3]), TooFewRecords, "unseen: got 3"),
    (lambda: audit_unlearning(ALIKE, NEW, [1.0] * 2), TooFewRecords, "retained"),
    (lambda: audit_unlearning([1.0] * 9, [1.0] * 9), InputError, "18 of them are equal"),
    (lambda: audit_unlearning(["a"] * 9, NEW), InputError, "one number a record"),  # type: ignore[list-item]
    (lambda: audit_unlearning([np.nan] * 9, NEW), NotFinite, "record 0"),
    (lambda: judged(ALIKE, 1.5), OutOfRange, "max_advantage"),
    (lambda: audit_unlearning(ALIKE, NEW, confidence=1), OutOfRange, "confidence"),
    (lambda: judged(ALIKE, 0.1, retrained=(ALIKE[:50], NEW)), DimensionMismatch, "50 scores of 1000 forgotten"),
    (lambda: judged(ALIKE, 0.1, retrained=([0] * 1000,) * 2), InputError, "retrained model: all 2,000"),
    (lambda: judged(ALIKE, 0.1, retrained=(ALIKE, NEW)), InputError, "retrained: every score is the model's own"),
)
