"""What a model answers about rows, which queries that allows, and their scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.arrays import Booleans, Floats
from estimators.audits.queries import models, shadows
from estimators.audits.queries.query import labels_of, numbers, plain_array, require_length
from estimators.audits.queries.shadows import records_with_shadows
from estimators.decisions.compare import same_order
from estimators.errors import DimensionMismatch, MaceError, OptionError, UnknownName
from estimators.python.dataclass import dataclass, replace
from estimators.sample.scores import Query as ScoreKind
from estimators.sample.scores import Scores
from estimators.statement import Caution

Outputs = Literal["probabilities", "logits", "predictions", "labels"]
Scale = Literal["logit", "log", "plain"]
SCALES: tuple[Scale, ...] = ("logit", "log", "plain")
TOGETHER = "all_together"  # what the learned score of all queries is called

Progress = Callable[[int, int, str], object]
"""Told after each step: how many of such steps are done, of how many, and what they do."""

KINDS: tuple[Outputs, ...] = ("probabilities", "logits", "predictions", "labels")

MOST_FLOOR = 0.05  # largest floor that is taken from the steps of a model's probabilities

NO_SHADOWS = "needs shadow models"
FEW_SHADOWS = "needs more shadows: one of a kind says nothing of how they vary"
LOSS_ORDER = "of two classes it orders records as loss does"


@dataclass(frozen=True, eq=False, slots=True)
class Shadows:
    """What shadow models answer about the same records; it can be asked beside any model of them.

    Attributes:
        signals: A row a shadow, a column a record, members first: of classifiers the logit-scaled confidence
            (``shadow_signals``), of regressors minus the absolute error.
        membership: True where the shadow was trained on the record, in the same shape.
        floor: Smallest probability that was told from 0 for the signals of classifiers.

    Example:
        >>> import numpy as np
        >>> from estimators.audits.model import Shadows, audit_model
        >>> from estimators.audits.queries.shadows import random_halves
        >>> rng = np.random.default_rng(0)
        >>> hard, own = rng.normal(0, 3, 400), np.repeat([1, 0], 200)  # what is hard is hard for every model
        >>> membership = random_halves(16, 400, seed=0)
        >>> table = Shadows(hard + membership + rng.normal(0, 0.5, (16, 400)), membership)
        >>> logits, ones = hard + own + rng.normal(0, 0.5, 400), np.ones(200, int)
        >>> audit = audit_model(logits[:200], logits[200:], ones, ones, outputs="logits", shadows=table)
        >>> audit.riskiest, audit.comparison.ranking[-1].name
        ('rmia', 'confidence')
    """

    signals: Floats
    membership: Booleans
    floor: float = models.FLOOR


def shadow_signals(
    answers: ArrayLike,
    labels: ArrayLike,
    *,
    outputs: Outputs = "probabilities",
    classes: ArrayLike | None = None,
    floor: float = models.FLOOR,
) -> Floats:
    """A shadow's row of ``Shadows.signals``: what it answers about all records as one number each.

    Args:
        answers: What the shadow answers for each record, as for ``audit_model``.
        labels: What is true of each record.
        outputs: As for ``audit_model``; labels alone make no signal.
        classes: The labels in the order of the columns.
        floor: Smallest probability that is told from 0; ``floor_of`` the audited model's answers.

    Returns:
        logit-scaled confidence, of regressors minus the absolute error.

    Example:
        >>> from estimators.audits.model import shadow_signals
        >>> shadow_signals([[0.5, 0.5], [0.2, 0.8]], [0, 1]).round(3).tolist()
        [0.0, 1.386]
        >>> shadow_signals([1.0, 2.5], [1.5, 2.0], outputs="predictions").tolist()
        [-0.5, -0.5]
    """
    if outputs == "labels":
        raise OptionError.about("shadows", "labels alone make no signal that shadows could be compared by")
    if outputs == "predictions":
        return models.absolute_error(answers, labels)
    return models.scaled_confidence(answers, labels, classes=classes, logits=outputs == "logits", floor=floor)


def floor_of(answers: ArrayLike) -> float:
    """Smallest probability to tell from 0 for shadows: half a vote where a model's probabilities are shares of votes.

    A forest or a vote of neighbours answers exact zeros, which lie infinitely far out on the scale on which shadows
    are compared, and no normal law has room for them. Where there are any, a zero counts as half the smallest other
    probability, of both sides together; a model without any keeps the floor of ``models.loss``.

    Args:
        answers: The audited model's probabilities of the rows of both sides.
    """
    array = numbers(answers, "outputs", (1, 2))
    if not ((array <= 0.0) | (array >= 1.0)).any():
        return models.FLOOR
    steps = array[array > 0.0] if array.ndim == 2 else np.append(array[array > 0.0], 1.0 - array[array < 1.0])
    return float(min(max(models.FLOOR, steps.min() / 2.0), MOST_FLOOR))


def kind_of(answers: NDArray[np.generic], labels: NDArray[np.generic]) -> Outputs:
    """What answers are, as far as they and the labels show it; what could be two things is an error.

    Args:
        answers: What the model answers about each row.
        labels: What is true of each row.
    """
    if answers.dtype.kind in "USb":
        return "labels"
    names = labels.dtype.kind in "USb"
    whole = names or bool((labels == np.floor(labels.astype(np.float64))).all())
    values = answers.astype(np.float64)
    share = bool(((values >= 0.0) & (values <= 1.0)).all())
    if answers.ndim == 2:
        if labels.ndim == 2 or not whole:
            return "predictions"
        one = bool(models.sums_to_one(values).all())
        return "probabilities" if share and one else "logits"
    if not whole:
        return "predictions"
    if not names and bool(np.isin(answers, labels).all()):
        return "labels"
    if len(np.unique(labels)) > 2 and not names:
        return "predictions"
    if share and len(np.unique(labels)) <= 2:
        return "probabilities"
    raise OptionError.about(
        "outputs",
        "the answers could be logits of the second of two classes or predictions of a regressor; say "
        "outputs='logits' or outputs='predictions'",
    )


def require_no_shares(outputs: Outputs, answers: NDArray[np.generic], said: bool = False) -> None:
    """Refuse logits that are none: probabilities, percentages, or numbers from 0 to 1 that nobody called logits.

    Args:
        outputs: What ``kind_of`` read them as, or what they were said to be.
        answers: What the model answers about each row.
        said: Whether somebody said so.
    """
    if outputs != "logits":
        return
    values, message = answers.astype(np.float64), None
    least, most = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    wide = values.ndim == 2 and values.shape[1] > 1 and len(values) > 0
    hundred, one = (models.sums_to_one(values / of) if wide else np.zeros(1, np.bool_) for of in (100.0, 1.0))
    if least >= 0.0 and bool((hundred | one).all()):
        message = "outputs: every row is of numbers from 0 to 1 that sum to 1; say that they are probabilities"
        if hundred.any():
            message = "outputs: rows sum to 100, as percentages do; divide by 100, and they are probabilities"
    elif least >= 0.0 and most <= 1.0 and not said:
        message = (
            "outputs: numbers from 0 to 1 whose rows do not sum to 1 are probabilities of no single label; ask about "
            "one label at a time, or say outputs='logits' if they are scores before the softmax"
        )
    if message is not None:
        raise OptionError(message, field="outputs")


def as_vectors(scores: Mapping[str, Scores]) -> Scores:
    """All queries of a record as one row; their scores are of the same records."""
    return Scores.of(
        np.column_stack([each.members for each in scores.values()]),
        np.column_stack([each.nonmembers for each in scores.values()]),
    )


@dataclass(frozen=True, eq=False, slots=True)
class Side:
    """What the model answers for one side, and what is true of it."""

    name: str
    answers: NDArray[np.generic]
    labels: NDArray[np.generic]
    outputs: Outputs
    classes: ArrayLike | None
    right: Booleans | None = None

    def ask(self, name: str) -> Floats:
        """The scores of a query of the model's own answers."""
        with _of_side(self.name):
            return _FORMULAS[name](self)

    def part(self, keep: Booleans) -> Side:
        """Some of the records."""
        right = None if self.right is None else self.right[keep]
        return replace(self, answers=self.answers[keep], labels=self.labels[keep], right=right)

    def signals(self, floor: float) -> Floats:
        """What shadows are compared by."""
        with _of_side(self.name):
            return shadow_signals(self.answers, self.labels, outputs=self.outputs, classes=self.classes, floor=floor)


