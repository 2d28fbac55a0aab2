"""The training sets of half the records: all of them, or some at random."""
