"""The exponential mechanism one training set after the other, in logs: for any loss, and however far apart."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp

from estimators.theory.pmp.laws import InOut

Floats = NDArray[np.float64]
Blocks = Iterable[tuple[NDArray[np.bool_], Floats]]


def in_and_out(blocks: Blocks, training_sets: int, records: int) -> InOut:
    """The laws of every record from blocks of training sets and the logits of their outcomes."""
    inside: list[Floats] = []
    outside: list[Floats] = []
    for rows, logits in blocks:
        logs = log_softmax(logits, axis=1)
        inside.append(_sums(rows, logs, records))
        outside.append(_sums(~rows, logs, records))
    half = np.log(training_sets / 2)
    return InOut(logsumexp(inside, axis=0) - half, logsumexp(outside, axis=0) - half)


def _sums(rows: NDArray[np.bool_], logs: Floats, records: int) -> Floats:
    """Log of the sum of probabilities over the training sets each record is in."""
    if logs.min() > -600.0:  # no probability and no sum of them underflows
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(rows.astype(np.float64).T @ np.exp(logs)))
    nothing = np.full(logs.shape[1], -np.inf)
    return np.stack(
        [logsumexp(logs[rows[:, x]], axis=0) if rows[:, x].any() else nothing for x in range(records)]
    )
