"""What records look like in JSON: scores, labels, and counts with their cells.

For the description only: columns reach the library as arrays, which checks them itself (``macekit.decoding``).
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field
from pydantic.config import JsonDict

from estimators.sample.scores import MIN_RECORDS


def about(text: str) -> Any:
    """What OpenAPI says of a field whose kind says the rest."""
    return Field(description=text)


Number = Annotated[float, Field(allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0, lt=1)]
Confidence = Annotated[float, Field(ge=0.5, le=0.999999)]
Row = Annotated[list[Number], Field(min_length=1)]
Column = list[Number] | list[Row] | list[str] | list[bool]
Side = Annotated[Column, Field(json_schema_extra={"minItems": MIN_RECORDS})]
Targets = Annotated[Column, Field(json_schema_extra={"minItems": 1})]
Labels = Annotated[list[str] | list[Number] | list[bool], Field(json_schema_extra={"minItems": 1})]
Prior = Annotated[Share, about("probability that a record is a member before its score is seen")]
ConfidenceOfOne = Annotated[Confidence, about("probability with which an interval covers the truth")]
ConfidenceOfAll = Annotated[Confidence, about("probability that all intervals of the answer hold together")]
Seed = Annotated[int, Field(ge=0, le=2**53, description="seed of the random numbers behind the answer")]
QueryKind = Annotated[
    Literal["auto", "continuous", "discrete"], about("whether scores are numbers on a line or categories")
]
Direction = Annotated[
    Literal["either", "high", "low"], about("which scores suggest membership: high ones, low ones, or either")
]
Records = Annotated[int, Field(ge=0, lt=2**62)]
Exponent = Annotated[int, Field(gt=-1100, lt=1000)]
Position = Annotated[int, Field(ge=-(2**53), le=2**53)]


class Question(BaseModel):
    """Base of every question: nothing is guessed, nothing unknown is passed over.

    What checks it is built when it is first asked: a command asks one question of thirty.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


def present(kind: str, *names: str) -> JsonDict:
    """State that fields are there and not null, which is as good as nothing."""
    return {"required": list(names), "properties": {name: {"type": kind} for name in names}}


def absent(*names: str) -> JsonDict:
    """State that fields are not there, or null."""
    return {"properties": {name: {"type": "null"} for name in names}}


def with_value(name: str) -> JsonDict:
    """State that a field is there, of whatever type, and not null."""
    return {"required": [name], "properties": {name: {"not": {"type": "null"}}}}


def any_number(*names: str) -> JsonDict:
    """State that at least one of these numbers is there."""
    return {"anyOf": [present("number", name) for name in names]}


def without(part: dict[str, Any], *names: str) -> JsonDict:
    """State the same, and that other fields are not there, or null."""
    return {**part, "properties": {**part["properties"], **{name: {"type": "null"} for name in names}}}


SIDES_OR_COUNTS: JsonDict = {
    "if": present("object", "counts"),
    "then": absent("members", "nonmembers"),
    "else": present("array", "members", "nonmembers"),
}

SIDES: JsonDict = {  # as a plain allOf, makers of clients would merge it into the columns themselves
    "if": absent("counts"),
    "then": present("array", "members", "nonmembers"),
    "else": False,
}
"""Records themselves, where their counts do not suffice."""


class CategoryCells(Question):
    """One cell a category, in no order that matters."""

    kind: Literal["categories"]
    labels: Labels = Field(description="one a cell, ascending")


class ValueCells(Question):
    """One cell a value, in the order of the values."""

    kind: Literal["values"]
    labels: Annotated[list[Number], Field(min_length=1)] = Field(description="one a cell, ascending")


class IntervalCells(Question):
    """Cells between cuts."""

    kind: Literal["intervals"]
    cuts: list[Number] = Field(description="inner cuts, ascending: one fewer than cells")


class FrequentScore(Question):
    """A score that many records have, counted by itself, too."""

    score: Number
    members: Annotated[int, Field(ge=0)]
    nonmembers: Annotated[int, Field(ge=0)]


class GridCells(Question):
    """Cells of a grid whose step is a power of two: it merges with any other."""

    kind: Literal["grid"]
    exponent: Exponent = Field(description="the step is 2 to this power; the largest, if there are several")
    keys: list[Position] = Field(min_length=1, description="which cells, ascending")
    exponents: list[Exponent] = Field(
        default=[], description="of the step of each cell, where they differ, as next to 0 and 1: none lies in another"
    )
    frequent: list[FrequentScore] = Field(
        default=[], description="scores that many records have: a cell of one score hides nothing"
    )


