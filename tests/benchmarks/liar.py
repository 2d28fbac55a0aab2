"""An adapter for the tests: its ends are beside the truth, and it refuses what has no number."""

from benchmarks.hostile.question import Covers, NotAsked, Question, Statement

NAME = "liar"
RUNS = 30


def ask(question: Question) -> Statement:
    if not question.is_number:
        raise NotAsked("one number a record")
    return Statement(0.7, 0.6, 0.61, Covers.ANY, 2.0, True)
