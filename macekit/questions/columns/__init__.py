"""What ``columns`` asks and answers."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from macekit.schemas.records import Question


class ColumnsQuestion(Question):
    """Which columns a table has; the body is the table, or enough of its head."""


class ColumnAnswer(TypedDict):
    """One column of a table."""

    name: str
    type: Literal["number", "text", "boolean", "other"]


class ColumnsAnswer(TypedDict):
    """The columns of a table, and how each is read unless an option says otherwise."""

    columns: Annotated[list[ColumnAnswer], Field(description="none where columns have no names (plain NPY)")]
    score: Annotated[list[str] | None, Field(description="read as scores; null if that is not clear")]
    no_score: Annotated[str | None, Field(description="why no column is read as scores; null where one is")]
    member: Annotated[str | None, Field(description="read as membership; null if that is not clear")]
    group: Annotated[
        str | None, Field(description="called group: it is used only where it is named with group=")
    ]
    truth: Annotated[
        str | None, Field(description="called truth, label, target or y; null if that is not clear")
    ]
    ids: Annotated[
        list[str], Field(description="called id, index, something_id, or nothing: they number the rows")
    ]
    rows: Annotated[
        int | None,
        Field(description="how many there are, where the footer of Parquet or the header of NPY says"),
    ]
