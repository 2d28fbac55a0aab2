"""One training run against a promise: records opened one by one, guesses right or wrong, and what no mechanism allows.

Membership has to be drawn, or nothing is certified. *A coin*: each record was in by a fair coin of its own; the promise
is then about adding or removing a record. *A split*: the sides were drawn at random out of one list; members are paired
with nonmembers at random, which of a pair was in is a fair coin, and the promise is about replacing one by the other.
Which are paired is chance, so five pairings are made, and what more than half of them show is stated.

**Epsilon by betting.** Records are opened from the ends of the scores, surest first, each time from the end with fewer
wrong guesses so far. A bet that guesses are right more often than q = e^epsilon / (1 + e^epsilon) wins with probability
alpha at most, whenever one stops (Ville), where the promise holds: nobody chooses a number of guesses. A delta lets
guesses be right beyond that, m (1 - q) delta of m records in the mean at most; j of them are forgiven, and more than j
have probability m (1 - q) delta / (j + 1) at most (Markov).

**A curve by counting.** Guesses whose number is fixed beforehand are right so often only if the curve allows it
(Mahloujifar, Melis and Chaudhuri 2025). No record has to be independent of another. Proofs of both: docs/methods.md,
section 15.
"""

from estimators.theory.one_run.guesses import Draw
from estimators.theory.one_run.several import epsilon_over_runs, several_runs
from estimators.theory.one_run.statement import EpsilonInOneRun, GaussianInOneRun, OneRun, PromiseInOneRun, one_run

__all__ = [
    "Draw",
    "EpsilonInOneRun",
    "GaussianInOneRun",
    "OneRun",
    "PromiseInOneRun",
    "epsilon_over_runs",
    "one_run",
    "several_runs",
]
