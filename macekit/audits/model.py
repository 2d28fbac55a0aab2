"""From a fitted model and its rows to a verdict: ask the model, train shadows if wanted, ask every query.

scikit-learn is imported when the sides are compared or a shadow is cloned, never before; PyTorch and its like never
are: a model is anything that answers rows.
"""

from __future__ import annotations

import inspect
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from operator import index
from typing import TYPE_CHECKING, Any, SupportsIndex

from macekit.client.problems import as_mace_problems
from macekit.client.result import Result
from macekit.text import names_the_nearest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from estimators.audits.model import ModelAudit as Findings
    from estimators.audits.model import Outputs, Shadows, Strength
    from estimators.audits.split import Control, SplitCheck
    from estimators.decisions.plan import Decision
    from estimators.decisions.riskiest import AuditVerdict
    from estimators.statement import Caution
    from macekit.schemas.statements import ProvenanceAnswer

Trainer = Callable[[Any, Any, int], Any]
Progress = Callable[[str], object]

PICKLE = (
    "a pickle (.pkl, .joblib, .pt, .h5) runs whatever code it holds when it is opened, so mace opens none. Load it "
    "yourself, if you trust where it comes from, and give the model"
)
TORCH = (
    "need something that takes arrays; wrap it (after model.eval()): lambda X: "
    "model(torch.as_tensor(X)).softmax(-1).detach().cpu().numpy()"
)
MUCH_LARGER = 1.25
"""How many times as many rows as its shadows a model may be trained on before that is worth a word."""

MOST_COLUMNS = 1024
"""Columns of rows that are looked at for what tells the sides apart without the model."""

PAIRS = {"max_tpr": "at_fpr", "max_exposed": "at_precision"}
"""Limits, and the option that belongs to each."""

ORDER = "the order is audit_model(model, X_train, y_train, X_test, y_test)"

MORE_THAN_CHANCE = 3.0
"""Test rows that stand in the training set, as a multiple of what repeated rows explain."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ModelAudit(Result):
    """What a model gives away about the rows it was trained on: a ``Result`` as that of ``audit_predictions``.

    The fields of ``estimators.audits.model.ModelAudit`` are attributes, too, as the library has them: ``comparison``,
    ``riskiest``, ``exposures``, ``limits``, ``scores``, ``shadows`` and more. Items and ``answer`` are the JSON.

    Attributes:
        operation, answer, source, made: As those of a ``Result``.
        library: What the library found, with the scores of every query and the shadows, which are in no answer.

    Example:
        >>> import macekit
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> X, y = rng.normal(size=(400, 1)), rng.integers(0, 2, 400)
        >>> audit = macekit.audit_model(lambda X: np.full(len(X), 0.5), X[:200], y[:200], X[200:], y[200:])
        >>> audit.decision, audit.to_dict()["fit"]["measure"], list(audit.scores)
        (None, 'accuracy', ['loss'])
    """

    library: Findings = field(kw_only=True)

    @property
    def verdict(self) -> AuditVerdict:  # type: ignore[override]
        """The decision over all limits, and whether a fail may be the sides' own difference."""
        return self.library.verdict

    @property
    def decision(self) -> Decision | str | None:
        """``pass``, ``fail``, ``fail, or drift``, ``inconclusive``, ``not applicable``; None if nothing was limited."""
        return self.verdict.word if self.verdict.or_drift else self.verdict.decision

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name != "library" and hasattr(self.library, name):
            return getattr(self.library, name)
        return Result.__getattr__(self, name)

    def __dir__(self) -> list[str]:
        return sorted(
            {*Result.__dir__(self), *(name for name in dir(self.library) if not name.startswith("_"))}
        )

    def __repr__(self) -> str:
        return f"<ModelAudit: {self.sentence}>"


