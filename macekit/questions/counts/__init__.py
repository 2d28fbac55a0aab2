"""What ``counts`` asks and answers."""

from typing import Annotated, Literal, NotRequired

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from macekit.schemas import records
from macekit.schemas.statements import ColumnReadAnswer, WarningAnswer


class CountsQuestion(records.SampleQuestion):
    """Scores in, counts out; or several counts, merged."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": records.present("array", "shards"),
            "then": records.absent("members", "nonmembers", "counts", "units", "edges", "groups"),
            "else": records.SIDES_OR_COUNTS,
        }
    )

    shards: list[records.CountsGiven] | None = Field(
        None, min_length=1, max_length=10_000, description="counts of several shards, to merge"
    )
    cells: Literal["auto", "grid", "categories", "equal_mass", "edges"] = Field(
        "auto",
        description="how scores are sorted into cells: auto: categories for text, booleans and integers, "
        "otherwise grid; grid: cells whose width is a power of two, so that counts merge without an agreed "
        "range; equal_mass: cells with equally many records; edges: cells between given cuts",
    )
    bins: int | None = Field(None, ge=2, le=65_536, description="equal_mass: the number of cells")
    edges: list[records.Number] | None = Field(None, description="edges: the cuts, increasing", max_length=65_536)
    groups: records.Labels | records.LabelsOfSides | None = Field(
        None, description="a label for each record, members first: the counts then have those of each group, too"
    )


class CountsAnswer(TypedDict):
    """Counts, ready to be posted as ``counts`` or merged as ``shards``."""

    counts: dict[str, object]
    n_members: int
    n_nonmembers: int
    columns: list[ColumnReadAnswer]
    warnings: NotRequired[
        Annotated[
            list[WarningAnswer],
            records.about("what is odd about rows and scores and no count shows; not there without any"),
        ]
    ]
    input_sha256: str
    sentence: str
