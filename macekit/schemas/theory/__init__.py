"""Questions and answers of ``/v1/theory``: what the papers promise, without or beside records."""

from __future__ import annotations

from macekit.schemas.records import Asked
from macekit.schemas.theory import dp, mip, mis, pmp, together

QUESTIONS: dict[str, type[Asked]] = (
    dp.QUESTIONS | mip.QUESTIONS | mis.QUESTIONS | pmp.QUESTIONS | together.QUESTIONS
)
ANSWERS: dict[str, type] = dp.ANSWERS | mip.ANSWERS | mis.ANSWERS | pmp.ANSWERS | together.ANSWERS
ARRAYS: dict[str, tuple[str, ...]] = dp.ARRAYS | mip.ARRAYS | mis.ARRAYS | pmp.ARRAYS | together.ARRAYS
"""Fields that hold arrays, by operation; a body that is one array, or a table, fills the first."""
