"""What ``metrics`` asks and answers."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from macekit.schemas import statements
from macekit.schemas.questions import CellsQuestion, MetricGiven, PaperEstimator
from macekit.schemas.records import about


class MetricsQuestion(CellsQuestion):
    """Several metrics of one sample, each at its optimum."""

    metrics: list[MetricGiven] | None = Field(
        None, min_length=1, max_length=64, description="the metrics; without it, every preset"
    )
    min_positive_share: Annotated[float, Field(ge=0, lt=1)] | None = Field(
        None, description="least share of all records that an attacker must accuse of being members"
    )
    estimator: PaperEstimator | None = Field(
        None,
        description="how the paper's Algorithms 2 and 3 learn the posterior: by the cells of the certified optimum if "
        "the kind is left out",
    )


class MetricsAnswer(TypedDict):
    """Several metrics of one sample."""

    metrics: list[statements.MetricAnswer]
    learned_score: Annotated[
        statements.LearnedScoreAnswer | None, about("vectors: the score that the metrics speak of; null otherwise")
    ]
    clusters: Annotated[
        statements.ClustersAnswer | None,
        about("what the clusters cost the advantage and accuracy; null where none were named"),
    ]
    provenance: statements.ProvenanceAnswer
