"""The DP operations."""

from __future__ import annotations

from collections.abc import Callable

from app.call import Call, Reply
from app.decoding.material import Material

OPERATIONS: dict[str, Callable[[Call, Material], Reply]] = {}
