"""How many models to train before a verdict about their procedure stands, tried on simulated models."""

from bisect import bisect_left
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from estimators.decisions.plan import POWER, draw_counts, plan_cells, require_reachable, shift_for
from estimators.decisions.verdict import Decision, decision
from estimators.errors import OutOfRange, require_count, require_number, require_open_unit
from estimators.python.dataclass import dataclass
from estimators.python.renamed import renamed
from estimators.runs.procedure.limits import Trainings, evidence_in
from estimators.runs.procedure.models import FEWEST
from estimators.sample.counting import resolution
from estimators.sample.scores import MIN_RECORDS
from estimators.statement import baseline

FINEST = 2048
"""Cells that stand for the full resolution of a score: with fewer, rules would need less learning than they do."""

POOL = 400  # models that are simulated; trainings are drawn from them
RUNS = 1000  # sets of models of each number
MOST = 4096  # most models that a plan names

SEED = 0

WIDEST = 0.9
"""Of the variance that numbers in a range can have; beyond, trainings would leak all or nothing."""


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """Models of one procedure that are expected to be enough.

    Attributes:
        models: How many, each with its own records; None if no reasonable number is.
        records: Records of each model, of both sides together.
        sentence: The plan in plain words.
    """

    models: int | None
    records: int
    sentence: str


@renamed("threshold", "max_advantage")
def plan_models(
    expected: float,
    max_advantage: float,
    spread: float,
    records: int,
    prior: float = 0.5,
    member_share: float = 0.5,
    confidence: float = 0.95,
) -> ModelPlan:
    """Models to train for a decision about their procedure at ``max_advantage`` in four sets of models of five.

    The decision is by the simulated interval of the mean (``accept_simulated``); by the proven one it takes more.
    Models are simulated with Gaussian scores; their advantages have a beta law between the baseline and 1. More
    models never decide less often, so bisection finds the fewest that suffice.

    Args:
        expected: The mean advantage that you expect over trainings, from the baseline |2 x prior - 1| up to but not
            including 1.
        max_advantage: Largest mean advantage that is acceptable, from -1 to 1.
        spread: Standard deviation of the advantage between trainings that you expect, such as an earlier answer's.
        records: Records of each model, members and nonmembers together, at least 16.
        prior, confidence: As for ``advantage``.
        member_share: Share of members among the records that you will score, strictly between 0 and 1.

    Raises:
        OutOfRange: an expected advantage below the baseline, or another number out of its range.

    Example:
        >>> from estimators.runs.procedure import plan_models
        >>> print(plan_models(expected=0.2, max_advantage=0.1, spread=0.05, records=1000).sentence)
        about 8 models are enough to decide about a training procedure at a limit of 0.1 by the simulated
        interval of its mean (accept_simulated) in four sets of models of five, if advantages are 0.2 on average
        with a standard deviation of 0.05, and each model has 1000 records
    """
    require_reachable(expected, prior)
    most, spread = require_number("max_advantage", max_advantage), require_number("spread", spread)
    share = require_open_unit("member_share", member_share)
    alpha = (1.0 - require_open_unit("confidence", confidence)) / 2.0
    require_count("records", records, 16)
    members = round(share * records)
    if min(members, records - members) < MIN_RECORDS:
        raise OutOfRange.about(
            "member_share",
            f"{share:g} of {records} records a model are {members} members and {records - members} "
            f"nonmembers; need at least {MIN_RECORDS} of each",
        )
    world = _World(float(expected), spread, int(records), float(prior), share, POOL)
    high = _fewest(world, most, alpha, RUNS)
    what = (
        f"to decide about a training procedure at a limit of {most:g} by the simulated interval of its mean "
        "(accept_simulated)"
    )
    where = (
        f"if advantages are {expected:g} on average with a standard deviation of {spread:g}, and each model has "
        f"{records} records"
    )
    if high is None:
        return ModelPlan(
            None,
            records,
            f"in practice no number of models is enough {what}, {where}: more than {MOST} would be needed; give "
            "each more records, if that is what the interval is wide for",
        )
    return ModelPlan(high, records, f"about {high} models are enough {what} in four sets of models of five, {where}")


@dataclass(frozen=True, slots=True)
class _World:
    """What is expected of models, and how many are simulated."""

    expected: float
    spread: float
    records: int
    prior: float
    share: float
    models: int


@lru_cache(maxsize=128)
def _fewest(world: _World, most: float, alpha: float, runs: int) -> int | None:
    """Models of which four sets of five decide at a limit; None if in practice no number is enough."""
    pool, floor = _pool(world), baseline(world.prior)

    def settles(models: int) -> bool:
        rng = np.random.default_rng(models)
        quota = POWER * runs
        successes = 0
        for run in range(runs):
            some = pool.some(rng.integers(0, pool.number, models))
            lower, upper = (max(end, floor) for end in some.mean(alpha))
            successes += decision(lower, upper, most) is not Decision.INCONCLUSIVE
            if successes >= quota or successes + runs - run - 1 < quota:
                break
        return successes >= quota

    high = FEWEST
    while not settles(high):
        if high >= MOST:
            return None
        high *= 2
    low = max(FEWEST, high // 2)
    return low + bisect_left(range(low, high), True, key=settles)


def _leaks(world: _World) -> NDArray[np.float64]:
    """Advantages of models: evenly spaced quantiles of the beta law with this mean and deviation."""
    expected, spread, models = world.expected, world.spread, world.models
    floor = baseline(world.prior)
    room = 1.0 - floor
    mean, variance = (expected - floor) / room, (spread / room) ** 2
    most = mean * (1.0 - mean)
    if not 0.0 <= variance <= WIDEST * most:
        raise OutOfRange.about(
            "spread",
            f"got {spread!r}, need a number from 0 to {room * float(np.sqrt(WIDEST * most)):.3g}: advantages "
            f"from {floor:g} to 1 that are {expected:g} on average do not vary more",
        )
    if variance == 0.0:
        return np.full(models, expected)
    size = most / variance - 1.0
    quantiles = betaincinv(mean * size, (1.0 - mean) * size, (np.arange(models) + 0.5) / models)
    return np.asarray(floor + room * np.clip(quantiles, 0.0, 1.0 - 1e-9))


@lru_cache(maxsize=32)
def _pool(world: _World) -> Trainings:
    """What models show that leak so much; at another limit or level the same models are asked."""
    rng = np.random.default_rng(SEED)
    members = round(world.share * world.records)
    nonmembers = world.records - members
    size = max(FINEST, resolution(world.records))
    models = []
    for at, leak in enumerate(_leaks(world)):
        shift = shift_for(float(leak), world.prior)
        counts = draw_counts(shift, members, nonmembers, plan_cells(shift, world.share, size), rng)
        models.append(evidence_in(counts, world.prior, at))
    return Trainings.of(models)
