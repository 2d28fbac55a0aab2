"""MIS, section 6.2 on scikit-learn's digits: what discretising costs in accuracy, and what it buys.

    OMP_NUM_THREADS=1 .venv/bin/python -m examples.theory.mis.digits -o examples/theory/mis/digits.svg

As in the paper: clusterings (MiniBatchKMeans, K = 20, 50, 100) learned on records that are used for nothing else, every
other record replaced by the centre of its cluster, networks trained on either, and C_K of the clusters. But what a
classifier learns from are pairs of a centre and a *label*: Corollary 15 is about C_K of the pairs, and only where the
label is a function of the cell do the cells alone suffice. So there are two kinds of networks: learning the records'
labels (the paper's), and learning each cell's most frequent label among the records of the clustering.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

from estimators.statement import Interval, at_least, at_most
from estimators.theory.mis.binomials import Tally
from estimators.theory.mis.certified import diversity, worst_delta_from
from estimators.theory.mis.security import c_k, simple_delta, worst_delta
from examples.theory.drawing import line_chart, write_svg
from examples.theory.table import arguments, table
from macekit.reports.charts.frame import Spec

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

LABELS = 10
SEED = 0


@dataclass(frozen=True)
class Size:
    """How large everything is."""

    cells: tuple[int, ...]
    records: tuple[int, ...]
    repeats: int
    for_clusters: int = 500
    for_tests: int = 397


FULL = Size((20, 50, 100), (200, 500, 900), repeats=10)
QUICK = Size((20, 50), (200,), repeats=1)


@dataclass(frozen=True)
class Cut:
    """The records of one clustering's own part, and those of everything else."""

    x: Floats
    y: Whole
    own_x: Floats
    own_y: Whole

    @classmethod
    def of(cls, size: Size) -> Cut:
        """scikit-learn's digits, brightness from 0 to 1, in an order of their own."""
        x, y = load_digits(return_X_y=True)
        order = np.random.default_rng(SEED).permutation(len(y))
        own, rest = order[: size.for_clusters], order[size.for_clusters :]
        return cls(x[rest] / 16.0, y[rest], x[own] / 16.0, y[own])


@dataclass(frozen=True)
class Discretisation:
    """Cells learned on the clustering's own records, and where all others fall."""

    centres: Floats
    labels: Whole
    cell: Whole

    @classmethod
    def of(cls, cut: Cut, cells: int) -> Discretisation:
        """A cell's own label is the most frequent one among the clustering's records in it."""
        clusters = MiniBatchKMeans(cells, random_state=SEED, n_init=3).fit(cut.own_x)
        votes = np.zeros((cells, LABELS), dtype=np.int64)
        np.add.at(votes, (clusters.predict(cut.own_x), cut.own_y), 1)
        return cls(clusters.cluster_centers_, votes.argmax(axis=1), clusters.predict(cut.x))

    def tallies(self) -> Whole:
        """Records in each cell."""
        return np.bincount(self.cell, minlength=len(self.centres))

    def pairs(self, y: Whole) -> Whole:
        """Records in each cell with each label."""
        return np.bincount(self.cell * LABELS + y, minlength=len(self.centres) * LABELS)

    def purity(self, y: Whole) -> float:
        """No classifier of the cells is right more often on these records."""
        return float(self.pairs(y).reshape(-1, LABELS).max(axis=1).sum() / len(y))


RAW = "raw"
OF_RECORDS = "the record's label"
OF_CELLS = "the cell's label"


def accuracies(
    size: Size, cut: Cut, discretisations: dict[int, Discretisation], n: int
) -> dict[tuple[int, str], Floats]:
    """Of a network for every way of seeing the same ``n`` records: once for every split of them from the test."""
    result: dict[tuple[int, str], list[float]] = {}
    for repeat in range(size.repeats):
        order = np.random.default_rng([SEED, n, repeat]).permutation(len(cut.y))
        train, test = order[:n], order[-size.for_tests :]
        ways = {(0, OF_RECORDS): (cut.x, cut.y)}
        for cells, each in discretisations.items():
            centres = each.centres[each.cell]
            ways[cells, OF_RECORDS] = centres, cut.y
            ways[cells, OF_CELLS] = centres, each.labels[each.cell]
        for way, (x, y) in ways.items():
            right = learned(x[train], y[train], repeat).predict(x[test]) == cut.y[test]
            result.setdefault(way, []).append(float(np.mean(right)))
    return {way: np.array(each) for way, each in result.items()}


