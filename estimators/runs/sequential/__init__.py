"""Ends that hold however often one looks: a run of batches that may stop as soon as its verdict stands."""

from estimators.runs.sequential.run import SequentialRun, sequential_run
from estimators.runs.sequential.state import Look

__all__ = ["Look", "SequentialRun", "sequential_run"]
