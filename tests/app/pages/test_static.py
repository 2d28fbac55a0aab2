"""The files of the pages: whole, as their manifest says, and named for their content."""

import gzip
import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from app.pages.routes import HERE, DamagedAsset, compressed, load_assets

MANIFEST = json.loads((HERE / "assets" / "manifest.json").read_text(encoding="utf-8"))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for part in ("assets", "own"):
        shutil.copytree(HERE / part, tmp_path / part)
    return tmp_path


def test_every_shipped_file_is_the_one_its_manifest_describes() -> None:
    described = {
        HERE / "assets" / package / name: entry["sha256"]
        for package, about in MANIFEST.items()
        for name, entry in about["files"].items()
    }
    present = {path for path in (HERE / "assets").rglob("*") if path.is_file()}

    assert present == {*described, HERE / "assets" / "manifest.json"}
    assert all(sha256(path.read_bytes()).hexdigest() == digest for path, digest in described.items())


def test_every_package_says_its_version_and_ships_its_licence() -> None:
    for package, about in MANIFEST.items():
        assert about["version"][0].isdigit()
        assert about["licence"] in {"Apache-2.0", "MIT"}
        assert (HERE / "assets" / package / "LICENSE").stat().st_size > 500


def test_nothing_but_scripts_styles_and_images_is_served() -> None:
    parts = ("commands", "files", "form", "kinds", "progress", "request", "slots")
    home = [*(f"home-{part}.js" for part in parts), "home.css", "home.js"]
    others = ["page.css", "swagger-ui-bundle.js", "swagger-ui.css", "swagger.js"]

    assert sorted(load_assets()) == ["favicon-32x32.png", *home, *others]


def test_an_address_changes_with_the_content(copy: Path) -> None:
    before = load_assets(copy)["swagger.js"]
    (copy / "own" / "swagger.js").write_text("// other", encoding="utf-8")

    after = load_assets(copy)["swagger.js"]

    assert before == load_assets()["swagger.js"]
    assert before.address != after.address


def test_compression_is_lossless_and_always_the_same() -> None:
    asset = load_assets()["swagger-ui.css"]

    small = compressed(asset)

    assert gzip.decompress(small) == asset.data
    assert small == gzip.compress(asset.data, compresslevel=9, mtime=0)
    assert len(small) < len(asset.data) / 3


def append(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b" ")


@pytest.mark.parametrize("harm", [append, Path.unlink], ids=["changed", "missing"])
@pytest.mark.parametrize("file", ["swagger-ui-dist/swagger-ui.css", "swagger-ui-dist/LICENSE"])
def test_a_damaged_file_is_named_before_anything_is_served(copy: Path, harm: Callable[[Path], None], file: str) -> None:
    harm(copy / "assets" / file)

    with pytest.raises(DamagedAsset, match=Path(file).name):
        load_assets(copy)
