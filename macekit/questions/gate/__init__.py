"""What ``gate`` asks and answers."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict
from typing_extensions import TypedDict

from macekit.schemas import statements
from macekit.schemas.answers import DecisionAnswer
from macekit.schemas.questions import ACCEPT_EXPOSURE, CHANGES, MAX_GROUP_ADVANTAGE, Estimator, MetricGiven
from macekit.schemas.records import (
    Labels,
    LabelsOfSides,
    Number,
    PriorQuestion,
    Share,
    about,
    absent,
    any_number,
    present,
    with_value,
)

SEAL = "seal"  # what a service that signs adds to the state of a run


OF_GROUPS = ("max_group_risk", "max_group_advantage")
COUNTED_BY_GROUP: JsonDict = {
    "required": ["counts"],
    "properties": {"counts": {"type": "object", **present("array", "by_group")}},
}
COUNTS_WITH_THEIR_GROUPS: JsonDict = {
    "if": present("object", "counts"),
    "then": {**absent("members", "nonmembers", "groups"), "if": any_number(*OF_GROUPS), "then": COUNTED_BY_GROUP},
    "else": {
        **present("array", "members", "nonmembers"),
        "if": any_number(*OF_GROUPS),
        "then": with_value("groups"),
        "else": absent("groups"),
    },
}
"""Both sides or counts, as for any sample; where a limit on groups is asked, either with groups of its own."""


class GateQuestion(PriorQuestion):
    """The limits that a model must keep before its release; at least one."""

    model_config = ConfigDict(
        json_schema_extra={
            **COUNTS_WITH_THEIR_GROUPS,
            "allOf": [
                {  # as a plain anyOf, makers of clients would take it for several questions
                    "if": {"not": {"anyOf": [present("number", "max_advantage"), present("object", "state")]}},
                    "then": any_number("max_tpr", "max_epsilon", "max", *OF_GROUPS),
                },
                {"if": present("number", "max"), "then": with_value("metric"), "else": absent("metric")},
                {"if": present("number", "max_tpr"), "then": present("number", "at_fpr"), "else": absent("at_fpr")},
                {"if": present("number", "max_epsilon"), "else": {"properties": {"delta": {"const": 0}}}},
                {
                    "if": {"required": ["anytime"], "properties": {"anytime": {"const": True}}},
                    "then": absent("max_tpr", "max_epsilon", "max", *OF_GROUPS),
                    "else": absent("planned", "state"),
                },
            ],
        }
    )

    max_advantage: float | None = Field(None, ge=-1, le=1, description="largest acceptable advantage", examples=[0.1])
    changes: int | None = CHANGES
    max_tpr: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None,
        description="largest acceptable true positive rate at the false positive rate at_fpr, of the best set of at "
        "most 4 ranges of the score, or labels",
    )
    at_fpr: Share | None = Field(None, description="false positive rate for max_tpr; requires max_tpr")
    max_epsilon: float | None = Field(
        None, ge=0, le=700, description="largest acceptable epsilon of the score at delta"
    )
    delta: float = Field(0.0, ge=0, lt=1, description="delta for max_epsilon")
    metric: MetricGiven | None = Field(None, description="metric whose largest value over attackers is limited by max")
    max: Number | None = Field(None, description="largest acceptable value of the metric")
    max_group_advantage: float | None = MAX_GROUP_ADVANTAGE
    max_group_risk: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None,
        description="largest acceptable mean over a group's records of the risk read off all records together, which "
        "looks at no group by itself; requires groups",
    )
    accept_exposure: bool = ACCEPT_EXPOSURE
    groups: Labels | LabelsOfSides | None = Field(None, description="a label for each record, members first")
    estimator: Estimator = Estimator()
    anytime: bool = Field(
        False,
        description="whether the records are one batch of several: the ends then hold at all looks together, and one "
        "may stop as soon as they decide; max_advantage is judged alone",
    )
    planned: Annotated[int, Field(ge=2, le=2**53)] | None = Field(
        None,
        description="with the first of several batches: about how many records of both sides will come, at which the "
        "ends are best (10000)",
    )
    state: dict[str, Any] | None = Field(
        None, description="with anytime: the state that was answered to the batch before; left out with the first"
    )
    declaration: dict[str, Any] | None = Field(
        None,
        description="what was declared before the scores were seen, as `mace declare` wrote it: a question that is not "
        "that one is refused, and the answer names its SHA-256",
    )


class AnytimeAnswer(TypedDict):
    """How far a run of batches has come."""

    looks: Annotated[int, about("batches so far, after each of which one may have looked")]
    n_members: Annotated[int, about("member records of all batches")]
    n_nonmembers: Annotated[int, about("nonmember records of all batches")]
    planned: Annotated[int, about("records of both sides for which the ends are best")]


class GateAnswer(DecisionAnswer):
    """What a gate decides, and what stands beside it."""

    baseline: Annotated[float, about("advantage of always guessing the likelier side")]
    exposure: Annotated[
        statements.ExposureAnswer | None,
        about(
            "looked for whatever the limits are; of vectors, in their learned score; null with anytime, "
            "because it would hold at one look only"
        ),
    ]
    anytime: Annotated[AnytimeAnswer | None, about("of a run of batches; null if there is none")]
    state: Annotated[
        dict[str, object] | None,
        about("with anytime: what to give back with the next batch, as it is; a service that signs takes no other"),
    ]
    clusters: Annotated[
        statements.ClustersAnswer | None, about("what the clusters cost the advantage; null where none were named")
    ]
    warnings: list[statements.WarningAnswer]
    provenance: statements.ProvenanceAnswer
