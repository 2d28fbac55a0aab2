"""Two files, one a side, are read as one table of both sides would be: the same answer, or the same refusal."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from macekit.call import ARROW, ARROW_FILE, CSV, NDJSON, NPY, NPZ, PARQUET
from tests.app.cli.files import answer, typed
from tests.cases import each_case
from tests.macekit.decoding.support import table_bytes

pytestmark = pytest.mark.usefixtures("quick")

SUFFIXES = {
    CSV: "csv", NDJSON: "jsonl", NPY: "npy", NPZ: "npz", ARROW: "arrows", ARROW_FILE: "feather",
    PARQUET: "parquet",
}  # fmt: skip
RNG = np.random.default_rng(8)
N = 40


def of(*values: Any, n: int = N) -> np.ndarray:
    return np.resize(np.array(values), n)


def dates(first: str) -> np.ndarray:
    return np.datetime64(first) + np.arange(N) % 4


KINDS: dict[str, tuple[np.ndarray, np.ndarray]] = {
    "numbers": (RNG.normal(0.3, 1, N), RNG.normal(0, 1, N)),
    "single floats": (RNG.random(N).astype(np.float32), RNG.random(N).astype(np.float32)),
    "integers": (RNG.integers(0, 5, N), RNG.integers(1, 6, N)),
    "large integers": (2**60 + RNG.integers(0, 5, N), 2**60 + RNG.integers(1, 6, N)),
    "integers beyond 63 bits on both sides": (of(2**63 + 1, 2**64 - 5), of(2**63 + 1, 2**64 - 9)),
    "text": (of("low", "mid", "high"), of("low", "mid")),
    "exponents as labels": (of("1e10", "2e10", "ab"), of("1e10", "cd")),
    "exponents as labels, without another letter": (of("1e10", "2e10"), of("1e10", "3e10")),
    "hexadecimal labels": (of("0x1F", "0x2a", "0x10"), of("0x1F", "0x2b")),
    "hexadecimal digits": (of("00ff", "0012", "12ab"), of("0012", "00aa")),
    "hexadecimal digits that are numbers on one side": (of("12", "13"), of("0a", "13")),
    "whole numbers beside fractions on the other side": (of(1, 2, 3), of("0.5", "1", "2.5")),
    "text beside fractions on the other side": (of("0.5", "1.5"), of("high", "low")),
    "one side of numbers beyond 63 bits": (of("9223372036854775809", "7"), of("3", "7")),
    "numbers of twenty-five digits": (of("1" * 25, "2" * 25), of("1" * 25, "3" * 25)),
    "days as text": (dates("2024-01-01").astype(str), dates("2024-01-02").astype(str)),
    "times as text": (of("2024-01-01T10:00:00", "2024-01-02T10:00:00"), of("2024-01-01T10:00:00", "x")),
    "booleans": (RNG.random(N) < 0.7, RNG.random(N) < 0.4),
    "booleans as text": (of("true", "false", "true"), of("true", "false")),
    "missing": (np.append(RNG.random(N), np.nan), RNG.random(N)),
    "missing among nonmembers": (RNG.random(N), np.append(RNG.random(N), np.nan)),
    "blanks": (of("0.5", "1.5", ""), of("0.5", "1.5")),
    "a decimal comma": (of("0.5", "1.5"), of("0,5", "1,5")),
    "too short": (RNG.random(2), RNG.random(2)),
    "text on one side": (of("a", "b"), of(1, 2, 3)),
}
TYPED_APART = {"whole numbers beside fractions on the other side", "text on one side"}
"""Kinds that no typed format can hold in one column."""


def outcome(line: str) -> Any:
    """The answer but for the names of its columns, or the refusal without the file's name and the number of the row."""
    done = typed(f"{line} --json")
    if done.status == 0:
        found = done.answer
        assert (found if "columns" in found else found["provenance"]).pop("columns")
        return found
    assert done.status == 2, done.err
    return re.sub(r"row \d+", "row N", re.sub(r"^mace \w+: (?:\S+\.\w+: )?", "", done.err))


def write(name: str, media_type: str, columns: dict[str, Any]) -> str:
    path = Path(f"{name}.{SUFFIXES[media_type]}")
    path.write_bytes(table_bytes(columns, media_type))
    return str(path)


def both(members: np.ndarray, nonmembers: np.ndarray) -> dict[str, Any]:
    return {
        "score": np.concatenate([members, nonmembers]),
        "member": np.repeat([1, 0], [len(members), len(nonmembers)]),
    }


@pytest.mark.slow
@pytest.mark.parametrize("media_type", SUFFIXES)
def test_two_files_are_answered_as_one_file_is(empty: Path, media_type: str) -> None:
    question, counted = "estimate" if media_type == CSV else "counts", 0
    for kind, (members, nonmembers) in KINDS.items():
        if media_type != CSV and kind in TYPED_APART:
            continue
        one = write("both", media_type, both(members, nonmembers))
        m = write("m", media_type, {"score": members})
        n = write("n", media_type, {"score": nonmembers})

        expected = outcome(f"{question} {one}")
        found = outcome(f"{question} --members {m} --nonmembers {n}")

        assert found == expected, kind
        counted += isinstance(found, dict)
    assert counted >= 15


