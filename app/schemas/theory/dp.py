"""The DP questions and answers."""

from __future__ import annotations

from app.schemas.columns import Asked

QUESTIONS: dict[str, type[Asked]] = {}
ANSWERS: dict[str, type] = {}
ARRAYS: dict[str, tuple[str, ...]] = {}
