"""A run that is looked at again and again: its ends hold at every look at once, so it may stop at any.

Records come in batches. Of each, rules fitted on the batches before it guess who is a member; bets on their being right
give the lower end (``limits.lower_accuracy``). The upper end is that of a class of rules which was fixed with the first
batch: at any time the best of the class has no more right guesses than the class's largest number
(``limits.upper_accuracy``). Both ends only ever narrow, but where more changes of guess become evident than the upper
end covered: it is then that of a larger class.
"""

from __future__ import annotations

from hashlib import sha256
from math import ceil, log
from typing import Self

import numpy as np

from estimators import errors
from estimators.adversary.changes import best_by_changes, corners_of
from estimators.adversary.families import families_for
from estimators.adversary.holdout import GROWTH
from estimators.adversary.insample import last_within
from estimators.adversary.many_changes import Around, gain_by_changes, widths_for
from estimators.arrays import Integers, random_of
from estimators.decisions.coverage import covers
from estimators.decisions.exposed_members import Withheld
from estimators.decisions.verdict import Because, Decision, decision, opening
from estimators.optimum.answer import MOST_CHANGES
from estimators.privacy.exposure import exposure
from estimators.python.dataclass import dataclass, replace
from estimators.runs.sequential import repeats
from estimators.runs.sequential.limits import FINENESS, Blocks, lower_accuracy, upper_accuracy
from estimators.runs.sequential.state import LONGEST_ID, MOST_LOOKS, Look, State, is_run_id
from estimators.sample.cells import Cells, Intervals, Values
from estimators.sample.counting import resolution
from estimators.sample.counts import Counts, require_data
from estimators.sample.doubts import ALL_EQUAL, of_grid
from estimators.sample.frequent import CROWD_OF_PART
from estimators.sample.scores import Query, Scores
from estimators.statement import (
    IID,
    Caution,
    Guarantee,
    Interval,
    at_least,
    at_most,
    baseline,
    both_ends,
    exactly,
    percent,
    rules_covered,
)

PLANNED = 10_000  # records of both sides at which the ends are best, if nobody says how many will come

CHANGES = 2
"""How often a rule that the upper end covers may change its guess along a score, at least, at any of these places."""

OFTEN = "attackers who change their guess often along the score gain more than chance explains"

WITHDRAWN = Caution(
    "resolution_rejected",
    "the lower end came to lie above the upper one: an attacker whom the upper end does not cover reaches more, or the "
    "batches are no draws of one law; the upper end is therefore 1",
)

BEYOND = 1e-6  # how far above a maximum an accuracy is known to be, if it is above

SAME = 1e-9
"""How far an end that is computed again may be from what it was: other processors round otherwise."""

IN_BATCHES = "; how many come in a batch does not depend on the scores in it, and one may look and stop at any"


