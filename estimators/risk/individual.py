"""Individual risk: what each record's own score betrays of its membership (MACE, section 4).

Risk belongs to a cell, so everything is worked out once a cell and looked up for each record. For a
continuous score the risk stated is the one at the resolution of the cells: at a single point it cannot
be bounded without assuming that densities are smooth, which is what ``paper.continuous_risk`` does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.adversary.learned import DEFAULT_LEARNERS, Learner, learn_halves
from estimators.arrays import Floats, Integers
from estimators.clusters.dependent_rows import lone_caution, lone_rows, require_one_number, require_scores
from estimators.clusters.design import Labels
from estimators.errors import require_count, require_open_unit
from estimators.python.dataclass import dataclass, replace
from estimators.risk import partition
from estimators.risk.cells import CellInterval, CellRisks, Masked, cell_risks
from estimators.risk.flags import Flags, Multiplicity
from estimators.risk.groups import GroupRisks, GroupTable, group_risks
from estimators.sample.cells import Categories, Halves
from estimators.sample.counts import Counts, require_data
from estimators.sample.locating import SampleRange, cell_of, cells_asked
from estimators.sample.plain_arrays import ArgumentScores
from estimators.sample.scores import Scores
from estimators.statement import Caution, Provenance, exactly, percent


@dataclass(frozen=True, eq=False)
class RiskByCell:
    """Individual risk over the score, without a row for each record: all that counts can say."""

    cells: CellRisks
    flags: Flags
    learned: partition.Learned | None = None

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What to know first."""
        return self.cells.cautions

    @property
    def n_flagged(self) -> int:
        """Records in flagged cells."""
        return int(self.cells.counts.pooled[self.flags.flagged].sum())

    @property
    def member_share(self) -> float | None:
        """The share of flagged records that are members at the prior, estimated; None if there are none."""
        return _members_among_flagged(self.cells, self.flags)

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        return _sentence(self.n_flagged, self.cells.counts.n_records, self.member_share, self.cells, self.flags)

    def of_groups(self, counts: Counts, table: GroupTable, confidence: float) -> GroupRisks:
        """The mean risk of each group of the counts that this was made of."""
        cells, both = self.cells, self.cells.simultaneous
        own = counts.cells
        somewhere = own.labels if isinstance(own, Categories) else counts.lower_edges()
        same = cells.counts.size == counts.size
        cell = np.arange(counts.size) if same else cells.counts.cells.locate(somewhere)
        return table.risks(cell, cells.risk.filled(0.0), both.lower, both.upper, self.flags.flagged, confidence)


