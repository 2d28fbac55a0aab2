"""What OpenAPI says of ``/v1/theory``."""

from __future__ import annotations

from app.openapi.example import Example
from app.openapi.theory import dp, mip, mis, pmp, together

SUMMARIES: dict[str, str] = dp.SUMMARIES | mip.SUMMARIES | mis.SUMMARIES | pmp.SUMMARIES | together.SUMMARIES
ABOUT: dict[str, str] = dp.ABOUT | mip.ABOUT | mis.ABOUT | pmp.ABOUT | together.ABOUT
EXAMPLES: dict[str, dict[str, Example]] = (
    dp.EXAMPLES | mip.EXAMPLES | mis.EXAMPLES | pmp.EXAMPLES | together.EXAMPLES
)
