"""Options that could change nothing for the records at hand, whatever their value: refused, with what to do instead.

An option that is accepted and does nothing lets its sender believe that it did something. What follows from the
question alone is refused in ``options``; here stands what depends on the records: categories have no order to cut
along, counts no places between which a kernel could smooth, vectors no line.
"""

from collections.abc import Sequence

from estimators import Counts, Scores
from estimators.density.space import MOST_AXES
from estimators.sample.counting import resolution
from estimators.sample.learned import LearnedCounts
from estimators.sample.scores import Query
from macekit.problems import Problem, fault
from macekit.schemas.questions import Estimator
from macekit.schemas.records import Question

Data = Scores | Counts


def require_estimator_acts(estimator: Estimator, *samples: Data, paper: bool) -> None:
    """Refuse an estimator's options that change nothing for any of these samples.

    ``paper`` says whether the answer states the paper's statistic.
    """
    learned = any(isinstance(data, LearnedCounts) for data in samples)
    if learned and estimator.kind not in ("auto", "learned"):
        words = (
            f"{estimator.kind} needs the vectors, and these are counts of a score that was learned "
            "from them; use auto or learned"
        )
        raise fault("bad-option", "estimator.kind", words)
    for data in samples:
        if not isinstance(data, LearnedCounts) or estimator.learners is None:
            continue
        if data.learner not in estimator.learners:
            detail = f"the score was learned by {data.learner} before it was counted; name none"
            raise fault("bad-option", "estimator.learners", detail)
    if estimator.kind == "kde":
        for data in samples:
            _require_kernels(data, paper=paper)
    of_histogram = estimator.kind == "histogram" and estimator.bins is not None
    if of_histogram and not any(map(is_ranked, samples)):
        raise useless("estimator.bins", "each category is a cell of its own, so there is nothing to join")
    if estimator.universe is not None and not any(map(_is_discrete, samples)):
        raise useless("estimator.universe", "only categories have others that were not seen")
    if estimator.changes is not None:
        require_changes_act("estimator.changes", estimator, *samples)


def require_changes_act(field: str, estimator: Estimator, *samples: Data) -> None:
    """Refuse a number of changes along scores that no guess changes along, or whose every rule is covered anyway."""
    if not any(_is_crossed(data, estimator.bins) for data in samples):
        why = "a guess changes along a score that has an order and more values than cells; these have none"
        raise useless(field, why)


def require_acceptance_acts(question: Question) -> None:
    """Refuse to accept exposure where nothing can pass, or where a limit judges it."""
    if not getattr(question, "accept_exposure", False):
        return
    options = {name for name in type(question).model_fields if getattr(question, name) is not None}
    if not any(name.startswith("max") for name in options):
        raise useless("accept_exposure", "without a limit there is no decision that could pass")
    for name in ("max_tpr", "max_exposed", "max_epsilon"):
        if name in options:
            raise useless("accept_exposure", f"{name} judges exposure, and a pass rests on that")


def require_direction_acts(direction: str, data: Data) -> None:
    """Refuse a direction along scores that have none; a learned score has one."""
    if direction != "either" and not is_ranked(data):
        raise useless("direction", "categories have no order, and so no high or low end")


def require_points_act(question: Question, data: Data, ordered: bool | None = None) -> None:
    """Refuse false positive rates for scores that have no order, and so no ROC; a learned score has one."""
    name = "operating_points"
    differs = getattr(question, name) != type(question).model_fields[name].default
    if differs and not (is_ranked(data) if ordered is None else ordered):
        raise useless(name, "categories and boxes have no order, so they have no ROC")


def require_bins_act(bins: int | None, data: Data, *, values: bool) -> None:
    """Refuse a number of cells where cells stand already.

    Args:
        values: Whether numbers that are read as values are joined, too.
    """
    if bins is not None and not (is_ranked(data) if values else is_line(data)):
        message = "each category or value is a cell of its own, so there is nothing to join"
        raise useless("estimator.bins", message)


def require_left_out(question: Question, names: Sequence[str], why: str) -> None:
    """Refuse options that differ from what they are if left out, where they could change nothing."""
    for name in names:
        if getattr(question, name) != type(question).model_fields[name].default:
            raise useless(name, why)


def has_order(data: Data) -> bool:
    """Whether the records lie on a line: numbers, one each."""
    if isinstance(data, Counts):
        return data.cells.ordered
    return data.dimension == 1 and data.members.dtype.kind != "U"


def is_ranked(data: Data) -> bool:
    """Whether records can be ranked: by their score, or by the one that is learned from a vector."""
    return has_order(data) or (isinstance(data, Scores) and data.dimension > 1)


def is_line(data: Data) -> bool:
    """Whether scores are cut into cells, and do not come as cells of their own."""
    if isinstance(data, Counts):
        return data.cells.kind in ("intervals", "grid")
    return data.query is Query.CONTINUOUS


def _is_discrete(data: Data) -> bool:
    if isinstance(data, Counts):
        return data.cells.kind in ("categories", "values")
    return data.query is Query.DISCRETE


def _is_crossed(data: Data, bins: int | None) -> bool:
    """Whether a guess may change between the cells that the upper end covers anyway."""
    if isinstance(data, LearnedCounts):
        return False
    if isinstance(data, Counts):
        cells = bins if bins is not None else resolution(data.n_records) if is_line(data) else data.size
        return data.cells.ordered and data.size > cells
    return data.dimension == 1 and (is_line(data) or (has_order(data) and bins is not None))


def _require_kernels(data: Data, *, paper: bool) -> None:
    """Refuse kernels where there is nothing to smooth, nowhere to say what they give, or too much room."""
    field, instead = "estimator.kind", "use auto, or histogram"
    if not paper:
        detail = "kde is how the paper's U_N reads scores, and this answer does not state it; use auto, or "
        raise fault("bad-option", field, f"{detail}ask /v1/advantage")
    if isinstance(data, Counts):
        raise fault("bad-option", field, f"kde needs scores, and counts have no places; {instead}")
    if data.query is Query.DISCRETE:
        detail = f"kde needs numbers on a line, and these are read as categories ({data.reason}); {instead}"
        raise fault("bad-option", field, f"{detail}, or say query continuous if they are such numbers")
    if data.dimension > MOST_AXES:
        detail = f"kde says nothing in {data.dimension} dimensions, need at most {MOST_AXES}; use learned"
        raise fault("bad-option", field, detail)


def useless(field: str, why: str) -> Problem:
    """The refusal of an option that could change nothing, which says why."""
    return fault("bad-option", field, f"{why}; remove it")
