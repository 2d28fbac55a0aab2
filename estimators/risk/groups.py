"""What one group of records bears: the mean over its records of a risk that is read off all records together.

The mean is of the risk at the cells the group's records fell into. Its limits average the limits of
those cells, which hold together for all cells and therefore for every group at once, however many.
It is no statement about the group by itself: that is ``within_groups``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence, Sized
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.arrays import Floats, Integers
from estimators.errors import DimensionMismatch, InputError, InvalidCounts, MixedTypes, TooManyCells
from estimators.python.dataclass import dataclass
from estimators.sample.cells import Cells, places
from estimators.sample.counts import Counts
from estimators.sample.plain_arrays import labels_of
from estimators.sample.scores import Scores

ALIKE = "write labels alike everywhere"

MOST_COUNTS = 2**26  # groups times cells a table of counts may have


@dataclass(frozen=True, eq=False)
class GroupRisks:
    """A row for each group, in sorted order of the labels.

    ``records`` are those with a known risk and ``unknown`` those whose score was never sampled; ``risk``
    is the mean over the former, masked where there are none (its limits are then 0 and 1). The mean of
    plug-in risks is biased upward, the limits are not.
    """

    labels: NDArray[np.generic]
    records: Integers
    unknown: Integers
    flagged: Integers
    risk: np.ma.MaskedArray[tuple[int, ...], np.dtype[np.float64]]
    lower: Floats
    upper: Floats
    confidence: float

    @property
    def size(self) -> int:
        """Number of groups."""
        return len(self.labels)


def group_risks(
    groups: ArrayLike,
    cell: NDArray[np.integer],
    risk: Floats,
    lower: Floats,
    upper: Floats,
    flagged: NDArray[np.bool_],
    confidence: float,
) -> GroupRisks:
    """Mean risk of each group's records; ``cell`` is each record's, -1 if unknown, the rest are per cell.

    The limits hold together with probability ``confidence`` if the cells' limits do (Bonferroni over cells).
    """
    labels, code = codes_of(labels_of(groups, "groups"), len(cell))
    inside = cell >= 0
    which, at = code[inside], cell[inside]
    records = np.bincount(which, minlength=len(labels)).astype(np.int64)

    def mean(column: NDArray[np.generic]) -> Floats:
        return np.bincount(which, weights=column[at], minlength=len(labels)) / np.maximum(records, 1)

    return GroupRisks(
        labels,
        records,
        np.bincount(code, minlength=len(labels)).astype(np.int64) - records,
        np.bincount(which[flagged[at]], minlength=len(labels)).astype(np.int64),
        np.ma.MaskedArray(mean(risk), mask=records == 0),
        mean(lower),
        np.where(records > 0, np.minimum(mean(upper), 1.0), 1.0),  # a mean of ones may round above 1
        confidence,
    )


@dataclass(frozen=True, eq=False)
class GroupTable:
    """How many records of each group lie in each cell of the counts of all, labels in sorted order."""

    labels: NDArray[np.generic]
    members: Integers
    nonmembers: Integers

    @classmethod
    def of(
        cls, counts: Counts, labels: ArrayLike, members: Sequence[ArrayLike], nonmembers: Sequence[ArrayLike]
    ) -> GroupTable:
        """The table of groups that together are ``counts``.

        Args:
            counts: Those of all groups.
            labels: One a group, all text or all numbers.
            members: For each group its members in each of the cells of ``counts``.
            nonmembers: Likewise.

        Raises:
            InvalidCounts: a label twice, numbers of another length, or that do not add up to those of all.
        """
        if isinstance(labels, list) and len({isinstance(label, str) for label in labels}) > 1:
            raise MixedTypes.about("groups", "labels must be all text or all numbers")
        names = labels_of(labels, "groups")
        _require_few(names, counts.cells)
        order = np.argsort(names, kind="stable")
        if (names[order][1:] == names[order][:-1]).any():
            raise InvalidCounts("by_group: two have the same label", field="groups")
        sides = []
        for rows, name, total in ((members, "members", counts.members), (nonmembers, "nonmembers", counts.nonmembers)):
            table = np.array([_whole_numbers(row, name, counts.size) for row in rows], dtype=np.int64)
            table = table.reshape(len(rows), counts.size)
            together, about = table.sum(axis=0), table.sum(axis=0, dtype=np.float64)  # integers may go round
            if not (np.array_equal(together, total) and np.allclose(about, total, rtol=1e-9, atol=0.0)):
                at = int(np.argmax(together != total))
                raise InvalidCounts(
                    f"by_group: in cell {at} all groups together have {together[at]} {name}, the counts {total[at]}",
                    field="groups",
                )
            sides.append(table[order])
        return cls(names[order], sides[0], sides[1])

    @classmethod
    def of_scores(
        cls, scores: Scores, member_groups: ArrayLike, nonmember_groups: ArrayLike, cells: Cells
    ) -> GroupTable:
        """The table of records with a label each."""
        sides = [labels_of(side, "groups") for side in (member_groups, nonmember_groups)]
        for side, records, name in zip(
            sides, (scores.members, scores.nonmembers), ("member", "nonmember"), strict=True
        ):
            if len(side) != len(records):
                message = f"{name} groups: got {len(side)} labels for {len(records)} records"
                raise DimensionMismatch(message, field="groups")
        labels, code = codes_of(np.concatenate(sides), len(sides[0]) + len(sides[1]))
        _require_few(labels, cells)
        tables = []
        for name, records, codes in (
            ("member", scores.members, code[: len(sides[0])]),
            ("nonmember", scores.nonmembers, code[len(sides[0]) :]),
        ):
            at = cells.locate(records)
            if (at < 0).any():
                index = int(np.argmax(at < 0))
                message = f"{name} scores: record {index} falls into none of the given cells"
                raise InputError(message, index=index)
            tables.append(_crosstab(codes, at, len(labels), cells.size))
        return cls(labels, tables[0], tables[1])

    @classmethod
    def merged(cls, counts: Counts, shards: Sequence[tuple[Cells, GroupTable]]) -> GroupTable:
        """The groups of several counts together.

        Args:
            counts: What the counts were merged into.
            shards: The cells of each, and its groups; a group need not be in all of them.

        Raises:
            MixedTypes: text in one spells a number of another in another way.
            TooManyCells: more than can be answered.
        """
        called = one_kind(label for _, table in shards for label in table.labels.tolist())
        labels = list(dict.fromkeys(called.values()))
        _require_few(labels, counts.cells)
        row = {label: at for at, label in enumerate(labels)}
        members, nonmembers = np.zeros((2, len(labels), counts.size), dtype=np.int64)
        for cells, table in shards:
            rows = np.array([row[called[label]] for label in table.labels.tolist()], dtype=np.int64)
            at = np.ix_(rows, places(cells, counts.cells))
            np.add.at(members, at, table.members)  # cells of a finer grid may share a place
            np.add.at(nonmembers, at, table.nonmembers)
        return cls.of(counts, labels, list(members), list(nonmembers))

    def to_list(self) -> list[dict[str, object]]:
        """Plain values, as counts have them under ``by_group``."""
        columns = self.labels.tolist(), self.members.tolist(), self.nonmembers.tolist()
        return [
            {"label": label, "members": members, "nonmembers": nonmembers}
            for label, members, nonmembers in zip(*columns, strict=True)
        ]

    def risks(
        self,
        cell: NDArray[np.integer],
        risk: Floats,
        lower: Floats,
        upper: Floats,
        flagged: NDArray[np.bool_],
        confidence: float,
    ) -> GroupRisks:
        """Mean risk of each group's records, as ``group_risks`` states it; ``cell`` is where each cell here belongs."""
        pooled = self.members + self.nonmembers
        records = pooled.sum(axis=1)

        def mean(column: NDArray[np.generic]) -> Floats:
            means: Floats = pooled @ column[cell].astype(np.float64) / np.maximum(records, 1)
            return means

        return GroupRisks(
            self.labels,
            records,
            np.zeros(len(records), dtype=np.int64),
            pooled @ flagged[cell].astype(np.int64),
            np.ma.MaskedArray(mean(risk), mask=records == 0),
            mean(lower),
            np.where(records > 0, np.minimum(mean(upper), 1.0), 1.0),
            confidence,
        )


