"""What a language model said of texts, one after another, as scores by every query that the fields allow."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from estimators import MaceError
from estimators.arrays import Floats
from estimators.audits.queries import text
from macekit.decoding.columns import KINDS, require_short, require_text
from macekit.decoding.roles import MEMBER_NAMES
from macekit.decoding.texts import Entry
from macekit.problems import Problem
from macekit.questions.audits.text.layouts import Text, layout_of, texts_of
from macekit.text import printable

LOGPROBS, MEAN, STD, TEXT, REFERENCE = "logprobs", "mean", "std", "text", "reference_logprobs"
TOTAL = "loglikelihood"
MEMBER = "member"
IDS = ("id", "group")
LISTS = (LOGPROBS, MEAN, STD, REFERENCE)

NUMBERS = (int, float, np.integer, np.floating)  # a list of an array has the latter
BATCH = 2**20  # tokens that are scored together, or thereabouts

NAMES = {
    "totals": TOTAL,
    "texts": TEXT,
    "log_probabilities": LOGPROBS,
    "means": MEAN,
    "deviations": STD,
    "reference": REFERENCE,
}
"""What the queries call the fields."""


@dataclass(slots=True)
class Batch:
    """Texts that are scored together: where they stand, the fields that are copied, and the lists of numbers."""

    texts: list[Text] = field(default_factory=list)
    copied: dict[str, list[Any]] = field(default_factory=dict)
    lists: dict[str, list[Floats]] = field(default_factory=dict)
    totals: list[float] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    tokens: int = 0


class Reader:
    """Entries as batches of texts; each has the fields of the first.

    ``keep`` names fields that are copied besides the usual ones, the first of them that says who is a member among
    these; ``member`` is the one that was named for that.
    """

    def __init__(self, layout: str | None, keep: Sequence[str], member: str | None) -> None:
        self.layout = layout or ""
        self._keep = [*keep, *([] if member is None else [member])]
        self._member_field = member
        self._first = ""
        self._kinds: dict[str, str] = {}
        self.fields: tuple[str, ...] = ()
        self.copied: tuple[str, ...] = ()
        self.tokens = 0
        self.texts = 0
        self.is_generated = False

    @property
    def member(self) -> str | None:
        """The field that says who is a member, if there is one."""
        if self._member_field is not None:
            return self._member_field
        return next((name for name in self.copied if name.lower() in MEMBER_NAMES), None)

    def batches(self, entries: Iterator[Entry]) -> Iterator[Batch]:
        """Every text, some thousands at a time."""
        batch = Batch()
        for entry in entries:
            self.layout = self.layout or layout_of(entry.value)
            for each in texts_of(entry, self.layout):
                self._add(batch, each)
            if batch.tokens >= BATCH:
                yield batch
                batch = Batch()
        if batch.texts:
            yield batch

    def _add(self, batch: Batch, each: Text) -> None:
        """One more text; each has the fields of the first."""
        if not self._first:
            self._first = each.entry.where
            self._take_fields(each)
        values = each.fields
        for name in (*self.fields, *self.copied):
            if values.get(name) is None:
                message = f"{self._display_name(name)}: is missing, and {self._first} has it"
                raise self._wrong(each, message, name)
        extra = next((name for name in (*LISTS, TEXT) if name not in self.fields and values.get(name) is not None), "")
        if extra:
            raise self._wrong(each, f"{extra}: {self._first} has none; give it in every text, or in none")
        lists = {name: self._numbers(each, name) for name in self.fields if name in LISTS}
        for name in (MEAN, STD):
            if name in lists and len(lists[name]) != len(lists[LOGPROBS]):
                raise self._wrong(
                    each, f"{name}: has {len(lists[name])} numbers, {LOGPROBS} {len(lists[LOGPROBS])}; need one a token"
                )
        for name in self.copied:
            batch.copied.setdefault(name, []).append(self._plain(each, name))
        if each.entry.is_member is not None:
            batch.copied.setdefault(MEMBER, []).append(each.entry.is_member)
        if TEXT in self.fields:
            if not isinstance(values[TEXT], str):
                raise self._wrong(each, f"{TEXT}: need text")
            batch.words.append(str(values[TEXT]))
        if TOTAL in self.fields:
            batch.totals.append(values[TOTAL])
        for name, numbers in lists.items():
            batch.lists.setdefault(name, []).append(numbers)
            batch.tokens += len(numbers)
        batch.texts.append(Text({}, each.entry._replace(value=None)))  # where it stands; not what it holds
        self.texts += 1
        self.tokens += len(lists.get(LOGPROBS, ()))
        self.is_generated = self.is_generated or each.is_generated

    def _take_fields(self, each: Text) -> None:
        present = {name for name, value in each.fields.items() if value is not None}
        if LOGPROBS not in present and not (self.layout == "lm_eval" and TOTAL in present):
            message = f"{LOGPROBS}: is missing; need the natural logarithms of the tokens' probabilities"
            raise self._wrong(each, message)
        if (MEAN in present) != (STD in present):
            lone, other = (MEAN, STD) if MEAN in present else (STD, MEAN)
            raise self._wrong(each, f"{lone}: needs {other} beside it")
        numbers = (TOTAL,) if self.layout == "lm_eval" else LISTS
        self.fields = tuple(name for name in (*numbers, TEXT) if name in present)
        absent = next((name for name in self._keep if name not in present), None)
        if absent is not None:
            raise self._wrong(each, f"{self._display_name(absent)}: is asked for and missing", absent)
        of_sides = each.entry.is_member is not None
        usual = IDS if of_sides else (*IDS, *MEMBER_NAMES)
        if of_sides:
            self._member_field = MEMBER
        self.copied = tuple(
            name
            for name in each.fields
            if name in present
            and (name in self._keep or name.lower() in usual)
            and name not in self.fields
            and not (of_sides and name == MEMBER)
        )

    def _numbers(self, each: Text, name: str) -> Floats:
        """The list of one field; the first token may have no number, and is left out."""
        value = each.fields[name]
        if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "iuf":
            return value.astype(np.float64)
        if not isinstance(value, list):
            raise self._wrong(each, f"{name}: need a list of numbers, one a token")
        values = value[1:] if value and value[0] is None else value
        odd = next((at for at, it in enumerate(values) if isinstance(it, bool) or not isinstance(it, NUMBERS)), None)
        if odd is not None:
            place = odd + len(value) - len(values)
            kind = KINDS.get(type(values[odd]), "no number")
            raise self._wrong(each, f"{name}: token {place} is {kind}; need a number")
        try:
            return np.array(values, dtype=np.float64)
        except OverflowError:
            raise self._wrong(each, f"{name}: a number is beyond 1e308") from None

    def _plain(self, each: Text, name: str) -> object:
        """A value that is copied: of one type in all texts."""
        value = each.fields[name]
        if type(value) not in (str, bool, int, float):
            message = f"{self._display_name(name)}: need a number, text, or true or false"
            raise self._wrong(each, message, name)
        if isinstance(value, str):
            require_text([value], self._display_name(name))
            require_short([value], self._display_name(name))
        kind = KINDS[type(value)]
        if self._kinds.setdefault(name, kind) != kind:
            message = f"{self._display_name(name)}: is {kind}, in {self._first} {self._kinds[name]}"
            raise self._wrong(each, message, name)
        return value

    def _display_name(self, name: str) -> str:
        """A field's own name where we know it; one that the caller chose is not repeated."""
        return name if name in (*LISTS, TEXT, TOTAL, *IDS, *MEMBER_NAMES) else "a field that was named"

    def _wrong(self, each: Text, why: str, name: str = "") -> Problem:
        where = each.entry.where
        local = why.replace("a field that was named", printable(name), 1) if name else why
        return Problem(
            "bad-records", f"{where}: {why}", field=each.entry.field, index=each.entry.row, local=f"{where}: {local}"
        )

    def scores(self, batch: Batch, share: float) -> dict[str, Floats]:
        """The scores of a batch by every query that its fields allow."""
        try:
            return dict(self._by_query(batch, share))
        except MaceError as error:
            if error.index is None:
                raise
            name = NAMES.get(error.field or "", error.field)
            why = error.message.removeprefix(f"{error.field}: ").replace(f"record {error.index}", "this text")
            raise self._wrong(batch.texts[error.index], f"{name}: {why}") from None

    def _by_query(self, batch: Batch, share: float) -> Iterator[tuple[str, Floats]]:
        if TOTAL in self.fields:
            yield "byte_loss", text.byte_loss(batch.totals, batch.words)
            return
        logs = batch.lists[LOGPROBS]
        yield "text_loss", text.text_loss(logs)
        if TEXT in self.fields:
            yield "zlib_ratio", text.zlib_ratio(logs, text.compressed_sizes(batch.words))
        yield "mink", text.mink(logs, share=share)
        if MEAN in self.fields:
            yield "minkpp", text.minkpp(logs, batch.lists[MEAN], batch.lists[STD], share=share)
        if REFERENCE in self.fields:
            theirs = batch.lists[REFERENCE]
            yield "reference_difference", text.reference_difference(logs, theirs)
            yield "reference_ratio", text.reference_ratio(logs, theirs)
