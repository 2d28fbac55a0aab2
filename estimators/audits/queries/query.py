"""A query: one number for each record, the higher the more like a member, and what is to be known of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from estimators.errors import UnknownName

Floats = NDArray[np.float64]

DIRECTION = "higher is more like a member"
"""Which way every query of one number points; there is nothing to negate."""

NO_DIRECTION = "none: a learned adversary finds it"
"""Which way a vector points."""


@dataclass(frozen=True, slots=True)
class Query:
    """What a query is called, where it comes from, what it costs and says.

    Every query of one number points the same way: the higher its score, the more the record looks like a member.

    Attributes:
        name: What programs call it.
        paper: Where it comes from.
        says: What a high score says, in a sentence.
        cost: What it costs, in words.
        ties: What equal scores mean, and where a record lies of which there is an exact copy.
        needs: What it reads, such as ``synthetic`` and ``reference``, or the arguments that its function must have.
        vector: Whether its score is a row of numbers and not one number.

    Example:
        >>> from estimators.audits.queries import CATALOGUE
        >>> CATALOGUE["closeness"].needs, CATALOGUE["closeness"].direction
        (('synthetic',), 'higher is more like a member')
    """

    name: str
    paper: str
    says: str
    cost: str
    ties: str
    needs: tuple[str, ...] = ()
    vector: bool = False

    @property
    def direction(self) -> str:
        """Which way it points: the same for all but vectors."""
        return NO_DIRECTION if self.vector else DIRECTION


def by_name(queries: Sequence[Query]) -> dict[str, Query]:
    """Queries by their names, in their order.

    Raises:
        ValueError: two queries of one name, which is an error of ours.
    """
    catalogue = {query.name: query for query in queries}
    if len(catalogue) < len(queries):
        raise ValueError("two queries have the same name")
    return catalogue


def choose(
    catalogue: Mapping[str, Query], names: Sequence[str] | None, available: Sequence[str]
) -> list[str]:
    """Names of the queries to ask: those of ``names``, or every one whose needs are met.

    Args:
        catalogue: Queries by name.
        names: The wanted names; None for every query that needs nothing beyond ``available``.
        available: What there is, in the words of ``Query.needs``.

    Raises:
        UnknownName: a name that is none; the text names the nearest.

    Example:
        >>> from estimators.audits.queries.query import Query, choose
        >>> near = Query("near", "-", "-", "-", "-", ("reference",))
        >>> choose({"near": near}, None, ()), choose({"near": near}, None, ("reference",))
        ([], ['near'])
    """
    if names is None:
        return [name for name, query in catalogue.items() if set(query.needs) <= set(available)]
    for name in names:
        if name not in catalogue:
            raise UnknownName.among("query", name, catalogue)
    return list(dict.fromkeys(names))


def finite(scores: Any) -> Floats:
    """Scores as float64, with a check that each can be ordered: a query that is not finite is an error of ours."""
    values = np.asarray(scores, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ArithmeticError("a query gave a score that is not finite")
    return values + 0.0
