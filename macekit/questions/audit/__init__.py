"""What ``audit`` asks and answers."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from macekit.schemas.records import (
    PriorQuestion,
)
from macekit.schemas.statements import (
    CertifiedAnswer,
    ClaimAnswer,
    EpsilonAnswer,
    LearnedScoreAnswer,
    ProvenanceAnswer,
    WarningAnswer,
)


class AuditQuestion(PriorQuestion):
    """A promised epsilon and delta, checked against the records."""

    claimed_epsilon: float | None = Field(None, ge=0, le=700, description="epsilon that was promised")
    claimed_delta: float = Field(0.0, ge=0, lt=1, description="delta that was promised with it")
    direction: Literal["either", "high", "low"] = Field(
        "either", description="which scores suggest membership: high ones, low ones, or either"
    )


class AuditAnswer(TypedDict):
    """What was promised, what the records show, and whether they agree."""

    sentence: str
    epsilon: EpsilonAnswer
    claim: ClaimAnswer | None
    advantage: CertifiedAnswer
    baseline: float
    learned_score: Annotated[
        LearnedScoreAnswer | None,
        Field(description="vectors: the score that all of this speaks of; null otherwise"),
    ]
    warnings: list[WarningAnswer]
    provenance: ProvenanceAnswer
