"""What shadow or reference models say of a record, beside the model that is audited: higher is more like a member.

A shadow is a model trained as the audited one was, on records drawn anew. ``signals`` holds one number for each shadow
and record, a row a shadow; ``membership`` is True where the shadow was trained on the record; ``target`` is the same
number of the audited model. Which number: logit-scaled confidence (``scaled_confidence`` of
``estimators.audits.queries.models``) for LiRA and quantile regression, log-probability (``loss``) for RMIA, any of them
elsewhere, each *higher for members*.

**Draw shadows from both sides alike**: members and nonmembers of the audited model must have the same chance to be in
a shadow's training set, as when ``random_halves`` of all records are drawn. Shadows trained on the
hold-out alone know who is a member, and these queries then find it without any leak. The audited model is no shadow.

Arithmetic costs one pass over ``signals``; the shadows are the cost: 2 at least, 16 to 64 for most of the power, each
as expensive as the model. All records must have the shadows that a query needs: leave the others out
(``records_with_shadows``).
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from estimators import errors
from estimators.adversary.learned import one_thread
from estimators.arrays import Booleans, Floats
from estimators.audits.queries.query import Query, by_name, numbers, plain_array, require_length

Variance = Literal["auto", "record", "pooled"]
Centre = Literal["mean", "median"]

MANY = 32  # shadows of a kind from which a record's own variance is worth estimating
NARROW = 1e-6  # smallest deviation of a record, as a share of the pooled one

LEAST_LEFT = 0.5
"""Share of either side's records that must have the shadows that queries need, for the others to be left out."""

FEWEST = 20  # records a quantile regression is learned from at least

SHADOWS = ("target", "signals")
BOTH_KINDS = ("target", "signals", "membership")

CATALOGUE: dict[str, Query] = by_name(
    (
        Query(
            "lira_online",
            "Carlini et al. 2022, Algorithm 1",
            "the signal is that of models with the record: log-ratio of two normal densities, of shadows with it and "
            "without",
            "16 to 64 shadows; one variance a record from 32 of each kind, pooled with fewer",
            "signals tie in every model",
            BOTH_KINDS,
        ),
        Query(
            "lira_offline",
            "Carlini et al. 2022",
            "the signal is above that of models without the record: by how many of their deviations",
            "as `lira_online`; shadows serve records that they never saw",
            "as `lira_online`",
            SHADOWS,
        ),
        Query(
            "rmia",
            "Zarifzadeh et al. 2024",
            "the record is more probable than on average over models: log of p / mean p",
            "1 to 4 shadows do",
            "signals tie; with a population of m records there are m + 1 values, in the same order",
            SHADOWS,
        ),
        Query(
            "calibrated_loss",
            "Watson et al. 2022",
            "the model finds the record easier than others do: the signal less its mean over shadows without it",
            "1 shadow or more",
            "signals tie in every model",
            SHADOWS,
        ),
        Query(
            "reference",
            "Carlini et al. 2021; Watson et al. 2022",
            "the model finds the record easier than one that saw neither side: the signal less that model's",
            "a pass of that model",
            "both signals tie",
            ("target", "signal"),
        ),
        Query(
            "reference_rank",
            "Ye et al. 2022 (attack R)",
            "most models without the record give it less: the share of shadows whose signal is below",
            "tens of shadows",
            "many records: k shadows make few values",
            SHADOWS,
        ),
        Query(
            "quantile_regression",
            "Bertran et al. 2023",
            "the signal is above what nonmembers like it have: less a quantile learned from calibration records",
            "no shadow; trees on one thread, and calibration records that are not scored",
            "signal and leaves are the same",
            ("features", "signal", "calibration_features", "calibration_signal"),
        ),
    )
)
"""Every query of shadow or reference models by name, which is that of its function."""