@names_the_nearest
def audit_model(
    model: Any,
    X_train: Any,
    y_train: ArrayLike,
    X_test: Any,
    y_test: ArrayLike,
    *,
    shadows: int | Shadows | str | os.PathLike[str] = 0,
    max_advantage: float | None = None,
    max_tpr: float | None = None,
    at_fpr: float = 0.001,
    max_exposed: float | None = None,
    at_precision: float = 0.9,
    max_group_advantage: float | None = None,
    queries: Sequence[str] | None = None,
    together: bool = False,
    groups: ArrayLike | tuple[ArrayLike, ArrayLike] | None = None,
    outputs: Outputs | None = None,
    classes: ArrayLike | None = None,
    fit: Trainer | None = None,
    check_sides: bool = True,
    control: tuple[ArrayLike, ArrayLike] | None = None,
    twins: int = 0,
    copies: int = 4,
    prior: float = 0.5,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Progress | bool | None = None,
) -> ModelAudit:
    """What a fitted model gives away about the rows that it was trained on, by every query that its answers allow.

    Args:
        model: A fitted classifier or regressor of scikit-learn or alike, or any function that takes rows and returns
            probabilities, logits, predictions or labels, one a row. A network of PyTorch in a function: ``lambda X:
            model(torch.as_tensor(X)).softmax(-1).detach().cpu().numpy()``.
        X_train: The rows that the model was trained on: an array, a frame, a sparse matrix or a list, as the model
            takes them.
        y_train: The class or the target of each.
        X_test: Rows like these that it was not trained on.
        y_test: The class or the target of each.
        shadows: How many shadow models to train, each on half of all rows: 0, or at least 2; 16 tell most. Or those of
            an earlier audit of the same rows (``audit.shadows``), or an ``.npz`` file with ``signals`` and
            ``membership``.
        max_advantage: Largest advantage of the riskiest query that is acceptable.
        max_tpr: Largest true positive rate at ``at_fpr`` that is acceptable, of any query.
        at_fpr: The false positive rate that goes with it, strictly between 0 and 1.
        max_exposed: Largest share of training rows that is acceptable in one range of any query's score that makes
            membership at least ``at_precision`` probable.
        at_precision: How probable that is, above the prior and below 1.
        max_group_advantage: Largest advantage of any query that is acceptable within any group, on the group's own
            rows; needs groups. A group with rows of one side only, or with too few, leaves it open.
        queries: Names of the queries to ask (``estimators.audits.queries.MODELS`` and ``SHADOWS``); None for all that
            apply and that do not order the records as another one does.
        together: Whether to learn a score of all queries together from 40% of the rows, as one query more, which is
            stated on the other rows.
        groups: A label for each row, training rows first, or a pair of arrays: the riskiest query is stated within
            each group as well.
        outputs: What the answers are: ``"probabilities"``, ``"logits"`` (scores before the softmax), ``"predictions"``
            of a regressor or ``"labels"``. None: what the model or its answers show.
        classes: The labels in the order of the columns; None for ``model.classes_``, or columns numbered from 0.
        fit: How to train a shadow or a twin: a function of rows, labels and a seed that returns what ``model`` may be.
            None: scikit-learn's clone of the model is fitted.
        check_sides: Whether to look for what tells the two sides apart without the model, in the columns of ``X_train``
            and ``X_test``: if anything does, a fail is "fail, or drift".
        control: A score of each row of ``X_train`` and one of each of ``X_test`` by a model of the same kind that was
            trained on none of them: if it tells them apart, a fail is "fail, or drift", too.
        twins: How many twins to train, which measure how strong the queries are: each on ``X_train`` and on rows of
            ``X_test`` that are planted in it, for the same queries to find; 0 for none, 4 tell much. Each takes rows of
            its own, a tenth as many as it has training rows at most, and spares as many.
        copies: How many times each planted row stands in its twin's training rows.
        prior: Probability that a record is a member before its score is seen, strictly between 0 and 1.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. The decision over all
            limits errs either way with half of the rest at most.
        seed: Whole number from which everything random is drawn; the same seed gives the same answer.
        progress: Called with a sentence after each step, such as ``print``: "3 of 16 shadows trained". None: a bar on
            standard error, if that is a terminal. True: a bar, or lines where it is none; False: nothing.

    Returns:
        a ``ModelAudit``, which is a ``Result``: ``decision``, ``sentence``, ``comparison`` of all queries,
        ``exposures``, ``limits``, ``cautions``; ``print`` shows it, and in a notebook it shows itself.

    Raises:
        MaceProblem: a model that is not fitted or answers NaN, labels that it does not know, rows and labels that do
            not belong together; the text says what to do.

    Example:
        >>> import macekit
        >>> import numpy as np
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> rng = np.random.default_rng(0)
        >>> X, y = rng.normal(size=(400, 5)), rng.integers(0, 2, 400)  # nothing to learn, and it learns all by heart
        >>> model = DecisionTreeClassifier(random_state=0).fit(X[:200], y[:200])
        >>> audit = macekit.audit_model(model, X[:200], y[:200], X[200:], y[200:], max_advantage=0.1)
        >>> audit.decision.value, audit.riskiest
        ('fail', 'loss')
    """
    with as_mace_problems(), _Steps.reporting(progress) as steps:
        return _audit(
            model,
            (X_train, X_test),
            (y_train, y_test),
            shadows,
            outputs,
            classes,
            fit,
            steps,
            groups,
            check_sides,
            control,
            twins,
            copies,
            max_advantage=max_advantage,
            max_tpr=max_tpr,
            at_fpr=at_fpr,
            max_exposed=max_exposed,
            at_precision=at_precision,
            max_group_advantage=max_group_advantage,
            queries=queries,
            together=together,
            prior=prior,
            confidence=confidence,
            seed=seed,
        )


