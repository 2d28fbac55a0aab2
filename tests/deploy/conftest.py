"""The checks live in scripts/, which is no package: its folder is put where Python looks. A wheel, built once."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree."""
    import wheels

    return wheels.build(ROOT, tmp_path_factory.mktemp("wheel"))
