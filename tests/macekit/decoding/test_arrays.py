"""Arrays of theory: whatever they come in, the same columns; and what cannot be one is said once, by its field."""

import json
from typing import Any

import numpy as np
import pyarrow as pa

from macekit.call import ARROW, ARROW_FILE, CSV, JSON, NPY, PARQUET
from macekit.catalogue import ARRAYS, BY_NAME, SIDED
from macekit.decoding.body import DecodedBody
from macekit.schemas.by_operation import QUESTIONS
from macekit.schemas.query_string import kinds, of_table, takes_arrays
from tests.cases import each_case
from tests.macekit.decoding.support import SECRET, arrow_bytes, npy_bytes, packed, read, refusal, table_bytes

POINTS = np.random.default_rng(0).normal(size=(6, 3))
CITIES = ["Oslo", "Bergen", "Oslo", "Tromsø", "Oslo, old", "Bergen"]
LOSSES = np.array([0.1, 0.2, 0.3, 0.7]), np.array([0.9, 0.8, 0.5])
GAUSSIAN, MIP, MIS, FITTED = "theory/pmp-gaussian", "theory/mip", "theory/mis", "theory/mis-overfitting"
TABLES = (CSV, NPY, ARROW, ARROW_FILE, PARQUET)


def asked(operation: str, **body: Any) -> DecodedBody:
    return read(json.dumps(body).encode(), JSON, operation=operation)


def columns(array: np.ndarray, media_type: str, **more: Any) -> bytes:
    return table_bytes({**{f"x{at}": array[:, at] for at in range(array.shape[1])}, **more}, media_type)


def test_rows_of_numbers_in_json_are_a_matrix_and_the_rest_is_options() -> None:
    found = asked(GAUSSIAN, points=POINTS.tolist(), clip=1, delta=1e-5, sigma=None)

    assert found.arrays["points"].dtype == np.float64  # type: ignore[union-attr]
    assert np.array_equal(found.arrays["points"], POINTS)
    assert found.options == {"clip": 1, "delta": 1e-5, "sigma": None}
    assert not found.samples
    assert not found.textual


def test_integers_stay_integers_and_text_stays_text() -> None:
    tallies = asked(MIS, tallies=[3, 0, 9]).arrays["tallies"]
    values = asked(MIS, values=CITIES).arrays["values"]

    assert isinstance(tallies, np.ndarray)
    assert (tallies.dtype, tallies.tolist()) == (np.int64, [3, 0, 9])
    assert values == CITIES


def test_the_careful_reader_makes_the_same_of_it() -> None:
    text = json.dumps({"points": POINTS.tolist(), "query": "mean"})

    plain = read(text.encode(), operation=GAUSSIAN)
    careful = read(text.replace("mean", "[mean]").encode(), operation=GAUSSIAN)

    assert np.array_equal(plain.arrays["points"], careful.arrays["points"])


def test_null_is_as_good_as_nothing() -> None:
    assert set(asked(MIS, values=["a", "b"], tallies=None).arrays) == {"values"}


@each_case(
    "operation, needed, more",
    *((name, {}, {"points": [[1.0, 2.0]]}) for name in ("advantage", "theory/together", "theory/dp", "plan")),
    ("theory/mip-finite", {"laws": [[0.5, 0.5]] * 2}, {"points": [[1.0, 2.0]]}),
    *((name, {}, {"members": [1.0]}) for name in ("theory/dp", "plan")),
    (MIS, {"values": ["a"]}, {"members": [1.0]}),
)
def test_an_array_or_a_sample_of_another_question_is_an_unknown_field(operation, needed, more) -> None:
    options = asked(operation, **needed, **more).options

    assert options.keys() == more.keys()
    assert all(np.array_equal(options[name], more[name]) for name in more)  # type: ignore[arg-type]


def test_together_is_read_as_an_audit_is() -> None:
    table = table_bytes({"score": [0.1, 0.2], "member": [1, 0]}, CSV)

    found = read(table, CSV, operation="theory/together", claimed_epsilon="1")

    assert np.array_equal(found.samples[""].members, [0.1])  # type: ignore[arg-type]
    assert found.options == {"claimed_epsilon": "1"}


@each_case("media_type", TABLES)
@each_case("encoding", ["identity", "gzip", "zstd"])
def test_columns_side_by_side_are_a_matrix(media_type: str, encoding: str) -> None:
    body = packed(columns(POINTS, media_type), encoding)

    found = read(body, media_type, encoding, GAUSSIAN, clip="1", sigma="0.5")

    assert np.array_equal(found.arrays["points"], POINTS)
    assert found.options == {"clip": "1", "sigma": "0.5"}
    assert found.textual


