"""``perform`` with the work of every operation imported: for a process that forks workers."""

from macekit import operations
from macekit.catalogue import OPERATIONS, WINGS
from macekit.operations.of_wings import modules_of

perform = operations.perform

for row in OPERATIONS:
    operations.work_of(row.name)
for wing in WINGS:
    modules_of(wing)
