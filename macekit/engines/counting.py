"""For engines that have neither Arrow batches nor frames that are asked: a function for each batch, one for all rows.

Flink, Beam, Ray, a function of one's own in Spark or a database: ``partial`` where the records are, ``merged`` where
the answer is wanted. Between the two, rows of equal ``kind``, ``exponent`` and ``key`` may be summed, or not.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Set
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from macekit.call import Call
from macekit.client.problems import as_mace_problems, fault
from macekit.text import names_the_nearest

if TYPE_CHECKING:
    import pyarrow as pa

    from macekit.client.result import Result


class RiskTableOptions(TypedDict, total=False):
    """Options of ``risk`` that counts have, too."""

    prior: float
    confidence: float
    interval: Literal["auto", "mover_fieller", "conditional"]
    threshold: float | None
    over: Literal["records", "cells"]
    seed: int


@names_the_nearest
def partial(batch: Any, *, score: str | None = None, member: str | None = None, query: str = "auto") -> pa.Table:
    """Counts of one batch of records, however few, as rows that may be sent anywhere and summed.

    Args:
        batch: Records of either side or both: a record batch, a frame of pandas or Polars, a dict of columns.
        score, member: Names of its columns. Not needed if they are called ``score`` and ``member``.
        query: ``"continuous"`` counts integers on the grid, too; ``"auto"``, the default, by value. The same for all
            batches.

    Returns:
        an Arrow table with the columns ``kind``, ``exponent``, ``key``, ``members`` and ``nonmembers``.

    Raises:
        MaceProblem: a record cannot be used; it says which and why.

    Example:
        >>> import macekit
        >>> rows = macekit.partial({"score": [1, 2, 2], "member": [True, True, False]})
        >>> rows["members"].to_pylist(), rows["nonmembers"].to_pylist()
        ([1, 1], [0, 1])
    """
    from macekit.client.tables import query as query_of
    from macekit.decoding.body import DecodedBody
    from macekit.questions.counts.work import start_of
    from macekit.sources.blocks import LIMIT, Batches
    from macekit.sources.parts import rows_of
    from macekit.sources.reading import tally

    with as_mace_problems():
        roles_named = {role: name for role, name in (("score", score), ("member", member)) if name is not None}
        start = start_of(DecodedBody(options={"query": query}))
        call = Call("counts", query=query_of(roles_named), expanded_limit=LIMIT)
        tallies, _ = tally(Batches([_arrow(batch, call)]).blocks(call), start)
        return rows_of(tallies.get("", start))


@names_the_nearest
def merged(rows: Any) -> Result:
    """The counts of all batches, from the rows that ``partial`` made of each.

    Args:
        rows: Tables, frames, or a mapping for each row; a list or an iterator of them. Summed before or not.

    Returns:
        a ``Result`` as ``macekit.counts`` gives it: the same as that of all records in one place.

    Raises:
        MaceProblem: the rows are none of ``partial``'s, or a side has too few records.

    Example:
        >>> import macekit
        >>> batches = [{"score": [0.25 * i, 1.0 * i], "member": [True, False]} for i in range(40)]
        >>> macekit.merged(macekit.partial(batch) for batch in batches).n_members
        40
    """
    from macekit.client.client import Local
    from macekit.sources.parts import counts_of_rows

    with as_mace_problems():
        counts = counts_of_rows(rows)
    return Local().counts(counts=counts)


@names_the_nearest
def counts_by(
    source: Any, by: str, *, score: str | None = None, member: str | None = None, query: str = "auto"
) -> dict[Any, Result | None]:
    """The counts of each group, counted at once and on the cells of all, so that they merge to those of all records.

    ``macekit.compare({label: {"counts": group["counts"]}})`` states each group's own advantage, with intervals that
    hold together.

    Args:
        source: A table or whatever ``macekit.counts`` takes: files, folders, addresses, batches, frames of engines.
        by: The column of groups: of a model, a checkpoint, a region.
        score, member: Names of the other columns. Not needed if they are called ``score`` and ``member``.
        query: ``"continuous"`` counts integers on the grid, too; ``"auto"``, the default, by value.

    Returns:
        a ``Result`` as ``macekit.counts`` gives it for each group, by its label; None for one that has fewer than two
        records on a side, of which nothing can be said.

    Raises:
        MaceProblem: a record cannot be used, or there are more groups than can be counted at once.

    Example:
        >>> import macekit
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> member = rng.random(2000) < 0.5
        >>> table = {"score": rng.normal(member), "member": member, "region": ["north", "south"] * 1000}
        >>> regions = macekit.counts_by(table, "region")
        >>> sorted(regions), regions["north"].n_members + regions["south"].n_members == member.sum()
        (['north', 'south'], np.True_)
    """
    from macekit.client.client import Local
    from macekit.client.question import source_of
    from macekit.client.tables import query as query_of
    from macekit.decoding.body import DecodedBody
    from macekit.questions.counts.work import start_of
    from macekit.sources.blocks import Batches
    from macekit.sources.reading import counts_by_group
    from macekit.sources.shards import shards_of

    with as_mace_problems():
        roles_named = {"group": by, "score": score, "member": member}
        columns = query_of({role: name for role, name in roles_named.items() if name is not None})
        start = start_of(DecodedBody(options={"query": query}))
        file = isinstance(source, str | os.PathLike)
        blocks = source_of(source) or (
            shards_of([source]) if file else Batches([_arrow(source, Call("counts", query=columns))])
        )
        groups = counts_by_group(blocks, columns, on_grid=start.table is not None)
    return {label: None if counts is None else Local().counts(counts=counts) for label, counts in groups.items()}


def risk_table(counts: Any, **options: Unpack[RiskTableOptions]) -> pa.Table:
    """The risk of each score, as a table to be joined where the records lie: risk is a look-up in some hundred cells.

    Args:
        counts: What ``macekit.counts`` or ``macekit.merged`` answered, or its ``["counts"]``; or files of these.
        options: Those of ``macekit.risk`` that are not about single records: ``prior``, ``confidence``, ``threshold``,
            ``interval``, ``over``, ``seed``.

    Returns:
        an Arrow table with a row for each cell. Of numbers on a line, ``low`` and ``high``: a record is of the cell if
        ``low <= score and score < high``. Of integers, booleans (0 and 1) and text, ``score`` itself. Then ``members``,
        ``nonmembers``, ``risk``, ``lower``, ``upper`` and the other columns of ``macekit.risk``'s records. A score that
        the counts do not reach has no row: nothing is known of it but that its risk is between 0 and 1.

    Raises:
        MaceProblem: the counts or an option cannot be used.

    Example:
        >>> import macekit
        >>> counts = macekit.counts({"score": ["a", "b", "a", "b"] * 50, "member": [True, False] * 100})
        >>> macekit.risk_table(counts).select(["score", "risk", "flagged"]).to_pylist()
        [{'score': 'a', 'risk': 1.0, 'flagged': True}, {'score': 'b', 'risk': 1.0, 'flagged': False}]
    """
    import pyarrow as pa

    from macekit.client.client import Local
    from macekit.client.columns import whose_answer
    from macekit.client.question import plain_counts
    from macekit.client.result import Result

    if whose_answer(counts) is not None:
        with as_mace_problems():
            plain_counts(counts, "counts")
    if not isinstance(counts, Result) and not (isinstance(counts, Mapping) and {"cells", "counts"} & counts.keys()):
        counts = Local().counts(counts)
    of_counts = counts if isinstance(counts, Mapping) and "cells" in counts else counts["counts"]
    some_score = next(iter(of_counts["cells"].get("labels", ())), 0.0)
    columns = dict(Local().risk(counts=of_counts, targets=[some_score], **options)["cells"])
    cells = columns.pop("cells")
    places: dict[str, Any] = {}
    if "labels" in cells:
        places["score"] = cells["labels"]
    elif cells["kind"] == "grid":
        places["low"], places["high"] = _edges(cells)
    else:
        fine = of_counts["cells"]
        ends = [edges[at] for edges, at in zip(_edges(fine), (0, -1), strict=True)] if "keys" in fine else None
        first, last = ends or (-math.inf, math.inf)
        places["low"], places["high"] = [first, *cells["cuts"]], [*cells["cuts"], last]
    return pa.table({**places, **{name: column for name, column in columns.items() if column is not None}})


def write_risks(
    source: Any,
    path: str | os.PathLike[str],
    *,
    score: str | None = None,
    member: str | None = None,
    **options: Unpack[RiskTableOptions],
) -> dict[str, Any]:
    """Write the risk of each record of files of any size: counted first, then read again and looked up.

    Args:
        source: A file, several, a folder, a pattern or an address in a bucket, which is read twice.
        path: The table to write: ``.parquet``, ``.csv`` or ``.arrow``, with a row for each record in the order in
            which they are read, and the columns of ``macekit.risk``'s records. A file of this name is replaced.
        score, member: Names of the columns. Not needed if they are called ``score`` and ``member``.
        options: Those of ``macekit.risk`` that are not about single records.

    Returns:
        what is to be said of all records: the answer of ``macekit.risk`` without ``records``.

    Raises:
        MaceProblem: a record cannot be used; it says which and why. Nothing is then written.

    Example:
        >>> import os
        >>> import tempfile
        >>> import macekit
        >>> import numpy as np
        >>> import pyarrow as pa
        >>> from pyarrow import parquet
        >>> rng = np.random.default_rng(0)
        >>> member = np.arange(4000) % 2 == 0
        >>> folder = tempfile.mkdtemp()
        >>> scores, risks = (os.path.join(folder, name) for name in ("scores.parquet", "risks.parquet"))
        >>> parquet.write_table(pa.table({"score": rng.normal(member * 0.5), "member": member}), scores)
        >>> summary = macekit.write_risks(scores, risks, threshold=0.3)
        >>> summary["flags"]["records"] == sum(parquet.read_table(risks)["flagged"].to_pylist())
        True
    """
    import msgspec

    from macekit.client.tables import query as query_of
    from macekit.operations.encode import json_bytes
    from macekit.sources.risks import SUFFIXES
    from macekit.sources.risks import write_risks as write
    from macekit.sources.shards import are_paths, shards_of

    with as_mace_problems():
        suffix = os.path.splitext(path)[1].lower()
        if suffix not in SUFFIXES:
            raise fault("bad-option", "path", f"need a name that ends in {', '.join(SUFFIXES)}")
        paths = [source] if isinstance(source, str | os.PathLike) else source
        if not isinstance(paths, list | tuple) or not are_paths(paths):
            raise fault("wrong-type", "source", "need files, which are read twice")
        named = {role: name for role, name in (("score", score), ("member", member)) if name is not None}
        beside = f"{os.fspath(path)}.part"
        try:
            with open(beside, "wb") as file:
                content = write(shards_of(paths), query_of(named), options, file, suffix)
            os.replace(beside, path)
        finally:
            if os.path.exists(beside):
                os.unlink(beside)
    whole: dict[str, Any] = msgspec.json.decode(json_bytes(content))
    return whole


@names_the_nearest
def sql(
    dialect: str, *, table: str = "scores", score: str = "score", member: str = "member", exponent: int = -20
) -> str:
    """The three queries by which a database counts, to be read, or run where no Python is.

    The first says for each membership how many rows there are, how many of them have a score that is finite, and how
    far these reach: the two numbers must be the same, and there must be two memberships. The second answers rows that
    ``merged`` takes. The third answers more of them, the scores that most rows have: needed only where an answer warns
    of a crowded cell, and many rows have the same score. Needs Ibis.

    Args:
        dialect: A database as Ibis knows it: ``"postgres"``, ``"bigquery"``, ``"snowflake"``, ``"trino"``,
            ``"databricks"``, ``"clickhouse"``, ``"athena"``, ``"duckdb"`` and more.
        table: Name of the table.
        score: Name of its column of scores, which are floats.
        member: Name of its column of membership, which is true or false; or ``"column=value"``, where it is text and
            members have the value.
        exponent: Scores are counted in steps of 2**exponent; ``merged`` joins cells to what counts have. A step of a
            2**16th of the scores' range, or finer, tells apart what a file does, except next to 0 and 1: for scores
            that crowd there, such as losses and confidences, take one that is finer than most of their distances,
            such as -40.

    Returns:
        the queries, each behind a line that says what it is for.

    Raises:
        MaceProblem: Ibis is not installed, or cannot say it in this dialect.

    Example:
        >>> import macekit
        >>> macekit.sql("duckdb").startswith("-- what there is")
        True
    """
    from macekit.engines.frames import queries

    with as_mace_problems():
        texts = queries(dialect, table, score, member, exponent)
    words = (
        "-- what there is: n and usable must be the same",
        "-- counts: rows for macekit.merged",
        "-- frequent scores: rows for macekit.merged beside the counts, where a cell is crowded",
    )
    return "\n\n".join(f"{about}\n{text};" for about, text in zip(words, texts, strict=True)) + "\n"


def _edges(grid: Mapping[str, Any]) -> tuple[list[float], list[float]]:
    """Where each cell of a grid begins and ends."""

    from estimators.sample.grid import Grid

    cells = Grid.from_dict(dict(grid))
    return cells.lower_edges.tolist(), cells.upper_edges.tolist()


def _arrow(batch: Any, call: Call) -> pa.Table:
    """Any batch as a table of Arrow's; of one that is not Arrow's, the columns in use, which ``call`` names."""
    import pyarrow as pa

    from macekit.client.columns import columns_of, is_table
    from macekit.client.tables import require_alike
    from macekit.decoding.roles import roles

    if isinstance(batch, Mapping) or hasattr(batch, "iloc") or getattr(getattr(batch, "dtype", None), "names", None):
        names, of = columns_of(batch)
        what = roles(names, call).what
        columns = {at: _column(of(at), role) for at, role in what.items()}
        require_alike(columns, what)
        return pa.table(list(columns.values()), names=[names[at] for at in columns])
    if not is_table(batch) and not hasattr(batch, "__arrow_c_array__"):
        raise fault("wrong-type", "batch", f"got {type(batch).__name__}; need a record batch, a frame or columns")
    try:
        return pa.table(batch)
    except (pa.ArrowException, TypeError, ValueError):  # in words that may hold a value
        raise fault(
            "wrong-type", "batch", "cannot be read as a table of Arrow's; cast its columns, or give a dict"
        ) from None


def _column(values: Any, what: str) -> Any:
    """A column as Arrow has it; NaN stays NaN. What Arrow refuses is refused as in every question, by its record."""
    import pyarrow as pa

    from estimators.errors import InputError
    from macekit.client.columns import arrow_of, column

    if isinstance(values, str | bytes | os.PathLike | Mapping | Set):
        got = type(values).__name__
        raise fault("wrong-type", what, f"got {got}; need a list, an array or a column of a frame")
    refusals = pa.ArrowException, OverflowError, TypeError, ValueError
    try:
        arrow = arrow_of(values) if not hasattr(values, "to_numpy") else None
        return pa.array(values) if arrow is None else arrow
    except refusals:
        plain = column(values, what)
    try:
        return pa.array(plain)
    except OverflowError:
        index = next((at for at, each in enumerate(plain) if not -(2**63) <= each < 2**64), None)
        raise fault(InputError, what, "an integer is of more than 64 bits; give all of them as text", index) from None
    except refusals:
        raise fault(InputError, what, "a column of this type cannot be used; need numbers or text") from None
