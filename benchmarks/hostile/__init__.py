"""Worlds that are hard to judge, with exact truths, and what each tool says: ``python -m benchmarks run hostile``."""
