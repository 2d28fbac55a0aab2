"""From the arguments of a function to a question: the options as plain values, and the records it is asked of."""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections.abc import Mapping, Sequence, Set, Sized
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from macekit.catalogue import BY_NAME
from macekit.client.columns import clusters, column, column_called, is_table, labels, whose_answer
from macekit.client.keywords import OPTIONS
from macekit.client.problems import fault
from macekit.client.tables import File, cautions_of_frames, like_lists, matrix, query, read_frame, texts_of, whole
from macekit.text import FORMER, require_keywords

if TYPE_CHECKING:
    from estimators import Caution
    from macekit.decoding.body import DecodedBody, Sample
    from macekit.sources.blocks import RemoteTable, Source

RECORDS = frozenset({"counts", "groups", "units", "targets", "shards"})  # options that hold records

SAMPLE = ("members", "nonmembers", "counts")
OF_QUERY = frozenset({*SAMPLE, "warnings"})
OF_COUNTS = frozenset({"edges", "cells", "by_group", "learned"})  # what counts have beside both sides
COUNTS = "counts, or an answer of macekit.counts"


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset of a service, by its name there.

    Args:
        name: A file, a folder or a pattern below the service's ``MACE_DATA``; several files are one table.

    Example:
        >>> import macekit
        >>> macekit.Dataset("run=7/*.parquet")
        Dataset(name='run=7/*.parquet')
    """

    name: str


@dataclass(frozen=True, slots=True)
class Question:
    """One question: of records that are here, of a file as it lies, or of a dataset of a service.

    ``roles`` names the columns of a file or a dataset.
    """

    operation: str
    options: Mapping[str, object]
    records: DecodedBody | File | Dataset
    roles: tuple[tuple[str, str], ...] = ()
    source: str | None = None


def pose(operation: str, members: object, nonmembers: object, arguments: Mapping[str, Any]) -> Question:
    """The question that the function of an operation was asked with these arguments."""
    from macekit.schemas.query_string import TABLE, of_table

    arguments = _current(operation, arguments)
    for side, value in (("members", members), ("nonmembers", nonmembers)):
        _require_scores(value, side)
    options = {each: _option(value, each) for each, value in arguments.items() if each not in {*TABLE, *RECORDS}}
    beside = nonmembers is not None or not (isinstance(members, str | os.PathLike | Dataset) or is_table(members))
    roles = {each: arguments[each] for each in of_table(operation) if arguments.get(each) is not None}
    if not beside and isinstance(declaration := options.get("declaration"), Mapping):
        roles = _declared_columns(declaration, roles, of_table(operation))
    frames: tuple[object, ...] = ()
    records = {each: arguments[each] for each in RECORDS if arguments.get(each) is not None}
    if "shards" in records:
        records["shards"] = _shards(records["shards"])
    for name in ("cluster", "model"):
        if beside and not isinstance(roles.get(name, ""), str):  # labels, which came by themselves
            records[name] = roles.pop(name)
    if isinstance(roles.get("score"), str) and is_table(members) and is_table(nonmembers):
        name, frames = roles.pop("score"), (members, nonmembers)
        members, nonmembers = (column_called(members, name, "members"), column_called(nonmembers, name, "nonmembers"))
    if isinstance(members, Dataset) and not beside:
        _require_none(records, "a dataset holds its own; name its column")
        return Question(operation, options, members, query(roles), members.name)
    source = source_of(members) if nonmembers is None else None
    if source is not None:
        _require_none(records, "a source holds its own; name its column")
        return _of_source(operation, source, options, query(roles))
    if nonmembers is None and isinstance(members, str | os.PathLike):
        _require_none(records, "a file holds its own; name its column")
        return _of_file(operation, File.at(members), options, query(roles))
    if nonmembers is None and members is not None and is_table(members):
        _require_none({k: v for k, v in records.items() if k != "targets"}, "a table holds its own; name its column")
        body = read_frame(operation, members, roles)
        if "targets" in records:
            body = replace(body, targets=column(records["targets"], "targets"))
        return Question(operation, options, body)
    _require_none(roles, "names a column of a table, and none came")
    body = _beside(members, nonmembers, records)
    if "shards" in records:
        options = {**options, "shards": [_counts(shard, "shards") for shard in records["shards"]]}
    if frames:
        body = replace(body, cautions=cautions_of_frames(frames, name, body))
    return Question(operation, options, body)


def _declared_columns(declaration: Mapping[str, Any], roles: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The columns that were declared; others are refused."""
    from macekit.declaration import require_same, require_whole

    options = require_whole(declaration)["options"]
    columns = {name: options[name] for name in names if name in options}
    require_same(columns, columns | dict(query(roles)))
    return columns