@dataclass(frozen=True, eq=False)
class IndividualRisk:
    """A row for each target, looked up in ``cells`` when asked for; ``individual_risk`` makes it.

    A target whose score the sample does not reach has masked plug-in columns (null when written out), limits of
    [0, 1], and is never flagged.

    Attributes:
        cells: The risk of each cell.
        flags: Which cells are flagged, and by what rule.
        cell: The cell of each target; -1 if the sample does not reach its score.
        index: The target's place in the request; without targets the rows are all members, then all nonmembers.
        groups: Mean risk of each group, if labels were given.
        cautions: What to know before using the numbers.
        provenance: Method, version, numbers of records, prior and seed.
        learned: Of vectors, two learned scores: each stated on the records that the other was learned from.
        learned_score: Of vectors, the learned score of each target, from a learner that has not seen it; else None.
        learned_half: Of vectors, which of the two scores that is, 0 or 1; else None.
        of_targets: Whether the rows are targets that were asked about, and not the records themselves.

    Example:
        >>> from estimators import Counts, individual_risk
        >>> counts = Counts.of([90, 5, 5], [10, 45, 45], edges=[0.2, 0.7])
        >>> risks = individual_risk(counts, targets=[0.1, 0.5])
        >>> risks.risk.round(2).tolist(), risks.signed_risk.round(2).tolist()
        ([0.8, 0.8], [0.8, -0.8])
        >>> risks.lower.round(2).tolist(), risks.upper.round(2).tolist(), risks.flagged.tolist()
        ([0.65, 0.56], [0.9, 0.93], [True, False])
    """

    cells: CellRisks
    flags: Flags
    cell: Integers
    index: Integers
    groups: GroupRisks | None
    cautions: tuple[Caution, ...]
    provenance: Provenance
    learned: partition.Learned | None = None
    learned_score: Floats | None = None
    learned_half: Integers | None = None
    of_targets: bool = False

    @property
    def size(self) -> int:
        """Number of targets."""
        return len(self.cell)

    @property
    def risk(self) -> Masked:
        """|f_p|, plugged in: biased upward, so the limits are what to act on."""
        return self._plugged(self.cells.risk)

    @property
    def signed_risk(self) -> Masked:
        """f_p, plugged in: above 0 a member is likelier, below 0 a nonmember."""
        return self._plugged(self.cells.signed_risk)

    @property
    def posterior(self) -> Masked:
        """P(member given the score) at the prior, plugged in."""
        return self._plugged(self.cells.posterior)

    @property
    def lower(self) -> Floats:
        """Lower limit of the risk, for one target named in advance."""
        return self._looked_up(self.cells.pointwise.lower, 0.0)

    @property
    def upper(self) -> Floats:
        """Upper limit of the risk, for one target named in advance."""
        return self._looked_up(self.cells.pointwise.upper, 1.0)

    @property
    def simultaneous_lower(self) -> Floats:
        """Lower limit of the risk, for all targets at once."""
        return self._looked_up(self.cells.simultaneous.lower, 0.0)

    @property
    def simultaneous_upper(self) -> Floats:
        """Upper limit of the risk, for all targets at once."""
        return self._looked_up(self.cells.simultaneous.upper, 1.0)

    @property
    def flagged(self) -> NDArray[np.bool_]:
        """Whether the record's cell is flagged: members are likelier there than the threshold allows."""
        return np.append(self.flags.flagged, False).take(self.cell)

    @property
    def n_flagged(self) -> int:
        """Targets that are flagged."""
        return int(self.flagged.sum())

    @property
    def member_share(self) -> float | None:
        """The share of the flagged that are members at the prior, estimated; None if there are none.

        Of targets it is the mean of their chances; of the records themselves that of records drawn at the prior,
        whatever the shares of the two sides are here.
        """
        if not self.of_targets:
            return _members_among_flagged(self.cells, self.flags)
        posterior = self.posterior[self.flagged]
        return float(posterior.mean()) if posterior.count() else None

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        return _sentence(self.n_flagged, self.size, self.member_share, self.cells, self.flags)

    def take(self, rows: NDArray[np.integer]) -> IndividualRisk:
        """Only these rows, in this order.

        Args:
            rows: Their places, from 0.
        """
        return replace(
            self,
            cell=self.cell[rows],
            index=self.index[rows],
            groups=None,
            learned_score=None if self.learned_score is None else self.learned_score[rows],
            learned_half=None if self.learned_half is None else self.learned_half[rows],
        )

    def top(self, k: int) -> IndividualRisk:
        """The k targets most surely exposed as members, by the simultaneous lower limit of the signed risk.

        Not by |f_p|: at a prior below 1/2 that puts those first who are surest *not* to be members; and not
        by the plug-in, of which the greatest is 1 even where nothing leaks. Ties stay in the order given.

        Args:
            k: How many targets, at least 1.

        Example:
            >>> from estimators import Counts, individual_risk
            >>> counts = Counts.of([90, 5, 5], [10, 45, 45], edges=[0.2, 0.7])
            >>> individual_risk(counts, targets=[0.9, 0.1, 0.5]).top(1).index.tolist()
            [1]
        """
        require_count("top", k)
        signed = (*self.cells.evidence, self.cells.signed_risk.filled(-1.0))
        rank = np.empty(self.cells.size + 1, dtype=np.int64)
        rank[np.lexsort([-column for column in reversed(signed)])] = np.arange(self.cells.size)
        rank[-1] = self.cells.size  # the unknown come last
        place = rank.take(self.cell)
        cumulative = np.cumsum(np.bincount(place, minlength=len(rank)))
        rows = np.flatnonzero(place <= np.searchsorted(cumulative, min(k, self.size)))
        return self.take(rows[np.argsort(place[rows], kind="stable")][:k])

    def _looked_up(self, column: Floats, unknown: float) -> Floats:
        return np.append(column, unknown).take(self.cell)  # cell -1 takes the row at the end

    def _plugged(self, column: Masked) -> Masked:
        mask = np.append(np.ma.getmaskarray(column), True)
        values = self._looked_up(column.filled(0.0), 0.0)
        plain = not mask[:-1].any() and (not self.size or int(self.cell.min()) >= 0)
        return np.ma.MaskedArray(values, mask=np.ma.nomask if plain else mask.take(self.cell))


