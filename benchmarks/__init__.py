"""Benchmarks: each prints a table; none asserts a time."""