@each_case("media_type", TABLES)
def test_columns_are_taken_in_the_order_they_are_named_and_one_is_rows_of_one_number(media_type: str) -> None:
    body = columns(POINTS, media_type, who=np.arange(6))

    found = read(body, media_type, operation=GAUSSIAN, column="x2, x0")
    single = read(columns(POINTS[:, :1], media_type), media_type, operation=GAUSSIAN)

    assert np.array_equal(found.arrays["points"], POINTS[:, [2, 0]])
    assert found.options == {}
    assert np.array_equal(single.arrays["points"], POINTS[:, :1])


@each_case("media_type", TABLES)
def test_a_column_of_text_is_a_list_of_text(media_type: str) -> None:
    body = table_bytes({"id": np.arange(6), "city": CITIES}, media_type)

    found = read(body, media_type, operation=MIS, column="city", sizes="10,20")

    assert found.arrays == {"values": CITIES}
    assert found.options == {"sizes": "10,20"}


@each_case("media_type", TABLES)
def test_every_array_may_have_columns_of_its_own(media_type: str) -> None:
    body = columns(POINTS[:, [0, 1, 2, 0]], media_type, who=np.array([7, 7, 8, 8, 9, 9]))

    found = read(body, media_type, operation=MIP, before="x0,x1", after="x2,x3", record="who")

    assert set(found.arrays) == {"before", "after", "record"}
    assert np.array_equal(found.arrays["before"], POINTS[:, :2])
    assert np.array_equal(found.arrays["after"], POINTS[:, [2, 0]])
    assert found.arrays["record"].tolist() == [7, 7, 8, 8, 9, 9]  # type: ignore[union-attr]


@each_case("media_type", [ARROW, ARROW_FILE, PARQUET])
@each_case("kind", [pa.list_(pa.float64(), 3), pa.list_(pa.float64()), pa.large_list(pa.float32())])
def test_columns_called_like_arrays_are_those_and_may_hold_rows(media_type: str, kind: pa.DataType) -> None:
    rows = np.round(POINTS, 1)
    before, after = (pa.array(points.tolist(), kind) for points in (rows, rows + 1))
    table = pa.table({"before": before, "after": after, "record": CITIES, "other": np.zeros(6)})

    found = read(arrow_bytes(table, media_type), media_type, operation=MIP)

    assert set(found.arrays) == {"before", "after", "record"}
    assert np.allclose(np.asarray(found.arrays["before"], np.float64), rows, atol=1e-6)
    assert np.allclose(np.asarray(found.arrays["after"], np.float64), rows + 1, atol=1e-6)
    assert found.arrays["record"] == CITIES


def test_an_array_without_names_is_the_first_array() -> None:
    one = read(npy_bytes(POINTS[:, 0].astype(np.float32)), NPY, operation=MIP)
    two = read(npy_bytes(np.asfortranarray(POINTS).astype(">f8")), NPY, operation=MIP, eta="0.2")
    text = read(npy_bytes(np.array(CITIES)), NPY, operation=MIS)
    whole = read(npy_bytes(np.arange(3, dtype=np.uint8)), NPY, operation=MIS)

    assert np.array_equal(one.arrays["draws"], POINTS[:, 0].astype(np.float32).astype(np.float64))
    assert np.array_equal(two.arrays["draws"], POINTS)
    assert two.arrays["draws"].dtype == np.dtype("=f8")  # type: ignore[union-attr]
    assert two.options == {"eta": "0.2"}
    assert text.arrays["values"] == CITIES
    assert whole.arrays["values"].dtype == np.int64  # type: ignore[union-attr]


def test_columns_of_an_array_without_names_go_by_their_numbers() -> None:
    found = read(npy_bytes(POINTS), NPY, operation=MIP, before="0", after="2", record="1")

    assert np.array_equal(found.arrays["before"], POINTS[:, 0])
    assert np.array_equal(found.arrays["after"], POINTS[:, 2])


