"""The advantage of one rule that was fixed before the rows were seen, of rows that come in clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from estimators.clusters.betting import Shares, draws_of, lower_by_bets, of_guesses
from estimators.clusters.design import Bools, Clusters, Integers
from estimators.clusters.effective import Accuracy
from estimators.sample.counts import Counts

Fortunes = tuple[Shares, ...]


@dataclass(frozen=True, eq=False, slots=True)
class RuleEnds:
    """Both ends at any level: of the guesses from below, and of the opposite ones from above."""

    right: Accuracy | Fortunes
    wrong: Accuracy | Fortunes

    @classmethod
    def of(cls, clusters: Clusters, at: Integers, fine: Counts, right: Bools, seed: int) -> RuleEnds:
        """Judge the guesses: all rows are unseen, as nothing was learned from any.

        Args:
            clusters: The cluster of each row, members first.
            at: The fine cell of each row.
            fine: Counts on the fine cells.
            right: Whether each row's guess is right.
            seed: Whole number from which draws of rows are made, where two columns cross and have few labels.
        """
        if clusters.by_betting:
            draws = draws_of(clusters, seed)
            ways = (
                tuple(
                    of_guesses(part, each[rows], np.ones(part.rows, dtype=np.int64)) for part, rows in draws
                )
                for each in (right, ~right)
            )
            return cls(*ways)
        correlations = clusters.correlations(at, fine)
        weights, alike = clusters.weights(max(correlations)), clusters.inflation(correlations)
        return cls(*(Accuracy.of(clusters, weights, alike, each) for each in (right, ~right)))

    @property
    def finite_sample(self) -> bool:
        """Whether they hold at every number of clusters."""
        return not isinstance(self.right, Accuracy)

    def advantage(self, alpha: float) -> tuple[float, float]:
        """Lower and upper end, each of level 1 - alpha."""
        return _lower(self.right, alpha), -_lower(self.wrong, alpha)


def _lower(way: Accuracy | Fortunes, alpha: float) -> float:
    return way.lower(alpha) if isinstance(way, Accuracy) else lower_by_bets(way, alpha)
