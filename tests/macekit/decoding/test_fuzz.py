"""A short run of the fuzzers, and that they would see what they look for; the long one is `benchmarks/fuzz.py`."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks import fuzz
from macekit.call import CSV, JSON, NDJSON, NPY
from macekit.decoding.body import DecodedBody
from tests.macekit.decoding.corpus import FOLDER, bodies, entries

MUTANTS = 800
CORPUS = entries()


@pytest.mark.slow
def test_mutants_of_every_format_are_read_or_refused() -> None:
    """In a process of its own, whose children are not those of a process with threads."""
    command = [sys.executable, "-m", "benchmarks", "run", "fuzz", "--mutants", str(MUTANTS)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[3], check=False)

    assert done.returncode == 0, done.stderr[-3000:]
    assert f"| all | {MUTANTS:,} |" in done.stdout


def test_the_corpus_is_what_its_maker_makes() -> None:
    made = {name: body for name, body, *_ in bodies()}

    assert set(made) == {file.name for file in FOLDER.iterdir()}
    for entry in CORPUS:  # the other formats' writers, zip's among them, say their own version in the file
        if entry.media_type in (CSV, NDJSON, NPY, JSON):
            assert entry.body == made[entry.name], entry.name


def test_a_mutant_is_its_seed_and_its_number() -> None:
    numbers = range(len(CORPUS), len(CORPUS) + 40)

    assert [fuzz.mutant(1, n, CORPUS) for n in numbers] == [fuzz.mutant(1, n, CORPUS) for n in numbers]
    assert fuzz.mutant(1, 400, CORPUS) != fuzz.mutant(2, 400, CORPUS)


@pytest.mark.slow
def test_every_format_and_every_question_is_mutated() -> None:
    assert {fuzz.mutant(0, number, CORPUS).row for number in range(MUTANTS)} == set(fuzz.ROWS)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _sleep() -> None:
    time.sleep(60)


def _fill() -> None:
    bytearray(2 * fuzz.GRANTED)


def _fail() -> None:
    raise ValueError


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "outcome"), [(_die, "crash"), (_sleep, "hang"), (_fill, "memory"), (_fail, "exception")]
)
def test_a_fault_is_seen_and_what_comes_after_it_is_tried(fault, outcome, monkeypatch) -> None:
    numbers = range(len(CORPUS), len(CORPUS) + 3)
    middle = fuzz.mutant(0, numbers[1], CORPUS)

    def decode(call: object, body: object) -> DecodedBody:
        if call == middle.call:
            fault()
        return DecodedBody()

    monkeypatch.setattr(fuzz, "decode", decode)
    monkeypatch.setattr(fuzz, "blocks", lambda call, body: [])
    monkeypatch.setattr(fuzz, "ANSWERED", 10**9)
    monkeypatch.setattr(fuzz, "SECONDS", 0.2)

    results = [result for _, _, result, _ in fuzz.outcomes(0, numbers, CORPUS)]

    assert results == ["answered", outcome, "answered"]
