"""Ways of cutting what an adversary can see into cells; none of them looks at who is a member.

A partition knows where a score falls (``locate``), how many cells it has, whether they lie in
order on a line, and how to write itself down. Cells chosen without labels are what makes the
bounds on their counts exact: only the labels are random once the cells stand.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from estimators.arrays import Floats, Integers
from estimators.errors import IncompatibleCells, InvalidCounts
from estimators.python.dataclass import dataclass
from estimators.sample.grid import Grid, intervals_of
from estimators.sample.integers import as_type_of, exact_array


class Cells(Protocol):
    """A finite partition of the score's range."""

    kind: ClassVar[str]
    ordered: ClassVar[bool]

    @property
    def size(self) -> int:
        """Number of cells."""
        ...

    def locate(self, scores: NDArray[np.generic]) -> Integers:
        """Cell of each score, -1 for a score in none of them."""
        ...

    def select(self, keep: Integers) -> Cells:
        """The partition that has only the cells named, in that order."""
        ...

    def to_dict(self) -> dict[str, object]:
        """Plain values that ``from_dict`` reads back."""
        ...


@dataclass(frozen=True, eq=False)
class Categories:
    """One cell for each label; labels are distinct and sorted."""

    labels: NDArray[np.generic]
    kind: ClassVar[str] = "categories"
    ordered: ClassVar[bool] = False

    @property
    def size(self) -> int:
        """Number of labels."""
        return len(self.labels)

    def locate(self, scores: NDArray[np.generic]) -> Integers:
        """Position of each label, -1 for one never seen."""
        numbers, exact = as_type_of(self.labels, np.asarray(scores))
        at = np.minimum(np.searchsorted(self.labels, numbers), self.size - 1)
        return np.where(exact & (self.labels[at] == numbers), at, -1)

    def select(self, keep: Integers) -> Categories:
        """Only the labels named."""
        return Categories(self.labels[keep])

    def to_dict(self) -> dict[str, object]:
        """Labels as plain values."""
        return {"kind": self.kind, "labels": self.labels.tolist()}


@dataclass(frozen=True, eq=False)
class Values(Categories):
    """One cell for each number a discrete score can take; numbers have an order that an adversary may use."""

    kind: ClassVar[str] = "values"
    ordered: ClassVar[bool] = True

    def select(self, keep: Integers) -> Values:
        """Only the values named."""
        return Values(self.labels[keep])


@dataclass(frozen=True, eq=False)
class Intervals:
    """Cell j holds scores in [cuts[j-1], cuts[j]); the first and the last are open to infinity."""

    cuts: Floats
    kind: ClassVar[str] = "intervals"
    ordered: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.cuts.ndim != 1:
            raise InvalidCounts(f"cuts: got {self.cuts.ndim} dimensions, need a list", field="edges")
        if self.cuts.size and not (np.isfinite(self.cuts).all() and (self.cuts[1:] > self.cuts[:-1]).all()):
            raise InvalidCounts("cuts must be finite and strictly increasing", field="edges")

    @property
    def size(self) -> int:
        """Number of intervals."""
        return len(self.cuts) + 1

    def locate(self, scores: NDArray[np.generic]) -> Integers:
        """Interval of each score; every score has one."""
        return intervals_of(self.cuts, scores)

    def select(self, keep: Integers) -> Intervals:
        """Intervals that start where the named ones start; what lies between joins its left neighbour."""
        return Intervals(self.cuts[np.asarray(keep)[1:] - 1])

    def to_dict(self) -> dict[str, object]:
        """Cuts as plain numbers."""
        return {"kind": self.kind, "cuts": self.cuts.tolist()}


