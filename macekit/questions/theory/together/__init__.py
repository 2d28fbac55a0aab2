"""The question and the answer of ``/v1/theory/together``: what theory allows beside what was measured."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from macekit.questions.theory.dp import COINS, Adjacency, Inclusion
from macekit.schemas.records import SIDES_OR_COUNTS, Direction, PriorQuestion, Share, about
from macekit.schemas.statements import GuaranteeAnswer, ProvenanceAnswer, WarningAnswer


class TogetherQuestion(PriorQuestion):
    """Scores of members and nonmembers, and the epsilon and delta that were claimed."""

    model_config = ConfigDict(json_schema_extra={**SIDES_OR_COUNTS, "allOf": [COINS]})

    claimed_epsilon: float = Field(ge=0, le=700, description="claimed epsilon")
    claimed_delta: float = Field(0.0, ge=0, lt=1, description="claimed delta")
    adjacency: Adjacency = None
    inclusion: Inclusion = "fixed_number"
    direction: Direction = "either"
    operating_points: Annotated[list[Share], Field(max_length=64)] = Field(
        [0.001, 0.01, 0.1],
        description="false positive rates at which to check the true positive rate against the claim",
    )


class AgreementAnswer(TypedDict):
    """One quantity: what the claim allows, and what the records say."""

    quantity: str
    says: str
    allowed: Annotated[float | None, about("largest value the claim allows; null if any")]
    allowed_in_one_run: Annotated[
        float | None,
        about(
            "the value that one run may exceed only with the probability set aside for it, "
            "because delta can "
            "affect many records at once; at delta 0, and for epsilon, it equals allowed"
        ),
    ]
    estimate: float | None
    lower: float
    upper: Annotated[float | None, about("null if the records do not bound it")]
    agrees: Annotated[
        Literal["yes", "no", "open"],
        about(
            "yes: the upper end, at its resolution, is allowed; no: the lower end is above what is allowed "
            "in one run; open: neither"
        ),
    ]
    guarantee: GuaranteeAnswer


class TogetherAnswer(TypedDict):
    """The claim against the records, quantity by quantity."""

    sentence: str
    decision: Annotated[Literal["contradicted", "not contradicted"], about("contradicted: any row says no")]
    confidence: float
    claimed_epsilon: float
    claimed_delta: float
    baseline: Annotated[float, about("advantage of always guessing the likelier side")]
    rows: list[AgreementAnswer]
    warnings: list[WarningAnswer]
    provenance: ProvenanceAnswer
