"""One number about membership in the units of the others: advantage, eta, epsilon, mu, TPR at an FPR.

A number is read twice. As an *upper limit* (somebody promised it, or no attack exceeds it) it limits others from above,
and that is a guarantee. As a *lower end* (an attack was measured) it says what others must be at least: the smallest
promise that agrees with it, which promises nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import Literal

from estimators.errors import OptionError, OutOfRange, require_number, require_open_unit
from estimators.python.dataclass import dataclass
from estimators.statement import Caution, at_most, baseline, exactly, figures_down, figures_up
from estimators.theory.bounds import SLACK, advantage_of
from estimators.theory.dp.ceilings import gdp_from_epsilon, tpr_ceiling, tpr_floor
from estimators.theory.dp.promise import LARGEST, Adjacency, ApproximateDp, GaussianDp, Inclusion, Promise, grant_of
from estimators.theory.dp.statement import RANDOM, REPLACEMENT
from estimators.theory.shifts import last

Quantity = Literal["advantage", "eta", "epsilon", "mu"]

AVERAGE = Caution(
    "average_over_records",
    "an upper limit on an advantage over all records does not limit the attack on one of them: at_most is about the "
    "same attacks and records as the number",
)
SMALLEST = Caution(
    "smallest_promise",
    "at_least of epsilon and mu is the smallest promise that agrees with the number as a lower end. It does not show "
    "that any promise was kept",
)
ONE_RUN = Caution(
    "one_run",
    "a promise is kept on average over runs of the training: one run may exceed what a mu, or an epsilon with a delta, "
    "allows. For scores of one model ask mace theory together",
)
NO_EPSILON = Caution("no_epsilon", "mu has no epsilon at delta 0; give delta to convert it")
NO_MU = Caution("no_mu", "an epsilon with a delta above 0 limits no mu")

UNITS = "the same in another unit"
AS_STATED = "the number itself"
ENVELOPE = "ROC envelope of the promise"
GAUSSIAN = "Dong, Roth and Su 2022"

FIGURES = 15  # decimals of an advantage that was an eta: beyond, they are rounding

MOST_EPSILON = 1e6
MOST_MU = 1000.0  # beyond it nothing is left to be promised


@dataclass(frozen=True, slots=True)
class Converted:
    """One quantity beside the number it follows from; None where nothing follows.

    Attributes:
        quantity: Its stable name.
        says: What it is, in plain words.
        at_least: What it must be at least, if the number is a lower end.
        at_most: What it is at most, if the number is an upper limit.
        source: Where the formulas are from.
    """

    quantity: str
    says: str
    at_least: float | None
    at_most: float | None
    source: str


@dataclass(frozen=True, slots=True)
class ConversionStatement:
    """A number in the units of the others; ``dp.convert`` makes it.

    Attributes:
        sentence: The result in plain words.
        cautions: What to know before using the numbers.
        quantity: What the number is.
        value: The number.
        baseline: The advantage of an attacker who always guesses the likelier side.
        rows: Every quantity, that of the number among them.
    """

    sentence: str
    cautions: tuple[Caution, ...]
    quantity: Quantity
    value: float
    baseline: float
    rows: tuple[Converted, ...]


@dataclass(frozen=True, slots=True)
class _World:
    """What a number is about, whatever it is."""

    delta: float
    prior: float
    rates: tuple[float, ...]
    adjacency: Adjacency | str | None
    inclusion: Inclusion | str


def convert(
    *,
    advantage: float | None = None,
    eta: float | None = None,
    epsilon: float | None = None,
    mu: float | None = None,
    delta: float = 0.0,
    prior: float = 0.5,
    false_positive_rates: Sequence[float] = (),
    adjacency: Adjacency | str | None = None,
    inclusion: Inclusion | str = Inclusion.FIXED_NUMBER,
) -> ConversionStatement:
    """One number in the units of the others, as a lower end and as an upper limit.

    Args:
        advantage: An advantage, from the baseline at the prior up to but not including 1.
        eta: An eta of membership inference privacy: accuracy beyond guessing, at least 0.
        epsilon: An epsilon that goes with ``delta``, at least 0.
        mu: A mu of Gaussian differential privacy, at least 0.
        delta: Delta that goes with every epsilon here, from 0 to 1.
        prior: Probability that a record is a member, strictly between 0 and 1.
        false_positive_rates: Rates, each strictly between 0 and 1, at which to state the true positive rate.
        adjacency: Which training sets epsilon and mu compare: ``replace`` or ``add_remove``. None: the one that
            ``inclusion`` needs.
        inclusion: How records became members: ``fixed_number`` or ``independent``.

    Raises:
        MaceError: not exactly one number, or one out of its range.

    Example:
        >>> from estimators.theory import dp
        >>> print(dp.convert(advantage=0.2, adjacency="replace").sentence)
        If an advantage of 0.2 was measured (a lower end), epsilon at delta 0 must be at least 0.4054 and mu at least
        0.5066: no smaller promise agrees with it, and neither is a guarantee. If no attack exceeds it (an upper
        limit), eta is at most 0.100; epsilon and mu are not limited.
    """
    numbers: dict[Quantity, float | None] = {"advantage": advantage, "eta": eta, "epsilon": epsilon, "mu": mu}
    names: list[Quantity] = [name for name, number in numbers.items() if number is not None]
    if len(names) != 1:
        field = names[1] if names else "advantage"
        raise OptionError.about(field, f"give one of {', '.join(numbers)}, and only one")
    name, p = names[0], require_open_unit("prior", prior)
    value = require_number(name, numbers[name])
    rates = tuple(require_open_unit("false_positive_rates", rate) for rate in false_positive_rates)
    world = _World(ApproximateDp(0.0, delta).delta, p, rates, adjacency, inclusion)
    if name in ("advantage", "eta"):
        rows = tuple(_from_advantage(*_both(name, value, p), world))
        sentence = _of_measurement(name, value, rows, world)
    else:
        rows = tuple(_from_promise(_promise(name, value, world), world))
        sentence = _of_promise(name, value, rows, world)
    return ConversionStatement(sentence, tuple(_cautions(name, value, world)), name, value, baseline(p), rows)


def _both(name: Quantity, value: float, prior: float) -> tuple[float, float]:
    """The number as an advantage and as an eta, between what guessing has and what nobody exceeds."""
    guessing = baseline(prior)
    least, most = (guessing, 1.0) if name == "advantage" else (0.0, min(prior, 1.0 - prior))
    if not least - SLACK <= value < most:
        raise OutOfRange.about(
            name,
            f"got {value:g}, need a number from {least:g} up to but not including {most:g}: at prior "
            f"{prior:g} guessing alone has an advantage of {guessing:g}",
        )
    if name == "advantage":
        advantage = max(value, guessing)
        return advantage, round((advantage - guessing) / 2.0, FIGURES)
    return round(advantage_of(value, prior), FIGURES), value


def _promise(name: Quantity, value: float, world: _World) -> ApproximateDp | GaussianDp:
    most = MOST_EPSILON if name == "epsilon" else MOST_MU
    if not 0.0 <= value <= most:
        raise OutOfRange.about(name, f"got {value:g}, need a number from 0 to {most:g}")
    return ApproximateDp(value, world.delta) if name == "epsilon" else GaussianDp(value)


def _from_advantage(advantage: float, eta: float, world: _World) -> Iterator[Converted]:
    """An advantage limits what is linear in it; of a promise it says what that must be at least."""
    yield _advantage(world, advantage, advantage, UNITS)
    yield _eta(eta, eta, UNITS)
    epsilon = _smallest(lambda value: ApproximateDp(value, world.delta), advantage, LARGEST, world)
    yield _epsilon(world, epsilon, None, "MIP, Theorem 4, turned round")
    yield _mu(_smallest(GaussianDp, advantage, MOST_MU, world), None, f"{GAUSSIAN}, turned round")
    for rate in world.rates:
        low, high = tpr_floor(advantage, rate, world.prior), tpr_ceiling(advantage, rate, world.prior)
        yield _tpr(rate, low, high, "at least: this project; at most: MIP, Theorem 8, mended")


def _smallest(promise: Callable[[float], Promise], advantage: float, most: float, world: _World) -> float:
    """Where a promise begins to allow the advantage, to the float below; 0 where nothing need be promised."""

    def forbids(value: float) -> bool:
        envelope = grant_of(promise(value), world.adjacency, world.inclusion).envelope
        return advantage_of(envelope.gain(world.prior, 1.0 - world.prior), world.prior) < advantage

    return last(forbids, 0.0, most) if forbids(0.0) else 0.0


def _from_promise(promise: ApproximateDp | GaussianDp, world: _World) -> Iterator[Converted]:
    """A promise limits everything; that it cannot be smaller says nothing of what attacks attain."""
    envelope = grant_of(promise, world.adjacency, world.inclusion).envelope
    gain = envelope.gain(world.prior, 1.0 - world.prior)
    yield _advantage(world, None, min(1.0, advantage_of(gain, world.prior)), ENVELOPE)
    yield _eta(None, gain, ENVELOPE)
    if isinstance(promise, ApproximateDp):
        yield _epsilon(world, promise.epsilon, promise.epsilon, AS_STATED)
        mu = inf if world.delta else gdp_from_epsilon(promise.epsilon)
        yield _mu(None, mu if mu < inf else None, "this project")
    else:
        pair = promise.pair(world.delta)
        yield _epsilon(world, None, None if pair is None else pair[0], "Balle and Wang 2018")
        yield _mu(promise.mu, promise.mu, AS_STATED)
    for rate in world.rates:
        yield _tpr(rate, None, min(1.0, float(envelope.tpr(rate))), ENVELOPE)


def _advantage(world: _World, low: float | None, high: float | None, source: str) -> Converted:
    return Converted("advantage", f"advantage at prior {exactly(world.prior)}", low, high, source)


def _eta(low: float | None, high: float | None, source: str) -> Converted:
    return Converted("eta", "eta: accuracy beyond guessing", low, high, source)


def _epsilon(world: _World, low: float | None, high: float | None, source: str) -> Converted:
    return Converted("epsilon", f"epsilon at delta {exactly(world.delta)}", low, high, source)


def _mu(low: float | None, high: float | None, source: str) -> Converted:
    return Converted("mu", "mu of Gaussian DP", low, high, source)


def _tpr(rate: float, low: float | None, high: float | None, source: str) -> Converted:
    says = f"best TPR at an FPR of {exactly(rate)}"
    return Converted(f"tpr_at_fpr_{rate:g}", says, low, high, source)


def _of_measurement(name: Quantity, value: float, rows: Sequence[Converted], world: _World) -> str:
    """First what it shows, then what it would limit."""
    by = {row.quantity: row for row in rows}
    epsilon, mu = by["epsilon"].at_least or 0.0, by["mu"].at_least or 0.0
    other = "eta" if name == "advantage" else "advantage"
    label = "eta" if other == "eta" else "the advantage"
    return (
        f"If an {name} of {exactly(value)} was measured (a lower end), epsilon at delta {exactly(world.delta)} must be "
        f"at least {figures_down(epsilon)} and mu at least {figures_down(mu)}: no smaller promise agrees with it, and "
        f"neither is a guarantee. If no attack exceeds it (an upper limit), {label} is at most "
        f"{at_most(by[other].at_most or 0.0)}{_rates(rows)}; epsilon and mu are not limited."
    )


def _of_promise(name: Quantity, value: float, rows: Sequence[Converted], world: _World) -> str:
    """What it guarantees, and that from below nothing follows."""
    by = {row.quantity: row for row in rows}
    other = by["mu" if name == "epsilon" else "epsilon"]
    further = (
        f", {other.quantity if name == 'epsilon' else other.says} at most {figures_up(other.at_most)}"
        if (other.at_most is not None)
        else ""
    )
    what = f"epsilon {exactly(value)} at delta {exactly(world.delta)}" if name == "epsilon" else f"mu {exactly(value)}"
    return (
        f"If {what} is promised (an upper limit), the advantage at prior {exactly(world.prior)} is at most "
        f"{at_most(by['advantage'].at_most or 0.0)}, where the baseline is {baseline(world.prior):.3f}, eta at most "
        f"{at_most(by['eta'].at_most or 0.0)}{further}{_rates(rows)}: a guarantee. If {name} is only known to be at "
        "least so large (a lower end), nothing follows about the others."
    )


def _rates(rows: Sequence[Converted]) -> str:
    """The first operating point, in words."""
    first = next((row for row in rows if row.quantity.startswith("tpr_at_fpr_")), None)
    if first is None or first.at_most is None:
        return ""
    return f", the {first.says} at most {figures_up(first.at_most)}"


def _cautions(name: Quantity, value: float, world: _World) -> Iterator[Caution]:
    if name in ("advantage", "eta"):
        yield SMALLEST
    if name == "advantage":
        yield AVERAGE
        yield ONE_RUN
    if name == "mu" and value > 0.0 and not world.delta:
        yield NO_EPSILON
    if name == "epsilon" and world.delta:
        yield NO_MU
    yield RANDOM
    if world.adjacency is None and Inclusion(world.inclusion) is not Inclusion.INDEPENDENT:
        yield REPLACEMENT
