"""``perform`` with the work of every operation imported, and its question's checks built: for who forks workers."""

# Processes of `app` put these off, and workers would each import them.
from numpy.ma import MaskedArray  # noqa: F401
from scipy.fft import rfft  # noqa: F401

from macekit import operations
from macekit.catalogue import OPERATIONS, WINGS
from macekit.schemas.by_operation import QUESTIONS

perform = operations.perform

for row in OPERATIONS:
    operations.work_of(row.name)
    QUESTIONS[row.name].model_rebuild()
for wing in WINGS:
    operations.for_core(wing)
