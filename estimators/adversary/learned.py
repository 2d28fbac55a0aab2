"""The learned adversary: a classifier turns any vector into a guess, judged on records it has not seen.

Counts of cells are mostly noise in many dimensions; a classifier does not need them, and the progressive
lower bound of ``holdout`` holds for whatever was learned (docs/methods.md, section 2).
scikit-learn is imported when the first model is built, never before.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from estimators.adversary.holdout import Validation, follow_leader
from estimators.arrays import Floats, Integers, random_of
from estimators.errors import NotInstalled
from estimators.limits.binomial import pools
from estimators.python.dataclass import dataclass
from estimators.sample.cells import Boxes
from estimators.sample.counting import by_grid, by_rank, resolution
from estimators.sample.counts import Counts
from estimators.sample.doubts import of_rows
from estimators.sample.learned import LearnedCounts, about_learned
from estimators.sample.scores import Query, Scores
from estimators.statement import Caution

__all__ = ["Learner", "boosting", "boxes", "logistic", "quadratic"]

MAX_TRAINING = 200_000
"""Records a side a model is trained on at most: more costs minutes and gains nothing a bound would show."""

BLOCK_ENDS = (0.15, 0.3, 0.55, 1.0)  # fewer, longer blocks than on counts: every block costs a training


@dataclass(frozen=True, slots=True)
class Learner:
    """A name and a way to build a fresh scikit-learn classifier from a seed.

    Args:
        name: What answers call it.
        build: Makes a classifier with ``fit`` and ``predict_proba`` from a seed.

    Example:
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from estimators import LearnedTarget
        >>> from estimators.adversary.learned import Learner
        >>> target = LearnedTarget(learners=(Learner("naive_bayes", lambda seed: GaussianNB()),))
        >>> target.learners[0].name
        'naive_bayes'
    """

    name: str
    build: Callable[[int], Any]


def logistic() -> Learner:
    """Linear log-odds on standardised coordinates."""

    def build(seed: int) -> Any:
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        return make_pipeline(StandardScaler(), LogisticRegression(max_iter=200, random_state=seed))

    return Learner("logistic", build)


def quadratic() -> Learner:
    """Gaussian sides with covariances of their own: sees spread and correlation.

    Example:
        >>> import numpy as np
        >>> from estimators import LearnedTarget, Scores, advantage
        >>> from estimators.adversary.learned import quadratic
        >>> rng = np.random.default_rng(0)
        >>> scores = Scores.of(rng.normal(0, 3, (400, 3)), rng.normal(0, 1, (400, 3)))  # another spread
        >>> result = advantage(scores, target=LearnedTarget(learners=(quadratic(),)))
        >>> result.lower > 0.3
        True
    """

    def build(seed: int) -> Any:
        from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        return make_pipeline(StandardScaler(), QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.05))

    return Learner("quadratic", build)


def boosting() -> Learner:
    """Gradient-boosted trees on histograms: sees anything, given enough records.

    Example:
        >>> from estimators import LearnedTarget
        >>> from estimators.adversary.learned import boosting, quadratic
        >>> [learner.name for learner in LearnedTarget(learners=(quadratic(), boosting())).learners]
        ['quadratic', 'boosting']
    """

    def build(seed: int) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(
            max_iter=60, max_leaf_nodes=15, learning_rate=0.1, early_stopping=False, random_state=seed
        )

    return Learner("boosting", build)


class BoxPosterior:
    """The share of members among past records in the same box, in the shape of a scikit-learn classifier."""

    def fit(self, rows: Floats, member: NDArray[np.int64]) -> None:
        """Cut the records into boxes, then count."""
        self.boxes = self.cut(rows, member)
        at = self.boxes.locate(rows)
        hits = np.bincount(at, weights=member, minlength=self.boxes.size)
        total = np.bincount(at, minlength=self.boxes.size)
        self.share = (hits + member.mean()) / (total + 1.0)  # an empty box knows only the sample's share

    def cut(self, rows: Floats, _member: NDArray[np.int64]) -> Boxes:
        """Boxes of equal mass: halve the records along one axis after another."""
        return Boxes.halving(rows, resolution(len(rows)))

    def predict_proba(self, rows: Floats) -> Floats:
        """Probability of nonmember and of member."""
        share = self.share[self.boxes.locate(rows)]
        return np.stack([1.0 - share, share], axis=1)


def boxes() -> Learner:
    """Boxes of equal mass: sees what no single coordinate shows, in few dimensions and from few records."""
    return Learner("boxes", lambda _seed: BoxPosterior())


TRAINING_SHARE = 0.4
"""Part of the records that chooses and trains the score whose upper end the rest certifies."""

MOST_TAUGHT = 100_000  # records a side that choose and train it at most; all others certify it

MANY = 2**20
"""Records beyond which the lower end, too, is that of rules along the one learned score, which costs one pass."""

DEFAULT_LEARNERS = (quadratic(), logistic(), boxes(), boosting())


def learned_validation(
    scores: Scores, prior: float, seed: int, learners: Sequence[Learner] = DEFAULT_LEARNERS
) -> Validation:
    """Progressive validation of adversaries that see the vector."""
    rng = random_of(seed, scores.members, scores.nonmembers)
    with on_one_thread(learners):
        shuffled = [side[order] for side, order in zip(_rows(scores), _orders(scores, rng), strict=True)]
        right = np.array([_right_guesses(shuffled, prior, learners, rng)])
    n1, n0 = (np.diff(_block_ends(n))[None, :] for n in (scores.n_members, scores.n_nonmembers))
    outcome = follow_leader(right[:, 0], n1, right[:, 1], n0, prior)
    pooled = pools(scores.n_members, scores.n_nonmembers, prior)
    return Validation(outcome, tuple(learner.name for learner in learners), prior, pooled)


@dataclass(frozen=True, eq=False, slots=True)
class LearnedScore:
    """A score that was learned from some records of a sample of vectors, on the other records.

    Given what it learned from, the other records are independent draws that it has not seen: to them it is a query like
    any other, of one number a record. ``learn_score`` and ``learn_halves`` make it.

    Attributes:
        learner: Which learner did best within the records learned from, such as ``boosting``.
        scores: The learned score of the records that had no part in it; a higher one suggests a member.
        rows: Which records those are: their places among the members, and among the nonmembers.
        n_taught: Records of both sides that were learned from.
        score: The learned score of further rows.
        doubts: What is odd about the rows themselves, such as repeated ones.
    """

    learner: str
    scores: Scores
    rows: tuple[Integers, Integers]
    n_taught: int
    score: Callable[[Floats], Floats]
    doubts: tuple[Caution, ...]

    @property
    def counts(self) -> Counts:
        """The finest counts of the learned score."""
        fine = by_rank(self.scores)
        # doubts are those of the rows as they came: a learner may tell two of them apart or not
        return Counts.trusted(fine.members, fine.nonmembers, fine.cells, self.doubts)

    def on_grid(self) -> LearnedCounts:
        """Counts on a grid that say what they are of, as a stream makes them."""
        grid = by_grid(self.scores)
        counts = LearnedCounts(grid.members, grid.nonmembers, grid.cells, self.learner, self.n_taught)
        return counts.doubted(self.doubts)

    @property
    def caution(self) -> Caution:
        """Of what a statement that rests on this score speaks."""
        return about_learned(self.learner, self.n_taught, self.n_members + self.n_nonmembers)

    @property
    def n_members(self) -> int:
        """Member records that it is stated on."""
        return self.scores.n_members

    @property
    def n_nonmembers(self) -> int:
        """Nonmember records that it is stated on."""
        return self.scores.n_nonmembers


def cells_of_learned(fine: Counts, bins: int | None = None) -> Counts:
    """Counts of a learned score on so many cells of about equal size; None: the cube root of the number of records."""
    joined = fine.coarsen(resolution(fine.n_records) if bins is None else bins)
    return Counts.trusted(joined.members, joined.nonmembers, joined.cells, fine.doubts)


def learn_score(
    scores: Scores, prior: float = 0.5, seed: int = 0, learners: Sequence[Learner] = DEFAULT_LEARNERS
) -> LearnedScore:
    """Learn a score of vectors from 40% of the records, 100,000 a side at most, for statements about all others.

    Half of the training part fits every learner and the other half picks the best, which is then
    fitted on all of it.

    Args:
        scores: Scores of both sides (``Scores.of``), rows of numbers.
        prior: Probability that a record is a member before its score is seen; learners are judged by their advantage
            at it.
    """
    rng = random_of(seed, scores.members, scores.nonmembers)
    orders = _orders(scores, rng)
    return _learn(scores, prior, int(rng.integers(2**31)), learners, *_learning_part(orders))


def learn_halves(
    scores: Scores, prior: float = 0.5, seed: int = 0, learners: Sequence[Learner] = DEFAULT_LEARNERS
) -> tuple[LearnedScore, LearnedScore]:
    """A learned score for every record, from records that are not it: two scores, each on what the other learned from.

    The first is that of ``learn_score``; the second learns from the records the first is stated on. The two scores
    share no scale, and a sum over both is no sum of independent records: each is good for statements of its own.

    Args:
        scores: Scores of both sides (``Scores.of``), rows of numbers.

    Returns:
        two ``LearnedScore``; their ``rows`` together are all records, each once.
    """
    rng = random_of(seed, scores.members, scores.nonmembers)
    learning, rest = _learning_part(_orders(scores, rng))
    first = _learn(scores, prior, int(rng.integers(2**31)), learners, learning, rest)
    return first, _learn(scores, prior, int(rng.integers(2**31)), learners, rest, learning)


Order = list[Integers]  # places of records among the members, and among the nonmembers


def _orders(scores: Scores, rng: np.random.Generator) -> Order:
    return [rng.permutation(n) for n in (scores.n_members, scores.n_nonmembers)]


def taught_of(records: int) -> int:
    """How many of so many records of a side are learned from."""
    return min(int(TRAINING_SHARE * records), MOST_TAUGHT)


def _learning_part(orders: Order) -> tuple[Order, Order]:
    """The records to learn from, and the rest."""
    ends = [taught_of(len(order)) for order in orders]
    parts = [(order[:end], order[end:]) for order, end in zip(orders, ends, strict=True)]
    return [part[0] for part in parts], [part[1] for part in parts]


def _learn(
    scores: Scores, prior: float, state: int, learners: Sequence[Learner], learning: Order, rest: Order
) -> LearnedScore:
    """The score learned from ``taught``, on the rest."""
    sides = _rows(scores)
    training = [side[order] for side, order in zip(sides, learning, strict=True)]
    rule = teach(training[0], training[1], prior, state, learners)
    stated = [rule.score_at(side, order) for side, order in zip(sides, rest, strict=True)]
    return LearnedScore(
        rule.learner,
        Scores(stated[0], stated[1], Query.CONTINUOUS, "a learned score"),
        (rest[0], rest[1]),
        rule.n_taught,
        rule.classify,
        of_rows(sides[0], sides[1]),
    )


PIECE = 2**17  # rows that are scored at a time: classifiers copy what they are given


@dataclass(frozen=True, eq=False, slots=True)
class LearnedRule:
    """One number for each row, learned from ``n_taught`` records by the best learner; high for a member."""

    learner: str
    n_taught: int
    classify: Fitted
    learners: Sequence[Learner] = DEFAULT_LEARNERS

    def score(self, rows: Floats) -> Floats:
        """The learned score of rows, piece by piece and on one thread."""
        return self.score_at(rows, np.arange(len(rows)))

    def score_at(self, rows: Floats, order: Integers) -> Floats:
        """The learned score of the rows at these places."""
        scores = np.empty(len(order))
        with on_one_thread(self.learners):
            for at in range(0, len(order), PIECE):
                scores[at : at + PIECE] = self.classify(rows[order[at : at + PIECE]])
        return scores


def teach(
    members: Floats,
    nonmembers: Floats,
    prior: float = 0.5,
    seed: int = 0,
    learners: Sequence[Learner] = DEFAULT_LEARNERS,
) -> LearnedRule:
    """The score of the learner that does best on half of these rows, fitted on all of them.

    Args:
        members: Rows of member records, in random order.
        nonmembers: Rows of nonmember records, likewise.
    """
    training = [members, nonmembers]
    first = [side[: max(1, len(side) // 2)] for side in training]
    second = [side[max(1, len(side) // 2) :] for side in training]
    accuracies = []
    with on_one_thread(learners):
        for learner in learners:
            score = _fit(learner, first, seed)
            cut = _cut(first, prior)
            accuracies.append(
                prior * np.mean(score(second[0]) > cut) + (1.0 - prior) * np.mean(score(second[1]) <= cut)
            )
        leader = learners[int(np.argmax(accuracies))]
        best = _fit(leader, training, seed)
    n_taught = sum(min(len(side), MAX_TRAINING) for side in training)
    return LearnedRule(leader.name, n_taught, best, learners)


def on_one_thread(learners: Sequence[Learner]) -> AbstractContextManager[Any]:
    """One thread for whatever is learned and predicted inside.

    Every learner is built first, so that the libraries whose threads are limited are loaded.
    """
    return one_thread(*((learner.name, type(_build(learner, 0)).__module__) for learner in learners))


def _build(learner: Learner, seed: int) -> Any:
    """A fresh model, or the word that its package is not installed."""
    try:
        return learner.build(seed)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "sklearn":
            raise
        message = "needs the package scikit-learn; pip install 'macekit[learned]'"
        raise NotInstalled.about("estimator", message) from None


def _rows(scores: Scores) -> list[Floats]:
    return [np.asarray(side, dtype=np.float64).reshape(len(side), -1) for side in (scores.members, scores.nonmembers)]


def _block_ends(n_records: int) -> NDArray[np.int64]:
    return np.round(np.multiply(BLOCK_ENDS, n_records)).astype(np.int64)


def _right_guesses(
    sides: Sequence[Floats], prior: float, learners: Sequence[Learner], rng: np.random.Generator
) -> NDArray[np.int64]:
    """True positives and true negatives of each learner, trained on the past, on each block: (2, learners, blocks)."""
    ends = [_block_ends(len(side)) for side in sides]
    right: list[list[tuple[int, int]]] = []
    for block in range(len(BLOCK_ENDS) - 1):
        past = [side[: end[block]] for side, end in zip(sides, ends, strict=True)]
        following = [side[end[block] : end[block + 1]] for side, end in zip(sides, ends, strict=True)]
        state, cut = int(rng.integers(2**31)), _cut(past, prior)
        outputs = [[_fit(learner, past, state)(side) > cut for side in following] for learner in learners]
        right.append([(int(hit.sum()), int((~alarm).sum())) for hit, alarm in outputs])
    return np.asarray(right).transpose(2, 1, 0)


@dataclass(frozen=True, slots=True)
class Fitted:
    """A model that was trained; None if it could not be."""

    model: Any

    def __call__(self, rows: Floats) -> Floats:
        """The probability of member."""
        if self.model is None:
            return np.zeros(len(rows))
        probability: Floats = self.model.predict_proba(rows)[:, 1]
        return probability


def _fit(learner: Learner, past: Sequence[Floats], seed: int) -> Fitted:
    members, nonmembers = (side[:MAX_TRAINING] for side in past)
    model = _build(learner, seed)
    # collinear or constant coordinates are the user's to send, and harmless here
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(np.concatenate([members, nonmembers]), np.repeat([1, 0], [len(members), len(nonmembers)]))
        except (ValueError, np.linalg.LinAlgError):  # too few records for this model: it knows nothing yet
            return Fitted(None)
    return Fitted(model)


def _cut(past: Sequence[Floats], prior: float) -> float:
    """Model output above which the posterior exceeds 1/2: the model's odds are its training sample's."""
    n1, n0 = (min(len(side), MAX_TRAINING) for side in past)
    odds = n1 / n0 * (1.0 - prior) / prior
    return odds / (1.0 + odds)


def one_thread(*loaded: Hashable) -> AbstractContextManager[Any]:
    """One thread for whatever runs inside; afterwards as many as the caller had.

    The trees of a few thousand records are done before a team of threads has met: it cost 16 to 35 times the CPU, for
    teams that wait for each other on a shared machine spin.

    Args:
        loaded: What libraries are known to be loaded: looking for those that have threads takes milliseconds, so it is
            done once for each of these.
    """
    controller = _controller(loaded)
    return nullcontext() if controller is None else controller.limit(limits=1)


@lru_cache(maxsize=64)
def _controller(loaded: tuple[Hashable, ...]) -> Any:
    try:
        return import_module("threadpoolctl").ThreadpoolController()
    except ModuleNotFoundError:  # it comes with scikit-learn: without it nothing here has threads
        return None