def source_of(value: object) -> Source | RemoteTable | None:
    """What is read in blocks, or computes for itself; None for one file, a table in memory, a column."""
    from macekit.catalogue import WINGS
    from macekit.sources.blocks import Batches, is_stream
    from macekit.sources.shards import are_paths, is_address, shards_of

    if isinstance(value, str | os.PathLike):
        return shards_of([value]) if is_address(os.fspath(value)) else None
    if isinstance(value, list | tuple) and are_paths(value):
        return shards_of(value)
    for wing in WINGS:  # before Arrow's protocol, by which all rows would come here
        if hasattr(wing, "source_of") and (table := wing.source_of(value)) is not None:
            remote: RemoteTable = table
            return remote
    return Batches(value) if is_stream(value) else None


def pose_arrays(operation: str, arrays: Mapping[str, object], arguments: Mapping[str, Any]) -> Question:
    """A question of arrays: each by itself, or all as columns of the table or the file that comes as the first."""
    from macekit.decoding.body import DecodedBody
    from macekit.decoding.table import check_arrays
    from macekit.schemas.query_string import of_table

    arguments = _current(operation, arguments)
    about = set(of_table(operation))
    options = {each: _option(value, each) for each, value in arguments.items() if each not in about}
    roles = {each: arguments[each] for each in about if arguments.get(each) is not None}
    (first, main), *others = arrays.items()
    beside = {each: value for each, value in others if value is not None}
    if isinstance(main, str | os.PathLike):
        _require_names(beside, about)
        return _of_file(operation, File.at(main), options, query(roles | beside))
    if main is not None and is_table(main):
        _require_names(beside, about)
        body = read_frame(operation, main, roles | beside)
    else:
        _require_none(roles, "names a column of a table, and none came")
        arrays_by_name = {first: main, **beside} if main is not None else beside
        body = DecodedBody(arrays={each: matrix(value, each) for each, value in arrays_by_name.items()})
    return Question(operation, options, check_arrays(operation, body))


def pose_texts(members: object, nonmembers: object, arguments: Mapping[str, Any]) -> Question:
    """A question of what a language model said of texts: a file of both sides, or a file or a list for each."""
    from macekit.decoding.body import DecodedBody
    from macekit.schemas.query_string import of_table

    arguments = _current("text", arguments)
    about = set(of_table("text"))
    roles = {each: value for each, value in arguments.items() if each in about and value is not None}
    options = {each: _option(value, each) for each, value in arguments.items() if each not in about}
    if nonmembers is None and isinstance(members, Dataset):
        return Question("text", options, members, query(roles), members.name)
    if nonmembers is None and isinstance(members, str | os.PathLike):
        return _of_file("text", File.at(members), options, query(roles))
    _require_none(roles, "names a field of a file of both sides")
    sides = {"members": members, "nonmembers": nonmembers}
    missing = next((name for name, side in sides.items() if side is None), None)
    if missing is not None:
        raise fault("missing-field", missing, "is required and missing")
    return Question("text", options | {name: texts_of(side, name) for name, side in sides.items()}, DecodedBody())


def pose_groups(operation: str, groups: Mapping[str, object], arguments: Mapping[str, Any]) -> Question:
    """Likewise of tables of scores, of which one column may come as it is."""
    tables = {
        name: each if is_table(each) or isinstance(each, str | os.PathLike) else {"score": column(each, name)}
        for name, each in groups.items()
    }
    return pose_tables(operation, tables, arguments)


