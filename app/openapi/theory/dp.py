"""What OpenAPI says of the DP operations, and examples that run as they stand."""

from __future__ import annotations

from app.openapi.example import Example

SUMMARIES: dict[str, str] = {}
ABOUT: dict[str, str] = {}
EXAMPLES: dict[str, dict[str, Example]] = {}
