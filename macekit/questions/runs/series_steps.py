"""What series answer alike: one step, and the decision over all of them."""

from __future__ import annotations

from typing import Literal

from estimators.decisions.plan import Decision, overall
from estimators.decisions.severe_exposure import Because
from estimators.runs.series import Series, Step
from macekit.operations import encode
from macekit.schemas.answers import (
    StepAnswer,
)


def step(step: Step) -> StepAnswer:
    """One step of a series, with an interval that holds for all of them."""
    return {
        **encode.interval(step.estimate),
        "query": step.query,
        "decisive_upper": step.decisive_upper,
        "decision": None if step.decision is None else step.decision.value,
        "holds_up_to_changes": step.holds_up_to_changes,
        "undecided_because": step.undecided_because,
        "reason": step.reason,
    }


def decision_of(series: Series) -> Literal["pass", "fail", "inconclusive"] | None:
    """Pass if every step keeps the limit, fail if one is shown to exceed it; None if nothing was limited."""
    decisions = [step.decision for step in series.steps if step.decision is not None]
    return overall(decisions).value if decisions else None


def because_of(series: Series) -> Because | None:
    """The same of a series: the first step that is open is so for an exposure."""
    first = next((step for step in series.steps if step.decision is Decision.INCONCLUSIVE), None)
    return None if first is None or decision_of(series) != "inconclusive" else first.undecided_because