def _audit(
    model: Any,
    rows: tuple[Any, Any],
    truth: tuple[Any, Any],
    shadows: int | Shadows | str | os.PathLike[str],
    outputs: Outputs | None,
    classes: Any,
    fit: Trainer | None,
    steps: _Steps,
    groups: Any,
    check_sides: bool,
    control: Any,
    twins: int,
    copies: int,
    **options: Any,
) -> ModelAudit:
    """The same, in the words of the library."""
    from estimators.audits.model import audit_model
    from estimators.errors import require_count
    from macekit.questions.audits.model.work import of_audit
    from macekit.reports.model import minute

    reader = _Reader.of(model, outputs, classes)
    _require_order(model, rows, truth)
    labels = tuple(
        _labels(side, each, name) for side, each, name in zip(rows, truth, ("train", "test"), strict=True)
    )
    cautions = list(_shared_rows(*rows))
    seed = require_count("seed", options["seed"], 0)
    twins, copies = require_count("twins", twins, 0), require_count("copies", copies)
    retrain = (fit or _clone_trainer(model, "twins")) if twins else None
    answers = []
    with _one_thread(model):
        for X, name in zip(rows, ("X_train", "X_test"), strict=True):
            answers.append(reader.ask(X, name))
            steps(len(answers), len(rows), f"sides asked: {name}")
    reader = reader.with_kind(answers, labels)
    _require_known(reader, labels)
    table: Shadows | None = None
    if isinstance(shadows, bool) or not isinstance(shadows, SupportsIndex):
        table = _load_shadows(shadows)
    elif shadows != 0:
        count = require_count("shadows", index(shadows), 2)
        table, notes = _train_shadows(model, reader, rows, labels, answers, count, fit, seed, steps)
        cautions += notes
    strength: Strength | None = None
    if retrain is not None:
        strength, notes = _train_twins(
            model, reader, rows, labels, answers, (twins, copies), retrain, table, steps, **options
        )
        cautions += notes
    split = None
    if check_sides:
        split, notes = _check_sides(rows, options["confidence"], seed)
        cautions += notes
    audit = audit_model(
        answers[0],
        answers[1],
        labels[0],
        labels[1],
        outputs=reader.outputs or "probabilities",
        classes=reader.classes,
        shadows=table,
        groups=_pair(groups, len(labels[0])),
        split=split,
        control=_judge_control(control, labels, options["confidence"], seed),
        strength=strength,
        progress=steps,
        **options,
    )
    audit = replace(audit, cautions=(*cautions, *audit.cautions))
    arrays = {"groups": groups, "control": control, "classes": classes, "fit": fit}
    settings = {**options, "outputs": outputs, "shadows": shadows, "check_sides": check_sides}
    if twins:
        settings |= {"twins": twins, "copies": copies}
    source = _provenance(audit, answers, labels, settings, arrays)
    return ModelAudit("model", dict(of_audit(audit, [], source)), made=minute(), library=audit)


def _provenance(
    audit: Findings,
    answers: Sequence[NDArray[np.generic]],
    labels: Sequence[NDArray[np.generic]],
    settings: Mapping[str, Any],
    arrays: Mapping[str, Any],
) -> ProvenanceAnswer:
    """Where the numbers come from: the answers and labels they were computed from, and the options."""
    import numpy as np

    from estimators.sample.digests import digest
    from estimators.statement import VERSION
    from macekit.reports.content.reproduce import FROM_A_MODEL, LEFT_OUT

    unused = {name for limit, name in PAIRS.items() if settings[limit] is None}
    plain = {name: value for name, value in settings.items() if value is not None and name not in unused}
    if not isinstance(plain["shadows"], SupportsIndex):
        plain["shadows"] = LEFT_OUT
    elif plain["shadows"] == 0:
        del plain["shadows"]
    plain |= {name: LEFT_OUT for name, value in arrays.items() if value is not None}
    return {
        "method": FROM_A_MODEL,
        "version": VERSION,
        "n_members": len(labels[0]),
        "n_nonmembers": len(labels[1]),
        "input_sha256": digest(*answers, *labels),
        "query": f"{audit.outputs} of a model beside the truth",
        "columns": [],
        "seed": settings["seed"],
        "options": {name: np.asarray(value).tolist() for name, value in plain.items()},
    }


# --- progress -----------------------------------------------------------------------------------------------

QUIET_SECONDS = 0.5
"""Seconds before a bar is shown."""

BAR = 24
CLEAR = "\r\x1b[K"


class _Steps:
    """What is told after each step: a sentence to a function, or a bar on standard error where it is a terminal."""

    def __init__(self, tell: Progress | None, live: bool) -> None:
        self._tell = tell
        self._live = live
        self._start = time.monotonic()
        self._is_visible = False

    @classmethod
    @contextmanager
    def reporting(cls, progress: Progress | bool | None) -> Iterator[_Steps]:
        """Steps told as was asked; a bar is gone once all is done, or something is wrong."""
        terminal = sys.stderr is not None and sys.stderr.isatty()
        lines = partial(print, file=sys.stderr, flush=True) if progress is True and not terminal else None
        steps = cls(_takes_a_sentence(progress) or lines, terminal and progress in (None, True))
        try:
            yield steps
        finally:
            steps.clear()

    def __call__(self, number: int, total: int, what: str) -> None:
        """One more step is done."""
        sentence = f"{number} of {total} {what}"
        if self._tell is not None:
            self._tell(sentence)
        if self._live and time.monotonic() - self._start > QUIET_SECONDS:
            full = BAR * number // max(total, 1)
            sys.stderr.write(f"{CLEAR}[{'#' * full}{'.' * (BAR - full)}] {sentence}")
            sys.stderr.flush()
            self._is_visible = True

    def clear(self) -> None:
        """Remove the bar."""
        if self._is_visible:
            sys.stderr.write(CLEAR)
            sys.stderr.flush()


