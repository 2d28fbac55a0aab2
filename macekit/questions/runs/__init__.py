"""A wing: questions of several trainings and of series."""
