"""What ``audit`` asks and answers."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from macekit.schemas import statements
from macekit.schemas.records import Direction, PriorQuestion, about


class AuditQuestion(PriorQuestion):
    """A promised epsilon and delta, checked against the records."""

    claimed_epsilon: float | None = Field(None, ge=0, le=700, description="epsilon that was promised")
    claimed_delta: float = Field(0.0, ge=0, lt=1, description="delta that was promised with it")
    direction: Direction = "either"


class AuditAnswer(TypedDict):
    """What was promised, what the records show, and whether they agree."""

    sentence: str
    epsilon: statements.EpsilonAnswer
    claim: statements.ClaimAnswer | None
    advantage: statements.CertifiedAnswer
    baseline: float
    learned_score: Annotated[
        statements.LearnedScoreAnswer | None, about("vectors: the score that all of this speaks of; null otherwise")
    ]
    warnings: list[statements.WarningAnswer]
    provenance: statements.ProvenanceAnswer
