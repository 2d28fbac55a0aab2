"""Starlette's test client, with the httpx that is pinned: it asks for a successor that is not, by a warning."""

import warnings

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message="Using `httpx`")
    from starlette.testclient import TestClient

__all__ = ["TestClient"]
