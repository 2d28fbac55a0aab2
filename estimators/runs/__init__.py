"""A wing: answers over time and over trainings - batch after batch, several models, a series of checkpoints."""
