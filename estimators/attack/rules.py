"""Attacks that somebody has, as rules - guesses, a cut, a number of records - and whom each accuses of the records."""

from __future__ import annotations

from functools import partial
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from estimators import errors
from estimators.adversary.families import Guesses
from estimators.adversary.insample import changes_upper
from estimators.arrays import random_of
from estimators.limits.cuts import AnyCut, CutLimits, FixedCut, GuessTable, PooledCut
from estimators.python.dataclass import dataclass, replace
from estimators.sample.counts import Counts
from estimators.sample.scores import Scores
from estimators.statement import Caution

Direction = Literal["above", "below"]
DIRECTIONS = ("above", "below")
SIDES = ("all", "members", "nonmembers")


@dataclass(frozen=True, slots=True)
class GuessRule:
    """The scores are the attack's guesses themselves: ``True`` or 1 is "member", ``False`` or 0 is "nonmember".

    So are the words "true" and "false", and "member" and "nonmember".

    Example:
        >>> from estimators import GuessRule, Scores, attack_advantage
        >>> guesses = Scores.of([True] * 70 + [False] * 30, [True] * 20 + [False] * 80)
        >>> round(attack_advantage(guesses, GuessRule()).value, 2)
        0.5
    """

    kind: ClassVar[Literal["guesses"]] = "guesses"


@dataclass(frozen=True, slots=True)
class ThresholdRule:
    """Accuse the scores at a threshold and beyond it.

    Args:
        threshold: The threshold.
        side: Which scores are accused: those ``"above"`` it, or those ``"below"``.
        chosen_before: Whether the threshold was chosen before these records were seen. If not, the interval holds
            however it was chosen, and is wider.

    Example:
        >>> from estimators import Scores, ThresholdRule, attack_advantage
        >>> losses = Scores.of([k / 100 for k in range(100)], [k / 50 for k in range(100)])
        >>> attack_advantage(losses, ThresholdRule(1.0, "below")).rates
        (1.0, 0.51)
    """

    threshold: float
    side: Direction = "above"
    chosen_before: bool = True
    kind: ClassVar[Literal["threshold"]] = "threshold"

    def __post_init__(self) -> None:
        number = errors.require_number("threshold", self.threshold)
        if not np.isfinite(number):
            raise errors.OutOfRange.about("threshold", "need a finite number")
        _require_side(self.side)


@dataclass(frozen=True, slots=True)
class TopRule:
    """Accuse a number of records, those with the most extreme scores of both sides together (LOGAN).

    Args:
        records: How many; None: as many as there are members.
        side: Which scores are accused: the highest (``"above"``) or the lowest (``"below"``).

    Example:
        >>> from estimators import Scores, TopRule, attack_advantage
        >>> scores = Scores.of([k / 100 for k in range(100)], [k / 200 for k in range(100)])
        >>> attack_advantage(scores, TopRule()).rates
        (0.66, 0.34)
    """

    records: int | None = None
    side: Direction = "above"
    kind: ClassVar[Literal["top"]] = "top"

    def __post_init__(self) -> None:
        if self.records is not None:
            errors.require_count("records", self.records)
        _require_side(self.side)


@dataclass(frozen=True, slots=True)
class QuantileRule:
    """Accuse the scores beyond a quantile of these records, such as the median distance (Hilprecht et al.).

    Args:
        quantile: The share of records that lie below the cut, strictly between 0 and 1: 0.5 is the median.
        of: Whose quantile: that of ``"all"`` records, of the ``"members"``, or of the ``"nonmembers"``.
        side: Which scores are accused: those ``"above"`` the cut, or those ``"below"``.

    Example:
        >>> from estimators import QuantileRule, Scores, attack_advantage
        >>> scores = Scores.of([k / 100 for k in range(100)], [k / 200 for k in range(100)])
        >>> attack_advantage(scores, QuantileRule(0.9, "nonmembers")).rates
        (0.54, 0.1)
    """

    quantile: float
    of: Literal["all", "members", "nonmembers"] = "all"
    side: Direction = "above"
    kind: ClassVar[Literal["quantile"]] = "quantile"

    def __post_init__(self) -> None:
        errors.require_open_unit("quantile", self.quantile)
        if self.of not in SIDES:
            raise errors.UnknownName.among("of", self.of, SIDES)
        _require_side(self.side)


AttackRule = GuessRule | ThresholdRule | TopRule | QuantileRule


def _require_side(side: str) -> None:
    if side not in DIRECTIONS:
        raise errors.UnknownName.among("side", side, DIRECTIONS)


