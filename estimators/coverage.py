"""What a pass covers and what it does not, in a few lines: they stand under every pass, the same words everywhere."""

from __future__ import annotations

from collections.abc import Iterable

from estimators.advantage import ASSUMED, MOST_CHANGES, Advantage, times
from estimators.sample.counting import EXACT_RECORDS
from estimators.sample.counts import Counts
from estimators.statement import rules_along, rules_covered

RECORDS = (
    "It covers records that come as these did: records from elsewhere, and a group of these by itself, may be exposed "
    "more."
)

USUAL = f"{rules_along(2)}, or who sort a score into a few steps"
"""The attackers that upper ends of several samples cover, each at its own resolution: after "attackers who"."""

AS_CLOSE = "read it as closely as its upper end covers"
"""The same where each of several answers says it of itself."""

OF_SEVERAL = f"It covers attackers who {USUAL}; a more intricate rule may do better."


def up_to(result: Advantage, changes: int | None) -> str:
    """Up to how many changes of guess a limit holds, in words to go on with; nothing where the class says it already.

    Args:
        result: The advantage that passes.
        changes: The largest number of changes for which it does, as ``Advantage.holds_up_to`` finds it.
    """
    if changes is None or changes == 0 or result.reads_every_cell or result.upper >= 1.0:
        return ""
    often = f"more than {MOST_CHANGES - 1:,} times" if changes >= MOST_CHANGES else times(changes)
    every = "every attacker who changes" if changes < MOST_CHANGES else "attackers who change"
    return f"{every} their guess {often} along the {result.score}"


def coverage_of(result: Advantage, changes: int | None) -> tuple[str, ...]:
    """The attackers that a pass on the advantage covers, and at which resolution, a sentence each.

    Args:
        result: The advantage that passes.
        changes: The largest number of changes for which it does.
    """
    if result.upper >= 1.0:
        return (f"It covers every attacker who reads this {result.read}.",)
    attackers = result.attacker
    if up_to(result, changes):
        steps = None if result.target.name in ASSUMED else result.resolution
        attackers = rules_covered(changes, steps, f"the {result.score}")
    attackers = f"It covers attackers who {attackers}; {result.better[0].lower()}{result.better[1:]}"
    cells = _cells_counted(result.fine)
    if cells is None:
        return (attackers,)
    number = f"in {cells:,} cells" if cells > 1 else "in 1 cell"
    return (
        attackers,
        f"It covers the score as it was counted, {number}: what differs within a cell is not seen.",
    )


def _cells_counted(fine: Counts | None) -> int | None:
    """In how many cells a score with an order was counted, if they are likely to hold several values."""
    if fine is None or fine.cells.kind not in ("intervals", "grid"):
        return None
    alone = fine.cells.kind == "intervals" and fine.n_records <= min(2 * fine.size, EXACT_RECORDS)
    return None if alone else fine.size  # of scores, every value has a cell of its own, and few are tied


def covers(coverage: Iterable[str], scores: str = "this score") -> tuple[str, ...]:
    """The lines under a pass, a sentence each: what is coverage, and that nothing else is.

    Args:
        coverage: Sentences on the attackers and on the resolution.
        scores: What was looked at, in words.

    Example:
        >>> from estimators.coverage import covers
        >>> for line in covers(["It covers every attacker who reads this score."]):
        ...     print(line)
        It covers every attacker who reads this score.
        It covers this score alone: another one of the same model, or several together, may give away more.
        It covers records that come as these did: records from elsewhere, and a group of these by itself, may be exposed
        more.
    """
    alone = (
        f"It covers {scores} alone: another one of the same model, or several together, may give away more."
    )
    return (*dict.fromkeys(coverage), alone, RECORDS)
