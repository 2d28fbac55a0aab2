"""Cells as they were posted: every field known, there, and of its type; what they mean together the library checks."""

from __future__ import annotations

import numpy as np

from macekit.problems import Problem, unknown_field
from macekit.schemas.records import CELLS

WHOLE = frozenset({"exponent", "bins"})
"""Fields that are an integer."""

DTYPES = {"keys": "iu", "axes": "iu", "cuts": "iuf", "low": "iuf", "high": "iuf"}
"""Fields that are a list of numbers: what NumPy calls those allowed."""


def require_cells(value: object, where: str) -> None:
    """Refuse what the library would read as something else: ``2.7`` as 2, ``"3"`` as 3, a field of another kind."""
    field = f"{where}counts.cells"
    if not isinstance(value, dict):
        raise Problem("wrong-type", f"{field}: need an object", field=field)
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in CELLS:
        raise Problem("unknown-name", f"{field}.kind: need {', '.join(CELLS)}", field=f"{field}.kind")
    known = CELLS[kind].model_fields
    for name in value:
        if name not in known:
            raise unknown_field(name, known, field)
    for name in known:
        if name not in value:
            raise Problem(
                "missing-field", f"{field}.{name}: is needed and not there", field=f"{field}.{name}"
            )
        if not _fits(name, value[name]):
            need = (
                "an integer" if name in WHOLE else "a list of integers" if DTYPES[name] == "iu" else "numbers"
            )
            raise Problem("wrong-type", f"{field}.{name}: need {need}", field=f"{field}.{name}")


def _fits(name: str, given: object) -> bool:
    if name in WHOLE:
        return type(given) is int
    if name not in DTYPES:
        return True
    if not isinstance(given, list | np.ndarray):
        return False
    try:
        array = np.asarray(given)
    except ValueError:  # rows of different length
        return False
    return array.ndim == 1 and (not array.size or array.dtype.kind in DTYPES[name])