@dataclass(frozen=True, eq=False, slots=True)
class SequentialRun(State):
    """All that is kept between two looks; small, and no score of a record is in it. ``sequential_run`` begins one.

    Attributes:
        prior: Probability that a record is a member before its score is seen.
        confidence: Probability that both ends hold at all looks together.
        planned: Records of both sides at which the ends are best.
        max_advantage: Largest advantage that is acceptable; None if nothing is decided.
        seed: From which the batches are shuffled.
        run_id: Name of the run, which keys the hashes of the sketch.
        looks: What stood after each batch.
        counts: All records that are judged, on the cells of the first batch.
        pilot: Records that showed where cells begin, and are judged in no end; None where cells were given.
        starts: First cell of each group of cells that the upper end covers freely.
        blocks: Right guesses and records of each block: of members, then of nonmembers.
        rights: Right guesses of each family of rules so far, about members and about nonmembers.
        contradicted: Whether the records contradict the class of the upper end, which is then 1.
        batches: Mark of each batch, whatever the order of its records, and the most that its coming by chance could
            have been probable.
        sketch: Hashes of a sample of the scores, at most 1,024, by which records that come again are seen.
        cautions: What to know of the last batch: that it may have been there before; and of the upper end. No part of
            the state.
        accept_exposure: Whether the run may pass beside a severe exposure. No part of the state.
    """

    cautions: tuple[Caution, ...] = ()
    accept_exposure: bool = False

    # --- what it says ---

    @property
    def lower(self) -> float:
        """The lower end; it holds at all looks together."""
        return self.looks[-1].lower if self.looks else baseline(self.prior)

    @property
    def upper(self) -> float:
        """The upper end; it holds at all looks together."""
        return self.looks[-1].upper if self.looks and not self.contradicted else 1.0

    @property
    def interval(self) -> Interval:
        """Both ends, and what they cover."""
        covers = f"at every look at once, the optimal advantage of attackers who {self.attacker}"
        proven = self.pilot is not None or len(self.starts) == (self.counts.size if self.counts else 0)
        return Interval(
            self.lower, self.upper, self.confidence, Guarantee(covers, IID + IN_BATCHES, finite_sample=proven)
        )

    @property
    def attacker(self) -> str:
        """Whom the upper end covers, in words to put after "attackers who"."""
        if self.counts is None or len(self.starts) == self.counts.size:
            return rules_covered(None, len(self.starts) or None)
        return f"{rules_covered(self.changes, len(self.starts))}, with cuts at {self.counts.size - 1} places"

    @property
    def changes(self) -> int | None:
        """How often a rule that the upper end covers may change its guess along the score; None: it reads the cells.

        Twice; more, where more are seen to gain more than chance explains.
        """
        if self.counts is None or len(self.starts) == self.counts.size:
            return None
        return max(CHANGES, gain_by_changes(self.counts).evident or 0)

    @property
    def decision(self) -> Decision:
        """Pass or fail once an end has crossed ``max_advantage``; it may be acted on at once.

        No pass stands beside a severe exposure of all records so far, unless it was accepted.
        """
        return self.withheld.decide(self.of_ends)

    @property
    def undecided_because(self) -> Because | None:
        """``exposed``, if the ends keep the limit and the decision is open for a severe exposure."""
        return self.withheld.because(self.of_ends)

    @property
    def withheld(self) -> Withheld:
        """What a pass would hide; the exposures of all looks hold together, as the j-th has 1/(j(j+1)) of the error."""
        if self.of_ends is not Decision.PASS or self.counts is None:
            return Withheld(accepted=self.accept_exposure, odd=self._odd)
        looks = len(self.looks)
        together = 1.0 - (1.0 - self.confidence) / (looks * (looks + 1.0))
        exposures = {"": exposure(self.counts, together, self.prior)}
        return Withheld.by(exposures, accepted=self.accept_exposure, odd=self._odd)

    @property
    def _odd(self) -> tuple[Caution, ...]:
        """That all records have one score; or that a cell is crowded which the first batch cut, if not of one score."""
        if self.counts is not None and np.count_nonzero(self.counts.pooled) == 1:
            return ALL_EQUAL
        if self.pilot is None or self.counts is None or not isinstance(self.counts.cells, Intervals):
            return ()
        cuts = self.counts.cells.cuts
        of_one_score = np.pad(np.nextafter(cuts[:-1], np.inf) == cuts[1:], 1)
        sides = np.stack([self.counts.members, self.counts.nonmembers])
        return of_grid(sides, np.where(of_one_score, 0, sides), CROWD_OF_PART)

    @property
    def of_ends(self) -> Decision:
        """What the interval says of the limit, whatever a pass would hide."""
        if self.max_advantage is None:
            return Decision.INCONCLUSIVE
        return decision(self.lower, self.upper, self.max_advantage)

    @property
    def reason(self) -> str:
        """What the decision rests on, in words to go on with."""
        sure = f"with {percent(self.confidence)} confidence at all looks together"
        ends = f"{sure} {both_ends(self.lower, self.upper, self.attacker, baseline(self.prior))}"
        if self.max_advantage is None:
            return ends
        limit = exactly(self.max_advantage)
        withheld = self.withheld
        if withheld.because(self.of_ends):
            return withheld.reason
        if self.of_ends is Decision.PASS:
            high = at_most(self.upper, within=self.max_advantage)
            words = f"{sure} the advantage of attackers who {self.attacker} is at most {high}"
            words = f"{words}, not above {limit}; a finer rule may do better"
            return f"{words}.{withheld.acceptance}".removesuffix(".")
        if self.decision is Decision.FAIL:
            return f"{sure} the advantage is at least {at_least(self.lower, beyond=self.max_advantage)}, above {limit}"
        return f"{ends}, which does not settle your limit of {limit}; go on with the next batch"

    @property
    def covers(self) -> tuple[str, ...]:
        """Of a pass: whom and what it covers, a sentence each; what they do not name is not covered."""
        if self.decision is not Decision.PASS:
            return ()
        attackers = self.attacker
        changes = self.holds_up_to_changes
        if changes is not None and self.counts is not None:
            attackers = f"{rules_covered(changes, len(self.starts))}, with cuts at {self.counts.size - 1} places"
        return covers([f"It covers attackers who {attackers}; a finer rule may do better."])

    @property
    def holds_up_to_changes(self) -> int | None:
        """Of a pass: the largest number of changes along the score with which every attacker keeps the limit.

        At most 1,000, on the cells of the run; None without a pass, and where every rule on these cells is covered.
        """
        changes, counts, most = self.changes, self.counts, self.max_advantage
        if counts is None or most is None or changes is None or self.decision is not Decision.PASS:
            return None

        def within(number: int) -> bool:
            beyond = (1.0 + most) / 2.0 + BEYOND
            return number <= changes or 2.0 * self._upper_accuracy(number, beyond) - 1.0 <= most

        top = min(counts.size - 1, MOST_CHANGES)
        values = best_by_changes(counts.weights(self.prior), top)
        guess = int(np.searchsorted(values, most - (self.upper - values[min(changes, top)])))
        return last_within(within, guess, top + 1)

    @property
    def sentence(self) -> str:
        """The result so far in plain words."""
        if not self.looks:
            return "No batch has come yet."
        where = (
            f"after {len(self.looks)} {'look' if len(self.looks) == 1 else 'looks'} at "
            f"{self.looks[-1].n_members + self.looks[-1].n_nonmembers} records"
        )
        if self.max_advantage is None:
            return f"{where.capitalize()}, {self.reason}."
        more = self.undecided_because is None
        return f"{opening(self.decision, more_would_settle=more)} {where}: {self.reason}."

    # --- what it was kept as ---

    @classmethod
    def from_dict(cls, value: object) -> Self:
        """Read back what ``to_dict`` wrote.

        The ends of the last look are computed again: beside those of the look before, which are held against what
        guesses and numbers of records can give, or from the counts and guesses alone.

        Args:
            value: The mapping.

        Raises:
            InputError: no state of a run, one of another version, or one that was damaged; it says which part.
        """
        run = super(SequentialRun, cls).from_dict(value)  # noqa: UP008  # slots make the class anew
        if run.counts is not None and not run._can_have_its_looks():
            raise errors.InputError.about(
                "state.looks",
                "the counts and guesses of this state cannot give these ends, so the state was changed; "
                "begin a new run",
            )
        return run

    def _can_have_its_looks(self) -> bool:
        """Whether the last look's ends follow from those before it, which can be, or from counts and guesses alone."""
        last, earlier = self.looks[-1], self.looks[:-1]
        again = replace(self, looks=earlier)._with_ends()
        follows = _are_same(again.looks[-1], last) and again.contradicted == self.contradicted
        if follows and all(map(self._can_be, earlier[-1:])):
            return True
        return _are_same(replace(self, looks=(), contradicted=False)._with_ends().looks[-1], last)

    def _can_be(self, look: Look) -> bool:
        """Whether guesses give a look's lower end, and so many records can give its upper one."""
        first_upper = next(each for each in self.looks if each.upper == look.upper)
        first_lower = next(each for each in self.looks if each.lower == look.lower)
        if look.upper < self._least_upper(first_upper):
            return False
        lower = 2.0 * self._lower_accuracy(self.blocks[: first_lower.n_blocks]) - 1.0
        return look.lower <= baseline(self.prior) or abs(lower - look.lower) <= SAME

    def _least_upper(self, look: Look) -> float:
        """An upper end below which no look at so many records has been, however well balanced they were."""
        pilot = (0, 0) if self.pilot is None else (self.pilot.n_members, self.pilot.n_nonmembers)
        n1, n0 = max(look.n_members - pilot[0], 1), max(look.n_nonmembers - pilot[1], 1)
        accuracy = upper_accuracy(
            np.array([[0.0, 1.0], [1.0, 0.0]]), n1, n0, self.prior, self._alpha, self.planned, self._share
        )
        return 2.0 * accuracy - 1.0 - 4.0 * FINENESS  # how near the search comes hangs on where it began

    # --- what it does ---

    def after(self, batch: Scores | Counts) -> SequentialRun:
        """The run after one batch more.

        Args:
            batch: Scores of new records of both sides, or counts of them on the cells of the batches before.

        Raises:
            MaceError: a batch that cannot be brought together with those before it, or of vectors; one most of
                whose records were in a batch before, which chance does not explain.
        """
        require_data(batch, Scores, Counts)
        if len(self.looks) >= MOST_LOOKS:
            raise _too_many_looks()
        run = self._after(batch)
        batches, sketch, repeat = repeats.with_batch(self.batches, self.sketch, repeats.sides_of(batch), self.run_id)
        if repeat is not None and repeat.chance <= repeats.REFUSE_BELOW:
            again = "is one of those before, score by score" if repeat.is_whole else "was there before"
            message = f"scores: this batch {again}: {repeat.words}; a run takes each record once"
            raise errors.InputError(message, field="members")
        doubts = () if repeat is None or repeat.chance > repeats.DOUBTED else (_may_be_repeated(repeat),)
        return replace(run, batches=batches, sketch=sketch, cautions=(*doubts, *run._about_ends()))

    def _about_ends(self) -> tuple[Caution, ...]:
        """What to know of the upper end: withdrawn, of a larger class, or blind to what a crowded cell holds."""
        if self.contradicted:
            return (WITHDRAWN, *self._odd)
        changes = self.changes
        if changes is None or changes <= CHANGES:
            return self._odd
        message = f"{OFTEN}: the upper end covers {changes} changes"
        return (Caution("many_changes", message), *self._odd)

    def _after(self, batch: Scores | Counts) -> SequentialRun:
        first = self.counts is None and isinstance(batch, Scores) and batch.query is not Query.DISCRETE
        if not first or not isinstance(batch, Scores):
            return self._judge_blocks(repeats.place(batch, self.counts))._with_ends()
        pilot, rest = repeats.pilot_and_rest(batch, random_of(self.seed, batch.members, batch.nonmembers))
        groups = pilot.group_starts(min(resolution(self.planned), max(4, pilot.n_records // 4)))
        first_run = replace(self, pilot=pilot, starts=tuple(int(start) for start in groups))
        return first_run._judge_blocks(rest)._with_ends()

    def merge(self, other: SequentialRun) -> SequentialRun:
        """Both runs as one, of records that are in one of them only; both must be on the same cells.

        Args:
            other: A run with the same question whose first batch was counted on the same cells.

        Raises:
            MaceError: another question, or other cells.
        """
        for name in ("prior", "confidence", "planned", "max_advantage"):
            if getattr(self, name) != getattr(other, name):
                raise errors.OptionError(
                    f"{name}: {getattr(self, name)} here and {getattr(other, name)} there; both runs need one question",
                    field="state",
                )
        if self.counts is None or other.counts is None:
            return other if self.counts is None else self
        if (self.pilot is None) != (other.pilot is None) or self.starts != other.starts:
            message = "the runs were begun on other cells; begin both with the same edges"
            raise errors.IncompatibleCells(message, field="state")
        sketch, repeat = self.sketch, None
        if self.run_id == other.run_id:
            less, more = sorted((sketch, other.sketch), key=lambda each: each.n_members + each.n_nonmembers)
            sketch, repeat = more.merge(less)
        chance = repeats.chance_of_common(self.batches, other.batches)
        if min(chance, 1.0 if repeat is None else repeat.chance) <= repeats.REFUSE_BELOW:
            message = "the runs have a batch in common, or most records; each may be in one of them"
            raise errors.InputError.about("state", message)
        first, second = self.rights, other.rights
        names = [*first, *(name for name in second if name not in first)]
        rights = {
            name: (
                first.get(name, (0, 0))[0] + second.get(name, (0, 0))[0],
                first.get(name, (0, 0))[1] + second.get(name, (0, 0))[1],
            )
            for name in names
        }
        together = replace(
            self,
            counts=self.counts.merge(other.counts),
            pilot=None if self.pilot is None or other.pilot is None else self.pilot.merge(other.pilot),
            blocks=self.blocks + other.blocks,
            rights=rights,
            looks=(),
            contradicted=False,
            batches=self.batches + other.batches,
            sketch=sketch,
            cautions=(),
        )
        if len(self.looks) + len(other.looks) >= MOST_LOOKS:
            raise _too_many_looks()
        merger = together._with_ends()
        return replace(merger, looks=(*self.looks, *other.looks, merger.looks[-1]))

    def _judge_blocks(self, new: Counts) -> SequentialRun:
        """Blocks of the batch, each guessed by rules fitted before it."""
        rng = new.random(self.seed)
        if self.counts is None:
            past = np.zeros((2, new.size), np.int64)
            cells = new.cells
        else:
            merger = self.counts.merge(new)
            cells = merger.cells
            past = repeats.same_cells(self.counts, merger)
            members, nonmembers = repeats.same_cells(new, merger)
            new = Counts.trusted(members, nonmembers, cells)
        history = past if self.pilot is None else past + np.array([self.pilot.members, self.pilot.nonmembers])
        size = min(
            new.n_members,
            new.n_nonmembers,
            max(1, ceil(log(1.0 + new.n_records / max(int(history.sum()), 10)) / log(GROWTH))),
        )
        parts = GROWTH ** np.arange(size)
        first, second = (side[0] for side in new.shuffles(parts / parts.sum(), rng, 1))
        keep = (first.sum(axis=1) > 0) & (second.sum(axis=1) > 0)
        rights = dict(self.rights)
        judged_records = (
            np.sum([block[1:4:2] for block in self.blocks], axis=0) if self.blocks else np.zeros(2, np.int64)
        )
        blocks = list(self.blocks)
        for members, nonmembers, whole in zip(first, second, keep, strict=True):
            if whole:
                outcome = self._guesses(history, members, nonmembers, cells)
                leader = max(outcome, key=lambda name: self._accuracy(rights.get(name, (0, 0)), judged_records))
                n1, n0 = int(members.sum()), int(nonmembers.sum())
                blocks.append((outcome[leader][0], n1, outcome[leader][1], n0))
                judged_records += (n1, n0)
                for name, (tp, tn) in outcome.items():
                    before = rights.get(name, (0, 0))
                    rights[name] = (before[0] + tp, before[1] + tn)
            history = history + np.array([members, nonmembers])
        counts = Counts.trusted(past[0] + new.members, past[1] + new.nonmembers, cells)
        starts = self.starts
        if not isinstance(cells, Intervals):
            starts = tuple(range(counts.size))
        elif not starts:
            starts = tuple(int(start) for start in counts.group_starts(resolution(self.planned)))
        return replace(self, counts=counts, starts=starts, blocks=tuple(blocks), rights=rights)

    def _guesses(
        self, history: Integers, members: Integers, nonmembers: Integers, cells: Cells
    ) -> dict[str, tuple[int, int]]:
        """Right guesses of each family about a block, by rules fitted on what is known."""
        totals = history.sum(axis=1)
        if not totals.all():
            return {"constant": (int(members.sum()), 0) if self.prior > 0.5 else (0, int(nonmembers.sum()))}
        past, at = Counts.trusted(history[0], history[1], cells), np.arange(cells.size)
        if isinstance(cells, Values):  # a new one has no part in the rules: it is guessed as the next below
            occupied = np.flatnonzero(history.any(axis=0))
            past = Counts.trusted(history[0][occupied], history[1][occupied], cells.select(occupied))
            at = np.maximum(np.searchsorted(occupied, at, side="right") - 1, 0)
        gain = past.weights(self.prior)[None]
        right_guesses = {}
        families = [*families_for(past, resolution(past.n_records))]
        if past.cells.ordered:
            families += [Around(width) for width in widths_for(past.size)]
        for family in families:
            guess = family.fit(gain, self.prior > 0.5)[0][at]
            right_guesses[family.name] = (int(members[guess].sum()), int(nonmembers[~guess].sum()))
        return right_guesses

    def _accuracy(self, rights: tuple[int, int], judged_records: Integers) -> float:
        n1, n0 = np.maximum(judged_records, 1.0)
        return float(self.prior * rights[0] / n1 + (1.0 - self.prior) * rights[1] / n0)

    @property
    def _alpha(self) -> float:
        return (1.0 - self.confidence) / 2.0

    @property
    def _share(self) -> float:
        assert self.counts is not None
        (_, n1, _, n0) = self.blocks[0] if self.blocks else (0, self.counts.n_members, 0, self.counts.n_nonmembers)
        return n1 / (n1 + n0)

    def _lower_accuracy(self, blocks: tuple[tuple[int, int, int, int], ...]) -> float:
        table = np.array(blocks, dtype=np.int64).reshape(-1, 4).T
        blocks_of = Blocks(table[0], table[1], table[2], table[3])
        return lower_accuracy(blocks_of, self.prior, self._alpha, self.planned)

    def _upper_accuracy(self, changes: int | None, most: float) -> float:
        """The largest accuracy of rules on the joined cells, and of those of so many changes, ``most`` at most."""
        assert self.counts is not None
        members, nonmembers = self.counts.members, self.counts.nonmembers
        corners = corners_of(members, nonmembers, np.array(self.starts), changes)
        n1, n0 = self.counts.n_members, self.counts.n_nonmembers
        return upper_accuracy(corners, n1, n0, self.prior, self._alpha, self.planned, self._share, most)

    def _with_ends(self) -> SequentialRun:
        """The ends after the last batch, each no wider than before for the rules that it covers."""
        assert self.counts is not None
        lower = max(self.lower, baseline(self.prior), 2.0 * self._lower_accuracy(self.blocks) - 1.0)
        changes = self.changes
        n1, n0 = self.counts.n_members, self.counts.n_nonmembers
        more = changes is not None and changes > CHANGES  # than earlier ends may have covered
        before = self.looks[-1].upper if self.looks and not more else 1.0
        upper = min(before, 2.0 * self._upper_accuracy(changes, (1.0 + before) / 2.0) - 1.0)
        contradicted = self.contradicted or upper < lower
        record_totals = (
            n1 + (self.pilot.n_members if self.pilot else 0),
            n0 + (self.pilot.n_nonmembers if self.pilot else 0),
        )
        return replace(
            self,
            looks=(*self.looks, Look(*record_totals, lower, max(upper, lower), len(self.blocks))),
            contradicted=contradicted,
        )


def _are_same(one: Look, other: Look) -> bool:
    return abs(one.lower - other.lower) <= SAME and abs(one.upper - other.upper) <= SAME


def _may_be_repeated(repeat: repeats.Repeat) -> Caution:
    return Caution(
        "repeated_batch",
        f"{repeat.words}; where scores take few values, that "
        f"happens by chance with a probability of up to {at_most(repeat.chance)}, so the batch was taken: if it was "
        "sent again, or overlaps with another, begin a new run, for each record may come once",
    )


def _too_many_looks() -> errors.OutOfRange:
    return errors.OutOfRange(f"looks: a run has {MOST_LOOKS} at most; give larger batches", field="state")


def sequential_run(
    max_advantage: float | None = None,
    prior: float = 0.5,
    confidence: float = 0.95,
    planned: int = PLANNED,
    seed: int = 0,
    run_id: str | None = None,
    accept_exposure: bool = False,
) -> SequentialRun:
    """Begin a run that is looked at after every batch, as often as you like.

    Args:
        max_advantage: Largest advantage that is acceptable, from -1 to 1; None to decide nothing.
        prior, seed: As for ``advantage``.
        confidence: Probability that both ends hold at all looks together, strictly between 0 and 1.
        planned: About how many records of both sides will come: there the ends are best. They hold at any number.
        run_id: Name of the run, letters and digits. None, the default: one that follows from what is asked, so that
            runs of one question can be merged, and still tell records that come again.
        accept_exposure: Whether the run may pass beside a severe exposure.

    Returns:
        a ``SequentialRun`` without a look; ``run.after(batch)`` gives the next.

    Example:
        >>> from estimators import Counts
        >>> from estimators.runs.sequential import sequential_run
        >>> run = sequential_run(max_advantage=0.5).after(Counts.of([5, 95], [95, 5], edges=[0.0]))
        >>> run.decision.value, run.lower > 0.5
        ('fail', True)
    """
    if max_advantage is not None and not -1.0 <= errors.require_number("max_advantage", max_advantage) <= 1.0:
        raise errors.OutOfRange.about("max_advantage", f"got {max_advantage!r}, need a number from -1 to 1")
    if run_id is not None and not is_run_id(run_id):
        raise errors.OutOfRange.about("run_id", f"need up to {LONGEST_ID} letters and digits")
    question = (
        errors.require_open_unit("prior", prior),
        errors.require_open_unit("confidence", confidence),
        errors.require_count("planned", planned, 2),
        max_advantage,
        errors.require_count("seed", seed, 0),
    )
    name = run_id or sha256(repr(question).encode()).hexdigest()[:32]
    return SequentialRun(*question, name, accept_exposure=accept_exposure)
