"""What ``frontier`` asks and answers."""

from typing import Annotated

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from macekit.questions.runs.series import SeriesStepAnswer
from macekit.schemas import records, statements
from macekit.schemas.questions import ReleasesQuestion
from macekit.schemas.records import about


class FrontierQuestion(ReleasesQuestion):
    """The most useful of several candidates that is shown to keep a limit."""

    model_config = ConfigDict(json_schema_extra={"required": ["queries", "utility", "max_advantage"]})

    max_advantage: Annotated[float, Field(ge=-1, le=1)] = Field(
        description="largest acceptable advantage, of the riskiest query", examples=[0.9]
    )
    utility: Annotated[list[records.Number], Field(min_length=2, max_length=1000)] = Field(
        examples=[[0.71, 0.76, 0.8]],
        description="how useful each candidate is, in their order: an accuracy, say, on other records than these",
    )
    in_order: bool = Field(
        True,
        description="whether the order of the candidates was declared before the scores were seen, the most cautious "
        "first: each is then judged at the full level, up to the first that is not shown to keep the limit; without it "
        "the level is shared (Holm)",
    )
    starts: Annotated[int, Field(ge=1, le=1000)] = Field(
        1,
        description="from how many places of the declared order candidates are tried, where it is doubtful; they share "
        "the level",
    )


class CandidateAnswer(SeriesStepAnswer):
    """One candidate; the intervals of all hold together."""

    utility: float


class FrontierAnswer(TypedDict):
    """Which candidates keep the limit, and the most useful of them."""

    sentence: str
    decision: Annotated[
        statements.DecisionWord, about("pass: best may go out; fail: all are shown to exceed the limit")
    ]
    covers: Annotated[list[str], statements.COVERS]
    best: Annotated[str | None, about("the most useful that is shown to keep the limit; null: none")]
    n_pass: Annotated[int, about("candidates that are shown to keep the limit")]
    n_candidates: int
    max_advantage: float
    baseline: Annotated[float, about("advantage of always guessing the likelier side")]
    steps: Annotated[list[CandidateAnswer], about("every candidate, in their order")]
    warnings: list[statements.WarningAnswer]
    provenance: list[statements.ProvenanceAnswer]
