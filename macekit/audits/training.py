"""Further models, trained here: shadows on halves of the rows, and twins with records that are known to be planted."""

from __future__ import annotations

import inspect
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from estimators.arrays import random_of
from estimators.errors import InputError, NotInstalled, OptionError
from estimators.statement import Caution
from macekit.audits.reader import Reader
from macekit.audits.rows import rows_at, stack_rows
from macekit.problems import fault

if TYPE_CHECKING:
    from estimators.audits.model import Outputs, Shadows, Strength

Progress = Callable[[str], object]

QUIET_SECONDS = 0.5  # seconds before a bar is shown

BAR = 24
CLEAR = "\r\x1b[K"


class Steps:
    """What is told after each step: a sentence to a function, or a bar on standard error where it is a terminal."""

    def __init__(self, tell: Progress | None, live: bool) -> None:
        self._tell = tell
        self._live = live
        self._start = time.monotonic()
        self._is_visible = False

    @classmethod
    @contextmanager
    def reporting(cls, progress: Progress | bool | None) -> Iterator[Steps]:
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
    if progress is None or isinstance(progress, bool):
        return None
    try:
        inspect.signature(progress).bind("")
    except ValueError:  # a builtin that does not say what it takes
        pass
    except TypeError:
        detail = "need a function of one sentence, such as print, or True, False or None"
        raise fault(OptionError, "progress", detail) from None
    return progress


Trainer = Callable[[Any, Any, int], Any]

MUCH_LARGER = 1.25
"""How many times as many rows as its shadows a model may be trained on before that is worth a word."""


