"""The models of one training procedure: whose rows are whose, a seed for each, what each exposes, what is odd of it."""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.arrays import distinct, groups_by_rank, random_of
from estimators.decisions.exposed_members import doubts_of
from estimators.errors import DimensionMismatch, InputError, TooFewRecords
from estimators.privacy.exposure import Exposure, exposure
from estimators.sample.doubts import CONSTANT, REPEATED
from estimators.sample.plain_arrays import labels_of
from estimators.sample.scores import AS_ASKED, MIN_RECORDS, Query, Scores
from estimators.statement import Caution

FEWEST = 4  # fewest models of which anything is said
MOST_NAMES = 3  # models that an error names
MANY_VALUES = 20  # different scores of a model from which on another one has the same by no chance

Sides = tuple[NDArray[np.generic], NDArray[np.generic]]


def by_model(data: Scores, model: ArrayLike) -> dict[str, Scores]:
    """The scores of each model, in the order of their names.

    Args:
        model: Which model scored each row, members' rows first.

    Raises:
        DimensionMismatch: vectors, or not a label for each row.
        InputError: a row without a label.
        TooFewRecords: too few models, or a model with too few rows of a side.
    """
    if data.dimension > 1:
        raise DimensionMismatch("model: got vectors, need one number a record", field="members")
    labels = labels_of(model, "model")
    rows = data.n_members + data.n_nonmembers
    if len(labels) != rows:
        raise DimensionMismatch.about("model", f"got {len(labels)} labels for {rows} rows")
    if labels.dtype.kind == "U" and (labels == "").any():
        row = int(np.argmax(labels == ""))
        raise InputError.about("model", f"row {row} has no label; need which model scored it", row)
    names, column = np.unique(labels, return_inverse=True)
    if labels.dtype.kind == "U" and all(name.isdecimal() for name in names.tolist()):  # numbers of a CSV, as numbers
        order = np.argsort(names.astype(np.float64), kind="stable")
        names, column = names[order], order.argsort()[column]
    column = column.reshape(-1)
    if len(names) == 1:
        raise TooFewRecords.about(
            "model",
            f"all rows are of one model, {names[0].item()!r}: nothing is known of another training; ask "
            f"about this model by itself, or train {FEWEST - 1} more",
        )
    if len(names) < FEWEST:
        message = f"got {len(names)} models, need at least {FEWEST} to tell how much they vary"
        raise TooFewRecords.about("model", message)
    sides = column[: data.n_members], column[data.n_members :]
    for what, side in zip(("member", "nonmember"), sides, strict=True):
        few = names[np.bincount(side, minlength=len(names)) < MIN_RECORDS]
        if len(few):
            examples = ", ".join(repr(each) for each in few[:MOST_NAMES].tolist())
            more = ", ..." if len(few) > MOST_NAMES else ""
            raise TooFewRecords.about(
                "model",
                f"{len(few)} of {len(names)} models ({examples}{more}) {'has' if len(few) == 1 else 'have'} "
                f"fewer than {MIN_RECORDS} {what} rows; every model needs members and nonmembers of its own",
            )
    parts = [
        np.split(scores[np.argsort(side, kind="stable")], np.cumsum(np.bincount(side, minlength=len(names)))[:-1])
        for scores, side in zip((data.members, data.nonmembers), sides, strict=True)
    ]
    models = dict(zip(map(str, names.tolist()), zip(*parts, strict=True), strict=True))
    _require_different(models)
    few_values = data.query is Query.DISCRETE and data.members.dtype.kind in "iuf" and data.reason != AS_ASKED
    if few_values and any(distinct(np.concatenate(sides)).size == sum(map(len, sides)) for sides in models.values()):
        return {name: Scores.of(a, b, Query.CONTINUOUS) for name, (a, b) in models.items()}
    return {name: Scores(a, b, data.query, data.reason) for name, (a, b) in models.items()}


def _require_different(models: dict[str, Sides]) -> None:
    """Refuse one training under several names: all its records would count as often."""
    firsts: dict[bytes, str] = {}
    for name, sides in models.items():
        if distinct(np.concatenate(sides)).size < MANY_VALUES:
            continue  # chance may make them equal
        first = firsts.setdefault(b"|".join(np.sort(side).tobytes() for side in sides), name)
        if first != name:
            raise InputError.about(
                "model",
                f"{first!r} and {name!r} have the same scores, all of them: one training under two names; give each "
                "once, and train each with a seed and a split of its own",
            )


def seeds_of(models: int, seed: int) -> list[int]:
    """A seed for each model: shuffled alike, models would err alike, and would not be independent."""
    seeds: list[int] = np.random.default_rng(seed).integers(2**53, size=models).tolist()
    return seeds


def seed_by_ranks(model: Scores, seed: int) -> int:
    """The seed of a model, by what its records are, too: of fixed ranks, the unseen ones are no sample of all."""
    return int(random_of(seed, groups_by_rank(model.members, model.nonmembers)).integers(2**53))


def doubts_by(samples: Mapping[str, Scores], data: Scores) -> tuple[Caution, ...]:
    """What is odd about the scores of a model, and that rows repeat, where only those of all models show it."""
    of_each = {name: [*doubts_of({name: each}, clustered=False)] for name, each in samples.items()}
    if not all(CONSTANT in {odd.code for odd in each} for each in of_each.values()):  # some may know all their rows
        of_each = {name: [odd for odd in each if odd.code != CONSTANT] for name, each in of_each.items()}
    doubts = of_models(of_each)
    if REPEATED in {odd.code for odd in doubts}:
        return doubts
    return (*doubts, *(odd for odd in doubts_of({"": data}, clustered=False) if odd.code == REPEATED))


def exposures_by(samples: Mapping[str, Scores], prior: float, confidence: float) -> dict[str, Exposure]:
    """What each model exposes; the limits of all models hold together."""
    together = 1.0 - (1.0 - confidence) / len(samples)
    return {name: exposure(each, together, prior) for name, each in samples.items()}


def exposed(exposures: Mapping[str, Exposure]) -> tuple[Caution, ...]:
    """Which members the most telling model exposes, whatever is true on average."""
    name = max(exposures, key=lambda each: (exposures[each].alarm, exposures[each].members_epsilon))
    return tuple(Caution(each.code, f"model {name!r}: {each.message}") for each in exposures[name].cautions)


def of_models(cautions: Mapping[str, Iterable[Caution]]) -> tuple[Caution, ...]:
    """What is to be known of single models: of each kind the first, with the model's name."""
    first: dict[str, Caution] = {}
    for name, each in cautions.items():
        for caution in each:
            first.setdefault(caution.code, Caution(caution.code, f"model {name!r}: {caution.message}"))
    return tuple(first.values())
