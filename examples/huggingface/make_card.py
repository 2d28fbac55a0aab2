"""A section about membership leakage in a model card, put between two marks; run again, it is replaced.

    python examples/huggingface/make_card.py scores.csv README.md

What stands beside this file in model-card.md was made so, from the scores that `mace demo` uses.
"""

import re
import sys
from pathlib import Path

import macekit

BEGIN, END = "<!-- membership leakage: begin -->", "<!-- membership leakage: end -->"
SECTION = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)


def with_section(card: str, section: str) -> str:
    """The card with the section in its place, at its end if it had none."""
    marked = f"{BEGIN}\n{section.strip()}\n{END}"
    if SECTION.search(card):
        return SECTION.sub(lambda _: marked, card)
    return f"{card.rstrip()}\n\n{marked}\n"


def main(scores: str, path: str) -> None:
    """Read the scores, and write the card."""
    result = macekit.report(scores, max_advantage=0.1)
    card = Path(path)
    card.write_text(with_section(card.read_text(encoding="utf-8"), result.to_card()), encoding="utf-8")
    print(result.sentence)


if __name__ == "__main__":
    main(*sys.argv[1:3])
