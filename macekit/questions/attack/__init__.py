"""What ``attack`` asks and answers."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from macekit.schemas.questions import MetricGiven
from macekit.schemas.records import SIDES, Number, PriorQuestion, Question, Share, about
from macekit.schemas.statements import CertifiedAnswer, IntervalAnswer, ProvenanceAnswer, WarningAnswer


class AttackRule(Question):
    """How the attack makes guesses of its scores."""

    kind: Literal["auto", "guesses", "threshold", "top", "quantile"] = Field(
        "auto",
        description="auto: what the other options say, guesses if there are none; guesses: the scores are guesses, "
        "true or 1 for member; threshold: accuse beyond a threshold; top: accuse so many records of both sides "
        "together; quantile: accuse beyond a quantile of these records",
    )
    threshold: Number | None = Field(
        None, description="threshold: records are accused from this score on", examples=[0.75]
    )
    side: Literal["above", "below"] | None = Field(
        None, description="threshold, top, quantile: which scores are accused; above if left out"
    )
    chosen_before: bool | None = Field(
        None,
        description="threshold: whether it was chosen before these records were seen; true if left out. If false, the "
        "interval holds however it was chosen, and is wider",
    )
    records: int | None = Field(
        None, ge=1, le=2**53, description="top: how many records are accused; as many as members if left out"
    )
    quantile: Share | None = Field(None, description="quantile: the share of records below the cut; 0.5 is the median")
    of: Literal["all", "members", "nonmembers"] | None = Field(
        None, description="quantile: of which records; all if left out"
    )


class AttackQuestion(PriorQuestion):
    """An attack: its guesses, or its scores and its rule."""

    model_config = ConfigDict(json_schema_extra=SIDES)

    rule: AttackRule = AttackRule()
    metrics: list[MetricGiven] | None = Field(
        None, min_length=1, max_length=64, description="metrics of the attack; without it, every preset"
    )


class AttackRuleAnswer(TypedDict):
    """The rule that was judged, and what it made of these records."""

    kind: Literal["guesses", "threshold", "top", "quantile"]
    side: Annotated[Literal["above", "below"] | None, about("which scores are accused; null for guesses")]
    cut: Annotated[float | None, about("the score from which on records are accused")]
    chosen_before: Annotated[bool, about("whether nothing about the rule was read off these records")]
    members_accused: int
    nonmembers_accused: int


class AttackMetricAnswer(TypedDict):
    """A metric of this attack."""

    name: str
    estimate: Annotated[float | None, about("null where it is 0/0")]
    lower: float
    upper: float
    confidence: float


class AttackAnswer(TypedDict):
    """One attack's own advantage, and how far it is from that of the best attacker."""

    sentence: str
    attack: Annotated[IntervalAnswer, about("the attack's own advantage; it may lie below the baseline")]
    baseline: Annotated[float, about("advantage of always guessing the likelier side")]
    rule: AttackRuleAnswer
    true_positive_rate: IntervalAnswer
    false_positive_rate: IntervalAnswer
    metrics: Annotated[list[AttackMetricAnswer], about("of this attack, each interval by itself")]
    optimum: Annotated[CertifiedAnswer, about("the advantage of the best attacker who reads the same")]
    gap: Annotated[IntervalAnswer, about("the optimum minus the attack's own advantage")]
    share_of_optimum: Annotated[
        IntervalAnswer | None,
        about(
            "what the attack gains over the baseline, as a share of what the best attacker gains; null if "
            "the records do not show that there is anything to gain"
        ),
    ]
    warnings: list[WarningAnswer]
    provenance: ProvenanceAnswer