def side_of(name: str, answers: ArrayLike, labels: ArrayLike, outputs: Outputs, classes: ArrayLike | None) -> Side:
    """One side, checked: as many labels as answers, all finite, each label a class; and where the model is right."""
    with _of_side(name):
        if outputs == "labels":
            guesses = labels_of(answers, "predictions")
            truth = labels_of(labels, "labels")
            require_length(truth, "labels", len(guesses), "answers")
            right = models.correctness(guesses, truth) > 0.5
            return Side(name, guesses, truth, outputs, classes, right)
        array = numbers(answers, "outputs", (1, 2))
        if outputs == "predictions":
            targets = numbers(labels, "targets", (1, 2))
            models.squared_error(array, targets)
            return Side(name, array, targets, outputs, classes)
        truth = labels_of(labels, "labels")
        margins = models.margin(array, truth, classes=classes, logits=outputs == "logits")
        return Side(name, array, truth, outputs, classes, margins > 0.0)


@contextmanager
def _of_side(name: str) -> Iterator[None]:
    """Name the side in whatever is wrong with it."""
    try:
        yield
    except MaceError as error:
        if error.field in ("classes", "floor", "shadows"):
            raise
        raise type(error)(f"{name}: {error.message}", field=name, index=error.index) from None


def _with_labels(function: Callable[..., Floats]) -> Callable[[Side], Floats]:
    return lambda side: function(side.answers, side.labels, classes=side.classes, logits=side.outputs == "logits")


