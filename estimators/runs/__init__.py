"""A wing: answers over time and over trainings - batch after batch, several models, a series of checkpoints.

In reading order: sequential, procedure, series. The core imports none of it.
"""