def _require_few(labels: Sized, cells: Cells) -> None:
    if len(labels) * cells.size > MOST_COUNTS:
        message = f"{len(labels)} groups on {cells.size} cells each; use fewer cells or coarser groups"
        raise TooManyCells(message, field="groups")


def _whole_numbers(column: ArrayLike, name: str, size: int) -> Integers:
    """A group's records in each cell."""
    try:
        numbers = np.asarray(column)
    except ValueError:  # ragged
        numbers = np.zeros(0)
    whole = numbers.shape == (size,) and (
        numbers.dtype.kind in "iu" or (numbers.dtype.kind == "f" and (numbers == np.rint(numbers)).all())
    )
    if not whole or (size and not 0 <= numbers.min() <= numbers.max() < 2**62):
        message = f"by_group: {name} need to be a whole number for each of {size} cells"
        raise InvalidCounts(message, field="groups")
    return numbers.astype(np.int64)


def one_kind(labels: Iterable[Hashable], field: str = "groups") -> dict[Hashable, Any]:
    """What each label of several sources is called: where some are text, as in CSV, a number is what spells it there.

    Raises:
        MixedTypes: a text spells a number in another way, so that it may or may not be the same label.
    """
    every = dict.fromkeys(labels)
    numbers = [label for label in every if not isinstance(label, str)]
    if len(numbers) in (0, len(every)):
        return {label: label for label in every}
    truth = any(isinstance(label, bool) for label in numbers)
    called = {}
    for text in (label for label in every if isinstance(label, str)):
        called[text] = text.lower() if truth and text.lower() in ("true", "false") else text
        if (number := _number_in(text)) is not None and spelled(number) != text:
            raise MixedTypes.about(field, f"some are numbers, and a text spells one otherwise (007, 1.0); {ALIKE}")
    if len(set(called.values())) < len(called):
        raise MixedTypes.about(field, f"true and false stand there as text in several spellings; {ALIKE}")
    return called | {label: spelled(label) for label in numbers}


