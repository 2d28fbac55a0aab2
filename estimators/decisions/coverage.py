"""What a pass covers and what it does not, in a few lines: they stand under every pass, the same words everywhere."""

from collections.abc import Iterable
from typing import Self

from estimators.optimum.answer import ASSUMED, MOST_CHANGES, Advantage, times
from estimators.python.dataclass import dataclass
from estimators.sample.counts import Counts
from estimators.statement import percent_at_most, rules_along, rules_covered

RECORDS = (
    "It covers records that come as these did: records from elsewhere, and a group of these by itself, may be exposed "
    "more."
)

NOT_SHOWN = "Counts do not show all rows that repeat or stand on both sides, nor sides written with unlike digits."
"""What is looked for in records and cannot be in a grid's counts that came."""

LEAST = 2
"""Changes of guess along a score that upper ends cover, wherever they lie, if nothing else is asked."""

USUAL = f"{rules_along(LEAST)}, or who sort a score into a few steps"
"""The attackers that upper ends of several samples cover, each at its own resolution: after "attackers who"."""

AS_CLOSE = "read it as closely as its upper end covers"
"""The same where each of several answers says it of itself."""


def up_to(result: Advantage, changes: int | None) -> str:
    """Up to how many changes of guess a limit holds, in words to go on with; nothing where the class says so."""
    if changes is None or changes == 0 or result.reads_every_cell or result.upper >= 1.0:
        return ""
    often = f"more than {MOST_CHANGES - 1:,} times" if changes >= MOST_CHANGES else times(changes)
    every = "every attacker who changes" if changes < MOST_CHANGES else "attackers who change"
    return f"{every} their guess {often} along the {_score_read(result)}"


def _score_read(result: Advantage) -> str:
    """The score along which attackers go: as it was counted, unless it was learned here."""
    return "counted score" if result.score == "score" and as_counted(result.fine) else result.score


def coverage_of(result: Advantage, changes: int | None) -> tuple[str, ...]:
    """The attackers that a pass on the advantage covers, and at which resolution, a sentence each."""
    if result.upper >= 1.0:
        return (f"It covers every attacker who reads this {result.read}.",)
    attackers = result.attacker
    if up_to(result, changes):
        steps = None if result.target.name in ASSUMED else result.resolution
        attackers = rules_covered(changes, steps, f"the {_score_read(result)}")
    better = f"; {result.better[0].lower()}{result.better[1:]}" if result.better else ", as every attacker does."
    return (f"It covers attackers who {attackers}{better}", *as_counted(result.fine))


def as_counted(fine: Counts | None) -> tuple[str, ...]:
    """That a pass by these counts does not see what differs within a cell; nothing where each cell is one value.

    There are no such counts of rows in clusters: None.
    """
    cells = _cells_counted(fine)
    if fine is None or cells is None:
        return ()
    note = _as_counted("score as it was", cells, cells, fine.fullest)
    return (note, NOT_SHOWN) if fine.signs is None and fine.cells.kind == "grid" else (note,)


def _as_counted(what: str, cells: int, most: int, fullest: float) -> str:
    """The sentence on the cells in which scores were counted, from the fewest to the most of several."""
    number = f"{cells:,} to {most:,} cells" if cells < most else f"{cells:,} cells" if cells > 1 else "1 cell"
    share = f" with up to {percent_at_most(fullest)} of a side in one" if fullest and most > 1 else ""
    return f"It covers the {what} counted, in {number}{share}: what differs within a cell is not seen."


def _cells_counted(fine: Counts | None) -> int | None:
    """In how many cells a score with an order was counted, if they are likely to hold several values."""
    if fine is None or fine.cells.kind not in ("intervals", "grid"):
        return None
    alone = fine.by_value and fine.n_records <= 2 * fine.size
    return None if alone else fine.size  # of scores, every value has a cell of its own, and few are tied


