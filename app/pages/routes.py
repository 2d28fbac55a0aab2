"""The pages: the report at ``/``, the API at ``/docs``, the guide at ``/docs/guide/``; their files."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from html import escape
from pathlib import Path
from string import Template

from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from app.pages.static import PLACE, Asset, Guide, compressed, fragment, inline_hashes, load_assets
from estimators import PRESETS
from estimators.density.bandwidth import BANDWIDTHS
from estimators.python.dataclass import dataclass
from macekit.call import __version__
from macekit.catalogue import OPERATIONS
from macekit.formats import FILE_FORMATS, FORMATS, SUFFIXES
from macekit.reports.html import STYLE_HASH

Answering = Callable[[Request], Awaitable[Response]]

# The pages as text: no script or style stands in them, so their policies can forbid both.

EVERYWHERE = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}


def _policy(extra: Mapping[str, str]) -> str:
    return "; ".join(f"{name} {value}" for name, value in {**EVERYWHERE, **extra}.items())


DESCRIPTION = """\
<main id="page" data-openapi="$openapi"></main>
<noscript>This page needs JavaScript. What it shows is at <a href="$openapi">$openapi</a>.</noscript>
"""
"""What a script fills with the description of the API."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page: what it loads, in this order, what it may do beyond ``EVERYWHERE``, and what it holds."""

    title: str
    styles: tuple[str, ...]
    scripts: tuple[str, ...]
    extra: Mapping[str, str]
    body: str = DESCRIPTION

    @property
    def policy(self) -> str:
        """The content security policy it is served with."""
        return _policy(self.extra)

    def text(self, assets: Mapping[str, Asset], **words: str) -> str:
        """The page; ``words`` fill the places in its body, such as an address relative to the page's own."""
        lines = (
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(self.title)}</title>",
            f'<link rel="icon" type="image/png" href="assets/{assets[ICON].address}">',
            *(
                f'<link rel="stylesheet" href="assets/{asset.address}" integrity="{asset.integrity}">'
                for asset in (assets[name] for name in self.styles)
            ),
            *(
                f'<script defer src="assets/{asset.address}" integrity="{asset.integrity}"></script>'
                for asset in (assets[name] for name in self.scripts)
            ),
            "</head>",
            "<body>",
            Template(self.body).substitute({name: escape(text) for name, text in words.items()}).rstrip(),
            "</body>",
            "</html>",
            "",
        )
        return "\n".join(lines)


ICON = "favicon-32x32.png"

SWAGGER = Page(
    title="mace: try the API",
    styles=("swagger-ui.css", "page.css"),
    scripts=("swagger-ui-bundle.js", "swagger.js"),
    extra={},
)

ABBREVIATION = 3  # letters that an abbreviation has at most: NPV, F1

PARTS = ("files", "kinds", "commands", "request", "form", "progress", "slots")
"""The scripts of the page at the root, each after those it uses."""


def home(body: str) -> Page:
    """The page from files to a report, which it shows in a frame that inherits this policy: hence the style's hash."""
    return Page(
        title="mace: what does your model give away?",
        styles=("home.css",),
        scripts=(*(f"home-{part}.js" for part in PARTS), "home.js"),
        extra={"style-src": f"'self' '{STYLE_HASH}'", "frame-src": "blob:"},
        body=body,
    )


def metrics() -> str:
    """A choice for each metric that has a name and needs no weights."""
    return "\n".join(
        f'<option value="{name}" title="{escape(preset.description)}">{_words(name)}</option>'
        for name, preset in PRESETS.items()
        if not preset.parameters
    )


def kernels() -> str:
    """A choice for each rule that finds a bandwidth."""
    estimators = ({"kind": "kde", "bandwidth": rule} for rule in BANDWIDTHS)
    return "\n".join(
        f"<option value='{json.dumps(each)}'>Kernel densities, bandwidth by {_words(each['bandwidth'])}</option>"
        for each in estimators
    )


def formats() -> str:
    """What a file of each format is called and begins with, each byte as a character."""
    rows = [
        {
            "name": row.title,
            "type": row.media_type,
            "magic": [magic.decode("latin-1") for magic in row.magic],
            "suffixes": [suffix for suffix, name in SUFFIXES.items() if FORMATS[name] == row.media_type],
        }
        for row in FILE_FORMATS
    ]
    return escape(json.dumps(rows))


