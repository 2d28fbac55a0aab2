"""What is said of flagged records: a flag is about cells, and how many of the flagged are members is estimated."""

import numpy as np
import pytest
from scipy.stats import norm

from estimators import Counts, Scores, individual_risk
from estimators.risk.flags import OverCells
from estimators.risk.individual import risk_by_cell
from tests.cases import each_case

LEAK = Counts.of([300, 500, 200], [600, 350, 50], edges=[0.0, 1.0])


def shifted(seed: int, n_members: int, n_nonmembers: int) -> Scores:
    rng = np.random.default_rng(seed)
    return Scores.of(rng.normal(0.5, 1.0, n_members), rng.normal(0.0, 1.0, n_nonmembers))


def test_at_even_odds_the_share_of_members_is_the_share_counted() -> None:
    result = individual_risk(shifted(0, 2000, 2000))

    flagged_members = int(result.flagged[:2000].sum())
    assert 0 < flagged_members < result.n_flagged
    assert result.member_share == pytest.approx(flagged_members / result.n_flagged)
    assert result.sentence.startswith(
        f"{result.n_flagged:,} of 4,000 records lie where scores speak for membership more than chance would; by their "
        "cells that holds for at least 95% of them on average, not for each. It does not make these records members: "
        f"at a prior of 0.5 about {flagged_members / result.n_flagged:.0%} are"
    )


@each_case("prior", [0.001, 0.1, 0.5, 0.9])
def test_at_a_prior_it_is_what_bayes_rule_gives_of_a_record_that_is_flagged(prior) -> None:
    result = risk_by_cell(LEAK, prior)

    member, nonmember = prior * (500 + 200) / 1000, (1 - prior) * (350 + 50) / 1000
    assert np.flatnonzero(result.flags.flagged).tolist() == [1, 2]
    assert result.member_share == pytest.approx(member / (member + nonmember))
    assert f"at a prior of {prior} " in result.sentence


def test_of_targets_it_is_the_mean_over_those_that_are_flagged_and_where_none_is_no_share_is_told():
    result = individual_risk(LEAK, targets=[-1.0, 0.5, 2.0, 2.0])

    assert result.flagged.tolist() == [False, True, True, True]
    assert result.member_share == pytest.approx((500 / 850 + 200 / 250 + 200 / 250) / 3)

    result = risk_by_cell(Counts.of([500, 500], [500, 500], edges=[0.0]))

    assert result.member_share is None
    said = "None of 2,000 records is shown to lie where scores speak for membership"
    assert result.sentence.startswith(said)
    assert "0 of" not in result.sentence


@pytest.mark.slow
@each_case("prior, members, nonmembers", [(0.5, 1000, 1000), (0.01, 1000, 1000), (0.9, 400, 1200)])
def test_it_is_near_the_share_of_members_among_people_who_are_flagged(prior, members, nonmembers) -> None:
    """The cells are picked by the same records, so that it is a little too high, and not by much."""
    off = []
    for seed in range(40):
        result = individual_risk(shifted(seed, members, nonmembers), prior=prior)
        cuts = np.append(result.cells.counts.lower_edges(), np.inf)
        cuts[0] = -np.inf
        member, nonmember = (np.diff(norm.cdf(cuts - mean))[result.flags.flagged] for mean in (0.5, 0.0))
        truth = prior * member.sum() / (prior * member.sum() + (1.0 - prior) * nonmember.sum())
        off.append((result.member_share or 0.0) - truth)

    assert -0.01 < np.mean(off) < 0.03


@each_case("counts, options, words", [
    (LEAK, {"over": OverCells()}, "that holds for at least 95% of the cells on average, not for each"),
    (LEAK, {"confidence": 0.99}, "that holds for at least 99% of them on average, not for each"),
    (LEAK, {"threshold": 0.2}, "250 of 2,000 records lie where scores make membership more likely than 60%;"),
    (LEAK, {"prior": 0.0001}, "at a prior of 0.0001 fewer than 1 in 100 are"),
    (Counts.of([0, 800], [800, 0], edges=[0.0]), {},
     "It proves no single one a member: at a prior of 0.5 nearly all are"),
])  # fmt: skip
def test_what_is_said_stays_true_of_other_questions(counts, options, words) -> None:
    assert words in risk_by_cell(counts, **options).sentence