def learned(x: Floats, y: Whole, seed: int) -> MLPClassifier:
    """A ReLU network of two hidden layers under Adam at 0.01, all records at once: the paper's, 64 wide for its 256."""
    network = MLPClassifier((64, 64), learning_rate_init=0.01, batch_size=len(x), max_iter=500, random_state=seed)
    return network.fit(x, y)


@dataclass(frozen=True)
class Row:
    """One way of learning from ``n`` records; raw ones have no cells, no tallies and no bound."""

    n: int
    cells: int
    labels: str
    accuracy: Floats
    paper: float
    """The paper's bound: C_K of the cells, whatever the labels, over 2 sqrt n."""
    purity: float
    """No classifier of the cells is right more often on the records that the clusters have not seen."""
    tallies: Whole
    """How many records there are of each kind that a learner can tell apart: cells, or pairs of cell and label."""

    @property
    def diversity(self) -> float:
        """C_K of those kinds, as they are in the sample."""
        return c_k(self.tallies / self.tallies.sum())

    @property
    def delta(self) -> float:
        """Theorem 14 on the sample: an estimate of the most that any learner gives away."""
        return worst_delta(self.tallies / self.tallies.sum(), self.n)

    def limits(self) -> tuple[Interval, Interval]:
        """95% intervals of C_K and of Delta, at every sample size."""
        tally = Tally.of_counts(self.tallies, universe=self.tallies.size)
        return diversity(tally).interval, worst_delta_from(tally, self.n).interval

    def texts(self) -> tuple[str, ...]:
        """Accuracy, what the paper says of Delta, and what we say."""
        right = f"{self.accuracy.mean():.3f}"
        if len(self.accuracy) > 1:
            right += f" ± {self.accuracy.std(ddof=1):.3f}"
        if not self.cells:
            return str(self.n), RAW, self.labels, right, "", "", "", ""
        spanned, delta = self.limits()
        return (
            *(str(self.n), str(self.cells), self.labels, right, f"{self.purity:.3f}", f"{self.paper:.3f}"),
            f"{self.diversity:.2f} [{at_least(spanned.lower, 2)}, {at_most(spanned.upper, 2)}]",
            f"{self.delta:.3f} [{at_least(delta.lower)}, {at_most(delta.upper)}]",
        )


def measured(size: Size) -> list[Row]:
    """Everything, measured."""
    cut = Cut.of(size)
    discretisations = {cells: Discretisation.of(cut, cells) for cells in size.cells}
    rows = []
    for n in size.records:
        for (cells, labels), right in accuracies(size, cut, discretisations, n).items():
            if not cells:
                rows.append(Row(n, 0, labels, right, nan, nan, np.zeros(0, dtype=np.int64)))
                continue
            alone, pairs = discretisations[cells].tallies(), discretisations[cells].pairs(cut.y)
            paper = simple_delta(c_k(alone / alone.sum()), n)
            kinds = pairs if labels == OF_RECORDS else alone
            rows.append(Row(n, cells, labels, right, paper, discretisations[cells].purity(cut.y), kinds))
    return rows


def markdown(rows: list[Row]) -> str:
    """What was measured."""
    head = (
        *("n", "cells", "learns", "accuracy", "at best", "paper's bound on Delta"),
        *("C_K [95%]", "exact Delta [95%]"),
    )
    return table(head, [each.texts() for each in rows])


def figure(rows: list[Row]) -> Spec:
    """What accuracy costs: one line for each n and kind of labels, from few cells to many."""
    series = {}
    for n in sorted({each.n for each in rows}):
        for labels in (OF_RECORDS, OF_CELLS):
            line = [each for each in rows if (each.n, each.labels) == (n, labels) and each.cells]
            points = [each.delta for each in line], [float(each.accuracy.mean()) for each in line]
            series[f"n = {n}, learns {labels}"] = points
    return line_chart(
        "Digits: accuracy against the most any learner gives away",
        "exact Delta of the sample's distribution",
        "accuracy on new records",
        series,
        dashed=[name for name in series if name.endswith(OF_CELLS)],
    )


def main() -> None:
    """Learn, print, and draw if asked."""
    options = arguments(__doc__ or "").parse_args()
    rows = measured(QUICK if options.quick else FULL)
    print(markdown(rows))
    if options.o:
        write_svg(figure(rows), options.o)


if __name__ == "__main__":
    main()
