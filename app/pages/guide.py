"""The guide, which ``scripts/docs`` builds of docs/ and of the docstrings: its files, below ``/docs/guide/``."""

from __future__ import annotations

import re
import sys
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.pages.static import MEDIA_TYPES, Asset
from estimators.python.dataclass import dataclass
from macekit.problems import Problem

PLACE = Path(sys.prefix) / "share" / "mace" / "guide"
"""Where it is looked for, and where ``scripts/docs`` puts it, unless told otherwise."""

NOT_BUILT = (
    "the guide is not built here: scripts/docs builds it, and MACE_GUIDE names another folder that has it"
)
MEDIA = {**MEDIA_TYPES, ".html": "text/html; charset=utf-8", ".svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True)
class Guide:
    """Every file by its place below the guide; no path is ever built from what was asked."""

    files: Mapping[str, Path]

    @classmethod
    def of(cls, folder: Path) -> Guide:
        """The files that are there now; none, where it was never built."""
        return cls(
            {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
        )

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
        return await to_thread.run_sync(_read, path)


@cache
def _read(path: Path) -> Asset:
    data = path.read_bytes()
    media_type = MEDIA.get(path.suffix, "application/octet-stream")
    return Asset(path.name, media_type, data, sha256(data).digest())


@cache
def inline_hashes(page: Asset, element: str) -> str:
    """What a policy says to allow the scripts, or the styles, that stand in a page of the guide."""
    pattern = rf"<{element}>(.*?)</{element}>".encode()
    digests = {sha256(text).digest() for text in re.findall(pattern, page.data, re.DOTALL)}
    return "".join(f" 'sha256-{b64encode(digest).decode()}'" for digest in sorted(digests))