_FORMULAS: dict[str, Callable[[Side], Floats]] = {
    "loss": _with_labels(models.loss),
    "scaled_confidence": _with_labels(models.scaled_confidence),
    "margin": _with_labels(models.margin),
    "confidence": lambda side: models.confidence(side.answers, logits=side.outputs == "logits"),
    "entropy": lambda side: models.entropy(side.answers, logits=side.outputs == "logits"),
    "modified_entropy": _with_labels(models.modified_entropy),
    "correctness": lambda side: np.asarray(side.right, dtype=np.float64),
    "squared_error": lambda side: models.squared_error(side.answers, side.labels),
    "absolute_error": lambda side: models.absolute_error(side.answers, side.labels),
}
_ERRORS = ("squared_error", "absolute_error")


def ask_queries(
    sides: Sequence[Side], table: Shadows | None, selection: Sequence[str] | None, progress: Progress | None = None
) -> tuple[dict[str, Scores], dict[str, str]]:
    """Scores of the queries that are asked, and why the others are not."""
    reasons = _reasons(sides[0])
    beside: dict[str, Floats] = {}
    if table is None:
        reasons |= dict.fromkeys(("lira_online", "lira_offline", "rmia", "calibrated_loss"), NO_SHADOWS)
    else:
        beside, further = _beside(sides, table)
        reasons |= further
    applicable = _ERRORS if sides[0].outputs == "predictions" else [n for n in _FORMULAS if n not in _ERRORS]
    own = ["correctness"] if sides[0].outputs == "labels" else list(applicable)
    if selection is None:
        names = [name for name in (*own, *beside) if name not in reasons]
    else:
        names = list(dict.fromkeys(selection))
        for name in names:
            _require_applicable(name, (*own, *beside), reasons)
    scores = {}
    for place, name in enumerate(names, 1):
        pair = np.split(beside[name], [len(sides[0].labels)]) if name in beside else [s.ask(name) for s in sides]
        scores[name] = Scores.of(pair[0], pair[1], ScoreKind.CONTINUOUS)
        if progress is not None:
            progress(place, len(names), f"queries asked: {name}")
    if selection is not None:
        reasons |= {name: "was not asked for" for name in (*own, *beside) if name not in reasons}
    equal = [name for name, each in scores.items() if _are_equal(each)]
    if len(equal) < len(scores):  # they tell nothing, and would take their share of the level
        reasons |= dict.fromkeys(equal, "is the same for all records")
        scores = {name: each for name, each in scores.items() if name not in equal}
    questions, same = without_same_order(scores)
    reasons |= same
    return questions, {name: reason for name, reason in reasons.items() if name not in questions}


