"""Counts of a score that was learned from other records: whatever is said of them is said of that score."""

from __future__ import annotations

from typing import ClassVar

from estimators.errors import InvalidCounts
from estimators.python.dataclass import dataclass
from estimators.sample.counts import Counts
from estimators.statement import Caution


@dataclass(frozen=True, eq=False)
class LearnedCounts(Counts):
    """Counts of one learned score of vectors, on records that had no part in learning it.

    Everywhere they are counts of one number a record. The upper end of what they show is that of this score, so a
    verdict passes by them only where the learned score was accepted.

    Attributes:
        learner: Which learner did best within the records learned from, such as ``boosting``.
        n_taught: Records of both sides that were learned from; none of them is counted.
        among: From where those were: ``"all"`` records at random, or the ``"first"`` that came.
    """

    merges: ClassVar[bool] = False
    learner: str = ""
    n_taught: int = 0
    among: str = "all"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "doubts", (self.caution,))

    @property
    def caution(self) -> Caution:
        """Of what a statement that rests on this score speaks."""
        return about_learned(self.learner, self.n_taught, self.n_records, self.among)

    def to_dict(self) -> dict[str, object]:
        """Plain values: the counts, and what the score was learned from."""
        learned = {"learner": self.learner, "n_taught": self.n_taught, "among": self.among}
        return {**super().to_dict(), "learned": learned}

    @classmethod
    def from_dict(cls, value: dict[str, object]) -> LearnedCounts:
        """Read back what ``to_dict`` wrote.

        Args:
            value: A mapping with ``members``, ``nonmembers``, ``cells`` with an order, and ``learned``.

        Raises:
            InvalidCounts: a key is missing or does not fit.
        """
        learned = value.get("learned")
        if not isinstance(learned, dict) or set(learned) != {"learner", "n_taught", "among"}:
            raise InvalidCounts.about("counts", "learned needs learner, n_taught and among")
        learner, taught, among = (learned[name] for name in ("learner", "n_taught", "among"))
        texts = isinstance(learner, str) and isinstance(among, str) and among in FROM_WHERE
        if not (texts and type(taught) is int and taught >= 0):
            raise InvalidCounts.about("counts", "learned.learner, n_taught or among does not fit")
        plain = Counts.from_dict({name: each for name, each in value.items() if name != "learned"})
        if not plain.cells.ordered:
            raise InvalidCounts.about("counts", "a learned score has cells with an order")
        return cls(plain.members, plain.nonmembers, plain.cells, learner, taught, among)


FROM_WHERE = {"all": "drawn at random", "first": "drawn at random from the first that came"}
"""How records that teach are chosen, in words."""


def about_learned(learner: str, n_taught: int, records: int, among: str = "all") -> Caution:
    """Of what a statement speaks that rests on a learned score.

    Args:
        learner: Which learner made it.
        n_taught: Records that it was learned from.
        records: Records that it is stated on.
        among: How the records that teach were chosen, a key of ``FROM_WHERE``.
    """
    first = "" if among == "all" else f", {FROM_WHERE[among]},"
    return Caution(
        "learned_score",
        f"the vector was turned into one learned score ({learner}, learned from {n_taught} of the records{first} and "
        f"stated on the other {records}): another score of the same vector may give away more",
    )
