"""The question and the answer of ``/v1/theory/convert``: one number about membership in the units of the others."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict
from typing_extensions import TypedDict

from macekit.questions.theory.dp import COINS, Adjacency, Inclusion
from macekit.schemas.records import Question, Share, about, absent, present
from macekit.schemas.statements import OriginAnswer, WarningAnswer

NUMBERS = ("advantage", "eta", "epsilon", "mu")  # what can be converted


def _one_number() -> JsonDict:
    """Exactly one of them."""
    choices: list[JsonDict] = []
    for name in NUMBERS:
        others = [other for other in NUMBERS if other != name]
        choices.append({"allOf": [present("number", name), absent(*others)]})
    return {"allOf": [{"oneOf": list(choices)}, COINS]}


class ConvertQuestion(Question):
    """One number: an advantage, an eta, an epsilon (with delta) or a mu."""

    model_config = ConfigDict(json_schema_extra=_one_number())

    advantage: float | None = Field(None, ge=0, lt=1, description="an advantage, at least the baseline |2 prior - 1|")
    eta: Annotated[float, Field(ge=0, lt=0.5)] | None = Field(
        None,
        description="eta of membership inference privacy: accuracy beyond guessing, below the smaller of prior and "
        "1 - prior",
    )
    epsilon: float | None = Field(None, ge=0, le=1e6, description="epsilon, at delta")
    mu: float | None = Field(None, ge=0, le=1000, description="mu of Gaussian differential privacy")
    delta: float = Field(0.0, ge=0, le=1, description="delta that goes with epsilon, converted or found")
    prior: Share = Field(0.5, description="probability that a record is a member before anything is seen")
    false_positive_rates: Annotated[list[Share], Field(max_length=64)] = Field(
        [0.001, 0.01, 0.1], description="false positive rates at which to state the true positive rate"
    )
    adjacency: Adjacency = None
    inclusion: Inclusion = "fixed_number"


class ConvertedAnswer(TypedDict):
    """One quantity beside the number."""

    quantity: Annotated[str, about("stable")]
    says: str
    at_least: Annotated[
        float | None,
        about(
            "what it must be at least if the number is a lower end, as one that was measured; of epsilon "
            "and mu no guarantee, but the smallest promise that agrees; null: nothing follows"
        ),
    ]
    at_most: Annotated[
        float | None,
        about(
            "what it is guaranteed not to exceed if the number is an upper limit, as a promise is; null: "
            "nothing follows"
        ),
    ]
    source: str


class ConvertAnswer(TypedDict):
    """The number in every unit, read both ways."""

    sentence: str
    quantity: Annotated[Literal["advantage", "eta", "epsilon", "mu"], about("what the number is")]
    value: Annotated[float, about("the number")]
    baseline: Annotated[float, about("advantage of always guessing the likelier side")]
    rows: list[ConvertedAnswer]
    warnings: list[WarningAnswer]
    provenance: OriginAnswer
