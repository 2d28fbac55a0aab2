"""The pages: the report at ``/``, the API at ``/docs``, the guide at ``/docs/guide/``; and the files that they load.

Files are read once and checked: what is served is what was reviewed. ``assets/`` holds other people's files as
``scripts/assets`` took them, with ``manifest.json`` to say which they are; ``own/`` holds ours. An address carries the
file's hash, so a browser may keep it for ever.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from string import Template

from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from estimators import PRESETS
from estimators.density.bandwidth import BANDWIDTHS
from estimators.python.dataclass import dataclass
from macekit.call import __version__
from macekit.catalogue import OPERATIONS
from macekit.formats import FILE_FORMATS, FORMATS, SUFFIXES
from macekit.problems import Problem
from macekit.reports.html import STYLE_HASH

HERE = Path(__file__).resolve().parent

MEDIA_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".png": "image/png"}
"""What is served; every other file is a licence or describes the rest."""


class DamagedAsset(RuntimeError):
    """A file of the pages is missing, or is not the one its manifest describes."""


@dataclass(frozen=True, slots=True)
class Asset:
    """One file as it is served."""

    file: str
    media_type: str
    data: bytes
    digest: bytes

    @property
    def tag(self) -> str:
        """What names this content and no other."""
        return self.digest.hex()[:16]

    @property
    def address(self) -> str:
        """The file's name with its hash in it."""
        path = Path(self.file)
        return f"{path.stem}.{self.tag}{path.suffix}"

    @property
    def integrity(self) -> str:
        """What the browser checks the file against before it runs it."""
        return f"sha256-{b64encode(self.digest).decode()}"

    @property
    def compressible(self) -> bool:
        """Whether compression gains anything."""
        return self.media_type.startswith("text/")


@cache
def compressed(asset: Asset) -> bytes:
    """The file as gzip, made when first asked for: the same bytes every time."""
    return gzip.compress(asset.data, compresslevel=9, mtime=0)


def load_assets(home: Path = HERE) -> Mapping[str, Asset]:
    """Every file that may be served, by its plain name; ``DamagedAsset`` if one is not what it should be."""
    return {
        path.name: Asset(path.name, MEDIA_TYPES[path.suffix], data, digest)
        for path, data, digest in (*_shipped(home / "assets"), *_own(home / "own"))
        if path.suffix in MEDIA_TYPES
    }


def fragment(name: str, home: Path = HERE) -> str:
    """A page's body, which is served as part of the page and not by itself."""
    return _read(home / "own" / name).decode()


def _shipped(home: Path) -> Iterator[tuple[Path, bytes, bytes]]:
    manifest = json.loads(_read(home / "manifest.json"))
    for package, about in manifest.items():
        for name, entry in about["files"].items():
            data = _read(home / package / name)
            digest = sha256(data).digest()
            if digest.hex() != entry["sha256"]:
                raise DamagedAsset(
                    f"the file {name} of {package} is not the one its manifest describes: install mace anew"
                )
            yield home / package / name, data, digest


def _own(home: Path) -> Iterator[tuple[Path, bytes, bytes]]:
    for path in sorted(home.iterdir()):
        data = _read(path)
        yield path, data, sha256(data).digest()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DamagedAsset(f"the file {path.name} of the pages cannot be read: install mace anew") from error


PLACE = Path(sys.prefix) / "share" / "mace" / "guide"
"""Where it is looked for, and where ``scripts/docs`` puts it, unless told otherwise."""

NOT_BUILT = "the guide is not built here: scripts/docs builds it, and MACE_GUIDE names another folder that has it"
MEDIA = {**MEDIA_TYPES, ".html": "text/html; charset=utf-8", ".svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True)
class Guide:
    """Every file by its place below the guide; no path is ever built from what was asked."""

    files: Mapping[str, Path]

    @classmethod
    def of(cls, folder: Path) -> Guide:
        """The files that are there now; none, where it was never built."""
        return cls({path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()})

    async def enter(self, _request: Request) -> Response:
        """Lead to where the guide's own relative addresses hold."""
        return RedirectResponse("guide/")

    async def find(self, request: Request) -> Asset:
        """The file that was asked for."""
        if not self.files:
            raise Problem("not-found", NOT_BUILT)
        path = self.files.get(request.path_params["place"] or "index.html")
        if path is None:
            raise Problem("not-found", "the guide has no such page; /docs/guide/ is its first")
        return await to_thread.run_sync(_asset_of, path)


@cache
def _asset_of(path: Path) -> Asset:
    data = path.read_bytes()
    media_type = MEDIA.get(path.suffix, "application/octet-stream")
    return Asset(path.name, media_type, data, sha256(data).digest())


@cache
def inline_hashes(page: Asset, element: str) -> str:
    """What a policy says to allow the scripts, or the styles, that stand in a page of the guide."""
    pattern = rf"<{element}>(.*?)</{element}>".encode()
    digests = {sha256(text).digest() for text in re.findall(pattern, page.data, re.DOTALL)}
    return "".join(f" 'sha256-{b64encode(digest).decode()}'" for digest in sorted(digests))


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


NUMBER = r"\s*[+\-]?(\d+\.?\d*|\.\d+)([eE][+\-]?\d+)?\s*"
"""What a field of a number takes: one of the browser's own drops a comma as it is typed, and 0,1 becomes 1."""


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
            metrics=metrics(),
            kernels=kernels(),
            formats=formats(),
            number=NUMBER,
            operations=" ".join(row.name for row in OPERATIONS),
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
