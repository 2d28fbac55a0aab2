"""The state of a run as plain values: small, mergeable, and judged part by part when it comes back from outside."""

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise
from math import isfinite
from typing import Any, Self, TypeGuard

import numpy as np

from estimators.errors import InputError, MaceError
from estimators.python.dataclass import dataclass, field, fields
from estimators.runs.sequential.repeats import MARK, MERGEABLE, MOST_HASHES, WIDTH, Marks, Sketch
from estimators.sample.cells import Intervals
from estimators.sample.counts import Counts

KIND = "mace sequential run"
VERSION = 4

MOST_LOOKS = 5_000  # looks of a run, so that its state stays small

HEX = frozenset("0123456789abcdef")
MOST_BLOCKS = 10_000
MOST_FAMILIES = 64
MOST = 2**53  # no number of records is larger

MOST_SEED = 2**128
LONGEST_ID = 64  # letters and digits of a run's name


@dataclass(frozen=True, slots=True)
class Look:
    """What stood after one batch: records and blocks so far, and both ends, which hold at all looks together."""

    n_members: int
    n_nonmembers: int
    lower: float
    upper: float
    n_blocks: int


@dataclass(frozen=True, eq=False, slots=True)
class State:
    """What is kept of a run between two looks; ``SequentialRun`` says what its parts are."""

    prior: float
    confidence: float
    planned: int
    max_advantage: float | None
    seed: int
    run_id: str
    looks: tuple[Look, ...] = ()
    counts: Counts | None = None
    pilot: Counts | None = None
    starts: tuple[int, ...] = ()
    blocks: tuple[tuple[int, int, int, int], ...] = ()
    rights: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    contradicted: bool = False
    batches: Marks = ()
    sketch: Sketch = field(default_factory=Sketch)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, to be kept as JSON between two looks."""
        whole = self.counts is None or len(self.starts) == self.counts.size
        return {
            "kind": KIND,
            "version": VERSION,
            "prior": self.prior,
            "confidence": self.confidence,
            "planned": self.planned,
            "max_advantage": self.max_advantage,
            "seed": self.seed,
            "run_id": self.run_id,
            "looks": [
                [look.n_members, look.n_nonmembers, look.lower, look.upper, look.n_blocks] for look in self.looks
            ],
            "counts": None if self.counts is None else self.counts.to_dict(),
            "pilot": None if self.pilot is None else self.pilot.to_dict(),
            "starts": None if whole else list(self.starts),
            "blocks": [list(block) for block in self.blocks],
            "rights": {name: list(each) for name, each in self.rights.items()},
            "contradicted": self.contradicted,
            "batches": [list(batch) for batch in self.batches],
            "sketch": self.sketch.to_dict(),
        }

    def digest(self) -> str:
        """SHA-256 of all of it, the same however it was written down."""
        return sha256(json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":")).encode()).hexdigest()

    @classmethod
    def from_dict(cls, value: object) -> Self:
        """Read back what ``to_dict`` wrote.

        Args:
            value: The mapping.

        Raises:
            InputError: no state of a run, one of another version, or one that was damaged; it says which part.
        """
        if not isinstance(value, Mapping) or value.get("kind") != KIND:
            raise InputError.about("state", "this is no state of a sequential run")
        version = value.get("version")
        if type(version) is not int or version != VERSION:
            said = f"version {version}" if type(version) is int and abs(version) < MOST else "another version"
            message = f"is of {said}, and this mace reads version {VERSION}; begin a new run"
            raise InputError.about("state", message)
        if set(value) != {"kind", "version", *(each.name for each in fields(State))}:
            raise _damaged("it has other parts than a state", "")
        counts, pilot = (_counts(value[name], name) for name in ("counts", "pilot"))
        state = cls(
            _share(value["prior"], "prior"),
            _share(value["confidence"], "confidence"),
            _whole(value["planned"], "planned", 2),
            None if value["max_advantage"] is None else _number(value["max_advantage"], "max_advantage"),
            _whole(value["seed"], "seed", 0, MOST_SEED),
            _run_id(value["run_id"]),
            tuple(map(_look, _rows(value["looks"], "looks", 5, MOST_LOOKS))),
            counts,
            pilot,
            _starts(value["starts"], counts),
            tuple(_block(row) for row in _rows(value["blocks"], "blocks", 4, MOST_BLOCKS)),
            _rights(value["rights"]),
            _truth(value["contradicted"], "contradicted"),
            tuple(map(_mark, _rows(value["batches"], "batches", 2, MOST_LOOKS))),
            _sketch(value["sketch"]),
        )
        state._require_whole()
        return state

    def _require_whole(self) -> None:
        """Refuse parts that do not fit one another."""
        if self.counts is None:
            if self.looks or self.pilot or self.blocks or self.rights:
                raise _damaged("there are looks without counts", "counts")
            return
        if not self.looks:
            raise _damaged("there are counts without a look", "looks")
        if self.counts.cells.kind not in MERGEABLE:
            raise _damaged("its cells are of another kind", "counts")
        if self.pilot is not None and (
            not isinstance(self.counts.cells, Intervals) or self.pilot.cells.to_dict() != self.counts.cells.to_dict()
        ):
            raise _damaged("its cells are not those of the counts", "pilot")
        if not self.counts.n_members or not self.counts.n_nonmembers:
            raise _damaged("a side has no records", "counts")
        n_judged = [sum(block[at] for block in self.blocks) for at in (1, 3)]
        sides = [self.counts.n_members, self.counts.n_nonmembers]
        if any(blocks > side for blocks, side in zip(n_judged, sides, strict=True)):
            raise _damaged("they have more records than the counts", "blocks")
        if self.blocks and not self.rights:
            raise _damaged("there are none of blocks that were guessed", "rights")
        if any(right > n for each in self.rights.values() for right, n in zip(each, n_judged, strict=True)):
            raise _damaged("they have more records than the blocks", "rights")
        if self.pilot is not None:
            sides = [sides[0] + self.pilot.n_members, sides[1] + self.pilot.n_nonmembers]
        if [self.looks[-1].n_members, self.looks[-1].n_nonmembers] != sides:
            raise _damaged("the last look and the counts have other numbers of records", "looks")
        if self.looks[-1].n_blocks != len(self.blocks):
            raise _damaged("the last look and the blocks have other numbers of blocks", "looks")
        if self.sketch.n_members > sides[0] or self.sketch.n_nonmembers > sides[1]:
            raise _damaged("it has more records than the run", "sketch")


def _damaged(why: str, part: str) -> InputError:
    place = f"state.{part}" if part else "state"
    return InputError.about(place, f"{why}, so the state was damaged; begin a new run")


def _whole(value: object, part: str, least: int = 0, most: int = MOST) -> int:
    if type(value) is not int or not least <= value <= most:
        raise _damaged(f"need whole numbers from {least} on", part)
    return value


def _number(value: object, part: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or abs(value) > 1:
        raise _damaged("need numbers from -1 to 1", part)
    return float(value)


def _share(value: object, part: str) -> float:
    if not isinstance(value, float) or not 0.0 < value < 1.0:
        raise _damaged("need a number strictly between 0 and 1", part)
    return value


def _truth(value: object, part: str) -> bool:
    if not isinstance(value, bool):
        raise _damaged("need true or false", part)
    return value


def is_run_id(value: object) -> TypeGuard[str]:
    """Whether this may be the name of a run."""
    return isinstance(value, str) and len(value) <= LONGEST_ID and value.isascii() and value.isalnum()


def _run_id(value: object) -> str:
    if not is_run_id(value):
        raise _damaged(f"need up to {LONGEST_ID} letters and digits", "run_id")
    return value


def _mark(row: Sequence[object]) -> tuple[str, float]:
    mark, chance = row
    if not isinstance(mark, str) or len(mark) != MARK or set(mark) - HEX:
        raise _damaged(f"need marks of {MARK} digits", "batches")
    return mark, _number(chance, "batches")


def _sketch(value: object) -> Sketch:
    if not isinstance(value, Mapping) or set(value) != {"records", "hashes", "counts"}:
        raise _damaged("need records, hashes and counts", "sketch")
    ((n, m),) = _rows([value["records"]], "sketch", 2, 1)
    text = value["hashes"]
    if not isinstance(text, str) or len(text) > WIDTH * MOST_HASHES or len(text) % WIDTH or set(text) - HEX:
        raise _damaged(f"need at most {MOST_HASHES} hashes of {WIDTH} digits each", "sketch")
    hashes = np.array([int(text[at : at + WIDTH], 16) for at in range(0, len(text), WIDTH)], np.int64)
    counts = [1] * len(hashes) if value["counts"] is None else value["counts"]
    if (np.diff(hashes) <= 0).any() or not isinstance(counts, list | tuple) or len(counts) != len(hashes):
        raise _damaged("need hashes, ascending, and a count for each", "sketch")
    table = np.array([_whole(each, "sketch", 1) for each in counts], np.int64)
    sketch = Sketch(_whole(n, "sketch"), _whole(m, "sketch"), hashes, table)
    of_members = int(table[hashes & 1 == 1].sum())
    if of_members > sketch.n_members or int(table.sum()) - of_members > sketch.n_nonmembers:
        raise _damaged("its hashes are of more records than it has", "sketch")
    return sketch


def _rows(value: object, part: str, length: int, most: int) -> Iterable[Sequence[object]]:
    if not isinstance(value, list | tuple) or len(value) > most:
        raise _damaged(f"need a list of at most {most}", part)
    for row in value:
        if not isinstance(row, list | tuple) or len(row) != length:
            raise _damaged(f"need lists of {length} numbers", part)
        yield row


def _look(row: Sequence[object]) -> Look:
    n, m, n_blocks = (_whole(each, "looks") for each in (*row[:2], row[4]))
    lower, upper = (_number(each, "looks") for each in row[2:4])
    if lower > upper:
        raise _damaged("a lower end is above the upper one", "looks")
    return Look(n, m, lower, upper, n_blocks)


def _block(row: Sequence[object]) -> tuple[int, int, int, int]:
    tp, n1, tn, n0 = (_whole(each, "blocks") for each in row)
    if tp > n1 or tn > n0 or not n1 or not n0:
        raise _damaged("there are more right guesses than records, or no record", "blocks")
    return tp, n1, tn, n0


def _rights(value: object) -> dict[str, tuple[int, int]]:
    if not isinstance(value, Mapping) or len(value) > MOST_FAMILIES:
        raise _damaged("need two numbers for each family of rules", "rights")
    rows = _rows(list(value.values()), "rights", 2, MOST_FAMILIES)
    return {str(name): (_whole(tp, "rights"), _whole(tn, "rights")) for name, (tp, tn) in zip(value, rows, strict=True)}


def _counts(value: object, part: str) -> Counts | None:
    if value is None:
        return None
    if not isinstance(value, dict) or set(value) != {"members", "nonmembers", "cells"}:
        raise _damaged("need members, nonmembers and cells", part)
    try:
        return Counts.from_dict(value)
    except (MaceError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        raise _damaged("need counts as they were answered", part) from None


def _starts(value: object, counts: Counts | None) -> tuple[int, ...]:
    """First cells of groups; none are written where every cell is one."""
    size = 0 if counts is None else counts.size
    if value is None:
        return tuple(range(size))
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= size:
        raise _damaged("need first cells of groups", "starts")
    starts = tuple(_whole(each, "starts", 0, size - 1) for each in value)
    if starts[0] != 0 or any(first >= second for first, second in pairwise(starts)):
        raise _damaged("need first cells of groups, ascending", "starts")
    return starts
