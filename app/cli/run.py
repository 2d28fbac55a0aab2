"""From open inputs to an answer, by the operations of the service, in this process.

One table goes through ``perform`` as it would in the service. What the service has no body for is brought together
here: two files for the two sides, a file for each query, options beside a JSON body, a file that is counted first.
``values`` are the options of the question; the call's query only names columns.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias, TypeVar

import msgspec

from app.cli.inputs import Source, as_misuse, detail_of
from app.cli.parsing import Misuse
from app.cli.terminal import Progress
from estimators.python.dataclass import dataclass, replace
from macekit.call import JSON, NPZ, Body, Call, Reply
from macekit.catalogue import BY_NAME, SIDED, flag
from macekit.decoding import decode, reader_of
from macekit.decoding.body import DecodedBody
from macekit.decoding.columns_read import join_queries
from macekit.decoding.compression import expanded
from macekit.decoding.format import join_sides
from macekit.decoding.json import body_of_counts
from macekit.decoding.table import check_arrays
from macekit.decoding.whole_tables import Columns
from macekit.operations import answer, perform
from macekit.operations.encode import json_bytes
from macekit.questions.counts.work import EXPANSION, GROUPED, LARGE, counts_suffice, streams, vectors_suffice
from macekit.questions.gate import GateQuestion
from macekit.reports.files import FileAnswer, level_of_each, together
from macekit.schemas.query_string import FIRST_MEMBERS, TABLE, of_table
from macekit.sources.reading import read
from macekit.sources.risks import RISK, needs_every_record
from macekit.sources.shards import Shards, shards_of

OK = 200
LARGEST = 2**40  # bytes that one's own compressed file may expand to while it is counted

Inputs: TypeAlias = "list[Source | Shards] | Sides | Tables | Apart"
"""What a question is asked of: an input for each query, for each side, for each table; or several files, each by
itself."""

T = TypeVar("T")

Values = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Tables:
    """A file for each table of a question, by their names."""

    files: Mapping[str, Source]


@dataclass(frozen=True, slots=True)
class Sides:
    """One file for members and one for nonmembers."""

    members: Source
    nonmembers: Source


@dataclass(frozen=True, slots=True)
class Apart:
    """Several files, each of which a gate judges by itself, with their names, and the options of each."""

    files: Sequence[tuple[str, Inputs]]
    values: Sequence[Values] = ()


def answer_inputs(
    call: Call, values: Values, inputs: Inputs, progress: Progress, of_tables: Sequence[tuple[str, str]] = ()
) -> Reply:
    """The answer to one call about what is in the inputs; what is wrong with them is an answer, too.

    Args:
        of_tables: Names of columns that nobody typed; what has no columns goes without.
    """
    if isinstance(inputs, Apart):
        return _of_files(call, values, inputs, progress, of_tables)
    if not is_request(inputs):
        call = replace(call, query=(*call.query, *of_tables))
    if isinstance(inputs, Tables):
        progress.now("reading")
        tables = {name: _table_of(call, source) for name, source in inputs.files.items()}
        progress.now("computing")
        return answer(call, DecodedBody(options=dict(values), tables=tables))
    if isinstance(inputs, Sides):
        _require_none(call, (*TABLE[1:], FIRST_MEMBERS), "needs one table with both sides")
        progress.now("reading")
        if BY_NAME[call.operation].texts:
            return _of_texts(call, values, inputs)
        call = replace(call, names=values.get("query") == "discrete")
        material = replace(_both(call, inputs), options=dict(values))
        progress.now("computing")
        return answer(call, check_arrays(call.operation, material) if call.operation in SIDED else material)
    if not inputs:  # a question that has no records
        return answer(call, DecodedBody(options=dict(values)))
    if len(inputs) > 1:
        return answer(call, _queries(call, values, inputs, progress))
    (source,) = inputs
    if isinstance(source, Shards):
        return answer(call, _of_shards(call, values, source, progress))
    if counts_groups(call, values, source) or counts_vectors(call, values, source):
        return answer(call, _of_shards(call, values, shards_of([source.path]), progress))
    if counts_first(call, values, source):
        return answer(call, _counts_of(call, values, source, progress))
    if source.media_type == JSON:
        _require_none(call, (*of_table(call.operation), FIRST_MEMBERS), "a JSON request has no columns")
    about = _call_about(call, source)
    if call.operation == "counts" and streams(about, values):
        return _stream_counts(about, values, source, progress)
    progress.now("computing")
    with source.body() as body:
        return perform(about, body, values)


def is_request(inputs: Inputs) -> bool:
    """Whether it is one request in JSON, which has no columns."""
    return (
        isinstance(inputs, list) and len(inputs) == 1 and isinstance(inputs[0], Source) and inputs[0].media_type == JSON
    )


def counts_first(call: Call, values: Values, source: Source) -> bool:
    """Whether an input is so large that it is counted as it is read, and the question then asked of the counts."""
    return _is_large(source) and counts_suffice(call, values) and streams(*_counts_call(call, values, source))


def risks_to_write(call: Call, values: Values, inputs: Inputs) -> Shards | None:
    """What is so large that the risk of each record is looked up as it is read again; None if it is held."""
    if call.operation != RISK or not isinstance(inputs, list) or len(inputs) != 1:
        return None
    (source,) = inputs
    if isinstance(source, Shards):
        large, about = source.nbytes * EXPANSION > LARGE, Call("counts", media_type="")
    else:
        large, about = bool(source.path) and (source.size or 0) * EXPANSION > LARGE, _call_about(call, source)
    columns = tuple(each for each in call.query if each[0] != "group")
    one_score = "," not in dict(columns).get("score", "")
    if not (large and one_score and streams(replace(about, query=columns), _how(values))):
        return None
    if needs_every_record(values) is not None:
        return None
    return source if isinstance(source, Shards) else shards_of([source.path])


def counts_groups(call: Call, values: Values, source: Source) -> bool:
    """Whether it is so large that the records of each group are counted as it is read."""
    columns = tuple(each for each in call.query if each[0] != "group")
    if columns == call.query or call.operation not in GROUPED or not source.path:
        return False
    # labels take more room than scores
    if call.operation != "counts" and (source.size or 0) * EXPANSION <= LARGE:
        return False
    return streams(*_counts_call(replace(call, query=columns), values, source))


def counts_vectors(call: Call, values: Values, source: Source) -> bool:
    """Whether it is so large that vectors are counted by what a pilot of them chose."""
    blockwise = bool(source.path) and source.media_type not in (JSON, NPZ)
    return blockwise and _is_large(source) and vectors_suffice(call, values)


def _is_large(source: Source) -> bool:
    grown = 1 if source.encoding == "identity" else EXPANSION
    return source.size is None or source.size * grown > LARGE


def _call_about(call: Call, source: Source) -> Call:
    """The call about this input; one's own compressed file may expand as far as memory goes."""
    return replace(call, media_type=source.media_type, encoding=source.encoding, expanded_limit=memory() // 2)


def _require_none(call: Call, names: Sequence[str], why: str) -> None:
    """Refuse names of columns that would do nothing."""
    columns = dict(call.query)
    name = next((name for name in names if name in columns), None)
    if name is not None:
        raise Misuse(f"{flag(name)}: {why}")


def _queries(call: Call, values: Values, sources: Sequence[Source | Shards], progress: Progress) -> DecodedBody:
    """One query from each input, called by its stem."""
    _require_none(
        call,
        ("group", "cluster"),
        "labels of rows are not read of several files; put the scores into one table, a column for each query",
    )
    stems = [_stem(source) for source in sources]
    single = replace(call, operation="advantage", names=values.get("query") == "discrete")

    def each() -> Iterator[tuple[str, DecodedBody]]:
        names = set()
        for source in sources:
            name = source.name if stems.count(_stem(source)) > 1 else _stem(source)
            if name in names:
                raise Misuse(f"{source.name}: was given twice")
            names.add(name)
            if isinstance(source, Shards):
                yield name, _of_shards(single, values, source, progress)
            elif counts_first(single, values, source):
                yield name, _counts_of(single, values, source, progress)
            else:
                progress.now("reading")
                yield name, _decode(single, source)

    with as_misuse():
        together = replace(join_queries(each()), options=dict(values))
    progress.now("computing")
    return together


def _stem(source: Source | Shards) -> str:
    return source.name if isinstance(source, Shards) else source.stem


def _of_shards(call: Call, values: Values, shards: Shards, progress: Progress) -> DecodedBody:
    """The records of many files, or their counts."""
    progress.now("counting" if call.operation == "counts" else "reading")
    with as_misuse():
        say = partial(_say_counted, call, shards, progress)
        material = read(shards, call.operation, values, call.query, say)
    progress.now("computing")
    return material


def _say_counted(call: Call, source: Source | Shards, progress: Progress) -> None:
    progress.say(f"{source.name} is large, so mace counts it while reading and answers from the counts")
    if call.operation in ("advantage", "report"):
        progress.say("the paper's statistic is then W_N over those cells, which is biased upward")


def _decode(call: Call, source: Source) -> DecodedBody:
    about = _call_about(call, source)
    if source.media_type == JSON:
        about = replace(about, query=())
    return _read(source, partial(decode, about))


def _table_of(call: Call, source: Source) -> Columns:
    about = _call_about(call, source)
    return _read(source, lambda body: reader_of(about).whole_columns(about, expanded(about, body)))


def _of_files(
    call: Call, values: Values, inputs: Apart, progress: Progress, of_tables: Sequence[tuple[str, str]]
) -> Reply:
    """The answer about each of several files, and the decision over them: the error is split evenly among them."""
    confidence = values.get("confidence", GateQuestion.model_fields["confidence"].default)
    level = level_of_each(float(str(confidence)), len(inputs.files))
    answers: list[FileAnswer] = []
    for (name, each), own in zip(inputs.files, inputs.values, strict=True):
        reply = answer_inputs(call, {**own, "confidence": level}, each, progress, of_tables)
        if reply.problem is not None:
            raise Misuse(f"{name}: {detail_of(reply)}")
        answers.append({"file": name, "answer": msgspec.json.decode(reply.body)})
    return Reply(OK, JSON, json_bytes(together(answers, float(str(confidence)))))


def _of_texts(call: Call, values: Values, inputs: Sides) -> Reply:
    """The answer about texts of either side, read as they are scored."""
    calls = [_call_about(call, source) for source in (inputs.members, inputs.nonmembers)]
    with inputs.members.body() as members, inputs.nonmembers.body() as nonmembers:
        each = (reader_of(about).texts(about, body) for about, body in zip(calls, (members, nonmembers), strict=True))
        sides = dict(zip(("members", "nonmembers"), each, strict=True))
        return answer(call, DecodedBody(options={**values, **sides}))


def _both(call: Call, inputs: Sides) -> DecodedBody:
    """One input for each side as one sample."""
    calls = [_call_about(call, source) for source in (inputs.members, inputs.nonmembers)]
    members = _read(inputs.members, partial(reader_of(calls[0]).side, calls[0]))
    nonmembers = _read(inputs.nonmembers, partial(reader_of(calls[1]).side, calls[1]))
    with as_misuse():
        return join_sides(members, nonmembers, (inputs.members.name, inputs.nonmembers.name))


def _read(source: Source, reader: Callable[[Body], T]) -> T:
    """What a reader makes of an input; a problem gets the name of the input."""
    with as_misuse(f"{source.name}: "), source.body() as body:
        return reader(body)


def _counts_of(call: Call, values: Values, source: Source, progress: Progress) -> DecodedBody:
    """The counts of a large input, with the question that is asked of them."""
    _say_counted(call, source, progress)
    reply = _stream_counts(*_counts_call(call, values, source), source, progress)
    if reply.status != OK:
        raise Misuse(f"{source.name}: {detail_of(reply)}")
    body = body_of_counts(msgspec.json.decode(reply.body))
    assert body is not None  # it is an answer of counts
    progress.now("computing")
    # the query said how to count them
    return replace(body, options={name: value for name, value in values.items() if name != "query"})


def _counts_call(call: Call, values: Values, source: Source) -> tuple[Call, Values]:
    """The call that counts what another call asks about, and its options."""
    return _call_about(Call("counts", query=call.query), source), _how(values)


def _how(values: Values) -> Values:
    """The options that say how scores are counted."""
    return {"query": values["query"]} if "query" in values else {}


def _stream_counts(call: Call, values: Values, source: Source, progress: Progress) -> Reply:
    """Counts of an input as it is read; a file whose index is at its end is mapped."""
    progress.now("counting", source.size)
    with source.body() if source.indexed else source.stream(progress.read) as body:
        return perform(replace(call, expanded_limit=LARGEST), body, values)


def memory() -> int:
    """Bytes that this machine has; 8 GiB where the system does not say."""
    if not hasattr(os, "sysconf"):
        return 8 * 2**30
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
