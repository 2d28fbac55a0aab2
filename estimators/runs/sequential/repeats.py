"""Whether a batch was there before: a mark of its sorted records, and a sketch of the records of all batches.

The mark of a batch is a digest of its values and of how many records have each, side by side, so that their order does
not matter. Whatever the law of the scores, a new batch is that very one with a probability of at most
``n! / prod a! prod (a/n)^a`` a side, where ``a`` records have a value: the largest that any law gives it.

The sketch holds the ``MOST_HASHES`` smallest keyed hashes of (side, value) of the whole run, and how many records have
each: a sample of the values, the same whoever looks. If the new batch and those before come from one law, all records
are exchangeable: which of them are in the batch is a draw without replacement, whatever the values. So how many values
the batch would share with those before by chance follows from how many records have each value at all, and no law need
be known; a Chernoff bound of it holds at every size. A score of few values is shared by chance, and is seen to be.

Numbers count as equal if they agree in about nine digits.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlog1py, xlogy

from estimators.arrays import Floats, Integers
from estimators.errors import IncompatibleCells, InputError
from estimators.python.dataclass import dataclass, field, replace
from estimators.sample.cells import Categories, Cells, Intervals, Values
from estimators.sample.counting import on_cells
from estimators.sample.counts import Counts
from estimators.sample.digests import digest
from estimators.sample.scores import Scores

Hashes = NDArray[np.uint64]

MARK = 16  # digits of a batch's mark
MOST_HASHES = 1024  # hashes of a sketch, of both sides together
WIDTH = 8  # digits, to the base of 16, of a hash; its last bit says whose side it is of

BITS = 4 * WIDTH

DIGITS = 30  # binary digits by which numbers are told apart: about nine decimal ones
REFUSE_BELOW = 1e-6  # a repeat that is less likely by chance is one
DOUBTED = 0.05  # a repeat that is less likely by chance is worth a word
TILTS = np.linspace(0.05, 25.0, 100)  # where the Chernoff bound is tried; it holds at each


@dataclass(frozen=True, eq=False, slots=True)
class Side:
    """One side of a batch: its values, sorted, and how many records have each."""

    values: NDArray[np.generic]
    counts: Integers

    @property
    def n_records(self) -> int:
        """Records of this side."""
        return int(self.counts.sum())


Sides = tuple[Side, Side]  # members, and nonmembers


def sides_of(batch: Scores | Counts) -> Sides:
    """A batch without the order of its records; of counts a value is a label, or the place of an interval."""
    if isinstance(batch, Counts):
        cells = batch.cells
        values = _comparable(cells.labels) if isinstance(cells, Categories) else np.arange(cells.size)
        return _side_of_counts(values, batch.members), _side_of_counts(values, batch.nonmembers)
    return _side(batch.members), _side(batch.nonmembers)


def _side(scores: NDArray[np.generic]) -> Side:
    values, counts = np.unique(_comparable(scores), return_counts=True)
    return Side(values, counts.astype(np.int64))


def _side_of_counts(values: NDArray[np.generic], counts: Integers) -> Side:
    return Side(values[counts > 0], counts[counts > 0])


def _comparable(scores: NDArray[np.generic]) -> NDArray[np.generic]:
    """Numbers to so many digits, whatever type they came in; text as it is."""
    if scores.dtype.kind in "US":
        return scores
    shares, exponents = np.frexp(scores.astype(np.float64))
    return np.asarray(np.ldexp(np.round(np.ldexp(shares, DIGITS)), exponents - DIGITS) + 0.0)  # no -0.0


def mark_of(sides: Sides) -> str:
    """The same for a batch in any order of its records."""
    return digest(*(column for side in sides for column in (side.values, side.counts)))[:MARK]


def chance_of_mark(sides: Sides) -> float:
    """The largest probability that any law gives to a batch of these values, or 1e-300 if that is less."""
    logarithm = 0.0
    for side in sides:
        n, counts = side.n_records, side.counts
        logarithm += gammaln(n + 1.0) - gammaln(counts + 1.0).sum() + xlogy(counts, counts / n).sum()
    return float(np.clip(np.exp(logarithm), 1e-300, 1.0))


@dataclass(frozen=True, slots=True)
class Repeat:
    """Records of a batch that share their value with records before, on the same side or on the other.

    Attributes:
        n_shared: How many; an estimate unless ``exact``.
        n_records: How many records the batch has.
        exact: Whether every value was looked at, and not a sample of them.
        chance: Probability, at most, that so many do by chance.
        is_whole: Whether the batch is an earlier one, whatever the order of its records.
        side: On which side: ``same``, or ``other`` if the sides have changed places.
    """

    n_shared: int
    n_records: int
    exact: bool
    chance: float
    is_whole: bool = False
    side: Literal["same", "other"] = "same"

    @property
    def words(self) -> str:
        """How many share what, in words."""
        what = f"share their value with records before, on the {self.side} side"
        if self.n_shared == self.n_records and self.exact:
            return f"all {self.n_records} of its records {what}"
        about = "" if self.exact else "about "
        by = "" if self.exact else " (estimated from a sample of the scores)"
        return f"{about}{self.n_shared} of its {self.n_records} records{by} {what}"


@dataclass(frozen=True, eq=False, slots=True)
class Sketch:
    """The smallest hashes of a run's values, ascending, how many records have each, and records of both sides."""

    n_members: int = 0
    n_nonmembers: int = 0
    hashes: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    counts: Integers = field(default_factory=lambda: np.zeros(0, np.int64))

    def after(self, sides: Sides, key: str) -> tuple[Sketch, Repeat | None]:
        """The sketch with a batch more, and what of the batch was there before; None if most of it was not."""
        return self.merge(Sketch(sides[0].n_records, sides[1].n_records, *_hashed(sides, key)))

    def merge(self, other: Sketch) -> tuple[Sketch, Repeat | None]:
        """The sketch of both, if both have one key, and what of the other's records is here; None if most is not."""
        limits = [each.hashes[-1] for each in (self, other) if len(each.hashes) >= MOST_HASHES]
        union = np.union1d(self.hashes, other.hashes)
        pool = union[union <= min(limits, default=2**BITS)][:MOST_HASHES]  # of these both know all records
        before, now = (_counts_of(pool, each.hashes, each.counts) for each in (self, other))
        sizes = [other.n_members, other.n_nonmembers]
        together = Sketch(self.n_members + sizes[0], self.n_nonmembers + sizes[1], pool, before + now)
        shared = (before > 0) & (now > 0)
        if 2 * int(shared.sum()) <= int((now > 0).sum()):
            return together, None
        chance = _chance_of_sharing(
            int(shared.sum()), before + now, pool & 1 == 1, (self.n_members, self.n_nonmembers), sizes
        )
        exact = len(self.hashes) < MOST_HASHES and len(union) <= MOST_HASHES
        n_shared, n_seen, total = int(now[shared].sum()), int(now.sum()), sum(sizes)
        return together, Repeat(n_shared if exact else round(total * n_shared / n_seen), total, exact, chance)

    def to_dict(self) -> dict[str, Any]:
        """Plain values; the counts are left out where each is 1."""
        return {
            "records": [self.n_members, self.n_nonmembers],
            "hashes": "".join(f"{each:0{WIDTH}x}" for each in self.hashes.tolist()),
            "counts": None if (self.counts == 1).all() else self.counts.tolist(),
        }


