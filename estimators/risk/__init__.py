"""Individual risk: of a cell, of a record, of a group, with flags that survive multiplicity."""