@dataclass(frozen=True, slots=True)
class Reach:
    """Whom a pass covers that rests on several scores, or on several samples of one.

    Attributes:
        changes: The largest number of changes of guess along any of them with which every attacker keeps the limit;
            None where one of them has no order, or has rows in clusters.
        along: The same of those along which a guess may change more often than it is told how; None if there are none.
        groups: The fewest and the most values, or groups of values, of those that are read whole; None if there are
            none.
        cells: The fewest and the most cells of those that were counted; None if none was.
        fullest: The largest share of a side in a cell of these that may hide what differs.
        own: Of a single score, the sentences on it.
        others: Sentences on whatever else is limited.
    """

    changes: int | None = None
    along: int | None = None
    groups: tuple[int, int] | None = None
    cells: tuple[int, int] | None = None
    fullest: float = 0.0
    own: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @classmethod
    def of(cls, result: Advantage, maximum: float) -> Self:
        """Of one advantage that keeps a maximum."""
        changes = result.holds_up_to(maximum)
        own = coverage_of(result, changes)
        if result.upper >= 1.0:
            return cls(changes, own=own)
        numbers = _cells_counted(result.fine)
        cells = None if numbers is None else (numbers, numbers)
        fullest = 0.0 if numbers is None or result.fine is None else result.fine.fullest
        others = as_counted(result.fine)[1:]
        if result.reads_every_cell:
            return cls(changes, None, (result.resolution, result.resolution), cells, fullest, own, others)
        return cls(changes, LEAST if changes is None else changes, None, cells, fullest, own, others)

    @classmethod
    def together(cls, parts: Iterable[Self]) -> Self:
        """Of several that all pass."""
        every = list(parts)
        changes = [each.changes for each in every]
        return cls(
            None if None in changes else _least(changes),
            _least(each.along for each in every),
            ends_of(each.groups for each in every),
            ends_of(each.cells for each in every),
            max(each.fullest for each in every),
            every[0].own if len({each.own for each in every}) == 1 else (),
            tuple(dict.fromkeys(line for each in every for line in each.others)),
        )

    @property
    def lines(self) -> tuple[str, ...]:
        """The attackers and the resolution that it covers, a sentence each."""
        lines = [*self.own]
        if not self.own and self.along is not None:
            rules = f"{rules_along(self.along)}, or who sort a score into a few steps"
            lines.append(f"It covers attackers who {rules}; a more intricate rule may do better.")
        if not self.own and self.groups is not None:
            fewest, most = self.groups
            rules = rules_covered(None, most, "a score")
            if fewest < most:
                rules = f"see which of {fewest:,} to {most:,} groups of similar values a score falls in"
            lines.append(f"It covers attackers who {rules}; a finer rule may do better.")
        if not self.own and self.cells is not None:
            lines.append(_as_counted("scores as they were", *self.cells, self.fullest))
        return (*lines, *self.others)


NO_PASS = Reach()
"""Of what is no pass."""


def ends_of(ranges: Iterable[tuple[int, int] | None]) -> tuple[int, int] | None:
    """The least and the largest of those that are there."""
    every = [end for each in ranges if each is not None for end in each]
    return (min(every), max(every)) if every else None


def _least(numbers: Iterable[int | None]) -> int | None:
    """The least of those that are there."""
    return min((each for each in numbers if each is not None), default=None)


def covers(coverage: Iterable[str], scores: str = "this score") -> tuple[str, ...]:
    """The lines under a pass, a sentence each: what is coverage, and that nothing else is.

    Example:
        >>> from estimators.decisions.coverage import covers
        >>> for line in covers(["It covers every attacker who reads this score."]):
        ...     print(line)
        It covers every attacker who reads this score.
        It covers this score alone: another one of the same model, or several together, may give away more.
        It covers records that come as these did: records from elsewhere, and a group of these by itself, may be exposed
        more.
    """
    alone = f"It covers {scores} alone: another one of the same model, or several together, may give away more."
    return (*dict.fromkeys(coverage), alone, RECORDS)
