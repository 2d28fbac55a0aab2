"""What ``report`` asks and answers."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from macekit.questions.advantage import AdvantageQuestion
from macekit.schemas import answers, statements
from macekit.schemas.questions import MAX_GROUP_ADVANTAGE
from macekit.schemas.records import Labels, LabelsOfSides, about


class ReportQuestion(AdvantageQuestion):
    """A report on one sample: the optimal advantage, distributions, ROC, risk and groups."""

    groups: Labels | LabelsOfSides | None = Field(None, description="a label for each record, members first")
    max_group_advantage: float | None = MAX_GROUP_ADVANTAGE


class RiskSummaryAnswer(TypedDict):
    """Individual risk over the score, without a line for each record."""

    sentence: str
    baseline: Annotated[float, about("risk of every record if nothing leaks")]
    signed_baseline: Annotated[float, about("the same, signed: 2 prior - 1")]
    mean: answers.MeanOfMixture
    flags: answers.FlagsAnswer
    guarantee: statements.GuaranteeAnswer
    simultaneous_guarantee: statements.GuaranteeAnswer
    metric_rule: answers.MetricRuleAnswer | None
    learned_scores: answers.LearnedScores
    cells: answers.CellsAnswer
    warnings: list[statements.WarningAnswer]


class ReportAnswer(TypedDict):
    """What a report shows of one sample: everything, and what its pictures are drawn from."""

    sentence: str
    result: answers.AdvantageAnswer
    band: Annotated[
        list[statements.OperatingPointAnswer],
        about(
            "true positive rates along the ROC: with the confidence asked for every limit holds, at these "
            "rates and between them, where the lower limit is that of the rate before and the upper one that of the "
            "rate behind"
        ),
    ]
    rarest_fpr: Annotated[
        float | None,
        about(
            "the false positive rate below which so few nonmembers can show nothing at every rate at "
            "once: lower limits of the band are 0 there; null without a band"
        ),
    ]
    precision: Annotated[
        list[statements.BestPrecisionAnswer],
        about(
            "how often the surest accusation is right, at the prior asked for: the best of the cuts that "
            "accuse at least this share of members; each share has the confidence by itself. Empty without a band"
        ),
    ]
    distribution: answers.DistributionAnswer | None
    posterior: Annotated[
        list[answers.PosteriorCurveAnswer],
        about("by kernel densities and by slices, of one number a record; else empty"),
    ]
    risk: RiskSummaryAnswer | None
    groups: list[answers.GroupAnswer]
    gate: Annotated[
        answers.DecisionAnswer | None,
        about(
            "with max_group_advantage: the decision over it and max_advantage together, as a gate makes "
            "it, and result.verdict is null; null without it"
        ),
    ]
    warnings: list[statements.WarningAnswer]
    provenance: statements.ProvenanceAnswer
