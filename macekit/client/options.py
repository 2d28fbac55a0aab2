"""What the functions take: records in every form that Python has them; ``keywords`` has the options of each.

``macekit/client/keywords.py`` is made of the schemas by scripts/keywords.py, when the package is built or installed.
"""

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias


class SupportsDict(Protocol):
    """What can be written down as counts: ``estimators.Counts``."""

    def to_dict(self) -> dict[str, Any]:
        """The counts as plain values."""


Values: TypeAlias = Any
"""One value a record: a list, a NumPy array, a column of pandas, Polars or Arrow, a tensor; rows for vectors."""

Data: TypeAlias = Any
"""``Values`` of members; or a table of both sides (a frame, an Arrow table, a dict of columns); or a file, several, a
folder, a pattern, an address in a bucket, or anything that gives Arrow batches."""

LabelValues: TypeAlias = Values | Mapping[str, Values]
CountsLike: TypeAlias = Mapping[str, Any] | SupportsDict
