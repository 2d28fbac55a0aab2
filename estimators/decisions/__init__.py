"""From statements to a decision: limits and plans, several answers side by side, and everything in one report.

In reading order: coverage, plan, compare, maxima, gate, severe_exposure, group_limit, exposed_members, report.
"""
