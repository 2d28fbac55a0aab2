"""Where an answer comes from: what it takes to make it again a year later, and how."""

from __future__ import annotations

from collections.abc import Iterator

from macekit.call import __version__
from macekit.catalogue import ARRAYS
from macekit.reports.content import columns
from macekit.reports.content.reproduce import FROM_A_MODEL, Reproduction, listings, of_a_model, unusual
from macekit.reports.model import (
    AnswerPath,
    Block,
    Cell,
    Context,
    Inline,
    Paragraph,
    Phrase,
    Section,
    Table,
    Untrusted,
)

MOST = 60
"""Options that are shown; a list of a thousand false positive rates is in the JSON."""

COUNTS_PREFIX = "counts over "
"""How the library begins to say that it was given counts."""

COLUMNS: Inline = (
    "The same input gives the same answer, to the last digit, with the same version of the method. The commands "
    "below name the columns that the question named; GROUP stands for a column whose name is not known, and … for "
    "the records.",
)


def section(
    operation: str,
    source: AnswerPath,
    context: Context,
    grouped: bool = False,
    sources: AnswerPath | None = None,
) -> Section:
    """The facts, the options, and the question again: in a shell, over HTTP, from Python.

    ``sources`` are those of all queries, where there are several; they differ in their records and columns alone.
    """
    options = unusual(operation, source["options"].value or {})
    from_counts = str(source["query"].value).startswith(COUNTS_PREFIX)
    question = Reproduction(operation, options, context.source, grouped, context.others, from_counts)
    blocks: tuple[Block, ...] = (
        *_tables(source, context, sources or source),
        Paragraph(COLUMNS),
        *(of_a_model(options) if source["method"].value == FROM_A_MODEL else listings(question)),
    )
    return Section("provenance", "Where this comes from, and how to make it again", blocks)


def of_theory(source: AnswerPath, context: Context) -> Section:
    """The same of what was asked of arrays, or of nothing."""
    operation, arrays = source["method"].value, _array_names(source["method"], source["arrays"])
    question = Reproduction(
        operation, unusual(operation, source["options"].value or {}), context.source, arrays=arrays
    )
    blocks: tuple[Block, ...] = (*_tables(source, context, source), Paragraph(COLUMNS), *listings(question))
    return Section("provenance", "Where this comes from, and how to make it again", blocks)


def _array_names(operation: AnswerPath, arrays: AnswerPath) -> tuple[str, ...]:
    """The arrays it was asked of: names of ours, since a kept answer may say anything."""
    return tuple(name for name in ARRAYS.get(operation.value, ()) if name in (arrays.value or ()))


def _tables(source: AnswerPath, context: Context, sources: AnswerPath) -> Iterator[Table]:
    yield Table("Origin", ("", ""), tuple(origin(source, context)))
    if (read := columns.table(sources)) is not None:
        yield read
    options = tuple(_options(source["options"]))[:MOST]
    if options:
        yield Table("Options, as they were understood", ("Option", "Value"), options)


def origin(source: AnswerPath, context: Context) -> Iterator[tuple[Cell, Cell]]:
    """What was asked about, by what, and when."""
    for file in () if context.source is None else (context.source, *context.others):
        yield "Input", Untrusted(file)
    if source["n_members"]:
        yield "Member records", source["n_members"].number("count")
        yield "Nonmember records", source["n_nonmembers"].number("count")
    if source["input_sha256"]:
        yield "SHA-256 of the input", source["input_sha256"].quote()
    if source["run"]:
        yield "Run of batches", source["run"]["run_id"].untrusted()
        if source["run"]["state_before"]:
            yield "SHA-256 of the state that came", source["run"]["state_before"].quote()
        yield "SHA-256 of the state that went out", source["run"]["state_after"].quote()
    if source["query"]:
        yield "How scores were read", source["query"].quote()
    if source:
        method = Phrase((source["method"].quote(), ", version ", source["version"].quote()))
        yield "Method", method
    if source["seed"]:
        yield "Seed", source["seed"].number("exact")
    if context.date is not None:
        yield "Report made", Untrusted(context.date)
    yield "Report made by", Untrusted(f"mace {__version__}")


def _options(options: AnswerPath) -> Iterator[tuple[Cell, Cell]]:
    for name in options.value or {}:
        yield from _option(name, options[name])


def _option(name: str, entry: AnswerPath) -> Iterator[tuple[Cell, Cell]]:
    """One row; an option that holds options, a row for each."""
    if isinstance(entry.value, dict):
        for inner in entry.value:
            yield from _option(f"{name}.{inner}", entry[inner])
    elif isinstance(entry.value, list) and any(isinstance(each, dict) for each in entry.value):
        for place, each in enumerate(entry):
            yield from _option(f"{name}, {_ordinal(place)}", each)
    elif isinstance(entry.value, list):
        parts: list[Cell] = []
        for each in entry:
            parts += [", "] if parts else []
            parts.append(_value(each))
        yield Untrusted(name), Phrase(tuple(parts))
    else:
        yield Untrusted(name), _value(entry)


def _value(entry: AnswerPath) -> Cell:
    if isinstance(entry.value, bool):
        return "yes" if entry.value else "no"
    return entry.number("exact") if isinstance(entry.value, int | float) else entry.untrusted()


def _ordinal(place: int) -> str:
    return ("first", "second", "third")[place] if place < 3 else "a further one"
