"""What ``report`` asks and answers."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from macekit.questions.advantage import AdvantageQuestion
from macekit.schemas.answers import (
    AdvantageAnswer,
    CellsAnswer,
    DecisionAnswer,
    DistributionAnswer,
    FlagsAnswer,
    GroupAnswer,
    MeanRiskAnswer,
    MetricRuleAnswer,
    PosteriorCurveAnswer,
)
from macekit.schemas.questions import MAX_GROUP_ADVANTAGE
from macekit.schemas.records import (
    Labels,
    LabelsOfSides,
)
from macekit.schemas.statements import (
    GuaranteeAnswer,
    LearnedScoreAnswer,
    OperatingPointAnswer,
    ProvenanceAnswer,
    WarningAnswer,
)


class ReportQuestion(AdvantageQuestion):
    """A report on one sample: the optimal advantage, distributions, ROC, risk and groups."""

    groups: Labels | LabelsOfSides | None = Field(None, description="a label for each record, members first")
    max_group_advantage: float | None = MAX_GROUP_ADVANTAGE


class RiskSummaryAnswer(TypedDict):
    """Individual risk over the score, without a line for each record."""

    sentence: str
    baseline: Annotated[float, Field(description="risk of every record if nothing leaks")]
    signed_baseline: Annotated[float, Field(description="the same, signed: 2 prior - 1")]
    mean: Annotated[
        MeanRiskAnswer,
        Field(description="over the mixture, in which members have the prior's share (MACE, Theorem 1.2)"),
    ]
    flags: FlagsAnswer
    guarantee: GuaranteeAnswer
    simultaneous_guarantee: GuaranteeAnswer
    metric_rule: MetricRuleAnswer | None
    learned_scores: Annotated[
        list[LearnedScoreAnswer] | None,
        Field(
            description="vectors: two scores, each stated on the records that the other was learned from; null "
            "otherwise. The cells of the first come first"
        ),
    ]
    cells: CellsAnswer
    warnings: list[WarningAnswer]


class ReportAnswer(TypedDict):
    """What a report shows of one sample: everything, and what its pictures are drawn from."""

    sentence: str
    result: AdvantageAnswer
    band: Annotated[
        list[OperatingPointAnswer],
        Field(description="true positive rates along the ROC, each interval by itself"),
    ]
    distribution: DistributionAnswer | None
    posterior: Annotated[
        list[PosteriorCurveAnswer],
        Field(description="by kernel densities and by slices, of one number a record; else empty"),
    ]
    risk: RiskSummaryAnswer | None
    groups: list[GroupAnswer]
    gate: Annotated[
        DecisionAnswer | None,
        Field(
            description="with max_group_advantage: the decision over it and max_advantage together, as a gate makes "
            "it, and result.verdict is null; null without it"
        ),
    ]
    warnings: list[WarningAnswer]
    provenance: ProvenanceAnswer
