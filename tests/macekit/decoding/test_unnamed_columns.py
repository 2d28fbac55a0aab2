"""Columns that nobody named, but which say whose a row is: seen in every format, and never in the way."""

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads
import pytest
from numpy.typing import NDArray

import macekit
from app.cli import main, run
from estimators.clusters.dependent_rows import DEPENDENT, says_whose
from macekit.call import ARROW, CSV, JSON, NDJSON, NPY, NPZ, PARQUET
from macekit.decoding import unnamed_columns as spare
from macekit.decoding.body import DecodedBody
from macekit.decoding.columns import Labels
from macekit.decoding.roles import Roles
from macekit.decoding.table import Table
from macekit.questions.counts import work
from macekit.sources import reading
from tests.app.http.asked import TABLES, ok, post
from tests.app.running import Running
from tests.cases import each_case
from tests.macekit.decoding import support
from tests.macekit.decoding.support import form

FORMATS = [CSV, NDJSON, ARROW, PARQUET, NPZ]


def people(alike: float, seed: int = 0, number: int = 80, rows: int = 5) -> dict[str, NDArray[Any]]:
    """People whose rows are alike by so much, in an order of no meaning."""
    rng = np.random.default_rng(seed)
    person = rng.permutation(np.repeat(np.arange(number), rows))
    shared, own = rng.normal(size=number)[person], rng.normal(size=len(person))
    score = np.sqrt(alike) * shared + np.sqrt(1 - alike) * own
    return {"score": score, "member": person % 2 == 0, "patient_id": person}


def read(columns: dict[str, Any], media_type: str = CSV, operation: str = "advantage", **query: str) -> DecodedBody:
    body = TABLES[media_type](pa.table(columns))
    return support.read(body, media_type, operation=operation, **{"score": "score", **query})


@each_case("media_type", FORMATS)
@each_case("text", [False, True])
def test_rows_of_one_label_that_are_alike_are_seen(media_type: str, text: bool) -> None:
    columns = people(0.5)
    if text:
        columns["patient_id"] = np.array([f"p{label}" for label in columns["patient_id"]])
    (caution,) = read(columns, media_type).cautions
    assert caution.code == DEPENDENT
    assert "'patient_id'" in caution.message
    assert "cluster" in caution.message


@each_case("media_type", FORMATS)
def test_another_column_of_membership_that_says_otherwise_is_seen(media_type: str) -> None:
    columns = people(0.0)
    for marks, codes in ((columns["member"], []), (columns["score"] > 0.0, ["membership_contradicted"])):
        for split in (marks, np.where(marks, "train", "test")):
            assert [each.code for each in read({**columns, "split": split}, media_type).cautions] == codes
    assert read({**columns, "split": columns["score"] > 0.0}, media_type, member="member").cautions == ()


def test_text_that_stands_in_an_index_is_read_too() -> None:
    columns: dict[str, Any] = people(0.5)
    texts = pa.array([f"p{label}" for label in columns["patient_id"]]).dictionary_encode()
    assert read({**columns, "patient_id": texts}, PARQUET).cautions


@each_case("query", [{"unit": "patient_id"}, {"cluster": "patient_id"}, {"unit": "row"}])
def test_nothing_is_said_where_it_was_said_whose_the_rows_are(query: dict[str, str]) -> None:
    assert read({**people(0.5), "row": np.arange(400)}, **query).cautions == ()


def test_a_vector_is_looked_at_by_its_first_number_and_text_not_at_all() -> None:
    columns = people(0.5)
    more = {**columns, "other": np.random.default_rng(1).normal(size=400)}
    assert read(more, score="score,other").cautions
    assert read({**columns, "score": np.where(columns["score"] > 0, "high", "low")}).cautions == ()


def test_of_several_queries_any_may_show_it() -> None:
    columns = people(0.5)
    more = {**columns, "noise": np.random.default_rng(1).normal(size=400)}
    assert read(more, operation="compare", score="noise,score").cautions
    alike = {**columns, "score": more["noise"], "noise": more["noise"]}
    assert read(alike, operation="compare").cautions == ()


