"""Lists, folders, patterns and addresses: files that are one table."""

import gzip
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.fs
import pyarrow.parquet as pq
import pytest

import macekit
from macekit.call import ARROW, ARROW_FILE, CSV, NDJSON, PARQUET, Call
from macekit.sources import reading, shards
from tests.app.http.asked import TABLES
from tests.cases import each_case
from tests.macekit.decoding.support import arrow_bytes
from tests.macekit.sources.support import NAMES, folder, table
from tests.refusing import refusing

RECORDS = table()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return folder(tmp_path / "data", RECORDS)


def counted() -> object:
    return COUNTED["counts"]


ASKED_OF_ROWS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (macekit.estimate, {"cluster": "person"}),
    (macekit.estimate, {"cluster": ["person", "model"]}),
    (macekit.estimate, {"unit": "person"}),
    (macekit.report, {"unit": "person"}),
    (macekit.compare, {"cluster": ["person", "model"], "score": ["loss", "confidence"]}),
]


def without(answer: dict[str, Any], name: str) -> dict[str, Any]:
    """An answer that does not say how the columns were named, or which were read."""
    for part in (answer, answer.get("result", {})):
        part.get("provenance", {}).pop(name, None)
    return answer


@pytest.mark.parametrize("source", [
    lambda data: data, str, lambda data: f"{data}/run=*", lambda data: f"{data}/run=*/*.parquet",
    lambda data: f"{data}/**/*.parquet", lambda data: f"{data}/run=[12]/?.parquet",
    lambda data: f"file://{data}", lambda data: [data / "run=2" / "a.parquet", data / "run=1"],
    lambda data: (str(data / "run=2"), f"{data}/run=1/*"),
])  # fmt: skip
def test_files_are_one_table_however_they_are_named(data: Path, source: Callable[[Path], object]) -> None:
    assert macekit.counts(source(data), **NAMES)["counts"] == counted()


@pytest.mark.slow
def test_few_records_are_held_and_answered_as_those_of_one_file(data: Path, tmp_path: Path) -> None:
    pq.write_table(RECORDS, tmp_path / "all.parquet")

    for question, options in (
        (macekit.estimate, {"max_advantage": 0.1}),
        (macekit.estimate, {"estimator": {"kind": "kde"}}),
        (macekit.report, {"group": "region"}),
        (macekit.risk, {"top": 5}),
        (macekit.counts, {"cells": "equal_mass"}),
    ):
        answers = (question(source, **NAMES, **options).answer for source in (data, tmp_path / "all.parquet"))
        together, alone = (without(answer, "options") for answer in answers)
        assert together == alone


@pytest.mark.slow
@pytest.mark.parametrize(("question", "names"), ASKED_OF_ROWS, ids=str)
def test_whose_a_row_is_is_read_from_several_files_as_from_one(question, names, tmp_path) -> None:
    """Wherever the columns stand: in the second file they stand in another order."""
    rows = RECORDS.slice(0, 600)
    sides = rows["is_train"].to_pylist()
    more = {
        "person": pa.array([f"{'m' if each else 'n'}{at // 3}" for at, each in enumerate(sides)]),
        "model": pa.array([at % 40 for at in range(600)]),
        "confidence": pa.compute.negate(rows["loss"]),
    }
    for name, column in more.items():
        rows = rows.append_column(name, column)
    (tmp_path / "data").mkdir()
    pq.write_table(rows.slice(0, 250), tmp_path / "data" / "a.parquet")
    order = ["model", "person", "confidence", "is_train", "loss"]
    pq.write_table(rows.slice(250).select(order), tmp_path / "data" / "b.parquet")
    pq.write_table(rows, tmp_path / "all.parquet")

    both = tmp_path / "data", tmp_path / "all.parquet"
    together, alone = (question(place, **(NAMES | names)).answer for place in both)

    for answer in (together, alone):
        answer.pop("provenance"), answer.pop("result", None)
    assert together == alone


def test_files_of_several_formats_are_one_table(tmp_path: Path) -> None:
    in_formats(tmp_path / "data", RECORDS, "parquet", "arrow", "csv", "jsonl.gz")

    together = macekit.counts(tmp_path / "data", **NAMES)

    assert (together.n_members, together.n_nonmembers) == (COUNTED.n_members, COUNTED.n_nonmembers)


PACKED: dict[str, Callable[[pa.Table], bytes]] = {
    "parquet": TABLES[PARQUET], "csv": TABLES[CSV], "csv.gz": lambda each: gzip.compress(TABLES[CSV](each)),
    "jsonl": TABLES[NDJSON], "jsonl.gz": lambda each: gzip.compress(TABLES[NDJSON](each)),
    "arrows": TABLES[ARROW], "arrow": lambda each: arrow_bytes(each, ARROW_FILE),
}  # fmt: skip