def pose_tables(operation: str, tables: Mapping[str, object], arguments: Mapping[str, Any]) -> Question:
    """A question of whole tables: frames, mappings of columns, or files."""
    from macekit.decoding.body import DecodedBody

    arguments = _current(operation, arguments)
    options = {each: _option(value, each) for each, value in arguments.items()}
    columns = {name: whole(value, name) for name, value in tables.items() if value is not None}
    return Question(operation, options, DecodedBody(tables=columns))


def pose_several(operation: str, queries: object, arguments: Mapping[str, Any]) -> Question:
    """Several queries by name, or a table or a file with a column for each; a release's by its name and theirs.

    A query may be a table, a file or a source of its own; the names of columns are then those of all of these.
    """
    from macekit.decoding.columns_read import join_queries

    for place, each in enumerate(queries.values() if isinstance(queries, Mapping) else ()):
        if (other := whose_answer(each)) is not None:
            raise fault("wrong-type", f"queries[{place}]", f"got {other}; need scores, {COUNTS}")
    if operation != "compare":
        queries = _with_queries(queries)
    if not _are_queries(queries):
        return pose(operation, queries, None, arguments)
    from macekit.decoding.columns import require_name
    from macekit.schemas.query_string import MODEL, TABLE

    each_query = {str(name): each for name, each in cast("Mapping[object, object]", queries).items()}
    if len(each_query) < len(cast("Mapping[object, object]", queries)):
        raise fault("bad-option", "queries", "two have the same name")
    tables = {name for name, each in each_query.items() if _is_own_table(each)}
    roles = {name: arguments[name] for name in TABLE if tables and arguments.get(name) is not None}
    of_rows = next((name for name in ("group", "unit", "cluster", MODEL) if name in roles), None)
    if of_rows is not None:
        what = "labels of rows are not read of several tables; put the scores into one, a column for each query"
        raise fault("bad-option", of_rows, what)
    rest = {name: value for name, value in arguments.items() if name not in roles}
    question = pose(operation, None, None, rest)
    about = {name: rest[name] for name in ("estimator", "query") if rest.get(name) is not None} | roles
    bodies = {
        require_name(name, place): _of_table(each, about) if name in tables else _of_one(each, f"queries[{place}].")
        for place, (name, each) in enumerate(each_query.items())
    }
    if tables:
        return replace(question, records=join_queries(bodies.items()))
    together = join_queries(bodies.items())
    records = replace(cast("DecodedBody", question.records), samples=together.samples, cautions=together.cautions)
    return replace(question, records=records)


def _of_one(query: object, where: str) -> DecodedBody:
    """One query of several, and what is odd about its rows, or about its scores where these were counted."""
    from macekit.decoding.body import DecodedBody
    from macekit.decoding.json import said_of, with_signs

    said = said_of(query, where) if isinstance(query, Mapping) and not _are_counts(query) else ()
    sample, odd = with_signs(_query(query, where), (*_cautions(query), *said))
    return DecodedBody({"": sample}, cautions=odd)


def _is_own_table(query: object) -> bool:
    """Whether a query came with its membership: a file, a frame, a source."""
    if isinstance(query, str | os.PathLike) or source_of(query) is not None:
        return True
    return is_table(query) and not isinstance(query, Mapping)


def _of_table(query: object, arguments: Mapping[str, Any]) -> DecodedBody:
    """One query of several, as records or as counts."""
    question = pose("advantage", query, None, arguments)
    if isinstance(question.records, File):
        return question.records.decode("advantage", question.roles)
    return cast("DecodedBody", question.records)


def _of_file(operation: str, file: File, options: Mapping[str, object], roles: tuple[tuple[str, str], ...]) -> Question:
    """A file as it lies; a request kept as JSON is read, and these options stand above its own."""
    from macekit.call import JSON
    from macekit.decoding import decode
    from macekit.operations import as_result
    from macekit.problems import Problem

    source = os.path.basename(file.path)
    if file.media_type != JSON:
        return Question(operation, options, file, roles, source)
    _require_none(dict(roles), "a JSON request has no columns")
    about = file.call(operation, ())
    with file.body() as data:
        try:
            body = decode(about, data)
        except Problem as problem:
            raise as_result(about, data) or problem from None
        if not body.samples and (result := as_result(about, data)) is not None:
            raise result
    return Question(operation, {**body.options, **options}, body, source=source)


