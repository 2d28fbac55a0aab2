"""What any algorithm gives away of categorical data at most, and how secure losses leave a learner: said in words."""

from collections.abc import Sequence
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from estimators.errors import OutOfRange
from estimators.python.dataclass import dataclass
from estimators.statement import Caution, Estimate, at_least, at_most, figures_up, percent
from estimators.theory.bounds import Bound, accuracy, gamma_of, guess_accuracy
from estimators.theory.mis import assessment
from estimators.theory.mis.binomials import Tally
from estimators.theory.mis.overfitting import LossesOf, Overfits, Overfitting, by_mean, overfitting
from estimators.theory.mis.security import MOST_RECORDS, simple_delta

STEPS = 13
"""Sizes of a curve when none were given: three to every tenfold, from a hundredth to a hundredfold."""

USUAL = 0.05  # the Delta a curve is drawn around where there is no sample whose size would suggest one

AVERAGES = Caution(
    "averages_over_training_sets",
    "MIS describes an algorithm on average over training sets drawn at random from such data; one trained "
    "model may give away more or less",
)
WORST = Caution(
    "worst_share",
    "no share of nonmembers was given, so security is stated at the worst share (gamma = 1) and holds at "
    "every share; the accuracy and its baseline are for that one share only",
)
UNKNOWN = Caution(
    "universe_unknown",
    "the number of categories is unknown, so C_K has no upper limit. Delta's upper limit holds anyway: it "
    "accounts for unseen categories. Give universe to get both",
)
SINGLES = Caution(
    "mostly_singles",
    "most records are alone in their category, so an algorithm that stores its training set reveals them; "
    "coarsen the values first",
)
ONE_MODEL = Caution(
    "one_model",
    "the losses are from one model, so this limits the security of that model only. A statement about the "
    "algorithm needs losses that each come from a separate training",
)
NO_GAP = Caution(
    "no_gap_shown",
    "the losses show no overfitting that limits security. That is no evidence of security: other attacks may succeed",
)
TURNED_ROUND = Caution(
    "losses_turned_round",
    "training losses are shown to be above held-out ones: are they confidences, or the sides the wrong way round?",
)


@dataclass(frozen=True, slots=True)
class MisStatement:
    """Security of any algorithm trained on ``n`` records: 1 less ``delta``; ``mis.assess`` makes it.

    Attributes:
        sentence: The result in plain words, about the upper end of ``delta``.
        cautions: What to know before using the numbers.
        gamma: How a false alarm weighs against a missed member.
        baseline: Accuracy of guessing.
        accuracy: The most that an attack reaches at ``n``.
        n: Records in the training set.
        delta: Delta of the worst algorithm at ``n``, with its interval.
        diversity: C_K of the categories, with its interval.
        spread: Where C_K lies among all distributions, and the entropies beside it.
        sizes: Sizes of the training set at which ``deltas`` and ``simple`` are.
        deltas: Delta at each size, by Theorem 14.
        simple: Delta at each size, by C_K alone; None if C_K has no upper end.
        simple_lower: What Delta is at least at each size, by C_K alone (Corollary 15); None where that says nothing.
        records: Number of training records that keep a Delta, if one was to be kept.
        merges: What merging categories does, if that was wanted.
        bounds: Every bound of Delta at ``n``.
    """

    sentence: str
    cautions: tuple[Caution, ...]
    gamma: float
    baseline: float
    accuracy: float
    n: int
    delta: Estimate
    diversity: Estimate
    spread: assessment.Spread
    sizes: tuple[int, ...]
    deltas: tuple[Estimate, ...]
    simple: tuple[float | None, ...]
    simple_lower: tuple[float | None, ...]
    records: assessment.Records | None
    merges: tuple[assessment.Coarsening, ...] | None
    bounds: tuple[Bound, ...]


