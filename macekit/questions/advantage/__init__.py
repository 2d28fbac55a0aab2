"""What ``advantage`` asks and answers."""

from typing import Annotated

from pydantic import Field

from estimators.optimum.fixed_set import MOST as MOST_OF_A_SET
from macekit.schemas.answers import AdvantageAnswer  # noqa: F401 - a report holds the same answer
from macekit.schemas.questions import ACCEPT_EXPOSURE, CHANGES, FORMER_LIMIT, Estimator, MetricGiven
from macekit.schemas.records import PriorQuestion, Share


class AdvantageQuestion(PriorQuestion):
    """One sample: the optimal advantage, and everything that belongs to it."""

    metric: MetricGiven | None = Field("accuracy", description="another metric: its largest value over attackers")
    estimator: Estimator = Estimator()
    max_advantage: float | None = Field(None, ge=-1, le=1, description="largest acceptable advantage; gives a verdict")
    threshold: float | None = FORMER_LIMIT
    changes: int | None = CHANGES
    accept_exposure: bool = ACCEPT_EXPOSURE
    claimed_epsilon: float | None = Field(None, ge=0, le=700, description="epsilon that was promised")
    claimed_delta: float = Field(0.0, ge=0, lt=1, description="delta that was promised with it")
    operating_points: Annotated[list[Share], Field(max_length=64)] = Field(
        [0.001, 0.01, 0.1], description="false positive rates at which to state the true positive rate"
    )
    set_members: Annotated[int, Field(ge=1, le=MOST_OF_A_SET)] | None = Field(
        None,
        description="how many members the whole set has of which those sent were drawn at random, or are all: also "
        "states the advantage on exactly this set. If only the number of nonmembers is given, all members were sent",
    )
    set_nonmembers: Annotated[int, Field(ge=1, le=MOST_OF_A_SET)] | None = Field(
        None, description="how many nonmembers the whole set has; if only the number of members is given, all were sent"
    )
