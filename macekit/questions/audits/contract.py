"""What is asked and answered of tables, models and releases alike."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema
from typing_extensions import TypedDict

from macekit.schemas import answers, records, statements
from macekit.schemas.questions import ACCEPT_EXPOSURE, QueryLimitsQuestion, TablesQuestion
from macekit.schemas.records import Number, about

Cell = str | Number | bool | None  # typing keeps one of equal unions: all have this order

TableGiven = Annotated[dict[str, list[Cell]], Field(json_schema_extra={"minProperties": 1})]


def _drop_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


TableRequired = Annotated[TableGiven | SkipJsonSchema[None], Field(json_schema_extra=_drop_default)]
"""A table that must be there: of a body that is no JSON it is cut from the one table."""


QueryName = Literal[
    "exact_copy",
    "near_copy",
    "closeness",
    "kth_closeness",
    "closeness_ratio",
    "ball",
    "calibrated_closeness",
    "density_ratio",
    "local_rank",
    "local_likelihood",
    "rare_values",
    "rare_pairs",
]


class ReleaseQuestion(TablesQuestion):
    """What is asked of a released table, beside the rows that it was made from and others."""

    model_config = ConfigDict(json_schema_extra={"required": ["train", "holdout", "synthetic"]})

    train: TableRequired = Field(
        None, description="the rows that the release was made from: a list for each column; null is missing"
    )
    holdout: TableRequired = Field(None, description="rows like these that it was not made from, with the same columns")
    synthetic: TableRequired = Field(None, description="the released rows, with the same columns")
    reference: TableGiven | None = Field(
        None, description="further rows, of neither side; without them, queries that need them are not asked"
    )
    max_copies_over_holdout: Annotated[int, Field(ge=0, le=2**53)] | None = Field(
        None,
        description="most training rows that may be copied beyond what chance explains; if left out, what would be a "
        "pass is a fail if any are shown to be, at a tenth of the level, which comes on top of it",
    )
    max_near_copies_over_holdout: Annotated[int, Field(ge=0, le=2**53)] | None = Field(
        None,
        description="most training rows that may have a near copy beyond what chance explains: alike in every "
        "category, and in all numbers together up to 1% of a range",
    )
    accept_copies: bool = Field(
        False, description="whether copies that max_copies_over_holdout does not limit are no reason to fail"
    )


CopiesJudged = Annotated[
    Literal["asked", "unasked", "accepted"] | None,
    about(
        "asked: max_copies_over_holdout limits them; unasked: what would be a pass is a fail if training "
        "rows are shown to be copied; accepted: accept_copies lifts that; null: nothing is limited"
    ),
]


class RiskiestAnswer(TypedDict):
    """Every query that was asked, and the verdict over all of them."""

    sentence: str
    decision: Annotated[
        Literal["pass", "fail", "fail, or drift", "inconclusive", "not applicable"] | None,
        about("null if nothing was limited; fail, or drift: the sides differ anyway, too"),
    ]
    covers: Annotated[list[str], statements.COVERS]
    undecided_because: statements.UndecidedBecause
    limits: Annotated[list[answers.RiskiestLimitAnswer] | None, about("null if nothing was limited")]
    maximum: Annotated[statements.IntervalAnswer, about("the advantage of the riskiest query")]
    baseline: Annotated[float, about("advantage of always guessing the likelier side")]
    ranking: list[answers.RankedAnswer]
    queries: list[answers.AskedQueryAnswer]
    exposures: list[answers.QueryExposureAnswer]


class QueriesAnswer(RiskiestAnswer):
    """Every query that was asked, what tells the sides apart anyway, and the verdict."""

    split: Annotated[answers.SplitAnswer | None, about("null if it was not asked")]
    control: Annotated[answers.ControlAnswer | None, about("null if no column of it was named")]
    groups: Annotated[list[answers.GroupAnswer], about("by the first query of ranking; empty if no group was named")]
    warnings: list[statements.WarningAnswer]
    provenance: statements.ProvenanceAnswer


class ScoredQuestion(QueryLimitsQuestion):
    """What is asked of the scores that queries make of a model's answers."""

    accept_exposure: bool = ACCEPT_EXPOSURE
    scores: bool = Field(
        False, description="whether the answer holds the scores of each record; as CSV or Arrow it always does"
    )
    prior: records.Prior = 0.5
    confidence: records.ConfidenceOfAll = 0.95
    seed: records.Seed = 0


class ScoredAnswer(RiskiestAnswer):
    """Every query that was asked, the verdict, and the scores themselves where they were asked for."""

    not_asked: Annotated[dict[str, str], about("queries that were not asked, and why")]
    records: Annotated[
        dict[str, list[str | float | int | bool]] | None,
        about("a column for each query, beside what is copied of the records; null unless asked for"),
    ]
    warnings: list[statements.WarningAnswer]
    provenance: statements.ProvenanceAnswer