def _of_source(
    operation: str, source: Source | RemoteTable, options: Mapping[str, object], roles: tuple[tuple[str, str], ...]
) -> Question:
    """What was read in blocks, as records or as counts."""
    from macekit.sources.reading import read

    body = read(source, operation, options, roles)
    if not source.name and body.rows is not None:  # a table that came in batches, few enough to be held
        body = like_lists(body)
    return Question(operation, body.options, body, source=source.name or None)


def _beside(members: object, nonmembers: object, records: Mapping[str, Any]) -> DecodedBody:
    """Columns that came each by itself."""
    from macekit.decoding.body import DecodedBody

    sides = {"members": members, "nonmembers": nonmembers, "counts": records.get("counts")}
    return DecodedBody(
        {"": _sample(sides, "")} if any(each is not None for each in sides.values()) else {},
        targets=column(records["targets"], "targets") if "targets" in records else None,
        groups=labels(records["groups"], "groups") if "groups" in records else None,
        units=labels(records["units"], "units") if "units" in records else None,
        models=labels(records["model"], "model") if "model" in records else None,
        clusters=clusters(records["cluster"]) if "cluster" in records else {},
        cautions=_cautions(records.get("counts"), *records.get("shards", ())),
    )


def _sample(sides: Mapping[str, Any], where: str) -> Sample:
    from macekit.decoding.body import Sample

    a, b, counts = (sides.get(name) for name in SAMPLE)
    return Sample(
        None if a is None else column(a, f"{where}members"),
        None if b is None else column(b, f"{where}nonmembers"),
        None if counts is None else _counts(counts, f"{where}counts"),
    )


def _are_queries(value: object) -> bool:
    """Whether a mapping holds a sample under each name, and not a column."""
    return isinstance(value, Mapping) and all(
        (isinstance(each, Mapping) and set(each) <= OF_QUERY)
        or (isinstance(each, tuple) and (len(each) == 2 or any(isinstance(side, Sized) for side in each)))
        or _are_counts(each)
        or _is_own_table(each)
        for each in value.values()
    )


def _are_counts(value: object) -> bool:
    """Whether a value is counts, or an answer of counts: and not a column, which may have ``to_dict``, too."""
    if isinstance(value, Mapping):
        sides = {"members", "nonmembers"}
        return sides < set(value) <= sides | OF_COUNTS or {"counts", "input_sha256"} <= set(value)
    return hasattr(value, "to_dict") and not hasattr(value, "dtype") and not is_table(value)


def _with_queries(releases: object) -> object:
    """Releases of which each is a query; what is no mapping of releases stays as it is."""
    if not isinstance(releases, Mapping) or hasattr(releases, "columns"):
        return releases
    several = {
        name: {f"{name}/{query}": scores for query, scores in each.items()}
        for name, each in releases.items()
        if isinstance(each, Mapping) and not set(each) <= OF_QUERY and not _are_counts(each)
    }
    pairs = [pair for name, each in releases.items() for pair in several.get(name, {name: each}).items()]
    queries = {name: _plain(each) for name, each in pairs}
    if len(queries) < len(pairs):
        raise fault("bad-option", "queries", "two have the same name")
    return queries


def _plain(scores: Any) -> Any:
    """The library's scores as a pair."""
    pair = hasattr(scores, "members") and hasattr(scores, "nonmembers") and not hasattr(scores, "to_dict")
    return (scores.members, scores.nonmembers) if pair else scores


def _query(sample: Any, where: str) -> Sample:
    if isinstance(sample, tuple):
        if len(sample) != 2:
            words = f"got a tuple of {len(sample)}; need a pair, of members' and nonmembers' scores"
            raise fault("wrong-type", where.removesuffix("."), words)
        return _sample(dict(zip(SAMPLE, sample, strict=False)), where)
    return _sample({"counts": sample} if _are_counts(sample) else sample, where)


def plain_counts(counts: Any, where: str) -> Mapping[str, Any]:
    """Counts, or those of an answer of them, by their names; no other answer is any."""
    if (other := whose_answer(counts)) is not None:
        raise fault("wrong-type", where, f"got {other}; need {COUNTS}")
    if not isinstance(counts, Mapping) and not _are_counts(counts):
        what = f'need {COUNTS}; files of them go first: macekit.estimate("counts.json")'
        raise fault("wrong-type", where, f"got {type(counts).__name__}; {what}")
    plain: Mapping[str, Any] = counts if isinstance(counts, Mapping) else counts.to_dict()
    return plain["counts"] if "input_sha256" in plain else plain


