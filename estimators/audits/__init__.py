"""A wing: from data to scores and their verdict - a split, a released table, a model, several queries of one."""
