"""What is asked and what is answered, free of HTTP and of the shell: the seam between the wire and the work.

A ``Call`` names an operation and says how its body is written; the body itself travels beside it
(``app.body``). ``app.operations.perform`` turns both into a ``Reply``, in this process or in a worker.
"""

from __future__ import annotations

from dataclasses import dataclass

JSON = "application/json"
CSV = "text/csv"
NPY = "application/x-npy"
ARROW = "application/vnd.apache.arrow.stream"
ARROW_FILE = "application/vnd.apache.arrow.file"
PARQUET = "application/vnd.apache.parquet"
PROBLEM = "application/problem+json"
HTML = "text/html"
MARKDOWN = "text/markdown"
SVG = "image/svg+xml"
PNG = "image/png"


@dataclass(frozen=True, slots=True)
class Call:
    """One question: the operation, how its body is written, its options, and how the answer should be."""

    operation: str
    media_type: str = JSON
    encoding: str = "identity"
    query: tuple[tuple[str, str], ...] = ()
    accept: str = JSON
    expanded_limit: int = 2**30
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer, ready for the wire; ``problem`` is its kind if it is an error, ``records`` how many were counted."""

    status: int
    media_type: str
    body: bytes | memoryview
    records: int = 0
    problem: str | None = None
    retry_after: int | None = None
