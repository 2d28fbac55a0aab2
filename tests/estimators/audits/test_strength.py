"""How strong queries are: worlds where they see a known leak, where they do not, and where so few cannot say."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from estimators import Decision
from estimators.audits.model import Shadows, Strength, audit_model, planting, query_strength
from estimators.audits.model.strength import OPEN, UNMEASURED, WEAK
from estimators.audits.queries.shadows import random_halves
from estimators.errors import InputError, OutOfRange, TooFewRecords
from tests.cases import each_case, refusals

ONES = np.ones(300, int)


def surely(seed: int, sure: float, count: int = 300) -> np.ndarray:
    """Probabilities of each record's own class, the higher the surer."""
    return np.random.default_rng(seed).beta(sure, 1.0, count)


def strength(sure: float, count: int = 300, **options: Any) -> Strength:
    """Of queries of twins that are so sure of planted records, and as sure of the spared as of any other."""
    planted, spared = surely(0, sure, count), surely(1, 2.0, count)
    return query_strength(planted, spared, ONES[:count], ONES[:count], **{"copies": 4, "limit": 0.2, **options})


def passing(measured: Strength | None, sure: float = 2.0) -> Any:
    """An audit of a model that is so sure of its training rows."""
    return audit_model(
        surely(2, sure, 2000), surely(3, 2.0, 2000), np.ones(2000, int), np.ones(2000, int),
        max_advantage=0.2, strength=measured,
    )  # fmt: skip


@pytest.mark.slow
@each_case(
    "sure, count, strong, weak, says, code",
    (12.0, 300, True, False, "", None),
    (2.0, 300, False, True, WEAK, "weak_queries"),
    (3.0, 300, False, True, WEAK, "weak_queries"),
    (12.0, 12, False, False, OPEN, "strength_open"),
)
def test_a_pass_says_whether_its_queries_would_have_seen_a_known_leak(sure, count, strong, weak, says, code):
    measured = strength(sure, count)

    audit = passing(measured)

    assert (measured.strong, measured.weak, measured.of_a_pass) == (strong, weak, says)
    assert audit.decision is Decision.PASS
    assert audit.sentence == f"{passing(None).sentence} {says}".strip()
    assert audit.verdict.covers == (*passing(None).verdict.covers[:-1], measured.sentence)
    codes = [each.code for each in audit.cautions]
    assert {"weak_queries", "strength_open"} & {*codes} == ({code} if code else set())


def test_a_pass_without_planted_records_says_that_nobody_knows_and_queries_that_found_a_leak_are_not_weak() -> None:
    unmeasured, fail = passing(None, sure=12.0), passing(strength(2.0), sure=12.0)

    assert passing(None).verdict.covers[-1] == UNMEASURED
    assert (unmeasured.decision, unmeasured.verdict.covers) == (Decision.FAIL, ())
    assert fail.decision is Decision.FAIL
    assert "weak" not in fail.sentence
    assert not any("weak" in each.code for each in fail.cautions)


def test_the_limit_is_the_baseline_where_none_is_asked_and_where_it_is_larger() -> None:
    ends = [strength(3.0, limit=limit, prior=0.3).limit for limit in (None, 0.1, 0.6)]

    assert ends == [pytest.approx(0.4), pytest.approx(0.4), 0.6]


def world(shift: float) -> tuple[Any, Any, np.ndarray, Any]:
    """Logits of records of any difficulty, and how much surer a twin is of those that it holds than the model is."""
    rng = np.random.default_rng(0)
    hard = rng.normal(0.0, 5.0, 600)
    twin = hard + shift * (np.arange(600) < 300) + rng.normal(0.0, 0.3, 600)
    model = hard + rng.normal(0.0, 0.3, 600)
    membership = random_halves(16, 600, 0)
    shadows = Shadows(hard + shift * membership + rng.normal(0.0, 0.3, (16, 600)), membership)
    return twin, model, hard, shadows


def of_world(shift: float, *, beside: bool = True, shadows: bool = False) -> Strength:
    twin, model, _, table = world(shift)
    return query_strength(
        twin[:300], twin[300:], ONES, ONES, outputs="logits", limit=0.2,
        beside=(model[:300], model[300:]) if beside else None, shadows=table if shadows else None,
    )  # fmt: skip


def test_shadows_are_named_where_a_model_without_the_records_would_tell_and_help_if_they_are_there() -> None:
    alone, together, nothing = of_world(2.0), of_world(2.0, shadows=True), of_world(0.0)

    assert alone.weak
    assert alone.beside.lower > 0.9
    assert "shadow" in alone.caution.message  # type: ignore[union-attr]
    assert together.strong
    assert together.interval.lower > 0.9
    assert nothing.weak
    assert "shadow" not in nothing.caution.message  # type: ignore[union-attr]
    assert "altered copies" in nothing.caution.message  # type: ignore[union-attr]
    assert "shadow" in of_world(0.0, beside=False).caution.message  # type: ignore[union-attr]


def test_labels_alone_have_no_model_beside_them() -> None:
    right = np.random.default_rng(0).random(600) < np.repeat([0.95, 0.6], 300)
    measured = query_strength(
        np.where(right[:300], 1, 0), np.where(right[300:], 1, 0), ONES, ONES,
        outputs="labels", beside=(ONES, ONES),
    )  # fmt: skip

    assert measured.beside is None
    assert measured.interval.lower < 0.35 < measured.interval.upper


@pytest.mark.slow
def test_of_records_that_are_in_no_twin_something_is_seen_as_seldom_as_said() -> None:
    runs = 50
    above = 0
    for seed in range(runs):
        planted, spared = np.random.default_rng(seed).beta(3.0, 1.0, (2, 60))
        above += query_strength(planted, spared, ONES[:60], ONES[:60], seed=seed).interval.lower > 0.0

    assert above <= binom.isf(1e-3, runs, 0.025)


def test_every_record_is_drawn_for_one_twin_and_planted_by_a_coin() -> None:
    parts = planting(4, 90, 10)
    rows = np.concatenate([np.concatenate(pair) for pair in parts])

    assert [(planted.size, spared.size) for planted, spared in parts] == [(10, 10)] * 4
    assert len({*rows.tolist()}) == 80
    assert rows.max() < 90
    often = np.zeros(20)
    for seed in range(400):
        [(planted, _)] = planting(1, 20, 10, seed)
        often[planted] += 1
    assert np.all(abs(often - 200.0) < 4.0 * np.sqrt(400 * 0.25))


test_what_says_nothing_of_strength_is_refused = refusals(
    "ask, error, field",
    (partial(planting, 4, 15, 10), TooFewRecords, "twins"),
    (partial(planting, 1, 100, 7), TooFewRecords, "twins"),
    (partial(planting, 0, 100, 7), OutOfRange, "twins"),
    (partial(strength, 2.0, 7), TooFewRecords, "planted"),
    (partial(strength, 2.0, copies=0), OutOfRange, "copies"),
    (partial(query_strength, [0.5] * 8, [0.5] * 8, [0] * 8, [2] * 8), InputError, "spared"),
)
