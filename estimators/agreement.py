"""A claimed epsilon beside what was measured: what theory allows, what the records show, whether they agree."""
