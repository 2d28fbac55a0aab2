"""What attacks attain: one of our own, the best on the line, and the best of all where the outputs are finitely many.

Our own is the likelihood ratio of a noisy release, from fits to halves the adversary draws himself. He knows the data
set, the fit, the noise and its scale: all but the half and the seed. With as many shadow fits as there are halves he is
the best there is; with fewer he is nearly so. What he attains is a lower end for eta, never an upper one.

Where all training sets can be gone through, what the best attack attains on one number with noise is the truth; so it
is of an algorithm with finitely many outputs, whose law is known on every training set.
"""

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, softmax

from estimators.arrays import Floats
from estimators.errors import DimensionMismatch, OutOfRange, require_count, require_open_unit, require_positive
from estimators.limits.binomial import lower_limit
from estimators.python.dataclass import dataclass
from estimators.statement import Caution
from estimators.theory.bounds import Bound, law_table, side_by_side
from estimators.theory.mip.noises import Gaussian, Noise
from estimators.theory.mip.privatize import noisy
from estimators.theory.mip.refits import Fit, Purpose, Refits, root_of, stream
from estimators.theory.subsets import matrix, positions

BLOCK = 64  # releases at a time: each is compared with every shadow fit, in every coordinate


@dataclass(frozen=True, slots=True, eq=False)
class AttackResult:
    """How often the attack was right about every record, in so many releases."""

    right: NDArray[np.int64]
    releases: int
    confidence: float
    baseline: float

    @property
    def accuracy(self) -> Floats:
        """Share of right guesses, record by record; the largest of many is above the truth by luck alone."""
        return self.right / self.releases

    @property
    def worst(self) -> int:
        """The record it was most often right about."""
        return int(self.right.argmax())

    @property
    def lower(self) -> float:
        """Lower limit of the accuracy on the worst record (Clopper and Pearson), Bonferroni for having chosen it."""
        alpha = (1.0 - self.confidence) / len(self.right)
        return max(self.baseline, float(lower_limit(float(self.right.max()), self.releases, alpha)))

    @property
    def eta(self) -> float:
        """Lower limit of eta: 0 if it was not surely better than guessing."""
        return self.lower - self.baseline


def attack(
    fit: Fit,
    data: ArrayLike,
    noise: Noise,
    scale: float,
    *,
    seed: int,
    shadows: int = 1024,
    releases: int = 1000,
    confidence: float = 0.95,
) -> AttackResult:
    """Attack every record of ``data`` in ``releases`` fresh releases of the fit with noise."""
    require_open_unit("confidence", confidence)
    require_positive("scale", scale)
    root = root_of(seed)
    learning, judging = stream(root, Purpose.LEARNING), stream(root, Purpose.JUDGING)
    refits = Refits.of(fit, data, learning)
    shadow_fits, inside = _fits(refits, require_count("shadows", shadows, 2), learning)
    bare, truth = _fits(refits, require_count("releases", releases), judging)
    outputs = noisy(bare, noise, scale, judging)
    share = np.clip(inside.mean(axis=0), 1e-9, 1.0 - 1e-9)
    right = np.zeros(refits.records, dtype=np.int64)
    for start in range(0, releases, BLOCK):
        part = outputs[start : start + BLOCK]
        apart = (part[:, None, :] - shadow_fits[None, :, :]).reshape(-1, shadow_fits.shape[1])
        ratio = (noise.size(apart) / scale).reshape(len(part), -1)
        member = softmax(noise.log_density(ratio), axis=1) @ inside
        guess = member / share >= (1.0 - member) / (1.0 - share)
        right += (guess == truth[start : start + BLOCK]).sum(axis=0)
    return AttackResult(right, releases, confidence, refits.baseline)