def random_halves(shadows: int, records: int, seed: int) -> Booleans:
    """Which records to train each shadow on: both halves of one random split after another (as Carlini et al. 2022).

    Two shadows that follow each other have all records between them, so each record is in half of the shadows exactly
    (of an odd number the last one is a half by itself). With eight halves drawn one by one a record in 128 has no
    shadow with it, or none without, and cannot be scored.

    Args:
        shadows: How many shadows, at least 2.
        records: How many records, members and nonmembers of the audited model together, at least 2.
        seed: Whole number from which the splits are drawn; the same seed gives the same answer.

    Returns:
        ``membership``: a row a shadow, a column a record; True where the shadow is to be trained on the record.
    """
    models, total = errors.require_count("shadows", shadows, 2), errors.require_count("records", records, 2)
    rng = np.random.default_rng(errors.require_count("seed", seed, 0))
    firsts = np.array([rng.permutation(total) < total // 2 for _ in range((models + 1) // 2)])
    return np.stack([firsts, ~firsts], axis=1).reshape(-1, total)[:models]


def records_with_shadows(membership: ArrayLike, member: ArrayLike) -> Booleans:
    """Which records have the shadows that queries need; leave the others out before you ask any.

    Every query needs a shadow that was not trained on the record. LiRA online needs one that was, too, which is asked
    where at least ``LEAST_LEFT`` of either side then remain: with fewer, shadows were not drawn from both sides, and
    queries go without (offline). Membership in shadows is drawn without a look at the scores, so leaving records out by
    it changes no guarantee.

    Args:
        membership: Whether the shadow was trained on the record, a row a shadow, a column a record.
        member: Whether the audited model was trained on the record.

    Returns:
        True for each record that has them.

    Raises:
        TooFewRecords: fewer than ``LEAST_LEFT`` of a side have a shadow without them.
    """
    trained, members = _flags(membership), np.asarray(member, dtype=np.bool_)
    _require_shape(trained.shape, "membership", (None, len(members)))
    without: Booleans = np.asarray((~trained).any(axis=0))
    within: Booleans = np.asarray(trained.any(axis=0))
    for side, name in ((members, "members"), (~members, "nonmembers")):
        left, records = int(without[side].sum()), int(side.sum())
        if left < LEAST_LEFT * records:
            raise errors.TooFewRecords.about(
                "membership",
                f"{left:,} of {records:,} {name} have a shadow that was trained without them, need at "
                f"least {LEAST_LEFT:.0%}; train more shadows, each on random_halves of all records",
            )
    both = without & within
    enough = all(both[side].sum() >= LEAST_LEFT * side.sum() for side in (members, ~members))
    return both if enough else without


def lira_online(
    target: ArrayLike,
    signals: ArrayLike,
    membership: ArrayLike,
    *,
    variance: Variance = "auto",
    centre: Centre = "mean",
) -> Floats:
    """LiRA with shadows that saw the record and shadows that did not (Carlini et al. 2022, Algorithm 1).

    The logarithm of the ratio of two normal densities at the audited model's signal, one fitted to shadows with the
    record, one to those without. Needs shadows of both kinds for each record. Ties only where signals tie throughout.

    Args:
        target: The audited model's signal of each record; logit-scaled confidence.
        signals: The shadows' signals, a row a shadow, a column a record.
        membership: Whether the shadow was trained on the record, in the same shape.
        variance: ``"record"``: each record's own, of each kind, from two shadows of it at least (the authors' choice
            with many); ``"pooled"``: one of each kind, around each record's own centre (with few); ``"auto"``: the
            first if every record has 32 shadows of each kind, else the second.
        centre: ``"mean"`` as in the paper, or ``"median"`` as in the authors' code.

    Raises:
        TooFewRecords: a record has too few shadows of a kind; the error names the record and what would do.
    """
    own, table, member = _shadows(target, signals, membership)
    kind = _variance(variance, np.minimum(member.sum(axis=0), (~member).sum(axis=0)))
    mean_in, deviation_in = _normal(table, member, kind, centre, "in")
    mean_out, deviation_out = _normal(table, ~member, kind, centre, "out")
    return _log_density(own, mean_in, deviation_in) - _log_density(own, mean_out, deviation_out)


def lira_offline(
    target: ArrayLike,
    signals: ArrayLike,
    membership: ArrayLike | None = None,
    *,
    variance: Variance = "auto",
    centre: Centre = "mean",
) -> Floats:
    """LiRA with shadows that did not see the record alone (Carlini et al. 2022).

    How many deviations the audited model's signal lies above those of the shadows without the record. The paper's score
    is the normal probability of that, which rounds to 1 from 8.3 deviations and would make ties; the order is the same.
    (The authors' code takes the density, which also calls a signal far *below* a member's; the paper does not.)

    Args:
        target, signals, variance, centre: As for ``lira_online``.
        membership: As for ``lira_online``; no shadow saw any record without it. Shadows with a record are passed over.

    Returns:
        a score a record, in deviations.

    Raises:
        TooFewRecords: as for ``lira_online``.
    """
    own, table, member = _shadows(target, signals, membership)
    kind = _variance(variance, (~member).sum(axis=0))
    mean, deviation = _normal(table, ~member, kind, centre, "out")
    return (own - mean) / deviation


def rmia(
    target: ArrayLike,
    signals: ArrayLike,
    membership: ArrayLike | None = None,
    *,
    online: bool = False,
    a: float = 0.3,
    population: ArrayLike | None = None,
    population_signals: ArrayLike | None = None,
    gamma: float = 1.0,
) -> Floats:
    """RMIA: the record's probability against its average over models, compared with other records' (Zarifzadeh 2024).

    The ratio is p(x | audited) / p(x). Online, p(x) is the mean of the averages over shadows with and without the
    record; offline it is ((1 + a) out + 1 - a) / 2, of shadows without it alone. Good with few shadows, even one.

    The paper's score is the share of population records z whose ratio is at most the record's over ``gamma``. That only
    grows with the record's own ratio: no population and no gamma changes the order, they make ties and nothing else. So
    without a population the score is the logarithm of the ratio, which needs no such records and ties only where the
    signals do; with one of m records the score has m + 1 values.

    Args:
        target: The audited model's log-probability of each record's own class (``models.loss``), at most 0.
        signals: The shadows' log-probabilities, a row a shadow, a column a record.
        membership: Whether the shadow was trained on the record, in the same shape; none was without it.
        online: True to use shadows with the record, too.
        a: From 0 to 1: how much shadows without the record say of those with it (offline). The authors fit it on a
            shadow in the place of the audited model, never on the answer; 0.3 is usual for image models.
        population: The audited model's log-probability of records on *neither* side, for the paper's own number. Never
            the hold-out: a record that is compared with itself gives itself away.
        population_signals: The shadows' log-probabilities of these, a row a shadow; no shadow was trained on them.
        gamma: The ratio of ratios that counts, above 0; with a population only.

    Returns:
        a score a record: the log-ratio, or from 0 to 1 with a population.

    Raises:
        TooFewRecords: a record has no shadow of a kind that is needed; the error names the record.
        OutOfRange: a log-probability is above 0, or ``a`` not from 0 to 1.
    """
    own, table, member = _shadows(target, signals, membership)
    for each, name in ((own[None], "target"), (table, "signals")):
        _require_log_probabilities(each, name)
    share = errors.require_from_zero_to_one("a", a)
    ratio = errors.require_positive("gamma", gamma)
    outside = _average(table, ~member, "out")
    whole = np.logaddexp(outside, _average(table, member, "in")) - np.log(2) if online else _mixed(outside, share)
    scores = own - whole
    if (population is None) != (population_signals is None):
        name = "population" if population is None else "population_signals"
        raise errors.InputError.about(name, "missing; need both the audited model's and the shadows'")
    if population is None or population_signals is None:
        return scores
    others, theirs = (numbers(population, "population"), numbers(population_signals, "population_signals", (2,), True))
    if theirs.shape != (len(table), len(others)):
        raise errors.DimensionMismatch.about(
            "population_signals",
            f"got {theirs.shape[0]} by {theirs.shape[1]}, need {len(table)} shadows by {len(others)} records",
        )
    for each, name in ((others[None], "population"), (theirs, "population_signals")):
        _require_log_probabilities(each, name)
    average = _average(theirs, np.ones(theirs.shape, np.bool_), "out")
    against = np.sort(others - (average if online else _mixed(average, share)))
    below = np.searchsorted(against, scores - np.log(ratio), side="right")
    return np.asarray(below / len(against), dtype=np.float64)


def calibrated_loss(target: ArrayLike, signals: ArrayLike, membership: ArrayLike | None = None) -> Floats:
    """Difficulty calibration: the signal less its mean over shadows without the record (Watson et al. 2022).

    A record that every model finds easy is no sign of training. Works from one shadow. Ties where signals tie
    throughout.

    Args:
        target: The audited model's signal of each record; minus the loss in the paper.
        signals: The shadows' signals, a row a shadow, a column a record.
        membership: Whether the shadow was trained on the record, in the same shape; none was without it. Shadows with
            the record are passed over.

    Raises:
        TooFewRecords: every shadow was trained on a record; the error names it.
    """
    own, table, member = _shadows(target, signals, membership)
    return own - _mean(table, ~member, "out")


def reference(target: ArrayLike, signal: ArrayLike) -> Floats:
    """The signal less that of one reference model, which saw neither side (Carlini et al. 2021; Watson et al. 2022).

    ``calibrated_loss`` of one shadow; the reference may be any model of the same task, a smaller or a public one. Costs
    one pass of it. Ties where both models' signals tie. If the reference saw one of the sides, this finds *that*.

    Args:
        target: The audited model's signal of each record; minus the loss.
        signal: The reference model's.
    """
    own, theirs = numbers(target, "target"), numbers(signal, "signal")
    require_length(theirs, "signal", len(own), "records")
    return own - theirs


def reference_rank(target: ArrayLike, signals: ArrayLike, membership: ArrayLike | None = None) -> Floats:
    """Attack R: the share of shadows without the record whose signal is below the audited one's (Ye et al. 2022).

    Assumes no law, and pays for it: with k shadows the score has few values, so many records tie, and it tells little
    below a false positive rate of 1 / (k + 1). A shadow whose signal is equal counts by half. Needs tens of shadows.

    Returns:
        a score a record, from 0 to 1.

    Raises:
        TooFewRecords: every shadow was trained on a record; the error names it.
    """
    own, table, member = _shadows(target, signals, membership)
    count = _counts(~member, 1, "out")
    below = ((table < own) & ~member).sum(axis=0) + 0.5 * ((table == own) & ~member).sum(axis=0)
    return np.asarray(below / count, dtype=np.float64)


def quantile_regression(
    features: ArrayLike,
    signal: ArrayLike,
    calibration_features: ArrayLike,
    calibration_signal: ArrayLike,
    *,
    level: float = 0.9,
    trees: int = 100,
    seed: int = 0,
) -> Floats:
    """The signal less a quantile of it that is learned from records that were not trained on (Bertran et al. 2023).

    Needs no shadows: gradient-boosted trees learn from the features of *calibration* records, none of them a member,
    which signal a nonmember like this one exceeds with probability 1 - level.

    **Calibration records must not be among those that are scored**: the trees have bent to their signals, which then
    lie closer to the quantile than a fresh record's, and that difference would be called a leak. Taken from the
    hold-out they are gone from it, and the interval is the wider one of the records that remain. To keep the hold-out
    whole take records that stand on neither side: validation rows, a reference sample, public data of the same kind.
    Scores out of folds of the hold-out are no way round: they are not independent.

    Costs a training of ``trees`` trees on one thread. Scores tie where signals do and the trees' leaves are the same.

    Args:
        features: What the trees see of each scored record, a row of numbers a record; NaN is not read as missing.
        signal: The audited model's signal of each; logit-scaled confidence.
        calibration_features: The same of calibration records, at least 20.
        calibration_signal: The audited model's signal of these.
        level: Which quantile: 1 less the false positive rate that is aimed at.
        trees: How many trees.
        seed: Whole number from which everything random is drawn; the same seed gives the same answer.

    Raises:
        NotInstalled: scikit-learn is not there.
        TooFewRecords: fewer than 20 calibration records.
    """
    rows, own = numbers(features, "features", (2,)), numbers(signal, "signal")
    theirs = numbers(calibration_features, "calibration_features", (2,))
    answers = numbers(calibration_signal, "calibration_signal")
    require_length(own, "signal", len(rows), "records")
    require_length(answers, "calibration_signal", len(theirs), "calibration records")
    if theirs.shape[1] != rows.shape[1]:
        message = f"got {theirs.shape[1]} features, need {rows.shape[1]}, as the records have"
        raise errors.DimensionMismatch.about("calibration_features", message)
    if len(theirs) < FEWEST:
        message = f"got {len(theirs)}, need at least {FEWEST} records that are neither scored nor members"
        raise errors.TooFewRecords.about("calibration_features", message)
    options = {"quantile": errors.require_open_unit("level", level), "max_iter": errors.require_count("trees", trees)}
    return own - _learned_quantile(theirs, answers, rows, options, errors.require_count("seed", seed, 0))


def _learned_quantile(theirs: Floats, answers: Floats, rows: Floats, options: dict[str, Any], seed: int) -> Floats:
    """A quantile of the signal for each row, by trees that are grown on one thread."""
    try:
        from sklearn.ensemble import HistGradientBoostingRegressor  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "sklearn":
            raise
        message = "quantile_regression: needs the package scikit-learn; pip install 'macekit[learned]'"
        raise errors.NotInstalled(message, field="query") from None
    model = HistGradientBoostingRegressor(
        loss="quantile", max_leaf_nodes=15, early_stopping=False, random_state=seed, **options
    )
    with one_thread("sklearn.ensemble"):
        return np.asarray(model.fit(theirs, answers).predict(rows), dtype=np.float64)


def _shadows(target: ArrayLike, signals: ArrayLike, membership: ArrayLike | None) -> tuple[Floats, Floats, Booleans]:
    """The three arrays, checked against each other."""
    own, table = numbers(target, "target"), numbers(signals, "signals", (2,), models=True)
    _require_shape(table.shape, "signals", (None, len(own)))
    if membership is None:
        return own, table, np.zeros(table.shape, np.bool_)
    member = _flags(membership)
    _require_shape(member.shape, "membership", table.shape)
    return own, table, member


def _flags(membership: ArrayLike) -> Booleans:
    """Who trained on what: True or False for each shadow and record."""
    array = plain_array(membership, "membership")
    if array.ndim != 2 or array.dtype.kind not in "biuf" or not np.isin(array, (0, 1)).all():
        message = "need True or False (1 or 0) for each shadow and record, a row a shadow"
        raise errors.InputError.about("membership", message)
    return array.astype(np.bool_)


def _require_shape(got: tuple[int, ...], name: str, need: tuple[int | None, ...]) -> None:
    models, records = got[0] if need[0] is None else need[0], need[1]
    if got == (models, records):
        return
    turned = "; it seems to be a row a record: transpose it" if got[::-1] == (got[1], records) else ""
    of = "" if need[0] is None else f"{models} "
    message = f"got {got[0]} by {got[1]}, need {of}shadows by {records} records{turned}"
    raise errors.DimensionMismatch.about(name, message)


def _counts(mask: Booleans, fewest: int, kind: str) -> Floats:
    """How many shadows of a kind each record has, none fewer than needed."""
    count = mask.sum(axis=0)
    if (count < fewest).any():
        index = int(np.argmax(count < fewest))
        did = "trained on it" if kind == "in" else "trained without it"
        instead = "use a query without them (offline)" if kind == "in" else "leave the record out"
        message = (
            f"record {index}: {int(count[index])} of {len(mask)} shadows were {did}, need at least {fewest}; "
            f"train more shadows, on random_halves of all records, or {instead}"
        )
        raise errors.TooFewRecords.about("signals", message, index)
    return np.asarray(count, dtype=np.float64)


def _variance(variance: str, fewest: np.ndarray[Any, np.dtype[np.int_]]) -> str:
    """Whether each record has a variance of its own."""
    if variance not in ("auto", "record", "pooled"):
        raise errors.UnknownName.among("variance", variance, ("auto", "record", "pooled"))
    if variance == "auto":
        return "record" if int(fewest.min()) >= MANY else "pooled"
    return variance


def _mean(table: Floats, mask: Booleans, kind: str) -> Floats:
    """Mean over a record's shadows of one kind."""
    return np.asarray(np.where(mask, table, 0.0).sum(axis=0) / _counts(mask, 1, kind), dtype=np.float64)


def _normal(table: Floats, mask: Booleans, variance: str, centre: str, kind: str) -> tuple[Floats, Floats]:
    """Centre and deviation of each record's signals over its shadows of one kind."""
    if centre not in ("mean", "median"):
        raise errors.UnknownName.among("centre", centre, ("mean", "median"))
    count = _counts(mask, 2 if variance == "record" else 1, kind)
    mean = _mean(table, mask, kind)
    squares = np.where(mask, (table - mean) ** 2, 0.0).sum(axis=0)
    freedom = float((count - 1).sum())
    if freedom == 0:
        raise errors.TooFewRecords.about(
            "signals",
            f"every record has one shadow {'with' if kind == 'in' else 'without'} it, which says nothing of "
            "how they vary; train more shadows, or use rmia or calibrated_loss",
        )
    # shadows that all agree have no scale of their own
    pooled = float(np.sqrt(squares.sum() / freedom)) or 1.0
    deviation = np.sqrt(squares / count) if variance == "record" else np.full(len(mean), pooled)
    if centre == "median":
        mean = np.asarray(np.nanmedian(np.where(mask, table, np.nan), axis=0), dtype=np.float64)
    return mean, np.maximum(deviation, NARROW * pooled)


def _log_density(at: Floats, mean: Floats, deviation: Floats) -> Floats:
    """Logarithm of a normal density, up to a constant that cancels."""
    return np.asarray(-0.5 * ((at - mean) / deviation) ** 2 - np.log(deviation), dtype=np.float64)


def _average(table: Floats, mask: Booleans, kind: str) -> Floats:
    """Logarithm of the mean probability over a record's shadows of one kind."""
    count = _counts(mask, 1, kind)
    held_out = np.where(mask, table, -np.inf)
    top = held_out.max(axis=0)
    return np.asarray(top + np.log(np.exp(held_out - top).sum(axis=0) / count), dtype=np.float64)


def _mixed(outside: Floats, a: float) -> Floats:
    """Logarithm of ((1 + a) out + 1 - a) / 2."""
    apart = np.log((1.0 - a) / 2.0) if a < 1.0 else -np.inf
    return np.asarray(np.logaddexp(np.log((1.0 + a) / 2.0) + outside, apart), dtype=np.float64)


def _require_log_probabilities(table: Floats, name: str) -> None:
    """Nothing above 0, as far as rounding allows."""
    above = table > 1e-6
    if above.any():
        index = int(np.argwhere(above)[0][1])
        message = (
            f"record {index} is above 0, need log-probabilities (models.loss, or the log of a probability); "
            "logit-scaled confidence is for LiRA"
        )
        raise errors.OutOfRange.about(name, message, index)