def individual_risk(
    data: Scores | Counts,
    prior: float = 0.5,
    confidence: float = 0.95,
    targets: ArgumentScores | None = None,
    groups: ArrayLike | None = None,
    *,
    bins: int | None = None,
    interval: CellInterval | None = None,
    threshold: float | None = None,
    over: Multiplicity | None = None,
    sample_range: SampleRange | None = None,
    seed: int = 0,
    stand_for: ArrayLike | None = None,
    learners: Sequence[Learner] = DEFAULT_LEARNERS,
    cluster: Labels | None = None,
) -> IndividualRisk:
    """Risk of every target, by default of every record given (MACE, Theorems 1 and 2).

    The risk of a record is how far its score moves the probability of membership from a coin toss: |2 x posterior - 1|,
    from 0 to 1. Records that are flagged are likelier members than ``threshold`` allows; the expected share of false
    flags is at most 1 - confidence.

    Args:
        data, prior, confidence: As for ``advantage``.
        targets: Scores to state the risk of. None: those of every record, members first; counts need targets.
        groups: A label for each target, text or numbers, to state mean risks by group.
        bins: Into how many cells of about equal size scores with an order are joined, at least 1. None: the cube root
            of the number of records, at least 4, and the two at the ends narrow towards them. Categories stay as they
            are.
        interval: How one cell by itself is bounded, from ``estimators.risk.cells``. None: ``Conditional()``, which
            holds at every confidence. ``MoverFieller()`` is narrower for categories, and misses more often than it
            says above 95%. Limits for all cells at once are always by the former.
        threshold: Signed risk above which a record is flagged, strictly between -1 and 1. None: 2 x prior - 1, which
            is that of every record if nothing leaks.
        over: What the share of false flags is a share of: ``OverRecords()`` or ``OverCells()`` from
            ``estimators.risk.flags``. None: records.
        sample_range: Least and greatest score of the sample, for counts on intervals, which are open at both ends.
        seed: Whole number from which everything random is drawn; the same seed gives the same answer. Only vectors need
            it: their records are dealt into two parts, and each part is scored by what was learned from the other.
        stand_for: Of vectors, for each target the place of a record, members first, that it belongs with: it is scored
            by what had not seen that record. None: a target that is a record stands for that record.
        learners: Of vectors, which classifiers compete: any of ``quadratic()``, ``logistic()``, ``boxes()`` and
            ``boosting()`` from ``estimators.adversary.learned``. All four by default.
        cluster: Whom each record belongs to, if some belong together, as in ``advantage``. The risk of every record is
            then stated as before, from records of which no two share a label, drawn at random.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores, individual_risk
        >>> rng = np.random.default_rng(0)
        >>> members = np.concatenate([rng.normal(0, 1, 300), rng.normal(6, 1, 100)])  # 100 records are exposed
        >>> risks = individual_risk(Scores.of(members, rng.normal(0, 1, 400)))
        >>> risks.n_flagged, risks.size
        (89, 800)
        >>> worst = risks.top(1)
        >>> round(float(worst.lower[0]), 2), float(worst.upper[0])
        (0.84, 1.0)
    """
    require_data(data, Scores, Counts)
    sample_range = sample_range or SampleRange.of(data)
    submitted = data
    if cluster is not None:
        whole = require_scores(data)
        data = lone_rows(whole, cluster, seed)
        require_one_number(data, whole)
        if targets is None and data is not whole:
            targets = np.concatenate([whole.members, whole.nonmembers])
    by_cell = risk_by_cell(
        data,
        prior,
        confidence,
        bins=bins,
        interval=interval,
        threshold=threshold,
        over=over,
        seed=seed,
        learners=learners,
    )
    cells, flags, counts = by_cell.cells, by_cell.flags, by_cell.cells.counts
    score: Floats | None = None
    half: Integers | None = None
    if by_cell.learned is not None and isinstance(data, Scores):
        cell, half, score = _by_learned(by_cell, by_cell.learned, data, targets, stand_for)
    else:
        cell = cells_asked(data, targets, counts.cells, sample_range)
    table = None
    if groups is not None:
        both = cells.simultaneous
        table = group_risks(groups, cell, cells.risk.filled(0.0), both.lower, both.upper, flags.flagged, confidence)
    return IndividualRisk(
        cells,
        flags,
        cell,
        np.arange(len(cell)),
        table,
        (*lone_caution(data, submitted, what="risks come"), *cells.cautions, *_unknown(cell)),
        cells.provenance,
        by_cell.learned,
        score,
        half,
        targets is not None,
    )


def _by_learned(
    by_cell: RiskByCell,
    learned: partition.Learned,
    data: Scores,
    targets: ArgumentScores | None,
    stand_for: ArrayLike | None,
) -> tuple[Integers, Integers, Floats]:
    """The cell of each target, which of the two learned scores it is in, and that score."""
    if targets is None:
        half, score = partition.records_of(learned)
        inside = np.ones(len(half), dtype=np.bool_)
    else:
        half, score, inside = partition.targets_in(learned, data, targets, stand_for)
    cells = by_cell.cells.counts.cells
    assert isinstance(cells, Halves)
    first, second = cells.parts
    at = np.where(half == 0, cell_of(score, first), first.size + cell_of(score, second))
    return np.where(inside, at, -1), half, score


