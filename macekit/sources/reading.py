"""From a source to what a question is asked of: its records where they are few or needed, else their counts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from estimators import Caution, MaceError
from estimators.risk.groups import GroupTable, one_kind
from estimators.sample.counts import Counts
from estimators.sample.growing_grid import MOST_TIMES, NestedGrid
from estimators.sample.parts import Part, counts_of_groups, counts_of_parts, tables_of_groups
from estimators.sample.plain_arrays import as_floats
from estimators.sample.stream import CountStream
from macekit.call import Call
from macekit.catalogue import OF_GROUPS, command
from macekit.decoding.body import ColumnRead, DecodedBody, Sample
from macekit.decoding.columns import Labels, absent, labels_alike, one_column
from macekit.decoding.columns_read import ColumnRecorder
from macekit.decoding.roles import Roles
from macekit.decoding.table import Table, from_table, plain
from macekit.decoding.unnamed_columns import Look, looked_for
from macekit.problems import Problem, fault
from macekit.questions.counts.work import EXPANSION, GROUPED, LARGE, counts_suffice, start_of, streams, vectors_suffice
from macekit.schemas.query_string import WIDE
from macekit.sources.blocks import LIMIT, Block, RemoteTable, Source, blamed
from macekit.sources.shards import Shards, counts_together, hold_counts
from macekit.sources.vectors import VectorQuestion, counts_of_vectors, emptied, in_order

MOST_HELD = 2**30  # bytes of the columns in use that are held for a question that looks at every record
MOST_GROUPS = 200  # groups that are counted at once; each takes some megabytes

WAY_OUT = "; or write a row for each record: mace risk -o FILE.parquet, macekit.write_risks"

NO_GROUPS: Mapping[Hashable, Hashable] = {}

HOW_COUNTED = frozenset({"cells", "query"})  # options that say how scores are counted


def read(
    source: Source | RemoteTable,
    operation: str,
    options: Mapping[str, object],
    columns: tuple[tuple[str, str], ...],
    say: Callable[[], None] = lambda: None,
    *,
    textual: bool = False,
    merges: bool | None = None,
) -> DecodedBody:
    """The body of a question about a source, with the options that are left to it; ``textual`` ones are still text.

    Up to ``LARGE`` bytes of the columns in use are held, and the question is asked of the records; what is larger is
    counted as it comes, if counts are enough for the question, and ``say`` is called. ``mace counts`` always counts; so
    do frames that compute for themselves. Counts that need not merge with others have crowded cells cut again:
    all but what ``mace counts`` answers, if ``merges`` does not say it.
    """
    call = Call(operation, query=columns, expanded_limit=LIMIT)
    if isinstance(source, RemoteTable):
        return source.body(call, options)
    if isinstance(source, Shards) and hold_counts(source, call):
        return counts_together(source, call, options, textual)
    if set(WIDE) & dict(columns).keys():
        raise Problem("bad-option", f"{' and '.join(WIDE)}: such a table is read as a whole", field=WIDE[0])
    look = Look(by_step=operation in OF_GROUPS)
    blocks = _looked_at(source, call, look)
    return look.added_to(_read(source, call, blocks, options, say, textual=textual, merges=merges))


def _looked_at(source: Source, call: Call, look: Look) -> Iterator[Block]:
    """The blocks of a source, of the first rows of which columns are looked at that nobody named."""
    looking = looked_for(call)
    try:
        head = source.head(looking)
        for block in in_order(head, looking) if head is not None else ():
            look.add(block.table, block.roles)
    except (Problem, MaceError):  # which reading the source says, too
        head = source
    for block in in_order(source, looking if head is None else call):
        look.add(block.table, block.roles)
        yield block


def _read(
    source: Source,
    call: Call,
    blocks: Iterator[Block],
    options: Mapping[str, object],
    say: Callable[[], None],
    *,
    textual: bool,
    merges: bool | None,
) -> DecodedBody:
    operation, columns = call.operation, call.query
    only_counts = operation == "counts" and are_counted(call, options)
    vectors = vectors_suffice(call, options)
    suffice = vectors or counts_suffice(call, options)
    grouped = "group" in dict(columns) and operation in GROUPED
    most = (LARGE // EXPANSION if grouped else LARGE) if suffice else MOST_HELD  # labels take much room
    blocks_so_far: deque[Block] = deque()
    size = 0
    if not only_counts:
        for block in blocks:
            blocks_so_far.append(block)
            size += block.nbytes
            if size > most:
                break
        else:
            return replace(_whole([*blocks_so_far], call, options), textual=textual)
        if not suffice:
            raise _too_large(operation)
        say()
    if vectors:
        about = VectorQuestion.of(operation, options, textual)
        return counts_of_vectors(source, blocks_so_far, blocks, MOST_HELD, call, about).body(options, textual)
    every_block = chain(emptied(blocks_so_far), blocks)
    merges = operation == "counts" if merges is None else merges
    again = source if source.again and not merges else None
    if grouped:
        parts, common_labels, columns_read = _parts_of_groups(every_block, goes_to_grid(call, options, textual))
        cut = None
        if again is not None and (grid := grid_of_groups(parts)) is not None:
            cut = _cut_again({"": grid}, again, call, common_labels).get("")
        body = with_groups(parts, columns_read, options, textual, cut)
    else:
        body = _by_counts(every_block, call, options, textual, again)
    _give_back()
    return body


def are_counted(call: Call, options: Mapping[str, object]) -> bool:
    """Whether counts can be made block by block, of one score a record."""
    query = tuple((name, str(value)) for name, value in options.items() if name in HOW_COUNTED)
    columns = tuple(each for each in call.query if each[0] != "group")  # groups are counted as they come, too
    about = Call("counts", "", query=columns + query)
    return streams(about)


def _of_counting(call: Call, options: Mapping[str, object]) -> dict[str, object]:
    """Those options that say how to count; all of them, if counting is what was asked."""
    return {name: each for name, each in options.items() if call.operation == "counts" or name in HOW_COUNTED}


def not_of_counting(options: Mapping[str, object]) -> dict[str, object]:
    """Those options that counting has not used up."""
    return {name: value for name, value in options.items() if name not in HOW_COUNTED}


def _give_back() -> None:
    """Let the system have what Arrow keeps of blocks that are read: the work and the drawing after it need the room."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