def _words(name: str) -> str:
    """A name in words: an abbreviation in capitals."""
    return name.upper() if len(name) <= ABBREVIATION else name.replace("_", " ").title()


ALWAYS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
CACHE_FOR_EVER = "public, max-age=31536000, immutable"


def pages(openapi_url: str = "/openapi.json", guide: Path = PLACE) -> list[Route]:
    """Make the routes of the pages; their files are read and checked here, so a damaged one stops the start."""
    assets = load_assets()
    built = Guide.of(guide)
    offer = "" if built.files else "hidden"
    openapi = openapi_url.removeprefix("/")
    start = home(
        Template(fragment("home.html")).safe_substitute(
            metrics=metrics(), kernels=kernels(), formats=formats(), operations=" ".join(row.name for row in OPERATIONS)
        )
    )
    return [
        Route("/", _page(start, start.text(assets, version=__version__, offer=offer)), name="home"),
        Route("/docs", _page(SWAGGER, SWAGGER.text(assets, openapi=openapi)), name="docs"),
        Route("/redoc", _former, name="redoc"),
        Route("/docs/guide", built.enter, name="guide"),
        Route("/docs/guide/{place:path}", _guide(built), name="guide_pages"),
        Route("/assets/{address}", _assets(assets), name="assets"),
    ]


async def _former(request: Request) -> Response:
    """Where the API was read before: what is tried there is read there."""
    return RedirectResponse("docs", 308, ALWAYS)


def _page(page: Page, text: str) -> Answering:
    headers = {**ALWAYS, "Content-Security-Policy": page.policy, "Cache-Control": "no-cache"}

    async def answer(request: Request) -> Response:
        return HTMLResponse(text, headers=headers)

    return answer


def _assets(assets: Mapping[str, Asset]) -> Answering:
    """Every file by the address it is served under; no path is ever built from what was asked."""
    by_address = {asset.address: asset for asset in assets.values()}

    async def answer(request: Request) -> Response:
        asset = by_address.get(request.path_params["address"])
        if asset is None:
            raise HTTPException(404)
        return await _sent(request, asset, {"Cache-Control": CACHE_FOR_EVER})

    return answer


def _guide(guide: Guide) -> Answering:
    async def answer(request: Request) -> Response:
        asset = await guide.find(request)
        headers = {"Cache-Control": "no-cache"}
        if asset.media_type.startswith("text/html"):
            headers["Content-Security-Policy"] = _policy(
                {
                    "script-src": "'self'" + inline_hashes(asset, "script"),
                    "style-src": "'self'" + inline_hashes(asset, "style"),
                    "form-action": "'self'",  # its search
                }
            )
        return await _sent(request, asset, headers)

    return answer


async def _sent(request: Request, asset: Asset, headers: Mapping[str, str]) -> Response:
    """A file with these headers, compressed if that is asked for, or the word that it has not changed."""
    headers = {**ALWAYS, **headers}
    data, tag = asset.data, f'"{asset.tag}"'
    if asset.compressible:
        headers["Vary"] = "Accept-Encoding"
        if _takes_gzip(request.headers.get("accept-encoding", "")):
            headers["Content-Encoding"] = "gzip"
            data, tag = await to_thread.run_sync(compressed, asset), f'"{asset.tag}-gzip"'
    headers["ETag"] = tag
    if _matches(request.headers.get("if-none-match", ""), tag):
        headers.pop("Content-Encoding", None)
        return Response(status_code=304, headers=headers)
    return Response(data, headers={**headers, "Content-Type": asset.media_type})


def _takes_gzip(accept: str) -> bool:
    for part in accept.lower().split(","):
        coding, _, weight = part.replace(" ", "").partition(";q=")
        if coding == "gzip":
            return weight.strip("0.") != "" if weight else True
    return False


def _matches(if_none_match: str, tag: str) -> bool:
    tags = {part.strip().removeprefix("W/") for part in if_none_match.split(",")}
    return tag in tags or "*" in tags
