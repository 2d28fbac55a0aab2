"""What a classifier or a regressor answers for a record, as a score: higher is always more like a member.

Every function takes arrays, one row a record, and returns float64 scores, one a record. The order of records is all
that mace looks at, so a score may be any increasing function of the authors'; where theirs rounds (a probability to 1,
a loss to 0) and would make ties of records that the model tells apart, ours is the one that does not, and says so.

**Probabilities of 0 and 1.** A probability below ``floor`` counts as ``floor`` (1e-30, which only an exact 0 reaches in
float32), then a row is divided by its sum. A probability of 1 is 1 only as far as those of the other classes say so:
what lies between is read from their sum. Logits (``logits=True``) need no floor and lose nothing; take them if you can.

**Labels.** Whole numbers name columns from 0; any others, and text, need ``classes``, the labels in the order of the
columns (scikit-learn: ``model.classes_``). One number a record is the probability (or logit) of the second class.
What ``loss`` says of its arguments holds of all.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.arrays import Booleans, Floats
from estimators.audits.queries import query
from estimators.errors import DimensionMismatch, InputError, NotDistribution, require_open_unit

FLOOR = 1e-30  # smallest probability that is told from 0, if no other is asked for
OUTSIDE = 1e-6  # how far rounding may carry a probability below 0 or above 1

ONE_PASS = "one pass over the outputs"
CLASSIFIER = ("outputs", "labels")
REGRESSOR = ("predictions", "targets")

CATALOGUE: dict[str, query.Query] = query.by_name(
    (
        query.Query(
            "loss",
            "Yeom et al. 2018",
            "the record's own class is probable: log p of it, minus the cross entropy",
            ONE_PASS,
            "the same probability of the own class: leaves of a tree, votes of a forest, exact zeros",
            CLASSIFIER,
        ),
        query.Query(
            "scaled_confidence",
            "Carlini et al. 2022",
            "the same on the scale of shadows: log(p / (1 - p)) of the own class; the order of `loss`",
            ONE_PASS,
            "as `loss`",
            CLASSIFIER,
        ),
        query.Query(
            "margin",
            "Carlini et al. 2022 (hinge)",
            "no other class is near: the own class's logit less the largest other one",
            ONE_PASS,
            "as `loss`; of two classes it is `scaled_confidence`",
            CLASSIFIER,
        ),
        query.Query(
            "confidence",
            "Salem et al. 2019 (adversary 3)",
            "the model is sure of its answer, right or wrong: log-odds of the largest probability",
            ONE_PASS,
            "the model is equally sure",
            ("outputs",),
        ),
        query.Query(
            "entropy",
            "Salem et al. 2019; Song and Mittal 2021",
            "the model's answer is concentrated, right or wrong: sum p log p",
            ONE_PASS,
            "the same probabilities, in whatever order; of two classes the order of `confidence`",
            ("outputs",),
        ),
        query.Query(
            "modified_entropy",
            "Song and Mittal 2021",
            "the answer is concentrated and right: (1 - p) log p of the own class + sum p log(1 - p) of the others",
            ONE_PASS,
            "the same probabilities; of two classes the order of `loss`",
            CLASSIFIER,
        ),
        query.Query(
            "correctness",
            "Yeom et al. 2018 (gap attack)",
            "the model is right: 1, else 0; its advantage is the gap between training and test accuracy",
            "a comparison a record",
            "nearly all records tie: there are two values",
            ("predictions", "labels"),
        ),
        query.Query(
            "squared_error",
            "Yeom et al. 2018",
            "the regressor is close: minus the squared error, summed over outputs",
            "one pass over the predictions",
            "equal errors; members of a model that reproduces them, at 0",
            REGRESSOR,
        ),
        query.Query(
            "absolute_error",
            "Yeom et al. 2018",
            "the regressor is close: minus the absolute error, summed over outputs; of one output the order of "
            "`squared_error`",
            "one pass over the predictions",
            "as `squared_error`",
            REGRESSOR,
        ),
    )
)
"""Every query of a classifier or a regressor by name, which is that of its function."""


def loss(
    outputs: ArrayLike,
    labels: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    logits: bool = False,
    floor: float = FLOOR,
) -> Floats:
    """Minus the cross entropy: the log-probability of the record's own class (Yeom et al. 2018).

    Costs one pass over the outputs. Records tie where the model gives the same probability to their classes: leaves of
    a tree, votes of a forest, exact zeros. It orders records as ``scaled_confidence`` does; ask one of the two.

    Args:
        outputs: Probabilities of the classes, a row a record; or that of the second of two classes, a number a record.
        labels: The class of each record.
        classes: The labels in the order of the columns; columns are numbered from 0 without it.
        logits: True if the outputs are scores before the softmax (one number a record: before the sigmoid).
        floor: Smallest probability that is told from 0; not used for logits.

    Raises:
        InputError: outputs are NaN, infinite or no probabilities, or a label is none of the classes; the error names
            the record.
    """
    scores, columns = _answers(outputs, labels, classes, logits, floor)
    return np.asarray(0.0 - np.logaddexp(0.0, -_log_odds(scores, columns)), dtype=np.float64)


def sums_to_one(table: Floats) -> Booleans:
    """Of each row of probabilities, whether it sums to 1 but for rounding: half precision, or two decimals of each."""
    off = min(max(0.01, 0.005 * table.shape[1]), 0.05) + 1e-9
    return np.asarray(np.abs(table.sum(axis=1) - 1.0) < off)


def scaled_confidence(
    outputs: ArrayLike,
    labels: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    logits: bool = False,
    floor: float = FLOOR,
) -> Floats:
    """Logit-scaled confidence, log(p / (1 - p)) of the record's own class (Carlini et al. 2022, LiRA's signal).

    1 - p is the sum of the other classes' probabilities, as in the authors' code, so that it does not round to 0. Costs
    one pass over the outputs. Ties and order are those of ``loss``; it is for LiRA and the other queries of
    ``estimators.audits.queries.shadows``, for which it is closer to normal. A forest of T trees, whose probabilities
    are often exactly 0 or 1, wants a floor of about 1 / (2 T) there: with a smaller one its zeros lie far outside any
    normal law.
    """
    scores, columns = _answers(outputs, labels, classes, logits, floor)
    return _log_odds(scores, columns)


def margin(
    outputs: ArrayLike,
    labels: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    logits: bool = False,
    floor: float = FLOOR,
) -> Floats:
    """Logit of the record's own class less the largest of another class (the hinge of Carlini et al. 2022).

    Of probabilities it is the logarithm of their ratio, which is the same number. Costs one pass over the outputs.
    Records tie as for ``loss``; of two classes it is ``scaled_confidence``.

    Returns:
        a score a record; below 0 where the model's first choice is another class.
    """
    scores, columns = _answers(outputs, labels, classes, logits, floor)
    own = np.take_along_axis(scores, columns[:, None], axis=1)[:, 0]
    return np.asarray(own - _without(scores, columns).max(axis=1), dtype=np.float64)


def confidence(outputs: ArrayLike, *, logits: bool = False, floor: float = FLOOR) -> Floats:
    """Probability of the model's first choice, whatever the record's class (Salem et al. 2019, adversary 3).

    On the scale of log-odds, log(p / (1 - p)): the order is that of p, and an overconfident model's answers do not tie
    at 1. Needs no labels. Costs one pass over the outputs. Records tie where the model is equally sure.
    """
    scores = _scores(outputs, None, logits, floor)
    return _log_odds(scores, scores.argmax(axis=1))


def entropy(outputs: ArrayLike, *, logits: bool = False, floor: float = FLOOR) -> Floats:
    """Minus the entropy of the model's answer, sum p log p (Salem et al. 2019; Song and Mittal 2021).

    Needs no labels, so a record the model is sure of and wrong about scores high, too. Costs one pass over the outputs.
    Records tie where the model gives the same probabilities, in whatever order.

    Returns:
        a score a record, in nats, at most 0.
    """
    log_p, _ = _log_probabilities(_scores(outputs, None, logits, floor))
    return np.asarray((np.exp(log_p) * log_p).sum(axis=1), dtype=np.float64)


def modified_entropy(
    outputs: ArrayLike,
    labels: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    logits: bool = False,
    floor: float = FLOOR,
) -> Floats:
    """Minus the modified entropy: low for sure and right, high for sure and wrong (Song and Mittal 2021).

    The score is (1 - p_y) log p_y + sum over the other classes of p_i log(1 - p_i), y being the record's own class.
    Costs one pass over the outputs. Records tie as for ``entropy``. Of two classes it orders records as ``loss`` does.
    """
    scores, columns = _answers(outputs, labels, classes, logits, floor)
    log_p, log_rest = _log_probabilities(scores)
    terms = np.exp(log_p) * log_rest
    at = columns[:, None]
    own = np.exp(np.take_along_axis(log_rest, at, axis=1)) * np.take_along_axis(log_p, at, axis=1)
    np.put_along_axis(terms, at, own, axis=1)
    return np.asarray(terms.sum(axis=1), dtype=np.float64)


def correctness(predictions: ArrayLike, labels: ArrayLike) -> Floats:
    """Whether the model's answer is the record's own class: 1 or 0 (Yeom et al. 2018, the gap attack).

    All that an attacker can use who is told labels alone. Costs one comparison a record. Nearly all records tie: the
    score has two values, and its advantage is the gap between training and test accuracy.

    Args:
        predictions: The label that the model gives to each record.
        labels: The class of each record, of the same type.

    Returns:
        1.0 for right, 0.0 for wrong.
    """
    answers, right = query.labels_of(predictions, "predictions"), query.labels_of(labels, "labels")
    query.require_length(right, "labels", len(answers), "predictions")
    if (answers.dtype.kind in "US") != (right.dtype.kind in "US"):
        raise InputError.about(
            "predictions",
            "text on one side only; predictions and labels must be of one type (model.predict, not predict_proba)",
        )
    return np.asarray(answers == right, dtype=np.float64)


def squared_error(predictions: ArrayLike, targets: ArrayLike) -> Floats:
    """Minus the squared error of a regressor, summed over its outputs (Yeom et al. 2018).

    Costs one pass. Records tie where errors are equal; of a regressor that reproduces its training rows all members do,
    at 0. With one output it orders records as ``absolute_error`` does; ask one of the two.

    Args:
        predictions: What the model predicts: a number a record, or a row of numbers.
        targets: What is true of each record, likewise.
    """
    errors = _errors(predictions, targets)
    return np.asarray(0.0 - (errors**2).sum(axis=1), dtype=np.float64)


def absolute_error(predictions: ArrayLike, targets: ArrayLike) -> Floats:
    """Minus the absolute error of a regressor, summed over its outputs.

    For heavy-tailed targets and models trained on absolute errors; with one output its order, cost and ties are those
    of ``squared_error``.
    """
    errors = _errors(predictions, targets)
    return np.asarray(0.0 - np.abs(errors).sum(axis=1), dtype=np.float64)


def _answers(
    outputs: ArrayLike, labels: ArrayLike, classes: ArrayLike | None, logits: bool, floor: float
) -> tuple[Floats, query.Integers]:
    """Logits of each class, and the column of each record's own class."""
    names = None if classes is None else query.labels_of(classes, "classes")
    scores = _scores(outputs, names, logits, floor)
    columns = _columns(query.labels_of(labels, "labels"), names, scores.shape[1])
    query.require_length(columns, "labels", len(scores), "rows of outputs")
    return scores, columns