def _counts_of(pool: Integers, hashes: Integers, counts: Integers) -> Integers:
    """How many records have each hash of a pool."""
    if not len(hashes):
        return np.zeros(len(pool), np.int64)
    at = np.minimum(np.searchsorted(hashes, pool), len(hashes) - 1)
    return np.where(hashes[at] == pool, counts[at], 0)


def _chance_of_sharing(
    n_shared: int, totals: Integers, of_members: NDArray[np.bool_], before: tuple[int, int], sizes: list[int]
) -> float:
    """A limit of the probability that a batch shares so many values with what was before.

    Given how many records of a value there are at all (``totals``), each is in the batch with the probability that the
    sizes say. Values would then be independent, were the size of the batch not fixed: what has a probability of P if
    they are has one of at most P times that of the most likely number of all other records, over that of the size.
    """
    logarithm, penalty = np.zeros(len(TILTS)), 0.0
    for side, earlier, size in zip((of_members, ~of_members), before, sizes, strict=True):
        if not earlier or not size:
            continue
        n, share = earlier + size, size / (earlier + size)
        others = n - int(totals[side].sum())
        mode = int((others + 1) * share)
        penalty += _log_binomial(mode, others, share) - _log_binomial(size, n, share)
        values, times = np.unique(totals[side], return_counts=True)
        both = 1.0 - (1.0 - share) ** values - share**values
        logarithm += np.log1p(np.outer(np.expm1(TILTS), both)) @ times
    return float(min(1.0, np.exp((logarithm - TILTS * n_shared).min() + penalty)))


Marks = tuple[tuple[str, float], ...]
"""The mark of each batch, and the most that its coming by chance could have been probable."""


