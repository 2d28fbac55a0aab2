"""What audit chains of several replicas say of one another: each has now and then a line with where the others are.

A chain goes by the hash of its first line. What one names of another must be a line of it: whose end was cut off, or
who was made anew, is contradicted.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import dropwhile
from pathlib import Path
from typing import Any

from app.audit_file import BEGINS_ANEW, CONTINUES, HASHED, LONGEST_LINE, files_before, first_event

LINKED = "linked"  # the event of such a line
MARK = b'"event":"linked"'


@dataclass(slots=True)
class Chain:
    """A chain that was followed: what it goes by, which line names which other chain with which hash, and whether its
    first file is still there."""

    path: Path
    names: set[str] = field(default_factory=set)
    links: list[tuple[str, str, str]] = field(default_factory=list)
    is_from_its_start: bool = True


def name_of(path: Path) -> str | None:
    """What the chain goes by that ends in this file: the hash of its first line, or the one that this continues."""
    return None if (first := _first(path)) is None else str(first["hash" if _begins(first) else "previous"])


def _first(path: Path) -> dict[str, Any] | None:
    """The first line of the chain that ends in this file."""
    events = []
    for file in _files(path):
        with file.open("rb") as lines:
            events += [event] if (event := first_event(lines)) else []
    anew = [event for event in events if event.get("event") == BEGINS_ANEW]
    return next(iter(anew[-1:] or events[:1]), None)


def _begins(event: Mapping[str, Any]) -> bool:
    return event.get("event") != CONTINUES


def check_links(paths: Sequence[Path], notes: list[str]) -> list[str]:
    """What these chains, each whole by itself, contradict of one another; what cannot be looked up is noted."""
    chains = [_read(path) for path in paths]
    named: defaultdict[str, set[str]] = defaultdict(set)
    for chain in chains:
        for _, name, last in chain.links:
            named[name].add(last)
    there = {chain.path: set().union(*(named[name] for name in chain.names)) for chain in chains}
    for chain in chains:
        there[chain.path].intersection_update(_hashes(chain.path))
    of_name = {name: chain for chain in chains for name in chain.names}
    notes += [f"the chain {name} is named, and is not among these files" for name in named if name not in of_name]
    return [
        f"{chain.path}: {place} names a line of {of_name[name].path} that is not there: its end was cut off, or it was "
        "made anew"
        for chain in chains
        for name in {name: None for _, name, _ in chain.links if name in of_name}
        for place in _gone(chain, name, of_name[name], there[of_name[name].path], notes)
    ]


def _gone(chain: Chain, name: str, other: Chain, there: set[str], notes: list[str]) -> list[str]:
    """Where a chain names a line of another that is gone, and that nobody may take away."""
    links = [(place, last in there) for place, each, last in chain.links if each == name]
    if not other.is_from_its_start:  # what was taken away may have been named before what is left
        links = list(dropwhile(lambda link: not link[1], links))
        if not links:
            notes.append(f"{chain.path} names no line of {other.path} that is left")
    return [place for place, is_there in links if not is_there]


def _read(path: Path) -> Chain:
    chain = Chain(path)
    if (first := _first(path)) is not None:
        chain.names.add(str(name_of(path)))
        chain.is_from_its_start = _begins(first)
    for file in _files(path):
        for number, line in enumerate(_lines(file), 1):
            if MARK in line and (entry := json.loads(line)).get("event") == LINKED:
                chain.names.add(entry["chain"])
                place = f"line {number} of {file.name}"
                chain.links += [(place, name, last) for name, last in entry["others"].items()]
    return chain


def _hashes(path: Path) -> Iterator[str]:
    for file in _files(path):
        for line in _lines(file):
            if whole := HASHED.fullmatch(line):
                yield whole["hash"].decode("ascii")


def _files(path: Path) -> list[Path]:
    return [file for file in (*files_before(path), path) if file.exists()]


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while line := file.readline(LONGEST_LINE):
            yield line