def _scores(outputs: ArrayLike, names: NDArray[np.generic] | None, logits: bool, floor: float) -> Floats:
    """Logits of at least two classes, up to a constant of each row."""
    least = float(np.log(require_open_unit("floor", floor)))
    array = query.numbers(outputs, "outputs", (1, 2))
    alone = array.ndim == 2 and array.shape[1] == 1
    single = array[:, 0] if alone else array
    width = 2 if single.ndim == 1 else single.shape[1]
    if alone and names is not None and len(names) == 1:  # one class: nothing else has any probability
        return np.column_stack([np.zeros(len(array)), np.full(len(array), least)])
    if names is not None and len(names) != width:
        message = f"got {len(names)}, need one for each of {width} columns of the outputs"
        raise DimensionMismatch.about("classes", message)
    if logits:
        return np.column_stack([np.zeros(len(single)), single]) if single.ndim == 1 else single
    _require_probabilities(single)
    both = np.column_stack([1.0 - single, single]) if single.ndim == 1 else single
    return np.log(np.maximum(both, floor))


def _require_probabilities(array: Floats) -> None:
    """Numbers from 0 to 1, and rows of them that sum to 1, as far as rounding allows."""
    outside = (array < -OUTSIDE) | (array > 1.0 + OUTSIDE)
    query.refuse_first(
        outside,
        NotDistribution,
        "outputs",
        "has a number below 0 or above 1, which is no probability; say that they are logits if these are scores before "
        "the softmax, or divide percentages by 100",
    )
    off = ~sums_to_one(array) if array.ndim == 2 else np.zeros(1, np.bool_)
    if off.any():
        index = int(np.argmax(off))
        message = (
            f"the probabilities of record {index} do not sum to 1; if a record can have several labels, ask "
            "about one label at a time"
        )
        raise NotDistribution.about("outputs", message, index)