def _too_large(operation: str) -> Problem:
    return Problem(
        "too-large",
        f"`{command(operation)}` as it was asked looks at every record, and the columns in use take more than "
        f"{MOST_HELD} bytes; ask what counts can answer (estimate, report, metrics, audit, gate, without units), or of "
        f"a sample of the records{WAY_OUT if operation == 'individual-risk' else ''}",
    )


def _whole(blocks: list[Block], call: Call, options: Mapping[str, object]) -> DecodedBody:
    """All records as one table."""
    if not blocks:
        CountStream().counts()  # raises what no records are
    roles = blocks[0].roles
    columns = {place: one_column(_parts_of_column(blocks, place, what), what) for place, what in roles.what.items()}
    notes = {
        place: dict.fromkeys(note for block in blocks for note in block.table.notes.get(place, ())) for place in columns
    }
    table = Table(columns, 0, blocks[0].table.names, {place: [*each] for place, each in notes.items()})
    body = from_table(table, roles, call, LIMIT)
    return body.with_options(options)


def _parts_of_column(blocks: list[Block], place: int, what: str) -> Sequence[NDArray[np.generic] | Labels]:
    """A column block by block; of labels, which may be text in one file and numbers in another, all of one kind."""
    parts = [block.table.columns[place] for block in blocks]
    if what == "score":
        return parts
    starts = [block.table.start for block in blocks]
    return labels_alike(
        [part if isinstance(part, Labels) else plain(part, what, at) for part, at in zip(parts, starts, strict=True)],
        what,
    )


def _by_counts(
    blocks: Iterator[Block], call: Call, options: Mapping[str, object], textual: bool, source: Source | None
) -> DecodedBody:
    """Counts of all records, and the options that counting has not used up.

    Crowded cells are cut again, if ``source`` can be read again.
    """
    start = start_of(DecodedBody(options=_of_counting(call, options), textual=textual))
    tallies, recorder = tally(blocks, start)
    counts = {query: stream.counts() for query, stream in (tallies or {"": start}).items()}
    if source is not None:
        counts = _with_crowds_cut(counts, source, call)
    return of_counts(counts, not_of_counting(options), textual=textual, columns=recorder.columns())


