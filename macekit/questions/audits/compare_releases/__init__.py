"""What ``compare-releases`` asks and answers."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from macekit.schemas.answers import SideBySideAnswer
from macekit.schemas.questions import Name, ReleasesQuestion
from macekit.schemas.records import about
from macekit.schemas.statements import HOLDS_UP_TO, DecisionWord, UndecidedBecause


class CompareReleasesQuestion(ReleasesQuestion):
    """Several releases of one training set, side by side."""

    paired: bool = Field(
        True,
        description="whether row i is the same record in all releases (true), or the samples are independent (false)",
    )
    against: Name | None = Field(
        None, description="name of the release that is subtracted from every other; the first, if left out"
    )


class ReleaseAnswer(TypedDict):
    """One release: what stands behind its place."""

    name: str
    query: Annotated[str, about("the query with the largest estimated advantage")]
    decision: Annotated[
        DecisionWord | None, about("whether it keeps the limit; all decisions hold together; null without a limit")
    ]
    holds_up_to_changes: Annotated[int | None, HOLDS_UP_TO]
    undecided_because: UndecidedBecause


class CompareReleasesAnswer(SideBySideAnswer):
    """Releases by the advantage of their riskiest query, and the differences from one of them."""

    releases: Annotated[list[ReleaseAnswer], about("in the order of the ranking")]
    against: Annotated[str, about("the release that is subtracted from every other")]
    max_advantage: float | None
