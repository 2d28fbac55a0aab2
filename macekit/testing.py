"""Limits as assertions, for pytest and any other runner: a model that gives away too much fails its tests.

Undecided is no pass: too few records to say so fail, too, in words of their own (``Inconclusive``).
"""

from typing import Unpack

from macekit.client.client import Client, Local
from macekit.client.keywords import AdvantageOptions, GateOptions
from macekit.client.options import Data, Values
from macekit.client.result import Inconclusive, LimitExceeded, Result, settle

__all__ = ["Inconclusive", "LimitExceeded", "assert_advantage_below", "assert_gate"]


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
    settle(result)
    return result


def assert_gate(
    members: Data, nonmembers: Values = None, *, client: Client | None = None, **limits: Unpack[GateOptions]
) -> Result:
    """Every limit of the gate holds, such as ``max_advantage``, ``max_tpr`` or ``max_group_advantage``.

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
    settle(result)
    return result
