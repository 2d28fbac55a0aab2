"""Scores in every container that somebody may hold them in."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from tests.app.running import Running

Floats = NDArray[np.float64]


def world(records: int = 400, seed: int = 0) -> tuple[Floats, Floats]:
    """Scores of members and nonmembers, no two alike."""
    rng = np.random.default_rng(seed)
    return rng.normal(0.5, 1.0, records), rng.normal(0.0, 1.0, records + 7)


class Tensor:
    """What a tensor of another library is to us: something NumPy can read."""

    def __init__(self, values: Any) -> None:
        self._values = np.asarray(values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self._values if dtype is None else self._values.astype(dtype)


CONTAINERS: dict[str, Callable[[NDArray[Any]], Any]] = {
    "array": lambda given: given,
    "list": lambda given: given.tolist(),
    "tuple": lambda given: tuple(given.tolist()),
    "list of NumPy scalars": list,
    "array of objects": lambda given: given.astype(object),
    "masked array": np.ma.masked_array,
    "array of another byte order": lambda given: given.astype(given.dtype.newbyteorder()),
    "array with gaps": lambda given: np.repeat(given, 2)[::2],
    "pandas": pd.Series,
    "pandas, indexed": lambda given: pd.Series(given, index=range(len(given), 0, -1)),
    "pandas, nullable": lambda given: pd.Series(given).convert_dtypes(),
    "pandas, Arrow": lambda given: pd.Series(given, dtype=pd.ArrowDtype(pa.array(given).type)),
    "polars": pl.Series,
    "arrow": pa.array,
    "arrow, chunked": lambda given: pa.chunked_array([pa.array(given[:100]), pa.array(given[100:])]),
    "tensor": Tensor,
}

FRAMES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "dict of arrays": lambda columns: columns,
    "dict of lists": lambda columns: {name: column.tolist() for name, column in columns.items()},
    "dict of series": lambda columns: {name: pl.Series(column) for name, column in columns.items()},
    "pandas": pd.DataFrame,
    "pandas, indexed": lambda columns: pd.DataFrame(columns).set_index(
        pd.Index(range(5, 5 + len(next(iter(columns.values())))), name="id")
    ),
    "pandas, nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "arrow batch": pa.RecordBatch.from_pydict,
    "arrow reader": lambda columns: pa.table(columns).to_reader(),
    "structured array": lambda columns: np.rec.fromarrays(list(columns.values()), names=list(columns)).view(np.ndarray),
}
"""How columns of arrays become a table."""

TABLES: dict[str, Callable[[Any], Any]] = {
    "dict": dict, "pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table,
}  # fmt: skip
"""The usual ones."""


def by_hand(service: Running, operation: str, **body: Any) -> dict[str, Any]:
    """The answer to JSON that somebody posts without a client."""
    sent = json.dumps(body).encode()
    answer = service.ask(f"/v1/{operation}", "POST", sent, {"Content-Type": "application/json"})
    assert answer.status == 200, answer.body
    found: dict[str, Any] = answer.json()
    return found


def as_lists(members: NDArray[Any], nonmembers: NDArray[Any]) -> dict[str, Any]:
    """Two sides as they stand in JSON."""
    return {"members": members.tolist(), "nonmembers": nonmembers.tolist()}


def by_side(columns: dict[str, NDArray[Any]], name: str, member: str = "member") -> dict[str, NDArray[Any]]:
    """A column of a table, each side by itself."""
    inside = columns[member]
    return {"members": columns[name][inside], "nonmembers": columns[name][~inside]}


def shuffled(records: int = 400) -> dict[str, Any]:
    """A table in which members and nonmembers are mixed, its columns called as in practice."""
    members, nonmembers = world(records)
    rng = np.random.default_rng(1)
    order = rng.permutation(len(members) + len(nonmembers))
    inside = np.arange(len(order)) < len(members)
    return {
        "id": order.astype(np.int64),
        "loss": np.concatenate([members, nonmembers])[order],
        "is_train": inside[order],
        "age_band": rng.choice(np.array(["18-30", "31-50", "51+"]), len(order)),
        "household": rng.integers(0, 500, len(order)),
    }
