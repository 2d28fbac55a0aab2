"""What ``shadows`` asks and answers."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from macekit.questions.audits.contract import ScoredAnswer, ScoredQuestion
from macekit.schemas.records import Labels, Number, Row, about

Flags = list[bool] | list[Number]
Scale = Literal["plain", "log", "logit"]


class ShadowsQuestion(ScoredQuestion):
    """What the signals of a model and of its shadows say of the same records."""

    model_config = ConfigDict(json_schema_extra={"required": ["target", "signals", "member"]})

    target: list[Number] | None = Field(
        None, min_length=1, description="the audited model's signal of each record, higher for members"
    )
    signals: list[Row] | None = Field(
        None, min_length=1, description="the shadows' signals: a row a shadow, a column a record"
    )
    member: Annotated[Flags, Field(min_length=1)] | None = Field(
        None, description="whether the audited model was trained on the record: true or false, or 1 or 0"
    )
    membership: list[Row] | None = Field(
        None,
        description="1 where the shadow was trained on the record, else 0, in the shape of signals; without it no "
        "shadow was trained on any",
    )
    id: Labels | None = Field(None, description="a name for each record; copied beside its scores")
    group: Labels | None = Field(None, description="a group for each record; copied beside its scores")
    unit: Labels | None = Field(None, description="whom each record belongs to; copied beside its scores")
    features: list[Row] | None = Field(None, description="for quantile_regression: a row of numbers for each record")
    calibration_features: list[Row] | None = Field(
        None, description="the same of other records, which are no members and are not scored"
    )
    calibration_signal: list[Number] | None = Field(
        None, description="the audited model's signal of those other records"
    )
    scale: Scale = Field(
        "plain",
        description="what the signals are: logit, log(p / (1 - p)) of a record's own class; log, log p; plain, any "
        "other number, of which RMIA makes nothing",
    )


class ShadowsAnswer(ScoredAnswer):
    """What the signals of a model and of its shadows give away: every query, and the verdict."""

    shadows: Annotated[int, about("how many shadow models there are")]
    scale: Scale
