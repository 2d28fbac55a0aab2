"""The bodies of the corpus and what is asked of them.

A new input that broke something gets a line in `faulty_bodies`, and says in its name what it was.
"""

import json
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from estimators import Counts, Scores
from estimators.runs.sequential import sequential_run
from macekit.call import ARROW, ARROW_FILE, CSV, NDJSON, PARQUET
from tests.macekit.decoding.support import arrow_bytes, npy_bytes, npz_bytes, parquet_bytes, table_bytes

Made = tuple[str, bytes, str, dict[str, str]]
"""A file's name and content, the operation and the query it is asked with."""


def question(name: str, body: bytes, operation: str = "advantage", **query: str) -> Made:
    return name, body, operation, query


SUFFIXES = {CSV: ".csv", ARROW: ".arrows", ARROW_FILE: ".arrow", PARQUET: ".parquet"}
N = 30
ASK = {"score": "score", "member": "member"}
GAUSSIAN = "theory/pmp-gaussian"
POINTS = {"clip": "1", "sigma": "0.5", "delta": "1e-3"}
EMPTY_MEMBER = bytes.fromhex("1f8b080000000000020303000000000000000000")
"""An empty member of gzip, as one Python writes it: another says otherwise by which system."""

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
    yield question("table.csv", table_bytes(sample, CSV), **ASK, group="g")
    yield question("table-of-names.csv", table_bytes(sample, CSV), score="g")
    lines = [f"{x};{'yes' if m else 'no'}" for x, m in zip(score, member, strict=True)]
    yield question("semicolons.csv", ("\ufeffscore;member\r\n" + "\r\n".join(lines)).encode())
    sides = "\n".join(["members\tnonmembers", *(f"{x}\t{x + 1}" for x in score[:20]), "0.5\t"])
    yield question("sides.csv", sides.encode(), members_column="members", nonmembers_column="nonmembers")
    records = arrow_bytes(pa.table({**sample, "id": np.arange(N) + 2**53}), NDJSON)
    yield question("table.jsonl", records, **ASK, group="g")
    yield question("names.jsonl", records.replace(b"\n", b"\r\n\n"), score="g")
    yield question("integers.jsonl", b"\xef\xbb\xbf" + records[:-1], score="id")
    wide = [{"a": x, "b": x + 1} for x in score[:20].tolist()] + [{"b": None, "a": 0.5, "note": ["a: {", {}]}]
    body = "\n".join(map(json.dumps, wide)).encode()
    yield question("sides.jsonl", body, members_column="a", nonmembers_column="b")
    yield question("plain.npy", npy_bytes(score), members="15")
    yield question("matrix.npy", npy_bytes(np.column_stack([score, score, member])), score="0,1")
    yield question("columns.npy", npy_bytes(np.asfortranarray(np.column_stack([score, member]))))
    structured = np.empty(N, dtype=[("score", ">f8"), ("member", "?"), ("g", "<U12")])
    structured["score"], structured["member"], structured["g"] = score, member, group
    yield question("structured.npy", npy_bytes(structured), **ASK, group="g")
    sides_of_two = {"members": np.column_stack([score, score])[member], "nonmembers": np.ones((9, 2))}
    yield question("table.npz", npz_bytes({**sample, "note": np.zeros(3)}), **ASK, group="g")
    yield question("names.npz", npz_bytes(sample, compress=True), score="g")
    yield question("sides.npz", npz_bytes({"members": score[member], "nonmembers": score[~member]}))
    yield question("vectors.npz", npz_bytes(sides_of_two, compress=True))
    for media_type in (ARROW, ARROW_FILE, PARQUET):
        suffix = SUFFIXES[media_type]
        yield question(f"table{suffix}", arrow_bytes(numbers, media_type, batch=12), **ASK, group="g")
        for column in ("g", "half", "id", "money"):
            few = arrow_bytes(numbers.select([column, "member"]), media_type, batch=20)
            yield question(f"{column}{suffix}", few, score=column)
    yield question(
        "pages.parquet",
        parquet_bytes(
            numbers.select(["score", "member", "list"]),
            compression="zstd",
            write_page_index=True,
            write_page_checksum=True,
            use_dictionary=False,
            data_page_version="2.0",
        ),
    )
    sides_of = {"members": score[member].tolist(), "nonmembers": score[~member].tolist()}
    names_of = {"members": group[member].tolist(), "nonmembers": group[~member].tolist()}
    yield question("numbers.json", text(sides_of))
    options = {**sides_of, "prior": 0.3, "threshold": 0.2, "targets": [0.1, 1]}
    yield question("options.json", text(options), "individual-risk")
    yield question("names.json", text({**names_of, "confidence": 0.9}))
    yield question("groups.json", text({**sides_of, "groups": names_of}))
    counts = {"cells": {"kind": "categories", "labels": ["a", "b"]}, "members": [8, 5], "nonmembers": [3, 10]}
    yield question("counts.json", text({"counts": counts}))
    labels = Scores.of(["a"] * 9 + ["b"] * 5, ["b"] * 9 + ["a"] * 5)
    numbers_of = Counts.of([8, 5, 1], [1, 5, 8], edges=[0.1, 0.7])
    for name, batch, records_of in (
        ("state-labels.json", labels, {"members": labels.members.tolist(), "nonmembers": ["b"] * 14}),
        ("state-counts.json", numbers_of, {"counts": numbers_of.to_dict()}),
    ):
        state = sequential_run(max_advantage=0.3, planned=50).after(batch).to_dict()
        yield question(name, text({"anytime": True, "state": state, **records_of}), "gate")
    yield question("queries.json", text({"queries": {"one": sides_of, "two": sides_of}}), "compare")
    yield from theory(rng)


