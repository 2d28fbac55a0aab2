"""``/v1/theory/dp``: what a promise of differential privacy allows, every bound side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.call import Call, Reply
from app.decoding.material import Material
from app.encoding import statements
from app.encoding.theory import bounds, finite
from app.operations.answering import question_of, reply_of
from app.operations.theory.origin import origin
from app.problems import Problem
from app.schemas.theory.dp import (
    PROMISES,
    DpAnswer,
    DpQuestion,
    EnvelopeAnswer,
    KeepingAnswer,
    StatedAnswer,
    TradeAnswer,
)
from estimators.statement import Caution, at_least, at_most, baseline, exactly, figures_down, figures_up
from estimators.theory import dp
from estimators.theory.accounting import NoisySteps, renyi_curve
from estimators.theory.bounds import Bound

RANDOM = Caution(
    "random_membership",
    "bounds hold where who is a member is drawn at random; on a training set that is fixed and known the advantage "
    "may be 1 at epsilon 0",
)
ASSUMED = Caution(
    "adjacency_assumed",
    "the promise is taken to be about replacing one record by another; an accountant that adds or removes records, "
    "as most do, promises less: say adjacency add_remove",
)
POISSON = Caution(
    "poisson_sampling",
    "steps are taken on records sampled independently at the sampling rate; shuffled batches of a fixed size "
    "are not covered",
)
SHOWN_RATES = tuple(i / 100.0 for i in range(101))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A promise as it is asked about: of which adjacency, and what to state of it first."""

    promise: dp.Promise
    adjacency: dp.Adjacency
    stated: tuple[tuple[str, dp.Promise], ...]
    cautions: tuple[Caution, ...]


def answer(call: Call, material: Material) -> Reply:
    """Every bound, the envelope they are read off, and the promise that would keep an advantage."""
    q = question_of(DpQuestion, material)
    _require_one(q)
    asked = _asked(q)
    table: tuple[Bound, ...] = ()
    kept = None
    if asked is not None:
        table = dp.bounds(
            asked.promise,
            q.prior,
            q.member_weight,
            q.false_positive_rates,
            asked.adjacency,
            q.inclusion,
            q.delta,
        )
    if q.advantage is not None:
        kept = dp.keeping(q.advantage, q.delta or 0.0, q.prior, q.adjacency, q.inclusion)
    stated = [] if asked is None else _stated(asked, q.delta)
    answered: DpAnswer = {
        "sentence": " ".join([*_said(q, stated, table), *_kept_said(kept, q)]),
        "baseline": baseline(q.prior),
        "stated": stated,
        "bounds": bounds(table),
        "roc": None if asked is None else _envelope(asked, q),
        "curve": None if asked is None else _curve(asked.promise),
        "keeping": None if kept is None else _kept(kept),
        "warnings": statements.warnings((RANDOM, *_assumed(q)) if asked is None else asked.cautions),
        "provenance": origin(call, q, material.arrays),
    }
    return reply_of(call, answered)


def _require_one(q: DpQuestion) -> None:
    """One promise, with what belongs to it and nothing else."""
    made = [name for name in PROMISES if getattr(q, name) is not None]
    if len(made) > 1:
        raise Problem(
            "bad-option",
            f"{made[1]}: came together with {made[0]}; a promise is made in one way",
            field=made[1],
        )
    if not made and q.advantage is None:
        raise Problem(
            "missing-field", f"promise: give one of {', '.join(PROMISES)}, or advantage", field="epsilon"
        )
    for name in PROMISES[made[0]][1:] if made else ():
        if getattr(q, name) is None:
            raise Problem("missing-field", f"{name}: is needed with {made[0]}", field=name)
    for name in ("steps", "sampling_rate") if q.noise_multiplier is None else ("adjacency",):
        if getattr(q, name) is not None:
            where = "belongs to" if q.noise_multiplier is None else "is not asked of"
            raise Problem(
                "bad-option", f"{name}: {where} noise_multiplier; here, it would do nothing", field=name
            )


