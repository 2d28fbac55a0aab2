"""Both ends of the optimal advantage, at any level: rules are fitted and judged once, and stated as often as needed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

import numpy as np

from estimators.adversary import lower_end
from estimators.adversary.changes import best_by_changes
from estimators.adversary.families import Cellwise, families_for, in_sample
from estimators.adversary.holdout import ORDERS, HeldOut
from estimators.adversary.insample import MANY_CELLS, FewChanges, cells_or_changes_upper, cells_upper, second_moment
from estimators.adversary.learned import MANY, LearnedScore, cells_of_learned, learn_score, learned_validation
from estimators.adversary.lower_end import LowerEnd
from estimators.adversary.paired import Rules
from estimators.adversary.targets import CellsTarget, LearnedTarget, Target, require_target
from estimators.clusters.dependent_rows import require_scores
from estimators.clusters.design import Clusters, Labels, names_of
from estimators.clusters.ends import ALONE, ClusteredEnds, ClusterSummary, clustered_ends, doubts_left
from estimators.errors import (
    IncompatibleCells,
    InputError,
    OptionError,
    TooFewRecords,
    TooManyCells,
    require_count,
    require_open_unit,
)
from estimators.optimum.answer import ASSUMED, Advantage, ChangesLimit, times
from estimators.python.dataclass import dataclass, replace
from estimators.sample.cells import Intervals, Values
from estimators.sample.counting import by_boxes, finest, resolution, without_repeats
from estimators.sample.counts import Counts, require_data
from estimators.sample.grid import Grid
from estimators.sample.learned import LearnedCounts
from estimators.sample.scores import FEW_VALUES, OFTEN, Scores
from estimators.statement import (
    CLUSTERED,
    IID,
    MLR,
    UNIMODAL,
    VERSION,
    Caution,
    Estimate,
    Guarantee,
    Interval,
    Provenance,
    baseline,
)

CUTS = 1024  # cells at which a threshold or two-sided adversary is described; its ends use every cut

RARELY = 0.1  # share of the records of few cells whose score is not known to be frequent, at most, if these are values

MOST_PAIRED_CELLS = 256
"""Beyond, records are not paired: the best of so many rules gains much by chance on its own records."""

CURVE = (0, 1, 2, 4, 8, 16, 32)  # numbers of changes at which the upper end is stated


def checked_ends(
    data: Scores | Counts,
    prior: float,
    target: Target | None,
    seed: int,
    shuffles: int = ORDERS,
    cluster: Labels | None = None,
    times: int = 1,
) -> Ends:
    """``ends_of`` of arguments that are in their range."""
    prior = require_open_unit("prior", prior)
    require_count("shuffles", shuffles)
    require_count("seed", seed, 0)
    require_data(data, Scores, Counts)
    require_target(target)
    return ends_of(data, prior, target, seed, shuffles, cluster, times)


@dataclass(frozen=True, eq=False)
class Ends:
    """Both ends of the interval, at any level: the rules are fitted and judged once."""

    fine: Counts
    counts: Counts
    prior: float
    target: Target
    validation: LowerEnd | ClusteredEnds
    source: Provenance
    learned: LearnedScore | None = None
    clusters: ClusterSummary | None = None

    def lower(self, alpha: float) -> float:
        """The lower end of level 1 - alpha."""
        return self.validation.at(alpha).lower

    def upper(self, alpha: float) -> float:
        """The upper end of level 1 - alpha, for the adversaries that the target names."""
        if isinstance(self.validation, ClusteredEnds):
            return self.validation.upper(alpha)
        if (assumed := ASSUMED.get(self.target.name)) is not None:
            return self.few_changes.upper(alpha, assumed)
        universe = self.target.universe if isinstance(self.target, CellsTarget) else None
        if self.changes is None:
            return cells_upper(self.counts, self.prior, alpha, universe)
        return cells_or_changes_upper(self.counts, self.few_changes, alpha, self.changes)

    def upper_by_changes(self, confidence: float) -> tuple[ChangesLimit, ...]:
        """The function of that name, of scores with an order."""
        return _limits(self.few_changes, confidence, CURVE)

    def interval(self, alpha: float) -> tuple[float, float]:
        """Both ends at level 1 - alpha each; a class that is rejected bounds nothing, and its upper end is 1."""
        lower, upper = self.lower(alpha), self.upper(alpha)
        return lower, 1.0 if upper < lower else upper

    @cached_property
    def few_changes(self) -> FewChanges:
        """Rules that change their guess a few times along a score with an order."""
        return FewChanges(self.fine, self.prior, max(CURVE[-1], self.changes or 0))

    @property
    def clustered(self) -> bool:
        """Whether some rows belong together."""
        return isinstance(self.validation, ClusteredEnds)

    @property
    def by_betting(self) -> bool:
        """Whether there are so few clusters that limits are found by betting."""
        return isinstance(self.validation, ClusteredEnds) and self.validation.limits.finite_sample

    @property
    def changes(self) -> int | None:
        """Changes of their guess that adversaries may make anywhere; None where every rule reads the cells.

        So many as the target declares; more, where more are seen to gain more than chance explains.
        """
        cells = self.counts is self.fine or not self.fine.cells.ordered
        if cells or not isinstance(self.target, CellsTarget):
            return None
        return max(self.target.changes, self.changes_seen or 0)

    @property
    def changes_seen(self) -> int | None:
        """So many changes of guess along the score gain more than chance explains; None if none do."""
        return self.validation.changes

    @property
    def rules(self) -> Rules | None:
        """Those that the upper end covers, on the finest cells; None where they are too many or none were declared."""
        if (assumed := ASSUMED.get(self.target.name)) is not None:
            return Rules(None, assumed)
        if isinstance(self.target, LearnedTarget) or self.counts.size > MOST_PAIRED_CELLS:
            return None
        before = np.concatenate([[0], self.counts.pooled.cumsum()[:-1]])
        return Rules(np.searchsorted(self.fine.pooled.cumsum(), before, side="right"), self.changes)

    def _flattered(self, below: HeldOut) -> float:
        """What the leading family's best rule has on the very records it was chosen on."""
        if (changes := ASSUMED.get(below.leader)) is not None:
            value = float(best_by_changes(self.fine.weights(self.prior), changes)[-1])
        elif isinstance(self.validation, LowerEnd) and below.leader not in self.validation.unseen.names:
            return below.value  # a rule with many changes flatters itself out of all measure
        else:
            families = {family.name: family for family in families_for(self.counts) if family.name != "kde"}
            value = in_sample(families.get(below.leader, Cellwise("cells")), self.counts, self.prior)
        return min(value, second_moment(self.counts, self.prior)) if self.counts.size > MANY_CELLS else value

    def at(self, confidence: float) -> Advantage:
        """The whole answer at a confidence."""
        alpha = (1.0 - confidence) / 2.0
        below, above = self.validation.at(alpha), self.upper(alpha)
        rejected = above < below.lower
        if isinstance(self.validation, ClusteredEnds):
            flattered, assumed = self.validation.flattered_by(below), CLUSTERED
        else:
            flattered, assumed = self._flattered(below), IID
        point = (below.value + flattered) / 2.0
        guarantee = _guarantee(self.counts, self.target, self.changes, below.exact, assumed)
        if not self.clustered and not self.fine.by_value and self.fine.cells.kind in ("intervals", "grid"):
            unseen = f"what differs within one of the {self.fine.size} cells that were counted is not seen"
            assumes = f"{guarantee.assumes}; cells were fixed without a look at who is a member"
            guarantee = replace(guarantee, covers=f"{guarantee.covers}; {unseen}", assumes=assumes)
        # a rejected class bounds nothing from above: the only honest upper end left is 1
        interval = Interval(below.lower, 1.0 if rejected else above, confidence, guarantee)
        return Advantage(
            # the lower end is at least the baseline
            Estimate(min(interval.upper, max(point, interval.lower)), interval),
            baseline(self.prior),
            self.counts.size,
            self.changes,
            below.leader,
            rejected,
            above,
            (
                *_cautions(self.counts, self.target, rejected, self.changes_seen),
                *(self.clusters.cautions if self.clusters else ()),
            ),
            self.source,
            self.target,
            self.clusters,
            None if self.clustered else self.fine,
            below.orders,
        )


