"""Tables in a README: each stands between <!-- its name --> and <!-- end -->, and the text around stays as it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

BLOCK = re.compile(r"(?<=<!-- )(?P<name>(?!end)\w+)(?P<open> -->\n\n)(?P<table>.*?)(?=\n\n<!-- end -->)", re.DOTALL)


def blocks(path: Path) -> dict[str, str]:
    """What stands in it, by name."""
    return {match["name"]: match["table"] for match in BLOCK.finditer(path.read_text(encoding="utf-8"))}


def write_blocks(path: Path, tables: Mapping[str, str]) -> None:
    """Put new tables in the place of the old ones."""
    text = BLOCK.sub(
        lambda old: old["name"] + old["open"] + tables.get(old["name"], old["table"]), path.read_text(encoding="utf-8")
    )
    path.write_text(text, encoding="utf-8")
