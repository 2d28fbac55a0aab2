"""A wing: from data to scores and their verdict - a split, a released table, a model, several queries of one of them.

In reading order: queries, split, riskiest, synthetic, model, releases, release_size, unlearning. The core imports none.
"""
