"""An attack that somebody has: the advantage it reaches on these records, and how far the optimum lies above it."""

# ruff: noqa: F401 - `from estimators.attack import ...` goes on

from estimators.attack.answer import AttackAdvantage, attack_advantage
from estimators.attack.rules import AttackRule, GuessRule, QuantileRule, ThresholdRule, TopRule, judge_records
