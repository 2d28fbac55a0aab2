"""A column of text as distinct texts and where each stands: what a table says in words is looked at once a word."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.decoding.columns import MOST_LETTERS
from estimators.errors import NotFinite
from macekit.problems import Problem


@dataclass(frozen=True, slots=True)
class Labels:
    """Texts without repetition (None where one is missing), and the place of each record's among them."""

    codes: NDArray[np.integer]
    texts: list[str | None]

    @classmethod
    def of(cls, array: NDArray[np.generic]) -> Labels:
        """The labels of an array of text."""
        texts, codes = np.unique(array, return_inverse=True)
        return cls(codes.reshape(-1), texts.tolist())

    def __len__(self) -> int:
        return len(self.codes)

    def first(self, wanted: NDArray[np.bool_]) -> int | None:
        """The first record whose text is one of those wanted."""
        found = wanted[self.codes]
        return int(np.argmax(found)) if found.any() else None

    def array(self, what: str, start: int, limit: int) -> NDArray[np.str_]:
        """The text of each record, in at most ``limit`` bytes: NumPy gives each the room of the longest."""
        missing = self.first(np.array([text is None for text in self.texts], dtype=np.bool_))
        if missing is not None:
            raise absent(what, start + missing)
        texts = [text or "" for text in self.texts]
        wide = max(map(len, texts), default=1)
        if wide > MOST_LETTERS:
            at = self.first(np.array([len(text) > MOST_LETTERS for text in texts], dtype=np.bool_))
            if at is not None:
                raise Problem(
                    "out-of-range",
                    f"{what}: row {start + at} has more than {MOST_LETTERS} characters",
                    field=what,
                    index=start + at,
                )
        if 4 * wide * len(self) > limit:
            raise Problem(
                "too-large",
                f"{what}: texts of up to {wide} characters in {len(self)} rows take too much memory",
            )
        return np.array(texts, dtype=np.str_)[self.codes] if texts else np.zeros(0, np.str_)


def absent(what: str, row: int) -> NotFinite:
    """A value that is needed and not there."""
    return NotFinite(f"{what}: row {row} is missing; every row needs one", field=what, index=row)
