"""The two pages as text: no script or style stands in them, so their policies can forbid both.

Every address is relative to the page's own, so they hold under whatever path a proxy shows the service.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from app.pages.shelf import Asset

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


@dataclass(frozen=True, slots=True)
class Page:
    """One page: what it loads, in this order, and what it may do beyond ``EVERYWHERE``."""

    title: str
    styles: tuple[str, ...]
    scripts: tuple[str, ...]
    extra: Mapping[str, str]

    @property
    def policy(self) -> str:
        """The content security policy it is served with."""
        return "; ".join(f"{name} {value}" for name, value in {**EVERYWHERE, **self.extra}.items())

    def text(self, assets: Mapping[str, Asset], openapi: str) -> str:
        """The page, for the description of the API at ``openapi``, an address relative to the page's own."""
        where = escape(openapi)
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
            f'<main id="page" data-openapi="{where}"></main>',
            f'<noscript>This page needs JavaScript. What it shows is at <a href="{where}">{where}</a>.</noscript>',
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
