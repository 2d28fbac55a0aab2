"""Limits as assertions, for pytest and any other runner: a model that gives away too much fails its tests.

Inconclusive is no pass: too few records to say so fail, too, in words of their own.
"""

from __future__ import annotations

import warnings
from typing import Any, Unpack

from macekit.client.client import Client, Local
from macekit.client.options import AdvantageOptions, Data, GateOptions, Values
from macekit.client.result import Result


class LimitExceeded(AssertionError):
    """The records show that a limit is exceeded.

    Attributes:
        message: Which limit, by how much, in words.
        result: The answer, a ``Result``.

    Example:
        >>> import macekit.testing
        >>> counts = {"members": [20, 30, 50], "nonmembers": [50, 40, 10], "edges": [0.2, 0.7]}
        >>> try:
        ...     macekit.testing.assert_advantage_below(0.1, None, counts=counts)
        ... except macekit.testing.LimitExceeded as error:
        ...     print(round(error.result.advantage.lower, 2), "is above 0.1")
        0.23 is above 0.1
    """

    def __init__(self, message: str, result: Result) -> None:
        super().__init__(message)
        self.result = result


class Inconclusive(AssertionError):
    """The records are too few to say whether a limit holds.

    Attributes:
        message: Which limit is open, and how many records would settle it, in words.
        result: The answer, a ``Result``.

    Example:
        >>> import macekit.testing
        >>> counts = {"members": [20, 30, 50], "nonmembers": [50, 40, 10], "edges": [0.2, 0.7]}
        >>> try:
        ...     macekit.testing.assert_advantage_below(0.3, None, counts=counts)
        ... except macekit.testing.Inconclusive as error:
        ...     print("records needed:", error.result.verdict.records_needed)
        records needed: 664
    """

    def __init__(self, message: str, result: Result) -> None:
        super().__init__(message)
        self.result = result


def assert_advantage_below(
    maximum: float,
    members: Data,
    nonmembers: Values = None,
    *,
    client: Client | None = None,
    **options: Unpack[AdvantageOptions],
) -> Result:
    """The certified advantage is at most ``maximum``: the upper end of its interval, not the estimate.

    Args:
        maximum: Largest advantage that is acceptable, from -1 to 1.
        members, nonmembers: Scores, a table or a file, as ``macekit.estimate`` takes them.
        client: Who answers: a ``Mace``, or None for this process.
        options: Any option of ``macekit.estimate`` but ``max_advantage``.

    Returns:
        the ``Result``, if the limit holds.

    Raises:
        LimitExceeded: the records show that it does not hold.
        Inconclusive: the records are too few to say.

    Example:
        >>> import numpy as np
        >>> from macekit.testing import assert_advantage_below
        >>> rng = np.random.default_rng(0)
        >>> members, nonmembers = rng.normal(0.1, 1, 1000), rng.normal(0, 1, 1000)
        >>> result = assert_advantage_below(0.2, members, nonmembers)
        >>> result.advantage.upper <= 0.2
        True
    """
    __tracebackhide__ = True  # pytest shows the line that asserted
    if "max_advantage" in options or "threshold" in options:
        raise TypeError("assert_advantage_below() takes the largest advantage as its first argument")
    if maximum is None:  # as a limit it would mean that nothing is to be decided
        raise TypeError("assert_advantage_below() needs a number as its first argument")
    options["max_advantage"] = maximum
    result = (client or Local()).estimate(members, nonmembers, **options)
    advantage, verdict = result.answer["advantage"], result.answer["verdict"]
    interval = (
        f"advantage {advantage['estimate']:.3f}, {100 * advantage['confidence']:.6g}% interval "
        f"{_ends(advantage, maximum)}, baseline {result.answer['baseline']:.3f}, maximum {maximum:g}"
    )
    _settle(
        verdict["decision"], [result.sentence, verdict["reason"], interval], verdict["records_needed"], result
    )
    return result


def assert_gate(
    members: Data, nonmembers: Values = None, *, client: Client | None = None, **limits: Unpack[GateOptions]
) -> Result:
    """Every limit of the gate holds: ``max_advantage``, ``max_tpr``, ``max_epsilon``, ``max`` or ``max_group_risk``.

    A pass that hides exposed members (``rare_exposure``) is a ``UserWarning``.

    Args:
        members, nonmembers: Scores, a table or a file, as ``macekit.gate`` takes them.
        client: Who answers: a ``Mace``, or None for this process.
        limits: Any option of ``macekit.gate``; at least one limit.

    Returns:
        the ``Result``, if every limit holds.

    Raises:
        LimitExceeded: the records show that a limit does not hold.
        Inconclusive: no limit is shown to be exceeded, and the records are too few to say that all hold.

    Example:
        >>> import numpy as np
        >>> from macekit.testing import assert_gate
        >>> rng = np.random.default_rng(0)
        >>> members, nonmembers = rng.normal(0.1, 1, 1000), rng.normal(0, 1, 1000)
        >>> assert_gate(members, nonmembers, max_advantage=0.2, metric="accuracy", max=0.6).decision
        'pass'
    """
    __tracebackhide__ = True
    result = (client or Local()).gate(members, nonmembers, **limits)
    lines = [result.sentence, *(_limit(each) for each in result.answer["limits"])]
    _settle(result.answer["decision"], lines, result.answer["records_needed"], result)
    return result


def _settle(decision: str, lines: list[str], records: int | None, result: Result) -> None:
    __tracebackhide__ = True
    if decision == "pass":
        for each in result.answer["warnings"]:
            if each["code"] == "rare_exposure":
                warnings.warn(f"{each['message']}", stacklevel=3)
        return
    if decision == "fail":
        raise LimitExceeded("\n".join(lines), result)
    more = (
        "in practice no number of records will settle it"
        if records is None
        else f"records needed: about {records}"
    )
    raise Inconclusive("\n".join(["undecided, which is no pass", *lines, more]), result)


def _limit(each: dict[str, Any]) -> str:
    from estimators.statement import exactly
    from macekit.text import printable

    ends = _ends(each, each["maximum"])
    return f"{each['decision']}: {printable(each['about'], 120)}: {ends}, maximum {exactly(each['maximum'])}"


def _ends(advantage: dict[str, Any], maximum: float) -> str:
    """Rounded outward, with the digits it takes to stand on the right side of the maximum."""
    from estimators.statement import at_least, at_most

    lower, upper = advantage["lower"], advantage["upper"]
    above = at_least(lower, beyond=maximum) if lower > maximum else at_least(lower)
    if upper is None:
        return f"{above} to unbounded"
    return f"{above} to {at_most(upper, within=maximum) if upper <= maximum else at_most(upper)}"
