"""``/v1/counts``: scores in, counts out, block by block where the body comes as a stream."""

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce

import numpy as np

from estimators import Caution, Counts, Query, Scores
from estimators.adversary.learned import learn_score
from estimators.risk.groups import GroupTable
from estimators.sample.counting import by_category, by_edges, by_equal_mass, by_grid
from estimators.sample.digests import fingerprint
from estimators.sample.doubts import DOUBTS
from estimators.sample.stream import CountStream
from macekit.call import FORM_DATA, JSON, NPZ, Body, Call, Reply
from macekit.catalogue import BY_NAME, SEVERAL
from macekit.decoding import blocks
from macekit.decoding.body import ColumnRead, DecodedBody, Sample
from macekit.decoding.body import options as query_options
from macekit.decoding.columns_read import ColumnRecorder, columns_read
from macekit.decoding.unnamed_columns import CODES, Look, looked_for
from macekit.operations import encode, samples
from macekit.operations.effects import require_left_out
from macekit.operations.options import parse_question, reply_of
from macekit.problems import Problem, fault
from macekit.questions.counts import CountsAnswer, CountsQuestion
from macekit.schemas.query_string import WIDE

ON_A_LINE = ("grid", "edges", "equal_mass")  # cells of numbers that have an order and a distance


LARGE = 128 * 2**20
"""Bytes from which records are counted as they come, if counts are enough for the question."""

EXPANSION = 4  # how much larger compressed data is taken to be than its file
NEED_RECORDS = frozenset({"kde", "learned"})  # estimators that look at each record

OF_VECTORS = frozenset({"auto", "learned", "histogram"})
"""Estimators of vectors that need no record twice: one learned score, or boxes."""

FOR_ATTACKERS = frozenset({"advantage", "gate", "report"})
"""Questions whose estimator says which attackers the upper end covers."""

NEED_ROWS = frozenset({"unit", "cluster", "group", "model", *WIDE})
"""Columns that say something of each record, which counts do not keep, or that are read as a whole."""

GROUPED = frozenset({"counts", "report", "gate", "series"})
"""Questions about each group that the group's counts answer."""


def counts_suffice(call: Call, options: Mapping[str, object]) -> bool:
    """Whether a question may be asked of counts that were made block by block, as far as its options say."""
    columns = dict(call.query)
    estimator = options.get("estimator")
    return (
        BY_NAME[call.operation].counts_suffice
        and not (isinstance(estimator, Mapping) and estimator.get("kind") in NEED_RECORDS)
        and options.get("query", "auto") != "discrete"
        and options.get("anytime") is not True  # cells on which batches merge are the run's own
        and not (NEED_ROWS & columns.keys()) - ({"group"} if call.operation in GROUPED else set())
        and "," not in columns.get("score", "")
    )


def vectors_suffice(call: Call, options: Mapping[str, object]) -> bool:
    """Whether a question about vectors may be asked of one score learned from a few of them, or of boxes."""
    columns, row = dict(call.query), BY_NAME[call.operation]
    estimator = options.get("estimator")
    kind = (estimator.get("kind") if isinstance(estimator, Mapping) else None) or "auto"
    return (
        "," in columns.get("score", "")
        and (row.counts_suffice or row.name == "counts")
        and row.name not in SEVERAL
        and kind in (OF_VECTORS if row.name in FOR_ATTACKERS else {"auto"})
        and options.get("query", "auto") != "discrete"
        and options.get("cells", "auto") == "auto"
        and not NEED_ROWS & columns.keys()
    )


def streams(call: Call, options: Mapping[str, object] | None = None) -> bool:
    """Whether these counts can be made block by block: not if all records must be seen before the cells stand."""
    query: dict[str, object] = {**dict(call.query), **(options or {})}
    return (
        call.media_type not in (JSON, NPZ, FORM_DATA)
        and query.get("cells", "auto") in ("auto", "grid")
        and query.get("query", "auto") != "discrete"
        and "," not in str(query.get("score", ""))
        and not {"unit", "cluster", "group", *WIDE} & query.keys()
    )


def answer(call: Call, body: DecodedBody) -> Reply:
    """Counts of the scores posted, or of all shards together."""
    options = dict(body.options)
    shards, edges = options.pop("shards", None), options.pop("edges", None)
    question = parse_question(CountsQuestion, replace(body, options=options))
    _require_options_act(question, shards, edges)
    if shards is not None:
        if body.samples or body.groups is not None:
            raise fault("bad-option", "shards", "need a list of counts, and nothing beside it")
        together, table = merged(shards)
        return _reply(call, together, columns_read(body), table, body.cautions)
    data = samples.sample_of(body, _with_query(question, body))
    if isinstance(data, Counts):
        require_left_out(question, ("cells", "bins"), "counts are sorted into cells already")
        if body.groups is not None:
            raise fault("bad-option", "groups", "counts hold no records, so none is in a group")
        return _reply(call, data, columns_read(body), samples.groups_of_counts(body, data), body.cautions)
    if data.dimension > 1 and question.cells == "auto":
        if body.groups is not None:
            raise fault("bad-option", "groups", "do not go with counts of vectors; remove one")
        learned = learn_score(data, seed=question.seed).on_grid()
        return _reply(call, learned, columns_read(body), cautions=body.cautions)
    counts = _counts_on_cells(data, question, edges)
    if counts is None:
        whole = body.samples[""] if body.units is None else Sample(data.members, data.nonmembers)
        counts = samples.counts_by_type(data, whole)
    groups = samples.groups_of_records(body, data, counts)
    return _reply(call, counts, columns_read(body), groups, body.cautions)