def ends_of(
    data: Scores | Counts,
    prior: float,
    target: Target | None,
    seed: int,
    shuffles: int = ORDERS,
    cluster: Labels | None = None,
    times: int = 1,
) -> Ends:
    """Fit and judge the target's adversaries; where records repeat, a lower end is that without repeats, if lower.

    Args:
        times: How often rows stand there (``times_repeated``) by what is known of others, if not more often than any
            value is here; 1: as far as these show.
    """
    if cluster is not None:
        return _clustered(data, prior, target, seed, shuffles, cluster)
    found = _of_rows(data, prior, target, seed, shuffles)
    times = min(times, max(int(side.max()) for side in (found.fine.members, found.fine.nonmembers)))
    if times == 1 and not found.fine.repeats:
        return found
    assert isinstance(found.validation, LowerEnd)
    try:
        once = _of_rows(without_repeats(data, wide=True, times=times), prior, target, seed, shuffles).validation.at
    except (TooFewRecords, TooManyCells):  # names of which no two are alike
        once = partial(_nothing, baseline(prior))
    return replace(found, validation=replace(found.validation, once=once))


def _nothing(least: float, alpha: float) -> HeldOut:
    """No more than a guess has."""
    return HeldOut(least, least, "cells", True, (least, least))


def _of_rows(data: Scores | Counts, prior: float, target: Target | None, seed: int, shuffles: int) -> Ends:
    """The same of records of which each speaks for itself."""
    target = target or (LearnedTarget() if is_vector(data) else CellsTarget())
    source = Provenance(f"{target.name}+progressive", VERSION, data.n_members, data.n_nonmembers, prior, seed)
    if isinstance(target, LearnedTarget):
        return _learned(data, prior, target, seed, shuffles, source)
    fine = _as_scores_are_read(data) if isinstance(data, Counts) else _finest(data, target)
    counts = cells_for(fine, target)
    if counts is fine or not fine.cells.ordered:
        below = lower_end.on_cells(counts, prior, seed, shuffles)
    else:
        below = lower_end.anywhere(fine, prior, groups_for(fine, counts, target), seed, shuffles)
    return Ends(fine, counts, prior, target, below, source)