def _columns(labels: NDArray[np.generic], names: NDArray[np.generic] | None, width: int) -> query.Integers:
    """The column of the outputs that each label names."""
    if names is not None:
        if len(np.unique(names)) != len(names):
            raise InputError.about("classes", "a label occurs twice, need each once")
        return query.places_among(labels, names, "classes; give classes in the order of the columns (model.classes_)")
    if labels.dtype.kind in "US":
        message = "text needs classes, the labels in the order of the columns (scikit-learn: model.classes_)"
        raise InputError.about("labels", message)
    values = labels.astype(np.float64)
    wrong = (values < 0) | (values >= width) | (values != np.floor(values))
    query.refuse_first(
        wrong,
        InputError,
        "labels",
        f"names no column from 0 to {width - 1}; give classes, the labels in the order of the columns (scikit-learn: "
        "model.classes_)",
    )
    return values.astype(np.intp)


def _without(scores: Floats, columns: query.Integers) -> Floats:
    """The logits with each record's column taken out of the running."""
    rest = scores.copy()
    np.put_along_axis(rest, columns[:, None], -np.inf, axis=1)
    return rest


def _log_sum(scores: Floats) -> Floats:
    """Logarithm of the sum of exponentials of each row."""
    top = scores.max(axis=1, keepdims=True)
    return np.asarray(top[:, 0] + np.log(np.exp(scores - top).sum(axis=1)), dtype=np.float64)


