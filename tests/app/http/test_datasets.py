"""Datasets that a request names: below the folder of the data, or its address in a bucket, and nothing beside it."""

import csv
import io
import json
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pyarrow.fs
import pytest

import macekit
from app.workers import privileges
from app.workers.forkserver import Datasets
from macekit.call import PARQUET, Body, Call
from macekit.operations import perform
from macekit.problems import Problem
from macekit.sources.shards import shards_below
from tests.app.http.asked import as_parquet, ok, post
from tests.app.running import Answer, Running, running, until
from tests.cases import each_case
from tests.macekit.sources.support import NAMES, table

pytestmark = pytest.mark.usefixtures("place")
RECORDS = table()
NO_DRIFT = ("provenance", "result")
"""What says how a question was written, beside what was answered."""


def ask(service: Running, question: str, name: str, body: bytes = b"", **options: object) -> Answer:
    query = urlencode({"data": name, **options})
    return service.ask(f"/v1/{question}?{query}", "POST", body)


def plain(answer: dict[str, object]) -> dict[str, object]:
    return {name: part for name, part in answer.items() if name not in NO_DRIFT}


@pytest.mark.slow
@pytest.mark.parametrize("question", ["advantage", "report", "metrics", "audit", "individual-risk", "counts"])
def test_a_dataset_is_answered_as_the_same_records_sent(service: Running, question: str) -> None:
    query = urlencode({**NAMES, "prior": 0.2} if question != "counts" else NAMES)
    expected = plain(ok(post(service, f"/v1/{question}?{query}", as_parquet(RECORDS), PARQUET)))
    expected.pop("columns", [])
    names = ["run=*", "run=*/", "run=*/**", "all.csv", "inside.csv"]

    for name in names if question == "advantage" else ["run=*", "inside.csv"]:
        found = plain(ok(service.ask(f"/v1/{question}?{query}&{urlencode({'data': name})}", "POST")))
        assert isinstance(found.pop("columns", []), list)
        assert found == expected, name


def test_its_columns_its_rows_and_other_tables_are_read_where_one_file_is_named(service: Running) -> None:
    columns = ask(service, "columns", "run=1/a.parquet")
    rows = service.ask(
        "/v1/individual-risk?data=all.csv&score=loss&member=is_train", "POST", headers={"Accept": "text/csv"}
    )

    assert [each["name"] for each in columns.json()["columns"]] == ["loss", "is_train", "region"]
    assert len(list(csv.reader(io.StringIO(rows.body.decode())))) == 1 + len(RECORDS)
    assert ask(service, "advantage", "kept.json").status == 200
    assert ask(service, "columns", "run=1").json()["detail"].startswith("data: names 2 files")
    assert ask(service, "synthetic", "run=1").json()["detail"].startswith("data: names 2 files")


OUTSIDE = [
    "../outside.csv", "run=1/../../outside.csv", "run=1/../all.csv", "links/outside.csv", "links/up/outside.csv",
    "links/*.csv", "links/**", "links", "links/*/outside.csv", "{}/outside.csv", "{}/data/all.csv",
    "file://{}/outside.csv", "//etc/passwd", "~/outside.csv", "./all.csv", "all.csv\0", "%2e%2e/outside.csv",
    "..\\outside.csv", "s3://bucket/outside.csv", ".hidden.csv", "pipe", "", "/", ".", "none.csv", "n*ne",
    "x" * 5000, "[",
]  # fmt: skip


@each_case("name", OUTSIDE)
def test_nothing_else_is_opened(service: Running, place: Path, name: str) -> None:
    answer = ask(service, "advantage", name.format(place), **NAMES)

    assert answer.status == 422
    assert answer.json()["type"] in ("urn:mace:problem:bad-option", "urn:mace:problem:bad-records")
    assert str(place) not in answer.body.decode().replace(name.format(place), "")


def test_a_folder_whose_name_only_begins_alike_is_outside(tmp_path: Path) -> None:
    """Asked here and not of a service, whose workers Landlock would keep from opening it."""
    for folder in ("data", "data-private"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "scores.csv").write_text("score,member\n1,1\n")
    (tmp_path / "data/near.csv").symlink_to(tmp_path / "data-private/scores.csv")
    data = str(tmp_path / "data")

    assert len(shards_below(data, "scores.csv").shards) == 1
    with pytest.raises(Problem, match="leads out of the folder"):
        shards_below(data, "near.csv")


@pytest.mark.slow
def test_a_worker_can_open_nothing_beside_it_even_if_the_checks_were_passed(place: Path, tmp_path: Path) -> None:
    """A path that is resolved by the system, links and all: the kernel refuses what lies outside, where it can."""
    if not privileges.landlock_version():
        pytest.skip("this kernel has no Landlock")
    blind = (
        "import os\n"
        "from macekit.sources.beneath import Beneath\n"
        "Beneath._open = lambda self, path, how: os.open(f'{self._place}/{path}', how)\n"
        "from macekit.operations import perform\n"
    )
    (tmp_path / "blind.py").write_text(blind)
    serve = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import app.workers.pool as pool; " + (
        "pool.Pool.__init__.__defaults__ = ('blind:perform',); from app.cli import main; sys.exit(main(['serve']))"
    )
    with running(tmp_path, ("-c", serve), data=str(place / "data")) as service:
        inside = ask(service, "advantage", "all.csv", **NAMES)
        outside = ask(service, "advantage", "links/outside.csv", **NAMES)

    assert inside.status == 200
    assert "Permission denied" in outside.json()["detail"]


