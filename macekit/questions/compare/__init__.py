"""What ``compare`` asks and answers."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from macekit.schemas import records
from macekit.schemas.answers import RiskiestLimitAnswer, SideBySideAnswer
from macekit.schemas.questions import ACCEPT_EXPOSURE, Estimator, Name, Queried


class CompareQuestion(records.Question):
    """Several queries of one model, or several models, side by side."""

    model_config = ConfigDict(json_schema_extra={"required": ["queries"]})

    queries: dict[Name, Queried] | None = Field(
        None, min_length=2, max_length=1000, description="scores or counts of each query, by name"
    )
    paired: bool = Field(
        True,
        description="whether all queries scored the same records, row by row (true), or independent samples (false)",
    )
    against: Name | None = Field(
        None, description="name of the query to compare all others with; without it, all pairs"
    )
    max_advantage: Annotated[float, Field(ge=-1, le=1)] | None = Field(
        None,
        description="largest acceptable advantage, of the riskiest query; gives a decision. Every query has to be one "
        "number a record, or counts",
    )
    max_group_advantage: Annotated[float, Field(ge=-1, le=1)] | None = Field(
        None,
        description="largest acceptable advantage of any query within any group, on the group's own records; requires "
        "groups, and the records of each query",
    )
    groups: records.Labels | records.LabelsOfSides | None = Field(
        None, description="a label for each record, members first; those of every query"
    )
    accept_exposure: bool = ACCEPT_EXPOSURE
    cluster: records.ClusterLabels | None = records.CLUSTER
    query: Literal["auto", "continuous", "discrete"] = Field(
        "auto", description="whether scores are numbers on a line or categories"
    )
    estimator: Estimator = Estimator()
    prior: records.Share = Field(
        0.5, description="probability that a record is a member before its score is seen"
    )
    confidence: records.Confidence = Field(
        0.95, description="probability that all intervals of the answer hold together"
    )
    seed: int = Field(0, ge=0, le=2**53, description="seed of the random numbers behind the answer")


class CompareAnswer(SideBySideAnswer):
    """Queries by their advantage, and the differences of pairs of them."""

    limits: Annotated[
        list[RiskiestLimitAnswer] | None,
        Field(description="the limit on the riskiest query's advantage; null if nothing was limited"),
    ]
