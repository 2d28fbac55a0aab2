"""What the routes of one app share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from starlette.requests import Request

from app.jobs.pool import Pool
from app.settings import Settings
from app.telemetry.metrics import Metrics
from app.telemetry.traces import Traces


@dataclass(slots=True)
class Service:
    """The app's settings, its workers, and what it tells about itself; ``draining`` turns true once, at the end."""

    settings: Settings
    pool: Pool
    traces: Traces
    metrics: Metrics = field(default_factory=Metrics)
    draining: bool = False


def service(request: Request) -> Service:
    """Return the service that a request came to."""
    return cast(Service, request.app.state.service)