def train_shadows(
    model: Any,
    reader: Reader,
    rows: tuple[Any, Any],
    labels: Sequence[NDArray[np.generic]],
    answers: Sequence[NDArray[np.generic]],
    count: int,
    fit: Trainer | None,
    seed: int,
    steps: Steps,
) -> tuple[Shadows, list[Caution]]:
    """Shadows that are trained here, on random halves of both sides, and what is to be known of them."""
    from estimators.audits.model import Shadows, floor_of, shadow_signals
    from estimators.audits.queries.models import FLOOR
    from estimators.audits.queries.shadows import random_halves

    outputs = reader.outputs or "probabilities"
    floor = floor_of(np.concatenate(answers)) if outputs == "probabilities" else FLOOR
    signal = partial(shadow_signals, outputs=outputs, classes=reader.classes, floor=floor)
    signal(answers[0], labels[0])  # what they could not be compared by is an error before one is trained
    X, y = stack_rows(*rows), np.concatenate(labels)
    rng = random_of(seed, *labels, *answers)  # halves of either side: of all rows one shadow may have more members
    halves = [random_halves(count, len(side), int(rng.integers(2**53))) for side in labels]
    membership = np.concatenate(halves, axis=1)
    signals = np.empty(membership.shape)
    lacking = 0
    with warnings.catch_warnings(record=True) as notices:
        warnings.simplefilter("always")
        for place, inside in enumerate(membership):
            which = np.flatnonzero(inside)
            own_seed = int(np.random.default_rng([seed, place]).integers(2**31 - 1))
            with one_thread(model):
                shadow = (fit or clone_trainer(model))(rows_at(X, which), y[which], own_seed)
                of_shadow = Reader.of(shadow, outputs, None, "fit")
                theirs = of_shadow.ask(X, "X_train and X_test")
            full = _columns(theirs, of_shadow.classes, reader.classes, outputs)
            lacking += full is not theirs
            signals[place] = signal(full, y)
            steps(place + 1, count, "shadows trained")
    notes = _notes(count, len(labels[0]), len(y) // 2, notices, lacking)
    return Shadows(signals, membership, floor), list(notes)


def train_twins(
    model: Any,
    reader: Reader,
    rows: tuple[Any, Any],
    labels: Sequence[NDArray[np.generic]],
    answers: Sequence[NDArray[np.generic]],
    number: tuple[int, int],
    retrain: Trainer,
    table: Shadows | None,
    steps: Steps,
    **options: Any,
) -> tuple[Strength, list[Caution]]:
    """Twins that hold planted rows of ``X_test`` beside all training rows, and what the queries see of these."""
    from estimators.audits.model import MOST_PLANTED, Shadows, planting, query_strength

    (twins, copies), seed, n_train = number, options["seed"], len(labels[0])
    outputs = reader.outputs or "probabilities"
    by_rows = int(
        random_of(seed, labels[1], answers[1]).integers(2**53)
    )  # by the seed alone, of sorted rows the same ranks
    parts = planting(twins, len(labels[1]), max(1, int(MOST_PLANTED * n_train)), by_rows)
    sides: tuple[list[Any], list[Any]] = ([], [])
    with warnings.catch_warnings(record=True) as notices:
        warnings.simplefilter("always")
        for place, (planted, spared) in enumerate(parts):
            rng = np.random.default_rng([seed, twins, place])
            repeated = np.repeat(planted, copies)
            X = stack_rows(rows[0], rows_at(rows[1], repeated))
            y = np.concatenate([labels[0], labels[1][repeated]])
            order, own_seed = rng.permutation(len(y)), int(rng.integers(2**31 - 1))
            with one_thread(model):
                twin = retrain(rows_at(X, order), y[order], own_seed)
                of_twin = Reader.of(twin, outputs, None, "fit")
                for side, which in zip(sides, (planted, spared), strict=True):
                    theirs = of_twin.ask(rows_at(rows[1], which), "X_test")
                    side.append(_columns(theirs, of_twin.classes, reader.classes, outputs, "twins"))
            steps(place + 1, twins, "twins trained")
    both = [np.concatenate([part[side] for part in parts]) for side in (0, 1)]
    if table is not None:
        of_rows = n_train + np.concatenate(both)
        table = Shadows(np.asarray(table.signals)[:, of_rows], np.asarray(table.membership)[:, of_rows], table.floor)
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
    if notices:
        first = str(notices[0].message).strip().partition("\n")[0]
        yield Caution(
            f"{what.removesuffix('s')}_warnings",
            f"{len(notices)} warnings as {count} {what} were trained, the first: "
            f"{notices[0].category.__name__}: {first}",
        )


def clone_trainer(model: Any, what: str = "shadows") -> Trainer:
    """How scikit-learn trains another model like this one."""
    try:
        from sklearn.base import clone
    except ModuleNotFoundError:
        raise NotInstalled.about(
            what, "cloning a model needs the package scikit-learn; pip install 'macekit[learned]', or give fit"
        ) from None
    if not hasattr(model, "get_params") or not hasattr(model, "fit"):
        detail = (
            f"a {type(model).__name__} is no scikit-learn model that could be cloned; give fit, a function of "
            f"rows, labels and a seed that trains a {what.removesuffix('s')}, or {what}=0"
        )
        raise fault(OptionError, what, detail)

    def trained(X: Any, y: Any, seed: int) -> Any:
        shadow = clone(model)
        seeds = {name: seed for name in shadow.get_params() if name.split("__")[-1] == "random_state"}
        return shadow.set_params(**seeds).fit(X, y)

    return trained


def _columns(answers: Any, own: Any, classes: Any, outputs: Outputs, what: str = "shadows") -> Any:
    """A shadow's or a twin's answers over all classes of the model, with 0 for one that it has not seen."""
    if own is None or classes is None or outputs not in ("probabilities", "logits"):
        return answers
    mine, all_of_them = np.asarray(own), np.asarray(classes)
    if len(mine) == len(all_of_them) and bool((mine == all_of_them).all()):
        return answers
    if outputs == "logits" or not np.isin(mine, all_of_them).all():
        detail = (
            f"a {what.removesuffix('s')} has learned other classes than the model, as some class has few rows; "
            "leave those rows out, or take fewer classes"
        )
        raise fault(OptionError, what, detail)
    full = np.zeros((len(answers), len(all_of_them)))
    places = [int(np.flatnonzero(all_of_them == each)[0]) for each in mine]
    full[:, places] = np.reshape(answers, (len(answers), -1))
    return full


def load_shadows(shadows: Any) -> Shadows:
    """Shadows of an earlier audit, or of a file of arrays."""
    from estimators.audits.model import Shadows

    if isinstance(shadows, Shadows):
        return shadows
    if not isinstance(shadows, str | os.PathLike) or not os.fspath(shadows).endswith(".npz"):
        what = "a file that is no .npz" if isinstance(shadows, str | os.PathLike) else type(shadows).__name__
        detail = (
            f"got {what}, need a number, shadows of an earlier audit (audit.shadows), or an .npz file with "
            "signals and membership"
        )
        raise fault(InputError, "shadows", detail)
    try:
        with np.load(shadows, allow_pickle=False) as file:
            if not {"signals", "membership"} <= set(file.files):
                detail = (
                    "the file lacks signals or membership; write it by np.savez(path, signals=..., "
                    "membership=..., floor=...)"
                )
                raise fault(InputError, "shadows", detail)
            table = Shadows(file["signals"], file["membership"])
            return replace(table, floor=float(file["floor"])) if "floor" in file.files else table
    except FileNotFoundError:
        raise fault(InputError, "shadows", "there is no such file") from None
    except InputError:
        raise
    except (OSError, ValueError):  # objects in it are pickles
        raise fault(InputError, "shadows", "the file is no .npz of plain arrays") from None


@contextmanager
def one_thread(model: Any) -> Iterator[None]:
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
