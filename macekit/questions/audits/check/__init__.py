"""What ``check`` asks and answers."""

from typing import Annotated

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from macekit.questions.audits.contract import TableRequired
from macekit.schemas.answers import ControlAnswer, SplitAnswer
from macekit.schemas.questions import Name, TablesQuestion
from macekit.schemas.records import about
from macekit.schemas.statements import ProvenanceAnswer, WarningAnswer


class CheckQuestion(TablesQuestion):
    """Whether training and hold-out rows differ without any model."""

    model_config = ConfigDict(json_schema_extra={"required": ["train", "holdout"]})

    train: TableRequired = Field(
        None, description="the rows that a model was trained on: a list for each column; null is missing"
    )
    holdout: TableRequired = Field(None, description="the rows that were held out, with the same columns")
    control: Name | None = Field(
        None,
        description="column of both sides with a control score: that of a model, or of a release, that was made of "
        "neither; it is used for nothing else",
    )
    match: bool = Field(
        False,
        description="whether to look for rows of both sides that are alike, as many of either (a heuristic), and to "
        "check those again",
    )


class MatchAnswer(TypedDict):
    """Rows of both sides that are alike, as many of either: a heuristic."""

    sentence: str
    train: Annotated[list[int], about("places of the training rows that were kept")]
    holdout: Annotated[list[int], about("places of the hold-out rows that were kept")]
    split: Annotated[SplitAnswer | None, about("the kept rows, checked again; null if they are fewer than 8")]


class CheckAnswer(SplitAnswer):
    """Whether two sides differ without any model."""

    control: Annotated[ControlAnswer | None, about("null if no column of it was named")]
    match: Annotated[MatchAnswer | None, about("null if it was not asked for")]
    warnings: list[WarningAnswer]
    provenance: ProvenanceAnswer
