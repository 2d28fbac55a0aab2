"""Membership inference security (MIS): what any algorithm may give away of discrete data, and what overfitting does."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from macekit.schemas.records import Confidence, Labels, Number, Question, Share, Tallies
from macekit.schemas.statements import (
    BoundAnswer,
    GuaranteeAnswer,
    IntervalAnswer,
    OriginAnswer,
    WarningAnswer,
)

Size = Annotated[int, Field(ge=1, le=10**15)]
Losses = Annotated[list[Number], Field(min_length=1)]
Probability = Annotated[float, Field(ge=0, le=1)]
Weight = Annotated[float, Field(ge=1e-9, le=1e9)]


class MisQuestion(Question):
    """What any learning algorithm may give away of data in categories: one of values, tallies, probabilities."""

    values: Labels | None = Field(None, description="one categorical value a record")
    tallies: Tallies | None = Field(None, description="in place of values: records in each category")
    probabilities: Annotated[list[Probability], Field(min_length=1)] | None = Field(
        None, description="in place of values: the distribution itself, which leaves nothing to estimate"
    )
    sizes: list[Size] | None = Field(
        None,
        min_length=1,
        max_length=100,
        description="sizes n of the training set, the one that matters most first; a curve, if none",
    )
    nonmember_share: Share | None = Field(
        None, description="MIS's nu: share of nonmembers among those asked about; the worst share, if none"
    )
    member_weight: Weight = Field(1.0, description="MIS's lambda: weight of the true positives")
    delta: float | None = Field(
        None,
        ge=1e-9,
        lt=1,
        description="Delta = 1 - security to keep: the answer has the number of training records",
    )
    coarsen_to: list[Annotated[int, Field(ge=1, le=10**9)]] | None = Field(
        None,
        min_length=1,
        max_length=100,
        description="numbers of cells to merge the categories into, to see what is gained",
    )
    universe: int | None = Field(
        None,
        ge=1,
        le=2**53,
        description="values, tallies: number of possible categories, seen or not; without it C_K has no upper end",
    )
    confidence: Confidence = Field(0.95, description="values, tallies: of every interval")


class MisOverfittingQuestion(Question):
    """An upper limit on security, from training and held-out losses."""

    model_config = ConfigDict(json_schema_extra={"required": ["train_losses", "heldout_losses"]})

    train_losses: Losses | None = Field(None, description="loss of training records")
    heldout_losses: Losses | None = Field(None, description="loss of records that were not trained on")
    losses_of: Literal["one_model", "independent_trainings"] = Field(
        "one_model",
        description="one_model: all losses come from one model; independent_trainings: each loss comes from a separate "
        "training on separate data",
    )
    thresholds: list[Number] | None = Field(
        None,
        min_length=1,
        max_length=1000,
        description="the paper's epsilon: losses to cut at, chosen without these records; ranks of the held-out "
        "losses, if none",
    )
    nonmember_share: Share = Field(0.5, description="MIS's nu: share of nonmembers among those asked about")
    member_weight: Weight = Field(1.0, description="MIS's lambda: weight of the true positives")
    confidence: Confidence = Field(0.95, description="of the upper bound, over all cuts together")


class DiversityAnswer(TypedDict):
    """How diverse the categories are."""

    estimate: Annotated[
        float, Field(description="C_K of the distribution, or of the sample (biased downward)")
    ]
    lower: float | None
    upper: Annotated[float | None, Field(description="null: no upper end exists unless universe is stated")]
    confidence: Annotated[float | None, Field(description="null: nothing was estimated")]
    guarantee: GuaranteeAnswer | None
    most: Annotated[
        float | None, Field(description="the largest C_K of any distribution on so many categories")
    ]
    largest_share: Annotated[float, Field(description="of the most frequent category")]
    least_given_largest: Annotated[float, Field(description="Lemma 24: the least C_K at that largest share")]
    most_given_largest: Annotated[
        float | None, Field(description="Lemma 24: the most C_K at that largest share")
    ]
    gini_simpson: float
    shannon: Annotated[float, Field(description="in nats")]


class MisCurveAnswer(TypedDict):
    """Over sizes of the training set: Delta = 1 - security of the worst algorithm there is."""

    n: list[int]
    delta: Annotated[
        list[float], Field(description="Theorem 14 on the distribution, or on the sample: an estimate")
    ]
    delta_lower: Annotated[list[float], Field(description="equal to delta where the distribution was given")]
    delta_upper: Annotated[list[float], Field(description="no algorithm exceeds it: certified")]
    security: Annotated[list[float], Field(description="1 - delta")]
    security_at_least: Annotated[list[float], Field(description="1 - delta_upper")]
    simple: Annotated[list[float | None], Field(description="C_K / (2 sqrt n), from the upper end of C_K")]


class NeededAnswer(TypedDict):
    """How many training records keep Delta at most so large, whatever the algorithm."""

    delta: float
    exact: Annotated[
        int | None,
        Field(description="Theorem 14, the least that suffices: an estimate where P was estimated"),
    ]
    certified: Annotated[
        int | None,
        Field(
            description="no algorithm exceeds delta from here on, with that confidence; null if no size is certified"
        ),
    ]
    simple: Annotated[int | None, Field(description="(C_K / (2 delta))^2, from the upper end of C_K")]


class CoarsenedAnswer(TypedDict):
    """Over wanted cells and ways of merging: what is left of diversity."""

    cells: list[int]
    merge: Annotated[
        list[Literal["frequent", "balanced", "rare"]],
        Field(
            description="frequent: the most frequent stay and the rest is one cell, which keeps most records as they "
            "are (proven); balanced: cells of about equal weight (a heuristic); rare: the rarest stay and the rest is "
            "one cell, which has the least C_K of all merges into so many cells (proven)"
        ),
    ]
    c_k: Annotated[list[float], Field(description="of the cells; an estimate where P was estimated")]
    delta: Annotated[list[float], Field(description="Theorem 14 at n; an estimate where P was estimated")]
    delta_upper: Annotated[
        list[float],
        Field(
            description="the limit of the categories as they are: merging never raises delta, so it holds for every "
            "merge, also one the training set chose; equal to delta where the distribution was given"
        ),
    ]
    cells_upper: Annotated[
        list[float],
        Field(
            description="Lemma 23, sqrt(cells - 1) / (2 sqrt n): for a merge the training set did not choose, and that "
            "puts every category, seen or not, into one of its cells"
        ),
    ]
    kept: Annotated[list[float], Field(description="share of records whose category stays as it was")]
    records: Annotated[
        list[int | None],
        Field(
            description="training records that keep the wanted delta, if one is; an estimate where P was estimated"
        ),
    ]


class MisAnswer(TypedDict):
    """What any learning algorithm may give away of such data."""

    sentence: str
    categories: Annotated[int, Field(description="seen, or with a probability above 0")]
    records: Annotated[int | None, Field(description="in the sample; null where the distribution was given")]
    gamma: Annotated[float, Field(description="nu / (lambda (1 - nu)); 1 is the worst")]
    baseline: Annotated[float, Field(description="accuracy of the better constant guess, as MIS weighs it")]
    accuracy_at_most: Annotated[
        float,
        Field(
            description="of any attack on any algorithm, at n and nonmember_share; if none, at lambda / (1 + lambda): "
            "as many nonmembers as members unless weighed, and at no other share; to be read beside baseline"
        ),
    ]
    n: Annotated[
        int, Field(description="size of the training set the sentence, the bounds and coarsened are about")
    ]
    diversity: DiversityAnswer
    curve: MisCurveAnswer
    records_needed: NeededAnswer | None
    coarsened: CoarsenedAnswer | None
    bounds: Annotated[
        list[BoundAnswer],
        Field(description="of Delta at n; from a sample each on its own, and none marked as the tightest"),
    ]
    warnings: list[WarningAnswer]
    provenance: OriginAnswer


class CutsAnswer(TypedDict):
    """Over cuts: how much of the training losses lie above and of the held-out losses below."""

    threshold: list[float]
    alpha: Annotated[list[float], Field(description="share of training losses above the cut")]
    alpha_upper: list[float]
    heldout: Annotated[list[float], Field(description="share of held-out losses at the cut or below")]
    heldout_upper: list[float]
    security_at_most: Annotated[
        list[float], Field(description="Theorem 11, certified over all cuts together")
    ]


class MisOverfittingAnswer(TypedDict):
    """How secure it can be at most, given the losses."""

    sentence: str
    security: Annotated[
        IntervalAnswer, Field(description="estimate: at the best cut, not corrected; lower is 0")
    ]
    delta_at_least: Annotated[float, Field(description="1 less the upper end of security")]
    gamma: float
    baseline: Annotated[float, Field(description="accuracy of the better constant guess, as MIS weighs it")]
    accuracy_at_least: Annotated[
        float, Field(description="of that cut as an attack; to be read beside baseline")
    ]
    threshold: Annotated[float, Field(description="the cut that gives the bound")]
    curve: CutsAnswer
    warnings: list[WarningAnswer]
    provenance: OriginAnswer
