"""Individual risk: of a cell, of a record, of a group, with flags that survive multiplicity.

In reading order: cells, flags, groups, individual.
"""