def chance_of_common(marks: Marks, others: Marks) -> float:
    """How probable it is, at most, that as many batches of two runs are alike by chance as are."""
    chances, n_others = dict(marks), len(others)
    common = np.sort([chances[mark] for mark, _ in others if mark in chances])
    sizes = np.arange(1, len(common) + 1)
    with np.errstate(divide="ignore"):
        logarithms = np.cumsum(np.log(np.minimum(1.0, n_others * common)))
    ways = gammaln(len(marks) + 1) - gammaln(sizes + 1) - gammaln(len(marks) - sizes + 1)
    return float(min(1.0, np.exp((logarithms + ways).min(initial=0.0))))


def with_batch(marks: Marks, sketch: Sketch, sides: Sides, key: str) -> tuple[Marks, Sketch, Repeat | None]:
    """Marks and sketch with a batch more, and what of it was there before, by whichever chance explains less."""
    mark, chance = mark_of(sides), chance_of_mark(sides)
    together, repeat = sketch.after(sides, key)
    turned = sketch.after((sides[1], sides[0]), key)[1]
    if turned is not None and (repeat is None or turned.chance < repeat.chance):
        repeat = replace(turned, side="other")
    if mark in dict(marks):
        chances = [min(1.0, len(marks) * chance), *([] if repeat is None else [repeat.chance])]
        n_records = sum(side.n_records for side in sides)
        repeat = Repeat(n_records, n_records, True, min(chances), True)
    return (*marks, (mark, float(f"{chance:.1e}"))), together, repeat


def _hashed(sides: Sides, key: str) -> tuple[Integers, Integers]:
    """The smallest hashes of the values of both sides, ascending, and how many records have each; one more than a
    sketch holds, so that it shows if there are more."""
    parts = [
        (_hashes(side.values, f"{key} {name}") >> np.uint64(64 - BITS + 1) << np.uint64(1)) | np.uint64(bit)
        for side, name, bit in zip(sides, ("member", "nonmember"), (1, 0), strict=True)
    ]
    hashes = np.concatenate(parts).astype(np.int64)
    counts = np.concatenate([side.counts for side in sides])
    if len(hashes) > MOST_HASHES + 1:
        smallest = np.argpartition(hashes, MOST_HASHES)[: MOST_HASHES + 1]
        hashes, counts = hashes[smallest], counts[smallest]
    hashes, at = np.unique(hashes, return_inverse=True)
    return hashes, np.bincount(at, counts, len(hashes)).astype(np.int64)


def _hashes(values: NDArray[np.generic], key: str) -> Hashes:
    secret = blake2b(key.encode(), digest_size=16).digest()
    if values.dtype.kind in "US":
        texts = (value.encode() if isinstance(value, str) else bytes(value) for value in values.tolist())
        digests = b"".join(blake2b(text, digest_size=8, key=secret).digest() for text in texts)
        return np.frombuffer(digests, "<u8")
    first, second = np.frombuffer(secret, "<u8")
    return _mixed(_mixed(values.astype(np.float64).view(np.uint64) ^ first) ^ second)


