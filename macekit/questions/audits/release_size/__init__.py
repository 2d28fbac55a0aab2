"""What ``release-size`` asks and answers."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from macekit.questions.audits.contract import CopiesJudged, QueryName, ReleaseQuestion, TableRequired
from macekit.schemas import questions, statements
from macekit.schemas.answers import RiskiestLimitAnswer, StepAnswer
from macekit.schemas.records import about


class ReleaseSizeQuestion(ReleaseQuestion):
    """How many rows of a released table may go out."""

    synthetic: TableRequired = Field(None, description="all the rows that might be released, with the same columns")
    sizes: Annotated[list[Annotated[int, Field(ge=1, le=2**53)]], Field(min_length=1, max_length=256)] | None = Field(
        None,
        description="numbers of released rows to ask about, fixed before the data are looked at; 10, 20, 50, 100 and "
        "so on, up to all rows, if left out",
    )
    max_advantage: questions.MaxAdvantage = None
    max_exposed: questions.MaxExposed = None
    at_precision: questions.AtPrecision = None
    accept_exposure: bool = questions.ACCEPT_EXPOSURE
    queries: list[QueryName] | None = Field(
        None, min_length=1, max_length=12, description="the queries to ask; all that can be, if left out"
    )
    unit: questions.UnitColumn = None
    prior: questions.PriorOfRow = 0.5


class ReleaseStepAnswer(StepAnswer):
    """What so many released rows give away; a step is a size, and all smaller ones are before it."""

    size: int
    limits: Annotated[
        list[RiskiestLimitAnswer] | None, about("what is limited beside the advantage; null if nothing else is")
    ]
    copies: Annotated[int, about("training rows among these released rows, column for column")]
    near_copies: Annotated[int, about("training rows that have a near copy among these released rows")]


class ReleaseSizeAnswer(TypedDict):
    """The advantage against the number of released rows."""

    sentence: str
    decision: Annotated[
        statements.DecisionWord | None,
        about("pass: every size keeps the limit, that of all rows included; fail: one is shown to exceed it"),
    ]
    covers: Annotated[list[str], statements.COVERS]
    undecided_because: statements.UndecidedBecause
    largest: Annotated[int | None, about("the largest size that keeps the limit")]
    max_advantage: float | None
    baseline: Annotated[float, about("advantage of always guessing the likelier side")]
    steps: list[ReleaseStepAnswer]
    rows: Annotated[list[int], about("places of the released rows that keep the limit; they, and no others")]
    copies_judged: CopiesJudged
    n_synthetic: int
    n_reference: int
    warnings: list[statements.WarningAnswer]
    provenance: statements.ProvenanceAnswer
