"""Risk at a point of a continuous score, from the records around it: an asymptotic companion of ``risk``.

A window holds the m = N^0.6 records nearest in rank, labels unseen; their members are one binomial and
its limits are exact. What is not exact is to read the window's risk as the point's: that takes densities
that hardly change across it. Simulated coverage at the 5% to 95% points is .92-.99 at a nominal .95;
windows of N^0.7 fail in the tails (study 2.5, T-D2). Ranks make it blind to monotone transforms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from estimators.errors import DimensionMismatch, InputError, require_open_unit
from estimators.risk.cells import Conditional, Limits, Masked, risk_at_share
from estimators.sample.cells import Intervals
from estimators.sample.counts import require_data
from estimators.sample.locating import targets_of
from estimators.sample.scores import ArgumentScores, Query, Scores
from estimators.statement import IID, VERSION, Caution, Guarantee, Provenance

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

EXPONENT = 0.6
"""Windows of N^0.6 records: few enough for the smoothing bias to stay below the width of the limits."""

SMOOTH = IID + "; both densities hardly change across a window (asymptotic: the smoothing bias is ignored)"


@dataclass(frozen=True, eq=False)
class WindowRisk:
    """A row for each target; masked, with limits [-1, 1] and [0, 1], beyond the sampled range."""

    members: Integers
    nonmembers: Integers
    signed_risk: Masked
    signed: Limits
    limits: Limits
    cautions: tuple[Caution, ...]
    provenance: Provenance

    @property
    def risk(self) -> Masked:
        """|f_p|, plugged in."""
        return np.ma.abs(self.signed_risk)  # type: ignore[no-any-return]

    @property
    def lower(self) -> Floats:
        """Lower limit of the risk."""
        return self.limits.lower

    @property
    def upper(self) -> Floats:
        """Upper limit of the risk."""
        return self.limits.upper


def window_risk(
    scores: Scores, targets: ArgumentScores | None = None, prior: float = 0.5, confidence: float = 0.95
) -> WindowRisk:
    """Risk at each target's score, by default at every record's, with pointwise limits."""
    prior = require_open_unit("prior", prior)
    confidence = require_open_unit("confidence", confidence)
    require_data(scores, Scores)
    if scores.query is Query.DISCRETE or scores.dimension > 1:
        raise InputError("windows need one continuous score per record; use cells", field="query")
    pooled = np.concatenate([scores.members, scores.nonmembers]).astype(np.float64)
    order = np.argsort(pooled)
    ranked, is_member = pooled[order], order < scores.n_members
    below = np.concatenate([[0], np.cumsum(is_member)])
    asked = pooled if targets is None else targets_of(targets, Intervals(np.empty(0))).astype(np.float64)
    if asked.ndim > 1:
        raise DimensionMismatch(f"targets have dimension {asked.shape[1]}, the records 1", field="targets")
    known = (asked >= ranked[0]) & (asked <= ranked[-1])
    start, stop = _windows(ranked, asked)
    x, m = np.where(known, below[stop] - below[start], 0), np.where(known, stop - start, 0)

    n1, n0, delta = scores.n_members, scores.n_nonmembers, 1.0 - confidence
    keys, back = np.unique(x * (len(pooled) + 1) + m, return_inverse=True)  # few distinct windows
    hits, trials = keys // (len(pooled) + 1), keys % (len(pooled) + 1)
    low, high = Conditional().limits(hits, n1, trials - hits, n0, prior, delta / 2.0)
    plugged = risk_at_share(hits / np.maximum(trials, 1), n1, n0, prior)
    covers = "the risk, signed or not, at the score of one target named in advance"
    signed = Limits(low[back], high[back], confidence, Guarantee(covers, SMOOTH, finite_sample=False))
    cautions = (
        Caution(
            "smoothing_bias",
            "limits are asymptotic: they take the risk to be constant within a window of records",
        ),
    )
    return WindowRisk(
        x,
        m - x,
        np.ma.MaskedArray(plugged[back], mask=~known),
        signed,
        signed.folded(),
        cautions,
        Provenance(
            "window+conditional", VERSION, n1, n0, prior, None, (("neighbours", str(_size(len(pooled)))),)
        ),
    )


def _size(n_records: int) -> int:
    return max(1, int(np.rint(n_records**EXPONENT)))


def _windows(ranked: Floats, asked: Floats) -> tuple[Integers, Integers]:
    """First rank and end of each target's window: centred where there is room, whole ties at both ends.

    A tie cut in two would let the order of the labels decide who is in.
    """
    m = _size(len(ranked))
    order = np.argsort(asked)  # searching for sorted values is many times as fast
    wanted = asked[order]
    middle = np.searchsorted(ranked, wanted, side="left") + np.searchsorted(ranked, wanted, side="right")
    left = np.clip((middle - m) // 2, 0, len(ranked) - m)
    start, stop = np.empty_like(left), np.empty_like(left)
    start[order] = np.searchsorted(ranked, ranked[left], side="left")
    stop[order] = np.searchsorted(ranked, ranked[left + m - 1], side="right")
    return start, stop
