"""The pages: from scores to a report, and the documentation of the API, both from files shipped in the package."""

from __future__ import annotations

from app.pages.routes import pages

__all__ = ["pages"]
