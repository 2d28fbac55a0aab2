"""The operations of ``/v1/theory``."""

from __future__ import annotations

from collections.abc import Callable

from macekit.call import Call, Reply
from macekit.decoding.body import Material
from macekit.operations.theory import dp, mip, mis, pmp, together

OPERATIONS: dict[str, Callable[[Call, Material], Reply]] = (
    dp.OPERATIONS | mip.OPERATIONS | mis.OPERATIONS | pmp.OPERATIONS | together.OPERATIONS
)
