"""How often a tool's statements about a world are wrong."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.harness import most_misses
from benchmarks.hostile.question import NotAsked, Question, Statement
from benchmarks.hostile.worlds import WORLDS, World

ALPHA = 0.025
EPSILON_ALPHA = 0.05
NOISE = 1e-6
MANY = 8000  # records of a side from which on a world has a quarter of the runs
FEW = 20  # runs below which a tool is too slow to be asked again and again


class Broken(Exception):
    """What is wrong with an adapter, or with what it said, and of which world."""


def adapter(name: str) -> ModuleType:
    """The adapter of a tool by its name, or by a path that can be imported; Broken if it lacks what it needs."""
    ours = f"benchmarks.hostile.tools.{name}"
    try:
        module = import_module(ours if "." not in name and find_spec(ours) else name)
    except ImportError as error:
        raise Broken(f"{name}: {error}") from None
    if lacking := [each for each in ("NAME", "RUNS", "ask") if not hasattr(module, each)]:
        raise Broken(f"{name}: an adapter needs {' and '.join(lacking)}")
    return module


@dataclass(frozen=True)
class Judgement:
    """Of so many runs, how many had each statement and how many of those were wrong; None: it is never made."""

    runs: int
    lower: int | None
    upper: int | None
    upper_of_any: int | None
    epsilon: int | None
    says_leak: int | None
    value: tuple[float | None, ...]
    error: float | None
    seconds: float

    @property
    def misses(self) -> tuple[int | None, ...]:
        """Of lower end, upper end, the same against any attacker, and epsilon."""
        return self.lower, self.upper, self.upper_of_any, self.epsilon

    @property
    def beyond(self) -> tuple[bool, ...]:
        levels = zip(self.misses, (ALPHA, ALPHA, ALPHA, EPSILON_ALPHA), strict=True)
        return tuple(each is not None and each > most_misses(self.runs, alpha) for each, alpha in levels)


def judge(tool: str, place: int, share: float) -> Judgement | str:
    """What came of it, or why the tool was not asked; every tool sees the same samples."""
    module, world = adapter(tool), WORLDS[place]
    size = max(world.sizes) if not world.looks else len(world.looks) * max(world.looks)
    runs = max(2, round(share * module.RUNS * (0.25 if size >= MANY else 1.0)))
    if world.looks and not hasattr(module, "follow") and module.RUNS < FEW:
        return "too slow to be asked again and again"
    rows, values, seconds = [], [], []
    for run in range(runs):
        where = f"{tool} of {world.name!r}, run {run}"
        question = world.question(np.random.default_rng([place, run]))
        start = time.perf_counter()
        try:
            statements = list(_statements(module, world, question))
        except NotAsked as reason:
            return str(reason)
        except Exception as error:
            raise Broken(f"{where}: {type(error).__name__}: {error}") from error
        for said in statements:
            _require_statement(said, where)
        seconds.append(time.perf_counter() - start)
        rows.append([_wrong(world, each) for each in statements])
        last = statements[-1]
        values.append((last.estimate, last.lower, last.upper))
    ever = [[_of(any, column) for column in zip(*looks, strict=True)] for looks in rows]
    errors = [abs(each[0] - world.truth) for each in values if each[0] is not None]
    return Judgement(
        runs,
        *(_of(sum, column) for column in zip(*ever, strict=True)),
        tuple(_of(np.mean, column) for column in zip(*values, strict=True)),
        float(np.mean(errors)) if errors else None,
        min(seconds),
    )


def _require_statement(said: object, where: str) -> None:
    """Refuse what could not be held against a truth."""
    if not isinstance(said, Statement):
        raise Broken(f"{where}: it said {said!r}; an adapter answers with a Statement")
    for name in ("estimate", "lower", "upper", "epsilon"):
        value = getattr(said, name)
        if value is not None and value != value:
            raise Broken(f"{where}: its {name} is NaN; leave out what the tool does not say")


def _statements(module: ModuleType, world: World, question: Question) -> Iterator[Statement]:
    if not world.looks:
        yield module.ask(question)
    elif hasattr(module, "follow"):
        yield from module.follow([_between(question, *ends) for ends in pairwise((0, *world.looks))])
    else:
        yield from (module.ask(_between(question, 0, look)) for look in world.looks)


def _between(question: Question, start: int, end: int) -> Question:
    return Question(question.members[start:end], question.nonmembers[start:end], question.prior)


def _wrong(world: World, said: Statement) -> list[bool | None]:
    """Whether each part of a statement is wrong; of the last one, whether it says that something leaks."""
    truth = world.truth
    covered = None if said.covers is None else world.laws.covered(world.prior, said.covers, said.cell_of)
    return [
        None if said.lower is None else said.lower > truth + NOISE,
        None if said.upper is None or covered is None else said.upper < covered - NOISE,
        None if said.upper is None else said.upper < truth - NOISE,
        None if said.epsilon is None else said.epsilon > world.epsilon + NOISE,
        said.leaks,
    ]


def _of(what: Callable[[tuple[Any, ...]], Any], column: tuple[Any, ...]) -> Any:
    """What becomes of a column; None if a part of it was not said."""
    return None if None in column else what(column)
