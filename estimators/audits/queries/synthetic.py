"""What a released table gives away about the rows that it was made from: queries that read nothing else.

A score is a function of the record, the released table and the reference, which an attacker has, and of nothing else:
not of who else is asked about, and not of the side on which the record stands. `Release` holds those two tables and
scores any record; both sides are scored by the same object.

Distances are those of `table.encode`: a number counts its share of the range, a category 1 if it differs.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from math import log

import numpy as np

from estimators.arrays import Floats, Integers
from estimators.audits.queries.neighbours import Neighbours, nearest
from estimators.audits.queries.query import Query, by_name, choose, finite
from estimators.audits.queries.rows import Rows
from estimators.audits.queries.table import Encoding
from estimators.errors import OptionError, require_count, require_positive
from estimators.python.dataclass import dataclass

NEAREST = 5  # the k of k-th neighbours
KERNELS = 32  # neighbours over which a density is taken; further ones add next to nothing to it
LOCAL = 10  # released rows near a record that are asked whether they prefer it

NEAR = 0.01
"""A near copy differs by no category, and in all numbers together by at most this share of a range."""

COPY = 2048.0
"""What an exact copy counts in the ball: more than all that is no copy can, for -log of the least float is 745."""

RARE = 0.01  # a value that at most this share of the reference has is rare

MOST_COLUMNS = 32
"""Columns whose pairs are looked at: those with the most different values in the reference."""

AT_ONCE = 2**22  # neighbours held at once while those in a ball are gathered

Search = Callable[[Floats, Floats, int, str], Neighbours]
"""From records, rows, k and a metric to the k nearest rows of each record, as ``nearest`` does."""

NEIGHBOURS = "one search for neighbours in the released table"
BOTH = "a search for neighbours in the released table and one in the reference"
WITH_REFERENCE = ("synthetic", "reference")

CATALOGUE: dict[str, Query] = by_name(
    (
        Query(
            "exact_copy",
            "Yale et al. 2019 (identical match share)",
            "the record itself was released: 1 if a released row equals it in every column, in as few digits as either "
            "table has, else 0",
            "a sort",
            "all copies tie at 1, all other records at 0",
            ("synthetic",),
        ),
        Query(
            "near_copy",
            "Lu et al. 2019; SDMetrics, NewRowSynthesis",
            "1 if a released row has all its categories, and its numbers up to 1% of a range, all of them together",
            NEIGHBOURS,
            "an exact copy is a near copy: all tie at 1",
            ("synthetic",),
        ),
        Query(
            "closeness",
            "MACE, Eq. 2; Hilprecht et al. 2019; Chen et al. 2020 (GAN-Leaks, full black box)",
            "a released row is near: minus the distance to the nearest",
            NEIGHBOURS,
            "an exact copy has 0, the most there is; ties are equal distances, as among few categories",
            ("synthetic",),
        ),
        Query(
            "kth_closeness",
            "MACE, Eq. 2, for the k-th; Chen et al. 2020",
            "several released rows are near: minus the distance to the k-th nearest (5th)",
            NEIGHBOURS,
            "0 only where k released rows are copies; one copy among them is not seen",
            ("synthetic",),
        ),
        Query(
            "closeness_ratio",
            "Lowe 2004; NNDR of Platzer and Reutterer 2021",
            "one released row is nearer than all others: minus the nearest distance as a share of the second nearest",
            NEIGHBOURS,
            "an exact copy has 0, the most there is, also where there are several; all others below, down to -1",
            ("synthetic",),
        ),
        Query(
            "ball",
            "MACE, Eq. 1; Hilprecht et al. 2019 (Monte Carlo attack, median heuristic)",
            "many released rows are near: the mean over them all of -log(distance / radius), 0 outside the radius",
            "neighbours in the released table, as many as lie within the radius",
            "Eq. 1 is infinite at an exact copy; here each copy counts 2048 whole: a record with a copy lies above "
            "every record without one, one with two above one with one. Records with nothing in the ball tie at 0",
            ("synthetic",),
        ),
        Query(
            "calibrated_closeness",
            "Chen et al. 2020 (GAN-Leaks, calibrated)",
            "nearer to the released table than to other people: d_reference / (d_reference + d_synthetic)",
            BOTH,
            "every exact copy has 1, the most there is; a record that is a copy of both has 1/2, which says nothing",
            WITH_REFERENCE,
        ),
        Query(
            "density_ratio",
            "van Breugel et al. 2023 (DOMIAS)",
            "more released rows than people are around: log density of the released table over the reference's",
            BOTH,
            "an exact copy has no place of its own: it is one near row among several",
            WITH_REFERENCE,
        ),
        Query(
            "local_rank",
            "ours; a rank form of the calibration in Chen et al. 2020",
            "nearer to the released table than the people most like it: the share of the 32 nearest reference rows "
            "that are farther from it",
            BOTH + ", and one from the reference to the released table",
            "at most 65 values, so many ties; equal distances count half. An exact copy has 1, if nobody around is one",
            WITH_REFERENCE,
        ),
        Query(
            "local_likelihood",
            "Ward et al. 2025 (Gen-LRA)",
            "the 10 released rows around are likelier once the record is in the reference: the log likelihood ratio",
            BOTH + ", and one from the released table to the reference",
            "an exact copy counts most where people are few",
            WITH_REFERENCE,
        ),
        Query(
            "rare_values",
            "Giomi et al. 2023 (univariate singling out)",
            "values that hardly any person of the reference has stand in the released table, and in the record",
            "a count of values",
            "records without a rare value tie at 0; so do most without a leak",
            WITH_REFERENCE,
        ),
        Query(
            "rare_pairs",
            "Giomi et al. 2023 (multivariate singling out)",
            "the same for two values together, for all pairs of at most 32 columns",
            "a count of values for every pair of columns",
            "records without a rare pair tie at 0",
            WITH_REFERENCE,
        ),
    )
)
"""Every query of a released table by name."""


@dataclass(frozen=True, slots=True)
class SyntheticScores:
    """Scores of both sides, by query: the higher, the more like a member.

    Attributes:
        members: For each query one number a member.
        nonmembers: The same for nonmembers.
    """

    members: Mapping[str, Floats]
    nonmembers: Mapping[str, Floats]


def synthetic_scores(
    tables: Encoding,
    names: Sequence[str] | None = None,
    metric: str = "l1",
    k: int = NEAREST,
    radius: float | None = None,
    near: float | None = None,
) -> SyntheticScores:
    """What each query says of every record of both sides.

    Args:
        tables: What `encode` or `encode_points` makes.
        names: Keys of ``CATALOGUE``; None for all that need no reference, and, if there is one, those that do.
        metric: ``l1``, Gower's distance of mixed tables, or ``l2``, of images and features.
        k: Which neighbour ``kth_closeness`` looks at.
        radius: Of the ball of Eq. 1; None for the median distance of the reference to the released table.
        near: The distance of a near copy; None for 0.01, or, of unscaled points, 0.01 of the radius.

    Raises:
        UnknownName: a query that is none.
        OptionError: a query that needs a reference, and there is none; ``l2`` of categories.

    Example:
        >>> from estimators.audits.queries import encode, synthetic_scores
        >>> ages, others, released = {"age": [31, 47]}, {"age": [20, 70]}, {"age": [30, 50, 47]}
        >>> scores = synthetic_scores(encode(ages, others, released), ["closeness", "exact_copy"])
        >>> scores.members["closeness"].round(2).tolist(), scores.members["exact_copy"].tolist()
        ([-0.05, 0.0], [0.0, 1.0])
    """
    if metric == "l2" and any(column.kind == "category" for column in tables.columns):
        raise OptionError.about("metric", "l2 is for numbers, and the tables have categories; take l1")
    release = Release(tables.synthetic, tables.reference, metric, k, radius, near, scaled=bool(tables.columns))
    return SyntheticScores(release.scores(tables.members, names), release.scores(tables.nonmembers, names))


@dataclass(frozen=True)
class Release:
    """A released table and the reference beside it: all that a score reads beside its record.

    Attributes:
        synthetic: The released rows.
        reference: Rows that belong to neither side; None if there are none.
        metric: ``l1`` or ``l2``.
        k: Which neighbour ``kth_closeness`` looks at.
        wanted_radius: Of the ball; None for what the two tables suggest.
        wanted_near: The distance of a near copy; None for the default.
        scaled: Whether a distance of 1 is the whole range of a column.
        search: What finds neighbours; ``nearest``, or what remembers some of its answers.
    """

    synthetic: Rows
    reference: Rows | None = None
    metric: str = "l1"
    k: int = NEAREST
    wanted_radius: float | None = None
    wanted_near: float | None = None
    scaled: bool = True
    search: Search = nearest

    def __post_init__(self) -> None:
        require_count("k", self.k)
        for name, value in (("radius", self.wanted_radius), ("near", self.wanted_near)):
            if value is not None:
                require_positive(name, value)

    def scores(self, records: Rows, names: Sequence[str] | None = None) -> dict[str, Floats]:
        """One number a record for each query.

        Args:
            records: Rows of one side, encoded with the released table.
            names: Which queries to ask; None: each whose tables are there.
        """
        available = ("synthetic",) if self.reference is None else WITH_REFERENCE
        queries = choose(CATALOGUE, names, available)
        for name in queries:
            if not set(CATALOGUE[name].needs) <= set(available):
                raise OptionError(
                    f"query {name!r} needs a reference: rows like the others that belong to neither side",
                    field="reference",
                )
        around = _Surroundings(self, records)
        return {name: finite(_FORMULAS[name](around)) for name in queries}

    @property
    def people(self) -> Rows:
        """The reference, for queries that need one."""
        if self.reference is None:
            raise OptionError("this query needs a reference", field="reference")
        return self.reference

    @cached_property
    def radius(self) -> float:
        """Of the ball: half of the reference lies farther from the released table, or half of its own rows."""
        if self.wanted_radius is not None:
            return float(self.wanted_radius)
        if self.reference is not None:
            return typical(self.to_synthetic.distances[:, 0])
        if len(self.synthetic) == 1:
            return 1.0
        points = self.synthetic.points
        return typical(self.search(points, points, 2, self.metric).distances[:, 1])

    @cached_property
    def near(self) -> float:
        """The distance of a near copy."""
        if self.wanted_near is not None:
            return float(self.wanted_near)
        return NEAR if self.scaled and self.metric == "l1" else NEAR * self.radius

    @cached_property
    def to_synthetic(self) -> Neighbours:
        """From the reference to the released table."""
        return self.search(self.people.points, self.synthetic.points, 1, self.metric)

    @cached_property
    def to_people(self) -> Neighbours:
        """From the released table to the reference."""
        return self.search(self.synthetic.points, self.people.points, KERNELS, self.metric)

    @cached_property
    def bandwidth(self) -> float:
        """Of the kernels: a typical distance from a released row to its k-th person, the same for both densities."""
        return typical(self.to_people.distances[:, min(NEAREST, len(self.people)) - 1])


class _Surroundings:
    """Records that are asked about, with their neighbours as far as they are needed."""

    def __init__(self, release: Release, records: Rows) -> None:
        self.release = release
        self.records = records

    @cached_property
    def synthetic(self) -> Neighbours:
        """Their nearest released rows."""
        k = max(KERNELS, self.release.k)
        return self.release.search(self.records.points, self.release.synthetic.points, k, self.release.metric)

    @cached_property
    def people(self) -> Neighbours:
        """Their nearest reference rows."""
        return self.release.search(self.records.points, self.release.people.points, KERNELS, self.release.metric)


def closeness(distances: Floats, k: int = 1) -> Floats:
    """Minus the distance to the k-th nearest row, or to the last where there are fewer (MACE, Eq. 2, for k = 1)."""
    return -distances[:, min(k, distances.shape[1]) - 1]


def closeness_ratio(distances: Floats) -> Floats:
    """Minus the nearest distance as a share of the second nearest; -1 where there is no second."""
    if distances.shape[1] < 2:
        return np.where(distances[:, 0] == 0.0, 0.0, -1.0)
    first, second = distances[:, 0], distances[:, 1]
    return -np.divide(first, second, out=np.zeros(len(first)), where=first > 0.0)


def log_kernels(distances: Floats, bandwidth: float) -> Floats:
    """The log of the sum of exp(-distance / bandwidth) over each record's neighbours."""
    scaled = -distances / bandwidth
    most = scaled.max(axis=1)
    return np.asarray(most + np.log(np.exp(scaled - most[:, None]).sum(axis=1)))


