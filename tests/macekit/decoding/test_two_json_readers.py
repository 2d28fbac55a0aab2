"""A JSON body gives the same columns, or is refused, with simdjson installed and without."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from benchmarks import fuzz
from macekit.call import JSON, Body, Call
from macekit.decoding import decode
from macekit.decoding import json_values as json
from tests.macekit.decoding.corpus import entries
from tests.macekit.decoding.support import REFUSALS, call
from tests.macekit.decoding.test_json import BAD, UNREADABLE

MUTANTS = 1000


def outcome(asked: Call, body: bytes) -> Any:
    """What is read, with the type of every array; or what is refused, in which words, and where."""
    try:
        with Body.of(body) as held:
            decoded = decode(asked, held)
    except REFUSALS as refusal:
        return type(refusal), str(refusal), refusal.field, refusal.index
    return {each.name: comparable(getattr(decoded, each.name)) for each in fields(decoded)}


def comparable(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes() if value.dtype != object else value.tolist()
    if isinstance(value, dict):
        return {name: comparable(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [comparable(each) for each in value]
    slots = getattr(value, "__slots__", None)
    return value if slots is None else {n: comparable(getattr(value, n)) for n in slots}


def outcomes(every: list[tuple[Call, bytes]]) -> tuple[list[Any], list[Any]]:
    """What comes of each body with simdjson, and without."""
    assert json.HAS_SIMDJSON
    fast = [outcome(*each) for each in every]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json, "HAS_SIMDJSON", False)
        return fast, [outcome(*each) for each in every]


def test_a_body_with_one_fault_is_refused_in_the_same_words() -> None:
    fast, careful = outcomes([(call(), body) for body, *_ in (*BAD, *UNREADABLE)])

    assert fast == careful
    assert all(isinstance(each, tuple) for each in fast)


@pytest.mark.slow
def test_mutants_are_read_to_the_same_columns_or_refused_by_both() -> None:
    """Of several faults in one body the two may name another first."""
    corpus = [entry for entry in entries() if entry.media_type == JSON]
    mutants = [fuzz.mutant(6, number, corpus) for number in range(MUTANTS)]

    fast, careful = outcomes([(each.call, each.body) for each in mutants])

    assert [isinstance(each, dict) for each in fast] == [isinstance(each, dict) for each in careful]
    read = [(a, b) for a, b in zip(fast, careful, strict=True) if isinstance(a, dict)]
    assert 100 < len(read) < MUTANTS - 100
    assert [each for each in read if each[0] != each[1]] == []
