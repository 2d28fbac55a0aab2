"""Bodies that are tables, for schemathesis to draw: its hooks (``schemathesis.toml``)."""

import pyarrow as pa
import schemathesis
from hypothesis import strategies as st

from tests.app.http.asked import TABLES

SIDES = [False, True] * 8
"""Both sides have enough records, whatever else is drawn."""

COLUMNS = {
    "score": ["score", "loss", "score,loss"], "member": ["member"], "group": ["group"], "unit": ["unit"],
    "column": ["score", "loss", "score,loss", "group"], "before": ["score"], "after": ["loss"],
    "record": ["group", "unit"], "tallies": ["unit", "member"], "probabilities": ["score"],
}  # fmt: skip
"""Names worth asking for, by query parameter."""


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """A table as people have them: two scores a record, whether it is a member, its group, and whose it is."""

    def column(values: st.SearchStrategy[object]) -> list[object]:
        return draw(st.lists(values, min_size=len(SIDES), max_size=len(SIDES)))

    numbers = st.floats(-1e9, 1e9, width=32)
    return pa.table(
        {
            "score": pa.array(column(numbers), pa.float64()),
            "loss": pa.array(column(numbers), pa.float64()),
            "member": SIDES,
            "group": column(st.sampled_from(["a", "b", "ä, =1+1"])),
            "unit": pa.array(column(st.integers(0, 2**40)), pa.int64()),
        }
    )


for media_type, written in TABLES.items():
    schemathesis.openapi.media_type(media_type, tables().map(written))