def in_formats(folder: Path, rows: pa.Table, *suffixes: str) -> list[str]:
    """The rows in as many files, each in its format."""
    folder.mkdir()
    paths, size = [], -(-len(rows) // len(suffixes))
    for at, suffix in enumerate(suffixes):
        paths.append(str(folder / f"{at}.{suffix}"))
        Path(paths[-1]).write_bytes(PACKED[suffix](rows.slice(at * size, size)))
    return paths


@pytest.mark.parametrize("truth", [False, True])
def test_labels_are_the_same_as_text_of_csv_and_as_numbers_of_another_format(
    truth: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = RECORDS.slice(0, 1200)
    numbers = pa.array([at % 3 == 0 if truth else at % 3 for at in range(1200)])
    inside = rows["is_train"] if truth else rows["is_train"].cast(pa.int64())
    rows = pa.table(
        {
            "loss": pa.compute.round(rows["loss"], 6),
            "member": inside,
            "group": numbers,
            "person": [at // 2 for at in range(1200)],
        }
    )
    mixed = in_formats(tmp_path / "mixed", rows, "parquet", "csv", "jsonl", "arrow")
    alike = in_formats(tmp_path / "alike", rows, "csv", "csv")
    asked = {"score": "loss", "member": "member"}

    for question, more in (
        (macekit.estimate, {}),
        (macekit.estimate, {"cluster": "person"}),
        (macekit.report, {"group": "group"}),
        (macekit.counts, {"group": "group"}),
    ):
        together, alone = (without(question(each, **asked, **more).answer, "options") for each in (mixed, alike))
        together.get("result", together).pop("columns", None), alone.get("result", alone).pop("columns", None)
        assert together == alone
    monkeypatch.setattr(reading, "LARGE", 1000)
    together, alone = (macekit.report(each, **asked, group="group")["groups"] for each in (mixed, alike))
    assert together == alone
    parts = [macekit.counts(each, **asked, group="group")["counts"] for each in mixed]
    assert macekit.report(counts=macekit.counts(shards=parts)["counts"])["groups"] == alone


@pytest.mark.parametrize("text", ["01", "1.0", "+1"])
def test_a_label_that_may_be_a_number_of_another_file_is_refused(text: str, tmp_path: Path) -> None:
    rows = pa.table({"loss": RECORDS["loss"][:400], "member": [at % 2 for at in range(400)], "group": [1] * 400})
    pq.write_table(rows, tmp_path / "a.parquet")
    pyarrow.csv.write_csv(rows.set_column(2, "group", [[text] * 400]), tmp_path / "b.csv")

    asked = {"score": "loss", "member": "member"}
    for question, more in ((macekit.report, {"group": "group"}), (macekit.estimate, {"cluster": "group"})):
        with pytest.raises(macekit.MaceProblem, match="write labels alike everywhere"):
            question([tmp_path / "a.parquet", tmp_path / "b.csv"], **asked, **more)
    shards = [
        macekit.counts(each, **asked, group="group")["counts"] for each in (tmp_path / "a.parquet", tmp_path / "b.csv")
    ]
    with pytest.raises(macekit.MaceProblem, match="write labels alike everywhere"):
        macekit.counts(shards=shards)


def scores(*values: Any) -> Callable[[Path], object]:
    return lambda path: pq.write_table(RECORDS.set_column(0, "loss", [[*values] * 3000]), path)


def no_scores(path: Path) -> None:
    pq.write_table(RECORDS.drop(["loss"]), path)


DAMAGED = b"PAR1" + bytes(99) + b"PAR1"


FAULTS: dict[str, tuple[str, Callable[[Path], object], str, str]] = {
    "no scores": ("c.parquet", no_scores, "unknown-name", ": score"),
    "text": ("c.parquet", scores("a"), "mixed-types", ""),
    "nulls": ("c.parquet", scores(None), "not-finite", ": score: row 0 has no value"),
    "nothing": ("c.parquet", Path.touch, "incomplete-body", ": the file is empty"),
    "no table": ("README", lambda path: path.write_text("{}"), "unsupported-media-type", ": "),
    "damage": ("c.parquet", lambda path: path.write_bytes(DAMAGED), "malformed-body", ": "),
    "a pickle": ("c.pkl", lambda path: path.write_bytes(b"\x80\x04K\x01."), "pickle", ": "),
}


@pytest.mark.slow
def test_many_records_are_counted_and_the_counts_are_asked(data, monkeypatch) -> None:
    monkeypatch.setattr(reading, "LARGE", 10_000)

    for question in (macekit.estimate, macekit.report, macekit.metrics, macekit.audit):
        together = without(question(data, **NAMES).answer, "columns")
        assert together == without(question(counts=counted()).answer, "columns")
    assert macekit.gate(data, **NAMES, max_advantage=0.4).decision == "pass"


def test_one_large_file_is_counted_as_by_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(RECORDS, tmp_path / "all.parquet")
    monkeypatch.setattr("macekit.questions.counts.work.LARGE", 10_000)
    monkeypatch.setattr(reading, "LARGE", 10_000)

    here = macekit.estimate(tmp_path / "all.parquet", **NAMES)

    assert here.advantage == macekit.estimate(counts=counted()).advantage
    assert [column.name for column in here.provenance.columns] == ["loss", "is_train"]


def test_a_question_about_each_record_is_refused_before_memory_is(data, monkeypatch) -> None:
    monkeypatch.setattr(reading, "MOST_HELD", 10_000)

    with pytest.raises(macekit.MaceProblem, match="looks at every record") as problem:
        macekit.risk(data, **NAMES)
    assert problem.value.kind == "too-large"


def test_folders_called_key_value_are_columns(tmp_path: Path) -> None:
    for inside, part in ((True, "train"), (False, "test")):
        rows = RECORDS.filter(pa.compute.equal(RECORDS["is_train"], inside)).select(["loss"])
        (tmp_path / f"split={part}").mkdir()
        pq.write_table(rows, tmp_path / f"split={part}" / "0.parquet")
        pyarrow.feather.write_feather(rows, tmp_path / f"split={part}" / "1.arrow")

    doubled = macekit.counts(tmp_path, score="loss")["counts"]

    once = macekit.counts(RECORDS, **NAMES)["counts"]
    assert doubled["members"] == [2 * each for each in once["members"]]
    assert doubled["cells"] == once["cells"]


@pytest.mark.slow
@each_case("suffix", ["parquet", "csv", "csv.gz", "jsonl", "arrows"])
def test_they_are_in_every_format_of_tables(suffix: str, tmp_path: Path) -> None:
    """Of text and of streams they were left out, and the folder was refused or read without them."""
    rng = np.random.default_rng(0)
    for user in range(15):
        for part in ("train", "test"):
            own = pa.table({"loss": rng.normal() + 0.1 * rng.normal(size=12)})
            folder = tmp_path / suffix / f"split={part}" / f"user_id=u{user}-{part}"
            folder.mkdir(parents=True)
            (folder / f"0.{suffix}").write_bytes(PACKED[suffix](own))
    for given in ({"members": tmp_path / suffix}, {"counts": macekit.counts(tmp_path / suffix)}):
        answer = macekit.gate(**given, max_advantage=0.9)
        assert answer.undecided_because == "dependent_rows"
        assert "'user_id'" in answer.warnings[0].message
    named = macekit.estimate(tmp_path / suffix, score="loss", cluster="user_id")
    assert named.advantage.clusters.numbers == [30]
    (folder / f"1.{suffix}").write_bytes(PACKED[suffix](own.append_column("split", [["a"] * 12])))
    with pytest.raises(macekit.MaceProblem, match="called like a column"):
        macekit.counts(tmp_path / suffix, score="loss")


def test_queries_of_a_comparison_may_be_sources(data: Path) -> None:
    result = macekit.compare({"first": data / "run=1", "second": f"{data}/run=2/*"}, **NAMES)

    assert {place.name for place in result.ranking} == {"first", "second"}
    for place in result.ranking:
        rows = RECORDS.slice(0, 1300) if place.name == "first" else RECORDS.slice(1300)
        alone = macekit.estimate(rows, **NAMES, confidence=0.975)
        assert place.advantage.estimate == pytest.approx(alone.advantage.estimate, abs=0.02)


@pytest.mark.parametrize(("name", "write", "kind", "said"), FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("question", ["counts", "estimate"])
def test_a_file_at_fault_is_named(data, name, write, kind, said, question) -> None:
    write(data / name)

    with pytest.raises(macekit.MaceProblem) as problem:
        getattr(macekit, question)(data, **NAMES)

    assert problem.value.kind == kind
    assert not said or f"{name}{said}" in problem.value.detail


def test_columns_that_only_look_alike_and_files_named_twice_are_refused(data: Path) -> None:
    with pytest.raises(macekit.MaceProblem, match="named twice"):
        macekit.counts([data, data / "run=1" / "a.parquet"], **NAMES)
    pq.write_table(RECORDS.rename_columns(["logit", "is_train", "region"]), data / "z.parquet")
    with pytest.raises(macekit.MaceProblem, match=r"z\.parquet: the column of score is not called as in"):
        macekit.counts(data, member="is_train")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("{}/nix*", "matches no file"),
        ("{}/none", "no regular file|no such file|cannot be read|No such file"),
        ("file://{}/none", "no such file or folder"),
        ("{}/empty", "the folder holds no file"),
        ("{}/run=1/a.parquet/*", "no file is called so"),
        ("nosuchscheme://{}", "cannot be read"),
    ],
)
def test_what_cannot_be_found_is_said(data: Path, source: str, said: str) -> None:
    (data / "empty").mkdir()

    with pytest.raises((macekit.MaceProblem, OSError), match=said):
        macekit.counts(source.format(data))


def test_a_link_to_a_folder_is_followed_only_by_name(data: Path) -> None:
    """A whole folder that holds one is refused: it may lead in a circle, or to files that were counted already."""
    (data / "circle").symlink_to(data)
    (data / "_circle").symlink_to(data)
    (data / "run=1" / "c.parquet").symlink_to(data / "run=2" / "a.parquet")

    for source in (data, f"{data}/**/*.parquet", f"{data}/circle"):
        with pytest.raises(macekit.MaceProblem, match="circle: is a link to a folder"):
            macekit.counts(source, **NAMES)
    assert macekit.counts(f"{data}/circle/run=1", **NAMES)["counts"] == counted()


def test_text_by_itself_is_still_scores_without_the_other_side() -> None:
    with pytest.raises(macekit.MaceProblem, match="nonmembers: is required"):
        macekit.estimate(["cat", "dog"])


def test_a_key_in_an_address_is_not_repeated() -> None:
    with refusing() as query, pytest.raises(macekit.MaceProblem) as problem:
        macekit.counts(f"s3://AKIAKEY:sEcReT@bucket/x?{query}")

    assert "s3://bucket/x: cannot be read" in problem.value.detail
    assert "sEcReT" not in problem.value.detail


# --- a bucket -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The query of addresses in a bucket on this machine that holds the records below ``runs``."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "testing-testing")
        patch.setenv("AWS_REGION", "us-east-1")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        s3 = pyarrow.fs.S3FileSystem(endpoint_override=f"{host}:{port}", scheme="http", allow_bucket_creation=True)
        s3.create_dir("bucket")
        local = folder(tmp_path_factory.mktemp("bucket"), RECORDS)
        pyarrow.fs.copy_files(str(local), "bucket/runs", destination_filesystem=s3)
        yield f"?endpoint_override={host}:{port}&scheme=http"
    server.stop()


@pytest.mark.slow
@pytest.mark.parametrize("address", ["s3://bucket/runs/", "s3://bucket/runs/run=*/", "s3://bucket/**/*.parquet"])
def test_a_bucket_is_counted_where_it_lies(bucket: str, address: str) -> None:
    assert macekit.counts(address + bucket, **NAMES)["counts"] == counted()


@each_case(
    "address, said",
    ("s3://bucket/none/", "s3://bucket/none/: no such file or folder"),
    ("s3://nobucket/", "s3://nobucket/: no such file or folder"),
    ("s3://bucket/runs/none*", "matches no file"),
)
def test_what_a_bucket_does_not_hold_is_said(bucket: str, address: str, said: str) -> None:
    with pytest.raises(macekit.MaceProblem, match=said.replace("*", r"\*")):
        macekit.counts(address + bucket)


def test_read_ahead_is_bounded(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ready: list[int] = []
    taken = 0

    def blocks(self: shards.Shard, call: object) -> Iterator[object]:
        for place in range(20):
            ready.append(place - taken)
            yield object()

    monkeypatch.setattr(shards.Shard, "blocks", blocks)
    for _ in shards.shards_of([data / "run=2"]).blocks(Call("counts")):
        taken += 1
    assert taken == 20
    assert max(ready) <= 2


def test_a_reader_that_somebody_leaves_ends_by_itself(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A collector may close it while a thread starts, which holds the lock that joining another one takes."""
    monkeypatch.setattr(ThreadPoolExecutor, "shutdown", lambda self: pytest.fail("a pool is shut down"))
    before = threading.active_count()
    left = shards.shards_of([data]).blocks(Call("counts", query=(*NAMES.items(),)))
    next(left)

    left.close()  # type: ignore[attr-defined]

    patience = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < patience:
        time.sleep(0.01)
    assert threading.active_count() == before


COUNTED = macekit.counts(RECORDS, **NAMES)