def _takes_a_sentence(progress: Progress | bool | None) -> Progress | None:
    """The function that is told, if one is; refused before any work if it could not be called so."""
    from estimators.errors import OptionError

    if progress is None or isinstance(progress, bool):
        return None
    try:
        inspect.signature(progress).bind("")
    except ValueError:  # a builtin that does not say what it takes
        pass
    except TypeError:
        raise OptionError(
            "progress: need a function of one sentence, such as print, or True, False or None",
            field="progress",
        ) from None
    return progress


# --- the model ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Reader:
    """How a model is asked, and what its answers are."""

    answer: Callable[[Any], Any]
    outputs: Outputs | None
    classes: Any

    @classmethod
    def of(cls, model: Any, outputs: Outputs | None, classes: Any) -> _Reader:
        """By what the model offers: probabilities before scores, scores before labels."""
        from estimators.audits.model import KINDS
        from estimators.errors import InputError, OptionError, UnknownName

        if isinstance(model, str | bytes | os.PathLike):
            what = "bytes" if isinstance(model, bytes) else "a path"
            raise InputError(f"model: got {what}; {PICKLE}", field="model")
        if isinstance(model, type):
            raise InputError(
                f"model: got the class {model.__name__}, need a fitted model of it", field="model"
            )
        if outputs is not None and outputs not in KINDS:
            raise UnknownName.among("outputs", outputs, KINDS)
        own = getattr(model, "classes_", None) if classes is None else classes
        if isinstance(own, list) and own and hasattr(own[0], "__len__") and not isinstance(own[0], str):
            raise InputError("model: has several outputs; ask about one output at a time", field="model")
        if hasattr(model, "state_dict") and not hasattr(model, "predict"):
            raise InputError(f"model: got a {type(model).__name__}, {TORCH}", field="model")
        offers = [each for each in _offers(model, own) if hasattr(model, each[0])]
        for method, kind in offers:
            if outputs in (None, kind) or kind is None:
                return cls(getattr(model, method), outputs or kind, own)
        if offers:
            kinds = " and ".join(str(kind) for _, kind in offers)
            raise OptionError(
                f"outputs: a {type(model).__name__} gives {kinds}, and no {outputs}", field="outputs"
            )
        if not callable(model):
            raise InputError(
                f"model: got {type(model).__name__}, need a fitted model with predict_proba, decision_function or "
                "predict, or a function from rows to answers",
                field="model",
            )
        return cls(model, outputs, own)

    def ask(self, rows: Any, name: str) -> NDArray[np.generic]:
        """The answers about some rows: one a row, all finite."""
        import numpy as np

        from estimators.audits.queries.query import plain_array
        from estimators.errors import DimensionMismatch, InputError, NotFinite

        try:
            answers = self.answer(rows)
        except Exception as error:
            if type(error).__name__ != "NotFittedError":
                raise
            raise InputError(
                "model: it is not fitted; call fit with the training rows first", field="model"
            ) from None
        if (
            isinstance(answers, list)
            and answers
            and isinstance(answers[0], np.ndarray)
            and answers[0].ndim == 2
        ):
            raise InputError("model: answers several outputs; ask about one output at a time", field="model")
        array = plain_array(answers, "model")
        count = _length(rows)
        if array.ndim == 0 or len(array) != count:
            got = "one number" if array.ndim == 0 else f"{len(array)} answers"
            raise DimensionMismatch(
                f"model: gave {got} about {count} rows of {name}, need one a row", field="model"
            )
        if array.ndim == 2 and array.shape[1] == 1:
            array = array[:, 0]
        if array.ndim > 2:
            raise DimensionMismatch(
                f"model: an answer about a row of {name} has {array.ndim - 1} dimensions, need a number, a label or a "
                "row of numbers",
                field="model",
            )
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            place = int(np.argwhere(~np.isfinite(array))[0][0])
            what = "NaN" if np.isnan(array[place]).any() else "infinite"
            raise NotFinite(
                f"model: its answer about row {place} of {name} is {what}; look at that row (a missing value, an "
                "overflow), or leave it out",
                field="model",
                index=place,
            )
        return array

    def with_kind(
        self, answers: Sequence[NDArray[np.generic]], labels: Sequence[NDArray[np.generic]]
    ) -> _Reader:
        """The same with the kind of its answers, if that has to be seen from them."""
        import numpy as np

        from estimators.audits.model import kind_of, require_no_shares
        from estimators.errors import DimensionMismatch

        if answers[0].shape[1:] != answers[1].shape[1:]:
            raise DimensionMismatch(
                "model: its answers about X_train and X_test differ in shape", field="model"
            )
        if self.outputs is not None:
            return self
        outputs = kind_of(np.concatenate(answers), np.concatenate(labels))
        require_no_shares(outputs, np.concatenate(answers))
        return replace(self, outputs=outputs)


