"""One question, one answer: here, on a server, and as JSON by hand, to the last bit, whatever the records came in."""

import gzip
import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import macekit
from estimators import Counts, Scores
from macekit.call import ARROW_FILE, CSV, NDJSON, NPY, NPZ, PARQUET
from macekit.client.columns import column
from tests.app.running import Running
from tests.cases import each_case
from tests.macekit.client.worlds import CONTAINERS, FRAMES, Tensor, as_lists, by_hand, by_side, shuffled, world
from tests.macekit.decoding.support import read, table_bytes

ASKED: dict[str, Any] = {
    "prior": 0.3, "max_advantage": 0.1, "metric": {"preset": "f_beta", "beta": 2}, "seed": 3,
}  # fmt: skip


def whole(side: NDArray[Any]) -> NDArray[Any]:
    return np.round(2 * side).astype(np.int64)


KINDS: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "floats": lambda side: side,
    "single floats": lambda side: side.astype(np.float32),
    "integers": whole,
    "small integers": lambda side: whole(side).astype(np.int8),
    "booleans": lambda side: side > 0.4,
    "text": lambda side: np.array([f"grade {grade}" for grade in whole(side)]),
}


def numbers(answer: Mapping[str, Any]) -> dict[str, Any]:
    """All of an answer but what its columns are called: the digest of the records is among it."""
    assert "input_sha256" in answer
    return {name: value for name, value in answer.items() if name != "columns"}


DECIMALS: dict[str, Callable[[list[Decimal]], Any]] = {
    "Arrow": pa.array,
    "Polars": pl.Series,
    "pandas": pd.Series,
    "array": lambda values: np.array(values, object),
    "list": list,
    "tuple": tuple,
}


@each_case("step", ["0.01", "1"])
def test_decimals_are_the_same_numbers_whatever_they_come_in(step: str) -> None:
    sides = [[Decimal(round(100 * value)) * Decimal(step) for value in side] for side in world()]
    plain = [[float(value) if "." in step else int(value) for value in side] for side in sides]
    wanted = numbers(macekit.counts(*plain).answer)

    for kind, made in DECIMALS.items():
        assert numbers(macekit.counts(*map(made, sides)).answer) == wanted, kind
    frame = pd.DataFrame(
        {"score": sides[0] + sides[1], "member": [Decimal(1)] * len(sides[0]) + [Decimal(0)] * len(sides[1])}
    )
    assert numbers(macekit.counts(frame).answer)["input_sha256"] == wanted["input_sha256"]
    with pytest.raises(macekit.MaceProblem, match="record 0 is NaN"):
        macekit.counts([Decimal("NaN"), *sides[0]], sides[1])


@pytest.mark.slow
@each_case("kind", KINDS)
def test_scores_of_every_type_in_every_container(kind: str, service: Running, mace: macekit.Mace) -> None:
    """A container is read before anything is asked or sent: every one is counted and digested, one asked."""
    sides = [KINDS[kind](side) for side in world()]
    asked = ASKED | ({} if kind == "floats" else {"metric": "accuracy"})
    wanted = by_hand(service, "advantage", **as_lists(*sides), **asked)
    counted = numbers(by_hand(service, "counts", **as_lists(*sides)))

    for client in (macekit, mace):
        assert client.estimate(*sides, **asked).answer == wanted
    for name, container in CONTAINERS.items():
        given = [container(side) for side in sides]
        for client in (macekit, mace) if kind == "floats" else (macekit,):
            assert numbers(client.counts(*given).answer) == counted, name


def vectors() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(0)
    members, nonmembers = rng.normal(0.5, 1, (120, 2)), rng.normal(0, 1, (120, 2))
    return members.astype(np.float32).astype(np.float64), nonmembers.astype(np.float32).astype(np.float64)


def test_vectors_are_learned_from(service: Running, mace: macekit.Mace) -> None:
    members, nonmembers = vectors()
    few = {"kind": "learned", "learners": ["quadratic", "boxes"]}
    wanted = by_hand(service, "advantage", **as_lists(members, nonmembers), estimator=few)

    for client in (macekit, mace):
        assert client.estimate(members.tolist(), nonmembers, estimator=few).answer == wanted


