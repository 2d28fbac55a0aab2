"""The OpenAPI document as a file, for whoever reads the interface or makes a client of it without a service."""

import json
import os
import sys
from pathlib import Path

from app.main import create_app
from app.settings import Settings

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "openapi.json"


def text() -> str:
    """Return the document of a service with default settings, laid out for diffs."""
    return json.dumps(create_app(Settings()).openapi(), indent=1, ensure_ascii=False) + "\n"


def complaints() -> list[str]:
    """Say so if the file is not what the code makes."""
    if DOCUMENT.exists() and DOCUMENT.read_text(encoding="utf-8") == text():
        return []
    return ["docs/openapi.json is not what the code makes: run scripts/openapi"]


def main(arguments: list[str]) -> int:
    """Write the file, or compare it; 0 when it is as it should be."""
    for name in [name for name in os.environ if name.startswith("MACE_")]:
        del os.environ[name]  # a key would show in the document
    if arguments == ["--check"]:
        found = complaints()
        print("\n".join(found) or "docs/openapi.json is what the code makes")
        return len(found)
    DOCUMENT.write_text(text(), encoding="utf-8")
    print(f"{DOCUMENT.name} written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
