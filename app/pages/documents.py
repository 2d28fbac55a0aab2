"""The pages as text: no script or style stands in them, so their policies can forbid both.

Every address is relative to the page's own, so they hold under whatever path a proxy shows the service.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from string import Template

from app.pages.shelf import Asset
from macekit.report.html import STYLE_HASH

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

EMPTY_STYLE = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
"""Allows a style element with nothing in it: ReDoc makes one and fills it rule by rule, by script."""

SCROLLBAR_STYLE = "'sha256-QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc='"
"""Allows the one style sheet in ReDoc's bundle; a new release may change it, and tests/browser then says its hash."""


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
        return "; ".join(f"{name} {value}" for name, value in {**EVERYWHERE, **self.extra}.items())

    def text(self, assets: Mapping[str, Asset], **said: str) -> str:
        """The page; ``said`` are the words its body has places for, such as an address relative to the page's own."""
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
            Template(self.body).substitute({name: escape(words) for name, words in said.items()}).rstrip(),
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

REDOC = Page(
    title="mace: the API",
    styles=("page.css",),
    scripts=("redoc.standalone.js", "redoc.js"),
    extra={
        "style-src": f"'self' {EMPTY_STYLE} {SCROLLBAR_STYLE}",
        "worker-src": "blob:",
    },  # the worker searches
)


PARTS = ("files", "commands", "request", "form", "progress")
"""The scripts of the page from scores to a report, each after those it uses."""


def home(body: str) -> Page:
    """The page from scores to a report, which it shows in a frame that inherits this policy: hence the style's hash."""
    return Page(
        title="mace: what do your scores give away?",
        styles=("home.css",),
        scripts=(*(f"home-{part}.js" for part in PARTS), "home.js"),
        extra={"style-src": f"'self' '{STYLE_HASH}'", "frame-src": "blob:"},
        body=body,
    )
