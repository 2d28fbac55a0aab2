"""The optimum: the advantage of the best attacker, on the population the records stand for or on fixed sets of them.

In reading order: optimum, fixed_set, null_level.
"""
