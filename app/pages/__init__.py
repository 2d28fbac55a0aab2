"""Documentation pages that work with no internet: Swagger UI and ReDoc from files shipped in the package."""

from __future__ import annotations

from app.pages.routes import pages

__all__ = ["pages"]
