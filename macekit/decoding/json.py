"""``application/json``: the question and its columns in one object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import msgspec
import numpy as np

from estimators.errors import MixedTypes
from estimators.python.dataclass import replace
from estimators.sample.doubts import DOUBTS
from estimators.statement import Caution
from macekit.call import Body, Call
from macekit.catalogue import ARRAYS, BY_NAME
from macekit.decoding.body import Column, ColumnRead, DecodedBody, Sample, options, table_options
from macekit.decoding.columns import COLUMNS, MOST_CLUSTERS, require_name
from macekit.decoding.compression import expanded
from macekit.decoding.format import SIDES, Format, Side
from macekit.decoding.json_values import parse, parse_object, read
from macekit.decoding.texts import Entry, of_document
from macekit.decoding.unnamed_columns import CODES
from macekit.decoding.whole_tables import as_list, columns_of_json
from macekit.problems import Problem, fault, unknown_field
from macekit.schemas.by_operation import QUESTIONS

SAMPLE = (*SIDES, "counts")
OF_QUERY = (*SAMPLE, "warnings")
OF_COUNTED = frozenset({"sentence", "n_members", "n_nonmembers", "columns", "warnings", "input_sha256", "signature"})
"""Fields beside the counts in what ``mace counts`` wrote."""

NOT_CHECKED = Caution(
    "signature_not_checked",
    "these counts carry a signature, which was not checked: they may not be what was signed; mace verify tells",
)

RECORDS = frozenset({*SAMPLE, "queries", "targets", "groups", "units", "cluster", "model", "warnings"})
"""Fields that hold records of a sample, and what is known to be odd about them."""


class Json(Format):
    """Both sides, or several queries, and the options beside them."""

    def decode(self, call: Call, body: memoryview) -> DecodedBody:
        """The decoded body; null stands for what is not there."""
        if BY_NAME[call.operation].texts:  # lists of any length, and objects as others write them
            _refuse_options(call)
            return DecodedBody(options=parse_object(bytes(body)))
        arrays = ARRAYS.get(call.operation, ())
        tree = read(body, COLUMNS | set(arrays))
        if not RECORDS & QUESTIONS[call.operation].model_fields.keys():
            _refuse_options(call)
            return _of_arrays(tree, arrays)
        of_counts = answer_of_counts(tree)
        if of_counts is not None:
            tree = {name: value for name, value in tree.items() if name not in OF_COUNTED}
        own = {name: value for name, value in tree.items() if name not in RECORDS}
        if of_counts is None or own or table_options(call):  # a file of counts is no request, and has no options
            _refuse_options(call)
        samples, odd = {}, said_of(tree)
        if any(tree.get(name) is not None for name in SAMPLE):
            samples[""] = _sample(tree, "")
        for place, (name, each) in enumerate(_queries(tree.get("queries")).items()):
            samples[require_name(name, place)], own_odd = _query(each, place)
            odd = tuple(dict.fromkeys((*odd, *own_odd)))
        if "" in samples and len(samples) > 1:
            raise fault("bad-option", "queries", "came together with a sample of its own")
        columns, notes = of_counts or ((), odd)
        if of_counts is not None:
            samples[""], notes = with_signs(samples[""], notes)
        return DecodedBody(
            samples,
            own or options(call),
            textual=bool(call.query),
            columns=columns,
            cautions=notes,
            targets=_column(tree, "targets", ""),
            groups=_labels(tree, "groups"),
            units=_labels(tree, "units"),
            models=_labels(tree, "model"),
            clusters=_clusters(tree),
        )

    def side(self, call: Call, body: Body) -> Side:
        """None: it holds both."""
        raise Problem("bad-option", "a JSON request holds both sides; give it alone")

    def texts(self, call: Call, body: Body) -> Iterator[Entry]:
        """Each entry of a list, or the one object that the document is."""
        return of_document(parse(bytes(expanded(call, body))))

    def whole_tables(self, call: Call, body: memoryview) -> DecodedBody:
        """Tables by their names, each an object of columns."""
        _refuse_options(call)
        tree = parse_object(bytes(body))
        names = BY_NAME[call.operation].tables
        tables = {name: columns_of_json(name, tree[name]) for name in names if tree.get(name) is not None}
        rest = {name: value for name, value in tree.items() if name not in names}
        return DecodedBody(options=rest, tables=tables)


FORMAT = Json()


def answer_of_counts(tree: Mapping[str, Any]) -> tuple[tuple[ColumnRead, ...], tuple[Caution, ...]] | None:
    """Of what ``mace counts`` wrote: the columns that were read, and what to know of it; None of anything else."""
    columns = tree.get("columns")
    of_counts = isinstance(tree.get("counts"), dict) and isinstance(tree.get("input_sha256"), str)
    if not of_counts or not isinstance(columns, list):
        return None
    try:
        columns_read = msgspec.convert(columns, tuple[ColumnRead, ...])
        notes = of_rows(tree)
    except msgspec.ValidationError:
        return None
    return columns_read, notes if tree.get("signature") is None else (*notes, NOT_CHECKED)


def of_rows(tree: Mapping[str, Any]) -> tuple[Caution, ...]:
    """What an answer of counts says of the rows that were counted."""
    cautions = msgspec.convert(tree.get("warnings", ()), tuple[Caution, ...])
    return tuple(each for each in cautions if each.code in CODES | DOUBTS)


def said_of(tree: Mapping[str, Any], where: str = "") -> tuple[Caution, ...]:
    """What whoever asks knows to be odd about the records, such as columns that ``macekit.Mace`` does not send."""
    try:
        return msgspec.convert(() if tree.get("warnings") is None else tree["warnings"], tuple[Caution, ...])
    except msgspec.ValidationError:
        raise fault("wrong-type", f"{where}warnings", "need a list of objects, each with code and message") from None


def body_of_counts(tree: Mapping[str, Any]) -> DecodedBody | None:
    """What ``mace counts`` wrote, without anything beside it; None of anything else."""
    of_counts = answer_of_counts(tree)
    if of_counts is None or tree.keys() - OF_COUNTED - {"counts"}:
        return None
    columns, notes = of_counts
    sample, notes = with_signs(Sample(counts=tree["counts"]), notes)
    return DecodedBody({"": sample}, columns=columns, cautions=notes)


def with_signs(sample: Sample, said: tuple[Caution, ...]) -> tuple[Sample, tuple[Caution, ...]]:
    """Counts with what their scores alone showed, and what else was said of their rows."""
    signs = tuple(each for each in said if each.code in DOUBTS)
    return replace(sample, signs=signs or None), tuple(each for each in said if each.code not in DOUBTS)


def _refuse_options(call: Call) -> None:
    if call.query:
        detail = "the options of a JSON body stand in it, not in the query string or a form's fields"
        raise Problem("bad-option", detail)


def _of_arrays(tree: dict[str, Any], names: tuple[str, ...]) -> DecodedBody:
    """A question that is asked of no sample: what else stands in the body is its options."""
    arrays = {name: _column(tree, name, "") for name in names}
    return DecodedBody(
        options={name: value for name, value in tree.items() if name not in arrays},
        arrays={name: column for name, column in arrays.items() if column is not None},
    )


def _queries(value: object) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise fault("wrong-type", "queries", "need an object, a name for each query")
    return value


def _query(value: object, place: int) -> tuple[Sample, tuple[Caution, ...]]:
    """One query of several, and what else is odd about its records than what the scores of counts showed."""
    where = f"queries[{place}]"
    if not isinstance(value, dict):
        detail = f"{where}: need an object with members and nonmembers, or counts"
        raise Problem("wrong-type", detail, field="queries", index=place)
    for name in value:
        if name not in OF_QUERY:
            raise unknown_field(name, OF_QUERY, where)
    sample, odd = _sample(value, f"{where}."), said_of(value, f"{where}.")
    return (sample, odd) if sample.counts is None else with_signs(sample, odd)


def _sample(tree: dict[str, Any], where: str) -> Sample:
    counts = tree.get("counts")
    if counts is not None and not isinstance(counts, dict):
        raise fault("wrong-type", f"{where}counts", "need an object")
    return Sample(_column(tree, "members", where), _column(tree, "nonmembers", where), counts)


def _column(tree: dict[str, Any], name: str, where: str) -> Column | None:
    value = tree.get(name)
    if value is not None and not isinstance(value, list | np.ndarray):
        raise fault("wrong-type", f"{where}{name}", "need a list")
    return cast("Column | None", value)


def _clusters(tree: dict[str, Any]) -> dict[str, Column]:
    """Columns of labels by their names; one that came without a name is called like the field."""
    value = tree.get("cluster")
    if not isinstance(value, dict) or {*SIDES} & value.keys():
        column = _labels(tree, "cluster")
        return {} if column is None else {"cluster": column}
    if not 1 <= len(value) <= MOST_CLUSTERS:
        raise fault("bad-option", "cluster", f"got {len(value)} columns, need one, or two that cross")
    columns = {}
    for place, (name, each) in enumerate(value.items()):
        require_name(name, place, "cluster")
        column = _labels({"cluster": each}, "cluster")
        if column is None:
            raise Problem("missing-field", f"cluster[{place}]: need a label for each record", field="cluster")
        columns[name] = column
    return columns


def _labels(tree: dict[str, Any], name: str) -> Column | None:
    """Labels in the order of the records, whether they came as one list or side by side."""
    value = tree.get(name)
    if not isinstance(value, dict):
        return _column(tree, name, "")
    for side in value:
        if side not in SIDES:
            raise unknown_field(side, SIDES, name)
    a, b = (_column(value, side, f"{name}.") for side in SIDES)
    if a is None or b is None:
        raise fault("missing-field", name, "need members and nonmembers, or one list")
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        if {type(label) for label in as_list(a)} != {type(label) for label in as_list(b)}:
            raise fault(MixedTypes, name, "labels must be all text or all numbers")
        return as_list(a) + as_list(b)
    alike = a.dtype == b.dtype and a.shape[1:] == b.shape[1:]
    return np.concatenate([a, b]) if alike else as_list(a) + as_list(b)
