"""`mace declare`, and `mace gate --declared`: what was written down is asked, and nothing else."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.app.cli.files import SIDES, refused, typed
from tests.cases import each_case

DECLARE = "declare plan.json --score score --member member --max-advantage 0.9 --metric f_beta --beta 2 --max 0.99"


def test_a_gate_takes_all_from_what_was_declared(folder: Path) -> None:
    done = typed(DECLARE)
    declared = json.loads(Path("plan.json").read_text())

    assert done.out == f"{declared['sha256']}  plan.json\n"
    plain = typed(DECLARE.replace("declare plan.json", "gate scores.csv --json"))
    found = typed("gate scores.csv --declared plan.json --json")
    again = typed("gate scores.csv --declared plan.json --json --max-advantage 0.9 --beta 2")
    assert found.out == again.out
    answer, expected = json.loads(found.out), json.loads(plain.out)
    assert answer["provenance"].pop("declaration") == {"sha256": declared["sha256"], "at": declared["at"]}
    assert expected["provenance"].pop("declaration") is None
    assert answer["limits"] == expected["limits"]
    assert (found.status, answer["provenance"]) == (plain.status, expected["provenance"])


@pytest.mark.slow
@each_case(
    "line, words",
    ("--max-advantage 0.95", "--max-advantage is not as it was declared"),
    ("--seed 4", "seed is not as it was declared"),
    ("--max-tpr 0.9 --at-fpr 0.01", "is not as it was declared"),
    ("--score loss", "is not as it was declared"),
    ("--state run.json", "does not go with a run of batches"),
)
def test_what_is_typed_otherwise_is_refused(line: str, words: str, folder: Path) -> None:
    typed(f"{DECLARE} --overwrite")

    assert words in refused(f"gate scores.csv --declared plan.json {line}")


def test_a_file_of_limits_has_no_say_beside_a_declaration(folder: Path) -> None:
    typed(DECLARE)
    Path("mace.toml").write_text("max-epsilon = 3\n")

    assert typed("gate scores.csv --declared plan.json").err == ""


def test_a_request_that_says_otherwise_is_refused(folder: Path) -> None:
    typed("declare plan.json --max-advantage 0.9")
    Path("r.json").write_text(json.dumps(SIDES | {"max_advantage": 0.1}))

    assert "is not as it was declared" in refused("gate r.json --declared plan.json")


def test_a_signed_declaration_is_verified_and_an_edited_one_is_not(folder: Path) -> None:
    for words in ("genpkey -algorithm ed25519 -out key.pem", "pkey -in key.pem -pubout -out key.pub"):
        subprocess.run(["openssl", *words.split()], check=True)
    assert typed(f"{DECLARE} --signing-key key.pem").status == 0

    assert typed("verify plan.json --public-key key.pub").status == 0
    assert typed("gate scores.csv --declared plan.json").status in (0, 3)
    text = Path("plan.json").read_text()
    Path("plan.json").write_text(text.replace("0.9,", "0.8,", 1))
    assert typed("verify plan.json --public-key key.pub").status == 1
    assert "was changed since it was made" in refused("gate scores.csv --declared plan.json")


@each_case(
    "line, words",
    ("declare plan.json", "give at least one of --max-advantage"),
    ("declare plan.json --max-advantage 3", "--max-advantage"),
    ("declare plan.txt --max-advantage 0.1", ".json"),
    ("declare plan.json --max-advantage 0.1 --signing-key scores.csv", "holds no Ed25519 key"),
    ("gate scores.csv --declared scores.csv", "is no declaration; mace declare writes one"),
    ("gate scores.csv --declared absent.json", "No such file"),
    ("gate scores.csv --declared request.json", "is none as mace declare writes it"),
)
def test_what_declares_nothing_is_misuse(line: str, words: str, folder: Path) -> None:
    assert words in refused(line)
    assert not Path("plan.json").exists()


def test_what_was_declared_is_not_replaced_by_accident(folder: Path) -> None:
    typed(DECLARE)
    before = Path("plan.json").read_bytes()

    assert "is there already" in refused(DECLARE)
    assert Path("plan.json").read_bytes() == before