def risk_by_cell(
    data: Scores | Counts,
    prior: float = 0.5,
    confidence: float = 0.95,
    *,
    bins: int | None = None,
    interval: CellInterval | None = None,
    threshold: float | None = None,
    over: Multiplicity | None = None,
    seed: int = 0,
    learners: Sequence[Learner] = DEFAULT_LEARNERS,
) -> RiskByCell:
    """Risk of every cell, from scores or from counts, which need not know where a record lies.

    Of vectors, the cells are those of two learned scores, each stated on the records that the other was learned from.
    """
    prior = require_open_unit("prior", prior)
    confidence = require_open_unit("confidence", confidence)
    require_data(data, Scores, Counts)
    if isinstance(data, Scores) and data.dimension > 1:
        learned = learn_halves(data, prior, require_count("seed", seed, 0), learners)
        return _of_halves(learned, prior, confidence, bins, interval, threshold, over)
    cut, flags = partition.flagged_cells(data, bins, prior, threshold, 1.0 - confidence, over)
    cells = cell_risks(cut.counts, prior, confidence, interval, cut.reach, cut.occupied, cut.choices)
    return RiskByCell(cells, flags)


def _of_halves(
    learned: partition.Learned,
    prior: float,
    confidence: float,
    bins: int | None,
    interval: CellInterval | None,
    threshold: float | None,
    over: Multiplicity | None,
) -> RiskByCell:
    """The cells of both learned scores, which share the error of what is said of all, and of the flags."""
    rate = 1.0 - confidence
    both = [
        partition.flagged_cells(each.counts, bins, prior, threshold, rate * share, over)
        for each, share in zip(learned, partition.shares_of(learned), strict=True)
    ]
    cut, flags = zip(*both, strict=True)
    together = sum(each.occupied for each in cut)
    risks = [cell_risks(each.counts, prior, confidence, interval, each.reach, together, each.choices) for each in cut]
    joined = partition.join_risks((risks[0], risks[1]), learned)
    return RiskByCell(joined, partition.join_flags(flags[0], flags[1], rate), learned)


def _members_among_flagged(cells: CellRisks, flags: Flags) -> float | None:
    """P(member given a flag) of a record drawn at the prior, by Bayes' rule from the shares of each side flagged."""
    counts, prior = cells.counts, cells.prior
    member = prior * counts.members[flags.flagged].sum() / counts.n_members
    nonmember = (1.0 - prior) * counts.nonmembers[flags.flagged].sum() / counts.n_nonmembers
    return float(member / (member + nonmember)) if member + nonmember > 0.0 else None


NEARLY_ALL = 0.995
FEW_OF_THEM = 0.005  # shares of members that would read as all or none of the flagged


def _sentence(flagged: int, records: int, share: float | None, cells: CellRisks, flags: Flags) -> str:
    """What a flag says of records and what not: it is shown of their cells, and makes none of them a member."""
    than_chance = flags.threshold == 2.0 * cells.prior - 1.0
    where = (
        "speak for membership more than chance would"
        if than_chance
        else f"make membership more likely than {flags.chance}"
    )
    no_leak = f"Without any leak every record's risk is {cells.baseline:.3f}."
    if share is None:
        return f"None of {records:,} records is shown to lie where scores {where}. {no_leak}"
    what = "them" if flags.over.name == "records" else f"the {flags.over.name}"
    makes = "It does not make these records members" if share < NEARLY_ALL else "It proves no single one a member"
    are = f"about {share:.0%} are" if share >= FEW_OF_THEM else "fewer than 1 in 100 are"
    are = are if share < NEARLY_ALL else "nearly all are"
    return (
        f"{flagged:,} of {records:,} records {'lies' if flagged == 1 else 'lie'} where scores {where}; by their cells "
        f"that holds for at least {percent(1.0 - flags.rate)} of {what} on average, not for each. {makes}: at a prior "
        f"of {exactly(cells.prior)} {are}, as estimated from their cells. {no_leak}"
    )


def _unknown(cell: Integers) -> list[Caution]:
    beyond = int((cell < 0).sum())
    if not beyond:
        return []
    message = f"{beyond} of {len(cell)} targets lie outside the range of the sample, so their risk is unknown"
    return [Caution("targets_unknown", message)]
