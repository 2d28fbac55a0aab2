"""Where the pages are: ``/`` for a report, ``/docs`` and ``/redoc`` for the API, ``/assets/`` for what they load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version

from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from app.pages.documents import REDOC, SWAGGER, Page, home
from app.pages.shelf import Asset, compressed, fragment, shelf

ALWAYS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
FOR_EVER = "public, max-age=31536000, immutable"


def pages(openapi_url: str = "/openapi.json") -> list[Route]:
    """Make the routes of the pages; their files are read and checked here, so a damaged one stops the start."""
    assets = shelf()
    openapi = openapi_url.removeprefix("/")
    start = home(fragment("home.html"))
    return [
        Route("/", _Shown.of(start, start.text(assets, version=version("mace"))).answer, name="home"),
        Route("/docs", _Shown.of(SWAGGER, SWAGGER.text(assets, openapi=openapi)).answer, name="docs"),
        Route("/redoc", _Shown.of(REDOC, REDOC.text(assets, openapi=openapi)).answer, name="redoc"),
        Route("/assets/{address}", _Served.of(assets).answer, name="assets"),
    ]


@dataclass(frozen=True, slots=True)
class _Shown:
    """One page, ready to send."""

    text: str
    headers: Mapping[str, str]

    @classmethod
    def of(cls, page: Page, text: str) -> _Shown:
        return cls(text, {**ALWAYS, "Content-Security-Policy": page.policy, "Cache-Control": "no-cache"})

    async def answer(self, request: Request) -> Response:
        return HTMLResponse(self.text, headers=self.headers)


@dataclass(frozen=True, slots=True)
class _Served:
    """Every file by the address it is served under; no path is ever built from what was asked."""

    assets: Mapping[str, Asset]

    @classmethod
    def of(cls, assets: Mapping[str, Asset]) -> _Served:
        return cls({asset.address: asset for asset in assets.values()})

    async def answer(self, request: Request) -> Response:
        asset = self.assets.get(request.path_params["address"])
        if asset is None:
            raise HTTPException(404)

        headers = {**ALWAYS, "Cache-Control": FOR_EVER}
        data, tag = asset.data, f'"{asset.tag}"'
        if asset.compressible:
            headers["Vary"] = "Accept-Encoding"
            if _takes_gzip(request.headers.get("accept-encoding", "")):
                headers["Content-Encoding"] = "gzip"
                data, tag = await to_thread.run_sync(compressed, asset), f'"{asset.tag}-gzip"'
        headers["ETag"] = tag
        if _holds(request.headers.get("if-none-match", ""), tag):
            headers.pop("Content-Encoding", None)
            return Response(status_code=304, headers=headers)
        return Response(data, media_type=asset.media_type, headers=headers)


def _takes_gzip(accept: str) -> bool:
    for part in accept.lower().split(","):
        coding, _, weight = part.replace(" ", "").partition(";q=")
        if coding == "gzip":
            return weight.strip("0.") != "" if weight else True
    return False


def _holds(if_none_match: str, tag: str) -> bool:
    held = {part.strip().removeprefix("W/") for part in if_none_match.split(",")}
    return tag in held or "*" in held
