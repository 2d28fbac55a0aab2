"""From a language model's log-probabilities to a verdict: an n-gram model of the standard library's own docstrings.

    .venv/bin/python examples/language_model.py

A model that trusts four words of context remembers its training texts; one that counts single words remembers less.
What it says of each token goes to `macekit.audit_text`, as any other model's log-probabilities do (docs/queries.md); a
third of the texts trains the reference, another model that saw neither side.
"""

import ast
import math
import re
import sysconfig
from collections import Counter
from pathlib import Path

import numpy as np

import macekit

WORDS = re.compile(r"\w+|[^\w\s]")


def documents(most: int) -> list[list[str]]:
    """The words of docstrings, in an order drawn at random."""
    texts = set()
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        tree = ast.parse(path.read_bytes())
        holders = (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.ClassDef))
        texts |= {ast.get_docstring(each) or "" for each in holders}
    long = sorted(text for text in texts if len(WORDS.findall(text)) >= 30)
    order = np.random.default_rng(0).permutation(len(long))[:most]
    return [WORDS.findall(long[place]) for place in order]


class Model:
    """Counts of words after up to so many others; an estimate leans on shorter contexts where the long one is rare."""

    def __init__(self, texts: list[list[str]], context: int) -> None:
        self.context = context
        self.after: Counter[tuple[str, ...]] = Counter()
        self.seen: Counter[tuple[str, ...]] = Counter()
        for words in texts:
            for place, word in enumerate(words):
                for length in range(context + 1):
                    before = tuple(words[max(0, place - length) : place])
                    if len(before) == length:
                        self.after[(*before, word)] += 1
                        self.seen[before] += 1
        self.vocabulary = len({words[-1] for words in self.after}) + 1

    def log_probabilities(self, words: list[str]) -> list[float]:
        """Of each word after those before it."""
        logs = []
        for place, word in enumerate(words):
            probability = 1.0 / self.vocabulary
            for length in range(min(self.context, place) + 1):
                before = tuple(words[place - length : place])
                weight = self.seen[before] / (self.seen[before] + 1.0)
                share = self.after[(*before, word)] / max(self.seen[before], 1)
                probability = weight * share + (1.0 - weight) * probability
            logs.append(math.log(probability))
        return logs


def main() -> None:
    """Print every query's interval, for a model that remembers and for one that remembers less."""
    texts = documents(900)
    size = len(texts) // 3
    sides, other = (texts[:size], texts[size : 2 * size]), texts[2 * size :]
    reference = Model(other, 2)
    for context in (4, 0):
        model = Model(sides[0], context)
        members, nonmembers = (
            [
                {
                    "text": " ".join(words),
                    "logprobs": model.log_probabilities(words),
                    "reference_logprobs": reference.log_probabilities(words),
                }
                for words in side
            ]
            for side in sides
        )
        answer = macekit.audit_text(members, nonmembers)
        print(f"{context} words of context, {size} texts on either side")
        for place in answer.ranking:
            ends = place.advantage
            print(f"{place.name:22} {ends.lower:.3f} to {ends.upper:.3f}")


if __name__ == "__main__":
    main()
