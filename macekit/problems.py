"""Everything that can go wrong, as RFC 9457 problem documents: one table from errors to HTTP.

A problem says what to do about it, names the field and the record at fault, and repeats nothing that was
submitted. Its ``type`` is stable; docs/errors.md describes each.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TypeVar, overload

from estimators import MaceError
from estimators import errors as library
from estimators.python.dataclass import dataclass
from macekit.call import PROBLEM, Reply
from macekit.text import closest, did_you_mean, nearest_first, printable

E = TypeVar("E", bound=MaceError)

MOST_DETAIL = 1200  # characters of ``detail``: a whole problem stays under 4 KiB whatever happens


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of problem; ``urn:mace:problem:SLUG`` is its type."""

    slug: str
    status: int
    title: str


KINDS = {
    kind.slug: kind
    for kind in (
        Kind("malformed-body", 400, "The body cannot be read in the format it claims to be"),
        Kind("incomplete-body", 400, "The body ended before it was complete"),
        Kind("bad-request", 400, "The request is not one this server can read"),
        Kind("unauthorized", 401, "A valid bearer key is needed"),
        Kind("forbidden", 403, "The key does not open this address"),
        Kind("not-found", 404, "There is nothing at this address"),
        Kind("method-not-allowed", 405, "This address does not accept this method"),
        Kind("not-acceptable", 406, "The answer is not available in the requested format"),
        Kind("outdated-state", 409, "The state is not the last one of its run"),
        Kind("upload-stalled", 408, "The body arrived too slowly or stopped"),
        Kind("request-stalled", 408, "The request's headers arrived too slowly or stopped"),
        Kind("too-large", 413, "The body, compressed or expanded, is larger than this service accepts"),
        Kind("memory-limit", 413, "The request needs more memory than this service allows"),
        Kind("too-long-address", 414, "The address is longer than this service accepts"),
        Kind("unsupported-media-type", 415, "The format or the compression of the body is not supported"),
        Kind("pickle", 415, "The body is a pickle, or holds one, and is never opened"),
        Kind("too-few-records", 422, "A side has too few records for any statement"),
        Kind("not-finite", 422, "A score is NaN or infinite"),
        Kind("mixed-types", 422, "The scores of one request have more than one type"),
        Kind("ragged-rows", 422, "Rows of a vector query differ in length"),
        Kind("dimension-mismatch", 422, "Columns that belong together differ in length or dimension"),
        Kind("bad-records", 422, "The records cannot be used as they were sent"),
        Kind("bad-probabilities", 422, "Numbers that should be probabilities are negative, or do not sum to one"),
        Kind("out-of-range", 422, "A number is outside its allowed range"),
        Kind("unknown-name", 422, "A name is not known"),
        Kind("unknown-field", 422, "A field is not known"),
        Kind("missing-field", 422, "A required field is missing"),
        Kind("wrong-type", 422, "A field has the wrong type"),
        Kind("bad-option", 422, "Options contradict each other or the data"),
        Kind("too-many-subsets", 422, "There are too many training sets to enumerate"),
        Kind("not-installed", 422, "The question needs an optional package that is not installed"),
        Kind("bad-metric", 422, "The coefficients do not define a metric at this prior"),
        Kind("bad-counts", 422, "The counts cannot be used as they were sent"),
        Kind("incompatible-cells", 422, "The cells of two counts cannot be combined"),
        Kind("too-many-cells", 422, "There are too many cells for an informative answer, or for memory"),
        Kind("too-many-requests", 429, "This client has reached its limit of simultaneous requests"),
        Kind("rate-limit", 429, "The key has reached its limit of requests in a minute"),
        Kind("too-large-head", 431, "The request's headers are larger than this service accepts"),
        Kind("internal", 500, "The service has an error of its own"),
        Kind("worker-lost", 500, "The process that worked on the request ended without an answer"),
        Kind("busy", 503, "The service has no room for this request now"),
        Kind("time-limit", 503, "The request took longer than this service allows"),
        Kind("not-ready", 503, "The service is starting, or has lost its workers"),
        Kind("shutting-down", 503, "The service is shutting down"),
    )
}
"""Every kind of problem by its slug."""

OF_ERROR: dict[type[MaceError], str] = {
    library.TooFewRecords: "too-few-records",
    library.NotFinite: "not-finite",
    library.MixedTypes: "mixed-types",
    library.RaggedRows: "ragged-rows",
    library.DimensionMismatch: "dimension-mismatch",
    library.NotDistribution: "bad-probabilities",
    library.InputError: "bad-records",
    library.OutOfRange: "out-of-range",
    library.UnknownName: "unknown-name",
    library.TooManySubsets: "too-many-subsets",
    library.NotInstalled: "not-installed",
    library.OptionError: "bad-option",
    library.MetricError: "bad-metric",
    library.InvalidCounts: "bad-counts",
    library.IncompatibleCells: "incompatible-cells",
    library.TooManyCells: "too-many-cells",
    library.CountsError: "bad-counts",
    library.MaceError: "bad-option",
}
"""The kind of each of the library's errors; a class not listed takes that of the nearest class it derives from."""


