"""Membership inference security (MIS): what any algorithm may give away of discrete data, and what overfitting does."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from macekit.schemas import statements
from macekit.schemas.records import Confidence, Labels, Number, Question, Share, Tallies, about

Size = Annotated[int, Field(ge=1, le=10**15)]
Losses = Annotated[list[Number], Field(min_length=1)]
Probability = Annotated[float, Field(ge=0, le=1)]
Pair = Annotated[list[Number], Field(min_length=2, max_length=2)]
NonmemberShare = Annotated[
    Share | None, about("MIS's nu: share of nonmembers among those asked about; the worst share, if none")
]
Weight = Annotated[float, Field(ge=1e-9, le=1e9, description="MIS's lambda: weight of the true positives")]


class MisQuestion(Question):
    """What any learning algorithm may give away of data in categories: one of values, tallies, probabilities."""

    values: Labels | None = Field(None, description="one categorical value a record")
    tallies: Tallies | None = Field(None, description="in place of values: records in each category")
    probabilities: Annotated[list[Probability], Field(min_length=1)] | None = Field(
        None, description="in place of values: the distribution itself, which leaves nothing to estimate"
    )
    sizes: Annotated[list[Size], Field(min_length=1, max_length=100)] | None = Field(
        None, description="sizes n of the training set, the one that matters most first; a curve, if none"
    )
    nonmember_share: NonmemberShare = None
    member_weight: Weight = 1.0
    delta: Annotated[float, Field(ge=1e-9, le=1)] | None = Field(
        None, description="Delta = 1 - security to keep: the answer has the number of training records"
    )
    coarsen_to: Annotated[list[Annotated[int, Field(ge=1, le=10**9)]], Field(min_length=1, max_length=100)] | None = (
        Field(None, description="numbers of cells to merge the categories into, to see what is gained")
    )
    universe: Annotated[int, Field(ge=1, le=2**53)] | None = Field(
        None, description="values, tallies: number of possible categories, seen or not; without it C_K has no upper end"
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
    thresholds: Annotated[list[Number], Field(min_length=1, max_length=1000)] | None = Field(
        None,
        description="the paper's epsilon: losses to cut at, chosen without these records; ranks of the held-out "
        "losses, if none",
    )
    nonmember_share: Share = Field(0.5, description="MIS's nu: share of nonmembers among those asked about")
    member_weight: Weight = 1.0
    alpha: Share | None = Field(
        None,
        description="share of training losses that may lie above a cut: the answer has the cut that their mean alone "
        "vouches for (Proposition 10); needs losses of at least 0",
    )
    confidence: Confidence = Field(0.95, description="of the upper bound, over all cuts together")


class MisDivergenceQuestion(Question):
    """Two laws of one output: what it is for a member, and what for a nonmember."""

    model_config = ConfigDict(json_schema_extra={"required": ["outputs"]})

    outputs: Annotated[list[Pair], Field(min_length=1)] | None = Field(
        None, description="one row for each output: its probability for a member, then for a nonmember"
    )
    nonmember_share: NonmemberShare = None
    member_weight: Weight = 1.0


class MisMeanQuestion(Question):
    """What the mean of Gaussian records gives away."""

    dimension: int = Field(1, ge=1, le=1_000_000, description="coordinates of a record")
    sizes: Annotated[list[Size], Field(min_length=1, max_length=100)] | None = Field(
        None, description="numbers of records in the mean, the one that matters most first; a curve, if none"
    )
    nonmember_share: NonmemberShare = None
    member_weight: Weight = 1.0
    delta: float | None = Field(
        None, ge=1e-6, le=1, description="Delta = 1 - security to keep: the answer has the number of records"
    )


class DiversityAnswer(TypedDict):
    """How diverse the categories are."""

    estimate: Annotated[float, about("C_K of the distribution, or of the sample (biased downward)")]
    lower: float | None
    upper: Annotated[float | None, about("null: no upper end exists unless universe is stated")]
    confidence: Annotated[float | None, about("null: nothing was estimated")]
    guarantee: statements.GuaranteeAnswer | None
    most: Annotated[float | None, about("the largest C_K of any distribution on so many categories")]
    largest_share: Annotated[float, about("of the most frequent category")]
    least_given_largest: Annotated[float, about("Lemma 24: the least C_K at that largest share")]
    most_given_largest: Annotated[float | None, about("Lemma 24: the most C_K at that largest share")]
    gini_simpson: float
    shannon: Annotated[float, about("in nats")]


class MisCurveAnswer(TypedDict):
    """Over sizes of the training set: Delta = 1 - security of the worst algorithm there is."""

    n: list[int]
    delta: Annotated[list[float], about("Theorem 14 on the distribution, or on the sample: an estimate")]
    delta_lower: Annotated[list[float], about("equal to delta where the distribution was given")]
    delta_upper: Annotated[list[float], about("no algorithm exceeds it: certified")]
    security: Annotated[list[float], about("1 - delta")]
    security_at_least: Annotated[list[float], about("1 - delta_upper")]
    simple: Annotated[list[float | None], about("C_K / (2 sqrt n), from the upper end of C_K")]
    simple_lower: Annotated[
        list[float | None],
        about(
            "C_K / sqrt(8 n), which delta is at least at gamma = 1 (Corollary 15, from below); null at "
            "another gamma, where n is at most 1/p_k for some category, and from a sample"
        ),
    ]


class NeededAnswer(TypedDict):
    """How many training records keep Delta at most so large, whatever the algorithm."""

    delta: float
    exact: Annotated[int | None, about("Theorem 14, the least that suffices: an estimate where P was estimated")]
    certified: Annotated[
        int | None, about("no algorithm exceeds delta from here on, with that confidence; null if no size is certified")
    ]
    simple: Annotated[int | None, about("(C_K / (2 delta))^2, from the upper end of C_K")]


class CoarsenedAnswer(TypedDict):
    """Over wanted cells and ways of merging: what is left of diversity."""

    cells: list[int]
    merge: Annotated[
        list[Literal["frequent", "balanced", "rare"]],
        about(
            "frequent: the most frequent stay and the rest is one cell, which keeps most records as they "
            "are (proven); balanced: cells of about equal weight (a heuristic); rare: the rarest stay and the rest is "
            "one cell, which has the least C_K of all merges into so many cells (proven)"
        ),
    ]
    c_k: Annotated[list[float], about("of the cells; an estimate where P was estimated")]
    delta: Annotated[list[float], about("Theorem 14 at n; an estimate where P was estimated")]
    delta_upper: Annotated[
        list[float],
        about(
            "the limit of the categories as they are: merging never raises delta, so it holds for every "
            "merge, also one the training set chose; equal to delta where the distribution was given"
        ),
    ]
    cells_upper: Annotated[
        list[float],
        about(
            "Lemma 23, sqrt(cells - 1) / (2 sqrt n): for a merge the training set did not choose, and that "
            "puts every category, seen or not, into one of its cells"
        ),
    ]
    kept: Annotated[list[float], about("share of records whose category stays as it was")]
    records: Annotated[
        list[int | None],
        about("training records that keep the wanted delta, if one is; an estimate where P was estimated"),
    ]


class MisAnswer(TypedDict):
    """What any learning algorithm may give away of such data."""

    sentence: str
    categories: Annotated[int, about("seen, or with a probability above 0")]
    records: Annotated[int | None, about("in the sample; null where the distribution was given")]
    gamma: Annotated[float, about("nu / (lambda (1 - nu)); 1 is the worst")]
    baseline: Annotated[float, about("accuracy of the better constant guess, as MIS weighs it")]
    accuracy_at_most: Annotated[
        float,
        about(
            "of any attack on any algorithm, at n and nonmember_share; if none, at lambda / (1 + lambda): "
            "as many nonmembers as members unless weighed, and at no other share; to be read beside baseline"
        ),
    ]
    n: Annotated[int, about("size of the training set the sentence, the bounds and coarsened are about")]
    diversity: DiversityAnswer
    curve: MisCurveAnswer
    records_needed: NeededAnswer | None
    coarsened: CoarsenedAnswer | None
    bounds: Annotated[
        list[statements.BoundAnswer],
        about("of Delta at n; from a sample each on its own, and none marked as the tightest"),
    ]
    warnings: list[statements.WarningAnswer]
    provenance: statements.OriginAnswer


class CutsAnswer(TypedDict):
    """Over cuts: how much of the training losses lie above and of the held-out losses below."""

    threshold: list[float]
    alpha: Annotated[list[float], about("share of training losses above the cut")]
    alpha_upper: list[float]
    heldout: Annotated[list[float], about("share of held-out losses at the cut or below")]
    heldout_upper: list[float]
    security_at_most: Annotated[list[float], about("Theorem 11, certified over all cuts together")]


class ByMeanAnswer(TypedDict):
    """What the mean of the training losses alone says (Proposition 10)."""

    alpha: float
    mean_loss: float
    epsilon: Annotated[float, about("mean_loss / alpha: at most a share alpha of the training losses lies above")]
    above: Annotated[float, about("share of the training losses that does lie above")]
    heldout: Annotated[float, about("share of held-out losses at epsilon or below")]
    heldout_upper: float
    security_at_most: Annotated[
        float | None,
        about(
            "Theorem 11 at epsilon, if train_losses are those of all training records; null unless they "
            "are of one model"
        ),
    ]


class MisOverfittingAnswer(TypedDict):
    """How secure it can be at most, given the losses."""

    sentence: str
    security: Annotated[statements.IntervalAnswer, about("estimate: at the best cut, not corrected; lower is 0")]
    delta_at_least: Annotated[float, about("1 less the upper end of security")]
    gamma: float
    baseline: Annotated[float, about("accuracy of the better constant guess, as MIS weighs it")]
    accuracy_at_least: Annotated[float, about("of that cut as an attack; to be read beside baseline")]
    threshold: Annotated[float, about("the cut that gives the bound")]
    by_mean: Annotated[ByMeanAnswer | None, about("if alpha was given")]
    curve: CutsAnswer
    warnings: list[statements.WarningAnswer]
    provenance: statements.OriginAnswer


class DivergenceCurveAnswer(TypedDict):
    """Over shares of nonmembers: the divergence."""

    nonmember_share: list[float]
    delta: list[float]


class MisDivergenceAnswer(TypedDict):
    """How far the two laws are apart, exactly, and the best attack."""

    sentence: str
    gamma: Annotated[float, about("nu / (lambda (1 - nu)); 1 is the worst")]
    delta: Annotated[float, about("D_gamma of the two laws (Eqs. 3 to 5): 0 if equal, 1 if disjoint")]
    security: Annotated[float, about("1 - delta")]
    total_variation: Annotated[float, about("delta at gamma = 1, the worst")]
    outputs: int
    baseline: Annotated[float, about("accuracy of the better constant guess, as MIS weighs it")]
    accuracy: Annotated[float, about("of the best attack; to be read beside baseline")]
    says_member: Annotated[list[int], about("the best attack: outputs, counted from 0, at which it says member")]
    true_positive_rate: float
    false_positive_rate: float
    curve: DivergenceCurveAnswer
    bounds: list[statements.BoundAnswer]
    warnings: list[statements.WarningAnswer]
    provenance: statements.OriginAnswer


class MeanCurveAnswer(TypedDict):
    """Over numbers of records in the mean."""

    n: list[int]
    delta: Annotated[list[float], about("exact, to some 1e-12")]
    simple: Annotated[list[float], about("Proposition 25, which delta never exceeds")]


class MisMeanAnswer(TypedDict):
    """What the mean of Gaussian records gives away, exactly."""

    sentence: str
    dimension: int
    gamma: float
    n: Annotated[int, about("the number of records that the sentence and the bounds are about")]
    delta: Annotated[float, about("at n and nonmember_share")]
    security: Annotated[float, about("1 - delta")]
    baseline: Annotated[float, about("accuracy of the better constant guess, as MIS weighs it")]
    accuracy: Annotated[float, about("of the best attack; to be read beside baseline")]
    delta_to_keep: Annotated[float | None, about("as it was asked")]
    records_needed: Annotated[
        int | None, about("the least number of records that keeps it; null if none does, or none was asked")
    ]
    curve: MeanCurveAnswer
    bounds: list[statements.BoundAnswer]
    warnings: list[statements.WarningAnswer]
    provenance: statements.OriginAnswer