@pytest.mark.slow
@each_case("media_type", SUFFIXES)
def test_the_column_of_each_file_is_named(empty: Path, media_type: str) -> None:
    rng = np.random.default_rng(3)
    m = write("m", media_type, {"note": of("x", "y"), "loss": rng.normal(1, 1, N), "margin": rng.random(N)})
    n = write("n", media_type, {"score": rng.normal(0, 1, N), "margin": rng.random(N)})

    assert columns_read(f"--members {m} --nonmembers {n}") == [
        {"role": "members", "name": f"{m}: loss", "kind": "numbers", "distinct": N, "notes": []},
        {"role": "nonmembers", "name": f"{n}: score", "kind": "numbers", "distinct": N, "notes": []},
    ]
    several = columns_read(f"--members {n} --nonmembers {n} --score score,margin")
    assert [(each["role"], each["name"]) for each in several] == [
        (side, f"{n}: {name}") for side in ("members", "nonmembers") for name in ("score", "margin")
    ]


def test_what_was_understood_of_each_file_is_said(empty: Path) -> None:
    Path("m.csv").write_text("".join(f" {k}\n" for k in range(40)))
    Path("rows.csv").write_text("".join(f"{k},{k % 7}\n" for k in range(40)))
    np.save("n.npy", np.arange(40) % 5)

    apart = columns_read("--members m.csv --nonmembers n.npy")
    rows = columns_read("--members rows.csv --nonmembers rows.csv")

    assert apart == [
        {
            "role": "members", "name": "m.csv", "kind": "integers", "distinct": 40,
            "notes": ["blanks around values dropped"],
        },
        {"role": "nonmembers", "name": "n.npy", "kind": "integers", "distinct": 5, "notes": []},
    ]  # fmt: skip
    assert [each["name"] for each in rows] == ["rows.csv: 0", "rows.csv: 1"] * 2


def columns_read(line: str) -> Any:
    return answer(f"estimate {line}")["provenance"]["columns"]


@each_case(
    "suffix, text, said",
    ("csv", "score\n0.5\nhigh\n", "n.csv: score: row 1 is text, but others are numbers"),
    ("csv", "score\n1\n#N/A\n", "n.csv: score: row 1 is text, but others are numbers; write one kind, leave"),
    ("csv", 'score\n0.5\n""\n', "n.csv: score: row 1 has no value"),
    ("csv", "0.5\nNA\n", "n.csv: score: row 1 has no value"),
    ("csv", "nan\n0.5\n", "n.csv: score: row 0 has no value"),
    ("csv", "a,b\n1,2\n", "n.csv: score: 2 columns could be the scores; say which with --score NAME"),
    ("csv", "score,score\n1,2\n", "n.csv: score: columns 0 and 1 both have this name; give each its own"),
    ("json", "{}", "n.json: a JSON request holds both sides"),
    ("parquet", "no", "n.parquet: the Parquet input ended before it was complete"),
)
def test_a_fault_is_said_with_the_file_and_the_row_it_stands_in(empty: Path, suffix: str, text: str, said: str) -> None:
    (empty / "m.csv").write_text("score\n" + "0.5\n1.5\n" * 10)
    (empty / f"n.{suffix}").write_text(text)

    done = typed(f"estimate --members m.csv --nonmembers n.{suffix}")

    assert done.status == 2
    assert done.err.startswith(f"mace estimate: {said}")


def test_a_table_with_a_column_for_each_side_is_answered_as_one_with_a_member_column(empty: Path) -> None:
    members, nonmembers = KINDS["numbers"]
    nonmembers = nonmembers[:-5]
    one = outcome(f"estimate {write('both', CSV, both(members, nonmembers))}")
    rows = [f"{m},{'' if i >= len(nonmembers) else nonmembers[i]}" for i, m in enumerate(members)]
    (empty / "wide.csv").write_text("\n".join(["a,b", *rows]))

    found, counts = (
        outcome(f"{name} wide.csv --members-column a --nonmembers-column b") for name in ("estimate", "counts")
    )

    assert found["provenance"]["input_sha256"] == one["provenance"]["input_sha256"]
    assert found["provenance"]["options"]["members_column"] == "a"
    assert counts["counts"] == outcome("counts both.csv")["counts"]


def test_what_names_members_is_said_as_the_shell_has_it(empty: Path) -> None:
    (empty / "part.csv").write_text("score,part\n" + "0.5,A\n1.5,B\n" * 10)
    (empty / "label.csv").write_text("score,label\n" + "0.5,1\n1.5,0\n" * 10)

    named, unnamed, label = (
        outcome(f"counts {line}") for line in ("part.csv --member part=A", "part.csv --member part", "label.csv")
    )

    assert sum(named["counts"]["members"]) == 10
    assert "name that of members with --member COLUMN=VALUE" in unnamed
    assert "column 'label' is not taken for membership; name it with --member label" in label


def test_values_without_a_header_lose_no_record(empty: Path) -> None:
    for name, text in (("m", "true\n" * 20 + "false\n" * 4), ("n", "0x1F\n" + "false\n" * 12)):
        (empty / f"{name}.csv").write_text(text)

    found = outcome("counts --members m.csv --nonmembers n.csv")

    assert sum(found["counts"]["members"]) == 24
    assert sum(found["counts"]["nonmembers"]) == 12  # 0x1F is the name of a column