def test_vectors_in_every_container_are_the_columns_of_json() -> None:
    members, _ = vectors()
    wanted = read(json.dumps({"members": members.tolist()}).encode()).samples[""].members
    assert isinstance(wanted, np.ndarray)

    for given in (
        *(members, members.tolist(), list(members), Tensor(members), members.astype(np.float32)),
        *([tuple(row) for row in members], [list(row) for row in members]),
    ):
        found = column(given, "members")

        assert isinstance(found, np.ndarray)
        assert found.dtype == wanted.dtype
        assert np.array_equal(found, wanted)


def sides_of_table() -> dict[str, list[float]]:
    return as_lists(**by_side(shuffled(), "loss", "is_train"))


@pytest.mark.slow
def test_tables_of_every_kind(service: Running, mace: macekit.Mace) -> None:
    """A frame is read before anything is sent: one is sent, and one whose rows come in pieces."""
    columns = {"score": "loss", "member": "is_train"}
    wanted = by_hand(service, "advantage", **sides_of_table(), **ASKED)
    counted = numbers(by_hand(service, "counts", **sides_of_table()))

    for client in (macekit, mace):
        assert client.estimate(pd.DataFrame(shuffled()), **columns, **ASKED).answer == wanted
    for name, frame in FRAMES.items():
        for client in (macekit, mace) if name in ("pandas", "arrow reader") else (macekit,):
            assert numbers(client.counts(frame(shuffled()), **columns).answer) == counted, name


@pytest.mark.slow
def test_the_risk_of_a_row_stands_at_the_number_of_that_row(mace: macekit.Mace) -> None:
    columns = shuffled()
    names = {"score": "loss", "member": "is_train", "group": "age_band", "unit": "household"}
    units = by_side(columns, "household", "is_train")
    alone = macekit.risk(**by_side(columns, "loss", "is_train"), units=units, targets=columns["loss"], seed=1)
    expected = macekit.risk(columns, **names, seed=1)

    assert len(expected.groups) == 3
    by_row = pd.DataFrame(expected.records).set_index("index").sort_index()
    assert by_row["risk"].tolist() == pytest.approx(alone.records.risk, nan_ok=True)
    for name, frame in FRAMES.items():
        for client in (macekit, mace) if name in ("pandas", "arrow reader") else (macekit,):
            assert client.risk(frame(columns), **names, seed=1).answer == expected.answer, name


KINDS_OF_FILES = {
    ".csv": CSV, ".csv.gz": CSV, ".jsonl": NDJSON, ".parquet": PARQUET, ".arrow": ARROW_FILE, ".npy": NPY,
    ".npz": NPZ,
}  # fmt: skip


def written(folder: Path, suffix: str) -> Path:
    path = folder / f"scores{suffix}"
    if suffix == ".json":
        path.write_text(json.dumps({**sides_of_table(), "prior": 0.9}))
    else:
        data = table_bytes(shuffled(), KINDS_OF_FILES[suffix])
        path.write_bytes(gzip.compress(data) if suffix.endswith(".gz") else data)
    return path


@pytest.mark.slow
@each_case("metrics", [["precision", "recall"], [{"preset": "f_beta", "beta": 2.0}]])
def test_files_of_every_kind(metrics, tmp_path, service, mace) -> None:
    sides = sides_of_table()
    asked: dict[str, Any] = {"metrics": metrics, "prior": 0.3, "confidence": 0.9}
    wanted = by_hand(service, "metrics", **sides, **asked)
    said = isinstance(metrics[0], str)  # what a query string cannot say goes as JSON, which has no columns
    for suffix in (*KINDS_OF_FILES, ".json"):
        path = written(tmp_path, suffix)
        names = {} if suffix == ".json" else {"score": "loss", "member": "is_train"}

        here, there = macekit.metrics(path, **names, **asked), mace.metrics(str(path), **names, **asked)

        # an Arrow file goes as JSON, too
        for found, posted in ((here, said), (there, said and suffix != ".arrow")):
            options = wanted["provenance"]["options"] | (names if posted else {})
            read = found.answer["provenance"]["columns"]
            by_field = {name: name for name in sides}
            assert {each["role"]: each["name"] for each in read} == (names or by_field), suffix
            source = wanted["provenance"] | {"options": options, "columns": read}
            assert found.answer == wanted | {"provenance": source}, suffix
        assert here.source == path.name


