"""What ``plan`` asks and answers."""

from typing import Annotated

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from macekit.schemas.questions import FORMER_LIMIT
from macekit.schemas.records import Confidence, Prior, Question, Share, about, absent, any_number, present
from macekit.schemas.statements import WarningAnswer


class PlanQuestion(Question):
    """How many records are needed for a decision about a limit, or for an interval of a given width."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": present("number", "width"),
            "then": absent("max_advantage", "threshold", "spread"),
            "else": {  # as a plain anyOf, makers of clients would take it for several questions
                "if": present("number", "threshold"),
                "then": absent("max_advantage"),
                "else": present("number", "max_advantage"),
            },
            "allOf": [
                {
                    "if": present("number", "spread"),
                    "then": {
                        **present("integer", "records_per_model"),
                        "allOf": [absent("design_effect", "cluster_size", "correlation")],
                    },
                    "else": absent("records_per_model"),
                },
                {
                    "if": present("number", "correlation"),
                    "then": {**present("integer", "cluster_size"), "allOf": [absent("design_effect")]},
                },
                {"if": present("integer", "cluster_size"), "then": any_number("design_effect", "correlation")},
            ],
        }
    )

    expected: float = Field(ge=0, lt=1, description="expected advantage")
    max_advantage: float | None = Field(None, ge=-1, le=1, description="largest acceptable advantage, to decide about")
    threshold: float | None = FORMER_LIMIT
    width: Share | None = Field(None, description="wanted width of the interval")
    prior: Prior = 0.5
    member_share: float = Field(0.5, ge=0.001, le=0.999, description="share of members among the records")
    confidence: Confidence = Field(0.95, description="confidence of the interval")
    design_effect: Annotated[float, Field(ge=1, le=1e6)] | None = Field(
        None, description="how many times as many records it takes because they come in clusters: an earlier answer's"
    )
    cluster_size: int | None = Field(
        None, ge=1, le=1_000_000, description="records of one cluster; there will be 40 clusters at least"
    )
    correlation: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None, description="correlation of two scores of one cluster, in place of design_effect; requires cluster_size"
    )
    spread: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None,
        description="standard deviation of the advantage between trainings: the plan is then of models to train for a "
        "decision about their procedure; requires max_advantage and records_per_model",
    )
    records_per_model: Annotated[int, Field(ge=16, le=100_000_000)] | None = Field(
        None, description="records of each model, of both sides together; requires spread"
    )


class PlanAnswer(TypedDict):
    """Records that are expected to be enough; null if no reasonable number is."""

    records: int | None
    members: int | None
    nonmembers: int | None
    models: Annotated[int | None, about("models to train, where the plan is about a training procedure")]
    sentence: str
    warnings: list[WarningAnswer]
