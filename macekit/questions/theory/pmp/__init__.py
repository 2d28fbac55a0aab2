"""Questions and answers about practical membership privacy (PMP)."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from macekit.schemas.records import Confidence, Question, Row, about
from macekit.schemas.statements import BoundAnswer, IntervalAnswer, OriginAnswer, WarningAnswer

Matrix = Annotated[list[Row], Field(min_length=2)]
Epsilon = Annotated[float, Field(ge=0, le=1e6)]
Length = Annotated[float, Field(ge=1e-300, le=1e300)]


class PmpExponentialQuestion(Question):
    """What an exponential mechanism gives away to who knows the 2n records, but not which n were used."""

    model_config = ConfigDict(json_schema_extra={"required": ["losses", "sensitivity"]})

    losses: Matrix | None = Field(
        None,
        description="loss of every outcome: one row a record (2n rows), or one row a training set "
        "(C(2n, n) rows in lexicographic order of their records)",
    )
    rows: Literal["records", "training_sets"] = Field("records", description="what a row of losses is")
    loss: Literal["sum", "mean"] = Field(
        "sum", description="rows of records: whether the loss of a training set is their sum or their mean"
    )
    sensitivity: float = Field(
        gt=0, description="most that the loss of a training set changes when one record is exchanged, over all data"
    )
    epsilon: Epsilon | None = Field(None, description="the mechanism is epsilon-DP")
    practical_epsilon: Epsilon | None = Field(
        None, description="in place of epsilon: find the epsilon that keeps this practical epsilon"
    )
    draws: Annotated[int, Field(ge=100, le=10_000_000)] | None = Field(
        None, description="number of training sets to draw at random, if there are too many to enumerate"
    )
    confidence: Confidence = Field(0.95, description="of the interval, when drawn")
    seed: int = Field(0, ge=0, le=2**53, description="seed of the draws")


class PmpFiniteQuestion(Question):
    """What an algorithm with finitely many outputs gives away to who knows the 2n records, not which n were used."""

    model_config = ConfigDict(json_schema_extra={"required": ["laws"]})

    laws: Matrix | None = Field(
        None,
        description="probabilities of the outputs, one row for each half of the records in lexicographic order: 2, 6, "
        "20, 70, ... rows for 2, 4, 6, 8, ... records",
    )
    delta: float = Field(0.0, ge=0, le=1, description="the delta that goes with the practical epsilon")


class PmpGaussianQuestion(Question):
    """What a sum or mean with Gaussian noise gives away to who knows the 2n records, but not which n were used."""

    model_config = ConfigDict(json_schema_extra={"required": ["points", "clip", "delta"]})

    points: Matrix | None = Field(None, description="the 2n records, one row each")
    clip: Length = Field(description="each row is shortened to at most this Euclidean norm")
    query: Literal["mean", "sum"] = Field("mean", description="what noise is added to")
    delta: float = Field(gt=0, le=1, description="the delta that goes with every epsilon here; 1 goes with sigma alone")
    sigma: Length | None = Field(None, description="standard deviation of the noise in each coordinate")
    epsilon: Epsilon | None = Field(None, description="in place of sigma: the least noise that is (epsilon, delta)-DP")
    practical_epsilon: Epsilon | None = Field(
        None, description="in place of sigma: the least noise that keeps this practical epsilon"
    )


class PmpRecordsAnswer(TypedDict):
    """Record by record, as columns."""

    record: list[int]
    practical_epsilon: Annotated[list[float], about("or a bound on it: see the sentence")]
    success: Annotated[list[float], about("how often the best attacker is right; a coin is right half of the time")]


class PmpWorstAnswer(TypedDict):
    """Where the practical epsilon is largest."""

    record: int
    outcome: int
    says: Literal["member", "nonmember"]


class PmpEventAnswer(TypedDict):
    """Where the practical epsilon is reached: outputs that together say the most about a record."""

    record: int
    outcomes: Annotated[list[int], about("outputs, counted from 0")]
    says: Literal["member", "nonmember"]


class PmpFiniteCurveAnswer(TypedDict):
    """Over practical epsilons: the delta that goes with each."""

    epsilon: list[float]
    delta: Annotated[list[float], about("least delta, of the worst record")]


class PmpFiniteRecordsAnswer(TypedDict):
    """Record by record, as columns."""

    record: list[int]
    practical_epsilon: Annotated[list[float | None], about("at delta; null if none is enough")]
    success: Annotated[list[float], about("how often the best attacker is right; a coin is right half of the time")]


class PmpFiniteAnswer(TypedDict):
    """The practical epsilon of any algorithm with finitely many outputs, on these records, exactly."""

    sentence: str
    delta: float
    practical_epsilon: Annotated[float | None, about("least at delta, exact; null if none is enough")]
    training_sets: int
    outcomes: int
    success: Annotated[float, about("how often the best attacker is right about the record easiest to tell, exact")]
    baseline: Annotated[float, about("how often a coin is right")]
    mip_eta: Annotated[float, about("success less baseline")]
    worst: Annotated[PmpEventAnswer | None, about("null if the practical epsilon is 0")]
    records: PmpFiniteRecordsAnswer
    curve: PmpFiniteCurveAnswer
    bounds: list[BoundAnswer]
    warnings: list[WarningAnswer]
    provenance: OriginAnswer


class PmpExponentialAnswer(TypedDict):
    """The practical epsilon of an exponential mechanism, on these records."""

    sentence: str
    epsilon: float
    sensitivity: float
    method: Literal["exact", "sampled"]
    training_sets: Annotated[int, about("training sets enumerated or drawn")]
    practical_epsilon: Annotated[float, about("exact, or an estimate: see method")]
    interval: Annotated[IntervalAnswer | None, about("if sampled")]
    epsilon_on_records: Annotated[
        float | None, about("what epsilon is on subsets of these records; null if they are too many")
    ]
    ratio: Annotated[float | None, about("practical_epsilon / epsilon; null at epsilon 0")]
    success: Annotated[float, about("how often the best attacker is right about the worst record")]
    baseline: Annotated[float, about("how often a coin is right")]
    mip_eta: Annotated[float, about("success less baseline")]
    worst: Annotated[PmpWorstAnswer | None, about("an estimate, if sampled; null at epsilon 0")]
    records: PmpRecordsAnswer
    bounds: list[BoundAnswer]
    warnings: list[WarningAnswer]
    provenance: OriginAnswer


class PmpCurveAnswer(TypedDict):
    """Delta against epsilon, for every attacker with the 2n records and for the worst case of DP."""

    epsilon: list[float]
    practical_delta: list[float]
    records_delta: list[float]
    dp_delta: list[float]


class PmpGaussianAnswer(TypedDict):
    """A practical epsilon of the Gaussian mechanism, on these records."""

    sentence: str
    sigma: float
    sensitivity: Annotated[float, about("2 clip, over n for the mean")]
    delta: float
    epsilon: Annotated[float, about("what DP promises at delta, whatever the data")]
    epsilon_on_records: Annotated[float, about("the same for subsets of these records alone")]
    practical_epsilon: Annotated[float, about("an upper bound (Proposition 12)")]
    ratio: Annotated[float | None, about("practical_epsilon / epsilon; null at epsilon 0")]
    ratio_on_records: Annotated[float | None, about("practical_epsilon / epsilon_on_records")]
    success: Annotated[float, about("no attacker is right more often")]
    baseline: Annotated[float, about("how often a coin is right")]
    mip_eta: Annotated[float, about("success less baseline: no attacker gains more")]
    curve: PmpCurveAnswer
    bounds: list[BoundAnswer]
    warnings: list[WarningAnswer]
    provenance: OriginAnswer
