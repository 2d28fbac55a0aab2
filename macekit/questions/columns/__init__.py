"""What ``columns`` asks and answers."""

from typing import Annotated, Literal

from typing_extensions import TypedDict

from macekit.schemas.records import Question, about


class ColumnsQuestion(Question):
    """Which columns a table has; the body is the table, or enough of its head."""


class ColumnAnswer(TypedDict):
    """One column of a table."""

    name: str
    type: Literal["number", "text", "boolean", "other"]


class ColumnsAnswer(TypedDict):
    """The columns of a table, and how each is read unless an option says otherwise."""

    columns: Annotated[list[ColumnAnswer], about("none where columns have no names (plain NPY)")]
    score: Annotated[list[str] | None, about("read as scores; null if that is not clear")]
    no_score: Annotated[str | None, about("why no column is read as scores; null where one is")]
    member: Annotated[str | None, about("read as membership; null if that is not clear")]
    group: Annotated[str | None, about("called group: it is used only where it is named with group=")]
    truth: Annotated[str | None, about("called truth, label, target or y; null if that is not clear")]
    ids: Annotated[list[str], about("called id, index, something_id, or nothing: they number the rows")]
    rows: Annotated[int | None, about("how many there are, where the footer of Parquet or the header of NPY says")]