@pytest.mark.slow
@each_case("kind", ["continuous", "rounded", "counts", "two values", "leaking", "heavy tails", "classes"])
def test_independent_rows_raise_no_alarm(kind: str) -> None:
    """None in 60 tables of each of 7 kinds: at the bound of 1 in 10,000 that is seen 96 times in 100."""
    for seed in range(60):
        columns: dict[str, Any] = people(0.0, seed, number=int(20 + 4 * (seed % 30)))
        score, rng = columns["score"], np.random.default_rng(seed)
        if kind == "rounded":
            score = np.round(score, 1)
        elif kind == "counts":
            score = rng.poisson(2.0, len(score))
        elif kind == "two values":
            score = (score > 1.0).astype(np.int64)
        elif kind == "leaking":
            score = score + 2.0 * columns["member"]
        elif kind == "heavy tails":
            score = rng.standard_cauchy(len(score))
        elif kind == "classes":  # rows of one class are alike, and independent
            columns["class_id"] = rng.integers(0, 10, len(score))
            score = score + columns["class_id"]
        assert read({**columns, "score": score, "id": np.arange(len(score))}, ARROW).cautions == (), seed


ODD: dict[str, Any] = {
    "gaps": [None, *range(399)],
    "blanks": ["", *map(str, range(399))],
    "fractions": np.arange(400) / 7,
    "lists": [[1, 2]] * 400,
    "one value": [1] * 400,
    "all different": range(400),
    "dates": np.arange("2020-01", "2053-05", dtype="datetime64[M]").astype("datetime64[s]"),
    "booleans": [True, False] * 200,
    "long": ["x" * 5000, *map(str, range(399))],
    "large": [2**63 + label // 5 for label in range(400)],
}


@pytest.mark.slow
@each_case("kind", sorted(ODD))
@each_case("media_type", [PARQUET, ARROW, NDJSON, CSV])
def test_a_spare_column_is_never_in_the_way(kind: str, media_type: str) -> None:
    columns = people(0.0)
    column = pa.array(ODD[kind], pa.uint64() if kind == "large" else None)
    if (kind == "lists" and media_type == CSV) or (kind == "dates" and media_type == NDJSON):
        column = pa.array([str(value) for value in column.to_pylist()])
    found = read({**columns, "user_id": column}, media_type)
    alone = read({name: columns[name] for name in ("score", "member")}, media_type)
    assert found.cautions == ()
    assert np.array_equal(np.asarray(found.samples[""].members), np.asarray(alone.samples[""].members))


def test_names_that_say_whose_a_row_is() -> None:
    whose = [
        "user_id", "userid", "patientNo", "person", "Document", "recordID", "model", "household_id", "doc-id",
    ]  # fmt: skip
    others = [
        "paid", "bid", "valid", "age", "class_id", "zip_code", "region_id", "identity_score", "batch_id",
    ]  # fmt: skip
    assert [name for name in [*whose, "id", *others, "score"] if says_whose(name)] == [*whose, "id"]


@pytest.mark.slow
def test_only_the_first_rows_of_a_large_table_are_looked_at() -> None:
    """So many rows alone say it, whichever side they are of, and what follows them costs nothing."""
    rng = np.random.default_rng(0)
    number = spare.ROWS + 5000
    person = np.arange(number) // 4
    score = rng.normal(size=number // 4 + 1)[person] + rng.normal(size=number)
    columns = {"score": score, "member": np.arange(number) < spare.ROWS + 1000, "user_id": person}
    for media_type in (CSV, PARQUET, NDJSON):
        (caution,) = read(columns, media_type).cautions
        assert int(caution.message.split(" labels for ")[1].split()[0]) <= spare.ROWS
    late = np.where(np.arange(number) < spare.ROWS, np.arange(number), number)
    assert read({**columns, "user_id": late}, PARQUET).cautions == ()


def sorted_late(number: int) -> pa.Table:
    """Rows of their own first, and then people with four alike each."""
    rng = np.random.default_rng(0)
    person = np.where(np.arange(number) < number // 2, np.arange(number), number + np.arange(number) // 4)
    score = rng.normal(size=2 * number)[person] + 0.5 * rng.normal(size=number)
    return pa.table({"score": score, "member": person % 2 == 0, "user_id": person})


@pytest.mark.slow
@each_case("form", ["frame", "dict", "reader", "folder", "folder of text", "Arrow"])
def test_rows_that_follow_the_first_are_looked_at(form: str, tmp_path: Path) -> None:
    """Sorted so that people with several rows come late, a table passed."""
    table = sorted_late(8 * spare.ROWS)
    for at in range(8):
        part = table.slice(at * spare.ROWS, spare.ROWS)
        for suffix in ("parquet", "csv"):
            (tmp_path / suffix).mkdir(exist_ok=True)
            (tmp_path / suffix / f"{at}.{suffix}").write_bytes(TABLES[SUFFIXES[suffix]](part))
    (tmp_path / "all.arrow").write_bytes(TABLES[ARROW](table))
    given: Any = {
        "frame": table.to_pandas,
        "dict": lambda: {name: table[name].to_numpy() for name in table.column_names},
        "reader": lambda: table.to_reader(max_chunksize=5000),
        "folder": lambda: tmp_path / "parquet",
        "folder of text": lambda: tmp_path / "csv",
        "Arrow": lambda: [tmp_path / "all.arrow"],
    }[form]()
    assert macekit.gate(given, max_advantage=0.9).undecided_because == DEPENDENT


def test_blocks_that_follow_are_looked_at_alike_however_many_come() -> None:
    """Of 200 blocks no more than a few are kept, from the first to the last; one with a gap does not end the look."""
    look, layout = spare.Look(), Roles((0,), 1, None, None)
    for at in range(200):
        rows = spare.ROWS if not at else 3000
        columns = {0: np.full(rows, float(at)), 1: np.arange(rows) % 2 == 0}
        labels = {} if at == 100 else {"user_id": Labels(np.zeros(rows, np.intp), ["a"])}
        look.add(Table(columns, 0, ["score", "member"], unnamed=labels), layout)
    kept = [int(part[0]) for part in look._scores[""]]
    assert kept[0] == 0
    assert 8 <= len(kept) - 1 <= spare.LATER
    assert np.ptp(np.diff(kept[1:])) == 0
    assert kept[-1] > 150


def test_lists_have_no_spare_columns() -> None:
    body = b'{"members": [1, 2, 3, 4, 5, 6, 7, 8], "nonmembers": [1, 2, 3, 4, 5, 6, 7, 8]}'

    assert support.read(body).cautions == ()


# --- every door that reads rows ---

SUFFIXES = {"csv": CSV, "jsonl": NDJSON, "parquet": PARQUET, "arrow": ARROW, "npz": NPZ}
FORM = "multipart/form-data; boundary=xYz"
LIMIT = 0.5
Doors = dict[str, Callable[[], Any]]


def in_the_shell(folder: Path, *files: object) -> Any:
    out = folder / "answer.json"
    main(["gate", *map(str, files), "--max-advantage", str(LIMIT), "-o", str(out), "--overwrite"])
    return json.loads(out.read_text())


def put(table: pa.Table, folder: Path) -> dict[str, Path]:
    """The table in a file of each format, and in parts whose columns stand in another order."""
    files = {suffix: folder / f"all.{suffix}" for suffix in SUFFIXES}
    for suffix, path in files.items():
        path.write_bytes(TABLES[SUFFIXES[suffix]](table))
    columns = {name: np.array(table[name].to_pylist()) for name in table.column_names}
    np.save(folder / "all.npy", np.rec.fromarrays(list(columns.values()), names=list(columns)).view(np.ndarray))
    (folder / "parts").mkdir()
    half = table.num_rows // 2
    for name, part in {"a": table[:half], "b": table[half:].select(["patient_id", "member", "score"])}.items():
        (folder / "parts" / f"{name}.parquet").write_bytes(TABLES[PARQUET](part))
    return {**files, "npy": folder / "all.npy"}


def doors(table: pa.Table, folder: Path, service: Running) -> Doors:
    """The same rows by every door that reads rows, or counts of them."""
    files, there = put(table, folder), macekit.Mace(f"http://127.0.0.1:{service.port}")
    shutil.copytree(folder, service.folder / "data" / folder.name)
    sides = {name: table.filter(pc.equal(table["member"], name == "members")) for name in ("members", "nonmembers")}
    apart = {name: side.select(["score", "patient_id"]) for name, side in sides.items()}
    counted = macekit.counts(table)
    counted.to_json(folder / "counts.json")
    parts, pattern, counts = folder / "parts", f"{folder}/parts/*.parquet", folder / "counts.json"

    def here(given: object) -> Callable[[], Any]:
        return lambda: macekit.gate(given, max_advantage=LIMIT).answer

    def posted(body: bytes, media_type: str, query: str = "") -> Callable[[], Any]:
        return lambda: ok(post(service, f"/v1/gate?max_advantage={LIMIT}{query}", body, media_type))

    def of_sides(suffix: str) -> Doors:
        data = {name: TABLES[SUFFIXES[suffix]](side) for name, side in apart.items()}
        paths = [folder / f"{name}.{suffix}" for name in data]
        for path, content in zip(paths, data.values(), strict=True):
            path.write_bytes(content)
        options = [each for path in paths for each in (f"--{path.stem}", path)]
        return {
            f"sides, form, {suffix}": posted(form(*((n, f"{n}.{suffix}", each) for n, each in data.items())), FORM),
            f"sides, shell, {suffix}": lambda: in_the_shell(folder, *options, "--score", "score"),
        }

    found: Doors = {
        "frame": here(table.to_pandas()),
        "lazy": here(pl.from_arrow(table).lazy()),  # type: ignore[union-attr]
        "lazy files": here(pl.scan_parquet(files["parquet"])),
        "batches": here(table.to_batches(max_chunksize=90)),
        "iterator": here(iter(table.to_batches(max_chunksize=90))),
        "reader": here(table.to_reader(max_chunksize=90)),
        "dataset": here(pads.dataset(files["parquet"])),
        "relation": here(duckdb.from_arrow(table)),
        "folder": here(parts),
        "pattern": here(pattern),
        "paths": here([parts / "a.parquet", parts / "b.parquet"]),
        "folder, shell": lambda: in_the_shell(folder, parts),
        "pattern, shell": lambda: in_the_shell(folder, pattern),
        "frame, there": lambda: there.gate(table.to_pandas(), max_advantage=LIMIT).answer,
        "folder, there": lambda: there.gate(parts, max_advantage=LIMIT).answer,
        "counts, there": lambda: there.gate(counts=counted, max_advantage=LIMIT).answer,
        "counts in a file, there": lambda: there.gate(counts, max_advantage=LIMIT).answer,
        "folder, http": posted(b"", JSON, f"&data={folder.name}/parts"),
        "counts": lambda: macekit.gate(counts=counted, max_advantage=LIMIT).answer,
        "counts merged": lambda: macekit.gate(counts=macekit.counts(shards=[counted]), max_advantage=LIMIT).answer,
        "counts in a file": here(counts),
        "counts in files": here([counts]),
        "counts, shell": lambda: in_the_shell(folder, counts),
        "counts, http": lambda: ok(post(service, f"/v1/gate?max_advantage={LIMIT}", counts.read_bytes(), JSON)),
    }
    for suffix, path in files.items():
        media_type = {**SUFFIXES, "npy": NPY}[suffix]
        found |= {
            f"file, {suffix}": here(path),
            f"file, shell, {suffix}": partial(in_the_shell, folder, path),
            f"file, http, {suffix}": posted(path.read_bytes(), media_type),
            f"form, {suffix}": posted(form(("scores", path.name, path.read_bytes())), FORM),
            f"counted there, {suffix}": lambda path=path: (
                macekit.gate(counts=there.counts(path), max_advantage=LIMIT).answer
            ),
        }
        found |= of_sides(suffix) if suffix in ("csv", "jsonl", "parquet", "arrow", "npz") else {}
        found |= {f"blocks, {suffix}": here([path])} if suffix != "npz" else {}
    return found


@pytest.mark.slow
@each_case(
    "size, text, alike", [("held", False, 0.5), ("counted", True, 0.5), ("held", True, 0.0), ("counted", False, 0.0)]
)
def test_every_door_says_the_same_of_the_same_rows(
    size: str, text: bool, alike: float, tmp_path: Path, service: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns: dict[str, Any] = people(alike, rows=20)
    if text:
        columns["patient_id"] = np.array([f"p{label}" for label in columns["patient_id"]])
    wanted = [each.message for each in read(columns).cautions]
    folder = tmp_path / f"{size}-{alike}-{text}"
    folder.mkdir()

    with monkeypatch.context() as patched:
        for place in (reading, run, work) if size == "counted" else ():
            patched.setattr(place, "LARGE", 0)
        for door, ask in doors(pa.table(columns), folder, service).items():
            answer = ask()

            said = [each["message"] for each in answer["warnings"] if each["code"] == DEPENDENT]
            assert (said, answer["decision"]) == (wanted, "not applicable" if wanted else "pass"), door