def _offers(model: Any, classes: Any) -> Iterator[tuple[str, Outputs | None]]:
    """Methods that may be asked, the one that tells most first, and what each answers; None where that is open."""
    yield "predict_proba", "probabilities"
    if classes is not None:  # without classes it is a detector of outliers, or not fitted
        yield "decision_function", "logits"
    yield "predict", "predictions" if _is_regressor(model) else "labels" if classes is not None else None


def _is_regressor(model: Any) -> bool:
    """Whether scikit-learn would say so."""
    tags = getattr(model, "__sklearn_tags__", None)
    kind = (
        getattr(tags(), "estimator_type", None) if callable(tags) else getattr(model, "_estimator_type", None)
    )
    return bool(kind == "regressor")


# --- rows and labels ----------------------------------------------------------------------------------------


def _length(rows: Any) -> int:
    shape = getattr(rows, "shape", None)
    return int(shape[0]) if shape else len(rows)


def _labels(rows: Any, truth: Any, name: str) -> NDArray[np.generic]:
    """Labels or targets of one side, one a row."""
    from estimators.audits.queries.query import labels_of, numbers, plain_array
    from estimators.errors import DimensionMismatch, InputError

    try:
        count = _length(rows)
    except TypeError:
        raise InputError(f"X_{name}: got {type(rows).__name__}, need rows", field=f"X_{name}") from None
    array = plain_array(truth, f"y_{name}")
    several = array.ndim == 2 and array.shape[1] > 1
    array = numbers(array, f"y_{name}", (2,)) if several else labels_of(array, f"y_{name}")
    if len(array) != count:
        raise DimensionMismatch(
            f"y_{name}: got {len(array)}, need one for each of {count} rows of X_{name}", field=f"y_{name}"
        )
    return array


def _require_order(model: Any, rows: Sequence[Any], truth: Sequence[Any]) -> None:
    """Refuse rows and labels that stand in each other's place."""
    from estimators.errors import InputError

    arguments = {"X_train": rows[0], "y_train": truth[0], "X_test": rows[1], "y_test": truth[1]}
    for one, other, hint in (
        ("X_train", "y_train", ""),
        ("X_test", "y_train", " (train_test_split gives X_train, X_test, y_train, y_test)"),
        ("X_test", "y_test", ""),
    ):
        if _is_table(model, arguments[other]) and _is_one_column(model, arguments[one]):
            raise InputError(
                f"{one}, {other}: are in each other's place: {one} has one value a row, as labels have, and {other} "
                f"several, as rows have; {ORDER}{hint}",
                field=one,
            )


def _is_table(model: Any, value: Any) -> bool:
    """Whether it has rows of several numbers, as many as the model takes, if it says so."""
    width = _width(value)
    return width is not None and width > 1 and getattr(model, "n_features_in_", width) == width


def _is_one_column(model: Any, value: Any) -> bool:
    """Whether it has one value a row, where the model reads several; texts and numbers of rows may stand for rows."""
    import numpy as np

    if _width(value) is not None:
        return False
    width = getattr(model, "n_features_in_", None)
    if width is not None:
        return bool(width > 1)
    array = np.asarray(value)
    return array.dtype.kind in "bf" or (array.dtype.kind in "iu" and len(np.unique(array)) < array.size)


def _width(value: Any) -> int | None:
    """How many values a row has; None if that is one, without a list around it."""
    shape = getattr(value, "shape", None)
    if shape is not None:
        return int(shape[1]) if len(shape) > 1 else None
    first: Any = value[0] if isinstance(value, list | tuple) and value else None
    return len(first) if isinstance(first, list | tuple) or getattr(first, "ndim", 0) > 0 else None


def _require_known(reader: _Reader, labels: Sequence[NDArray[np.generic]]) -> None:
    """Refuse labels of which the model knows nothing."""
    import numpy as np

    from estimators.audits.queries.query import labels_of
    from estimators.errors import InputError

    if reader.classes is None or reader.outputs not in ("probabilities", "logits"):
        return
    classes = labels_of(reader.classes, "classes")
    for name, side in zip(("train", "test"), labels, strict=True):
        text = [each.dtype.kind in "US" for each in (side, classes)]
        if text[0] != text[1]:
            kinds = ["text" if each else "numbers" for each in text]
            raise InputError(
                f"y_{name}: labels are {kinds[0]} and the model's classes are {kinds[1]}; give them as they were given "
                "to fit",
                field=f"y_{name}",
            )
        unknown = ~np.isin(side, classes)
        if unknown.any():
            place = int(np.argmax(unknown))
            raise InputError(
                f"y_{name}: the label of row {place} is none of the model's {len(classes)} classes "
                f"({int(unknown.sum())} rows have such labels); leave those rows out, or give the labels as they were "
                "given to fit",
                field=f"y_{name}",
                index=place,
            )