@each_case("media_type", TABLES)
def test_losses_come_as_scores_of_two_sides(media_type: str) -> None:
    train, heldout = LOSSES
    inside = np.repeat([1, 0], [len(train), len(heldout)])
    body = table_bytes({"loss": np.concatenate(LOSSES), "is_train": inside, "id": inside}, media_type)

    found = read(body, media_type, operation=FITTED, score="loss", member="is_train", confidence="0.9")

    assert set(found.arrays) == {"train_losses", "heldout_losses"}
    assert np.array_equal(found.arrays["train_losses"], train)
    assert np.array_equal(found.arrays["heldout_losses"], heldout)
    assert found.options == {"confidence": "0.9"}
    assert not found.samples


def test_losses_of_one_dimension_say_how_many_are_of_training() -> None:
    found = read(npy_bytes(np.concatenate(LOSSES)), NPY, operation=FITTED, members="4")

    assert [len(column) for column in found.arrays.values()] == [4, 3]


def test_whole_numbers_beyond_64_bits_are_told_apart_as_names_and_floats_elsewhere() -> None:
    values = asked(MIS, values=[2**70, 2**70 + 1]).arrays["values"]
    points = asked(GAUSSIAN, points=[[2**70, 1], [2, 3]]).arrays["points"]
    unsigned = read(npy_bytes(np.array([2**63, 2**63 + 1], np.uint64)), NPY, operation=MIS).arrays["values"]

    assert values == [str(2**70), str(2**70 + 1)]
    assert points[0, 0] == 2.0**70  # type: ignore[call-overload,index]
    assert unsigned == [str(2**63), str(2**63 + 1)]


def test_booleans_are_categories() -> None:
    assert asked(MIS, values=[True, False]).arrays["values"] == ["true", "false"]
    assert read(npy_bytes(np.array([True])), NPY, operation=MIS).arrays["values"] == ["true"]


def of_losses(train: list[Any]) -> tuple[str, dict[str, Any]]:
    return FITTED, {"train_losses": train, "heldout_losses": [1]}


def of_points(points: Any) -> tuple[str, dict[str, Any]]:
    return GAUSSIAN, {"points": points}


REFUSED: dict[str, tuple[tuple[str, dict[str, Any]], str, str | None, int | None]] = {
    "text for numbers": (of_points([SECRET]), "wrong-type", "points", None),
    "numbers for rows": (of_points([1.0, 2.0]), "wrong-type", "points", None),
    "booleans for numbers": (of_losses([True]), "wrong-type", "train_losses", None),
    "rows for numbers": (of_losses([[1.0]]), "wrong-type", "train_losses", None),
    "rows of different length": (of_points([[1], [1, 2]]), "ragged-rows", "points", 1),
    "as many numbers as equal rows": (of_points([[1, 2], [3], [4, 5, 6]]), "ragged-rows", "points", 1),
    "rows of nothing": (of_points([[], []]), "dimension-mismatch", "points", None),
    "text within rows": (of_points([[1], [SECRET]]), "wrong-type", "points", 1),
    "an object": (of_points({SECRET: 1}), "wrong-type", "points", None),
    "text": (of_points(SECRET), "wrong-type", "points", None),
    "nothing in it": (of_points([]), "too-few-records", "points", None),
    "mixed": ((MIS, {"values": [1, SECRET]}), "mixed-types", "values", 1),
    "beyond any float": (of_losses([1, 10**400]), "not-finite", "train_losses", 1),
}


@each_case("name", REFUSED)
def test_what_cannot_be_the_array_is_refused_by_its_field(name: str) -> None:
    (operation, body), slug, field, index = REFUSED[name]

    found = refusal(json.dumps(body).encode(), operation=operation)

    assert (found.kind.slug, found.field, found.index) == (slug, field, index)


def nan(array: np.ndarray) -> np.ndarray:
    spoiled = array.copy()
    spoiled[4, 1] = np.nan
    return spoiled


