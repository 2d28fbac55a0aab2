"""Whether what was sent can answer the question at all: if not, nothing passes, and more of the same settles nothing.

A fail stands: what is read off the records is read off them, whatever else they are.
"""

from __future__ import annotations

from collections.abc import Iterable

from estimators.clusters.dependent_rows import DEPENDENT
from estimators.decisions.plan import Decision
from estimators.sample.doubts import CROWDED, PRECISION, REPEATED, SAME
from estimators.statement import Caution

DRIFT = "sides_differ"
"""The code where a difference of the sides themselves may hide a leak."""

ELSEWHERE = "released_elsewhere"
"""The code where every released value of a column lies beyond all training and hold-out rows."""

UNANSWERABLE = frozenset({SAME, PRECISION, REPEATED, CROWDED, DEPENDENT, DRIFT, ELSEWHERE})
"""Codes of cautions by which a question cannot be answered."""


def unanswerable(plain: Decision | None, cautions: Iterable[Caution]) -> Caution | None:
    """The first caution by which no pass stands: the same records on both sides, rows of one person, and the like.

    Example:
        >>> from estimators.decisions.applicable import unanswerable
        >>> from estimators.decisions.plan import Decision
        >>> from estimators.statement import Caution
        >>> odd = Caution("repeated_scores", "40 of the member scores repeat another one of their side")
        >>> unanswerable(Decision.PASS, [odd]) is odd, unanswerable(Decision.FAIL, [odd])
        (True, None)
    """
    if plain not in (Decision.PASS, Decision.INCONCLUSIVE):
        return None
    return next((each for each in cautions if each.code in UNANSWERABLE), None)