def _mixed(words: Hashes) -> Hashes:
    """Each word as another one, every bit of it hanging on every bit (Steele, Lea and Flood 2014, SplitMix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(words ^ (words >> np.uint64(31)))


def _log_binomial(successes: int, trials: int, share: float) -> float:
    """The logarithm of a binomial probability."""
    ways = gammaln(trials + 1.0) - gammaln(successes + 1.0) - gammaln(trials - successes + 1.0)
    return float(ways + xlogy(successes, share) + xlog1py(trials - successes, -share))


# On which cells the batches of a run are counted: those that a few scores of the first one show, and then the same.

PILOT = 500  # records a side, at most, whose scores show where cells begin; they are judged in no end

FEWEST_PILOT = 5
SHARE_OF_PILOT = 0.2

CUTS = 1024  # cells of a score, about: a rule may cut it wherever one begins
OUTWARD = 12  # cuts beyond the least and the largest score of the pilot, ever further apart

MERGEABLE = ("intervals", "categories", "values")
"""Kinds of cells that stay what they are as more records come."""


def place(batch: Scores | Counts, before: Counts | None) -> Counts:
    """A batch as counts on cells that go with those before it.

    Args:
        batch: Scores of new records, or their counts.
        before: All records so far; None if this is the first batch.

    Raises:
        MaceError: vectors, numbers where labels came before, or cells that change as records come.
    """
    if isinstance(batch, Counts):
        if batch.cells.kind not in MERGEABLE:
            raise IncompatibleCells(
                f"cells of kind {batch.cells.kind} change as records come; count on edges of your own, or send scores",
                field="counts",
            )
        return batch
    if batch.dimension > 1:
        raise InputError("scores: a run needs one number or label a record, got vectors", field="members")
    if before is not None and isinstance(before.cells, Intervals):
        if not np.issubdtype(np.result_type(batch.members, batch.nonmembers), np.number):
            raise IncompatibleCells("scores: the batches before had numbers, not labels", field="members")
        return on_cells(batch, before.cells)
    if before is not None and isinstance(before.cells, Values) is (batch.members.dtype.kind in "US"):
        came, comes = ("numbers", "text") if isinstance(before.cells, Values) else ("text", "numbers")
        message = f"scores: the batches before had {came} as labels, this one has {comes}"
        raise IncompatibleCells(message, field="members")
    labels, at = np.unique(np.concatenate([batch.members, batch.nonmembers]), return_inverse=True)
    cells = (Categories if labels.dtype.kind in "US" else Values)(labels)
    return _count(np.split(at.reshape(-1), [batch.n_members]), cells)


def pilot_and_rest(batch: Scores, rng: np.random.Generator) -> tuple[Counts, Counts]:
    """A few records of the first batch, whose scores show where cells begin, and the others on these cells."""
    if batch.dimension > 1:
        raise InputError("scores: a run needs one number or label a record, got vectors", field="members")
    sides = [rng.permutation(np.asarray(side, np.float64)) for side in (batch.members, batch.nonmembers)]
    if any(len(side) < 2 * FEWEST_PILOT for side in sides):
        raise InputError(
            f"scores: the first batch needs {2 * FEWEST_PILOT} records a side; later ones may be smaller",
            field="members",
        )
    sizes = [min(PILOT, max(FEWEST_PILOT, int(SHARE_OF_PILOT * len(side)))) for side in sides]
    pilot_sides = [side[:size] for side, size in zip(sides, sizes, strict=True)]
    rest = [side[size:] for side, size in zip(sides, sizes, strict=True)]
    values, records = np.unique_counts(np.concatenate(pilot_sides))
    behind = np.nextafter(values[records > 1], np.inf)  # a score that several have is a cell of its own
    cells = Intervals(np.union1d(_cuts(values), behind[np.isfinite(behind)]))
    pilot, others = (_count([cells.locate(side) for side in part], cells) for part in (pilot_sides, rest))
    return pilot, others


def same_cells(counts: Counts, merger: Counts) -> Integers:
    """Both sides' counts on the cells of a merger, (2, cells)."""
    if counts.size == merger.size or not isinstance(merger.cells, Categories):
        return np.array([counts.members, counts.nonmembers])
    assert isinstance(counts.cells, Categories)
    at = np.searchsorted(merger.cells.labels, counts.cells.labels)
    wide = np.zeros((2, merger.size), np.int64)
    wide[:, at] = [counts.members, counts.nonmembers]
    return wide


def _count(places: list[Integers], cells: Cells) -> Counts:
    """Counts of both sides, from the cell of each record."""
    members, nonmembers = (np.bincount(side, minlength=cells.size) for side in places)
    return Counts.trusted(members, nonmembers, cells)


@np.errstate(over="ignore", invalid="ignore")  # where no float lies, there is no cut
def _cuts(values: Floats) -> Floats:
    """About as many cuts as a run keeps, of distinct values: at each, evenly between two, and beyond both ends.

    Between two values half of the cuts are even in size and half in order of magnitude: a gap may reach from 1e-9 to 1.
    """
    if len(values) >= CUTS:
        some = np.linspace(1, len(values) - 1, CUTS - 1).astype(np.int64)
        return np.asarray(values[some])
    low, high = float(values[0]), float(values[-1])
    outward = max(high - low, abs(high), 1e-300) * np.geomspace(1 / 32, 32, OUTWARD)
    parts = np.arange(1, max(1, (CUTS - 2 * OUTWARD) // (2 * len(values))) + 1)[:, None]
    share = parts / (len(parts) + 1.0)
    even = values[:-1] + share * np.diff(values)
    alike = np.sign(values[:-1]) * np.sign(values[1:]) > 0
    first, last = np.abs(values[:-1][alike]), np.abs(values[1:][alike])
    by_magnitude = np.sign(values[1:][alike]) * first * (last / first) ** share
    every = np.concatenate([values, even.ravel(), by_magnitude.ravel(), low - outward, high + outward])
    return np.unique(every[np.isfinite(every)])[1:]
