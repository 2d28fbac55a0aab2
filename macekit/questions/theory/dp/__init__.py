"""The question and the answer of ``/v1/theory/dp``: what a promise of differential privacy allows."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict
from typing_extensions import TypedDict

from macekit.schemas.records import Number, Question, Share, about, absent, present
from macekit.schemas.statements import BoundAnswer, OriginAnswer, WarningAnswer

Adjacency = Annotated[
    Literal["replace", "add_remove"] | None,
    about(
        "which training sets the promise compares: replace: one record is replaced by another; "
        "add_remove: with and without one record, as in most accountants; without it, the one that inclusion needs"
    ),
]
Inclusion = Annotated[
    Literal["fixed_number", "independent"],
    about(
        "how records became members: fixed_number: a fixed number is drawn at random, as in the papers; "
        "independent: each one independently of the others, as with canaries"
    ),
]
RenyiPoint = Annotated[list[Number], Field(min_length=2, max_length=2)]
DpPair = Annotated[list[Annotated[float, Field(ge=0)]], Field(min_length=2, max_length=2)]

COINS: JsonDict = {
    "if": {"required": ["inclusion"], "properties": {"inclusion": {"const": "independent"}}},
    "then": {"properties": {"adjacency": {"enum": ["add_remove", None]}}},
}
"""Coins of their own go with adding or removing a record."""

PROMISES: dict[str, tuple[str, ...]] = {
    "epsilon": ("number",),
    "mu": ("number",),
    "rdp": ("array", "delta"),
    "noise_multiplier": ("number", "steps", "delta"),
    "curve": ("array",),
}
"""What a promise may be made in, the type it comes in, and what has to come with it."""


def one_promise() -> list[JsonDict]:
    """At most one kind of promise, each with what belongs to it."""
    rules: list[JsonDict] = []
    for name, (kind, *companions) in PROMISES.items():
        others = [other for other in PROMISES if other != name]
        then: JsonDict = {**absent(*others)}
        if companions:
            then = {"allOf": [then, present("number", *companions)]}
        rules.append({"if": present(kind, name), "then": then})
    noisy: JsonDict = {"then": absent("adjacency"), "else": absent("steps", "sampling_rate")}
    rules.append({"if": present("number", "noise_multiplier"), **noisy})
    return rules


NO_PROMISE: JsonDict = {"allOf": [{"not": present(kind, name)} for name, (kind, *_) in PROMISES.items()]}
OR_AN_ADVANTAGE: JsonDict = {"if": NO_PROMISE, "then": present("number", "advantage")}


class PromiseGiven(Question):
    """A promise, in one of the forms it may be made in."""

    epsilon: float | None = Field(None, ge=0, le=1e6, description="epsilon of (epsilon, delta)")
    delta: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None, description="delta that goes with epsilon, 0 if none; with any other, the delta to state an epsilon at"
    )
    mu: float | None = Field(None, ge=0, le=1000, description="mu of Gaussian differential privacy")
    rdp: Annotated[list[RenyiPoint], Field(min_length=1, max_length=1000)] | None = Field(
        None, description="[order, epsilon] of Renyi differential privacy; needs delta"
    )
    noise_multiplier: Annotated[float, Field(ge=0.01, le=1e6)] | None = Field(
        None, description="standard deviation of the Gaussian noise of a step, over the norm one record is clipped to"
    )
    steps: int | None = Field(None, ge=1, le=10_000_000, description="noisy steps; with noise_multiplier")
    sampling_rate: Annotated[float, Field(gt=0, le=1)] | None = Field(
        None, description="probability that a record is in a step, independently of the others; 1 if none"
    )
    curve: Annotated[list[DpPair], Field(min_length=1, max_length=1000)] | None = Field(
        None, description="[epsilon, delta] of an accountant, all of which hold"
    )
    adjacency: Adjacency = None


class DpQuestion(PromiseGiven):
    """One promise: epsilon and delta, or mu, or a curve, or how the noise was added."""

    model_config = ConfigDict(json_schema_extra={"allOf": [*one_promise(), COINS, OR_AN_ADVANTAGE]})

    inclusion: Inclusion = "fixed_number"
    prior: Share = Field(0.5, description="probability that a record is a member before anything is seen")
    member_weight: Annotated[float, Field(ge=1e-9, le=1e6)] = Field(
        1.0, description="lambda of membership inference security: what a true positive weighs"
    )
    false_positive_rates: Annotated[list[Share], Field(max_length=64)] = Field(
        [0.001, 0.01, 0.1], description="false positive rates at which to bound the true positive rate"
    )
    advantage: Annotated[float, Field(ge=0, lt=1)] | None = Field(
        None, description="advantage to keep: the answer has the largest epsilon and mu that keep it"
    )


class EnvelopeAnswer(TypedDict):
    """The most a true positive rate can be, at false positive rates."""

    fpr: list[float]
    tpr: list[float]


class TradeAnswer(TypedDict):
    """The deltas that go with epsilons."""

    epsilon: list[float]
    delta: list[float]


class StatedAnswer(TypedDict):
    """A promise as epsilon and delta."""

    epsilon: Annotated[float | None, about("null if infinite")]
    delta: float
    says: str


class KeepingAnswer(TypedDict):
    """The largest promise that keeps an advantage; null where none does."""

    advantage: float
    baseline: Annotated[float, about("advantage of always guessing the likelier side")]
    epsilon: Annotated[float | None, about("largest epsilon that keeps it, at delta")]
    delta: float
    mu: Annotated[float | None, about("largest mu that keeps it")]


class DpAnswer(TypedDict):
    """Everything the promise bounds, side by side."""

    sentence: str
    baseline: Annotated[float, about("advantage of always guessing the likelier side")]
    stated: list[StatedAnswer]
    bounds: list[BoundAnswer]
    roc: EnvelopeAnswer | None
    curve: Annotated[TradeAnswer | None, about("the deltas a promise implies, where it has a curve")]
    keeping: KeepingAnswer | None
    warnings: list[WarningAnswer]
    provenance: OriginAnswer
