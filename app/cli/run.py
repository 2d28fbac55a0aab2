"""From open inputs to an answer, by the operations of the service, in this process.

One table goes through ``perform`` as it would in the service. What the service has no body for - two files for the
two sides, a file for each query, options beside a JSON body, a file that is counted first - is brought together here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar, cast

import msgspec

from app.cli.inputs import Misuse, Source
from app.cli.terminal import Progress, detail_of, in_shell
from estimators import MaceError
from macekit.call import JSON, NPY, Body, Call, Reply
from macekit.catalogue import BY_NAME, SIDED, flag
from macekit.decoding import decode
from macekit.decoding.body import DecodedBody, Sample, options
from macekit.decoding.pairs import join_sides, read_side
from macekit.decoding.table import check_arrays
from macekit.operations import answer as answered
from macekit.operations import perform
from macekit.operations.counts import streams
from macekit.operations.options import ask, heard
from macekit.problems import Problem
from macekit.schemas.query import FIRST_MEMBERS, NAMES, TABLE, WIDE, of_table
from macekit.schemas.questions import QUESTIONS

LARGE = 128 * 2**20
"""Bytes from which an input is counted as a stream, if counts are enough for what is asked."""

EXPANSION = 4
"""How much larger compressed data is taken to be than it looks."""

LARGEST = 2**40
"""Bytes that one's own compressed file may expand to while it is counted."""

NEED_RECORDS = frozenset({"kde", "learned"})

NEED_ROWS = frozenset({"unit", "group", *WIDE})
"""Columns that say something of each record, which counts do not keep, or that are read as a whole."""

COUNTED = frozenset({*TABLE, FIRST_MEMBERS, "query"}) - NEED_ROWS
"""Options that say what is counted."""

OK = 200

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sides:
    """One file for members and one for nonmembers."""

    members: Source
    nonmembers: Source


def answer(call: Call, inputs: Sequence[Source] | Sides, progress: Progress) -> Reply:
    """The answer to one call about what is in the inputs; what is wrong with them is an answer, too."""
    if isinstance(inputs, Sides):
        _require_none(call, (*TABLE[1:], FIRST_MEMBERS), "needs one table with both sides")
        progress.now("reading")
        found = DecodedBody({"": _sample_of(call, inputs)}, _asked(call), textual=True)
        progress.now("computing")
        return answered(call, check_arrays(call.operation, found) if call.operation in SIDED else found)
    if not inputs:  # a question that has no records
        return answered(call, DecodedBody({}, _asked(call), textual=True))
    if len(inputs) > 1:
        return answered(call, _several(call, inputs, progress))
    (source,) = inputs
    if counted_first(call, source):
        return answered(call, _counted(call, source, progress))
    if source.media_type == JSON and call.query:
        return answered(call, _with_options(call, source))
    if call.operation == "counts" and streams(_about(call, source)):
        return _streamed(call, source, progress)
    progress.now("computing")
    with source.body() as body:
        return perform(_about(call, source), body)


def require_question(call: Call) -> None:
    """Refuse a question that could not be answered whatever the records are."""
    ask(QUESTIONS[call.operation], _values(call))


def counted_first(call: Call, source: Source) -> bool:
    """Whether an input is so large that it is counted as it is read, and the question then asked of the counts."""
    grown = 1 if source.encoding == "identity" else EXPANSION
    large = source.size is None or source.size * grown > LARGE
    given = dict(call.query)
    return (
        large
        and BY_NAME[call.operation].counts_suffice
        and given.get("estimator.kind") not in NEED_RECORDS
        and not NEED_ROWS & given.keys()
        and "," not in given.get("score", "")
        and streams(_counting(call, source))
    )


def _about(call: Call, source: Source) -> Call:
    """The call about this input; one's own compressed file may expand as far as memory goes."""
    return replace(
        call, media_type=source.media_type, encoding=source.encoding, expanded_limit=_memory() // 2
    )


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _asked(call: Call) -> dict[str, object]:
    """The options of the question, without those that speak of a table or an array."""
    return options(replace(call, media_type=NPY))


def _values(call: Call) -> dict[str, object]:
    """The same as the values they spell; a name is a name even if it looks like a number."""
    asked = _asked(call)
    values = heard(QUESTIONS[call.operation], asked)
    return {**values, **{name: asked[name] for name in NAMES if name in asked}}


