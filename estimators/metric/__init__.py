"""Accuracy-like metrics: what one is, the named ones, the rule that is best for it, and limits of its optimum."""
