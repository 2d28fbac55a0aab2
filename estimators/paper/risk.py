"""Individual risk as the paper states it: f_p of a cell (MACE, Theorem 2) or at a point (Theorem 3, Lemma 4)."""

from math import log, pi
from typing import Literal

import numpy as np

from estimators.arrays import Floats
from estimators.density.bandwidth import BANDWIDTHS, Bandwidth, Fixed
from estimators.density.kernel import At, Densities, LineDensities, signed_risk
from estimators.density.space import EqualWidth, Kernel, densities_of
from estimators.errors import InputError, require_open_unit
from estimators.limits.binomial import clopper_pearson, normal_quantile
from estimators.python.dataclass import dataclass, replace
from estimators.sample.cells import Lattice
from estimators.sample.counting import by_category, by_lattice
from estimators.sample.counts import Counts, require_data
from estimators.sample.locating import SampleRange, cells_asked, rows_of_targets
from estimators.sample.plain_arrays import ArgumentScores
from estimators.sample.scores import Query, Scores
from estimators.statement import IID, Caution, Guarantee

# How often the paper's intervals contained what one might take them for: the simulations of docs/paper.md.
#
# ``python -m benchmarks run paper`` makes the table, over five worlds at priors 0.5 and 0.1.

Range = tuple[float, float]
Subject = Literal["advantage", "risk"]

CATEGORIES = "10 categories"
SLICES = {10: "10 slices", 100: "100 slices"}
KERNELS: dict[type, str] = {type(rule): name for name, rule in BANDWIDTHS.items()} | {Fixed: "fixed 0.3"}

SHARES: dict[str, dict[int, tuple[Range, Range]]] = {
    "10 categories": {
        300: ((0.0, 1.0), (1.0, 1.0)),
        1000: ((0.0, 1.0), (0.99, 1.0)),
        10_000: ((0.0, 1.0), (0.98, 1.0)),
    },
    "100 slices": {300: ((0.0, 1.0), (0.99, 1.0)), 1000: ((0.0, 1.0), (0.84, 1.0)), 10_000: ((0.0, 1.0), (0.32, 1.0))},
    "10 slices": {300: ((0.77, 1.0), (0.48, 1.0)), 1000: ((0.23, 1.0), (0.2, 1.0)), 10_000: ((0.0, 1.0), (0.03, 1.0))},
    "scott": {300: ((0.97, 1.0), (0.88, 1.0)), 1000: ((0.93, 1.0), (0.68, 1.0)), 10_000: ((0.5, 1.0), (0.43, 1.0))},
    "silverman": {
        300: ((0.95, 1.0), (0.96, 1.0)),
        1000: ((0.95, 1.0), (0.97, 1.0)),
        10_000: ((0.92, 1.0), (0.97, 1.0)),
    },
    "sheather_jones": {
        300: ((1.0, 1.0), (0.98, 1.0)),
        1000: ((1.0, 1.0), (0.98, 1.0)),
        10_000: ((0.92, 1.0), (0.96, 1.0)),
    },
    "least_squares": {
        300: ((0.87, 1.0), (0.95, 1.0)),
        1000: ((0.93, 1.0), (0.96, 1.0)),
        10_000: ((0.83, 1.0), (0.96, 1.0)),
    },
    "fixed 0.3": {300: ((1.0, 1.0), (0.97, 1.0)), 1000: ((1.0, 1.0), (0.99, 1.0)), 10_000: ((0.25, 1.0), (0.52, 1.0))},
}
"""By reading and records a side: least and greatest share of the cases that contain the advantage; f_p at the score."""


def of_slices(bins: int) -> str:
    """The simulated reading that is nearest to so many equal slices."""
    return SLICES[min(SLICES, key=lambda each: abs(log(each / bins)))]


def of_kernel(bandwidth: Bandwidth) -> str | None:
    """The reading with this rule for the bandwidth."""
    return KERNELS.get(type(bandwidth))


def share_within(subject: Subject, reading: str | None, n_members: int, n_nonmembers: int) -> str:
    """End of a sentence: the share of simulated intervals that contain the subject, at the nearest size.

    Empty where nothing was simulated: of vectors, of lattices, of a rule that is not in the table.
    """
    sizes = SHARES.get(reading or "")
    if sizes is None:
        return ""
    size = min(sizes, key=lambda each: abs(log(each / min(n_members, n_nonmembers))))
    least, greatest = sizes[size][0 if subject == "advantage" else 1]
    what = "the advantage" if subject == "advantage" else "f_p at the score"
    return (
        f"; at 95% confidence, simulated ({reading}, {size:,} records a side), it contains {what} in "
        f"{least:.0%} to {greatest:.0%} of samples, depending on the world (docs/paper.md)"
    )


ATOMS = "values repeat too often to have a density; they were counted"

