"""Ends that hold however often one looks: a run of batches that may stop as soon as its verdict stands."""

from estimators.sequential.run import Look, SequentialRun, sequential_run

__all__ = ["Look", "SequentialRun", "sequential_run"]
