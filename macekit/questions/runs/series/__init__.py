"""What ``series`` asks and answers."""

from typing import Annotated

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from macekit.schemas import records, statements
from macekit.schemas.answers import StepAnswer
from macekit.schemas.questions import ReleasesQuestion
from macekit.schemas.records import about


class SeriesQuestion(ReleasesQuestion):
    """The advantage at every step of a series, such as the checkpoints of a training."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": records.present("object", "queries"),
            "then": records.absent("members", "nonmembers", "counts", "groups"),
            "else": {
                "if": records.present("object", "counts"),
                "then": {
                    "allOf": [
                        records.absent("members", "nonmembers", "groups"),
                        {"properties": {"counts": records.present("array", "by_group")}},
                    ]
                },
                "else": {"allOf": [records.present("array", "members", "nonmembers"), records.with_value("groups")]},
            },
        }
    )

    members: records.Side | None = Field(
        None, description="in place of queries: the score of each member record at each step"
    )
    nonmembers: records.Side | None = Field(None, description="the score of each nonmember record at each step")
    groups: records.Labels | records.LabelsOfSides | None = Field(
        None, description="the step of each of these scores, members first: numbers or names, by which they are ordered"
    )
    counts: records.CountsGiven | None = Field(
        None, description="in place of them, counts whose groups (by_group) are the steps"
    )


class SeriesStepAnswer(StepAnswer):
    """One step, such as a checkpoint."""

    name: str
    clusters: statements.OfClusters
    records_needed: Annotated[int | None, about("records of both sides that would settle an open decision")]


class SeriesAnswer(TypedDict):
    """The advantage step by step."""

    sentence: str
    decision: Annotated[
        statements.DecisionWord | None,
        about("pass: every step keeps the limit; fail: one is shown to exceed it; null without a limit"),
    ]
    covers: Annotated[list[str], statements.COVERS]
    undecided_because: statements.UndecidedBecause
    last_passed: Annotated[str | None, about("up to here, itself included, every step is shown to keep the limit")]
    first_failed: Annotated[str | None, about("the first step that is shown to exceed the limit")]
    max_advantage: float | None
    baseline: Annotated[float, about("advantage of always guessing the likelier side")]
    steps: list[SeriesStepAnswer]
    warnings: list[statements.WarningAnswer]
    provenance: list[statements.ProvenanceAnswer]
