"""The most useful candidate that keeps a limit: how the level is spent, and that none may go out."""

from typing import Any

import numpy as np
import pytest

from estimators import Counts, Decision, Scores
from estimators.errors import DimensionMismatch, OptionError, OutOfRange
from estimators.python.dataclass import replace
from estimators.runs import series
from estimators.runs.frontier import frontier
from tests.cases import each_case, refusals

PASS, OPEN, FAIL = Decision.PASS, Decision.INCONCLUSIVE, Decision.FAIL


def counts(advantage: float, n: int = 1000) -> Counts:
    """Two cells that differ by so much."""
    high = round(n * (1 + advantage) / 2)
    return Counts.of([n - high, high], [high, n - high], edges=[0.0])


LADDER = {f"{each}": counts(each) for each in (0.0, 0.05, 0.5, 0.02)}
UTILITY = [0.5, 0.6, 0.7, 0.65]


@each_case(
    "options, decisions, best",
    ({}, [PASS, PASS, FAIL, OPEN], "0.05"),  # the last stands behind one that does not keep the limit
    ({"starts": 4}, [PASS, PASS, FAIL, PASS], "0.02"),
    ({"is_ordered": False}, [PASS, PASS, FAIL, PASS], "0.02"),
)
def test_the_most_useful_that_may_go_out(options: Any, decisions: list[Decision], best: str) -> None:
    result = frontier(LADDER, UTILITY, 0.15, **options)

    assert [step.decision for step in result.steps] == decisions
    assert (result.best.label, result.decision) == (best, PASS)
    assert result.covers


def levels_asked(monkeypatch: pytest.MonkeyPatch, keeps: set[str], **options: Any) -> dict[str, list[float]]:
    """At which levels each candidate was judged, where only these keep the limit."""
    asked: dict[str, list[float]] = {name: [] for name in LADDER}
    step_of = series.step_of

    def recorded(label: Any, ends: Any, alpha: float, *rest: Any) -> Any:
        asked[label].append(alpha)
        step = step_of(label, ends, alpha, *rest)
        return replace(step, decisive_upper=0.0 if label in keeps else 0.9)

    monkeypatch.setattr(series, "step_of", recorded)
    monkeypatch.setattr(
        series, "riskiest_upper", lambda ends, alpha: 0.0 if any(ends is each for each in kept) else 0.9
    )
    kept: list[Any] = []
    ends_of = series.riskiest_ends

    def remembered(queries: Any, prior: float, seed: int, what: str, cluster: Any) -> Any:
        ends = ends_of(queries, prior, seed, what, cluster)
        if set(queries) & keeps:
            kept.append(ends)
        return ends

    monkeypatch.setattr(series, "riskiest_ends", remembered)
    frontier(LADDER, UTILITY, 0.15, accept_exposure=True, **options)
    return asked


@each_case(
    "keeps, options, expected",
    # a fixed sequence: the whole level as long as candidates pass; beyond, what is shown is not tried
    ({"0.0", "0.05"}, {}, [[0.025], [0.025], [0.025], [0.025]]),
    # fallback: a quarter each, and what was passed on
    ({"0.0", "0.05", "0.02"}, {"starts": 4}, [[0.00625], [0.0125], [0.01875], [0.00625]]),
    # Holm: a quarter; then what is left by three; shown at that
    ({"0.0", "0.05", "0.02"}, {"is_ordered": False}, [[0.00625], [0.00625], [0.025], [0.00625]]),
)
def test_the_level_is_spent_as_the_procedure_says(monkeypatch, keeps, options, expected) -> None:
    with monkeypatch.context() as patch:
        asked = levels_asked(patch, keeps, **options)

    assert list(asked.values()) == [pytest.approx(each) for each in expected]


def test_that_none_may_go_out_is_an_answer() -> None:
    result = frontier({"a": counts(0.5), "b": counts(0.6)}, [1, 2], 0.1)

    assert (result.best, result.decision, result.covers) == (None, FAIL, ())
    assert result.sentence == (
        "All 2 candidates are shown with 97.5% confidence (one end of a 95% interval) to exceed an advantage of 0.1."
    )
    undecided = frontier({"a": counts(0.1), "b": counts(0.1)}, [1, 2], 0.1)
    assert "None of the 2 candidates" in undecided.sentence


def test_a_candidate_that_hides_an_exposure_does_not_pass() -> None:
    members, nonmembers = np.random.default_rng(1).normal(size=(2, 4000))
    members[:200] = 9.0 + np.arange(200) / 1000
    plain = Scores.of(*np.random.default_rng(2).normal(size=(2, 4000)))
    hidden = {"plain": plain, "spike": Scores.of(members, nonmembers)}
    withheld, accepted = (frontier(hidden, [1, 2], 0.3, accept_exposure=accept) for accept in (False, True))

    assert [step.undecided_because for step in withheld.steps] == [None, "exposed"]
    assert (withheld.best.label, accepted.best.label, accepted.decision) == ("plain", "spike", PASS)


test_a_question_that_is_none_is_refused = refusals(
    "ask, error, field",
    (lambda: frontier(LADDER, [1.0], 0.1), DimensionMismatch, "utility"),
    (lambda: frontier(LADDER, [1.0, 2.0, 3.0, np.nan], 0.1), OutOfRange, "utility"),
    (lambda: frontier(LADDER, UTILITY, 2.0), OutOfRange, "max_advantage"),
    (lambda: frontier(LADDER, UTILITY, 0.1, starts=5), OptionError, "starts"),
    (lambda: frontier(LADDER, UTILITY, 0.1, starts=2, is_ordered=False), OptionError, "starts"),
)
