"""How a fitted model is asked, and what its answers are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from estimators.errors import DimensionMismatch, InputError, NotFinite, OptionError, UnknownName
from macekit.audits.rows import length_of
from macekit.problems import fault

if TYPE_CHECKING:
    from estimators.audits.model import Outputs

PICKLE = (
    "a pickle (.pkl, .joblib, .pt, .h5) runs whatever code it holds when it is opened, so mace opens none. Load it "
    "yourself, if you trust where it comes from, and give the model"
)
TORCH = (
    "need something that takes arrays; wrap it (after model.eval()): lambda X: "
    "model(torch.as_tensor(X)).softmax(-1).detach().cpu().numpy()"
)


@dataclass(frozen=True)
class Reader:
    """How a model is asked, and what its answers are."""

    answer: Callable[[Any], Any]
    outputs: Outputs | None
    classes: Any
    whose: str = "model"

    @classmethod
    def of(cls, model: Any, outputs: Outputs | None, classes: Any, whose: str = "model") -> Reader:
        """By what the model offers: probabilities before scores, scores before labels.

        Args:
            whose: The argument that messages name: the model's, or that of the function which trained it.
        """
        from estimators.audits.model import KINDS

        if isinstance(model, str | bytes | os.PathLike):
            what = "bytes" if isinstance(model, bytes) else "a path"
            raise fault(InputError, whose, f"got {what}; {PICKLE}")
        if isinstance(model, type):
            raise fault(InputError, whose, f"got the class {model.__name__}, need a fitted model of it")
        if outputs is not None and outputs not in KINDS:
            raise UnknownName.among("outputs", outputs, KINDS)
        own = getattr(model, "classes_", None) if classes is None else classes
        if isinstance(own, list) and own and hasattr(own[0], "__len__") and not isinstance(own[0], str):
            raise fault(InputError, whose, "has several outputs; ask about one output at a time")
        if hasattr(model, "state_dict") and not hasattr(model, "predict"):
            raise fault(InputError, whose, f"got a {type(model).__name__}, {TORCH}")
        offers = [each for each in _offers(model, own) if hasattr(model, each[0])]
        for method, kind in offers:
            if outputs in (None, kind) or kind is None:
                return cls(getattr(model, method), outputs or kind, own, whose)
        if offers:
            kinds = " and ".join(str(kind) for _, kind in offers)
            raise fault(OptionError, "outputs", f"a {type(model).__name__} gives {kinds}, and no {outputs}")
        if not callable(model):
            detail = (
                f"got {type(model).__name__}, need a fitted model with predict_proba, decision_function or "
                "predict, or a function from rows to answers"
            )
            raise fault(InputError, whose, detail)
        return cls(model, outputs, own, whose)

    def ask(self, rows: Any, name: str) -> NDArray[np.generic]:
        """The answers about some rows: one a row, all finite."""
        from estimators.audits.queries.query import plain_array

        try:
            answers = self.answer(rows)
        except Exception as error:
            if type(error).__name__ != "NotFittedError":
                raise
            detail = "it is not fitted; call fit with the training rows first"
            raise fault(InputError, self.whose, detail) from None
        if isinstance(answers, list) and answers and isinstance(answers[0], np.ndarray) and answers[0].ndim == 2:
            raise fault(InputError, self.whose, "answers several outputs; ask about one output at a time")
        array = plain_array(answers, self.whose)
        count = length_of(rows)
        if array.ndim == 0 or len(array) != count:
            got = "one number" if array.ndim == 0 else f"{len(array)} answers"
            detail = f"gave {got} about {count} rows of {name}, need one a row"
            raise fault(DimensionMismatch, self.whose, detail)
        if array.ndim == 2 and array.shape[1] == 1:
            array = array[:, 0]
        if array.ndim > 2:
            words = (
                f"an answer about a row of {name} has {array.ndim - 1} dimensions, need a number, a label or a "
                "row of numbers"
            )
            raise fault(DimensionMismatch, self.whose, words)
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            place = int(np.argwhere(~np.isfinite(array))[0][0])
            what = "NaN" if np.isnan(array[place]).any() else "infinite"
            words = (
                f"its answer about row {place} of {name} is {what}; look at that row (a missing value, an "
                "overflow), or leave it out"
            )
            raise fault(NotFinite, self.whose, words, place)
        return array

    def with_kind(self, answers: Sequence[NDArray[np.generic]], labels: Sequence[NDArray[np.generic]]) -> Reader:
        """The same with the kind of its answers, if that has to be seen from them."""
        from estimators.audits.model import kind_of, require_no_shares

        if answers[0].shape[1:] != answers[1].shape[1:]:
            raise fault(DimensionMismatch, self.whose, "its answers about X_train and X_test differ in shape")
        outputs = self.outputs or kind_of(np.concatenate(answers), np.concatenate(labels))
        require_no_shares(outputs, np.concatenate(answers), self.outputs is not None)
        return replace(self, outputs=outputs)

    def require_known(self, labels: Sequence[NDArray[np.generic]]) -> None:
        """Refuse labels of which the model knows nothing."""
        from estimators.audits.queries.query import labels_of

        if self.classes is None or self.outputs not in ("probabilities", "logits"):
            return
        classes = labels_of(self.classes, "classes")
        for name, side in zip(("train", "test"), labels, strict=True):
            text = [each.dtype.kind in "US" for each in (side, classes)]
            if text[0] != text[1]:
                kinds = ["text" if each else "numbers" for each in text]
                detail = (
                    f"labels are {kinds[0]} and the model's classes are {kinds[1]}; give them as they were given to fit"
                )
                raise fault(InputError, f"y_{name}", detail)
            unknown = ~np.isin(side, classes)
            if unknown.any():
                place = int(np.argmax(unknown))
                detail = (
                    f"the label of row {place} is none of the model's {len(classes)} classes "
                    f"({int(unknown.sum())} rows have such labels); leave those rows out, or give the labels as they "
                    "were given to fit"
                )
                raise fault(InputError, f"y_{name}", detail, place)


def _offers(model: Any, classes: Any) -> Iterator[tuple[str, Outputs | None]]:
    """Methods that may be asked, the one that tells most first, and what each answers; None where that is open."""
    yield "predict_proba", "probabilities"
    if classes is not None:  # without classes it is a detector of outliers, or not fitted
        yield "decision_function", "logits"
    yield "predict", "predictions" if _is_regressor(model) else "labels" if classes is not None else None


def _is_regressor(model: Any) -> bool:
    """Whether scikit-learn would say so."""
    tags = getattr(model, "__sklearn_tags__", None)
    kind = getattr(tags(), "estimator_type", None) if callable(tags) else getattr(model, "_estimator_type", None)
    return bool(kind == "regressor")
