"""What every question about a sample has in common: its records, the prior and the confidence."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from app.schemas.columns import (
    SIDES_OR_COUNTS,
    Asked,
    Confidence,
    CountsGiven,
    Labels,
    LabelsOfSides,
    Share,
    Side,
)


class Sampled(Asked):
    """The records: scores of both sides, or counts."""

    model_config = ConfigDict(json_schema_extra=SIDES_OR_COUNTS)

    members: Side | None = Field(
        None, description="score of each member record: numbers, rows of numbers, or text"
    )
    nonmembers: Side | None = Field(None, description="score of each nonmember record")
    counts: CountsGiven | None = Field(None, description="counts, instead of members and nonmembers")
    units: Labels | LabelsOfSides | None = Field(
        None,
        description="whom each record belongs to, members first; one record of each is kept, at random, because "
        "rows of one person are not independent",
    )
    query: Literal["auto", "continuous", "discrete"] = Field("auto", description="how scores are to be read")
    seed: int = Field(0, ge=0, le=2**53, description="seed of everything random in the answer")


class Judged(Sampled):
    """What every question about a sample has in common."""

    prior: Share = Field(0.5, description="probability that a record is a member before its score is seen")
    confidence: Confidence = Field(0.95, description="probability that both ends of an interval hold")
