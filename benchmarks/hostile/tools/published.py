"""The estimator of the MACE paper: Algorithm 1 with McDiarmid's interval, which is that of the statistic's mean."""

from benchmarks.hostile.question import Covers, NotAsked, Question, Statement
from estimators import Scores
from estimators.paper import algorithm_1

NAME = "MACE paper"
RUNS = 120


def ask(question: Question) -> Statement:
    """W_N for names, U_N with kernel densities for numbers."""
    if question.members.ndim > 1 or len(question.members) > 20_000:
        raise NotAsked("kernel densities of one score, of at most 20,000 records a side")
    result = algorithm_1(Scores.of(question.members, question.nonmembers), question.prior)
    interval = result.interval
    floor = abs(2.0 * question.prior - 1.0)
    return Statement(result.value, interval.lower, interval.upper, Covers.ANY, None, interval.lower > floor)