def _log_odds(scores: Floats, columns: query.Integers) -> Floats:
    """log(p / (1 - p)) of one class of each record, 1 - p being the sum of all others."""
    own = np.take_along_axis(scores, columns[:, None], axis=1)[:, 0]
    return np.asarray(own - _log_sum(_without(scores, columns)), dtype=np.float64)


def _log_probabilities(scores: Floats) -> tuple[Floats, Floats]:
    """log p and log(1 - p) of every class, to the last digit where p is nearly 0 or nearly 1."""
    first = scores.argmax(axis=1)
    odds = _log_odds(scores, first)[:, None]
    top = scores.max(axis=1, keepdims=True)
    log_p = scores - top - np.logaddexp(0.0, -odds)
    # of all but the first choice, which has at most a half
    log_rest = np.log1p(-np.minimum(np.exp(log_p), 0.5))
    np.put_along_axis(log_rest, first[:, None], -np.logaddexp(0.0, odds), axis=1)
    return log_p, log_rest


def _errors(predictions: ArrayLike, targets: ArrayLike) -> Floats:
    """Prediction less target, a row a record."""
    answers, truth = (query.numbers(predictions, "predictions", (1, 2)), query.numbers(targets, "targets", (1, 2)))
    query.require_length(truth, "targets", len(answers), "predictions")
    answers, truth = answers.reshape(len(answers), -1), truth.reshape(len(truth), -1)
    if answers.shape != truth.shape:
        message = f"got {truth.shape[1]} a record, need {answers.shape[1]}, as many as there are predictions"
        raise DimensionMismatch.about("targets", message)
    return answers - truth