def _are_equal(scores: Scores) -> bool:
    return all(bool((side == scores.members[0]).all()) for side in (scores.members, scores.nonmembers))


def without_same_order(scores: Mapping[str, Scores]) -> tuple[dict[str, Scores], dict[str, str]]:
    """The queries that are to be asked, and why others are not: they order the records as one of these does.

    Args:
        scores: Scores of each query under its name, of the same records.
    """
    same = same_order(scores)
    questions = {name: each for name, each in scores.items() if name not in same}
    return questions, {name: f"orders records as {first} does" for name, (first, _) in same.items()}


def left_out_of_shadows(keep: Booleans) -> Iterator[Caution]:
    """How many records are left out, as they lack shadows with them or without them.

    Args:
        keep: Which records are not, as ``records_with_shadows`` says.
    """
    lacking = int((~keep).sum())
    if lacking:
        yield Caution(
            "records_left_out",
            f"{lacking:,} of {len(keep):,} records left out: no shadow was trained on them, or every one was; shadows "
            "on random_halves of all records leave none out",
        )


def _require_applicable(name: str, applicable: Sequence[str], reasons: Mapping[str, str]) -> None:
    if name in applicable:
        return
    if name not in models.CATALOGUE and name not in shadows.CATALOGUE:
        raise UnknownName.among("queries", name, (*models.CATALOGUE, *shadows.CATALOGUE))
    why = reasons.get(name, "does not apply to what this model answers")
    raise OptionError.about("queries", f"{name} {why}; there are {', '.join(applicable)}")


def _reasons(side: Side) -> dict[str, str]:
    """Queries that would order the records as another one does, or that answers of this kind do not allow."""
    if side.outputs == "labels":
        reason = "needs probabilities, and the model tells labels alone"
        return {n: reason for n in _FORMULAS if n not in (*_ERRORS, "correctness")}
    if side.outputs == "predictions":
        alone = side.answers.ndim == 1 or side.answers.shape[1] == 1
        return {"absolute_error": "orders records as squared_error does"} if alone else {}
    reasons = {
        "scaled_confidence": "orders records as loss does",
        "correctness": "tells no more than margin, of which it is a cut",
    }
    if side.answers.ndim == 1 or side.answers.shape[1] <= 2:
        reasons |= {
            "margin": LOSS_ORDER,
            "entropy": "of two classes it orders records as confidence does",
            "modified_entropy": LOSS_ORDER,
            "correctness": "tells no more than loss, of which it is a cut",
        }
    return reasons