def typical(distances: Floats) -> float:
    """The median distance; where that is 0, the mean of the others, and 1 where all are 0."""
    middle = float(np.median(distances))
    if middle > 0.0:
        return middle
    positive = distances[distances > 0.0]
    return float(positive.mean()) if len(positive) else 1.0


def _exact_copy(around: _Surroundings) -> Floats:
    return np.isin(around.records.records, around.release.synthetic.records).astype(np.float64)


def _near_copy(around: _Surroundings) -> Floats:
    near = around.synthetic.distances[:, 0] <= around.release.near
    return np.maximum(near.astype(np.float64), _exact_copy(around))


def _ball(around: _Surroundings) -> Floats:
    """Eq. 1 with distances in radii, so that no summand is negative whatever the unit of a distance."""
    release, distances = around.release, around.synthetic.distances
    rows = release.synthetic.points
    total = _ball_sums(distances, release.radius, len(rows))
    open_ended = np.flatnonzero((distances[:, -1] <= release.radius) & (distances.shape[1] < len(rows)))
    k = distances.shape[1]
    while len(open_ended):
        k = min(4 * k, len(rows))
        step = max(1, AT_ONCE // k)
        still = []
        for start in range(0, len(open_ended), step):
            which = open_ended[start : start + step]
            far = release.search(around.records.points[which], rows, k, release.metric).distances
            total[which] = _ball_sums(far, release.radius, len(rows))
            still.append(which[(far[:, -1] <= release.radius) & (k < len(rows))])
        open_ended = np.concatenate(still)
    return total


def _ball_sums(distances: Floats, radius: float, n: int) -> Floats:
    inside = (distances > 0.0) & (distances <= radius)
    logs = np.log(distances, out=np.full(distances.shape, log(radius)), where=inside)
    return np.asarray((log(radius) - logs).sum(axis=1) / n + COPY * (distances == 0.0).sum(axis=1))


def _calibrated_closeness(around: _Surroundings) -> Floats:
    """The second distance as a share of both: 1 where the first is 0, and 1/2 where both are."""
    near, beside = around.synthetic.distances[:, 0], around.people.distances[:, 0]
    both = near + beside
    return np.asarray(np.divide(beside, both, out=np.full(len(near), 0.5), where=both > 0.0))


def _density_ratio(around: _Surroundings) -> Floats:
    release = around.release
    released = log_kernels(around.synthetic.distances[:, :KERNELS], release.bandwidth)
    people = log_kernels(around.people.distances, release.bandwidth)
    return (released - log(len(release.synthetic))) - (people - log(len(release.people)))


def _local_rank(around: _Surroundings) -> Floats:
    """The share of a record's nearest people who are farther from the released table than it is; ties count half."""
    own = around.synthetic.distances[:, :1]
    theirs = around.release.to_synthetic.distances[:, 0][around.people.rows]
    return np.asarray(((theirs > own) + 0.5 * (theirs == own)).mean(axis=1))


def _local_likelihood(around: _Surroundings) -> Floats:
    """The log likelihood of the nearest released rows under the reference with the record, over that without it."""
    release = around.release
    n = len(release.people)
    near = around.synthetic.distances[:, :LOCAL]
    without = log_kernels(release.to_people.distances, release.bandwidth)[around.synthetic.rows[:, :LOCAL]]
    gain = np.logaddexp(0.0, -near / release.bandwidth - without)
    return np.asarray(gain.sum(axis=1) + near.shape[1] * log(n / (n + 1)))


def _rare_values(around: _Surroundings) -> Floats:
    return _rare(around, [(column,) for column in range(around.records.values.shape[1])])


def _rare_pairs(around: _Surroundings) -> Floats:
    people = around.release.people.values
    different = np.array([len(np.unique(column)) for column in people.T])
    columns = np.sort(np.argsort(-different, kind="stable")[:MOST_COLUMNS])
    return _rare(around, list(combinations(columns.tolist(), 2)))


def _rare(around: _Surroundings, combined: Sequence[tuple[int, ...]]) -> Floats:
    """How much more frequent the record's rare values are in the released table than among people, in logs."""
    release = around.release
    tables = (around.records.values, release.synthetic.values, release.people.values)
    total = np.zeros(len(around.records))
    most = RARE * len(release.people)
    for columns in combined:
        own, released, people = _keys(tables, columns)
        in_released, among_people = _counts(own, released), _counts(own, people)
        more = np.log((in_released + 0.5) / (len(released) + 1.0)) - np.log((among_people + 0.5) / (len(people) + 1.0))
        counts = (in_released > 0) & (among_people <= most)
        total += np.where(counts, np.maximum(more, 0.0), 0.0)
    return total


def _keys(tables: Sequence[Integers], columns: tuple[int, ...]) -> list[Integers]:
    """One number for each row's values in some columns."""
    keys = [table[:, columns[0]] + 1 for table in tables]
    for column in columns[1:]:
        width = max(int(table[:, column].max(initial=-1)) for table in tables) + 2
        keys = [key * width + table[:, column] + 1 for key, table in zip(keys, tables, strict=True)]
    return keys


def _counts(keys: Integers, among: Integers) -> Integers:
    """How often each key stands among others."""
    different, counts = np.unique(among, return_counts=True)
    place = np.minimum(np.searchsorted(different, keys), len(different) - 1)
    return np.where(different[place] == keys, counts[place], 0)


_FORMULAS: Mapping[str, Callable[[_Surroundings], Floats]] = {
    "exact_copy": _exact_copy,
    "near_copy": _near_copy,
    "closeness": lambda around: closeness(around.synthetic.distances),
    "kth_closeness": lambda around: closeness(around.synthetic.distances, around.release.k),
    "closeness_ratio": lambda around: closeness_ratio(around.synthetic.distances),
    "ball": _ball,
    "calibrated_closeness": _calibrated_closeness,
    "density_ratio": _density_ratio,
    "local_rank": _local_rank,
    "local_likelihood": _local_likelihood,
    "rare_values": _rare_values,
    "rare_pairs": _rare_pairs,
}
