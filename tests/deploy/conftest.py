"""The checks live in scripts/, which is no package: its folder is put where Python looks."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