def _fits(refits: Refits, count: int, generator: np.random.Generator) -> tuple[Floats, NDArray[np.bool_]]:
    fits, rows = [], np.zeros((count, refits.records), dtype=np.bool_)
    for row in rows:
        members = refits.training_set(generator)[0]
        row[members] = True
        fits.append(refits.parameters(members))
    return np.stack(fits), rows


REACH = {"gaussian": 9.0, "laplace": 40.0}
"""Scales beyond which a noise has less than 1e-17 of its probability."""


def attained_eta(outputs: ArrayLike, rows: NDArray[np.bool_], noise: Noise, scale: float, points: int = 8001) -> Floats:
    """TV(in, out)/2 of every record: law in and out are mixtures of the noise at the outputs of the training sets.

    The probabilities of intervals are exact; where the difference of the densities changes sign inside one, a little
    is lost. So it errs downward, by the square of the intervals' length: the best attack attains it, and no more than a
    trifle above it.
    """
    theta = np.asarray(outputs, dtype=np.float64).ravel()
    if noise.dimension != 1 or len(theta) != len(rows):
        raise DimensionMismatch.about("outputs", "need one number a training set, and a noise on the line")
    # noise of scale s reaches s times its unit, which is what has size 1
    unit = require_positive("scale", scale) / float(noise.size(np.ones((1, 1)))[0])
    reach = REACH[noise.name] * unit
    cuts = np.unique(np.concatenate([np.linspace(theta.min() - reach, theta.max() + reach, points), theta]))
    inside = rows.astype(np.float64)
    signed = inside / inside.sum(axis=0) - (1.0 - inside) / (1.0 - inside).sum(axis=0)
    difference = np.empty((len(cuts), rows.shape[1]))
    for start in range(0, len(cuts), 512):
        z = (cuts[start : start + 512, None] - theta) / unit
        below = ndtr(z) if isinstance(noise, Gaussian) else _laplace_cdf(z)
        difference[start : start + 512] = below @ signed
    return np.asarray(0.25 * np.abs(np.diff(difference, axis=0, prepend=0.0, append=0.0)).sum(axis=0))


def _laplace_cdf(z: Floats) -> Floats:
    tail = 0.5 * np.exp(-np.abs(z))
    return np.where(z < 0.0, tail, 1.0 - tail)


INSTEAD = "use swaps or draws of the fit, which certify eta from a sample"
NOTHING = 1e-12
"""An eta below is what rounding leaves of 0; so is a difference of two probabilities, as a share of their sum."""


@dataclass(frozen=True, slots=True, eq=False)
class MipFiniteStatement:
    """Accuracy above the baseline of the best attack on every record, and its bound by swaps.

    ``mip.finite_eta`` makes it.

    Attributes:
        records: Records in the data set.
        size: Records in a training set.
        per_record: Eta of each record.
        coupling: The bound by swaps for each record.
        says_in: The best attack: true where an output (column) makes it say "in" of a record (row), else it says "out".
        subsets: Number of training sets.
        outcomes: Number of outputs.
    """

    records: int
    size: int
    per_record: Floats
    coupling: Floats
    says_in: NDArray[np.bool_]
    subsets: int
    outcomes: int

    @property
    def worst(self) -> int:
        """The record that is easiest to tell."""
        return int(self.per_record.argmax())

    @property
    def eta(self) -> float:
        """Its eta: the algorithm's."""
        return float(self.per_record.max())

    @property
    def bound(self) -> float:
        """What swaps say of the worst record."""
        return float(self.coupling.max())

    @property
    def baseline(self) -> float:
        """Accuracy of the better constant guess."""
        return max(self.size, self.records - self.size) / self.records

    @property
    def accuracy(self) -> float:
        """How often the best attack on the worst record is right."""
        return self.baseline + self.eta

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """The truth, and the bound by swaps beside it."""
        exact = Bound("eta", "exact", "the sum of Proposition 2", self.eta, "MIP, Proposition 2")
        swaps = Bound("eta", "swaps", "E over swaps of what telling two laws gains", self.bound, "this project")
        return side_by_side((exact, swaps))

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        guessing = f"{self.baseline:.6g}"
        if self.eta < NOTHING:
            return f"No attack beats guessing (right with probability {guessing}): eta is 0, up to rounding."
        return (
            f"The best attack on record {self.worst} is right with probability {self.accuracy:.6g}; "
            f"guessing alone is right with probability {guessing}. Eta is {self.eta:.6g}, exact to the "
            "digits shown."
        )

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """None: all training sets are gone through."""
        return ()