def of_counts(
    counts: Mapping[str, Counts], options: dict[str, object], *, textual: bool, columns: tuple[ColumnRead, ...]
) -> DecodedBody:
    """Counts of each query as what a question is asked of, with the options that are left to it."""
    samples = {query: Sample(counts=each.to_dict(), signs=_signs(each)) for query, each in counts.items()}
    by_value = [each for each in counts.values() if each.cells.kind != "grid"]  # a grid says it of itself
    cautions = tuple(dict.fromkeys(odd for each in by_value for odd in each.doubts))
    return DecodedBody(samples, options, textual, columns=columns, cautions=cautions)


def _signs(counts: Counts) -> tuple[Caution, ...] | None:
    """What single scores showed that the cells do not: a grid shows some of it by itself."""
    return counts.signs if counts.cells.kind == "grid" else counts.doubts


def _with_crowds_cut(counts: dict[str, Counts], source: Source, call: Call) -> dict[str, Counts]:
    """The same, with crowded cells of a grid cut again."""
    grids = {query: NestedGrid.of([part]) for query, each in counts.items() if (part := Part.of_grid(each))}
    cut = _cut_again(grids, source, call)
    return {query: cut[query].counts().doubted(each.signs) if query in cut else each for query, each in counts.items()}


def _cut_again(
    grids: Mapping[str, NestedGrid], source: Source, call: Call, common_labels: Mapping[Hashable, Hashable] = NO_GROUPS
) -> dict[str, NestedGrid]:
    """Of the grid of each query those with crowded cells, which are cut: only their records are counted once more."""
    cut = {query: grid for query, grid in grids.items() if grid.crowds()}
    for _ in range(MOST_TIMES):
        crowds = {query: places for query, grid in cut.items() if (places := grid.crowds())}
        if not crowds:
            break
        streams: dict[tuple[str, int, Hashable], CountStream] = {}
        values = set[str]()
        for block in in_order(source, call):
            member = block.members(values)
            groups = [*_groups(block.table, block.roles)] if common_labels else [(None, slice(None))]
            for query, at in zip(block.roles.queries or ("",), block.roles.scores, strict=True):
                if query not in crowds:
                    continue
                scores = as_floats(block.scores(at), "score")
                for place in crowds[query]:
                    low, high = cut[query].range_of(place)
                    here = (scores >= low) & (scores < high)
                    for own, rows in groups:
                        label = common_labels.get(own)
                        some, inside = scores[rows][here[rows]], member[rows][here[rows]]
                        before = streams.get((query, place, label), CountStream.on_grid())
                        streams[query, place, label] = before.plus(some[inside], some[~inside])
        for query, places in crowds.items():
            finer = {
                place: [
                    stream.part() if (stream := streams.get((query, place, label))) else None
                    for label in dict.fromkeys(common_labels.values()) or (None,)
                ]
                for place in places
            }
            cut[query] = cut[query].cut(finer)
    return cut


def counts_by_group(
    source: Source | RemoteTable, columns: tuple[tuple[str, str], ...], on_grid: bool
) -> dict[object, Counts | None]:
    """The counts of each group, on the cells of all; ``columns`` name the group's."""
    call = Call("counts", query=columns, expanded_limit=LIMIT)
    if isinstance(source, RemoteTable):
        return source.counts_by_group(call, on_grid=on_grid)
    blocks = in_order(source, call)
    return counts_of_groups(_parts_of_groups(blocks, on_grid)[0])


def goes_to_grid(call: Call, options: Mapping[str, object], textual: bool) -> bool:
    """Whether integers go to the grid, too, as the options say."""
    return start_of(DecodedBody(options=_of_counting(call, options), textual=textual)).table is not None