def _require_scores(value: object, where: str) -> None:
    """Refuse an answer in place of one side's scores, be it one of counts."""
    from macekit.client.result import Result

    got = whose_answer(value) or ("an answer of macekit.counts" if isinstance(value, Result) else None)
    if got is not None:
        raise fault("wrong-type", where, f"got {got}; need scores; {COUNTS}, come as counts=")


def _counts(counts: Any, where: str) -> dict[str, object]:
    """Counts, or an answer of them, as they would have been read from JSON: their lists as columns."""
    from macekit.decoding.columns import COLUMNS

    return {
        str(name): _counts(value, name)
        if isinstance(value, Mapping)
        else column(value, name)
        if name in COLUMNS and value is not None
        else _option(value, name)
        for name, value in plain_counts(counts, where).items()
    }


def _shards(shards: Any) -> list[Any]:
    if isinstance(shards, str | os.PathLike) or _are_counts(shards) or not hasattr(shards, "__iter__"):
        raise fault("wrong-type", "shards", f"got {type(shards).__name__}; need a list of counts, or of answers")
    return list(shards)


def _cautions(*counts: Any) -> tuple[Caution, ...]:
    """What answers of counts say of the rows that were counted."""
    from macekit.decoding.json import answer_of_counts, of_rows
    from macekit.decoding.unnamed_columns import each_once

    answers = [each if isinstance(each, Mapping) else each.to_dict() for each in counts if _are_counts(each)]
    whole = [each for each in answers if answer_of_counts(each) is not None]
    return each_once(caution for each in whole for caution in of_rows(each))


def _option(value: Any, name: str) -> Any:
    """An option as JSON has it: NumPy's scalars and tuples as Python's, and no number that is not finite."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _option(each, f"{name}.{key}") for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_option(each, name) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise fault("out-of-range", name, "NaN or infinite")
    if value is not None and not isinstance(value, str | bool | int | float):
        raise fault("wrong-type", name, "an option cannot be of this type")
    return value


def keywords(operation: str) -> frozenset[str]:
    """The keywords of an operation: of its typed options, or, where nobody has written these, of its question."""
    if operation in OPTIONS:
        return frozenset(OPTIONS[operation].__annotations__)
    from macekit.schemas.by_operation import QUESTIONS
    from macekit.schemas.query_string import of_table

    return frozenset(QUESTIONS[operation].model_fields) - {*SAMPLE[:2], "warnings"} | set(of_table(operation))


def _current(operation: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of the function of an operation by the names they have now; what is none of them is refused."""
    function, keys = BY_NAME[operation].python.rpartition(".")[2], keywords(operation)
    require_keywords(function, arguments, keys)
    by_name = dict(arguments)
    for former, current in FORMER.items():
        if former not in by_name or current not in keys:
            continue
        from estimators.python.renamed import notice

        if current in by_name:
            raise TypeError(f"{function}() got {current!r} and, by its former name, {former!r}")
        message = f"{function}(): {notice(former, current)}"
        warnings.warn(message, FutureWarning, stacklevel=_frames_to_caller())
        by_name[current] = by_name.pop(former)
    return by_name


def _frames_to_caller() -> int:
    """How many calls above the one that asks the program stands that called a function of macekit."""
    frame, frames = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "macekit":
        frame, frames = frame.f_back, frames + 1
    return frames


def _require_names(beside: Mapping[str, object], about: Set[str]) -> None:
    """Beside a table or a file, the other arrays are columns of it."""
    for name, value in beside.items():
        names = [value] if isinstance(value, str) else value
        if name not in about or not isinstance(names, list | tuple) or not all(isinstance(each, str) for each in names):
            _require_none({name: value}, "a table or a file holds its own; name its columns")


def _require_none(names: Mapping[str, object], why: str) -> None:
    for name in sorted(names):
        raise fault("bad-option", name, why)