def _pair(groups: Any, n_train: int) -> tuple[Any, Any] | None:
    """Groups of either side."""
    if groups is None or (isinstance(groups, tuple) and len(groups) == 2):
        return groups
    from estimators.audits.queries.query import labels_of

    array = labels_of(groups, "groups")
    return array[:n_train], array[n_train:]


def _shared_rows(X_train: Any, X_test: Any) -> Iterator[Caution]:
    """Test rows that the model was trained on, as far as that is not chance."""
    from estimators.errors import InputError
    from estimators.statement import Caution

    if X_train is X_test:
        raise InputError("X_test: it is X_train; need rows that the model was not trained on", field="X_test")
    train, test = _hashes(X_train), _hashes(X_test)
    if train is None or test is None:
        return
    if len(train) == len(test) and sorted(train) == sorted(test):
        raise InputError(
            "X_test: its rows are those of X_train; need rows that the model was not trained on",
            field="X_test",
        )
    members = set(train)
    shared = sum(each in members for each in test)
    repeated = (len(test) - len(set(test))) * len(train) / len(test)
    if shared > MORE_THAN_CHANCE * repeated:
        yield Caution(
            "shared_rows",
            f"{shared} of {len(test)} rows of X_test stand in X_train, too: they were trained on, and hide a leak; "
            "leave them out",
        )


def _check_sides(
    rows: tuple[Any, Any], confidence: float, seed: int
) -> tuple[SplitCheck | None, list[Caution]]:
    """What tells the sides apart without the model; None with the reason if their columns cannot be read."""
    from estimators.audits.split import check_split
    from estimators.errors import InputError
    from estimators.statement import Caution

    tables = [_columns_by_name(each) for each in rows]
    reason = f"the rows are no table, or have more than {MOST_COLUMNS} columns"
    if tables[0] and tables[1]:
        try:
            return check_split(tables[0], tables[1], confidence=confidence, seed=seed), []
        except InputError as error:  # one value in every column, or the same few rows again and again
            reason = error.message
    return None, [
        Caution(
            "split_not_checked", f"whether the sides differ without the model was not looked at: {reason}"
        )
    ]


def _judge_control(
    scores: Any, labels: Sequence[NDArray[np.generic]], confidence: float, seed: int
) -> Control | None:
    """How much of the sides' own difference reaches a score whose model saw neither; None without one."""
    from estimators.audits.split import control
    from estimators.errors import DimensionMismatch, InputError
    from estimators.sample.scores import Scores

    if scores is None:
        return None
    if not isinstance(scores, tuple) or len(scores) != 2:
        raise InputError(
            "control: need two arrays, a score for each row of X_train and one for each of X_test",
            field="control",
        )
    both_sides = Scores.of(*scores)
    for count, side, name in (
        (both_sides.n_members, labels[0], "train"),
        (both_sides.n_nonmembers, labels[1], "test"),
    ):
        if count != len(side):
            raise DimensionMismatch(
                f"control: got {count} scores for {len(side)} rows of X_{name}", field="control"
            )
    return control(*scores, confidence=confidence, seed=seed)


def _columns_by_name(rows: Any) -> dict[str, Any]:
    """The columns of a frame, or of an array with a row for each record; none of anything else."""
    import numpy as np

    from macekit.client.columns import columns_of, is_table

    if is_table(rows):
        names, of = columns_of(rows)
        return {name: of(place) for place, name in enumerate(names)} if len(names) <= MOST_COLUMNS else {}
    if hasattr(rows, "tocsr"):
        return {}
    try:
        array = np.asarray(rows)
    except ValueError:
        return {}
    if array.ndim < 2 or array.dtype.kind not in "biufUO":
        return {}
    array = array.reshape(len(array), -1)
    if array.shape[1] > MOST_COLUMNS:
        return {}
    return {f"column {place}": array[:, place] for place in range(array.shape[1])}


def _hashes(rows: Any) -> list[int] | None:
    """A number for each row, the same for equal rows; None of rows that are not plain."""
    import numpy as np

    if hasattr(rows, "tocsr"):
        return None
    try:
        array = np.asarray(rows)
    except ValueError:
        return None
    if array.ndim < 2 or array.dtype.kind not in "biufUO":
        return None
    array = array.reshape(len(array), -1)
    try:
        if array.dtype.kind == "O":
            return [hash(tuple(row)) for row in array.tolist()]
    except TypeError:
        return None
    return [hash(row.tobytes()) for row in np.ascontiguousarray(array)]


def _rows_at(rows: Any, places: NDArray[np.intp]) -> Any:
    """Some of the rows, in the type that they came in."""
    if hasattr(rows, "iloc"):
        return rows.iloc[places]
    if isinstance(rows, list | tuple):
        return [rows[place] for place in places]
    return rows[places]


