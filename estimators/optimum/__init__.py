"""The optimum: the advantage of the best attacker, on the population the records stand for or on fixed sets of them."""

# ruff: noqa: F401 - what `estimators.advantage` had goes on by that name

from estimators.optimum.advantage import advantage
from estimators.optimum.answer import Advantage, ChangesLimit, times
from estimators.optimum.ends import Ends, checked_ends, ends_of, upper_by_changes
