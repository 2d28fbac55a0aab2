"""A law: the same records give the same counts, or the same refusal, in every spelling, format, container and block."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators import Query, Scores, individual_risk
from estimators.sample.counting import by_category
from estimators.sample.integers import exact_array
from macekit.call import ARROW, ARROW_FILE, CSV, JSON, NDJSON, NPY, NPZ, PARQUET, Body, Call
from macekit.operations import perform
from tests.cases import each_case
from tests.macekit.decoding.support import npy_bytes, npz_bytes, packed

Spelling = Callable[[list[Any], list[bool]], tuple[str, bytes]]
N = 24


def answer(media_type: str, body: bytes, encoding: str = "identity", **query: str) -> Any:
    """The counts of a body, or the kind of the refusal."""
    with Body.of(packed(body, encoding)) as held:
        reply = perform(Call("counts", media_type, encoding, tuple(query.items())), held)
    content = json.loads(bytes(reply.body))
    return content["counts"] if reply.status == 200 else content["type"]


# --- spellings ----------------------------------------------------------------------------------------------
# The same records, written in one way each.


def word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def csv_spelling(
    separator: str = ",",
    end: str = "\n",
    before: str = "",
    header: str = "score{0}member",
    cell: Callable[[str], str] = lambda text: text,
    yes: tuple[str, str] = ("1", "0"),
    last: str | None = None,
) -> Spelling:
    def write(values: list[Any], member: list[bool]) -> tuple[str, bytes]:
        lines = [header.format(separator)]
        sides = (yes[0] if m else yes[1] for m in member)
        lines += [f"{cell(word(v))}{separator}{side}" for v, side in zip(values, sides, strict=True)]
        return CSV, (before + end.join(lines) + (end if last is None else last)).encode()

    return write


def quoted_csv(values: list[Any], member: list[bool]) -> tuple[str, bytes]:
    sink = io.StringIO()
    writer = csv.writer(sink, quoting=csv.QUOTE_ALL)
    writer.writerows([("note", "score", "id", "member")])
    records = enumerate(zip(values, member, strict=True))
    writer.writerows((f'a "{v}", \n b' if k % 3 else "", word(v), k, int(m)) for k, (v, m) in records)
    return CSV, sink.getvalue().encode()


def every_other(pad: str) -> Callable[[str], str]:
    state = iter(range(10**9))
    return lambda text: text + pad if next(state) % 2 else text


CSVS: dict[str, Spelling] = {
    "plain": csv_spelling(),
    "CRLF": csv_spelling(end="\r\n"),
    "CR": csv_spelling(end="\r"),
    "no last newline": csv_spelling(last=""),
    "empty lines at the end": csv_spelling(last="\n\n"),
    "BOM": csv_spelling(before="\ufeff"),
    "empty lines first": csv_spelling(before="\n\n"),
    "semicolons": csv_spelling(separator=";"),
    "tabs": csv_spelling(separator="\t"),
    "blank behind": csv_spelling(cell=lambda text: text + " "),
    "blanks before": csv_spelling(cell=lambda text: f"   {text}"),
    "fixed width": csv_spelling(cell=lambda text: text.rjust(30)),
    "no-break space": csv_spelling(cell=lambda text: text + "\u00a0"),
    "quoted": csv_spelling(cell=lambda text: f'"{text}"'),
    "quoted with blanks": csv_spelling(cell=lambda text: f'" {text} "'),
    "blank behind the quote": csv_spelling(cell=lambda text: f'"{text}" '),
    "quoted header": csv_spelling(header='"score"{0}"member"'),
    "blanks in the header": csv_spelling(header=" score {0} member "),
    "capitals": csv_spelling(header="score{0}Is_Member"),
    "words": csv_spelling(yes=("train", "test")),
    "truth": csv_spelling(yes=(" True", "FALSE")),
    "quoted throughout, beside texts of several lines": quoted_csv,
}
NUMBER_CSVS: dict[str, Spelling] = {
    "a plus sign": csv_spelling(cell=lambda text: text if text.startswith("-") else f"+{text}"),
    "every other padded": csv_spelling(cell=every_other(" ")),
}


def arrow_spelling(
    kind: Callable[[list[Any]], Any], media_type: str = ARROW, batch: int | None = None, **options: Any
) -> Spelling:
    def write(values: list[Any], member: list[bool]) -> tuple[str, bytes]:
        table = pa.table({"member": member, "score": kind(values)})
        sink = io.BytesIO()
        if media_type == PARQUET:
            pq.write_table(table, sink, row_group_size=batch, **options)
        else:
            new = pa.ipc.new_stream if media_type == ARROW else pa.ipc.new_file
            with new(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
                writer.write_table(table, max_chunksize=batch)
        return media_type, sink.getvalue()

    return write


def of(kind: pa.DataType) -> Callable[[list[Any]], pa.Array]:
    if pa.types.is_dictionary(kind):
        return lambda values: pa.array(values, kind.value_type).dictionary_encode()
    return lambda values: pa.array(values, kind)


def json_spelling(write_value: Callable[[Any], str] = json.dumps, head: str = "{}") -> Spelling:
    def write(values: list[Any], member: list[bool]) -> tuple[str, bytes]:
        sides = {
            name: ",".join(write_value(v) for v, m in zip(values, member, strict=True) if m == side)
            for name, side in (("members", True), ("nonmembers", False))
        }
        lists = ", ".join(f'"{name}": [{values}]' for name, values in sides.items())
        return JSON, head.format("{" + lists + "}").encode()

    return write


def lines_spelling(
    end: str = "\n",
    before: str = "",
    last: str | None = None,
    line: str = '{{"score": {0}, "member": {1}}}',
    write_value: Callable[[Any], str] = json.dumps,
) -> Spelling:
    def write(values: list[Any], member: list[bool]) -> tuple[str, bytes]:
        records = zip(values, member, strict=True)
        lines = [line.format(write_value(v), json.dumps(m), k) for k, (v, m) in enumerate(records)]
        return NDJSON, (before + end.join(lines) + (end if last is None else last)).encode()

    return write


def npy_spelling(kind: Any) -> Spelling:
    def write(values: list[Any], member: list[bool]) -> tuple[str, bytes]:
        array = np.array(values, kind)
        table = np.empty(len(values), [("score", array.dtype), ("member", "?")])
        table["score"], table["member"] = array, member
        return NPY, npy_bytes(table)

    return write


def npz_spelling(compress: bool) -> Spelling:
    return lambda values, member: (NPZ, npz_bytes({"score": exact_array(values), "member": np.array(member)}, compress))


NPZS: dict[str, Spelling] = {"NPZ": npz_spelling(False), "NPZ, compressed": npz_spelling(True)}


def in_formats(kind: pa.DataType, **more: Spelling) -> dict[str, Spelling]:
    """A type in Arrow, whole and in batches, as a dictionary, and in Parquet of several makes."""
    return {
        "Arrow": arrow_spelling(of(kind)),
        "Arrow in batches of 5": arrow_spelling(of(kind), batch=5),
        "Arrow file": arrow_spelling(of(kind), ARROW_FILE, 7),
        "Arrow, compressed buffers": arrow_spelling(of(kind), compression="zstd"),
        "dictionary": arrow_spelling(of(pa.dictionary(pa.int32(), kind))),
        "dictionary in batches": arrow_spelling(of(pa.dictionary(pa.int32(), kind)), batch=5),
        "Parquet": arrow_spelling(of(kind), PARQUET),
        "Parquet in row groups of 4": arrow_spelling(of(kind), PARQUET, 4),
        "Parquet, plain pages": arrow_spelling(of(kind), PARQUET, use_dictionary=False, compression="none"),
        "Parquet 1.0": arrow_spelling(of(kind), PARQUET, version="1.0", compression="gzip"),
        "Parquet, pages of version 2 with checksums": arrow_spelling(
            of(kind), PARQUET, data_page_version="2.0", write_page_checksum=True
        ),
        **more,
    }


JSONS = {
    "JSON": json_spelling(),
    "JSON, indented": json_spelling(head="\n  {}\n"),
    "JSON with a BOM": json_spelling(head="\ufeff{}"),
}
LINES: dict[str, Spelling] = {
    "lines": lines_spelling(),
    "lines, CRLF": lines_spelling(end="\r\n"),
    "lines, no last newline": lines_spelling(last=""),
    "lines, blank ones between": lines_spelling(end="\n \n\n"),
    "lines, blank ones first, BOM": lines_spelling(before="\ufeff\n\n"),
    "lines with blanks": lines_spelling(line=' {{ "member" : {1} , "score" :\t{0} }} '),
    "lines with other keys": lines_spelling(
        line='{{"id": {2}, "note": "a: {{", "of": {{"score": [1, "}}"]}}, "score": {0}, "member": {1}, "x": null}}'
    ),
    "lines with escapes": lines_spelling(line='{{"\\u0073core": {0}, "member": {1}}}'),
    "lines, members in words": lines_spelling(line='{{"score": {0}, "member": "{1}"}}'),
}
JSONS |= LINES


def integer_spellings(values: list[int]) -> dict[str, Spelling]:
    low, high = min(values), max(values)
    spellings = {**CSVS, **NUMBER_CSVS, **JSONS}
    if low >= -(2**63) and high < 2**63:
        spellings |= in_formats(pa.int64()) | NPZS | {"NPY": npy_spelling(">i8")}
    for kind in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.uint64):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            name = np.dtype(kind).name
            spellings[f"Arrow {name}"] = arrow_spelling(of(pa.from_numpy_dtype(kind)), batch=7)
            spellings[f"Parquet {name}"] = arrow_spelling(of(pa.from_numpy_dtype(kind)), PARQUET, 7)
            spellings[f"NPY {name}"] = npy_spelling(kind)
    decimals = pa.decimal128(38, 0), pa.decimal256(60, 0)
    whole = [lambda values, kind=kind: pa.array([Decimal(v) for v in values], kind) for kind in decimals]
    if max(abs(low), abs(high)) < 10**38:
        for media_type in (ARROW, PARQUET):
            spellings[f"decimals in {media_type}"] = arrow_spelling(whole[0], media_type, 5)
            spellings[f"long decimals in {media_type}"] = arrow_spelling(whole[1], media_type)
    return spellings


def same(spellings: dict[str, Spelling], values: list[Any], member: list[bool], **query: str) -> Any:
    """What all of them answer, as they come, packed and not."""
    answers: dict[str, Any] = {}
    for place, (name, write) in enumerate(spellings.items()):
        media_type, body = write(values, member)
        encoding = ("identity", "gzip", "zstd")[place % 3]
        answers[name] = answer(media_type, body, encoding, **({} if media_type == JSON else query))
        if media_type != JSON:
            answers[f"{name}, whole"] = answer(media_type, body, cells="categories", score="score")
    return answers


def require_one(answers: dict[str, Any]) -> Any:
    first = next(iter(answers.values()))
    others = {name: each for name, each in answers.items() if each != first}
    assert not others, f"first: {first}; others: {others}"
    return first


def sides(low: int, high: int) -> st.SearchStrategy[tuple[list[int], list[bool]]]:
    few = st.lists(st.integers(low, high), min_size=1, max_size=4)
    values = few.flatmap(lambda pool: st.lists(st.sampled_from(pool), min_size=N, max_size=N))
    return values.map(lambda each: (each, [k % 2 == 0 for k in range(N)]))


RANGES = {
    "small": (-100, 100), "beyond floats": (2**53, 2**53 + 9), "around 2^63": (2**63 - 5, 2**63 + 5),
    "below zero and beyond 2^63": (-(2**63), 2**64 - 1), "64 bits": (2**64 - 9, 2**64 + 9),
    "far beyond": (10**30, 10**30 + 5),
}  # fmt: skip


def total(counts: Any) -> tuple[int, int]:
    return sum(counts["members"]), sum(counts["nonmembers"])


@pytest.mark.slow
@pytest.mark.parametrize("name", RANGES)
@settings(max_examples=2)
@given(data=st.data())
def test_integers(name: str, data: st.DataObject) -> None:
    values, member = data.draw(sides(*RANGES[name]))
    spellings = integer_spellings(values)
    assert len(spellings) >= 27

    counts = require_one(same(spellings, values, member, score="score"))

    assert total(counts) == (N // 2, N // 2)
    assert sorted(map(str, counts["cells"]["labels"])) == sorted({str(value) for value in values})


ON_A_LINE = [{"query": "continuous"}, {"cells": "grid"}, {"cells": "equal_mass", "bins": 3}]


@pytest.mark.slow
@pytest.mark.parametrize("name", RANGES)
@settings(max_examples=1)
@given(data=st.data())
def test_integers_on_a_line(name: str, data: st.DataObject) -> None:
    values, member = data.draw(sides(*RANGES[name]))
    spellings = integer_spellings(values)
    spellings["JSON, as floats"] = json_spelling(lambda value: repr(float(value)))
    for options in ON_A_LINE:
        counts = require_one(asked(spellings, values, member, options))

        assert total(counts) == (N // 2, N // 2)
        assert counts["cells"]["kind"] == ("intervals" if "bins" in options else "grid")


@each_case("options", ON_A_LINE)
def test_texts_have_no_place_on_a_line_in_any_spelling(options: dict[str, Any]) -> None:
    spellings = {**CSVS, **JSONS, **NPZS, **in_formats(pa.string()), "NPY": npy_spelling(np.str_)}
    values, member = ["cat", "dog"] * (N // 2), [k % 3 == 0 for k in range(N)]

    assert require_one(asked(spellings, values, member, options)) == "urn:mace:problem:bad-records"


def asked(
    spellings: dict[str, Spelling], values: list[Any], member: list[bool], options: dict[str, Any]
) -> dict[str, Any]:
    """What all of them answer to the same question, asked in the body or beside it."""
    answers = {}
    for name, write in spellings.items():
        media_type, body = write(values, member)
        if media_type == JSON:
            head = "{" + "".join(f"{json.dumps(key)}: {json.dumps(each)}, " for key, each in options.items())
            answers[name] = answer(media_type, body.replace(b"{", head.encode(), 1))
        else:
            answers[name] = answer(media_type, body, **{key: str(value) for key, value in options.items()})
    return answers


PAIRS: dict[str, tuple[list[str], list[str], str]] = {
    "integers beyond 64 bits, fractions": ([str(2**64), str(2**70)], ["0.5", "7"], "grid"),
    "integers of 64 bits, fractions": ([str(2**53 + 1), "-1"], ["0.5", "7"], "grid"),
    "below zero, beyond 2^63": (["-1", "-7"], [str(2**63), "7"], "categories"),
    "within 64 bits, beyond": ([str(2**64 - 9)], [str(2**64), str(2**64 - 9)], "categories"),
    "beyond every float, fractions": ([f"1{'0' * 400}", "7"], ["0.5"], "not-finite"),
    "truth, numbers": (["true", "false"], ["1", "0"], "mixed-types"),
    "truth, fractions": (["true"], ["0.5"], "mixed-types"),
}


@pytest.mark.slow
@each_case("name", PAIRS)
@each_case("turned", [False, True])
def test_what_one_side_is_made_of_decides_for_both(name: str, turned: bool) -> None:
    """In JSON each side is a list of its own, in a table both are one column."""
    a, b, expected = PAIRS[name]
    a, b = (b, a) if turned else (a, b)
    values = [value for pair in zip(a * N, b * N, strict=False) for value in pair][:N]
    member = [True, False] * (N // 2)
    spellings = {**CSVS, "JSON": json_spelling(str), "JSON, indented": json_spelling(str, head="\n  {}\n")}

    counts = require_one(asked(spellings, values, member, {}))

    assert expected == (counts["cells"]["kind"] if isinstance(counts, dict) else counts.rpartition(":")[2])


@pytest.mark.slow
@settings(max_examples=3)
@given(st.lists(st.integers(-1024, 1023), min_size=N, max_size=N))
def test_fractions(eighths: list[int]) -> None:
    values, member = [k / 8 + 1 / 16 for k in eighths], [k % 2 == 0 for k in range(N)]
    spellings = CSVS | NUMBER_CSVS | JSONS | NPZS | in_formats(pa.float64(), NPY=npy_spelling(">f8"))
    for kind in (np.float16, np.float32, np.longdouble):
        spellings[f"NPY {kind.__name__}"] = npy_spelling(kind)
    for kind in (pa.float16(), pa.float32(), pa.dictionary(pa.int8(), pa.float16())):
        spellings[f"Arrow {kind}"] = arrow_spelling(of(kind), batch=5)
        spellings[f"Parquet {kind}"] = arrow_spelling(of(kind), PARQUET)
    spellings["decimals"] = arrow_spelling(
        lambda column: pa.array([Decimal(each) for each in column], pa.decimal128(30, 9)), batch=7
    )
    assert len(spellings) >= 40

    assert require_one(asked(spellings, values, member, {}))["cells"]["kind"] == "grid"


APART = {"exclude_characters": "\0\r\n\"'\ufeff", "exclude_categories": ["Cc", "Cs", "Z"]}
TEXTS = st.text(st.characters(codec="utf-8", **APART), min_size=1, max_size=5)


@pytest.mark.slow
@settings(max_examples=3)
@given(st.lists(TEXTS.map(lambda text: f"t{text}t"), min_size=1, max_size=3), st.data())
def test_texts(pool: list[str], data: st.DataObject) -> None:
    values = data.draw(st.lists(st.sampled_from(pool), min_size=N, max_size=N))
    texts = [value.replace(",", ".").replace(";", ".").replace("\t", ".") for value in values]
    member = [k % 2 == 0 for k in range(N)]
    spellings = {
        **CSVS,
        **JSONS,
        "JSON, escaped": json_spelling(lambda value: json.dumps(value, ensure_ascii=True)),
        **in_formats(pa.string()),
        "large": arrow_spelling(of(pa.large_string()), batch=5),
        "views": arrow_spelling(of(pa.string_view())),
        "NPY": npy_spelling(np.str_),
        "NPY, wide": npy_spelling("<U40"),
    }
    assert len(spellings) >= 40

    counts = require_one(same(spellings, texts, member, score="score"))

    assert counts["cells"]["kind"] == "categories"
    assert set(counts["cells"]["labels"]) == set(texts)


@pytest.mark.slow
@settings(max_examples=2)
@given(st.lists(st.booleans(), min_size=N, max_size=N))
def test_booleans(values: list[bool]) -> None:
    member = [k % 2 == 0 for k in range(N)]
    in_python = {"capitals": csv_spelling(cell=str.upper), "pandas": csv_spelling(cell=str.capitalize)}
    spellings = {**CSVS, **JSONS, **in_formats(pa.bool_()), **in_python, "NPY": npy_spelling(np.bool_)}

    counts = require_one(same(spellings, values, member, score="score"))

    assert set(counts["cells"]["labels"]) == {int(value) for value in values}


ODD: dict[str, tuple[list[Any], str]] = {
    "a hole": (["7", ""], "not-finite"),
    "a token among integers": (["7", "#N/A"], "mixed-types"),
    "a token among fractions": (["7.5", "?"], "mixed-types"),
    "a decimal comma": (["7.5", '"7,5"'], "bad-records"),
    "zeros before some": (["07", "7"], "bad-records"),
}


@pytest.mark.slow
@each_case("name", ODD)
def test_what_is_refused_is_refused_in_every_spelling_and_wherever_it_is_cut(name: str) -> None:
    pool, slug = ODD[name]
    for size, spellings in ((N, ("plain", "CRLF", "semicolons")), (140_000, ("plain",))):
        values = [pool[0]] * (size - 1) + [pool[1]]
        member = [k % 2 == 0 for k in range(size)]
        for spelling, query in product(spellings, ({}, {"cells": "categories"})):
            media_type, body = CSVS[spelling](values, member)
            for encoding in ("identity", "gzip")[: len(spellings)]:
                found = answer(media_type, body, encoding, **query)
                assert found == f"urn:mace:problem:{slug}", (spelling, query)


CUTS = (64, 200, 2**18)
SPELT = [
    "1", "-3", "007", "07", "-12", "012", "1.5", "1e30", " 5", "+7",
    *(str(2**53 + 1), str(2**63), str(2**70)),
]  # fmt: skip


def answer_in_blocks(body: bytes, size: int, **query: str) -> Any:
    """The counts and the columns of a CSV that is read in blocks of a size, or the kind of the refusal."""
    with pytest.MonkeyPatch.context() as patch, Body.of(body) as held:
        patch.setattr("macekit.decoding.csv.BLOCK", size)
        content = json.loads(bytes(perform(Call("counts", CSV, query=tuple(query.items())), held).body))
    if "counts" not in content:
        return content["type"]
    content["counts"]["cells"].pop("frequent", None)  # of which a block of one record says little
    return content["counts"], content["columns"]


@pytest.mark.slow
@settings(max_examples=20)
@given(st.lists(st.sampled_from(SPELT), min_size=1, max_size=3, unique=True), st.booleans(), st.data())
def test_numbers_are_what_they_are_wherever_a_column_is_cut(pool, in_order, data) -> None:
    values = data.draw(st.lists(st.sampled_from(pool), min_size=40, max_size=40))
    values = sorted(values, key=pool.index) if in_order else values
    _, body = CSVS["plain"](values, [k % 2 == 0 for k in range(40)])

    require_one({str(size): answer_in_blocks(body, size, score="score") for size in CUTS})


@each_case("values, expected", [
    (["-12", "012"], "bad-records"), (["007", "7"], "bad-records"), (["007", "7", "0.5"], []),
    (["007", "012"], ["leading zeros dropped"]), ([str(2**70), "0.5"], []),
    ([str(2**70), "7"], ["integers of more than 64 bits"]), ([" 7", "007", "-12"], "bad-records"),
])  # fmt: skip
def test_what_is_said_of_zeros_and_of_long_integers_is_said_of_the_whole_column(values, expected) -> None:
    for order in (values, values[::-1]):
        lines = [value for value in order for _ in range(20)]
        _, body = CSVS["plain"](lines, [k % 2 == 0 for k in range(len(lines))])

        found = require_one({str(size): answer_in_blocks(body, size, score="score") for size in CUTS})

        said = found.rpartition(":")[2] if isinstance(found, str) else found[1][0]["notes"]
        assert said == expected


@settings(max_examples=10)
@given(sides(-(2**63), 2**64 + 5))
def test_identifiers_answer_as_their_texts_do(records: tuple[list[int], list[bool]]) -> None:
    values, member = records
    a = [value for value, side in zip(values, member, strict=True) if side]
    b = [value for value, side in zip(values, member, strict=True) if not side]

    numbers = Scores.of(a, b, Query.DISCRETE)
    texts = Scores.of([str(v) for v in a], [str(v) for v in b])

    assert table(by_category(numbers)) == table(by_category(texts))
    risks = [individual_risk(each) for each in (numbers, texts)]
    for column in ("risk", "lower", "upper", "flagged"):
        assert np.array_equal(*(np.ma.getdata(getattr(each, column)) for each in risks))


def table(counts: Any) -> dict[str, tuple[int, int]]:
    labels: Iterator[Any] = iter(counts.cells.labels.tolist())
    pairs = zip(counts.members.tolist(), counts.nonmembers.tolist(), strict=True)
    return {str(label): pair for label, pair in zip(labels, pairs, strict=True)}