def answer_body(call: Call, body: Body, options: Mapping[str, object] | None = None) -> Reply | None:
    """The same from blocks of records as they come, no more than one at a time; None if that is not possible."""
    if not streams(call, options):
        return None
    text = DecodedBody(options=query_options(call), textual=True)
    tally, recorder, look = start_of(text.with_options(options)), ColumnRecorder(), Look()
    for sides in blocks(looked_for(call), body, recorder, look):
        tally = tally.plus(*sides)
    return _reply(call, tally.counts(), recorder.columns(), cautions=look.cautions())


def start_of(body: DecodedBody) -> CountStream:
    """Counts before the first record, on the cells that the options ask for."""
    question = parse_question(CountsQuestion, body)
    _require_options_act(question, None, None)
    return CountStream.on_grid() if question.cells == "grid" or question.query == "continuous" else CountStream()


def _require_options_act(question: CountsQuestion, shards: object, edges: object) -> None:
    """Refuse options that are for cells which are not cut here."""
    if (question.cells == "edges") != (edges is not None):
        raise Problem("bad-option", "edges go with cells edges; give both or neither", field="edges")
    if shards is not None:
        require_left_out(question, ("cells", "bins", "query"), "shards are merged on the cells they have")
    elif question.bins is not None and question.cells != "equal_mass":
        detail = f"applies only to cells equal_mass, not {question.cells}; remove it"
        raise fault("bad-option", "bins", detail)


def _with_query(question: CountsQuestion, body: DecodedBody) -> CountsQuestion:
    """The question with integers read as numbers, whatever their size, where the cells asked for lie on a line."""
    sample = body.samples.get("", Sample())
    sides = (sample.members, sample.nonmembers)
    whole = all(isinstance(side, np.ndarray) and side.dtype.kind in "iuO" for side in sides)
    if not whole or question.query != "auto" or question.cells not in ON_A_LINE:
        return question
    return question.model_copy(update={"query": "continuous"})


def _counts_on_cells(data: Scores, question: CountsQuestion, edges: object) -> Counts | None:
    """On the cells asked for; None if the type of the scores is to decide."""
    match question.cells:
        case "edges":
            return by_edges(data, np.asarray(edges))
        case "equal_mass":
            return by_equal_mass(data, question.bins)
        case "grid":
            return by_grid(data)
        case "categories":
            return by_category(data)
    if question.query != "auto":
        return by_category(data) if data.query is Query.DISCRETE else by_grid(data)
    return None


def merged(shards: object) -> tuple[Counts, GroupTable | None]:
    """All shards together, and the groups of all where each has some."""
    if not isinstance(shards, list) or not shards:
        raise fault("bad-option", "shards", "need a list of counts, and nothing beside it")
    if not all(isinstance(each, dict) for each in shards):
        raise fault("wrong-type", "shards", "every one needs to be counts")
    parts = [samples.counts_of(each, f"shard {i}: ") for i, each in enumerate(shards)]
    tables = [samples.groups_of(each, part) for each, part in zip(shards, parts, strict=True)]
    counts = reduce(Counts.merge, parts)
    groups = [(part.cells, each) for part, each in zip(parts, tables, strict=True) if each is not None]
    if groups and None in tables:
        at = tables.index(None)
        raise fault(
            "bad-option",
            "shards",
            f"shard {at} has no by_group and another one has; count the groups of all of them, or of none",
        )
    return counts, GroupTable.merged(counts, groups) if groups else None


def document_of(counts: Counts, groups: GroupTable | None) -> dict[str, object]:
    """Counts as they are answered, and posted."""
    return counts.to_dict() | ({} if groups is None else {"by_group": groups.to_list()})


def _reply(
    call: Call,
    counts: Counts,
    read: tuple[ColumnRead, ...],
    groups: GroupTable | None = None,
    cautions: tuple[Caution, ...] = (),
) -> Reply:
    n, m = counts.n_members, counts.n_nonmembers
    document: CountsAnswer = {
        "sentence": f"{n} members and {m} nonmembers in {counts.size} cells of kind {counts.cells.kind}.",
        "n_members": n,
        "n_nonmembers": m,
        "counts": document_of(counts, groups),
        "columns": encode.columns(read),
        "input_sha256": fingerprint(counts),
    }
    of_values = () if counts.cells.kind == "grid" else counts.doubts  # a grid says it of itself
    if odd := (*(each for each in cautions if each.code in CODES | DOUBTS), *(counts.signs or ()), *of_values):
        document["warnings"] = encode.warnings(odd)
    return reply_of(call, document, counts)
