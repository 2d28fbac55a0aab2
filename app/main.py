"""The app: settings, workers and routes put together, with the layers in front of them.

``create_app`` makes an app of given settings; ``app`` is the one of this process's environment, made when it is
first asked for, so that importing this module reads nothing and starts nothing.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from anyio import to_thread
from fastapi import FastAPI
from fastapi.routing import APIRoute
from fastapi.telemetry import TelemetryConfig
from starlette.routing import request_response

from app import WELL_KNOWN
from app.http import health, later, operations
from app.http.jobs import JobsInMemory
from app.http.middleware import CallRoute, front
from app.http.service import HANDLERS, Service, keep_time
from app.openapi.document import complete
from app.pages import pages
from app.pages.routes import PLACE
from app.settings import BadSettings, Settings, load
from app.telemetry import logs
from app.telemetry.traces import traces
from app.workers.pool import Pool
from macekit.call import __version__

app: FastAPI

NOTHING: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
"""FastAPI's own telemetry, which would send along exceptions and addresses, and start by an environment variable."""

PROBES = frozenset({"/healthz", "/readyz"})
OPENAPI = "/openapi.json"

ABOUT = """\
Scores go in, a certified statement about membership leakage comes out.

Every answer carries its interval and what the interval guarantees. Everything that can go wrong is an
`application/problem+json` document (RFC 9457) with a stable `type`.
"""


def create_app(settings: Settings | None = None) -> FastAPI:
    """Make an app of these settings, or of the environment's; it starts its workers with its lifespan."""
    settings = load() if settings is None else settings
    address = settings.store_address
    pool = Pool(settings)
    keys = settings.keys
    service = Service(
        settings,
        pool,
        traces(settings.otlp_endpoint),
        JobsInMemory(pool.budget, settings.keep_answers),
        settings.signer,
        settings.audit,
        settings.runs if address is None else None,
        keys,
    )
    if address is not None:
        _share(service, address)
    service.jobs.answer = partial(operations.answer_question, service)
    service.metrics.watch(service.pool.snapshot)
    service.metrics.watch_jobs(service.jobs.states)
    service.metrics.watch_gauges(service.gauges)
    application = FastAPI(
        title="mace",
        version=__version__,
        description=ABOUT,
        openapi_url=OPENAPI,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
        exception_handlers=HANDLERS,
        telemetry=NOTHING,
    )
    application.root_path = settings.root_path  # it may or may not still stand before a path
    application.state.service = service
    page_routes = pages(OPENAPI, settings.guide or PLACE)
    for router in (operations.router(), later.router, health.reference, health.router, health.examples):
        # Not include_router: an included router is searched anew for every request.
        application.router.routes.extend(router.routes)
    for route in application.routes:
        if isinstance(route, APIRoute):
            # Each takes the request and gives a response: the framework has nothing to work out, every time, for it.
            route.app = request_response(route.endpoint)
    application.router.routes.extend(page_routes)
    open_to_all = PROBES | {OPENAPI, WELL_KNOWN, "/examples/{name}"} | {page.path for page in page_routes}
    application.user_middleware = front(service, application.routes, open_to_all, PROBES | {"/metrics"})
    application.router.middleware_stack = CallRoute(application.router)
    _document(application, locked=keys is not None, open_to_all=open_to_all)
    return application


def _share(service: Service, address: str) -> None:
    """Have a service share with its replicas; only then is it imported what asks the database."""
    try:
        from app.store.sharing import share
    except ModuleNotFoundError as error:
        if error.name != "asyncpg":
            raise
        raise BadSettings("MACE_STORE: needs asyncpg; pip install 'macekit[replicas]'") from None
    share(service, address)


@asynccontextmanager
async def _lifespan(application: FastAPI) -> AsyncIterator[dict[str, Any]]:
    """Keep the workers up while the app serves, and send the last spans when it ends."""
    service: Service = application.state.service
    if service.store is not None:
        await service.store.start()
    await service.pool.start()
    clock = asyncio.create_task(keep_time(service))
    try:
        yield {"service": service}
    finally:
        clock.cancel()
        service.draining = True
        await service.jobs.close()
        await service.pool.stop()
        await to_thread.run_sync(service.traces.close)
        if service.audit is not None:
            await to_thread.run_sync(service.audit.close)
        if service.runs is not None:
            service.runs.close()
        if service.store is not None:
            await service.store.close()


def _document(application: FastAPI, *, locked: bool, open_to_all: frozenset[str]) -> None:
    """Complete the OpenAPI document, and say in it where the key is needed."""
    generate = application.openapi

    def openapi() -> dict[str, Any]:
        if application.openapi_schema:
            return application.openapi_schema
        document = complete(generate(), (*health.ANSWERS, *later.ANSWERS))
        if locked:
            schemes = document["components"].setdefault("securitySchemes", {})
            schemes["key"] = {
                "type": "http",
                "scheme": "bearer",
                "description": "the key of the service, or yours: `mace keys` makes them",
            }
            for path, item in document["paths"].items():
                for operation in item.values():
                    operation["security"] = [] if path in open_to_all else [{"key": []}]
        return document

    application.openapi = openapi  # type: ignore[method-assign]


def __getattr__(name: str) -> Any:
    """Make ``app`` when it is first asked for, as in ``uvicorn app.main:app``."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    settings = load()
    logs.configure(settings)
    globals()["app"] = create_app(settings)
    return globals()["app"]
