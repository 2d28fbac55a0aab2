"""What a language model said of texts, line by line, as scores: every query that the fields of the lines allow."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.cli.inputs import Misuse
from estimators import MaceError
from estimators.audits.queries import text
from macekit.decoding.columns import KINDS
from macekit.decoding.jsonl import BLANK, Read, lines_of, record_of
from macekit.decoding.roles import MEMBER_NAMES
from macekit.problems import Problem

LOGPROBS, MEAN, STD, TEXT, REFERENCE = "logprobs", "mean", "std", "text", "reference_logprobs"
IDS = ("id", "group")
LISTS = (LOGPROBS, MEAN, STD, REFERENCE)

BATCH = 2**20
"""Tokens that are scored together, or thereabouts."""

NAMES = {"log_probabilities": LOGPROBS, "means": MEAN, "deviations": STD, "reference": REFERENCE}
"""What the queries call the fields."""


@dataclass(slots=True)
class Batch:
    """Records that are scored together: their lines, the fields that are copied, and the lists of numbers."""

    numbers: list[int] = field(default_factory=list)
    copied: dict[str, list[Any]] = field(default_factory=dict)
    lists: dict[str, list[NDArray[np.float64]]] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    tokens: int = 0


class Reader:
    """Lines as batches of records; ``keep`` names fields that are copied besides the usual ones."""

    def __init__(self, name: str, keep: Sequence[str]) -> None:
        self._name = name
        self._keep = keep
        self._first = 0
        self._kinds: dict[str, str] = {}
        self.fields: tuple[str, ...] = ()
        self.copied: tuple[str, ...] = ()

    def batches(self, take: Read) -> Iterator[Batch]:
        """Every record, some thousands at a time."""
        batch, row = Batch(), 0
        for first, lines in lines_of(take):
            for number, line in enumerate(lines, first):
                if not line.strip(BLANK):
                    continue
                try:
                    record = record_of(line, number, row)
                except Problem as problem:
                    raise Misuse(f"{self._name}: {problem.local}") from None
                self._add(batch, record, number)
                row += 1
                if batch.tokens >= BATCH:
                    yield batch
                    batch = Batch()
        if not row:
            raise Misuse(f"{self._name}: holds no record; need a JSON object a line, with {LOGPROBS}")
        if batch.numbers:
            yield batch

    def _add(self, batch: Batch, record: dict[str, object], number: int) -> None:
        """One more record; each has the fields of the first."""
        if not self._first:
            self._first = number
            self._take_fields(record)
        for name in (*self.fields, *self.copied):
            if record.get(name) is None:
                raise self._wrong(number, f"{name}: is missing, and line {self._first} has it")
        extra = next(
            (each for each in (*LISTS, TEXT) if each not in self.fields and record.get(each) is not None),
            None,
        )
        if extra is not None:
            raise self._wrong(
                number, f"{extra}: line {self._first} has none; give it in every line, or in none"
            )
        lists = {name: self._numbers(record[name], name, number) for name in self.fields if name != TEXT}
        for name in (MEAN, STD):
            if name in lists and len(lists[name]) != len(lists[LOGPROBS]):
                raise self._wrong(
                    number,
                    f"{name}: has {len(lists[name])} numbers, {LOGPROBS} {len(lists[LOGPROBS])}; need one a token",
                )
        for name in self.copied:
            batch.copied.setdefault(name, []).append(self._plain(record[name], name, number))
        if TEXT in self.fields:
            if not isinstance(record[TEXT], str):
                raise self._wrong(number, f"{TEXT}: need text")
            batch.texts.append(str(record[TEXT]))
        for name, values in lists.items():
            batch.lists.setdefault(name, []).append(values)
            batch.tokens += len(values)
        batch.numbers.append(number)

    def _take_fields(self, record: dict[str, object]) -> None:
        present = {name for name, value in record.items() if value is not None}
        if LOGPROBS not in present:
            raise self._wrong(
                self._first,
                f"{LOGPROBS}: is missing; need the natural logarithms of the tokens' probabilities",
            )
        if (MEAN in present) != (STD in present):
            lone, other = (MEAN, STD) if MEAN in present else (STD, MEAN)
            raise self._wrong(self._first, f"{lone}: needs {other} beside it")
        self.fields = tuple(name for name in (*LISTS, TEXT) if name in present)
        absent = next((name for name in self._keep if name not in present), None)
        if absent is not None:
            raise self._wrong(self._first, f"{absent}: is asked for and missing")
        usual = (*IDS, *MEMBER_NAMES)
        self.copied = tuple(
            name
            for name in record
            if name in present and (name in self._keep or name.lower() in usual) and name not in self.fields
        )

    def _numbers(self, value: object, name: str, number: int) -> NDArray[np.float64]:
        """The list of one field; the first token may have no number, and is left out."""
        if not isinstance(value, list):
            raise self._wrong(number, f"{name}: need a list of numbers, one a token")
        values = value[1:] if value and value[0] is None else value
        odd = next((at for at, each in enumerate(values) if type(each) not in (int, float)), None)
        if odd is not None:
            place = odd + len(value) - len(values)
            raise self._wrong(number, f"{name}: token {place} is {KINDS[type(values[odd])]}; need a number")
        return np.array(values, dtype=np.float64)

    def _plain(self, value: object, name: str, number: int) -> object:
        """A value that is copied: of one type in all lines."""
        kind = KINDS[type(value)]
        if isinstance(value, list | dict):
            raise self._wrong(number, f"{name}: need a number, text, or true or false")
        if self._kinds.setdefault(name, kind) != kind:
            raise self._wrong(number, f"{name}: is {kind}, in line {self._first} {self._kinds[name]}")
        return value

    def _wrong(self, number: int, why: str) -> Misuse:
        return Misuse(f"{self._name}: line {number}: {why}")

    def scores(self, batch: Batch, share: float) -> dict[str, NDArray[np.float64]]:
        """The scores of a batch by every query that its fields allow."""
        logs = batch.lists[LOGPROBS]
        try:
            scores = {"text_loss": text.text_loss(logs)}
            if TEXT in self.fields:
                scores["zlib_ratio"] = text.zlib_ratio(logs, text.compressed_sizes(batch.texts))
            scores["mink"] = text.mink(logs, share=share)
            if MEAN in self.fields:
                scores["minkpp"] = text.minkpp(logs, batch.lists[MEAN], batch.lists[STD], share=share)
            if REFERENCE in self.fields:
                theirs = batch.lists[REFERENCE]
                scores["reference_difference"] = text.reference_difference(logs, theirs)
                scores["reference_ratio"] = text.reference_ratio(logs, theirs)
        except MaceError as error:
            if error.index is None:
                raise Misuse(f"{self._name}: {error.message}") from None
            name = NAMES.get(error.field or "", error.field)
            why = error.message.removeprefix(f"{error.field}: ").replace(
                f"record {error.index}", "this record"
            )
            raise self._wrong(batch.numbers[error.index], f"{name}: {why}") from None
        return scores


class Units:
    """One score for each document or person, once all of its records are seen."""

    def __init__(self, name: str, by: str, member: str | None) -> None:
        self._name = name
        self._by = by
        self._member = member
        self._labels: list[Any] = []
        self._members: dict[Any, Any] = {}
        self._scores: dict[str, list[NDArray[np.float64]]] = {}

    def add(self, batch: Batch, scores: dict[str, NDArray[np.float64]]) -> None:
        """The records of a batch; those of one unit are all members, or none is."""
        labels = batch.copied[self._by]
        self._labels += labels
        for query, values in scores.items():
            self._scores.setdefault(query, []).append(values)
        if self._member is None:
            return
        for label, member, number in zip(labels, batch.copied[self._member], batch.numbers, strict=True):
            if self._members.setdefault(label, member) != member:
                raise Misuse(
                    f"{self._name}: line {number}: {self._member}: the records before it of the same {self._by} have "
                    "another; one is a member with all of its records, or with none"
                )

    @property
    def count(self) -> int:
        """How many units there are so far."""
        return len(set(self._labels))

    def table(self, how: text.How, share: float) -> dict[str, list[Any]]:
        """The units in the order of their labels: label, membership, scores."""
        table: dict[str, list[Any]] = {}
        columns: dict[str, list[Any]] = {}
        for query, parts in self._scores.items():
            names, values = text.aggregate(np.concatenate(parts), self._labels, how, share=share)
            table[self._by], columns[query] = names.tolist(), values.tolist()
        if self._member is not None:
            table[self._member] = [self._members[name] for name in table[self._by]]
        return table | columns