def spelled(number: object) -> str:
    """A number, or true or false, as a table of text has it; text is itself."""
    if isinstance(number, str):
        return number
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    return str(number).lower()


def _number_in(text: str) -> float | None:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return None


def codes_of(labels: NDArray[np.generic], length: int) -> tuple[NDArray[np.generic], Integers]:
    """Distinct labels in order, and the place of each record's label among them."""
    if labels.ndim != 1 or len(labels) != length:
        raise DimensionMismatch.about("groups", f"got {labels.size} labels for {length} records")
    if labels.dtype.kind == "U":  # by hashing: sorting millions of texts takes far longer than finding few
        texts = labels.tolist()
        names = sorted(set(texts))
        place = {text: at for at, text in enumerate(names)}
        codes = np.fromiter(map(place.__getitem__, texts), np.int64, len(texts))
        return np.array(names, dtype=labels.dtype), codes
    try:
        distinct, code = np.unique(labels, return_inverse=True)
    except TypeError:
        raise MixedTypes.about("groups", "labels must be all text or all numbers") from None
    return distinct, code.reshape(-1).astype(np.int64)


def _crosstab(rows: Integers, columns: Integers, n_rows: int, n_columns: int) -> Integers:
    flat = np.bincount(rows * n_columns + columns, minlength=n_rows * n_columns)
    return flat.reshape(n_rows, n_columns).astype(np.int64)
