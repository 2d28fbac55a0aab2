"""From a file of another tool to scores: NPZ and JSON, read within the bounds of all bodies; no pickle is opened."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from math import sqrt
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from estimators.errors import DimensionMismatch, NotFinite, UnknownName
from estimators.python.dataclass import dataclass
from macekit.call import JSON, NPZ, Body, Call
from macekit.decoding.columns import column
from macekit.decoding.compression import expanded
from macekit.decoding.json_values import MOST_DEPTH, parse_object
from macekit.decoding.npz import Archive
from macekit.formats import HEAD, holds_pickle
from macekit.imports.peers import BY_NAME, PEERS, Columns, Peer, Sides
from macekit.problems import Problem, fault
from macekit.text import names_the_nearest, nearest, nearest_first, printable

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

Layout: TypeAlias = Columns | Sides

LIKELIER_REVERSED = 3.7
"""Standard errors below one half of an AUC that one file in 10,000 shows where nothing leaks."""


@dataclass(frozen=True, slots=True)
class ImportedScores:
    """Scores of a file, higher for members, who is one, and which tool wrote them under which names."""

    tool: Peer
    layout: Layout
    scores: NDArray[Any]
    member: NDArray[np.bool_]

    @property
    def sentence(self) -> str:
        """What the file was read as."""
        members = int(self.member.sum())
        layout = self.layout
        names = [layout.score] if isinstance(layout, Columns) else [*layout.names]
        minus = "minus " if isinstance(layout, Sides) and layout.sign < 0 else ""
        return (
            f"read as {self.tool.title}'s result: {members:,} members, {len(self.member) - members:,} nonmembers, "
            f"score {minus}{' and '.join(f'`{name}`' for name in names)}; higher means member"
        )

    @property
    def doubt(self) -> str:
        """What to look at before anything is believed: one score for a whole side, or lower ones of members."""
        members, nonmembers = self.scores[self.member], np.sort(self.scores[~self.member])
        if len(np.unique(members)) == len(np.unique(nonmembers)) == 1 < len(np.unique(self.scores)):
            return "all members have one score and all nonmembers another: was it made of each record by itself?"
        below = sum(np.searchsorted(nonmembers, members, side).mean() for side in ("left", "right"))
        auc = float(below) / 2 / len(nonmembers)
        error = sqrt((len(self.scores) + 1) / (12 * len(members) * len(nonmembers)))
        if auc >= 0.5 - LIKELIER_REVERSED * error:
            return ""
        return f"members score lower than nonmembers (AUC {auc:.3f}): are the two sides the wrong way round?"

    def table(self) -> pa.Table:
        """A row for each record, in the file's order: ``score``, and ``member``, which is 1 or 0."""
        import pyarrow as pa

        return pa.table({"score": self.scores, "member": self.member.astype(np.int8)})


@names_the_nearest
def import_scores(path: str | os.PathLike[str], tool: str | None = None) -> pa.Table:
    """The scores that another tool wrote, as a table that every question here takes.

    Args:
        path: A file of LeakPro, ML Privacy Meter, SACRO-ML, ART, TF Privacy, PrivacyGuard or JAX-Privacy: JSON or NPZ.
        tool: Its name, as ``mace import --from`` has it; read off the file, if left out.

    Returns:
        An Arrow table with the columns ``score``, higher for members, and ``member``.

    Raises:
        MaceProblem: The file holds summaries only, is a pickle, or is none of these tools'; the text says what to save.

    Example:
        >>> import macekit
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> canaries = {"in_canary_scores": rng.normal(1, 1, 200), "out_canary_scores": rng.normal(0, 1, 200)}
        >>> np.savez("canaries.npz", **canaries)
        >>> table = macekit.import_scores("canaries.npz")
        >>> table.column_names, macekit.gate(table, max_advantage=0.1).decision
        (['score', 'member'], 'fail')
    """
    from macekit.client.problems import as_mace_problems
    from macekit.client.tables import File

    with as_mace_problems():
        name = os.fspath(path)
        refuse_pickle(name, tool)
        file = File.at(name)
        with file.body() as body:
            return read(Call("columns", file.media_type, file.encoding), body, name, tool).table()


