"""What ``compare`` asks and answers."""

from typing import Annotated

from pydantic import ConfigDict, Field

from macekit.schemas import records
from macekit.schemas.answers import RiskiestLimitAnswer, SideBySideAnswer
from macekit.schemas.questions import ACCEPT_EXPOSURE, Estimator, Name, Queried
from macekit.schemas.records import about


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
    warnings: list[records.WarningGiven] | None = records.WARNINGS
    query: records.QueryKind = "auto"
    estimator: Estimator = Estimator()
    prior: records.Prior = 0.5
    confidence: records.ConfidenceOfAll = 0.95
    seed: records.Seed = 0


class CompareAnswer(SideBySideAnswer):
    """Queries by their advantage, and the differences of pairs of them."""

    limits: Annotated[
        list[RiskiestLimitAnswer] | None,
        about("the limit on the riskiest query's advantage; null if nothing was limited"),
    ]
