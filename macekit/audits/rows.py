"""Rows, labels and groups as somebody has them: of one side or of both, and what must not be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from estimators.audits.queries.rows import Rows, share_of_training_rows
from estimators.errors import DimensionMismatch, InputError
from estimators.sample.scores import Scores
from estimators.statement import Caution
from macekit.problems import fault

if TYPE_CHECKING:
    from estimators.audits.split import Control, SplitCheck

MOST_COLUMNS = 1024  # columns of rows that are looked at for what tells the sides apart without the model

ORDER = "the order is audit_model(model, X_train, y_train, X_test, y_test)"


def length_of(rows: Any) -> int:
    """How many rows there are."""
    shape = getattr(rows, "shape", None)
    return int(shape[0]) if shape else len(rows)


def labels_of_side(rows: Any, truth: Any, name: str) -> NDArray[np.generic]:
    """Labels or targets of one side, one a row."""
    from estimators.audits.queries.query import labels_of, numbers, plain_array

    try:
        count = length_of(rows)
    except TypeError:
        raise fault(InputError, f"X_{name}", f"got {type(rows).__name__}, need rows") from None
    array = plain_array(truth, f"y_{name}")
    several = array.ndim == 2 and array.shape[1] > 1
    array = numbers(array, f"y_{name}", (2,)) if several else labels_of(array, f"y_{name}")
    if len(array) != count:
        detail = f"got {len(array)}, need one for each of {count} rows of X_{name}"
        raise fault(DimensionMismatch, f"y_{name}", detail)
    return array


def require_order(model: Any, rows: Sequence[Any], truth: Sequence[Any]) -> None:
    """Refuse rows and labels that stand in each other's place."""
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


def groups_of_sides(groups: Any, n_train: int) -> tuple[Any, Any] | None:
    """Groups of either side."""
    if groups is None or (isinstance(groups, tuple) and len(groups) == 2):
        return groups
    from estimators.audits.queries.query import labels_of

    array = labels_of(groups, "groups")
    return array[:n_train], array[n_train:]


def shared_rows(X_train: Any, X_test: Any) -> tuple[float, list[Caution]]:
    """The share of the test rows that the model was trained on, as far as that is not chance, and that it is so."""
    if X_train is X_test:
        raise fault(InputError, "X_test", "it is X_train; need rows that the model was not trained on")
    train, test = _hashes(X_train), _hashes(X_test)
    if train is None or test is None:
        return 0.0, []
    if len(train) == len(test) and sorted(train) == sorted(test):
        detail = "its rows are those of X_train; need rows that the model was not trained on"
        raise fault(InputError, "X_test", detail)
    _, records = np.unique(np.array([*train, *test]), return_inverse=True)
    sides = (Rows.of_records(side.astype(np.int64)) for side in np.split(records, [len(train)]))
    if not (share := share_of_training_rows(*sides)):
        return 0.0, []
    shared = round(share * len(test))
    message = (
        f"{shared} of {len(test)} rows of X_test stand in X_train, too: they were trained on, and hide a leak; "
        "leave them out"
    )
    return share, [Caution("shared_rows", message)]


def check_sides_alone(rows: tuple[Any, Any], confidence: float, seed: int) -> tuple[SplitCheck | None, list[Caution]]:
    """What tells the sides apart without the model; None with the reason if their columns cannot be read."""
    from estimators.audits.split import check_split

    tables = [_columns_by_name(each) for each in rows]
    reason = f"the rows are no table, or have more than {MOST_COLUMNS} columns"
    if tables[0] and tables[1]:
        try:
            return check_split(tables[0], tables[1], confidence=confidence, seed=seed), []
        except InputError as error:  # one value in every column, or the same few rows again and again
            reason = error.message
    return None, [
        Caution("split_not_checked", f"whether the sides differ without the model was not looked at: {reason}")
    ]


def judge_control(scores: Any, labels: Sequence[NDArray[np.generic]], confidence: float, seed: int) -> Control | None:
    """How much of the sides' own difference reaches a score whose model saw neither; None without one."""
    from estimators.audits.split import control

    if scores is None:
        return None
    if not isinstance(scores, tuple) or len(scores) != 2:
        detail = "need two arrays, a score for each row of X_train and one for each of X_test"
        raise fault(InputError, "control", detail)
    both_sides = Scores.of(*scores)
    for count, side, name in ((both_sides.n_members, labels[0], "train"), (both_sides.n_nonmembers, labels[1], "test")):
        if count != len(side):
            raise fault(DimensionMismatch, "control", f"got {count} scores for {len(side)} rows of X_{name}")
    return control(*scores, confidence=confidence, seed=seed)


def _columns_by_name(rows: Any) -> dict[str, Any]:
    """The columns of a frame, or of an array with a row for each record; none of anything else."""
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


def rows_at(rows: Any, places: NDArray[np.intp]) -> Any:
    """Some of the rows, in the type that they came in."""
    if hasattr(rows, "iloc"):
        return rows.iloc[places]
    if isinstance(rows, list | tuple):
        return [rows[place] for place in places]
    return rows[places]


def stack_rows(one: Any, other: Any) -> Any:
    """Both sides' rows, one after the other, in the type that they came in."""
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