class LatticeCells(Question):
    """Slices of every axis, as the paper cuts vectors."""

    kind: Literal["lattice"]
    bins: int = Field(ge=1, description="slices of an axis")
    low: Row = Field(description="least score of each axis")
    high: Row = Field(description="greatest score of each axis")
    keys: list[Position] = Field(min_length=1, description="which cells, ascending")


class BoxCells(Question):
    """Boxes of a tree that halves the records at each level."""

    kind: Literal["boxes"]
    axes: list[Annotated[int, Field(ge=0)]] = Field(description="the axis each node of the tree cuts")
    cuts: list[Number] = Field(description="where it cuts it")


CELLS: dict[str, type[Question]] = {
    "categories": CategoryCells,
    "values": ValueCells,
    "intervals": IntervalCells,
    "grid": GridCells,
    "lattice": LatticeCells,
    "boxes": BoxCells,
}
"""What a cell is, by kind, as ``/v1/counts`` writes it down."""

CellsGiven = Annotated[
    CategoryCells | ValueCells | IntervalCells | GridCells | LatticeCells | BoxCells, Discriminator("kind")
]
Tallies = Annotated[list[Records], Field(min_length=1, json_schema_extra={"contains": {"minimum": 1}})]
"""Records in each cell: any numbers, as long as there is a record at all."""


class GroupCountsGiven(Question):
    """The records of one group in each of the cells of all."""

    label: str | Number | bool = Field(description="all text or all numbers, each once")
    members: list[Records] = Field(description="member records in each cell")
    nonmembers: list[Records] = Field(description="nonmember records in each cell")


class LearnedGiven(Question):
    """How the one score of vectors was learned that was counted."""

    learner: str = Field(description="which learner did best within the records learned from")
    n_taught: int = Field(ge=0, description="records of both sides that it was learned from; none is counted")
    among: Literal["all", "first"] = Field(
        description="where those were drawn at random: among all records, or among the first that came"
    )


class CountsGiven(Question):
    """Records in each cell, in place of scores: what ``/v1/counts`` answers, or counted by yourself."""

    members: Tallies = Field(description="member records in each cell")
    nonmembers: Tallies = Field(description="nonmember records in each cell")
    edges: list[Number] | None = Field(
        None, description="increasing cuts between ordered cells, with or without the two outer ends"
    )
    cells: CellsGiven | None = Field(None, description="the cells, as /v1/counts writes them")
    by_group: list[GroupCountsGiven] | None = Field(
        None,
        description="the records of each group in the same cells, which add up to those of all; a report states what "
        "each group bears and gives away, everything else takes no notice of them",
    )
    learned: LearnedGiven | None = Field(
        None,
        description="of vectors: the counts are those of one score that was learned from other records, and a verdict "
        "passes by them only where accept_learned_score allows it",
    )


class LabelsOfSides(Question):
    """Labels side by side, as the scores are."""

    members: Labels
    nonmembers: Labels


LabelsOfRows = Labels | LabelsOfSides
ClusterLabels = (
    LabelsOfRows | Annotated[dict[str, LabelsOfRows], Field(json_schema_extra={"minProperties": 1, "maxProperties": 2})]
)
"""Whom each row belongs to: labels, or one or two columns of labels by their names."""

CLUSTER = Field(
    None,
    description="whom each record belongs to, members first, if several belong together (a person, a document); two "
    "columns that cross, such as a person and a model, by their names. All records are used, and intervals allow for "
    "records that are alike within a cluster",
)
"""The field of whom each record belongs to."""


class WarningGiven(Question):
    """What is odd about records, as an answer says it; a later one may say more."""

    model_config = ConfigDict(extra="allow")

    code: str
    message: str


WARNINGS = Field(
    None,
    description="what is odd about these records or counts, as answers of /v1/counts say it in warnings; beside some "
    "of it nothing passes",
)


class SampleQuestion(Question):
    """The records: scores of both sides, or counts."""

    model_config = ConfigDict(json_schema_extra=SIDES_OR_COUNTS)

    members: Side | None = Field(None, description="score of each member record: numbers, rows of numbers, or text")
    nonmembers: Side | None = Field(None, description="score of each nonmember record")
    counts: CountsGiven | None = Field(None, description="counts instead of members and nonmembers")
    units: Labels | LabelsOfSides | None = Field(
        None,
        description="the person (or other unit) that each record belongs to, members first; one record of "
        "each is kept, chosen at random, because rows of one person are not independent",
    )
    warnings: list[WarningGiven] | None = WARNINGS
    query: QueryKind = "auto"
    seed: Seed = 0


class PriorQuestion(SampleQuestion):
    """What every question about a sample has in common."""

    prior: Prior = 0.5
    confidence: ConfidenceOfOne = 0.95
    cluster: ClusterLabels | None = CLUSTER
