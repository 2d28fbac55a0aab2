"""An attack that somebody has: the advantage it reaches on these records, and how far the optimum lies above it."""
