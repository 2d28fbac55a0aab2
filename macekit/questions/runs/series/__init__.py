"""What ``series`` asks and answers."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from macekit.schemas.answers import StepAnswer
from macekit.schemas.questions import ReleasesQuestion
from macekit.schemas.records import (
    CountsGiven,
    Labels,
    LabelsOfSides,
    Side,
    absent,
    present,
)
from macekit.schemas.statements import (
    COVERS,
    ClustersAnswer,
    ProvenanceAnswer,
    UndecidedBecause,
    WarningAnswer,
)


class SeriesQuestion(ReleasesQuestion):
    """The advantage at every step of a series, such as the checkpoints of a training."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": present("object", "queries"),
            "then": absent("members", "nonmembers", "counts", "groups"),
            "else": {
                "if": present("object", "counts"),
                "then": {
                    "allOf": [
                        absent("members", "nonmembers", "groups"),
                        {"properties": {"counts": present("array", "by_group")}},
                    ]
                },
                "else": {
                    "allOf": [
                        present("array", "members", "nonmembers"),
                        {"required": ["groups"], "properties": {"groups": {"not": {"type": "null"}}}},
                    ]
                },
            },
        }
    )

    members: Side | None = Field(
        None, description="in place of queries: the score of each member record at each step"
    )
    nonmembers: Side | None = Field(None, description="the score of each nonmember record at each step")
    groups: Labels | LabelsOfSides | None = Field(
        None,
        description="the step of each of these scores, members first: numbers or names, by which they are ordered",
    )
    counts: CountsGiven | None = Field(
        None, description="in place of them, counts whose groups (by_group) are the steps"
    )


class SeriesStepAnswer(StepAnswer):
    """One step, such as a checkpoint."""

    name: str
    clusters: Annotated[
        ClustersAnswer | None, Field(description="what the clusters cost; null where none were named")
    ]
    records_needed: Annotated[
        int | None, Field(description="records of both sides that would settle an open decision")
    ]


class SeriesAnswer(TypedDict):
    """The advantage step by step."""

    sentence: str
    decision: Annotated[
        Literal["pass", "fail", "inconclusive"] | None,
        Field(
            description="pass: every step keeps the limit; fail: one is shown to exceed it; null without a limit"
        ),
    ]
    covers: Annotated[list[str], COVERS]
    undecided_because: UndecidedBecause
    last_passed: Annotated[
        str | None, Field(description="up to here, itself included, every step is shown to keep the limit")
    ]
    first_failed: Annotated[str | None, Field(description="the first step that is shown to exceed the limit")]
    max_advantage: float | None
    baseline: Annotated[float, Field(description="advantage of always guessing the likelier side")]
    steps: list[SeriesStepAnswer]
    warnings: list[WarningAnswer]
    provenance: list[ProvenanceAnswer]