MATRIX = npy_bytes(POINTS)
NAMED: list[tuple[bytes, str, str, dict[str, str], str, str | None]] = [
    (npy_bytes(nan(POINTS)), NPY, GAUSSIAN, {}, "not-finite", "points"),
    (columns(nan(POINTS), ARROW), ARROW, GAUSSIAN, {}, "not-finite", "points"),
    (b"x0,x1\n1,2\n3,\n", CSV, GAUSSIAN, {}, "not-finite", "points"),
    (b"x0,x1\n1,2\n3,a\n", CSV, GAUSSIAN, {}, "mixed-types", "points"),
    (b"x0,x1\n", CSV, GAUSSIAN, {}, "too-few-records", "points"),
    (b"a\n1\n", CSV, GAUSSIAN, {"column": "b"}, "unknown-name", "column"),
    (b"a,a\n1,1\n", CSV, GAUSSIAN, {"column": "a"}, "bad-option", "column"),
    (b"a,b\n1,1\n", CSV, GAUSSIAN, {"column": "a,a"}, "bad-option", "column"),
    (b"a,b\n1,1\n", CSV, MIP, {"before": "a", "after": "a"}, "bad-option", "before"),
    (b"a,b\n1,1\n", CSV, MIS, {}, "missing-field", "column"),
    (b"a,b\n1,1\n", CSV, MIS, {"column": "a,b"}, "wrong-type", "values"),
    (b"a\n1\n", CSV, FITTED, {"score": "a"}, "missing-field", "member"),
    (b"a,member\n0.5,1\n0.2,1\n", CSV, FITTED, {"score": "a"}, "too-few-records", "heldout_losses"),
    (npy_bytes(np.zeros((2, 3, 4))), NPY, MIP, {}, "dimension-mismatch", "draws"),
    (npy_bytes(np.zeros((2, 2, 4))), NPY, GAUSSIAN, {}, "dimension-mismatch", "points"),
    (npy_bytes(np.array(1.0)), NPY, GAUSSIAN, {}, "dimension-mismatch", None),
    (npy_bytes(np.zeros(3)), NPY, MIP, {"column": "0"}, "dimension-mismatch", "column"),
    (npy_bytes(np.zeros((0, 2, 3))), NPY, MIP, {}, "too-few-records", "draws"),
    (npy_bytes(np.zeros((3, 0))), NPY, GAUSSIAN, {}, "dimension-mismatch", "points"),
    (npy_bytes(np.zeros(3, complex)), NPY, MIP, {}, "bad-records", "draws"),
    (npy_bytes(np.array([["a", "b"]])), NPY, MIS, {}, "wrong-type", "values"),
    (npy_bytes(np.array([object()])), NPY, MIS, {}, "pickle", None),
    (MATRIX[:-1], NPY, GAUSSIAN, {}, "incomplete-body", None),
    (MATRIX + b"x", NPY, GAUSSIAN, {}, "malformed-body", None),
    (arrow_bytes(pa.table({"points": [[1.0], [2.0, 3.0]]})), ARROW, GAUSSIAN, {}, "ragged-rows", "points"),
    (arrow_bytes(pa.table({"points": [[1.0], [None]]})), ARROW, GAUSSIAN, {}, "not-finite", "points"),
    (arrow_bytes(pa.table({"points": [[1.0], None]})), ARROW, GAUSSIAN, {}, "not-finite", "points"),
    (arrow_bytes(pa.table({"points": [["a"], ["b"]]})), ARROW, GAUSSIAN, {}, "bad-records", "points"),
]


@each_case("body, media_type, operation, query, slug, field", NAMED)
def test_a_body_that_holds_no_such_array_is_refused(body, media_type, operation, query, slug, field) -> None:
    found = refusal(body, media_type, operation=operation, **query)

    assert (found.kind.slug, found.field) == (slug, field)


def test_a_hole_in_a_row_is_told_by_the_row() -> None:
    assert refusal(npy_bytes(nan(POINTS)), NPY, operation=GAUSSIAN).index == 4


def test_a_question_without_its_array_is_refused() -> None:
    for operation in {operation for operation in QUESTIONS if takes_arrays(operation)}:
        question = QUESTIONS[operation].model_json_schema()
        if set(ARRAYS[operation]) & set(question.get("required", ())):
            assert refusal(b"{}", operation=operation).kind.slug == "missing-field"


@each_case("media_type", [ARROW, PARQUET])
def test_what_expands_beyond_the_limit_is_too_large(media_type: str) -> None:
    body = arrow_bytes(pa.table({"points": pa.array([[0.0] * 1000] * 1000)}), media_type)

    assert refusal(packed(body, "gzip"), media_type, "gzip", GAUSSIAN, limit=2**16).kind.slug == "too-large"


def test_every_array_says_what_it_takes_and_every_option_of_a_table_is_one_of_its_arrays() -> None:
    for operation, names in ARRAYS.items():
        assert all(kinds(operation, name) for name in names)
        if takes_arrays(operation):  # those that no one table holds go by their own names alone
            assert of_table(operation) == (("column", *names[1:]) if BY_NAME[operation].paper else ())
    assert all(SIDED[operation] == ARRAYS[operation] for operation in SIDED)
