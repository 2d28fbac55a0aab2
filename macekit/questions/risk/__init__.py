"""What ``risk`` asks and answers."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from macekit.schemas import answers, statements
from macekit.schemas.questions import CellsQuestion, MetricGiven, PaperEstimator
from macekit.schemas.records import SIDES_OR_COUNTS, Labels, LabelsOfSides, Targets, about, present, without


class RiskQuestion(CellsQuestion):
    """The risk of each record, and of each group."""

    model_config = ConfigDict(
        json_schema_extra={**SIDES_OR_COUNTS, "then": without(present("array", "targets"), "members", "nonmembers")}
    )

    targets: Targets | None = Field(None, description="scores to state the risk of; without it, every record sent")
    groups: Labels | LabelsOfSides | None = Field(
        None, description="a label for each record, members first, or for each target"
    )
    metric: MetricGiven | None = Field(None, description="also state this metric for each record")
    estimator: PaperEstimator | None = Field(
        None, description="also state the risk, and the metric, as the paper does: Theorems 2, 3 and 4"
    )
    interval: Literal["auto", "mover_fieller", "conditional"] = Field(
        "auto",
        description="how the interval of a cell is computed: auto is conditional, exact at every confidence; "
        "mover_fieller is narrower for categories, but above 95% misses more often than it says",
    )
    threshold: Annotated[float, Field(ge=-1, lt=1)] | None = Field(
        None, description="signed risk above which a record is flagged; without it, the signed risk of the prior"
    )
    over: Literal["records", "cells"] = Field(
        "records", description="whether the rate of false flags counts records or cells"
    )
    top: Annotated[int, Field(ge=1)] | None = Field(
        None, description="return only this many records, those with the strongest evidence of membership first"
    )


class RecordsAnswer(answers.RiskColumns):
    """One entry for each record in every column; null where the sample has no records."""

    index: Annotated[list[int], about("place in the request: members first, or row of the table")]
    cell: list[int]
    paper_signed_risk: Annotated[
        list[float | None] | None,
        about("signed risk as the paper states it, if estimator was sent; null in no cell of its own"),
    ]
    paper_lower: Annotated[list[float] | None, about("lower end of paper_signed_risk")]
    paper_upper: list[float] | None
    paper_metric: Annotated[
        list[float | None] | None, about("the metric asked for, as the paper states it; null where it is 0/0")
    ]
    paper_metric_lower: list[float | None] | None
    paper_metric_upper: list[float | None] | None
    learned_score: Annotated[
        list[float | None] | None,
        about(
            "vectors: the learned score of the record, from a learner that had not seen it; null "
            "otherwise. Scores of the two halves, told apart by learned_half, share no scale"
        ),
    ]
    learned_half: Annotated[
        list[int] | None, about("vectors: which of learned_scores the record was scored by; 0 or 1")
    ]


class RiskAnswer(TypedDict):
    """The risk of each record, of each group, and the cells they came from."""

    sentence: str
    baseline: Annotated[float, about("risk of every record if nothing leaks")]
    signed_baseline: Annotated[float, about("the same, signed: 2 prior - 1")]
    mean: answers.MeanOfMixture
    flags: answers.FlagsAnswer
    guarantee: Annotated[statements.GuaranteeAnswer, about("of lower and upper, for one record named in advance")]
    simultaneous_guarantee: statements.GuaranteeAnswer
    metric_rule: answers.MetricRuleAnswer | None
    paper: Annotated[answers.PaperRiskAnswer | None, about("how the paper's columns came about, if estimator was sent")]
    learned_scores: answers.LearnedScores
    records: RecordsAnswer
    groups: list[answers.GroupAnswer]
    cells: answers.CellsAnswer
    warnings: list[statements.WarningAnswer]
    provenance: statements.ProvenanceAnswer
