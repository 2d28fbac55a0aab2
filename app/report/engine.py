"""The engine that draws: V8 with Vega-Lite in it, started at the first drawing of a process and kept from then on.

Measured: 0.4 s to start, then about 20 ms a chart. It reserves 512 MiB of addresses and uses some 100 MiB of memory;
what it is refused it does not survive. Where writable addresses are limited (a worker's are), the limit is raised by
what the engine itself needs, once: what a request may take stays as it was.
"""

from __future__ import annotations

import resource
from collections.abc import Mapping
from functools import cache
from typing import Any

ROOM = 704 * 2**20
"""Bytes of writable addresses given to the engine beyond a limit: it reserves 512 MiB, and used up to 92 more."""

VERSION = "6.4"
"""Of Vega-Lite: named, so that a newer engine draws the same."""


def painted(spec: Mapping[str, Any]) -> str:
    """A specification as SVG, as the engine writes it."""
    _make_room()
    import vl_convert

    return vl_convert.vegalite_to_svg(dict(spec), vl_version=VERSION, allowed_base_urls=[])


def rastered(svg: str, scale: float) -> bytes:
    """A drawing as PNG."""
    _make_room()
    import vl_convert

    return vl_convert.svg_to_png(svg, scale=scale)


@cache
def _make_room() -> None:
    """Raise a limit that would be the engine's end, as far as this process may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if soft == resource.RLIM_INFINITY:
        return
    wanted = soft + ROOM
    resource.setrlimit(
        resource.RLIMIT_DATA, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
    )