def grid_of_groups(parts: Mapping[object, Sequence[Part]]) -> NestedGrid | None:
    """The records of all groups on one grid; None if they are counted by value."""
    of_each = [group[0] if group else None for group in parts.values()]
    on_grid = [part is None or part.kind == "grid" for part in of_each]
    return NestedGrid.of(of_each) if any(of_each) and all(on_grid) else None


def with_groups(
    parts: Mapping[object, Sequence[Part]],
    columns: tuple[ColumnRead, ...],
    options: Mapping[str, object],
    textual: bool,
    cut: NestedGrid | None = None,
) -> DecodedBody:
    """The counts of all groups, with the records of each of them; ``cut`` if crowded cells were cut again."""
    if cut is None:
        counts, tables = tables_of_groups(parts)
        members, nonmembers = zip(*tables.values(), strict=True)
    else:
        whole = counts_of_parts([part for group in parts.values() for part in group])
        counts, (members, nonmembers) = cut.counts().doubted(whole.signs), cut.tables
    cautions = () if counts.cells.kind == "grid" else counts.doubts  # a grid says them of itself
    groups = GroupTable.of(counts, np.array([*parts]), members, nonmembers).to_list()
    sample = Sample(counts={**counts.to_dict(), "by_group": groups}, signs=_signs(counts))
    return DecodedBody({"": sample}, not_of_counting(options), textual, columns=columns, cautions=cautions)


def _parts_of_groups(
    blocks: Iterator[Block], on_grid: bool
) -> tuple[dict[Hashable, list[Part]], dict[Hashable, Hashable], tuple[ColumnRead, ...]]:
    """What was counted of each group, what the labels of the blocks are called together, and the columns read."""
    start = CountStream.on_grid() if on_grid else CountStream()
    tallies: dict[Hashable, CountStream] = {}
    common_labels: dict[Hashable, Hashable] = {}
    recorder, values = ColumnRecorder(), set[str]()
    for block in blocks:
        with blamed(block.name):
            member, scores = block.members(values, recorder), block.scores()
            groups = dict(_groups(block.table, block.roles))
            if not groups.keys() <= common_labels.keys():
                before, common_labels = common_labels, one_kind([*common_labels, *groups], "group")
                tallies = {common_labels[label]: tallies[name] for label, name in before.items()}
            for label, rows in groups.items():
                inside, some = member[rows], scores[rows]
                stream = tallies.get(common_labels[label], start)
                tallies[common_labels[label]] = stream.plus(some.compress(inside), some.compress(~inside))
        if len(tallies) > MOST_GROUPS:
            detail = f"more than {MOST_GROUPS} groups; a frame of an engine may have more"
            raise fault("too-large", "group", detail)
    parts = {label: [part for part in (stream.part(),) if part] for label, stream in tallies.items()}
    return parts, common_labels, recorder.columns()


def _groups(table: Table, roles: Roles) -> Iterator[tuple[Hashable, NDArray[np.intp]]]:
    """The rows of each group of a block."""
    assert roles.group is not None  # it was named
    column = table.columns[roles.group]
    if isinstance(column, Labels):
        labels, codes = list[Hashable](column.texts), column.codes
        missing = column.first(text is None for text in column.texts)
        if missing is not None:
            raise absent("group", table.start + missing)
    else:
        distinct, codes = np.unique(plain(column, "group", table.start), return_inverse=True)
        labels = distinct.tolist()
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(len(labels) + 1))
    for place, label in enumerate(labels):
        if ends[place + 1] > ends[place]:
            yield label, order[ends[place] : ends[place + 1]]


def tally(blocks: Iterator[Block], start: CountStream) -> tuple[dict[str, CountStream], ColumnRecorder]:
    """What was counted of each query, from ``start`` on, and the columns that were read."""
    tallies: dict[str, CountStream] = {}
    recorder, values = ColumnRecorder(), set[str]()
    for block in blocks:
        with blamed(block.name):
            member = block.members(values, recorder)
            for query, place in zip(block.roles.queries or ("",), block.roles.scores, strict=True):
                scores = block.scores(place)
                stream = tallies.get(query, start)
                tallies[query] = stream.plus(scores.compress(member), scores.compress(~member))
    return tallies, recorder
