"""Membership inference privacy: the noise that keeps attacks within eta of guessing; what a finite algorithm leaks."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from macekit.schemas.records import Confidence, Labels, Number, Question, Row, about, present, without
from macekit.schemas.statements import BoundAnswer, GuaranteeAnswer, OriginAnswer, WarningAnswer

Parameters = Annotated[list[Number] | list[Row], Field(min_length=1)]
Eta = Annotated[float, Field(ge=1e-6, le=0.499999)]


class MipQuestion(Question):
    """How much noise: from parameters fitted to random halves, from pairs that differ by one record, or from both."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": present("array", "before"),
            "then": present("array", "after", "record"),
            "else": without(present("array", "draws"), "after", "record"),
        }
    )

    draws: Parameters | None = Field(
        None, description="parameters fitted to random halves of the data, one fit a row (or number)"
    )
    before: Parameters | None = Field(
        None, description="parameters fitted to a random training set with a record in it, one swap a row"
    )
    after: Parameters | None = Field(
        None, description="parameters after that record was swapped for a random one from outside, row by row"
    )
    record: Labels | None = Field(
        None, description="which record was swapped, one label a row; each record of the data needs swaps"
    )
    records: Annotated[int, Field(ge=2, lt=2**53)] | None = Field(
        None,
        description="number of records in the data set, which decides the accuracy of guessing and whether all records "
        "were swapped; without it, an even number, and swaps cover only the records named in record",
    )
    eta: Eta = Field(0.1, description="largest accuracy above guessing that an attack may have")
    noise: Literal["gaussian", "laplace"] = Field(
        "gaussian",
        description="gaussian: independent in every coordinate; laplace: its density falls as exp(-norm/scale)",
    )
    norm: Literal["moment", "euclid", "max", "one"] = Field(
        "moment", description="laplace: the norm; moment is the paper's, which weighs every coordinate by its spread"
    )
    moment: float = Field(2.0, ge=1, le=100, description="order M of the moment that stands for the spread")
    spread: (
        Annotated[list[Annotated[float, Field(ge=1e-9, le=1e9)]], Field(min_length=1, max_length=100_000)] | None
    ) = Field(
        None,
        description="relative noise of the coordinates, chosen beforehand; without it, the spread of the draws, or "
        "equal noise if there are no draws",
    )
    confidence: Confidence = Field(0.95, description="probability that the certificate holds")


class MipFiniteQuestion(Question):
    """What an algorithm with finitely many outputs leaks, exactly."""

    model_config = ConfigDict(json_schema_extra={"required": ["laws", "n"]})

    laws: Annotated[list[Row], Field(min_length=2)] | None = Field(
        None,
        description="probabilities of the outputs, one row a training set of k of the records 0..n-1, "
        "in lexicographic order: (0,1,2), (0,1,3), ...",
    )
    n: int = Field(ge=2, lt=2**53, description="records in the data set; up to some 20 can be enumerated")
    k: int | None = Field(None, ge=1, lt=2**53, description="records in a training set; half of n, if none")


class NoiseAnswer(TypedDict):
    """The noise to add, drawn once, to parameters fitted to a fresh random half."""

    kind: Literal["gaussian", "laplace"]
    norm: Literal["moment", "euclid", "max", "one"]
    scale: Annotated[float | None, about("null if there are too few rows to certify a scale")]
    dimension: int
    spread: Annotated[list[float], about("of each coordinate: the unit of its noise")]
    deviation: Annotated[list[float] | None, about("root mean square of the noise in each coordinate")]
    grid: Annotated[
        list[float] | None, about("round each noisy coordinate to a multiple of this; 0 where it has no noise")
    ]


class CalibrationAnswer(TypedDict):
    """One way to find the scale."""

    name: Annotated[str, about("stable")]
    noise: str
    scale: float | None
    deviation: Annotated[float | None, about("root mean square of the noise of a coordinate, in units of its spread")]
    certified: Annotated[bool, about("true: at the stated confidence; false: from an estimate")]
    source: str
    assumes: str


class MipCurveAnswer(TypedDict):
    """Scale of the noise asked for, over eta; a column for each way that applies, every point on its own."""

    eta: list[float]
    scale: Annotated[dict[str, list[float | None]], about("by the name of the calibration; null where it has none")]


class MipAnswer(TypedDict):
    """The noise, and every way to find its scale side by side."""

    sentence: str
    eta: float
    baseline: Annotated[float, about("accuracy of guessing: one half, or (n+1)/(2n) of an odd number n of records")]
    method: Annotated[str, about("name of the calibration the noise is from")]
    certified: Annotated[bool, about("whether the scale is certified; false: it is from an estimate")]
    confidence: float | None
    guarantee: GuaranteeAnswer
    noise: NoiseAnswer
    draws: int
    swaps: int
    records: Annotated[int | None, about("records the certificate covers; null: all")]
    calibrations: list[CalibrationAnswer]
    bounds: list[BoundAnswer]
    curve: MipCurveAnswer
    warnings: list[WarningAnswer]
    provenance: OriginAnswer


class MipRecordsAnswer(TypedDict):
    """One entry a record in every column."""

    record: list[int]
    eta: Annotated[list[float], about("accuracy of the best attack on it above the baseline, exact")]
    coupling: Annotated[list[float], about("its bound by swaps: never below eta")]
    says_in: Annotated[
        list[list[int]],
        about(
            "the best attack on it (Proposition 2): outputs, counted from 0, at which it says in; it says "
            "out at all others"
        ),
    ]


class MipFiniteAnswer(TypedDict):
    """What the best attack on each record attains."""

    sentence: str
    eta: Annotated[float, about("of the worst record, exact")]
    baseline: Annotated[float, about("accuracy of the better constant guess: the larger of k/n, 1-k/n")]
    accuracy: Annotated[float, about("of the best attack on the worst record")]
    worst_record: int
    subsets: int
    outcomes: int
    records: MipRecordsAnswer
    bounds: list[BoundAnswer]
    warnings: list[WarningAnswer]
    provenance: OriginAnswer
