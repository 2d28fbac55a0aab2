"""What ``exposed`` asks and answers."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from macekit.schemas import records, statements
from macekit.schemas.records import about


class ExposedQuestion(records.SampleQuestion):
    """Which members are exposed, by name."""

    model_config = ConfigDict(json_schema_extra=records.SIDES)

    max_false_share: records.Share = Field(
        0.1, description="largest share of the listed members that score as a nonmember would"
    )
    direction: Literal["high", "low", "either"] = Field(
        "either",
        description="which end of the scores speaks for membership; not knowing costs half the level. It has to be "
        "known before the scores are looked at",
    )
    confidence: records.Confidence = Field(
        0.95, description="what is said of all lists is wrong with half of the rest at most"
    )


class ListAnswer(TypedDict):
    """One list: the members at or beyond a score."""

    score: Annotated[float, about("that of its last member")]
    records: int
    most_false: Annotated[int, about("the most of them that score as a nonmember would")]
    exposed: Annotated[int, about("so many of them are exposed, at least")]


class ExposedAnswer(TypedDict):
    """Lists of members, the most exposed first."""

    sentence: str
    at_least: Annotated[int, about("so many of the members are exposed, at least")]
    listed: Annotated[
        list[int],
        about(
            "places of the listed members, the most exposed first: in members, or rows of the table. The "
            "table of all members is answered as CSV or Arrow"
        ),
    ]
    n_listed: int
    most_false: Annotated[int, about("the most of the listed that score as a nonmember would")]
    max_false_share: float
    direction: Annotated[Literal["high", "low"], about("the end of the scores that speaks for membership")]
    n_members: int
    n_nonmembers: int
    lists: Annotated[list[ListAnswer], about("some of all lists, from the shortest on; they all hold together")]
    guarantee: statements.GuaranteeAnswer
    confidence: float
    warnings: list[statements.WarningAnswer]
    provenance: statements.ProvenanceAnswer