def with_shadows(sides: Sequence[Side], stock: Shadows) -> tuple[tuple[Side, ...], Shadows, Booleans]:
    """The records that have the shadows that queries need, what shadows say of these, and which records they are."""
    records = sum(len(side.labels) for side in sides)
    signals = numbers(stock.signals, "shadows", (2,), models=True)
    if signals.shape[1] != records:
        raise DimensionMismatch.about(
            "shadows", f"got signals of {signals.shape[1]} records, need {records}: all members, then all nonmembers"
        )
    keep = records_with_shadows(stock.membership, np.arange(records) < len(sides[0].labels))
    if keep.all():
        return tuple(sides), stock, keep
    parts = np.split(keep, [len(sides[0].labels)])
    of_these = Shadows(signals[:, keep], np.asarray(stock.membership)[:, keep], stock.floor)
    return tuple(side.part(part) for side, part in zip(sides, parts, strict=True)), of_these, keep


def _beside(sides: Sequence[Side], stock: Shadows) -> tuple[dict[str, Floats], dict[str, str]]:
    """Scores by shadows of the records of both sides, and why some cannot be had."""
    target = np.concatenate([side.signals(stock.floor) for side in sides])
    return shadow_scores(
        target, stock.signals, stock.membership, scale="plain" if sides[0].outputs == "predictions" else "logit"
    )


def shadow_scores(
    target: ArrayLike, signals: ArrayLike, membership: ArrayLike | None = None, *, scale: Scale = "plain"
) -> tuple[dict[str, Floats], dict[str, str]]:
    """Every query of shadow models that these signals allow: LiRA, RMIA and calibrated loss.

    Args:
        target: The audited model's signal of each record, higher for members.
        signals: The shadows', a row a shadow, a column a record.
        membership: True where the shadow was trained on the record, in the same shape; none was on any without it.
        scale: What the signals are: ``"logit"``: log(p / (1 - p)) of a record's own class; ``"log"``: log p of it;
            ``"plain"``: any other number, of which RMIA makes nothing.

    Returns:
        the scores of each query, higher for members, and why others cannot be had.

    Raises:
        UnknownName: no such scale.
        OutOfRange: ``"log"``, and a number is above 0.

    Example:
        >>> import numpy as np
        >>> from estimators.audits.model import shadow_scores
        >>> scores, reasons = shadow_scores([4.0, 1.0], [[1.0, 2.0], [3.0, 0.0]], scale="logit")
        >>> [*scores], reasons["lira_online"]
        (['lira_offline', 'rmia', 'calibrated_loss'], 'needs several shadows that were trained on each record')
    """
    if scale not in SCALES:
        raise UnknownName.among("scale", scale, SCALES)
    target, signals = numbers(target, "target"), numbers(signals, "signals", (2,), models=True)
    calibrated = shadows.calibrated_loss(target, signals, membership)  # which checks membership, too
    if membership is None:
        membership = np.zeros(signals.shape, np.bool_)
    membership = plain_array(membership, "membership").astype(np.bool_)
    both = bool(membership.any(axis=0).all())
    if scale == "plain":
        table, reasons = {"calibrated_loss": calibrated}, {"rmia": "needs probabilities"}
    else:
        if scale == "log":
            own, theirs = target, signals
            target, signals = (
                each - np.log(np.maximum(-np.expm1(np.minimum(each, 0.0)), models.FLOOR)) for each in (own, theirs)
            )
        else:  # log p from log(p / (1 - p))
            own, theirs = (0.0 - np.logaddexp(0.0, -each) for each in (target, signals))
        table = {
            "rmia": shadows.rmia(own, theirs, membership, online=both),
            "calibrated_loss": shadows.calibrated_loss(own, theirs, membership),
        }
        reasons = {}
    with_record, without = int(membership.sum(axis=0).max()), int((~membership).sum(axis=0).max())
    if without < 2:
        reasons |= dict.fromkeys(("lira_online", "lira_offline"), FEW_SHADOWS)
        return table, reasons
    table = {"lira_offline": shadows.lira_offline(target, signals, membership), **table}
    if not both or with_record < 2:
        reasons["lira_online"] = "needs several shadows that were trained on each record"
    else:
        table = {"lira_online": shadows.lira_online(target, signals, membership), **table}
    return table, reasons
