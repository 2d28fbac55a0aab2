"""Files that ``mace counts`` wrote, each of a part of the records, as one sample."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from macekit.call import JSON, Body, Call
from macekit.decoding.body import DecodedBody, Sample
from macekit.decoding.compression import expanded
from macekit.decoding.json import body_of_counts
from macekit.decoding.json_values import parse_object
from macekit.decoding.unnamed_columns import each_once
from macekit.formats import format_named
from macekit.problems import Problem
from macekit.questions.counts.work import document_of, merged

if TYPE_CHECKING:
    from macekit.sources.shards import Shard, Shards


def hold_counts(files: Shards, call: Call) -> bool:
    """Whether files are JSON, as counts are and records in blocks are not."""
    first = files.shards[0]
    if format_named(first.path) != "json":
        return False
    with first.open(call) as (_, about):
        return about.media_type == JSON


def counts_together(files: Shards, call: Call, options: Mapping[str, object], textual: bool) -> DecodedBody:
    """The counts of all files, or what is asked to bring them together."""
    if call.query:
        raise Problem("bad-option", f"{files.name}: counts have no columns; name columns to mace counts")
    parts = [_part(each, call) for each in files.shards]
    shards = [part.samples[""].counts for part in parts]
    if call.operation == "counts":
        samples, options = {}, {**options, "shards": shards}
    else:
        samples, options = {"": Sample(counts=document_of(*merged(shards)))}, dict(options)
    return DecodedBody(
        samples,
        options,
        textual,
        columns=tuple(dict.fromkeys(column for part in parts for column in part.columns)),
        cautions=each_once(note for part in parts for note in part.cautions),
    )


def _part(file: Shard, call: Call) -> DecodedBody:
    with file.open(call) as (content, about):
        is_json = about.media_type == JSON
        data = expanded(about, Body.of(memoryview(content.read_buffer()))) if is_json else b""
        body = body_of_counts(parse_object(bytes(data))) if is_json else None
    if body is None:
        what = "JSON files, and files beside one, are read together only if mace counts wrote them"
        raise Problem("bad-records", f"{file.name}: {what}")
    return body
