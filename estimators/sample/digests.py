"""What ties an answer to its input: a digest of columns, the same however they are stored."""

import hashlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from estimators.python.dataclass import fields
from estimators.sample.cells import Cells
from estimators.sample.counts import Counts
from estimators.sample.scores import Scores


def fingerprint(data: Scores | Counts) -> str:
    """SHA-256 of the scores, or of counts and their cells, so that an answer can be tied to its input a year later.

    The same scores have the same one, however they are stored: numbers in four bytes or in eight, wide columns of text.
    """
    cells = _columns_of(data.cells) if isinstance(data, Counts) else ()
    return digest(data.members, data.nonmembers, *cells)


def _columns_of(cells: Cells) -> Iterator[NDArray[np.generic]]:
    """What cells are: their kind, and all that says where they lie; not which scores are frequent within them."""
    yield np.array([cells.kind])
    for name in (each.name for each in fields(cells)):  # type: ignore[arg-type]
        value = getattr(cells, name)
        if name == "parts":
            for part in value:
                yield from _columns_of(part)
        elif name != "frequent" and value is not None:
            yield np.atleast_1d(value)


def digest(*columns: NDArray[np.generic]) -> str:
    """SHA-256 of columns in their order."""
    checksum = hashlib.sha256()
    for each in columns:
        column = _canonical(np.ascontiguousarray(each))
        checksum.update(f"{column.dtype.str}{column.shape}".encode())
        checksum.update(column.tobytes() if column.dtype.kind in "US" else column.data)
    return checksum.hexdigest()


def _canonical(column: NDArray[np.generic]) -> NDArray[np.generic]:
    """Integers in eight bytes, text no wider than its longest entry."""
    if column.dtype.kind == "U":
        longest = int(np.strings.str_len(column.astype(np.str_, copy=False)).max())
        return column.astype(f"<U{longest}", copy=False)
    if column.dtype.kind in "iu" and not (column.dtype == np.uint64 and (column > np.uint64(2**63 - 1)).any()):
        return column.astype("<i8", copy=False)
    return column