def _require_none(call: Call, names: Sequence[str], why: str) -> None:
    """Refuse options that would do nothing."""
    given = next((name for name in names if name in dict(call.query)), None)
    if given is not None:
        raise Misuse(f"{flag(given)}: {why}")


def _several(call: Call, sources: Sequence[Source], progress: Progress) -> DecodedBody:
    """One query from each input, named by its stem."""
    names = [source.stem for source in sources]
    twice = {name for name in names if names.count(name) > 1}
    single = replace(call, operation="advantage")
    samples = {}
    for source in sources:
        name = source.name if source.stem in twice else source.stem
        if name in samples:
            raise Misuse(f"{source.name}: was given twice")
        if counted_first(single, source):
            found = _counted(single, source, progress)
        else:
            progress.now("reading")
            found = _decoded(single, source)
        if set(found.samples) != {""}:
            raise Misuse(f"{source.name}: holds several queries; each of several files is one")
        samples[name] = found.samples[""]
    progress.now("computing")
    return DecodedBody(samples, _values(call))


def _decoded(call: Call, source: Source) -> DecodedBody:
    """One input as material."""
    about = _about(call, source)
    if source.media_type == JSON:
        about = replace(about, query=())
    return _read(source, partial(decode, about))


def _sample_of(call: Call, inputs: Sides) -> Sample:
    """One input for each side as one sample."""
    members = _read(inputs.members, partial(read_side, _about(call, inputs.members)))
    nonmembers = _read(inputs.nonmembers, partial(read_side, _about(call, inputs.nonmembers)))
    names = f"{inputs.members.name}: score", f"{inputs.nonmembers.name}: score"
    try:
        return join_sides(members, nonmembers, names)
    except Problem as problem:
        raise Misuse(in_shell(problem.detail)) from None
    except MaceError as error:
        raise Misuse(error.message) from None


def _read(source: Source, reader: Callable[[Body], T]) -> T:
    """What a reader makes of an input; what is wrong with it is said with its name."""
    try:
        with source.body() as body:
            return reader(body)
    except Problem as problem:
        raise _named(problem, source) from None
    except MaceError as error:
        raise _named(Problem.of(error), source) from None


def _with_options(call: Call, source: Source) -> DecodedBody:
    """A request as it would be posted, with options that say otherwise."""
    _require_none(call, (*of_table(call.operation), FIRST_MEMBERS), "a JSON request has no columns")
    found = _decoded(call, source)
    return replace(found, options=_merged(found.options, _values(call)))


def _merged(under: dict[str, object], over: dict[str, object]) -> dict[str, object]:
    both = {
        name: _merged(cast("dict[str, object]", under[name]), cast("dict[str, object]", value))
        for name, value in over.items()
        if isinstance(value, dict) and isinstance(under.get(name), dict)
    }
    return {**under, **over, **both}


def _counted(call: Call, source: Source, progress: Progress) -> DecodedBody:
    """The counts of a large input, made as it is read."""
    progress.say(f"{source.name} is large, so mace counts it while reading and answers from the counts")
    if call.operation in ("advantage", "report"):
        progress.say("the paper's statistic is then W_N over those cells, which is biased upward")
    reply = _streamed(_counting(call, source), source, progress)
    if reply.status != OK:
        raise Misuse(f"{source.name}: {detail_of(reply)}")
    counts = msgspec.json.decode(reply.body)["counts"]
    progress.now("computing")
    return DecodedBody({"": Sample(counts=counts)}, _asked(call), textual=True)


def _counting(call: Call, source: Source) -> Call:
    """The call that counts what another call asks about."""
    return _about(Call("counts", query=tuple(pair for pair in call.query if pair[0] in COUNTED)), source)


def _streamed(call: Call, source: Source, progress: Progress) -> Reply:
    """Counts of an input read from its start to its end; what has its index at its end is mapped."""
    progress.now("counting", source.size)
    about = replace(_about(call, source), expanded_limit=LARGEST)
    with source.body() if source.indexed else source.stream(progress.read) as body:
        return perform(about, body)


def _named(problem: Problem, source: Source) -> Misuse:
    return Misuse(f"{source.name}: {in_shell(problem.detail)}")