def _asked(q: DpQuestion) -> _Asked | None:
    fixed = q.inclusion == "fixed_number"
    needed = dp.Adjacency.REPLACE if fixed else dp.Adjacency.ADD_REMOVE
    given = needed if q.adjacency is None else dp.Adjacency(q.adjacency)
    if q.noise_multiplier is not None:
        noise = NoisySteps(
            q.noise_multiplier, q.steps or 1, 1.0 if q.sampling_rate is None else q.sampling_rate
        )
        made = {each: noise.promise(each, q.delta) for each in dp.Adjacency}
        stated = tuple(
            (f"as the accountant has it for adjacency {each.value}", made[each]) for each in dp.Adjacency
        )
        sampled = (POISSON,) if noise.sampling_rate < 1.0 else ()
        return _Asked(made[needed], needed, stated, (RANDOM, *sampled))
    promise: dp.Promise
    if q.epsilon is not None:
        promise = dp.ApproximateDp(q.epsilon, q.delta or 0.0)
    elif q.mu is not None:
        promise = dp.GaussianDp(q.mu)
    elif q.rdp is not None:
        promise = renyi_curve([(order, epsilon) for order, epsilon in q.rdp], q.delta)
    else:
        return None
    return _Asked(
        promise, given, ((f"as promised, for adjacency {given.value}", promise),), (RANDOM, *_assumed(q))
    )


def _assumed(q: DpQuestion) -> tuple[Caution, ...]:
    """What is taken for granted where no adjacency was named."""
    return (ASSUMED,) if q.inclusion == "fixed_number" and q.adjacency is None else ()


def _stated(asked: _Asked, delta: float | None) -> list[StatedAnswer]:
    found: list[StatedAnswer] = []
    for says, promise in asked.stated:
        pair = promise.pair(delta)
        if pair is not None:
            found.append({"epsilon": pair[0], "delta": pair[1], "says": says})
        elif delta is not None:
            found.append({"epsilon": None, "delta": delta, "says": says})
    return found


def _envelope(asked: _Asked, q: DpQuestion) -> EnvelopeAnswer:
    rates = sorted({*SHOWN_RATES, *q.false_positive_rates})
    envelope = dp.granted(asked.promise, asked.adjacency, q.inclusion).envelope
    return {"fpr": rates, "tpr": [min(1.0, float(height)) for height in envelope.tpr(rates)]}


def _curve(promise: dp.Promise) -> TradeAnswer | None:
    drawn = promise.curve() if isinstance(promise, dp.GaussianDp) else promise
    if not isinstance(drawn, dp.DpCurve):
        return None
    return {"epsilon": list(drawn.epsilons), "delta": list(drawn.deltas)}


def _kept(found: dp.Keeping) -> KeepingAnswer:
    return {
        "advantage": found.advantage,
        "baseline": baseline(found.prior),
        "epsilon": None if found.epsilon is None else finite(found.epsilon),
        "delta": found.delta,
        "mu": found.mu,
    }


def _said(q: DpQuestion, stated: list[StatedAnswer], table: tuple[Bound, ...]) -> list[str]:
    if not table:
        return []
    least = {each.quantity: each.value for each in table if each.tightest}
    known = [(each["epsilon"], each["delta"]) for each in stated if each["epsilon"] is not None]
    claim = "".join(
        f", epsilon {figures_up(epsilon)} at delta {exactly(delta)}," for epsilon, delta in known[:1]
    )
    return [
        f"The promise{claim} allows an advantage of at most {at_most(least['advantage'])} at prior {exactly(q.prior)}, "
        f"where the baseline is {baseline(q.prior):.3f}: MIP's eta is at most {at_most(least['mip_eta'])}, "
        f"MIS's security at least {at_least(max(0.0, 1.0 - least['mis_delta']))}, and a guess is right at most "
        f"{at_most(100.0 * least['success'], 1)}% of the time."
    ]


def _kept_said(kept: dp.Keeping | None, q: DpQuestion) -> list[str]:
    if kept is None:
        return []
    aim = f"an advantage of at most {exactly(kept.advantage)} at prior {exactly(kept.prior)}"
    guessing = f"the baseline is {baseline(kept.prior):.3f}"
    if kept.epsilon is None:
        return [f"No epsilon at delta {exactly(kept.delta)} keeps {aim}; {guessing}."]
    wide = "" if kept.mu is None else f", and by mu up to {figures_down(kept.mu)}"
    replaced = q.adjacency == "replace" or (q.adjacency is None and q.inclusion == "fixed_number")
    about = (
        ", promised about replacing one record"
        if replaced
        else ", promised about adding or removing one record"
    )
    upto = f"epsilon up to {figures_down(kept.epsilon)} at delta {exactly(kept.delta)}{wide}"
    return [f"A{aim[1:]} is kept by {upto}{about}; {guessing}."]


OPERATIONS: dict[str, Callable[[Call, Material], Reply]] = {"theory/dp": answer}