CELLS_FIXED = "cells fixed in advance, without looking at these records"
SPANNED = "; here they span these records"
"""What the paper's proofs need of cells, and that slices of the records' own range do not give it."""


@dataclass(frozen=True, slots=True, eq=False)
class PaperRisk:
    """f_p at each cell or point, each with an interval by itself (not for all at once); NaN where nothing was seen."""

    values: Floats
    lower: Floats
    upper: Floats
    confidence: float
    guarantee: Guarantee


def discrete_risk(counts: Counts, prior: float, confidence: float = 0.95, *, slices: bool = False) -> PaperRisk:
    """f_p of each cell with the box of two Clopper-Pearson intervals (MACE, Theorem 2).

    Each of the four limits misses with delta/4 (erratum E11). An upper limit is never 0, so no 0/0
    occurs: a lower limit of 0 gives an end of -1 or +1, a cell without records [-1, 1], and NaN in between (E12).
    The interval is proven for cells that were fixed in advance, not for ``slices`` of these records' range.
    """
    prior = require_open_unit("prior", prior)
    tail = (1.0 - require_open_unit("confidence", confidence)) / 4.0
    r, q = counts.members / counts.n_members, counts.nonmembers / counts.n_nonmembers
    r_low, r_high = clopper_pearson(counts.members, counts.n_members, tail)
    q_low, q_high = clopper_pearson(counts.nonmembers, counts.n_nonmembers, tail)
    return PaperRisk(
        np.where(counts.pooled > 0, signed_risk(r, q, prior), np.nan),
        signed_risk(r_low, q_high, prior),
        signed_risk(r_high, q_low, prior),
        confidence,
        Guarantee(
            "f_p of one cell, for each cell by itself",
            f"{IID}; {CELLS_FIXED}{SPANNED if slices else ''}",
            finite_sample=not slices,
        ),
    )


def continuous_risk(densities: Densities, points: Floats, prior: float, confidence: float = 0.95) -> PaperRisk:
    """f_p at points with Lemma 4's normal interval around either density (MACE, Theorem 3).

    N is n1 for r and n0 for q, limits are clipped at 0, and where both are 0 nothing was seen: [-1, 1], and NaN in
    between (erratum E12, E14). At an atom, which has no density, Theorem 2's box stands instead.
    """
    prior = require_open_unit("prior", prior)
    delta = 1.0 - require_open_unit("confidence", confidence)
    at = densities.at(np.asarray(points, dtype=np.float64))
    z, roughness = normal_quantile(delta / 4.0), kernel_roughness(densities.dimension)
    r_low, r_high = _lemma_4(at.members, roughness, densities.n_members * densities.volumes[0], z)
    q_low, q_high = _lemma_4(at.nonmembers, roughness, densities.n_nonmembers * densities.volumes[1], z)
    if at.atom.any():
        _atoms_box(at, densities, delta / 4.0, (r_low, r_high, q_low, q_high))
    return PaperRisk(
        np.where((at.members > 0.0) | (at.nonmembers > 0.0), at.signed_risk(prior), np.nan),
        np.where((r_low > 0.0) | (q_high > 0.0), signed_risk(r_low, q_high, prior), -1.0),
        np.where((r_high > 0.0) | (q_low > 0.0), signed_risk(r_high, q_low, prior), 1.0),
        confidence,
        Guarantee(
            "f_p of the smoothed densities at one point, for each point by itself; not f_p itself",
            IID + "; many records within a bandwidth, so the estimates are normal; bandwidth fixed in advance",
            False,
        ),
    )


def kernel_roughness(dimension: int) -> float:
    """mu_K, the integral of K^2: (4 pi)^(-d/2) for a product of Gaussians (MACE, Lemma 4; erratum E14)."""
    return float((4.0 * pi) ** (-dimension / 2.0))


def _lemma_4(density: Floats, roughness: float, records_in_kernel: float, z: float) -> tuple[Floats, Floats]:
    radius = z * np.sqrt(roughness * density / records_in_kernel)  # z_{1-delta/4} sqrt(mu_K r / (N h^d))
    return np.maximum(density - radius, 0.0), density + radius


def _atoms_box(at: At, densities: Densities, tail: float, limits: tuple[Floats, Floats, Floats, Floats]) -> None:
    """Write exact limits of the masses over those of the densities, at atoms."""
    r_low, r_high, q_low, q_high = limits
    members = np.rint(at.members[at.atom] * densities.n_members)
    nonmembers = np.rint(at.nonmembers[at.atom] * densities.n_nonmembers)
    r_low[at.atom], r_high[at.atom] = clopper_pearson(members, densities.n_members, tail)
    q_low[at.atom], q_high[at.atom] = clopper_pearson(nonmembers, densities.n_nonmembers, tail)


