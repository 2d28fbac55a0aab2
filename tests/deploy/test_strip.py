"""What is cut from shared libraries, where the image is built, is nothing that is loaded."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["uvloop.loop", "csimdjson", "cryptography.hazmat.bindings._rust"])
def test_a_library_that_is_cut_is_shorter_and_loads(name: str, tmp_path: Path) -> None:
    original = Path(str(importlib.util.find_spec(name).origin))  # type: ignore[union-attr]
    copy, text = tmp_path / original.name, tmp_path / "not.so"
    copy.write_bytes(original.read_bytes())
    text.write_text("no library")
    load = (
        "import importlib.util as u, sys; "
        f"m = u.module_from_spec(s := u.spec_from_file_location({name!r}, sys.argv[1])); s.loader.exec_module(m)"
    )

    subprocess.run([sys.executable, ROOT / "deploy" / "strip.py", tmp_path], check=True)

    assert copy.stat().st_size < 0.9 * original.stat().st_size
    assert text.read_text() == "no library"
    subprocess.run([sys.executable, "-c", load, copy], check=True)
