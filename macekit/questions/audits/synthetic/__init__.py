"""What ``synthetic`` asks and answers."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from macekit.questions.audits.contract import CopiesJudged, QueriesAnswer, QueryName, ReleaseQuestion
from macekit.schemas.questions import LimitsQuestion
from macekit.schemas.records import about
from macekit.schemas.statements import IntervalAnswer


class SyntheticQuestion(ReleaseQuestion, LimitsQuestion):
    """What a released table gives away about the rows it was made from."""

    queries: list[QueryName] | None = Field(
        None, min_length=2, max_length=12, description="the queries to ask; all that can be, if left out"
    )


class CountedCopiesAnswer(TypedDict):
    """Rows of both sides that count as copies, or as near copies."""

    sentence: str
    members: int
    nonmembers: int
    n_members: int
    n_nonmembers: int
    beyond_chance: IntervalAnswer


class ComparedColumnAnswer(TypedDict):
    """With how many digits rows are compared in one column."""

    name: str
    precision: Annotated[
        str | None,
        about(
            "that of the table with fewer digits, such as float32 or 4 decimals; null if values are "
            "compared as they are"
        ),
    ]


class CopiesAnswer(CountedCopiesAnswer):
    """Rows of both sides that stand in the release, column for column."""

    judged: CopiesJudged
    columns: list[ComparedColumnAnswer]


class SyntheticAnswer(QueriesAnswer):
    """What a released table gives away: every query, copies, and the verdict."""

    copies: CopiesAnswer
    near_copies: CountedCopiesAnswer
    n_synthetic: int
    n_reference: int