def read(call: Call, body: Body, name: str, tool: str | None = None) -> ImportedScores:
    """The scores in a body that is written as ``call`` says: of the tool that is named, or whose names it has."""
    peer_asked_for = None if tool is None else peer_called(tool)
    peers = PEERS if peer_asked_for is None else (peer_asked_for,)
    for peer in peers:
        if peer.of_several_models and PurePath(name).name.startswith(peer.of_several_models):
            raise Problem(
                "bad-records",
                f"{peer.title} put the scores of several models into this file, mostly of the same records, which are "
                f"no records of one sample: {peer.save}",
            )
    with _fields(call, expanded(call, body)) as fields:
        matches = [(peer, *match) for peer in peers for match in _matches(peer, fields)]
        if not matches:
            raise _without_scores(fields, peer_asked_for)
        peer, layout, prefix = matches[0]
        several = [other for _, same, other in matches if same == layout]
        if len(several) > 1:
            raise Problem(
                "bad-records",
                f"holds {len(several)} results of {peer.title}; keep one attack, and one repetition of it, a file",
            )
        first, second = (fields.values[prefix + each]() for each in layout.names)
    return _scores(peer, layout, first, second)


def peer_called(name: str) -> Peer:
    """The tool of a name."""
    if name not in BY_NAME:
        detail = f"{printable(name)} is none of {', '.join(BY_NAME)}{nearest(name, BY_NAME)}"
        raise fault(UnknownName, "tool", detail)
    return BY_NAME[name]


def refuse_pickle(path: str, tool: str | None = None) -> None:
    """Of a tool that writes pickles, say how its owner writes the scores in place of one."""
    try:
        if not os.path.isfile(path):  # reading a pipe would take from it
            return
        with open(path, "rb") as file:
            head = file.read(HEAD)
    except (OSError, ValueError):
        return  # whoever opens it says why it cannot be read
    if not holds_pickle(path, head):
        return
    for peer in PEERS:
        if peer.recipe and (peer.name == tool or peer.package.encode() in head):
            raise Problem(
                "pickle",
                "\n".join(
                    (
                        f"{peer.title} saves its results as a pickle, which runs whatever code it holds when it is "
                        "opened, so mace never opens one; if you trust it, write its scores where you have "
                        f"{peer.title}:",
                        *peer.recipe,
                    )
                ),
            )


@dataclass(frozen=True, slots=True)
class _Fields:
    """What makes each array of a file, by its name, and every name and text that stands in it besides."""

    values: Mapping[str, Callable[[], NDArray[Any]]]
    names: frozenset[str]
    texts: Mapping[str, str]


@contextmanager
def _fields(call: Call, data: memoryview) -> Iterator[_Fields]:
    if call.media_type == NPZ:
        with Archive.of(data, call.expanded_limit) as archive:
            arrays = {name: partial(archive.array, name) for name in archive.names}
            yield _Fields(arrays, frozenset(arrays), {})
    elif call.media_type == JSON:
        leaves = dict(_leaves(parse_object(bytes(data))))
        yield _Fields(
            {name: partial(_column, name, value) for name, value in leaves.items() if isinstance(value, list)},
            frozenset(part for name in leaves for part in name.split(".")),
            {name.rpartition(".")[2]: value for name, value in leaves.items() if isinstance(value, str)},
        )
    else:
        raise Problem(
            "unsupported-media-type",
            "is neither JSON nor NPZ, as these tools write; a table needs no import: name its columns, --score NAME "
            "--member NAME, or give a file for each side, --members FILE --nonmembers FILE",
        )


def _leaves(tree: dict[str, Any], above: str = "", depth: int = 1) -> Iterator[tuple[str, Any]]:
    """What is no object, by its path with dots."""
    if depth > MOST_DEPTH:
        raise Problem("malformed-body", f"the JSON is nested deeper than {MOST_DEPTH}")
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{above}{name}.", depth + 1)
        else:
            yield f"{above}{name}", value


def _column(name: str, values: list[object]) -> NDArray[Any]:
    return np.asarray(column(values, name.rpartition(".")[2]))