def laws_of(law: Callable[[tuple[int, ...]], Sequence[float]], records: int, size: int | None = None) -> Floats:
    """The matrix of laws of a function from a training set, as ascending positions, to probabilities."""
    records, size = _sizes(records, size)
    matrix(records, size, INSTEAD)
    return np.array([law(members) for members in combinations(range(records), size)], dtype=np.float64)


def finite_eta(laws: ArrayLike, records: int, size: int | None = None) -> MipFiniteStatement:
    """The exact eta of an algorithm with finitely many outputs (MIP, Proposition 2), for training sets of any size.

    It is the sum over outputs of max(P(in, output), P(out, output)), less what the constant guess has, max(k/n, 1-k/n).
    The best attack says "in" where the first of the two is larger; where they are equal nothing is gained either way.

    Args:
        laws: Probabilities of the outputs, a row for each training set, in lexicographic order.
        records: Records in the data set, n, at least 2; up to some 20 can be enumerated.
        size: Records in a training set, k. None: half of them.

    Raises:
        MaceError: rows that are no probabilities, not as many as there are training sets, or too many training sets.

    Example:
        >>> from estimators.theory import mip
        >>> # one of two records is drawn; the output tells which, nine times out of ten
        >>> print(mip.finite_eta([[0.9, 0.1], [0.1, 0.9]], records=2).sentence)
        The best attack on record 0 is right with probability 0.9; guessing alone is right with probability 0.5. Eta
        is 0.4, exact to the digits shown.
    """
    records, size = _sizes(records, size)
    rows = matrix(records, size, INSTEAD)
    table = law_table(laws, len(rows))
    joint_in = rows.T.astype(np.float64) @ table / len(rows)
    joint_out = table.sum(axis=0) / len(rows) - joint_in
    # the constant guess is right with the whole of one joint law; what is gained is where the other is larger
    gain = joint_out - joint_in if 2 * size >= records else joint_in - joint_out
    eta = np.maximum(gain, 0.0).sum(axis=1)
    coupling = np.array([coupled(table, rows, record, size) for record in range(records)])
    says_in = joint_in - joint_out > NOTHING * (joint_in + joint_out)
    return MipFiniteStatement(records, size, eta, np.maximum(coupling, eta), says_in, len(rows), table.shape[1])


def coupled(table: Floats, rows: NDArray[np.bool_], record: int, size: int) -> float:
    """E over swaps of what is gained on the constant guess, telling D from D with the record swapped out.

    The gain is a sum of positive parts of linear functions of the pair of laws, hence convex: at k = n/2 it is TV/2.
    """
    share = size / rows.shape[1]
    total, pairs = 0.0, 0
    for other in range(rows.shape[1]):
        if other == record:
            continue
        inside = np.flatnonzero(rows[:, record] & ~rows[:, other])
        swapped = rows[inside].copy()
        swapped[:, [record, other]] = swapped[:, [other, record]]
        gap = share * table[inside] - (1.0 - share) * table[positions(swapped)]
        total += float(np.maximum(gap if share <= 0.5 else -gap, 0.0).sum())
        pairs += len(inside)
    return total / pairs


def _sizes(records: int, size: int | None) -> tuple[int, int]:
    records = require_count("n", records, 2)
    size = records // 2 if size is None else require_count("k", size)
    if size >= records:
        raise OutOfRange.about("k", "need fewer than all records, or everybody is in")
    return records, size
