"""Limits as assertions, for pytest and any other runner: a model that gives away too much fails its tests.

Inconclusive is no pass: too few records to say so fail, too, in words of their own.
"""

from __future__ import annotations

from typing import Any, Unpack

from macekit.client.client import Client, Local
from macekit.client.options import Data, EstimateOptions, GateOptions, Values
from macekit.client.result import Result


class LimitExceeded(AssertionError):
    """The records show that a limit is exceeded; ``result`` is the answer."""

    def __init__(self, message: str, result: Result) -> None:
        super().__init__(message)
        self.result = result


class Inconclusive(AssertionError):
    """The records are too few to say whether a limit holds; ``result`` is the answer."""

    def __init__(self, message: str, result: Result) -> None:
        super().__init__(message)
        self.result = result


def assert_advantage_below(
    maximum: float,
    members: Data,
    nonmembers: Values = None,
    *,
    client: Client | None = None,
    **options: Unpack[EstimateOptions],
) -> Result:
    """The certified advantage is at most ``maximum``: the upper end of its interval, not the estimate."""
    __tracebackhide__ = True  # pytest shows the line that asserted
    if "threshold" in options:
        raise TypeError("assert_advantage_below() takes the threshold as its first argument")
    if maximum is None:  # as a threshold it would mean that nothing is to be decided
        raise TypeError("assert_advantage_below() needs a number as its first argument")
    options["threshold"] = maximum
    result = (client or Local()).estimate(members, nonmembers, **options)
    found, verdict = result.answer["advantage"], result.answer["verdict"]
    interval = (
        f"advantage {found['estimate']:.3f}, {100 * found['confidence']:.6g}% interval "
        f"{_ends(found, maximum)}, baseline {result.answer['baseline']:.3f}, maximum {maximum:g}"
    )
    _settle(
        verdict["decision"], [result.sentence, verdict["reason"], interval], verdict["records_needed"], result
    )
    return result


def assert_gate(
    members: Data, nonmembers: Values = None, *, client: Client | None = None, **limits: Unpack[GateOptions]
) -> Result:
    """Every limit holds: ``max_advantage``, ``max_epsilon``, ``metric`` with ``max``, ``max_group_risk``."""
    __tracebackhide__ = True
    result = (client or Local()).gate(members, nonmembers, **limits)
    told = [result.sentence, *(_limit(each) for each in result.answer["limits"])]
    _settle(result.answer["decision"], told, result.answer["records_needed"], result)
    return result


def _settle(decision: str, told: list[str], needed: int | None, result: Result) -> None:
    __tracebackhide__ = True
    if decision == "pass":
        return
    if decision == "fail":
        raise LimitExceeded("\n".join(told), result)
    more = (
        "in practice no number of records will settle it"
        if needed is None
        else f"records needed: about {needed}"
    )
    raise Inconclusive("\n".join(["inconclusive, which is no pass", *told, more]), result)


def _limit(each: dict[str, Any]) -> str:
    from macekit.text import shown

    ends = _ends(each, each["maximum"])
    return f"{each['decision']}: {shown(each['about'], 120)}: {ends}, maximum {each['maximum']:g}"


def _ends(found: dict[str, Any], maximum: float) -> str:
    """Rounded outward, with the digits it takes to stand on the right side of the maximum."""
    from estimators.statement import at_least, at_most

    lower, upper = found["lower"], found["upper"]
    above = at_least(lower, beyond=maximum) if lower > maximum else at_least(lower)
    if upper is None:
        return f"{above} to unbounded"
    return f"{above} to {at_most(upper, within=maximum) if upper <= maximum else at_most(upper)}"