def test_the_two_sides_may_lie_in_a_file_each_as_numpy_saves_them(tmp_path: Path, mace: macekit.Mace) -> None:
    members, nonmembers = world()
    np.save(tmp_path / "train.npy", members)
    np.save(tmp_path / "test.npy", nonmembers)

    found = mace.estimate(tmp_path / "train.npy", tmp_path / "test.npy")

    assert found.answer == macekit.estimate(members, nonmembers).answer


@pytest.mark.slow
def test_counts_are_taken_as_they_were_answered_as_objects_and_as_plain_values(service, mace) -> None:
    members, nonmembers = world()
    counted = macekit.counts(members, nonmembers)
    wanted = by_hand(service, "advantage", counts=counted["counts"], prior=0.2)

    held = Counts.from_dict(counted["counts"])
    for client in (macekit, mace):
        for each in (counted["counts"], held, held.to_dict()):
            assert client.estimate(counts=each, prior=0.2).answer == wanted


def test_counts_are_asked_from_the_file_that_they_were_written_to(mace: macekit.Mace, tmp_path: Path) -> None:
    path, asked = tmp_path / "counts.json", {"max_advantage": 0.9, "prior": 0.2}
    counted = macekit.counts(*world())
    counted.to_json(path)

    wanted = macekit.gate(counts=counted["counts"], **asked)
    for client in (macekit, mace):
        found = client.gate(path, **asked)
        assert found["limits"] == wanted["limits"]
        assert found["provenance"]["input_sha256"] == counted["input_sha256"]
        assert found["provenance"]["columns"] == counted["columns"]

    written = counted.to_dict()
    for other, words in (
        ({"cluster": [1]}, "counts do not say whose a row is"),
        ({"members": [0.5]}, "counts: were sent together with scores"),
        ({"n_member": 5}, "a field is not known"),
        ({"columns": [{"role": [1], "name": "s", "kind": "numbers", "distinct": None}]}, "a field is not known"),
        ({"columns": [written["columns"][0] | {"notes": [{}]}]}, "a field is not known"),
    ):
        path.write_text(json.dumps(written | other))
        with pytest.raises(macekit.MaceProblem, match=words):
            macekit.gate(path, **asked)


def test_shards_merge_to_what_one_pass_counts(mace: macekit.Mace) -> None:
    members, nonmembers = world()
    shards = [macekit.counts(members[:150], nonmembers[:90]), macekit.counts(members[150:], nonmembers[90:])]
    whole = macekit.counts(members, nonmembers)

    merged = [client.counts(shards=[each["counts"] for each in shards]) for client in (macekit, mace)]

    assert [each.answer for each in merged] == [whole.answer | {"columns": []}] * 2


@pytest.mark.slow
def test_queries_are_compared_by_name_as_columns_and_as_counts(service: Running, mace: macekit.Mace) -> None:
    sides = {"loss": world(), "margin": world(seed=5)}
    queries = {name: as_lists(*each) for name, each in sides.items()}
    wanted = by_hand(service, "compare", queries=queries, against="loss", prior=0.4)
    inside = np.repeat([True, False], list(map(len, sides["loss"])))
    table = {name: np.concatenate(each) for name, each in sides.items()} | {"member": inside}

    for client in (macekit, mace):
        for given in (queries, sides, table):
            assert client.compare(given, against="loss", prior=0.4).answer == wanted


TWO = {"before": world(), "after": world(seed=5)}


