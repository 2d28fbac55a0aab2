"""Make the corpus anew: `python -m tests.macekit.decoding.corpus.make`.

A new input that broke something gets a line in `faulty_bodies`, and says in its name what it was.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from estimators import Counts, Scores
from estimators.sequential import sequential_run
from macekit.call import ARROW, ARROW_FILE, CSV, NDJSON, PARQUET
from tests.macekit.decoding.corpus import FOLDER, INDEX
from tests.macekit.decoding.support import arrow_bytes, npy_bytes, npz_bytes, table_bytes

Made = tuple[str, bytes, str, dict[str, str]]
"""A file's name and content, the operation and the query it is asked with."""

SUFFIXES = {CSV: ".csv", ARROW: ".arrows", ARROW_FILE: ".arrow", PARQUET: ".parquet"}
N = 30
POINTS = {"clip": "1", "sigma": "0.5", "delta": "1e-3"}
PLANT = "planted-7f3a"
"""A category that no refusal may repeat."""


def header(text: str, version: int = 1) -> bytes:
    """An NPY file's head, as it is given."""
    padded = text.encode().ljust(118) + b"\n" if len(text) < 118 else text.encode() + b"\n"
    size = len(padded).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + size + padded


def sound_bodies() -> Iterator[Made]:
    """Bodies as they should be."""
    rng = np.random.default_rng(14)
    member = rng.random(N) < 0.5
    member[:16] = [True, False] * 8
    score = np.round(rng.normal(size=N) + member, 3)
    group = np.array([PLANT, "b", "c,\n", 'd"d', "e"] * (N // 5))
    sample = {"score": score, "member": member, "g": group}
    numbers = pa.table(
        {
            "score": pa.array(score),
            "member": pa.array(member),
            "g": pa.array(group).dictionary_encode(),
            "id": pa.array(np.arange(N) + 2**53),
            "half": pa.array(score.astype(np.float16)),
            "money": pa.array([int(1000 * x) for x in score]).cast(pa.decimal128(20)),
            "moment": pa.array(np.arange(N), pa.timestamp("s")),
            "list": pa.array([[float(x), 1.0] for x in score]),
            "nothing": pa.nulls(N),
        }
    )
    ask = {"score": "score", "member": "member"}
    yield "table.csv", table_bytes(sample, CSV), "advantage", {**ask, "group": "g"}
    yield "table-of-names.csv", table_bytes(sample, CSV), "advantage", {"score": "g"}
    lines = [f"{x};{'yes' if m else 'no'}" for x, m in zip(score, member, strict=True)]
    yield "semicolons.csv", ("\ufeffscore;member\r\n" + "\r\n".join(lines)).encode(), "advantage", {}
    sides = "\n".join(["members\tnonmembers", *(f"{x}\t{x + 1}" for x in score[:20]), "0.5\t"])
    yield (
        "sides.csv",
        sides.encode(),
        "advantage",
        {"members_column": "members", "nonmembers_column": "nonmembers"},
    )
    records = pa.table({**sample, "id": np.arange(N) + 2**53})
    yield "table.jsonl", arrow_bytes(records, NDJSON), "advantage", {**ask, "group": "g"}
    yield "names.jsonl", arrow_bytes(records, NDJSON).replace(b"\n", b"\r\n\n"), "advantage", {"score": "g"}
    yield "integers.jsonl", b"\xef\xbb\xbf" + arrow_bytes(records, NDJSON)[:-1], "advantage", {"score": "id"}
    wide = [{"a": x, "b": x + 1} for x in score[:20].tolist()] + [{"b": None, "a": 0.5, "note": ["a: {", {}]}]
    yield (
        "sides.jsonl",
        "\n".join(map(json.dumps, wide)).encode(),
        "advantage",
        {"members_column": "a", "nonmembers_column": "b"},
    )
    yield "plain.npy", npy_bytes(score), "advantage", {"members": "15"}
    yield "matrix.npy", npy_bytes(np.column_stack([score, score, member])), "advantage", {"score": "0,1"}
    yield "columns.npy", npy_bytes(np.asfortranarray(np.column_stack([score, member]))), "advantage", {}
    structured = np.empty(N, dtype=[("score", ">f8"), ("member", "?"), ("g", "<U12")])
    structured["score"], structured["member"], structured["g"] = score, member, group
    yield "structured.npy", npy_bytes(structured), "advantage", {**ask, "group": "g"}
    sides_of_two = {"members": np.column_stack([score, score])[member], "nonmembers": np.ones((9, 2))}
    yield "table.npz", npz_bytes({**sample, "note": np.zeros(3)}), "advantage", {**ask, "group": "g"}
    yield "names.npz", npz_bytes(sample, compress=True), "advantage", {"score": "g"}
    yield "sides.npz", npz_bytes({"members": score[member], "nonmembers": score[~member]}), "advantage", {}
    yield "vectors.npz", npz_bytes(sides_of_two, compress=True), "advantage", {}
    for media_type in (ARROW, ARROW_FILE, PARQUET):
        name = "table" + SUFFIXES[media_type]
        yield name, arrow_bytes(numbers, media_type, batch=12), "advantage", {**ask, "group": "g"}
        for column in ("g", "half", "id", "money"):
            few = numbers.select([column, "member"])
            name = f"{column}{SUFFIXES[media_type]}"
            yield name, arrow_bytes(few, media_type, batch=20), "advantage", {"score": column}
    sink = io.BytesIO()
    pq.write_table(
        numbers.select(["score", "member", "list"]),
        sink,
        compression="zstd",
        write_page_index=True,
        write_page_checksum=True,
        use_dictionary=False,
        data_page_version="2.0",
    )
    yield "pages.parquet", sink.getvalue(), "advantage", {}
    sides_of = {"members": score[member].tolist(), "nonmembers": score[~member].tolist()}
    names_of = {"members": group[member].tolist(), "nonmembers": group[~member].tolist()}
    yield "numbers.json", text(sides_of), "advantage", {}
    yield (
        "options.json",
        text({**sides_of, "prior": 0.3, "threshold": 0.2, "targets": [0.1, 1]}),
        "individual-risk",
        {},
    )
    yield "names.json", text({**names_of, "confidence": 0.9}), "advantage", {}
    yield (
        "groups.json",
        text({**sides_of, "groups": {"members": names_of["members"], "nonmembers": names_of["nonmembers"]}}),
        "advantage",
        {},
    )
    counts = {"cells": {"kind": "categories", "labels": ["a", "b"]}, "members": [8, 5], "nonmembers": [3, 10]}
    yield "counts.json", text({"counts": counts}), "advantage", {}
    labels = Scores.of(["a"] * 9 + ["b"] * 5, ["b"] * 9 + ["a"] * 5)
    numbers_of = Counts.of([8, 5, 1], [1, 5, 8], edges=[0.1, 0.7])
    for name, batch, records in (
        ("state-labels.json", labels, {"members": labels.members.tolist(), "nonmembers": ["b"] * 14}),
        ("state-counts.json", numbers_of, {"counts": numbers_of.to_dict()}),
    ):
        state = sequential_run(max_advantage=0.3, planned=50).after(batch).to_dict()
        yield name, text({"anytime": True, "state": state, **records}), "gate", {}
    yield "queries.json", text({"queries": {"one": sides_of, "two": sides_of}}), "compare", {}
    yield from theory(rng)


def theory(rng: np.random.Generator) -> Iterator[Made]:
    """Tables that theory is asked about, in every format."""
    points = np.round(rng.normal(size=(12, 2)), 2)
    table = pa.table({"x": points[:, 0], "y": points[:, 1], "city": ["a", "b", PLANT] * 4})
    lists = pa.table({"points": points.tolist()})
    for media_type, suffix in SUFFIXES.items():
        asked = {"column": "x,y", "clip": "1", "sigma": "0.5", "delta": "1e-3"}
        yield f"theory-points{suffix}", arrow_bytes(table, media_type), "theory/pmp-gaussian", asked
        yield (
            f"theory-values{suffix}",
            arrow_bytes(table, media_type),
            "theory/mis",
            {"column": "city", "sizes": "10,20"},
        )
        if media_type != CSV:
            yield (
                f"theory-lists{suffix}",
                arrow_bytes(lists, media_type),
                "theory/pmp-gaussian",
                {"clip": "1", "sigma": "0.5", "delta": "1e-3"},
            )
    yield "theory-points.npz", npz_bytes({"points": points}), "theory/pmp-gaussian", POINTS
    losses = {"train_losses": points[:, 0], "heldout_losses": points[:9, 1]}
    yield "theory-losses.npz", npz_bytes(losses), "theory/mis-overfitting", {}
    yield "theory-lists.jsonl", arrow_bytes(lists, NDJSON), "theory/pmp-gaussian", POINTS
    yield (
        "theory-points.npy",
        npy_bytes(points),
        "theory/pmp-gaussian",
        {"clip": "1", "sigma": "0.5", "delta": "1e-3"},
    )
    yield (
        "theory-losses.npy",
        npy_bytes(points[:, 0]),
        "theory/pmp-exponential",
        {"epsilon": "1", "sensitivity": "1"},
    )
    yield (
        "theory-losses.csv",
        b"loss,is_train\n" + b"0.1,1\n0.2,1\n0.4,0\n0.9,0\n" * 5,
        "theory/mis-overfitting",
        {"score": "loss"},
    )
    yield (
        "theory-points.json",
        text({"points": points.tolist(), "clip": 1.0, "sigma": 0.5, "delta": 1e-3}),
        "theory/pmp-gaussian",
        {},
    )
    yield "theory-dp.json", text({"epsilon": 1.0, "delta": 1e-6}), "theory/dp", {}


def faulty_bodies() -> Iterator[Made]:
    """What once broke something; the letters are those of the examination that met it."""
    ask = {"score": "score", "member": "member"}
    rows = "".join(f"{k % 7},{k % 2}\n" for k in range(40))
    yield (
        "broke-d1-blanks.csv",
        ("score,member\n" + "".join(f"{k % 7} ,1\n{k % 5},0\n" for k in range(20))).encode(),
        "advantage",
        ask,
    )
    yield "broke-d1-token.csv", f"score,member\n{rows}#N/A,1\n".encode(), "advantage", ask
    yield (
        "broke-d2-across-2-63.json",
        text(
            {
                "members": [2**63 + k % 9 for k in range(20)] + [3],
                "nonmembers": [2**63 - 1 - k % 9 for k in range(20)],
            }
        ),
        "advantage",
        {},
    )
    yield (
        "broke-d4-quote.csv",
        f'score,member,note\n{rows.replace(chr(10), ",n" + chr(10))}1,1,"x\n{rows}'.encode(),
        "advantage",
        ask,
    )
    half = pa.table(
        {"score": pa.array(np.tile([1.5, -0.0, 2.5], 10).astype(np.float16)), "member": [True, False] * 15}
    )
    coded = half.set_column(0, "score", half["score"].dictionary_encode())
    yield "broke-d6-half-floats.arrows", arrow_bytes(coded, ARROW, batch=7), "advantage", ask
    yield (
        "broke-d8-uint64.json",
        text(
            {
                "members": [2**64 - 1 - k % 9 for k in range(20)],
                "nonmembers": [2**63 + k % 9 for k in range(20)],
            }
        ),
        "advantage",
        {},
    )
    yield "broke-d9-second-header.csv", f"score,member\n{rows}score,member\n{rows}".encode(), "advantage", ask
    yield "broke-d10-nul.json", text({"members": ["a"] * 20, "nonmembers": ["a\0"] * 20}), "advantage", {}
    for name, shape in (
        ("broke-e1-width", (0, 10**20)),
        ("broke-e1-both", (2**32, 2**32)),
        ("broke-e2-length", (10**20, 0)),
    ):
        head = header(f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}")
        yield f"{name}.npy", head, "counts", {}
        yield (
            f"{name}-of-theory.npy",
            head,
            "theory/pmp-gaussian",
            {"column": "0", "clip": "1", "sigma": "0.5", "delta": "1e-3"},
        )
    bare = pa.table({})
    for media_type in (ARROW, ARROW_FILE, PARQUET):
        yield (
            f"broke-e3-no-columns{SUFFIXES[media_type]}",
            arrow_bytes(bare, media_type),
            "theory/pmp-gaussian",
            {"clip": "1", "sigma": "0.5", "delta": "1e-3"},
        )
    yield (
        "broke-e4-size-statistics.parquet",
        contradicting_footer(),
        "theory/pmp-gaussian",
        {"column": "points", "clip": "1", "sigma": "0.5", "delta": "1e-3"},
    )
    two = {"cells": {"kind": "categories", "labels": ["a", "b"]}, "members": [9, 9], "nonmembers": [9, 9]}
    yield ("broke-e5-no-targets.json", text({"counts": two, "targets": [[]]}), "individual-risk", {})
    yield "broke-e5-rdp.json", text({"rdp": [[2.0, 1e-300]], "delta": 1e-6}), "theory/dp", {}
    yield "broke-dictionary-length.arrows", long_dictionary(), "advantage", {"score": "g"}
    yield "broke-members-of-gzip.csv", gzip.compress(b"", mtime=0) * 50, "advantage", {}


def contradicting_footer() -> bytes:
    """A Parquet file whose footer has a byte changed: Arrow's reader of a column's metadata ended the process."""
    sink = io.BytesIO()
    lists = pa.table({"points": [[1.0, 2.0]] * 12})
    plain = {"use_dictionary": False, "write_statistics": False, "store_schema": False}
    pq.write_table(lists, sink, compression="none", **plain)
    body = bytearray(sink.getvalue())
    body[len(body) - 8 - int.from_bytes(body[-8:-4], "little") + 18] = 0
    return bytes(body)


def long_dictionary() -> bytes:
    """An Arrow stream with a dictionary that says it is longer than anything."""
    table = pa.table({"g": pa.array(list("abcdef") * 10).dictionary_encode(), "member": [True, False] * 30})
    body = bytearray(arrow_bytes(table, ARROW))
    at = body.index(b"abcdef") - 32
    body[at : at + 8] = (2**51).to_bytes(8, "little")
    return bytes(body)


def text(document: object) -> bytes:
    return json.dumps(document).encode()


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for file in FOLDER.iterdir():
        file.unlink()
    index = {}
    for name, body, operation, query in (*sound_bodies(), *faulty_bodies()):
        (FOLDER / name).write_bytes(body)
        index[name] = {"operation": operation, "query": query}
    INDEX.write_text(json.dumps(dict(sorted(index.items())), indent=1) + "\n")


if __name__ == "__main__":
    main()
