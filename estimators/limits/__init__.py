"""Limits of proportions, and of what is made of two of them: the ground every certified number stands on."""
