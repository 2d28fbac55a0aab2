"""What ``usage`` asks and answers."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from macekit.questions.audits.contract import TableRequired
from macekit.schemas import records, statements
from macekit.schemas.questions import Name
from macekit.schemas.records import about


class UsageQuestion(records.Question):
    """How large a share of some records was trained on."""

    model_config = ConfigDict(json_schema_extra={"required": ["members", "nonmembers", "candidates"]})

    members: TableRequired = Field(
        None, description="the model's scores of records known to be trained on: a list for each column"
    )
    nonmembers: TableRequired = Field(
        None,
        description="those of records of the same kind and date, known not to be trained on, with the same columns",
    )
    candidates: TableRequired = Field(None, description="those of the records in question")
    score: Annotated[list[Name], Field(max_length=64)] = Field(
        [],
        description="columns of scores; of several, that which tells members from nonmembers best is chosen on "
        "records that are set aside for it, unless `combine` joins them. If left out, the only column, or one with a "
        "usual name",
    )
    unit: Name | None = Field(
        None,
        description="column of all three that says whom a row belongs to, such as a document: one row of each, drawn "
        "at random, is asked about, unless `per_unit` is mean",
    )
    per_unit: Literal["one", "mean"] = Field(
        "one",
        description="what of each unit is asked about: one row drawn at random, or the mean of its rows' scores, which "
        "takes for granted that units have as many rows in each group",
    )
    combine: Literal["never", "always", "auto"] = Field(
        "never",
        description="whether several columns are combined into one score, by weights that are learned on known records "
        "set aside: never, always, or auto, where that tells those records apart better than the sharpest column",
    )
    max_share: Annotated[float, Field(ge=0, lt=1)] | None = Field(
        None, description="largest acceptable share of the candidates that was trained on"
    )
    direction: Literal["high", "low", "either"] = Field(
        "either",
        description="which end of the scores speaks for use; not knowing costs some of the known records, on which it "
        "is learned. It has to be known before the scores are looked at. A combination learns it of each column",
    )
    confidence: records.Confidence = Field(0.95, description="probability that both ends of the interval hold")
    seed: records.Seed = 0


class ColumnWeight(TypedDict):
    """What a column counts in a combination of several."""

    column: str
    weight: Annotated[float, about("positive where high scores speak for use; on normal ranks")]


class UsageAnswer(TypedDict):
    """How large a share of the candidates was trained on."""

    sentence: str
    decision: Annotated[statements.DecisionWord | None, about("against max_share; null if it was not given")]
    covers: Annotated[list[str], statements.COVERS]
    max_share: float | None
    share: Annotated[
        statements.IntervalAnswer, about("if members score alike wherever they stand; there is no point estimate")
    ]
    is_mixture: Annotated[
        bool, about("whether the candidates' scores can be a mixture of the known ones; if not, share says nothing")
    ]
    lower_whatever: Annotated[float, about("the share is at least this, however members score")]
    none_used: Annotated[float, about("p-value of: none of them was used")]
    all_used: Annotated[float, about("p-value of: all of them were used")]
    score: Annotated[str, about("the column that was read, or those that were combined")]
    weights: Annotated[list[ColumnWeight], about("of a combination; empty if one column was read")]
    direction: Annotated[Literal["high", "low"], about("the end of the scores that speaks for use")]
    n_members: int
    n_nonmembers: int
    n_candidates: int
    warnings: list[statements.WarningAnswer]
    provenance: statements.ProvenanceAnswer