def _stack(one: Any, other: Any) -> Any:
    """Both sides' rows, one after the other, in the type that they came in."""
    import numpy as np

    if hasattr(one, "iloc"):
        import pandas as pd

        return pd.concat([one, other], ignore_index=True)
    if hasattr(one, "vstack"):  # a frame of Polars
        return one.vstack(other)
    if hasattr(one, "tocsr"):
        from scipy.sparse import vstack

        return vstack([one, other]).tocsr()
    if isinstance(one, list | tuple):
        return [*one, *other]
    return np.concatenate([np.asarray(one), np.asarray(other)])


# --- shadows ------------------------------------------------------------------------------------------------


def _train_shadows(
    model: Any,
    reader: _Reader,
    rows: tuple[Any, Any],
    labels: Sequence[NDArray[np.generic]],
    answers: Sequence[NDArray[np.generic]],
    count: int,
    fit: Trainer | None,
    seed: int,
    steps: _Steps,
) -> tuple[Shadows, list[Caution]]:
    """Shadows that are trained here, on random halves of all rows, and what is to be known of them."""
    import numpy as np

    from estimators.audits.model import Shadows, floor_of, shadow_signals
    from estimators.audits.queries.models import FLOOR
    from estimators.audits.queries.shadows import random_halves

    outputs = reader.outputs or "probabilities"
    floor = floor_of(np.concatenate(answers)) if outputs == "probabilities" else FLOOR
    signal = partial(shadow_signals, outputs=outputs, classes=reader.classes, floor=floor)
    signal(answers[0], labels[0])  # what they could not be compared by is an error before one is trained
    X, y = _stack(*rows), np.concatenate(labels)
    membership = random_halves(count, len(y), seed)
    signals = np.empty(membership.shape)
    lacking = 0
    with warnings.catch_warnings(record=True) as notices:
        warnings.simplefilter("always")
        for place, inside in enumerate(membership):
            which = np.flatnonzero(inside)
            own_seed = int(np.random.default_rng([seed, place]).integers(2**31 - 1))
            with _one_thread(model):
                shadow = (fit or _clone_trainer(model))(_rows_at(X, which), y[which], own_seed)
                of_shadow = _Reader.of(shadow, outputs, None)
                theirs = of_shadow.ask(X, "X_train and X_test")
            full = _columns(theirs, of_shadow.classes, reader.classes, outputs)
            lacking += full is not theirs
            signals[place] = signal(full, y)
            steps(place + 1, count, "shadows trained")
    notes = _notes(count, len(labels[0]), len(y) // 2, notices, lacking)
    return Shadows(signals, membership, floor), list(notes)


def _train_twins(
    model: Any,
    reader: _Reader,
    rows: tuple[Any, Any],
    labels: Sequence[NDArray[np.generic]],
    answers: Sequence[NDArray[np.generic]],
    number: tuple[int, int],
    retrain: Trainer,
    table: Shadows | None,
    steps: _Steps,
    **options: Any,
) -> tuple[Strength, list[Caution]]:
    """Twins that hold planted rows of ``X_test`` beside all training rows, and what the queries see of these."""
    import numpy as np

    from estimators.audits.model import MOST_PLANTED, Shadows, planting, query_strength

    (twins, copies), seed, n_train = number, options["seed"], len(labels[0])
    outputs = reader.outputs or "probabilities"
    parts = planting(twins, len(labels[1]), max(1, int(MOST_PLANTED * n_train)), seed)
    sides: tuple[list[Any], list[Any]] = ([], [])
    with warnings.catch_warnings(record=True) as notices:
        warnings.simplefilter("always")
        for place, (planted, spared) in enumerate(parts):
            rng = np.random.default_rng([seed, twins, place])
            repeated = np.repeat(planted, copies)
            X = _stack(rows[0], _rows_at(rows[1], repeated))
            y = np.concatenate([labels[0], labels[1][repeated]])
            order, own_seed = rng.permutation(len(y)), int(rng.integers(2**31 - 1))
            with _one_thread(model):
                twin = retrain(_rows_at(X, order), y[order], own_seed)
                of_twin = _Reader.of(twin, outputs, None)
                for side, which in zip(sides, (planted, spared), strict=True):
                    theirs = of_twin.ask(_rows_at(rows[1], which), "X_test")
                    side.append(_columns(theirs, of_twin.classes, reader.classes, outputs, "twins"))
            steps(place + 1, twins, "twins trained")
    both = [np.concatenate([part[side] for part in parts]) for side in (0, 1)]
    if table is not None:
        of_rows = n_train + np.concatenate(both)
        table = Shadows(
            np.asarray(table.signals)[:, of_rows], np.asarray(table.membership)[:, of_rows], table.floor
        )
    strength = query_strength(
        *(np.concatenate(side) for side in sides),
        *(labels[1][which] for which in both),
        outputs=outputs,
        classes=reader.classes,
        shadows=table,
        beside=(answers[1][both[0]], answers[1][both[1]]),
        copies=copies,
        limit=options["max_advantage"],
        **{name: options[name] for name in ("queries", "together", "prior", "confidence", "seed")},
    )
    return strength, list(_trainings(notices, twins, "twins"))


def _notes(
    count: int, n_train: int, half: int, notices: Sequence[warnings.WarningMessage], lacking: int
) -> Iterator[Caution]:
    """What is to be known of shadows: their size, warnings as they were trained, classes that they have not seen."""
    from estimators.statement import Caution

    if n_train > MUCH_LARGER * half:
        yield Caution(
            "shadow_size",
            f"shadows are trained on {half} rows, and the model was on {n_train}: they remember other things than it "
            "does, and this finds less than shadows of its size would; a larger X_test would help",
        )
    yield from _trainings(notices, count, "shadows")
    if lacking:
        yield Caution(
            "shadow_classes",
            f"{lacking} of {count} shadows have no row of some class to learn from, and call it impossible; their word "
            "about such rows counts for little",
        )


def _trainings(notices: Sequence[warnings.WarningMessage], count: int, what: str) -> Iterator[Caution]:
    """That shadows or twins warned as they were trained."""
    from estimators.statement import Caution

    if notices:
        first = str(notices[0].message).strip().partition("\n")[0]
        yield Caution(
            f"{what.removesuffix('s')}_warnings",
            f"{len(notices)} warnings as {count} {what} were trained, the first: "
            f"{notices[0].category.__name__}: {first}",
        )


def _clone_trainer(model: Any, what: str = "shadows") -> Trainer:
    """How scikit-learn trains another model like this one."""
    from estimators.errors import NotInstalled, OptionError

    try:
        from sklearn.base import clone
    except ModuleNotFoundError:
        raise NotInstalled(
            f"{what}: cloning a model needs the package scikit-learn; pip install 'macekit[learned]', or give fit",
            field=what,
        ) from None
    if not hasattr(model, "get_params") or not hasattr(model, "fit"):
        raise OptionError(
            f"{what}: a {type(model).__name__} is no scikit-learn model that could be cloned; give fit, a function of "
            f"rows, labels and a seed that trains a {what.removesuffix('s')}, or {what}=0",
            field=what,
        )

    def trained(X: Any, y: Any, seed: int) -> Any:
        shadow = clone(model)
        seeds = {name: seed for name in shadow.get_params() if name.split("__")[-1] == "random_state"}
        return shadow.set_params(**seeds).fit(X, y)

    return trained


def _columns(answers: Any, own: Any, classes: Any, outputs: Outputs, what: str = "shadows") -> Any:
    """A shadow's or a twin's answers over all classes of the model, with 0 for one that it has not seen."""
    import numpy as np

    from estimators.errors import OptionError

    if own is None or classes is None or outputs not in ("probabilities", "logits"):
        return answers
    mine, all_of_them = np.asarray(own), np.asarray(classes)
    if len(mine) == len(all_of_them) and bool((mine == all_of_them).all()):
        return answers
    if outputs == "logits" or not np.isin(mine, all_of_them).all():
        raise OptionError(
            f"{what}: a {what.removesuffix('s')} has learned other classes than the model, as some class has few rows; "
            "leave those rows out, or take fewer classes",
            field=what,
        )
    full = np.zeros((len(answers), len(all_of_them)))
    places = [int(np.flatnonzero(all_of_them == each)[0]) for each in mine]
    full[:, places] = np.reshape(answers, (len(answers), -1))
    return full


def _load_shadows(shadows: Any) -> Shadows:
    """Shadows of an earlier audit, or of a file of arrays."""
    import numpy as np

    from estimators.audits.model import Shadows
    from estimators.errors import InputError

    if isinstance(shadows, Shadows):
        return shadows
    if not isinstance(shadows, str | os.PathLike) or not os.fspath(shadows).endswith(".npz"):
        what = "a file that is no .npz" if isinstance(shadows, str | os.PathLike) else type(shadows).__name__
        raise InputError(
            f"shadows: got {what}, need a number, shadows of an earlier audit (audit.shadows), or an .npz file with "
            "signals and membership",
            field="shadows",
        )
    try:
        with np.load(shadows, allow_pickle=False) as file:
            if not {"signals", "membership"} <= set(file.files):
                raise InputError(
                    "shadows: the file lacks signals or membership; write it by np.savez(path, signals=..., "
                    "membership=..., floor=...)",
                    field="shadows",
                )
            table = Shadows(file["signals"], file["membership"])
            return replace(table, floor=float(file["floor"])) if "floor" in file.files else table
    except FileNotFoundError:
        raise InputError("shadows: there is no such file", field="shadows") from None
    except InputError:
        raise
    except (OSError, ValueError):  # objects in it are pickles
        raise InputError("shadows: the file is no .npz of plain arrays", field="shadows") from None


@contextmanager
def _one_thread(model: Any) -> Iterator[None]:
    """One thread for scikit-learn, whose threads wait for each other on shared cores; others are left alone."""
    limit: Any = nullcontext()
    if hasattr(model, "get_params"):
        try:
            from threadpoolctl import threadpool_limits

            limit = threadpool_limits(limits=1)
        except ModuleNotFoundError:
            pass
    with limit:
        yield
