"""Where an answer comes from: what it takes to make it again a year later, and how."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from macekit.call import __version__
from macekit.catalogue import ARRAYS
from macekit.reports import model
from macekit.reports.content.reproduce import FROM_A_MODEL, Reproduction, listings, of_a_model, unusual

MOST_NAMED = 6  # columns that are named on the first screen
MOST_ROWS = 40  # columns that are listed beside the provenance; a thousand queries are in the JSON

MORE = "more than a thousand different values"


def with_columns(report: model.Report, answer: model.AnswerPath) -> model.Report:
    """The report with the columns that were read among its facts, if there is something to say of one."""
    read = columns_of(answer["provenance"])
    how = notes(read)
    if not how:
        return report
    names = model.listed((column["name"].untrusted(),) for column in read[:MOST_NAMED])
    more = (f" and {len(read) - MOST_NAMED} more",) if len(read) > MOST_NAMED else ()
    fact = model.Fact(model.READ, model.Phrase((*names, *more)), how)
    return replace(report, facts=model.Facts((*report.facts.items, fact)))


def _says_something(column: model.AnswerPath) -> bool:
    """Whether a column was chosen or understood, as arrays that were sent by their names were not."""
    return column["name"].value != column["role"].value or bool(column["notes"].value)


def notes(read: Sequence[model.AnswerPath]) -> model.Inline:
    """How each of the first columns was taken; nothing, if there is nothing to say of any."""
    if not any(_says_something(column) for column in read):
        return ()
    return model.listed(map(_note, read[:MOST_NAMED]))


def _note(column: model.AnswerPath) -> model.Inline:
    role, name, remarks = column["role"], column["name"], _remarks(column)
    origin = () if name.value == role.value else (" from ", name.untrusted())
    return (role.untrusted(), *origin, " (", *_how_taken(column), *(("; ", *remarks) if remarks else ()), ")")


def table(source: model.AnswerPath) -> model.Table | None:
    """Every column that was read."""
    read = columns_of(source)
    rows = tuple(_row(column) for column in read[:MOST_ROWS])
    head = ("Read as", "Column", "It holds", "Understood or dropped")
    more = max(0, len(read) - MOST_ROWS)
    where = "provenance" if isinstance(source.value, list) else "provenance.columns"
    return model.Table(model.READ, head, rows, more=more, where=where) if rows else None


def columns_of(source: model.AnswerPath) -> Sequence[model.AnswerPath]:
    """Every column that was read; of several queries those of each, then, once, those that they share."""
    if not isinstance(source.value, list):
        return list(source["columns"])
    read: dict[tuple[str, str], list[model.AnswerPath]] = {}
    for each in source:
        for column in each["columns"]:
            read.setdefault((str(column["role"].value), str(column["name"].value)), []).append(column)
    return [same[0] for same in sorted(read.values(), key=lambda same: len(same) > 1)]


def _row(column: model.AnswerPath) -> tuple[model.Cell, ...]:
    return (
        column["role"].untrusted(),
        column["name"].untrusted(),
        model.Phrase(_how_taken(column)),
        model.Phrase(_remarks(column)),
    )


def _remarks(column: model.AnswerPath) -> model.Inline:
    """What was dropped or understood."""
    return model.listed((note.untrusted(),) for note in column["notes"])


def _how_taken(column: model.AnswerPath) -> model.Inline:
    """What a column holds, and how many different values."""
    kind = column["kind"]
    if kind.value == "counts" or str(kind.value).startswith("rows"):
        return (kind.untrusted(),)
    if not column["distinct"]:
        return kind.untrusted(), ", ", MORE
    return kind.untrusted(), ", ", column["distinct"].number("count"), " different"


MOST = 60  # options that are shown; a list of a thousand false positive rates is in the JSON
COUNTS_PREFIX = "counts over "  # how the library begins to say that it was given counts

COLUMNS: model.Inline = (
    "The same input gives the same answer, to the last digit, with the same version of the method. The commands "
    "below name the columns that the question named; GROUP stands for a column whose name is not known, and … for "
    "the records.",
)


def section(
    operation: str,
    source: model.AnswerPath,
    context: model.Context,
    grouped: bool = False,
    sources: model.AnswerPath | None = None,
) -> model.Section:
    """The facts, the options, and the question again: in a shell, over HTTP, from Python.

    ``sources`` are those of all queries, where there are several; they differ in their records and columns alone.
    """
    options = unusual(operation, source["options"].value or {})
    from_counts = str(source["query"].value).startswith(COUNTS_PREFIX)
    roles = {column["role"].value for column in columns_of(source)}
    arrays = tuple(name for name in ARRAYS.get(operation, ()) if name in roles) or None
    question = Reproduction(operation, options, context.source, grouped, context.others, from_counts, arrays)
    again = of_a_model(options) if source["method"].value == FROM_A_MODEL else listings(question)
    return _section(source, context, sources or source, again)


def of_theory(source: model.AnswerPath, context: model.Context) -> model.Section:
    """The same of what was asked of arrays, or of nothing."""
    operation, sent = source["method"].value, source["arrays"].value or ()
    # a kept answer may say anything
    arrays = tuple(name for name in ARRAYS.get(operation, ()) if name in sent)
    question = Reproduction(operation, unusual(operation, source["options"].value or {}), context.source, arrays=arrays)
    return _section(source, context, source, listings(question))


def _section(
    source: model.AnswerPath, context: model.Context, sources: model.AnswerPath, again: Iterable[model.Block]
) -> model.Section:
    blocks: list[model.Block] = [model.Table("Origin", ("", ""), tuple(origin(source, context)))]
    if (read := table(sources)) is not None:
        blocks.append(read)
    options = [row for name in source["options"].value or {} for row in _option(name, source["options"][name])]
    if options:
        rows = tuple(options[:MOST])
        blocks.append(model.Table("Options, as they were understood", ("Option", "Value"), rows))
    blocks += [model.Paragraph(COLUMNS), *again]
    return model.Section("provenance", "Where this comes from, and how to make it again", tuple(blocks))


def origin(source: model.AnswerPath, context: model.Context) -> Iterator[tuple[model.Cell, model.Cell]]:
    """What was asked about, by what, and when."""
    for file in () if context.source is None else (context.source, *context.others):
        yield "Input", model.Untrusted(file)
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
    if "declaration" in (source.value or {}):
        declared = source["declaration"]
        yield "Declared before the scores were seen", declared["sha256"].quote() if declared else "no"
    if source["query"]:
        yield "How scores were read", source["query"].quote()
    if source:
        yield "Method", method(source)
    if source["seed"]:
        yield "Seed", source["seed"].number("exact")
    yield from made(context)


def method(source: model.AnswerPath) -> model.Phrase:
    """By what an answer was made."""
    return model.Phrase((source["method"].quote(), ", version ", source["version"].quote()))


def made(context: model.Context) -> Iterator[tuple[model.Cell, model.Cell]]:
    """By what, and when if that was asked, a report was made."""
    if context.date is not None:
        yield "Report made", model.Untrusted(context.date)
    yield "Report made by", model.Untrusted(f"mace {__version__}")


def _option(name: str, entry: model.AnswerPath) -> Iterator[tuple[model.Cell, model.Cell]]:
    """One row; an option that holds options, a row for each."""
    if isinstance(entry.value, dict):
        for inner in entry.value:
            yield from _option(f"{name}.{inner}", entry[inner])
    elif isinstance(entry.value, list) and any(isinstance(each, dict) for each in entry.value):
        for place, each in enumerate(entry):
            yield from _option(f"{name}, {_ordinal(place)}", each)
    elif isinstance(entry.value, list):
        yield model.Untrusted(name), model.Phrase(model.listed((_value(each),) for each in entry))
    else:
        yield model.Untrusted(name), _value(entry)


def _value(entry: model.AnswerPath) -> model.Cell:
    if isinstance(entry.value, bool):
        return "yes" if entry.value else "no"
    return entry.number("exact") if isinstance(entry.value, int | float) else entry.untrusted()


def _ordinal(place: int) -> str:
    return ("first", "second", "third")[place] if place < 3 else "a further one"