@dataclass(frozen=True, eq=False)
class Lattice:
    """The paper's cells: ``bins`` equal slices of each axis between ``low`` and ``high``; occupied ones only."""

    bins: int
    low: Floats
    high: Floats
    keys: Integers
    kind: ClassVar[str] = "lattice"
    ordered: ClassVar[bool] = False

    @property
    def size(self) -> int:
        """Number of occupied cells."""
        return len(self.keys)

    def key_of(self, scores: NDArray[np.generic]) -> Integers:
        """Mixed-radix number of the cell a row falls in; rows outside the range go to its border."""
        rows = np.asarray(scores, dtype=np.float64).reshape(len(scores), -1)
        largest = max(float(np.abs(self.low).max()), float(np.abs(self.high).max()))
        half = 0.5 if largest > 1e307 else 1.0  # no width may overflow
        low, high = half * self.low, half * self.high
        width = np.where(high > low, high - low, 1.0)
        key = np.zeros(len(rows), dtype=np.int64)
        for axis in range(rows.shape[1]):
            at = np.floor((half * rows[:, axis] - low[axis]) / width[axis] * self.bins)
            key = key * self.bins + np.clip(at, 0, self.bins - 1).astype(np.int64)
        return key

    def locate(self, scores: NDArray[np.generic]) -> Integers:
        """Cell of each row, -1 where no record fell."""
        keys = self.key_of(scores)
        at = np.minimum(np.searchsorted(self.keys, keys), self.size - 1)
        return np.where(self.keys[at] == keys, at, -1)

    def select(self, keep: Integers) -> Lattice:
        """Only the cells named."""
        return Lattice(self.bins, self.low, self.high, self.keys[keep])

    def to_dict(self) -> dict[str, object]:
        """Range, bins and keys."""
        return {
            "kind": self.kind,
            "bins": self.bins,
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "keys": self.keys.tolist(),
        }


@dataclass(frozen=True, eq=False)
class Boxes:
    """Leaves of a complete binary tree that halves the pooled records along one axis after another."""

    axes: Integers
    cuts: Floats
    kind: ClassVar[str] = "boxes"
    ordered: ClassVar[bool] = False

    @property
    def size(self) -> int:
        """Number of leaves."""
        return len(self.cuts) + 1

    @classmethod
    def halving(cls, rows: Floats, size: int) -> Boxes:
        """Cut at medians of the pooled rows until there are about ``size`` leaves (a power of two)."""
        depth = max(1, int(np.log2(max(size, 2))))
        axes, cuts = np.zeros(2**depth - 1, dtype=np.int64), np.zeros(2**depth - 1)
        parts = [rows]
        for level in range(depth):
            axis, halves = level % rows.shape[1], []
            for offset, part in enumerate(parts):
                node = 2**level - 1 + offset
                cut = float(np.median(part[:, axis])) if len(part) else 0.0
                axes[node], cuts[node] = axis, cut
                right = part[:, axis] > cut
                halves += [part[~right], part[right]]
            parts = halves
        return cls(axes, cuts)

    def locate(self, scores: NDArray[np.generic]) -> Integers:
        """Leaf of each row; every row has one."""
        rows = np.asarray(scores, dtype=np.float64).reshape(len(scores), -1)
        node, index = np.zeros(len(rows), dtype=np.int64), np.arange(len(rows))
        while node.size and node[0] < len(self.cuts):
            node = 2 * node + 1 + (rows[index, self.axes[node]] > self.cuts[node])
        return node - len(self.cuts)

    def select(self, keep: Integers) -> Boxes:
        """Boxes cannot be dropped: an empty one still answers for what may fall into it."""
        raise IncompatibleCells("boxes cannot be selected from")

    def to_dict(self) -> dict[str, object]:
        """Axes and cuts of the tree, level by level."""
        return {"kind": self.kind, "axes": self.axes.tolist(), "cuts": self.cuts.tolist()}