@each_case(
    "name, status",
    ("**/" * 400 + "x", 400),
    ("**/" * 1100 + "x", 400),
    ("**/" * 31 + "x", 422),
    ("*a" * 127 + "/x", 422),
    ("*a" * 200, 422),
    ("a/" * 31 + "x", 422),
)
def test_a_pattern_of_many_parts_holds_no_worker(service: Running, name: str, status: int) -> None:
    began = time.monotonic()
    answer = ask(service, "advantage", name, **NAMES)

    assert answer.status == status
    assert "need at most 32 parts" in answer.json()["detail"] or status == 422
    assert time.monotonic() - began < 2


@each_case(
    "query, body, said",
    ("data=all.csv", b"{}", "a body came beside it"),
    ("data=all.csv&data=run=1", b"", "is given twice"),
    ("data=all.csv&score=none", b"", "no column of the 3 has this name"),
    ("data=run=*&score=none", b"", "no column of the 4 has this name"),
    ("data=run=*&score=loss&member=is_train&prior=2", b"", "prior"),
    ("data=run=*&score=loss&member=is_train&nonsense=2", b"", "a field is not known"),
)
def test_what_is_wrong_with_a_question_about_a_dataset_is_said(
    service: Running, query: str, body: bytes, said: str
) -> None:
    answer = service.ask(f"/v1/advantage?{query}", "POST", body)

    assert answer.status == 422
    assert said in answer.json()["detail"]


@pytest.mark.slow
def test_a_service_without_data_says_so(narrow: Running) -> None:
    answer = ask(narrow, "advantage", "all.csv")

    assert answer.status == 422
    assert "MACE_DATA is not set" in answer.json()["detail"]


def test_python_names_a_dataset_of_a_service(service: Running) -> None:
    mace = macekit.Mace(f"http://127.0.0.1:{service.port}")

    result = mace.estimate(macekit.Dataset("run=*"), **NAMES, metric="accuracy", max_advantage=0.1)

    here = macekit.estimate(RECORDS, **NAMES, metric="accuracy", max_advantage=0.1)
    assert plain(dict(result.answer)) == plain(dict(here.answer))
    with pytest.raises(macekit.MaceProblem, match="is a service's"):
        macekit.estimate(macekit.Dataset("run=*"), **NAMES)
    with pytest.raises(macekit.MaceProblem, match="holds its own"):
        mace.report(macekit.Dataset("run=*"), **NAMES, groups=["a"])


# --- a bucket -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bucket(place: Path) -> Iterator[str]:
    """The address of the data in a bucket on this machine."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        at = {"endpoint_override": f"{host}:{port}", "scheme": "http", "region": "us-east-1"}
        s3 = pyarrow.fs.S3FileSystem(access_key="key", secret_key="secret", allow_bucket_creation=True, **at)
        s3.create_dir("private-bucket")
        for part in ("run=1/a", "run=1/b", "run=2/a"):
            pyarrow.fs.copy_files(
                str(place / "data" / f"{part}.parquet"),
                f"private-bucket/inner/{part}.parquet",
                destination_filesystem=s3,
            )
        with s3.open_output_stream("private-bucket/outside.csv") as file:
            file.write(b"score,member\n1,1\n2,0\n")
        yield f"s3://private-bucket/inner?{urlencode(at)}"
    finally:
        server.stop()


@pytest.mark.slow
def test_a_dataset_in_a_bucket_is_answered_and_nothing_beside_it(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    counts = macekit.counts(RECORDS, **NAMES)["counts"]

    with running(tmp_path, data=bucket) as service:
        for name in ("run=*", "run=*/*.parquet", "**"):
            assert ask(service, "counts", name, **NAMES).json()["counts"] == counts
        one = ask(service, "advantage", "run=2/a.parquet", **NAMES)
        refusals = [
            ask(service, "advantage", name, **NAMES)
            for name in ("../outside.csv", "outside.csv", "none", "run=3/*", "/", "run=1")
        ]
        log = until(lambda: "workers confined" in service.logged() and service.logged())

    assert one.status == 200
    assert [answer.status for answer in refusals] == [422] * 5 + [200]
    assert not any("private-bucket" in answer.body.decode() for answer in refusals)
    given_up = next(json.loads(line) for line in log.splitlines() if "workers confined" in line)["given_up"]
    assert not {"network", "tcp"} & {*given_up}


def test_an_address_that_cannot_be_read_is_not_repeated(closed_bucket: str) -> None:
    call = Call("advantage", query=(("data", "a.csv"),))

    answer = Datasets(f"s3://private-bucket/inner?{closed_bucket}").perform(perform, call, Body.of(b""))

    assert answer.status == 422
    assert json.loads(bytes(answer.body))["detail"] == "a.csv: cannot be read"
