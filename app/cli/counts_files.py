"""Files that ``mace counts`` wrote: one is asked about like scores, several are brought together first."""

import os
from collections.abc import Mapping, Sequence

import msgspec

from app.cli.inputs import Source, detail_of
from app.cli.parsing import Misuse
from estimators.python.dataclass import dataclass, replace
from macekit.call import JSON, Call, Reply
from macekit.decoding.body import DecodedBody, Sample
from macekit.decoding.compression import expanded
from macekit.decoding.json import OF_COUNTED, answer_of_counts
from macekit.operations import answer
from macekit.problems import Problem

OK = 200


@dataclass(frozen=True, slots=True)
class CountsFiles:
    """Counts of several parts of the records."""

    sources: Sequence[Source]

    @property
    def name(self) -> str:
        """What messages call them."""
        return f"{len(self.sources)} files of counts"


def memory() -> int:
    """Bytes that this machine has; 8 GiB where the system does not say."""
    if not hasattr(os, "sysconf"):
        return 8 * 2**30
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def counts_in(source: Source) -> DecodedBody | None:
    """The counts that a file holds; None if it holds anything else."""
    about = Call("counts", JSON, source.encoding, expanded_limit=memory() // 2)
    try:
        with source.body() as body:
            content = msgspec.json.decode(expanded(about, body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, Problem):
        return None  # the reader of requests says what is wrong
    of_counts = answer_of_counts(content) if isinstance(content, dict) else None
    if of_counts is None or content.keys() - OF_COUNTED - {"counts"}:
        return None
    columns, notes = of_counts
    return DecodedBody({"": Sample(counts=content["counts"])}, columns=columns, cautions=notes)


def answer_counts_files(call: Call, values: Mapping[str, object], files: CountsFiles) -> Reply:
    """The answer about all of them together."""
    if call.query:
        raise Misuse(f"{files.name} have no columns; name columns to mace counts")
    parts = []
    for source in files.sources:
        part = counts_in(source)
        if part is None:
            message = f"{source.name}: several JSON files are read together only if mace counts wrote them"
            raise Misuse(message)
        parts.append(part)
    columns = tuple(dict.fromkeys(column for part in parts for column in part.columns))
    notes = tuple(dict.fromkeys(note for part in parts for note in part.cautions))
    shards = DecodedBody(
        options={"shards": [part.samples[""].counts for part in parts]}, columns=columns, cautions=notes
    )
    if call.operation == "counts":
        return answer(call, replace(shards, options={**values, **shards.options}))
    reply = answer(Call("counts"), shards)
    if reply.status != OK:
        raise Misuse(detail_of(reply))
    together = Sample(counts=msgspec.json.decode(reply.body)["counts"])
    return answer(call, DecodedBody({"": together}, dict(values), columns=columns, cautions=notes))
