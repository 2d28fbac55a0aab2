"""``perform`` with the work of every operation imported: for a process that forks workers."""

from macekit.catalogue import OPERATIONS, WINGS
from macekit.operations import perform, work_of
from macekit.operations.of_wings import modules_of

__all__ = ["perform"]

for row in OPERATIONS:
    work_of(row.name)
for wing in WINGS:
    modules_of(wing)
