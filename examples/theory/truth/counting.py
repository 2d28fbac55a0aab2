"""Learning procedures on small discrete data: every data set of n draws, with its probability."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from itertools import product
from math import log

Learner = Callable[[tuple[int, ...]], Hashable]
Joint = dict[tuple[Hashable, int], float]


def histogram(data: tuple[int, ...]) -> Hashable:
    """The procedure that tells most of those the paper allows: the empirical distribution itself."""
    return tuple(sorted(data))


def with_nonmember(p: Sequence[float], n: int, learn: Learner) -> Joint:
    """The law of what is learned beside a fresh draw."""
    joint: Joint = defaultdict(float)
    for data, weight in _data_sets(p, n):
        for k, share in enumerate(p):
            joint[learn(data), k] += weight * share
    return dict(joint)


def with_member(p: Sequence[float], n: int, learn: Learner) -> Joint:
    """The law of what is learned beside the first draw it was learned from."""
    joint: Joint = defaultdict(float)
    for data, weight in _data_sets(p, n):
        joint[learn(data), data[0]] += weight
    return dict(joint)


def insecurity(p: Sequence[float], n: int, learn: Learner, gamma: float) -> float:
    """MIS's Delta by its definition: what the best adversary wins over the better constant guess, of all it could.

    With lambda = 1, nu = gamma/(1 + gamma): of each pair (learned, record) the likelier side is named.
    """
    nu = gamma / (1.0 + gamma)
    outside, inside = with_nonmember(p, n, learn), with_member(p, n, learn)
    accuracy = sum(
        max(nu * outside.get(key, 0.0), (1.0 - nu) * inside.get(key, 0.0)) for key in outside.keys() | inside.keys()
    )
    return (accuracy - max(nu, 1.0 - nu)) / min(nu, 1.0 - nu)


def information(p: Sequence[float], n: int, learn: Learner) -> float:
    """The mutual information between what is learned and one record it was learned from, in nats."""
    outside, inside = with_nonmember(p, n, learn), with_member(p, n, learn)
    return sum(weight * log(weight / outside[key]) for key, weight in inside.items() if weight > 0)


def _data_sets(p: Sequence[float], n: int) -> list[tuple[tuple[int, ...], float]]:
    result = []
    for data in product(range(len(p)), repeat=n):
        weight = 1.0
        for k in data:
            weight *= p[k]
        result.append((data, weight))
    return result