@dataclass(frozen=True, eq=False)
class Halves:
    """Cells of two scores, one after the other; which of the two a record has is not seen from its score."""

    parts: tuple[Cells, Cells]
    kind: ClassVar[str] = "halves"
    ordered: ClassVar[bool] = False

    @property
    def size(self) -> int:
        """Cells of both."""
        return self.parts[0].size + self.parts[1].size

    def locate(self, scores: NDArray[np.generic]) -> Integers:
        """A number alone does not say which of the two scores it is."""
        raise IncompatibleCells("cells of two scores: say which of the two a score is")

    def select(self, keep: Integers) -> Halves:
        """Cells of two scores cannot be dropped."""
        raise IncompatibleCells("cells of two scores cannot be selected from")

    def to_dict(self) -> dict[str, object]:
        """Both, one after the other."""
        return {"kind": self.kind, "parts": [part.to_dict() for part in self.parts]}


def places(own: Cells, whole: Cells) -> Integers:
    """Where each of these cells lies among those of counts that they were merged into.

    Args:
        own: The cells of some of the counts.
        whole: Those of all, as ``Counts.merge`` makes them.
    """
    match own, whole:
        case Grid(), Grid():
            return whole.locate(own.lower_edges)
        case Categories(), Categories():
            return np.searchsorted(whole.labels, own.labels.astype(whole.labels.dtype))
        case Lattice(), Lattice():
            return np.searchsorted(whole.keys, own.keys)
    return np.arange(whole.size)  # cells that merge only if they are the same


def cells_from_dict(value: dict[str, object]) -> Cells:
    """Read back what ``to_dict`` wrote."""
    if not isinstance(value, dict):
        raise InvalidCounts.about("cells", "need a mapping with a kind")
    kind = value.get("kind")
    try:
        if kind == Categories.kind:
            return Categories(_ascending(exact_array(value["labels"]), "biufU"))
        if kind == Values.kind:
            return Values(_ascending(exact_array(value["labels"]), "biuf"))
        if kind == Intervals.kind:
            return Intervals(np.asarray(value["cuts"], dtype=np.float64))
        if kind == Grid.kind:
            return Grid.from_dict(value)
        if kind == Lattice.kind:
            low, high = (np.asarray(value[end], dtype=np.float64) for end in ("low", "high"))
            bins = int(value["bins"])  # type: ignore[call-overload]
            fits = low.ndim == 1 and low.shape == high.shape and bool(np.isfinite([low, high]).all())
            if not fits or bins < 1 or not (low <= high).all():
                raise InvalidCounts("cells of kind 'lattice': range or bins do not fit", field="cells")
            return Lattice(bins, low, high, _ascending(np.asarray(value["keys"], dtype=np.int64), "i"))
        if kind == Boxes.kind:
            axes, cuts = (np.asarray(value["axes"], dtype=np.int64), np.asarray(value["cuts"], dtype=np.float64))
            tree = axes.ndim == 1 and axes.shape == cuts.shape and (axes.size + 1) & axes.size == 0
            if not tree or not np.isfinite(cuts).all() or (axes < 0).any():
                message = "cells of kind 'boxes': not a complete tree of finite cuts"
                raise InvalidCounts(message, field="cells")
            return Boxes(axes, cuts)
    except InvalidCounts:
        raise
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InvalidCounts(f"cells of kind {kind!r} are incomplete or malformed", field="cells") from error
    kinds = ", ".join(each.kind for each in (Categories, Values, Intervals, Grid, Lattice, Boxes))
    raise InvalidCounts.about("cells", f"unknown kind; known are {kinds}")


def _ascending(labels: NDArray[Any], kinds: str) -> NDArray[Any]:
    """Labels or keys as every partition here keeps them: a list of one plain type, distinct and sorted."""
    if labels.ndim != 1 or labels.dtype.kind not in kinds or not (labels[1:] > labels[:-1]).all():
        raise InvalidCounts.about("cells", "labels or keys must be a list of one type, distinct and sorted")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise InvalidCounts.about("cells", "a label is NaN or infinite")
    return labels