def assess(
    source: assessment.Source,
    *,
    nonmember_share: float | None = None,
    member_weight: float = 1.0,
    sizes: Sequence[int] | None = None,
    delta: float | None = None,
    coarsen_to: Sequence[int] | None = None,
    confidence: float = 0.95,
) -> MisStatement:
    """What any algorithm may give away of data in categories: Delta, how many records keep it small, what merging does.

    Args:
        source: ``Distribution.of`` known probabilities, or a sample: ``Tally.of_values`` or ``Tally.of_counts``.
        nonmember_share: Share of nonmembers among the records that are attacked (nu), strictly between 0 and 1. None:
            security at the worst share, accuracy at the share where gamma is 1.
        member_weight: What a true positive weighs against a true negative (lambda), above 0.
        sizes: Sizes of the training set, the most important one first. None: sizes around that of the sample.
        delta: Largest acceptable Delta = 1 - security: ``records`` has the number of training records that keep it.
        coarsen_to: Numbers of cells to merge the categories into, to see what is gained.
        confidence: Probability that an interval from a sample holds, strictly between 0 and 1.

    Raises:
        MaceError: a number out of its range.

    Example:
        >>> from estimators.theory import mis
        >>> sample = mis.Tally.of_counts([500, 300, 200], universe=3)
        >>> print(mis.assess(sample, nonmember_share=0.5, sizes=[1000]).sentence)
        Trained on 1000 such records, any algorithm has a security of at least 0.981 (95% confidence), at this share
        of nonmembers: no attack has an accuracy above 0.510, against a baseline of 0.500 for guessing.
    """
    share = member_weight / (1.0 + member_weight) if nonmember_share is None else nonmember_share
    gamma = 1.0 if nonmember_share is None else gamma_of(share, member_weight)
    diversity = assessment.diversity_of(source, confidence)
    every = tuple(sizes or _usual(source, diversity))
    n = every[0] if sizes else _middle(source, every)
    at = assessment.delta_of(source, n, gamma, confidence)
    most = diversity.upper
    return MisStatement(
        _secure(source, n, at, nonmember_share, share, member_weight, confidence),
        _cautions(source, nonmember_share),
        gamma,
        guess_accuracy(share, member_weight),
        accuracy(at.upper, share, member_weight),
        n,
        at,
        diversity,
        assessment.spread_of(source),
        every,
        tuple(assessment.delta_of(source, size, gamma, confidence) for size in every),
        tuple(simple_delta(most, size) if isfinite(most) else None for size in every),
        tuple(assessment.least_simple(source, size, gamma) for size in every),
        None if delta is None else assessment.records_of(source, delta, gamma, confidence),
        None if coarsen_to is None else _merges(source, coarsen_to, n, gamma, confidence, delta),
        assessment.bounds_of(source, n, gamma, confidence),
    )


def _usual(source: assessment.Source, diversity: Estimate) -> list[int]:
    """Sizes about that of the sample, or about what keeps Delta near a usual value."""
    middle = source.records if isinstance(source, Tally) else (float(diversity.value or 0.0) / (2.0 * USUAL)) ** 2
    span = np.logspace(-2.0, 2.0, STEPS)
    sizes = np.unique(np.clip(np.round(max(middle, 1.0) * span), 1, MOST_RECORDS))
    return [int(size) for size in sizes]