@pytest.fixture(scope="module")
def queries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The same two queries in every form that one may have."""
    folder = tmp_path_factory.mktemp("queries")
    found: dict[str, dict[str, Any]] = {}
    for name, (members, nonmembers) in TWO.items():
        inside = np.repeat([True, False], [len(members), len(nonmembers)])
        frame = pd.DataFrame({"loss": np.concatenate([members, nonmembers]), "kept": inside})
        counts = macekit.counts(members, nonmembers)
        counts.to_json(folder / f"{name}.json")
        frame.to_csv(folder / f"{name}.csv", index=False)
        frame.to_parquet(folder / f"{name}.parquet")
        (folder / name).mkdir()
        for part in (0, 1):
            macekit.counts(members[part::2], nonmembers[part::2]).to_json(folder / name / f"{part}.json")
        for kind, form in {
            "csv": folder / f"{name}.csv",
            "parquet": str(folder / f"{name}.parquet"),
            "frame": frame,
            "polars": pl.from_pandas(frame).lazy(),
            "arrow": pa.Table.from_pandas(frame),
            "counts file": folder / f"{name}.json",
            "parts of counts": folder / name,
            "counts": counts,
        }.items():
            found.setdefault(kind, {})[name] = form
    return found


@each_case("kind", ["csv", "parquet", "frame", "polars", "arrow", "counts file", "parts of counts", "counts"])
def test_a_query_may_be_a_table_a_file_or_kept_counts(kind: str, queries: dict[str, dict[str, Any]]) -> None:
    counted = "counts" in kind
    wanted = {name: {"counts": each["counts"]} for name, each in queries["counts"].items()} if counted else TWO

    found = macekit.compare(queries[kind], **({} if counted else {"score": "loss", "member": "kept"}))

    expected = macekit.compare(wanted)
    for part in ("maximum", "ranking", "differences"):
        assert found.answer[part] == expected.answer[part]


def test_each_side_may_be_a_frame_of_which_one_column_is_the_score() -> None:
    members, nonmembers = world()
    sides = [pd.DataFrame({"loss": side, "row": range(len(side))}) for side in (members, nonmembers)]

    assert macekit.estimate(*sides, score="loss").answer == macekit.estimate(members, nonmembers).answer
    for options, words in (({}, "score=NAME"), ({"score": "other"}, "0 columns are called so")):
        with pytest.raises(macekit.MaceProblem, match=words):
            macekit.estimate(*sides, **options)
    with pytest.raises(macekit.MaceProblem, match="text, and no path"):
        macekit.estimate(sides[0].to_csv())


@each_case("role", ["cluster", "unit", "group"])
def test_labels_of_rows_beside_tables_of_their_own_are_refused_and_not_left_out(role: str) -> None:
    """They were, and the interval was that of rows that are independent."""
    members, nonmembers = world()
    table = {"score": [*members, *nonmembers], "member": [1] * len(members) + [0] * len(nonmembers)}
    frame = pd.DataFrame({**table, "person": np.arange(len(table["score"])) // 4})

    with pytest.raises(macekit.MaceProblem, match=f"{role}: labels of rows are not read of several tables"):
        macekit.compare({"before": frame, "after": frame}, **{role: "person"})


@pytest.mark.slow
def test_releases_and_steps_are_asked_by_their_queries(service: Running, mace: macekit.Mace) -> None:
    first, second, third = world(), world(seed=5), world(seed=6)
    flat = {"a/loss": first, "a/margin": second, "b": third}
    nested = {"a": {"loss": first, "margin": Scores.of(*second)}, "b": third}
    posted = {name: as_lists(*sides) for name, sides in flat.items()}
    releases = by_hand(service, "compare-releases", queries=posted, against="b", max_advantage=0.3)
    series = by_hand(service, "series", queries=posted, max_advantage=0.3)

    for client in (macekit, mace):
        for given in (flat, nested, posted):
            assert client.compare_releases(given, against="b", max_advantage=0.3).answer == releases
            assert client.advantage_series(given, max_advantage=0.3).answer == series


SAMPLE = as_lists(*world())


@pytest.mark.slow
@each_case(
    "operation, asked",
    ("plan", {"expected": 0.3, "width": 0.2}),
    ("audit", {**SAMPLE, "claimed_epsilon": np.float64(0.5), "direction": "high"}),
    ("gate", {**SAMPLE, "max_advantage": 0.9, "max_epsilon": 0.01}),
)
def test_a_plan_a_promise_and_limits(operation, asked, service, mace) -> None:
    wanted = by_hand(service, operation, **asked)

    for client in (macekit, mace):
        found = getattr(client, operation)(**asked)
        assert found.answer == wanted
        assert operation != "gate" or found.decision == wanted["decision"] == "fail"


@pytest.mark.slow
@each_case("operation", ["report", "risk"])
def test_groups_are_labels_beside_the_records(operation: str, service: Running, mace: macekit.Mace) -> None:
    members, nonmembers = world()
    groups = ["a", "b"] * ((len(members) + len(nonmembers)) // 2) + ["a"]
    name = {"risk": "individual-risk"}.get(operation, operation)
    wanted = by_hand(service, name, **SAMPLE, groups=groups)
    cut = len(members)
    for labels in (list, pd.Series, pd.Categorical, lambda given: pa.array(given).dictionary_encode()):
        beside = {"members": labels(groups[:cut]), "nonmembers": labels(groups[cut:])}
        assert getattr(mace, operation)(members, nonmembers, groups=labels(groups)).answer == wanted
        assert getattr(macekit, operation)(members, nonmembers, groups=beside).answer == wanted


@pytest.mark.slow
def test_a_run_of_batches_that_a_server_keeps_nothing_of(mace: macekit.Mace) -> None:
    """A state that was answered here goes on there, and the other way round."""
    members, nonmembers = world()
    answers = []
    for turns in ((macekit, mace), (mace, macekit), (mace, mace)):
        first = turns[0].gate(members[:100], nonmembers[:100], max_advantage=0.1, anytime=True)
        second = turns[1].gate(members[100:], nonmembers[100:], anytime=True, state=first.state)
        answers.append(second.answer)

    assert answers[0] == answers[1] == answers[2]
    assert answers[0]["anytime"]["looks"] == 2


@each_case("name", ["compare", "compare_releases", "advantage_series", "frontier"])
def test_several_columns_of_rows_that_depend_do_not_pass(name: str) -> None:
    """A pass stood beside the warning, of all but ``compare``."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(240), 12)
    own = np.repeat(rng.normal(size=240), 12)
    columns = {each: own + 0.3 * rng.normal(size=len(person)) for each in ("a", "b")}
    table = pd.DataFrame({"member": person % 2, **columns})
    asked = {"score": ["a", "b"], "max_advantage": 0.35, **({"utility": [1, 2]} if name == "frontier" else {})}

    seen = getattr(macekit, name)(table.assign(user_id=person), **asked)
    judged = seen["steps"][0] if name == "frontier" else seen  # its second candidate is then not tried
    assert (judged["decision"], judged["undecided_because"]) == ("not applicable", "dependent_rows")
    assert getattr(macekit, name)(table, **asked).decision == "pass"


