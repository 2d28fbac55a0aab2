"""Bounds of theory as answers."""

from collections.abc import Iterable

from estimators.theory.bounds import Bound
from macekit.operations.encode import finite
from macekit.schemas.statements import BoundAnswer


def bounds(table: Iterable[Bound]) -> list[BoundAnswer]:
    """Bounds side by side."""
    return [
        {
            "quantity": each.quantity,
            "name": each.name,
            "says": each.says,
            "value": finite(each.value),
            "source": each.source,
            "assumes": each.assumes,
            "proven": each.proven,
            "tightest": each.tightest,
        }
        for each in table
    ]
