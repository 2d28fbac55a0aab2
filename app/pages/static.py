"""The files that the pages load, read once and checked: what is served is what was reviewed.

``assets/`` holds other people's files as ``scripts/assets`` took them, with ``manifest.json`` to say which they
are; ``own/`` holds ours. An address carries the file's hash, so a browser may keep it for ever.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from base64 import b64encode
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from estimators.python.dataclass import dataclass
from macekit.problems import Problem

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
