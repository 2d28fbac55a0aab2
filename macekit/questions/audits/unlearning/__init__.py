"""What ``unlearning`` asks and answers."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from macekit.questions.audits.contract import TableGiven, TableRequired
from macekit.schemas import statements
from macekit.schemas.questions import ACCEPT_EXPOSURE, Name
from macekit.schemas.records import ConfidenceOfOne, Question, Seed, about

LEAST_LIMIT = Field(description="no records of these sizes pass a smaller limit")


class UnlearningQuestion(Question):
    """What is left of records that a model was to forget."""

    model_config = ConfigDict(json_schema_extra={"required": ["forgotten", "unseen"]})

    forgotten: TableRequired = Field(
        None, description="a row for each record that the model was to forget, with its score: a list a column"
    )
    unseen: TableRequired = Field(
        None, description="the same columns of records of the same kind that the model has never seen"
    )
    retained: TableGiven | None = Field(
        None, description="the same of records that it was trained on and kept, for the share that remains"
    )
    score: Name | None = Field(
        None, description="column of the score; the only one, or one of a usual name (score, loss), if left out"
    )
    retrained: Name | None = Field(
        None,
        description="column of forgotten and unseen with the score of a model that was trained again without the "
        "forgotten records; retrained, if left out and there. The limit is then on the excess over that model",
    )
    id: Name | None = Field(
        None, description="column that says which record a row is: where one stands in two tables nothing passes"
    )
    max_advantage: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None, description="largest acceptable advantage of telling forgotten from never-seen records, or excess"
    )
    accept_exposure: bool = ACCEPT_EXPOSURE
    confidence: ConfidenceOfOne = 0.95
    seed: Seed = 0


class CutExcessAnswer(statements.IntervalAnswer):
    """How much more often forgotten than never-seen records lie above a cut, minus the same by the retrained model."""

    above: Annotated[float, about("about the share of never-seen records above it")]
    cut: Annotated[float, about("of the score; other never-seen records have set it")]
    retrained_cut: Annotated[float, about("of the retrained model's score")]


class UnlearningAnswer(TypedDict):
    """What is left of records that a model was to forget."""

    sentence: str
    residual: Annotated[
        statements.CertifiedAnswer,
        about("the advantage of telling forgotten (members) from never-seen records (nonmembers)"),
    ]
    leans: Annotated[
        Literal["above", "below"], about("on which side of never-seen records most forgotten ones are seen")
    ]
    least_limit: Annotated[float, LEAST_LIMIT]
    records_to_pass: Annotated[
        int | None,
        about(
            "records of both sides, approximately, of which most samples keep the limit on the residual "
            "advantage if nothing is left; null without one, and if in practice no number does"
        ),
    ]
    excess: Annotated[
        statements.IntervalAnswer | None,
        about("the largest difference from the retrained model, of either sign; null without its scores"),
    ]
    excess_least_limit: Annotated[float | None, LEAST_LIMIT]
    cuts: Annotated[list[CutExcessAnswer], about("the excess at each cut; these intervals hold together")]
    remaining_share: Annotated[
        statements.IntervalAnswer | None,
        about(
            "0 where nothing is left at a cut, 1 where nothing was forgotten, below 0 where too much was; "
            "null without retained records, and where no cut is shown to tell them apart"
        ),
    ]
    remaining_cut: Annotated[float | None, about("that cut of the score; other records have set it")]
    verdict: Annotated[
        statements.VerdictAnswer | None,
        about("on the excess if there is one, else on the residual advantage; null without a limit"),
    ]
    n_retained: int
    warnings: list[statements.WarningAnswer]
    provenance: statements.ProvenanceAnswer