def theory(rng: np.random.Generator) -> Iterator[Made]:
    """Tables that theory is asked about, in every format."""
    points = np.round(rng.normal(size=(12, 2)), 2)
    table = pa.table({"x": points[:, 0], "y": points[:, 1], "city": ["a", "b", PLANT] * 4})
    lists = pa.table({"points": points.tolist()})
    for media_type, suffix in SUFFIXES.items():
        body = arrow_bytes(table, media_type)
        yield question(f"theory-points{suffix}", body, GAUSSIAN, column="x,y", **POINTS)
        yield question(f"theory-values{suffix}", body, "theory/mis", column="city", sizes="10,20")
        if media_type != CSV:
            yield question(f"theory-lists{suffix}", arrow_bytes(lists, media_type), GAUSSIAN, **POINTS)
    yield question("theory-points.npz", npz_bytes({"points": points}), GAUSSIAN, **POINTS)
    losses = {"train_losses": points[:, 0], "heldout_losses": points[:9, 1]}
    yield question("theory-losses.npz", npz_bytes(losses), "theory/mis-overfitting")
    yield question("theory-lists.jsonl", arrow_bytes(lists, NDJSON), GAUSSIAN, **POINTS)
    yield question("theory-points.npy", npy_bytes(points), GAUSSIAN, **POINTS)
    body = npy_bytes(points[:, 0])
    yield question("theory-losses.npy", body, "theory/pmp-exponential", epsilon="1", sensitivity="1")
    body = b"loss,is_train\n" + b"0.1,1\n0.2,1\n0.4,0\n0.9,0\n" * 5
    yield question("theory-losses.csv", body, "theory/mis-overfitting", score="loss")
    body = text({"points": points.tolist(), "clip": 1.0, "sigma": 0.5, "delta": 1e-3})
    yield question("theory-points.json", body, GAUSSIAN)
    yield question("theory-dp.json", text({"epsilon": 1.0, "delta": 1e-6}), "theory/dp")


def faulty_bodies() -> Iterator[Made]:
    """What once broke something; the letters are those of the examination that met it."""
    head, rows = "score,member\n", "".join(f"{k % 7},{k % 2}\n" for k in range(40))
    blanks = "".join(f"{k % 7} ,1\n{k % 5},0\n" for k in range(20))
    noted = rows.replace("\n", ",n\n")
    yield question("broke-d1-blanks.csv", f"{head}{blanks}".encode(), **ASK)
    yield question("broke-d1-token.csv", f"{head}{rows}#N/A,1\n".encode(), **ASK)
    yield question("broke-d4-quote.csv", f'score,member,note\n{noted}1,1,"x\n{rows}'.encode(), **ASK)
    yield question("broke-d9-second-header.csv", f"{head}{rows}{head}{rows}".encode(), **ASK)
    nines = [k % 9 for k in range(20)]
    across = {"members": [*(2**63 + k for k in nines), 3], "nonmembers": [2**63 - 1 - k for k in nines]}
    yield question("broke-d2-across-2-63.json", text(across))
    unsigned = {"members": [2**64 - 1 - k for k in nines], "nonmembers": [2**63 + k for k in nines]}
    yield question("broke-d8-uint64.json", text(unsigned))
    yield question("broke-d10-nul.json", text({"members": ["a"] * 20, "nonmembers": ["a\0"] * 20}))
    half = pa.array(np.tile([1.5, -0.0, 2.5], 10).astype(np.float16)).dictionary_encode()
    coded = pa.table({"score": half, "member": [True, False] * 15})
    yield question("broke-d6-half-floats.arrows", arrow_bytes(coded, ARROW, batch=7), **ASK)
    for name, shape in (
        ("broke-e1-width", (0, 10**20)),
        ("broke-e1-both", (2**32, 2**32)),
        ("broke-e2-length", (10**20, 0)),
    ):
        body = header(f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}")
        yield question(f"{name}.npy", body, "counts")
        yield question(f"{name}-of-theory.npy", body, GAUSSIAN, column="0", **POINTS)
    for media_type in (ARROW, ARROW_FILE, PARQUET):
        name = f"broke-e3-no-columns{SUFFIXES[media_type]}"
        yield question(name, arrow_bytes(pa.table({}), media_type), GAUSSIAN, **POINTS)
    name = "broke-e4-size-statistics.parquet"
    yield question(name, contradicting_footer(), GAUSSIAN, column="points", **POINTS)
    two = {"cells": {"kind": "categories", "labels": ["a", "b"]}, "members": [9, 9], "nonmembers": [9, 9]}
    yield question("broke-e5-no-targets.json", text({"counts": two, "targets": [[]]}), "individual-risk")
    yield question("broke-e5-rdp.json", text({"rdp": [[2.0, 1e-300]], "delta": 1e-6}), "theory/dp")
    yield question("broke-dictionary-length.arrows", long_dictionary(), score="g")
    yield question("broke-members-of-gzip.csv", EMPTY_MEMBER * 50)


def contradicting_footer() -> bytes:
    """A Parquet file whose footer has a byte changed: Arrow's reader of a column's metadata ended the process."""
    lists = pa.table({"points": [[1.0, 2.0]] * 12})
    plain = {"use_dictionary": False, "write_statistics": False, "store_schema": False}
    body = bytearray(parquet_bytes(lists, compression="none", **plain))
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