def _as_scores_are_read(counts: Counts) -> Counts:
    """Counts of many different numbers along their line, and of few without empty cells, as scores are read."""
    inside = counts.occupied()
    cells, total = inside.cells, inside.n_records
    if isinstance(cells, Values) and cells.labels.dtype.kind in "iuf":
        labels = cells.labels
        few = cells.size <= FEW_VALUES and cells.size * OFTEN <= total
        if labels.dtype.kind in "iu":
            few = few or (int(labels[-1]) - int(labels[0]) + 1) * OFTEN <= total
        cuts = labels[1:].astype(np.float64)
        if not few and (cuts[1:] > cuts[:-1]).all():
            sides = inside.members, inside.nonmembers
            return Counts.trusted(*sides, Intervals(cuts), counts.doubts, 0.0, counts.signs)
    return inside if isinstance(cells, Grid) and _has_few_values(inside) else counts


def _has_few_values(counts: Counts) -> bool:
    """Whether counts on a grid are those of few rounded values, nearly all of which are known to be frequent."""
    few = counts.size <= min(FEW_VALUES, counts.n_records // OFTEN)
    return few and bool(counts.unlike().sum() <= RARELY * counts.n_records)


def is_vector(data: Scores | Counts) -> bool:
    """Whether records are vectors, or were until one score was learned from them."""
    return isinstance(data, LearnedCounts) or (isinstance(data, Scores) and data.dimension > 1)


def _learned(
    data: Scores | Counts, prior: float, target: LearnedTarget, seed: int, shuffles: int, source: Provenance
) -> Ends:
    """Both ends by learners; of very many records, and of counts, the lower end is that of rules along one score."""
    learned = None
    if isinstance(data, LearnedCounts):
        fine: Counts = data
    elif not isinstance(data, Scores):
        raise InputError("a learned adversary needs scores, not counts", field="estimator")
    elif "U" in (data.members.dtype.kind, data.nonmembers.dtype.kind):
        raise InputError("a learned adversary needs numbers, got text", field="estimator")
    else:
        learned = learn_score(data, prior, seed, target.learners)
        fine = learned.counts
    counts = cells_of_learned(fine, target.bins)
    if isinstance(data, Scores) and data.n_members + data.n_nonmembers <= MANY:
        below = LowerEnd(learned_validation(data, prior, seed, target.learners))
    else:
        below = lower_end.anywhere(fine, prior, resolution(fine.n_records), seed, shuffles)
    return Ends(fine, counts, prior, target, below, source, learned)


def _clustered(
    data: Scores | Counts, prior: float, target: Target | None, seed: int, shuffles: int, cluster: Labels
) -> Ends:
    """The same by whole clusters; as without any where no two rows share a label."""
    data = require_scores(data)
    clusters = Clusters.of(cluster, data, prior)
    if clusters is None:
        plain = _of_rows(data, prior, target, seed, shuffles)
        rows = data.n_members + data.n_nonmembers
        names = names_of(cluster)
        alone = ClusterSummary(names, (rows,) * len(names), 1.0, float(rows), ALONE)
        return replace(plain, clusters=alone)
    if isinstance(target, LearnedTarget) or (target is None and data.dimension > 1):
        message = "a learned adversary does not allow for clusters; give one number a record"
        raise OptionError.about("cluster", message)
    target = target or CellsTarget()
    fine = _finest(data, target)
    at = clusters.cells(fine, data)
    if isinstance(target, CellsTarget):
        if not fine.cells.ordered:
            fine.require_shared_cells()
        bins, changes = target.bins, target.changes if fine.cells.ordered else None
    else:
        cells_for(fine, target)  # scores without an order are refused
        bins, changes = None, ASSUMED[target.name]
    ends = clustered_ends(clusters, at, fine, bins, isinstance(target, CellsTarget), changes, seed, shuffles)
    source = Provenance(f"{target.name}+{ends.summary.method}", VERSION, data.n_members, data.n_nonmembers, prior, seed)
    fine = Counts.trusted(fine.members, fine.nonmembers, fine.cells, doubts_left(clusters, at, fine))
    counts = fine.join(fine.group_starts(ends.size)) if fine.cells.ordered else fine
    return Ends(fine, counts, prior, target, ends, source, None, ends.summary)


def _finest(scores: Scores, target: Target) -> Counts:
    """The finest cells; of vectors as many boxes as the target asks for, as their number is all there is to choose."""
    if scores.dimension > 1 and isinstance(target, CellsTarget) and target.bins is not None:
        return by_boxes(scores, target.bins)
    return finest(scores)


def upper_by_changes(
    data: Scores | Counts, prior: float = 0.5, confidence: float = 0.95, changes: Sequence[int] = CURVE
) -> tuple[ChangesLimit, ...]:
    """Upper ends at full resolution, for attackers who may change their guess more and more often along the score.

    Each holds by itself. If an end is at or below a maximum, the score keeps within it unless its posterior crosses one
    half more often than that.

    Args:
        data: Scores of both sides (``Scores.of``) or their counts (``Counts``), with an order.
        changes: At how many changes to state the upper end, each at least 0.

    Returns:
        a ``ChangesLimit`` for each number of changes; none for scores without an order.
    """
    prior, confidence = require_open_unit("prior", prior), require_open_unit("confidence", confidence)
    require_data(data, Scores, Counts)
    fine = data if isinstance(data, Counts) else finest(data)
    if not fine.cells.ordered:
        return ()
    rules = FewChanges(fine, prior, max(changes, default=0))
    return _limits(rules, confidence, changes)


def _limits(rules: FewChanges, confidence: float, changes: Sequence[int]) -> tuple[ChangesLimit, ...]:
    alpha = (1.0 - confidence) / 2.0
    few = [each for each in changes if each < rules.cells]
    return tuple(ChangesLimit(*each) for each in zip(few, rules.uppers(alpha, few), strict=True))


def cells_for(fine: Counts, target: Target) -> Counts:
    """The cells on which a target's adversaries are learned: chosen by pooled counts alone."""
    if isinstance(target, CellsTarget):
        values = fine.cells.kind not in ("intervals", "grid") or (
            isinstance(fine.cells, Grid) and _has_few_values(fine)
        )
        keeps_cells = values and target.bins is None
        if keeps_cells or not fine.cells.ordered:
            return fine.require_shared_cells()
        return fine.coarsen(resolution(fine.n_records) if target.bins is None else target.bins)
    if not fine.cells.ordered:
        message = f"a {target.name} adversary needs scores with an order, got {fine.cells.kind}"
        raise IncompatibleCells(message, field="estimator")
    return fine.coarsen(CUTS)


def groups_for(fine: Counts, counts: Counts, target: Target) -> int:
    """How many cells the lower end's cellwise rules see of a score that is cut anywhere."""
    return counts.size if isinstance(target, CellsTarget) else resolution(fine.n_records)


def _guarantee(counts: Counts, target: Target, changes: int | None, exact_lower: bool, assumed: str = IID) -> Guarantee:
    cells = f"the optimal advantage of adversaries that see the score at a resolution of {counts.size} cells"
    if changes is not None:
        cells = (
            "lower end: the optimal advantage; upper end: that of adversaries that change their guess "
            f"{times(changes)} along the score, or see it at a resolution of {counts.size} cells"
        )
    covers, assumes = {
        "cells": (cells, IID),
        "threshold": ("the optimal advantage", MLR),
        "two_sided": ("the optimal advantage", UNIMODAL),
        "learned": (
            "lower end: the optimal advantage of any adversary that sees the vector; "
            f"upper end: of adversaries that see the learned score at a resolution of {counts.size} cells",
            IID,
        ),
    }[target.name]
    return Guarantee(covers, assumes.replace(IID, assumed), finite_sample=exact_lower and counts.size <= MANY_CELLS)


def _cautions(counts: Counts, target: Target, rejected: bool, changes: int | None) -> list[Caution]:
    cautions = counts.cautions()
    if changes is not None and not rejected:
        covers = "the upper end covers" if isinstance(target, CellsTarget) else "the upper end does not cover"
        message = (
            "attackers who change their guess often along the score gain more than chance explains: "
            f"{covers} {changes} changes"
        )
        cautions.append(Caution("many_changes", message))
    if rejected and isinstance(target, CellsTarget | LearnedTarget):
        message = (
            "an attacker whom the upper end does not cover was shown to reach more than it, so it is withdrawn: "
            "the upper end is therefore 1"
        )
        cautions.append(Caution("resolution_rejected", message))
    elif rejected:
        message = (
            f"the records contradict the assumption that the best adversary is of the {target.name} class; "
            "the upper end is therefore 1"
        )
        cautions.append(Caution("class_rejected", message))
    return cautions
