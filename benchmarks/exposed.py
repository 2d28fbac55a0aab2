"""Exposed members by name: is a list of any length more wrong than it says, how long are lists, and what do they cost?

A member who "scores as a nonmember" is drawn from the nonmembers' law, the others are exposed. "Simes" and "DKW" bound
the same lists in other ways. Three minutes on two cores.
"""

import numpy as np

from benchmarks.harness import Run, least, mark, table
from benchmarks.worlds import Rng
from estimators import Scores
from estimators.audits.exposed import exposed_members

RUNS = 300
LEVEL = 0.025
SIZES = ((300, 300), (2000, 2000), (2000, 20_000))
"""Members, and nonmembers that they are held against."""
WORLDS = {
    "half exposed, shift 1": (0.5, 1.0, 0),
    "half exposed, shift 2": (0.5, 2.0, 0),
    "5% memorised": (0.05, 6.0, 0),
    "half exposed, shift 2, ties": (0.5, 2.0, 2),
    "none exposed": (0.0, 0.0, 0),
}
"""The share that is exposed, by how much they are shifted, and how many steps a unit of the score has; 0 for all."""
SHARES = (0.1, 0.2, 0.5)


def draw(name: str, rng: Rng, members: int, nonmembers: int) -> tuple[Scores, int]:
    """Scores of both sides, and how many members are exposed: they come first."""
    share, shift, steps = WORLDS[name]
    exposed = int(share * members)
    known = np.append(rng.normal(shift, 1, exposed), rng.normal(size=members - exposed))
    sides = known, rng.normal(size=nonmembers)
    return Scores.of(*(np.round(each * steps) / steps if steps else each for each in sides)), exposed


def beyond(scores: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Records at or above each cut."""
    return len(scores) - np.searchsorted(np.sort(scores), cuts, "left")


def one(task: tuple[str, int, int, int]) -> list[list[float]]:
    """For each way: whether any list is wrong, its longest ones by their false share, and how many are certified."""
    name, members, nonmembers, run = task
    data, exposed = draw(name, np.random.default_rng((5, run)), members, nonmembers)
    lists = exposed_members(data, direction="high")
    records = lists.records
    truly = beyond(data.members[exposed:], lists.scores)
    above = beyond(data.nonmembers, lists.scores)
    simes = np.ceil(members * (above + 1) / (nonmembers + 1) / LEVEL - 1e-9) - 1
    width = np.sqrt(np.log(1 / LEVEL) / 2) * np.sqrt(1 / members + 1 / nonmembers) * np.sqrt(2)
    dkw = members * (above / nonmembers + width)
    rows = []
    for false in (np.minimum(each, records) for each in (lists.most_false, simes, dkw)):
        longest = [max([0, *records[false <= share * records]]) for share in SHARES]
        rows.append([bool((truly > false).any()), *longest, max(0, int((records - false).max()))])
    return rows


@table
def lists(run: Run):
    """Any list wrong; the mean longest list; the most members certified to be exposed."""
    yield (
        "members, of whom | members : nonmembers | runs | any list wrong | certified | longest at 10% | 20% | 50% | "
        "Simes: certified | at 10% | DKW: certified | at 10%"
    )
    runs = run.times(RUNS, 4)
    for name, (members, nonmembers) in run.few([(name, size) for size in SIZES for name in WORLDS], 3):
        tasks = [(name, members, nonmembers, each) for each in range(runs)]
        rows = np.array(run.map(one, tasks), dtype=float)
        (wrong, ten, twenty, half, most), simes, dkw = rows.mean(axis=0)
        odd = mark(int(rows[:, 0, 0].sum()), runs)
        run.faults += bool(odd)
        yield (
            f"{name} | {members}:{nonmembers} | {runs} | {100 * wrong:.1f}%{odd} | {most:.0f} | {ten:.0f} | "
            f"{twenty:.0f} | {half:.0f} | {simes[4]:.0f} | {simes[1]:.0f} | {dkw[4]:.0f} | {dkw[1]:.0f}"
        )


@table
def cost(run: Run):
    """Seconds the first time, and again of the same numbers of records, beside two sorts."""
    yield "members : nonmembers | first, s | again, s | two np.sort, s"
    for members, nonmembers in run.few([(2000, 2000), (20_000, 20_000), (200_000, 200_000)], 1):
        data, _ = draw("5% memorised", np.random.default_rng(1), members, nonmembers)
        first = least(lambda data=data: exposed_members(data), 1)
        again = least(lambda data=data: exposed_members(data))
        sorts = least(lambda data=data: [np.sort(each) for each in (data.members, data.nonmembers)])
        yield f"{members:,}:{nonmembers:,} | {first:.2f} | {again:.3f} | {sorts:.4f}"
