"""What ``model`` asks and answers."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from macekit.questions.audits.contract import QueriesAnswer, TableGiven, TableRequired
from macekit.schemas.answers import StrengthAnswer
from macekit.schemas.questions import LimitsQuestion, Name
from macekit.schemas.records import about

ModelQueryName = Literal[
    "loss",
    "confidence",
    "margin",
    "entropy",
    "modified_entropy",
    "scaled_confidence",
    "correctness",
    "squared_error",
    "absolute_error",
]


class ModelQuestion(LimitsQuestion):
    """What a model's predictions give away about the rows it was trained on."""

    model_config = ConfigDict(json_schema_extra={"required": ["train", "holdout"]})

    train: TableRequired = Field(
        None, description="a row for each training row: what the model predicts, and what is true"
    )
    holdout: TableRequired = Field(None, description="the same columns of rows like these that it was not trained on")
    planted: TableGiven | None = Field(
        None,
        description="what twins of the model predict for records that were planted in their training, beside the "
        "truth: how strong the queries are is then stated; requires spared",
    )
    spared: TableGiven | None = Field(
        None, description="the same for records that were drawn with the planted ones and left out"
    )
    copies: Annotated[int, Field(ge=1, le=2**53)] | None = Field(
        None, description="how many times each planted record stands in the training of its twin; 1, if left out"
    )
    truth: Name | None = Field(
        None, description="column that says what is true; truth, label, target or y, if left out"
    )
    predictions: Annotated[list[Name], Field(max_length=2048)] = Field(
        [],
        description="columns of what the model predicts, one a class; if left out, those called after the classes "
        "(cat, or p_cat), else all numbers but the truth",
    )
    outputs: Literal["probabilities", "logits", "predictions", "labels"] | None = Field(
        None, description="what they are: logits are scores before the softmax; read off them, if left out"
    )
    features: Annotated[list[Name], Field(max_length=2048)] = Field(
        [], description="columns that the model read: a fail is then fail, or drift, if the sides differ in them anyway"
    )
    queries: list[ModelQueryName] | None = Field(
        None, min_length=1, max_length=9, description="the queries to ask; all that apply, if left out"
    )
    together: bool = Field(False, description="whether to learn a score of all queries together from 40% of the rows")


class FitAnswer(TypedDict):
    """How well the model does on either side."""

    sentence: str
    measure: Annotated[str, about("accuracy, or of regressors root mean squared error")]
    members: float
    nonmembers: float


class ModelAnswer(QueriesAnswer):
    """What a model's predictions give away: every query, how well it does, and the verdict."""

    fit: FitAnswer
    outputs: Annotated[str, about("probabilities, logits, predictions or labels")]
    not_asked: Annotated[dict[str, str], about("queries that were not asked, and why")]
    strength: Annotated[StrengthAnswer | None, about("of the queries; null if it was not measured")]