@dataclass(frozen=True, slots=True, eq=False)
class RecordRisk:
    """f_p of each record as the paper states it.

    Attributes:
        theorem: 2 for cells, 3 for kernel densities.
        risk: f_p of each record with its interval; where no record was seen it is NaN, and [-1, 1].
        cells: How many cells have records, for Theorem 2.
        bandwidth: Product of the bandwidths over the axes, members' and nonmembers', for Theorem 3.
        cautions: What to know before using the numbers.
    """

    theorem: int
    risk: PaperRisk
    cells: int | None
    bandwidth: tuple[float, float] | None
    cautions: tuple[Caution, ...]


def record_risk(
    data: Scores | Counts,
    prior: float,
    confidence: float = 0.95,
    reading: EqualWidth | Kernel | None = None,
    targets: ArgumentScores | None = None,
) -> RecordRisk:
    """f_p of each record, or of each target: Theorem 2's box of its cell, or Theorem 3's interval at its score.

    Args:
        data, prior: As for ``advantage``.
        confidence: Probability that both ends of the interval of one record hold, strictly between 0 and 1.
        reading: How a continuous score is read: ``EqualWidth(bins)`` or ``Kernel(bandwidth)``. None: kernel densities
            with Scott's bandwidth; categories and counts by their cells.
        targets: Scores to state the risk of. None: those of every record, members first; counts need targets.

    Raises:
        InputError: kernel densities of categories or of counts.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores
        >>> from estimators.paper import record_risk
        >>> rng = np.random.default_rng(0)
        >>> scores = Scores.of(rng.normal(1, 1, 2000), rng.normal(0, 1, 2000))
        >>> answer = record_risk(scores, prior=0.5, targets=[0.5, 2.0])
        >>> answer.theorem, answer.risk.values.round(2).tolist()
        (3, [0.02, 0.57])
    """
    require_data(data, Scores, Counts)
    kernel = kernel_of(data, reading)
    if kernel is not None and isinstance(data, Scores):
        densities = densities_of(data, kernel.bandwidth, kernel.seed)
        if targets is None:
            points = np.concatenate([data.members, data.nonmembers]).astype(np.float64)
        else:
            points = rows_of_targets(targets, data.dimension)
        cautions = []
        if isinstance(densities, LineDensities) and densities.atoms.size:
            cautions.append(Caution("atoms", f"{densities.atoms.size} {ATOMS}"))
        if not isinstance(kernel.bandwidth, Fixed):
            message = (
                f"the bandwidth was chosen from these very records, {kernel.bandwidth.rule(data.dimension)}; "
                "Theorem 3 needs one fixed in advance"
            )
            cautions.append(Caution("bandwidth_from_data", message))
        risk = continuous_risk(densities, points, prior, confidence)
        if data.dimension == 1:
            risk = _with_share(risk, of_kernel(kernel.bandwidth), data)
        return RecordRisk(3, risk, None, densities.volumes, tuple(cautions))
    counts = cells_of(data, reading)
    cell = cells_asked(data, targets, counts.cells, SampleRange.of(data))
    sliced = isinstance(data, Scores) and data.query is Query.CONTINUOUS
    risk = discrete_risk(counts, prior, confidence, slices=sliced)
    if not isinstance(counts.cells, Lattice):
        bins = reading.bins if isinstance(reading, EqualWidth) else EqualWidth().bins
        risk = _with_share(risk, of_slices(bins) if sliced else CATEGORIES, counts)
    rows = replace(
        risk,
        values=np.append(risk.values, np.nan)[cell],
        lower=np.append(risk.lower, -1.0)[cell],
        upper=np.append(risk.upper, 1.0)[cell],
    )
    return RecordRisk(2, rows, int(np.count_nonzero(counts.pooled)), None, ())


def _with_share(risk: PaperRisk, reading: str | None, data: Scores | Counts) -> PaperRisk:
    share = share_within("risk", reading, data.n_members, data.n_nonmembers)
    return replace(risk, guarantee=replace(risk.guarantee, covers=f"{risk.guarantee.covers}{share}"))


def kernel_of(data: Scores | Counts, reading: EqualWidth | Kernel | None) -> Kernel | None:
    """The kernel densities that a reading asks for; None where cells are read."""
    smooth = isinstance(data, Scores) and data.query is Query.CONTINUOUS
    if isinstance(reading, Kernel) and not smooth:
        what = "counts" if isinstance(data, Counts) else "categories"
        raise InputError(
            f"kernel densities need scores that are numbers on a line, got {what}; read them by their cells",
            field="estimator.kind",
        )
    if isinstance(reading, EqualWidth) or not smooth:
        return None
    return reading or Kernel()


def cells_of(data: Scores | Counts, reading: EqualWidth | Kernel | None) -> Counts:
    """The cells that the paper reads: categories and counts as they are, else equal slices of each axis."""
    if isinstance(data, Counts):
        return data
    if data.query is Query.DISCRETE:
        return by_category(data)
    return by_lattice(data, reading.bins if isinstance(reading, EqualWidth) else EqualWidth().bins)
