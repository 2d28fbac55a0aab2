"""JAX-Privacy: the largest accuracy of a threshold, its upper bound, and epsilon after Clopper and Pearson."""

from importlib import import_module

from benchmarks.hostile.question import Covers, NotAsked, Question, Statement

NAME = "JAX-Privacy"
NEEDS = "jax-privacy==2.0.0"
RUNS = 120


def ask(question: Question) -> Statement:
    if not question.is_number:
        raise NotAsked("one number a record")
    auditor = import_module("jax_privacy.auditing").CanaryScoreAuditor(question.members, question.nonmembers)
    estimate, upper = (
        2.0 * float(auditor.max_accuracy(prevalence=question.prior, significance=significance)) - 1.0
        for significance in (None, 0.025)
    )
    epsilon = float(auditor.epsilon_clopper_pearson(0.05))
    return Statement(estimate, None, upper, Covers.MEMBERS_ABOVE, epsilon, epsilon > 0.0)
