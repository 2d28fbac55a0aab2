"""The size of the house, counted from the tree: `python scripts/house.py`; with --check, it may not grow unsaid.

`[tool.house]` in pyproject.toml holds the most of each. Who needs more raises it there, and says why in the commit.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("app", "estimators", "macekit")
FOLDERS = ("audits/", "runs/", "theory/")
WINGS = (
    *(f"{package}/{folder}" for package in ("estimators", "macekit/questions") for folder in FOLDERS),
    *("macekit/audits/", "macekit/engines/", "macekit/imports/", "macekit/mlflow"),
)
MADE = re.compile(r"^<!-- python -m benchmarks table .*-->\n+(?:\|.*\n)+", re.MULTILINE)
"""A table of docs that a command makes."""

WIDE = 120
LONG = 400


def kept(*patterns: str) -> list[str]:
    """Files of the tree that git keeps."""
    listed = subprocess.check_output(["git", "ls-files", *patterns], cwd=ROOT, text=True)
    return [name for name in listed.splitlines() if (ROOT / name).is_file()]


def texts(names: Iterable[str]) -> dict[str, str]:
    """What stands in each."""
    return {name: (ROOT / name).read_text("utf-8") for name in names}


def lines(files: dict[str, str]) -> int:
    """How many lines they have together."""
    return sum(text.count("\n") for text in files.values())


def words(files: dict[str, str]) -> int:
    """How many words they have together."""
    return sum(len(text.split()) for text in files.values())


def measures() -> dict[str, int]:
    """What is counted, by what it is called in `[tool.house]`."""
    product = texts(kept(*(f"{package}/**.py" for package in PACKAGES)))
    wings = {name: text for name, text in product.items() if name.startswith(WINGS)}
    core = {name: text for name, text in product.items() if name not in wings}
    pages = texts(name for name in kept("docs/*.md", "docs/**/*.md", "README.md"))
    docs = {name: MADE.sub("", text) for name, text in pages.items()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    recipe = (ROOT / "docs/architecture.md").read_text("utf-8").partition("### A new question")[2]
    return {
        "lines of the core": lines(core),
        "lines of the wings": lines(wings),
        "lines of core and wings": lines(product),
        "files of core and wings": len(product),
        "files in no folder of estimators": len([name for name in product if name.rpartition("/")[0] == "estimators"]),
        f"modules above {LONG} lines": sum(text.count("\n") > LONG for text in product.values()),
        "import contracts": len(contracts),
        "imports of a wing that the core is allowed": sum(
            len(each.get("ignore_imports", ())) for each in contracts if each["type"] == "layers"
        ),
        "files of a new question, its mathematics among them": len(re.findall(r"(?m)^\d\. ", recipe)),
        "lines of tests": lines(texts(kept("tests/**.py"))),
        "lines of benchmarks": lines(texts(kept("benchmarks/**.py"))),
        "lines of scripts": lines(texts(kept("scripts/*"))),
        "words of README.md": words(texts(["README.md"])),
        "words of docs/architecture.md": words(texts(["docs/architecture.md"])),
        "words of docs by hand": words(docs),
        f"lines of docs above {WIDE} characters": sum(
            len(line) > WIDE for text in docs.values() for line in text.splitlines()
        ),
    }


def main(arguments: list[str]) -> int:
    """Print each with the most that it may be; 1 if one is more."""
    most = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["house"]
    found = measures()
    grown = [name for name, number in found.items() if number > most.get(name, -1)]
    for name, number in found.items():
        if "--check" not in arguments or name in grown:
            print(f"{number:>8,} of {most.get(name, 0):>8,}  {name}")
    return 1 if grown or set(most) != set(found) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
