"""A pickle is refused by its name, whatever it is said to be, and never opened."""

import io
import os
import pickle
import zipfile
import zlib
from typing import Any

import numpy as np
import pytest

from macekit.call import ARROW, CSV, JSON, NPY, PARQUET, Body
from macekit.decoding import blocks
from macekit.decoding import preview as columns
from macekit.formats import holds_pickle, is_pickle
from macekit.problems import Problem
from tests.cases import each_case
from tests.macekit.decoding.support import call, npy_bytes, packed, refusal

SCORES = [0.5, -1.25, 3.0, 0.1]
VALUES: dict[str, Any] = {
    "a list": SCORES, "whole numbers": [1, 2, 3], "names": ["a", "b"], "nothing": [],
    "a tuple": tuple(SCORES), "a dictionary": {"members": SCORES, "nonmembers": SCORES},
    "an array": np.array(SCORES), "a set": {1, 2}, "a class": io.BytesIO,
}  # fmt: skip


class Trap:
    """Opening this would be seen."""

    def __reduce__(self) -> Any:
        return os.mkdir, ("opened",)


def torch_file(first: bool = True) -> bytes:
    """What torch.save writes: a ZIP of a pickle and of the numbers."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as file:
        for name in ("data.pkl", "byteorder") if first else ("version", "data.pkl"):
            file.writestr(f"scores/{name}", pickle.dumps(Trap(), 2))
        file.writestr("scores/data/0", bytes(9000))
    return sink.getvalue()


@each_case("protocol", range(6))
@each_case("name", VALUES)
def test_every_protocol_is_known(name: str, protocol: int) -> None:
    body = pickle.dumps(VALUES[name], protocol)

    assert is_pickle(body)
    assert is_pickle(zlib.compress(body))
    assert holds_pickle("scores.csv", packed(body, "gzip"))


@each_case("media_type", [JSON, CSV, NPY, ARROW, PARQUET])
@each_case("encoding", ["identity", "gzip", "zstd"])
def test_a_pickle_is_refused_by_its_name_whatever_it_is_said_to_be(
    media_type: str, encoding: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bodies = [pickle.dumps(Trap(), protocol) for protocol in range(6)]
    bodies += [zlib.compress(bodies[4]), torch_file(), torch_file(first=False)]
    for body in bodies:
        problem = refusal(packed(body, encoding), media_type, encoding)

        assert (problem.kind.slug, problem.kind.status) == ("pickle", 415)
        for words in ("mace never opens one", "numpy.savez('scores.npz'", "to_parquet", "to_csv"):
            assert words in problem.detail
        if media_type in (CSV, NPY, ARROW):
            with pytest.raises(Problem, match="never opens"), Body.of(packed(body, encoding)) as held:
                list(blocks(call(media_type, encoding), held))
        if media_type != JSON:
            with pytest.raises(Problem, match="never opens"), Body.of(packed(body, encoding)) as held:
                columns(call(media_type, encoding, "columns"), held)
    assert not list(tmp_path.iterdir())


def test_an_array_of_objects_is_a_pickle() -> None:
    body = npy_bytes(np.array([Trap()], dtype=object))

    assert refusal(body, NPY).kind.slug == "pickle"


@each_case("text", [
    "confidence,member\n1.0,1\n", "cat\nyes\nno\n", "c\nd\np\n", "(score),member\n0.5,1\n",
    "(lp,member\n0.5,1\n", "q,member\n1,0\n", "}{,member\n1,0\n", "x^2,member\n1,0\n",
    "\ufeffscore,member\n1,0\n", '{"members": [1], "nonmembers": [2]}', "",
])  # fmt: skip
def test_a_text_is_none(text: str) -> None:
    assert not is_pickle(text.encode())


def test_a_suffix_is_believed_unless_the_first_bytes_say_otherwise() -> None:
    sink = io.BytesIO()
    np.savez(sink, members=SCORES, nonmembers=SCORES)

    for name in ("model.pkl", "MODEL.JOBLIB", "model.pt", "model.pth", "scores.pickle.gz"):
        assert holds_pickle(name, b"anything")
    assert not holds_pickle("scores.pkl", npy_bytes(np.array(SCORES)))
    assert not holds_pickle("scores.npz", sink.getvalue())