def _middle(source: assessment.Source, sizes: Sequence[int]) -> int:
    return source.records if isinstance(source, Tally) else sizes[len(sizes) // 2]


def _merges(
    source: assessment.Source, cells: Sequence[int], n: int, gamma: float, confidence: float, delta: float | None
) -> tuple[assessment.Coarsening, ...]:
    if max(cells, default=1) > source.categories:
        raise OutOfRange.about("coarsen_to", f"need at most the {source.categories} categories there are")
    return assessment.coarsen(source, cells, n, gamma, confidence, delta)


def _cautions(source: assessment.Source, nonmember_share: float | None) -> tuple[Caution, ...]:
    cautions = [AVERAGES]
    if nonmember_share is None:
        cautions.append(WORST)
    if isinstance(source, Tally):
        if source.universe is None:
            cautions.append(UNKNOWN)
        if source.counts[0] == 1 and 2 * int(source.times[0]) > source.records:
            cautions.append(SINGLES)
    return tuple(cautions)


def _secure(
    source: assessment.Source,
    n: int,
    delta: Estimate,
    nonmember_share: float | None,
    share: float,
    weight: float,
    confidence: float,
) -> str:
    sure = f" ({percent(confidence)} confidence)" if isinstance(source, Tally) else ""
    secure = f"any algorithm has a security of at least {at_least(1.0 - delta.upper)}{sure}"
    attack = (
        f"no attack has an accuracy above {at_most(accuracy(delta.upper, share, weight))}, against a baseline of "
        f"{at_most(guess_accuracy(share, weight))} for guessing{weight_in_words(weight)}."
    )
    if nonmember_share is not None:
        return f"Trained on {n} such records, {secure}, at this share of nonmembers: {attack}"
    where = "as many nonmembers as members" if share == 0.5 else f"a share of nonmembers of {share:g}"
    return f"Trained on {n} such records, {secure}, whatever the share of nonmembers. With {where}, {attack}"


@dataclass(frozen=True, slots=True)
class OverfittingStatement:
    """Security is at most the upper end of ``security``; ``mis.assess_overfitting`` makes it.

    Attributes:
        sentence: The result in plain words.
        cautions: What to know before using the numbers.
        security: Security with its upper end.
        gamma: How a false alarm weighs against a missed member.
        baseline: Accuracy of guessing.
        accuracy: The accuracy that a cut of the loss has at least.
        threshold: The cut that gives the bound.
        cuts: What was counted at every cut.
        by_mean: What the mean of the training losses alone says (Proposition 10), if an ``alpha`` was given.
    """

    sentence: str
    cautions: tuple[Caution, ...]
    security: Estimate
    gamma: float
    baseline: float
    accuracy: float
    threshold: float
    cuts: Overfitting
    by_mean: Overfits | None = None


def assess_overfitting(
    train_losses: ArrayLike,
    heldout_losses: ArrayLike,
    *,
    nonmember_share: float = 0.5,
    member_weight: float = 1.0,
    confidence: float = 0.95,
    thresholds: Sequence[float] | None = None,
    losses_of: LossesOf = "one_model",
    alpha: float | None = None,
) -> OverfittingStatement:
    """How secure a learner is at most, by how far its training losses lie below its held-out losses (MIS, Theorem 11).

    Args:
        train_losses: Losses of training records, at least one.
        heldout_losses: Losses of records that were not trained on, at least one.
        nonmember_share: Share of nonmembers among the records that are attacked (nu), strictly between 0 and 1.
        member_weight: What a true positive weighs against a true negative (lambda), above 0.
        confidence: Probability that the upper end holds over all cuts together, strictly between 0 and 1.
        thresholds: Losses to cut at, chosen without these records. None: ranks of the held-out losses.
        losses_of: ``one_model``, or ``independent_trainings`` if each loss comes from a separate training on separate
            data.
        alpha: Share of training losses that may lie above a cut, strictly between 0 and 1: ``by_mean`` has the cut that
            their mean alone vouches for.

    Raises:
        MaceError: a number out of its range, or losses that are none.

    Example:
        >>> import numpy as np
        >>> from estimators.theory import mis
        >>> rng = np.random.default_rng(0)
        >>> print(mis.assess_overfitting(rng.exponential(1, 500), rng.exponential(3, 500)).sentence)
        This model's security is at most 0.770 (95% confidence): a cut of the loss alone has an accuracy of at least
        0.615, against a baseline of 0.500 for guessing.
    """
    gamma = gamma_of(nonmember_share, member_weight)
    cuts = overfitting(train_losses, heldout_losses, gamma, confidence, thresholds, losses_of)
    upper = cuts.security.upper
    least = accuracy(1.0 - upper, nonmember_share, member_weight)
    guessing = guess_accuracy(nonmember_share, member_weight)
    sure = f"({percent(confidence)} confidence)"
    sentence = f"The losses put no limit on security {sure}."
    if upper < 1.0:
        what = "This model's security" if losses_of == "one_model" else "Security of the algorithm"
        sentence = (
            f"{what} is at most {at_most(upper)} {sure}: a cut of the loss alone has an accuracy of at least "
            f"{at_least(least)}, against a baseline of {at_most(guessing)} for guessing"
            f"{weight_in_words(member_weight)}."
        )
    cautions = (ONE_MODEL if losses_of == "one_model" else AVERAGES, *([NO_GAP] if upper >= 1.0 else []))
    if upper >= 1.0:
        turned = overfitting(heldout_losses, train_losses, gamma, confidence, thresholds, losses_of)
        cautions += (TURNED_ROUND,) if turned.security.upper < 1.0 else ()
    threshold = float(cuts.threshold[cuts.best])
    mean = None
    if alpha is not None:
        mean = by_mean(train_losses, heldout_losses, alpha, gamma, confidence, losses_of)
        sentence = (
            f"{sentence} By their mean alone, {figures_up(mean.mean_loss)}, at least {percent(1.0 - alpha)} of the "
            f"training losses are at most {figures_up(mean.epsilon)}, and {100.0 * mean.heldout:.3g}% of the held-out "
            "losses are."
        )
    return OverfittingStatement(sentence, cautions, cuts.security, gamma, guessing, least, threshold, cuts, mean)


def weight_in_words(weight: float) -> str:
    """How true positives weigh in the accuracies of a sentence, if not like the rest."""
    return "" if weight == 1.0 else f" (a true positive counts {weight:g} times)"