def _matches(peer: Peer, fields: _Fields) -> Iterator[tuple[Layout, str]]:
    """The layouts of a tool that a file has, and what stands before their names there."""
    for layout in peer.layouts:
        first, second = layout.names
        for name in fields.values:
            prefix = name.removesuffix(first)
            begins = name.endswith(first) and (not prefix or prefix.endswith("."))
            if begins and prefix + second in fields.values:
                yield layout, prefix


def _without_scores(fields: _Fields, peer_asked_for: Peer | None) -> Problem:
    """Why there are no scores to read: another tool's file, a summary, or none of these."""
    other = next((peer for peer in PEERS for _ in _matches(peer, fields)), None)
    if peer_asked_for is not None and other is not None:
        detail = f"this is {other.title}'s result, not {peer_asked_for.title}'s; name {other.name}"
        return fault("bad-option", "tool", detail)
    peer = max(PEERS, key=lambda each: len(each.marks & fields.names))
    if peer.marks & fields.names and peer_asked_for in (None, peer):
        there = fields.texts.get(peer.beside)
        if there is not None:
            return Problem(
                "bad-records",
                f"{peer.title}'s report without the score of each record; what it has of them stands beside it",
                local=f"{peer.title}'s report without the score of each record; what it has of them stands beside it, "
                f"in {printable(there)}: give that file",
            )
        detail = f"{peer.title}'s summary, without the score of each record: {peer.save}"
        return Problem("bad-records", detail)
    held = nearest_first("", sorted(fields.names), 6) or "nothing"
    if peer_asked_for is not None:
        need = ", or ".join(" and ".join(layout.names) for layout in peer_asked_for.layouts)
        return Problem(
            "missing-field",
            f"no scores of {peer_asked_for.title}: need {need}",
            local=f"no scores of {peer_asked_for.title}: need {need}; it holds {held}; {peer_asked_for.save}",
        )
    titles = ", ".join(each.title for each in PEERS)
    return Problem(
        "bad-records",
        f"no result of {titles}",
        local=f"no result of {titles}: it holds {held}; --from NAME says what a file of one of them needs",
    )


def _scores(peer: Peer, layout: Layout, first: NDArray[Any], second: NDArray[Any]) -> ImportedScores:
    """Checked scores of both sides, and who is a member."""
    if isinstance(layout, Columns):
        scores, member = _numbers(layout.score, first), _membership(layout.member, second)
        if len(scores) != len(member):
            detail = f"has {len(scores)} values, {layout.member} has {len(member)}"
            raise fault(DimensionMismatch, layout.score, detail)
    else:
        sides = [_numbers(name, side) for name, side in zip(layout.names, (first, second), strict=True)]
        scores = np.concatenate(sides)
        member = np.repeat([True, False], [len(side) for side in sides])
        scores = -scores.astype(np.float64) if layout.sign < 0 else scores
    if member.all() or not member.any():
        raise Problem("too-few-records", f"{peer.title}'s result has records of one side only; need both")
    return ImportedScores(peer, layout, scores, member)


def _numbers(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """One finite number a record; of two probabilities, which sum to one, that of membership, the second."""
    if array.ndim == 2 and (array.shape[1] == 1 or (array.shape[1] == 2 and np.allclose(array.sum(axis=1), 1))):
        array = array[:, -1]
    if array.ndim != 1:
        raise fault(DimensionMismatch, name, "need one number a record, or two probabilities that sum to one")
    if array.dtype.kind not in "biuf":
        raise fault("wrong-type", name, "need numbers")
    finite = np.isfinite(array)
    if not finite.all():
        index = int(np.argmin(finite))
        raise fault(NotFinite, name, f"record {index} is NaN or infinite; leave it out, or look why", index)
    return array.astype(np.int8) if array.dtype.kind == "b" else array


def _membership(name: str, array: NDArray[Any]) -> NDArray[np.bool_]:
    """Who is a member: 1 or true is one, 0 or false is none."""
    flat = array.reshape(-1) if array.ndim == 2 and array.shape[1] == 1 else array
    known = flat.ndim == 1 and flat.dtype.kind in "biuf" and np.isin(flat, (0, 1))
    if not np.all(known):
        raise fault("wrong-type", name, "need 1 for each member and 0 for each other record")
    return flat.astype(np.bool_)
