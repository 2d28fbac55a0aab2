"""The pages: from scores to a report, and the documentation of the API, both from files shipped in the package."""

from app.pages.routes import pages

__all__ = ["pages"]
