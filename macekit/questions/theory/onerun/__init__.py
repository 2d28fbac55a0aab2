"""The question and the answer of ``/v1/theory/one-run``: what one training run shows of a promise."""

from typing import Annotated, Literal, NotRequired

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict
from typing_extensions import TypedDict

from macekit.questions.theory.dp import PromiseGiven, one_promise
from macekit.schemas import records
from macekit.schemas.records import about
from macekit.schemas.statements import GuaranteeAnswer, ProvenanceAnswer, WarningAnswer

COIN_OF_ITS_OWN: JsonDict = {
    "if": {"required": ["draw"], "properties": {"draw": {"const": "coin"}}},
    "then": {"properties": {"adjacency": {"enum": ["add_remove", None]}}},
}
SEVERAL_MODELS: JsonDict = {
    "if": {"required": ["model"], "properties": {"model": {"not": {"type": "null"}}}},
    "then": {
        "allOf": [
            records.absent("counts", "units"),
            {"properties": {"draw": {"enum": ["coin", "split"]}, "gaussian": {"const": False}}},
        ]
    },
}
Draw = Literal["coin", "split", "chosen"]


class OnerunQuestion(PromiseGiven, records.SampleQuestion):
    """Scores of members and nonmembers, how they were drawn, and what was promised, if anything."""

    model_config = ConfigDict(
        json_schema_extra={**records.SIDES_OR_COUNTS, "allOf": [*one_promise(), COIN_OF_ITS_OWN, SEVERAL_MODELS]}
    )

    draw: Draw = Field(
        description="how members were drawn: coin: each record by a fair coin of its own, and all of them are here; "
        "split: the sides are a random split of one list; chosen: otherwise, and then nothing is certified"
    )
    model: records.LabelsOfRows | None = Field(
        None,
        description="of several independent runs which one's model scored each record, members first; they are taken "
        "in the order of their names, and what is stated holds after each",
    )
    gaussian: bool = Field(False, description="whether the mechanism is known to be Gaussian: mu is then bounded, too")
    direction: records.Direction = "either"
    confidence: records.Confidence = Field(
        0.95, description="all that is stated together has the error of one end of an interval of this confidence"
    )


class EpsilonInOneRunAnswer(TypedDict):
    """What the mechanism's epsilon is at least, whatever the mechanism."""

    lower_bound: float
    delta: float
    right: Annotated[int, about("guesses that were right, at the stop that decided it")]
    guesses: int


class PromiseInOneRunAnswer(TypedDict):
    """What was promised, held against the guesses."""

    p_value: Annotated[float, about("smallest level at which it is contradicted")]
    epsilon: Annotated[float | None, about("null where it has no epsilon at delta")]
    delta: float | None


class GaussianInOneRunAnswer(TypedDict):
    """What mu is at least if the mechanism is Gaussian."""

    mu: float
    epsilon: Annotated[float | None, about("of that mu at delta; null if infinite")]


class StopsAnswer(TypedDict):
    """Where a bet on the guesses can be at its best."""

    guesses: Annotated[list[int], about("guesses made until then")]
    right: Annotated[list[float], about("share of them that was right")]


class RunAnswer(TypedDict):
    """One of several runs, and what epsilon is at least after it."""

    name: str
    coins: Annotated[int, about("records that had a coin of their own in it, or pairs of records")]
    lower_bound: float


class OnerunAnswer(TypedDict):
    """What one run shows of a promise, and of epsilon, or several; all of it holds together."""

    sentence: str
    decision: Annotated[
        Literal["contradicted", "not contradicted", "inconclusive"] | None,
        about("inconclusive where members were not drawn; null without a promise"),
    ]
    draw: Draw
    coins: Annotated[int, about("records that had a coin of their own, or pairs of records")]
    confidence: float
    epsilon: EpsilonInOneRunAnswer
    promise: PromiseInOneRunAnswer | None
    gaussian: Annotated[GaussianInOneRunAnswer | None, about("null unless the mechanism was said to be Gaussian")]
    stops: StopsAnswer
    runs: NotRequired[Annotated[list[RunAnswer], about("with model: each run in order; all bounds hold together")]]
    guarantee: GuaranteeAnswer
    warnings: list[WarningAnswer]
    provenance: ProvenanceAnswer
