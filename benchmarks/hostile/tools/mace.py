"""mace: both ends and epsilon, rows that come in clusters and looks included."""

from collections.abc import Iterator

from benchmarks.hostile.question import Covers, Question, Statement
from estimators import AssessOptions, Scores, assess
from estimators.optimum.ends import checked_ends
from estimators.runs.sequential import sequential_run

NAME = "mace"
RUNS = 300


def ask(question: Question) -> Statement:
    scores = Scores.of(question.members, question.nonmembers)
    columns = {f"column {i}": each for i, each in enumerate(question.person)}
    result = assess(scores, AssessOptions(prior=question.prior), columns or None)
    interval = result.advantage.estimate.interval
    covers, cell_of = Covers.TWO_CHANGES, None
    if question.members.ndim > 1:
        covers = Covers.OWN_SCORE
    elif question.members.dtype.kind != "f":
        covers = Covers.ANY
    elif not columns:
        cell_of = checked_ends(scores, question.prior, None, 0).counts.cells.locate
    return Statement(
        result.advantage.estimate.value,
        interval.lower,
        interval.upper,
        covers,
        result.epsilon.value,
        interval.lower > result.advantage.baseline,
        cell_of,
    )


def follow(batches: list[Question]) -> Iterator[Statement]:
    """A run that may stop whenever it likes."""
    run = sequential_run(prior=batches[0].prior)
    for batch in batches:
        run = run.after(Scores.of(batch.members, batch.nonmembers))
        yield Statement(None, run.lower, run.upper, Covers.TWO_CHANGES, None, run.lower > 0.0)