@each_case("operation", ["frontier", "advantage_series", "compare_releases", "compare"])
def test_what_the_counts_of_one_query_showed_is_held_against_it_alone(
    operation: str, service: Running, mace: macekit.Mace
) -> None:
    """A client sent what all showed in one list, and the repeats of one candidate were those of the other, too."""
    rng = np.random.default_rng(4)
    calm = [rng.normal(size=3000) for _ in "ab"]
    repeated = [np.repeat(rng.normal(size=300), 10) for _ in "ab"]
    counted = {name: macekit.counts(*sides) for name, sides in (("odd", repeated), ("calm", calm))}
    asked: dict[str, Any] = {"max_advantage": 0.2}
    if operation == "frontier":
        asked |= {"utility": [1, 2], "in_order": False}
    one, other = (getattr(client, operation)(counted, **asked).answer for client in (macekit, mace))
    given = {name: {"counts": each.counts, "warnings": each.answer.get("warnings")} for name, each in counted.items()}
    sent = by_hand(service, operation.removeprefix("advantage_").replace("_", "-"), queries=given, **asked)

    assert [each["code"] for each in counted["odd"].answer["warnings"]] == ["repeated_scores"]
    assert "warnings" not in counted["calm"].answer
    by_name = {name: {key: value for key, value in each.items() if value is not None} for name, each in given.items()}
    assert one == other == sent == getattr(macekit, operation)(by_name, **asked).answer
    if operation == "frontier":
        assert one["best"] == "calm"
