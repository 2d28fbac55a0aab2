"""Random streams: one of its own for every purpose, so that no two things made from one seed share a number."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from estimators.errors import require_count


class Purpose(IntEnum):
    """What a stream is for."""

    CALIBRATING = 0
    HALVING = 1
    ADDING = 2
    LEARNING = 3
    JUDGING = 4
    DRAWING = 5
    SWAPPING = 6


def root_of(seed: int | None) -> np.random.SeedSequence:
    """What all streams of a seed grow from; without one, 128 bits from the operating system that nobody is told."""
    return np.random.SeedSequence(None if seed is None else require_count("seed", seed, 0))


def stream(root: np.random.SeedSequence, purpose: Purpose) -> np.random.Generator:
    """Keys of ``SeedSequence`` keep streams apart that have the same entropy."""
    return np.random.default_rng(np.random.SeedSequence(root.entropy, spawn_key=(int(purpose),)))