class Problem(Exception):
    """A problem on its way to the caller.

    ``local`` says the same to whoever has the data, and may repeat names in them; ``detail``, which is sent, does not.
    """

    def __init__(
        self,
        slug: str,
        detail: str,
        *,
        field: str | None = None,
        index: int | None = None,
        retry_after: int | None = None,
        local: str | None = None,
    ) -> None:
        super().__init__(detail)
        self.kind = KINDS[slug]
        self.detail = detail
        self.local = detail if local is None else local
        self.field = field
        self.index = index
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (self.kind.slug, self.detail, self.field, self.index, self.retry_after, self.local)

    @classmethod
    def of(cls, error: MaceError | Problem) -> Problem:
        """The library's error as a problem; what is one already, as it is."""
        if isinstance(error, Problem):
            return error
        slug = next(OF_ERROR[known] for known in type(error).__mro__ if known in OF_ERROR)
        return cls(slug, error.message, field=error.field, index=error.index)

    def of_field(self, field: str | None) -> Problem:
        """The same of a field by another name, in its detail, too."""
        if self.field is None or field is None or field == self.field:
            return self
        prefix = f"{self.field}: "
        problem = self.reworded(
            lambda text: f"{field}: {text.removeprefix(prefix)}" if text.startswith(prefix) else text
        )
        problem.field = field
        return problem

    def reworded(self, change: Callable[[str], str]) -> Problem:
        """The same in other words."""
        return Problem(
            self.kind.slug,
            change(self.detail),
            field=self.field,
            index=self.index,
            retry_after=self.retry_after,
            local=change(self.local),
        )

    def document(self, instance: str | None = None) -> dict[str, object]:
        """The problem document; ``instance`` is the request's id."""
        detail = self.detail if len(self.detail) <= MOST_DETAIL else self.detail[: MOST_DETAIL - 1] + "…"
        content: dict[str, object] = {
            "type": f"urn:mace:problem:{self.kind.slug}",
            "title": self.kind.title,
            "status": self.kind.status,
            "detail": detail,
        }
        if self.field is not None:
            content["field"] = self.field[:100]
        if self.index is not None:
            content["index"] = self.index
        if instance is not None:
            content["instance"] = f"urn:mace:request:{instance}"
        return content

    def body(self, instance: str | None = None) -> bytes:
        """The problem document as it is sent."""
        return json.dumps(self.document(instance), ensure_ascii=False).encode("utf-8", "replace")

    def reply(self, instance: str | None = None) -> Reply:
        """The problem as an answer."""
        status = self.kind.status
        return Reply(
            status, PROBLEM, self.body(instance), problem=self.kind.slug, retry_after=self.retry_after, local=self.local
        )


@overload
def fault(kind: str, field: str, text: str, index: int | None = None) -> Problem: ...
@overload
def fault(kind: type[E], field: str, text: str, index: int | None = None) -> E: ...
def fault(kind: str | type[E], field: str, text: str, index: int | None = None) -> Problem | E:
    """What is wrong with a field, with whose name the text begins: a problem of a kind, or an error of the library."""
    if isinstance(kind, str):
        return Problem(kind, f"{field}: {text}", field=field, index=index)
    return kind.about(field, text, index)


def unknown_field(name: str, fields: Iterable[str], where: str) -> Problem:
    """A field that is not known, and the nearest that is; the name submitted is not repeated."""
    names = list(fields)
    detail = f"{where}: a field is not known; {did_you_mean(name, names)}"
    return Problem("unknown-field", detail, field=closest(name, names))


def unknown_column(role: str, name: str, names: Iterable[str], what: str = "column") -> Problem:
    """A column that is not there; whoever has the table reads which there are, the nearest first."""
    columns = list(names)
    detail = f"{role}: no {what} of the {len(columns)} has this name"
    there = nearest_first(name, columns)
    words = "unknown-name"
    return Problem(words, detail, field=role, local=f"{detail}, '{printable(name)}'; there are {there}")


def unknown_column_of(role: str, name: str, table: str, names: Iterable[str]) -> Problem:
    """A column that one of several tables does not have."""
    columns = list(names)
    return Problem(
        "missing-field",
        f"{role}: {table} has no column of this name among its {len(columns)}",
        field=role,
        local=f"{role}: {table} has no column '{printable(name)}'; it has {nearest_first(name, columns)}",
    )


def pickle_problem(what: str = "this is a pickle, which", field: str | None = None) -> Problem:
    """That pickles are never opened, and what to write in place of one; ``what`` ends in a relative pronoun."""
    detail = (
        f"{what} runs whatever code it holds when it is opened, so mace never opens one (.pkl, .joblib, .pt). Load it "
        "yourself, if you trust where it comes from, and write plain scores: "
        "numpy.savez('scores.npz', members=a, nonmembers=b), or of a table with the columns score and member "
        "frame.to_parquet('scores.parquet') or frame.to_csv('scores.csv', index=False)"
    )
    return Problem("pickle", detail, field=field)


def _again(
    slug: str, detail: str, field: str | None, index: int | None, retry_after: int | None, local: str
) -> Problem:
    return Problem(slug, detail, field=field, index=index, retry_after=retry_after, local=local)
