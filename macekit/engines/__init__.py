"""A wing: tables that engines count where they lie, and functions for engines that mace does not know.

``source_of`` is what the core asks of a table that somebody gives. It may import everything in `macekit`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from macekit.operation import Operation
    from macekit.sources.blocks import RemoteTable

ROWS: tuple[Operation, ...] = ()
"""It has no operations of its own."""

ENGINES = frozenset({"dask", "ibis", "pyspark", "sqlframe"})
"""Packages whose frames are asked; every other lazy frame gives batches, which are cheaper to count here."""

NAMES = ("counts_by", "merged", "partial", "risk_table", "sql", "write_risks")
"""Names of ``counting`` that may be imported from here."""


def source_of(value: object) -> RemoteTable | None:
    """A frame of one of the engines; None for anything else."""
    if type(value).__module__.partition(".")[0] not in ENGINES:
        return None
    table: RemoteTable | None = import_module("macekit.engines.reading").table_of(value)
    return table


def __getattr__(name: str) -> object:
    """Import a listed name when it is first used: whoever has no frame of an engine needs none of it."""
    if name not in NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("macekit.engines.counting"), name)
