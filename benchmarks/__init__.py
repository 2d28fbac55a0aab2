"""Benchmarks: `python -m benchmarks list` says which; none asserts a time."""
