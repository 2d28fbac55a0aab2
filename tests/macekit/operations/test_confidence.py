"""Sentences tell the confidence that was computed with, digit by digit."""

import json
from collections.abc import Iterator

import pytest

from app.openapi.examples import JSON_EXAMPLES
from tests.macekit import asking

SEVEN_DIGITS = 0.9999987
IN_WORDS = ("99.99987%", "99.999935%")
"""As it is, and of a bound that is one end of a two-sided interval."""

EXACT = ("dp", "convert", "mip-finite", "pmp-finite", "pmp-gaussian", "mis-mean", "mis-divergence")
WITHOUT = {"counts", "plan", *(f"theory/{name}" for name in EXACT)}
"""Operations whose sentences name no confidence: of theory those that estimate nothing, and so take none."""


@pytest.mark.slow
def test_sentences_tell_every_digit_of_the_confidence() -> None:
    rounded, exact = [], set()
    with asking.quickly():
        for operation, text in _texts():
            if "99.9999% confidence" in text or "100% confidence" in text:
                rounded.append((operation, text))
            if any(words in text for words in IN_WORDS):
                exact.add(operation)

    assert rounded == []
    assert exact == set(JSON_EXAMPLES) - WITHOUT


def _texts() -> Iterator[tuple[str, str]]:
    """Every text of an answer at that confidence, of every example that has one; of plans, which take long, of one."""
    for operation, examples in JSON_EXAMPLES.items():
        for example in [*examples.values()][: 1 if operation == "plan" else None]:
            reply = asking.post(operation, {**example.value, "confidence": SEVEN_DIGITS})
            if reply.status == 200:
                yield from ((operation, text) for text in _strings(json.loads(bytes(reply.body))))


def _strings(tree: object) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict):
        for branch in tree.values():
            yield from _strings(branch)
    elif isinstance(tree, list):
        for branch in tree:
            yield from _strings(branch)
