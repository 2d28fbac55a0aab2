"""What ``procedure`` asks and answers."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from macekit.schemas import records, statements
from macekit.schemas.questions import ACCEPT_EXPOSURE, FORMER_LIMIT
from macekit.schemas.records import about


class ProcedureQuestion(records.PriorQuestion):
    """Several models that one procedure trained: what it gives away, and what its next model will."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": records.absent("counts", "units"),
            "then": records.present("array", "members", "nonmembers"),
            "else": False,
            "required": ["model"],
        }
    )

    model: records.LabelsOfRows | None = Field(
        None, description="which model scored each record, members first; each has members and nonmembers of its own"
    )
    max_advantage: Annotated[float, Field(ge=-1, le=1)] | None = Field(
        None, description="largest acceptable advantage, on average over trainings; gives a verdict"
    )
    threshold: float | None = FORMER_LIMIT
    accept_exposure: bool = ACCEPT_EXPOSURE
    accept_simulated: bool = Field(
        False,
        description="let the verdict rest on the simulated interval of the mean, which assumes that trainings vary "
        "without rare extremes; without it, it rests on any_variation, which takes more models",
    )


class ModelAdvantageAnswer(statements.IntervalAnswer):
    """One of several models, by itself: the interval is about this model alone."""

    name: str
    members: int
    nonmembers: int


class ProcedureVerdictAnswer(TypedDict):
    """A decision about a training procedure."""

    threshold: float
    decision: statements.DecisionWord
    rests_on: Annotated[Literal["any_variation", "advantage"], about("the limits of the mean that decided")]
    reason: str
    models_needed: Annotated[
        int | None,
        about(
            "models in all, each with as many records, that would settle an open decision; null if it is "
            "settled, or if more models alone are not expected to settle it"
        ),
    ]
    records_needed: Annotated[int | None, about("likewise records of these same models, in all")]
    holds_up_to_changes: Annotated[int | None, statements.HOLDS_UP_TO]
    covers: Annotated[list[str], statements.COVERS]
    undecided_because: statements.UndecidedBecause


class ProcedureAnswer(TypedDict):
    """What a training procedure gives away."""

    sentence: str
    advantage: Annotated[statements.IntervalAnswer, about("the mean advantage over trainings")]
    next_model: Annotated[statements.IntervalAnswer, about("between these ends lies the advantage of one new model")]
    any_variation: Annotated[
        statements.IntervalAnswer, about("the mean likewise, proven however trainings vary; wide with few models")
    ]
    spread: Annotated[
        statements.IntervalAnswer,
        about("standard deviation of the advantage between trainings, beyond what the choice of records makes"),
    ]
    records_cannot: Annotated[
        statements.IntervalAnswer, about("share of the variance that more records of the same models cannot remove")
    ]
    baseline: Annotated[float, about("advantage of always guessing the likelier side")]
    verdict: ProcedureVerdictAnswer | None
    models: list[ModelAdvantageAnswer]
    warnings: list[statements.WarningAnswer]
    provenance: statements.ProvenanceAnswer