@dataclass(frozen=True, eq=False, slots=True)
class AttackGuesses:
    """An attack's guesses about both sides.

    ``at_member`` says whose record a cut of both sides together is, and ``lot`` which number a record that ties with it
    must have drawn to be accused.
    """

    guesses: tuple[Guesses, Guesses]
    table: GuessTable
    cut: float | None = None
    at_member: bool = False
    lot: float = 0.0
    cautions: tuple[Caution, ...] = ()

    @classmethod
    def of(cls, members: Guesses, nonmembers: Guesses, prior: float) -> AttackGuesses:
        """Guesses, counted."""
        numbers = int(members.sum()), len(members), int(nonmembers.sum()), len(nonmembers)
        return cls((members, nonmembers), GuessTable(*numbers, prior))

    def advantage(self, prior: float) -> float:
        """Of these very guesses: 2 (p TPR + (1-p) TNR) - 1."""
        return 2.0 * (prior * self.table.tpr + (1.0 - prior) * (1.0 - self.table.fpr)) - 1.0

    def on(self, places: tuple[NDArray[np.int64], NDArray[np.int64]], prior: float) -> AttackGuesses:
        """The same guesses about some of the records of either side."""
        return AttackGuesses.of(self.guesses[0][places[0]], self.guesses[1][places[1]], prior)

    def limits(self, fine: Counts, rule: AttackRule, prior: float, elsewhere: bool = False) -> CutLimits:
        """Limits that allow for how the rule found its cut; ``elsewhere`` if other records had a say in it."""
        by_others = elsewhere and isinstance(rule, TopRule | QuantileRule)
        if by_others or (isinstance(rule, ThresholdRule) and not rule.chosen_before):
            return AnyCut(self.table, partial(changes_upper, fine, prior, changes=1))
        if isinstance(rule, TopRule) or (isinstance(rule, QuantileRule) and rule.of == "all"):
            return PooledCut(self.table, self.at_member)
        return FixedCut(self.table)


def judge_records(scores: Scores, rule: AttackRule, prior: float, seed: int) -> AttackGuesses:
    """Whom the rule accuses of these records."""
    sides = scores.members, scores.nonmembers
    if isinstance(rule, GuessRule):
        return AttackGuesses.of(_guesses(sides[0], "members"), _guesses(sides[1], "nonmembers"), prior)
    if scores.dimension > 1:
        message = f"rule: {rule.kind} cuts one number a record, got vectors; send one score, or the guesses"
        raise errors.InputError(message, field="members")
    if "U" in (sides[0].dtype.kind, sides[1].dtype.kind):
        words = f"rule: {rule.kind} cuts numbers, got text; send numbers, or the guesses"
        raise errors.InputError(words, field="members")
    sign = 1.0 if rule.side == "above" else -1.0
    members, nonmembers = (sign * side.astype(np.float64) for side in sides)
    if isinstance(rule, ThresholdRule):
        at = sign * float(rule.threshold)
        return replace(AttackGuesses.of(members >= at, nonmembers >= at, prior), cut=float(rule.threshold))
    pool = {"members": members, "nonmembers": nonmembers}.get(
        rule.of if isinstance(rule, QuantileRule) else "all", np.concatenate([members, nonmembers])
    )
    return _cut_at(members, nonmembers, pool, _number_accused(rule, len(members), len(pool)), sign, prior, seed)


def _guesses(side: NDArray[np.generic], name: str) -> Guesses:
    words = np.char.lower(side.astype(np.str_)) if side.dtype.kind == "U" and side.ndim == 1 else side
    yes = ("true", "member") if words is not side else (1,)
    no = ("false", "nonmember") if words is not side else (0,)
    if side.ndim > 1 or not bool(np.isin(words, (*yes, *no)).all()):
        raise errors.InputError.about(
            name,
            "need guesses, true or false (or 1 or 0) for each record; for scores give a rule: "
            "threshold, top or quantile",
        )
    return np.isin(words, yes)


def _number_accused(rule: TopRule | QuantileRule, n_members: int, pool: int) -> int:
    """How many of the pool lie beyond the cut."""
    if isinstance(rule, TopRule):
        number = n_members if rule.records is None else rule.records
        if number >= pool:
            raise errors.OutOfRange.about("rule.records", f"got {number} of {pool} records, need fewer")
        return number
    beyond = rule.quantile if rule.side == "below" else 1.0 - rule.quantile
    number = int(beyond * pool * (1.0 + 1e-12))
    if not 0 < number < pool:
        message = f"leaves {number} of {pool} records beyond the cut, need at least 1 on either side"
        raise errors.OutOfRange.about("rule.quantile", message)
    return number


def _cut_at(
    members: NDArray[np.float64],
    nonmembers: NDArray[np.float64],
    pool: NDArray[np.float64],
    number: int,
    sign: float,
    prior: float,
    seed: int,
) -> AttackGuesses:
    """Accuse from the given one of the pool's largest on; of records that tie with it, some drawn at random.

    Each record that ties draws a number, which stands after its score: so no two are alike, and limits stay exact.
    """
    at = float(np.partition(pool, len(pool) - number)[len(pool) - number])
    rng = random_of(seed, members, nonmembers)  # by the seed alone, the same ranks had the luck in every sample
    ties = [side == at for side in (members, nonmembers)]
    lots = [rng.random(int(tie.sum())) for tie in ties]
    if len(pool) == len(members) + len(nonmembers):
        of_pool = np.concatenate(lots)
    else:
        of_pool = lots[0] if pool is members else lots[1]
    least = np.sort(of_pool)[::-1][number - int((pool > at).sum()) - 1]
    guesses = []
    for side, tie, lot in zip((members, nonmembers), ties, lots, strict=True):
        guess = side > at
        guess[np.flatnonzero(tie)[lot >= least]] = True
        guesses.append(guess)
    tied = sum(len(lot) for lot in lots)
    cautions: tuple[Caution, ...] = ()
    if tied > 1:
        message = f"{tied} records have the score at the cut; which of them are accused was drawn at random"
        cautions = (Caution("ties_at_cut", message),)
    attack = AttackGuesses.of(guesses[0], guesses[1], prior)
    at_member = bool((lots[0] == least).any())
    return replace(attack, cut=sign * at, at_member=at_member, lot=float(least), cautions=cautions)
