"""What is particular to reports of theory: the question again, the worst first, curves and their words."""

import json
import shlex
from copy import deepcopy
from typing import Any

import pytest

import macekit
from app.cli import main
from macekit.reports.content import content, figures
from macekit.reports.model import Listing, Number, Phrase, Table
from tests.cases import each_case
from tests.macekit.reports.asked import CASES, answered, case

THEORY = [name for name in CASES if name.startswith("theory/")]


def listings(answer: dict[str, Any], operation: str) -> dict[str, str]:
    section = content(operation, answer).section("provenance")
    assert section is not None
    return {block.caption: block.text for block in section.blocks if isinstance(block, Listing)}


def curves(operation: str, answer: dict[str, Any]) -> Table:
    section = content(operation, answer).section("curves")
    assert section is not None
    (table,) = (block for block in section.blocks if isinstance(block, Table))
    return table


@each_case("name", THEORY)
def test_the_program_that_asks_again_is_python_and_calls_what_there_is(name: str) -> None:
    operation, answer = case(name)

    program = listings(answer, operation)["From Python"]

    compile(program, "report", "exec")
    method = program.partition("macekit.theory.")[2].partition("(")[0]
    assert callable(getattr(macekit.theory, method))


def test_a_question_of_options_alone_is_asked_again_as_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    answer = answered("theory/dp", {"epsilon": 1.5, "delta": 1e-5, "prior": 0.2, "adjacency": "add_remove"})
    told = listings(answer, "theory/dp")

    words = shlex.split(told["In a shell"])
    assert main([*words[1 : words.index("-o")], "--json"]) == 0
    posted = shlex.split(told["Over HTTP"].replace("\\\n", " "))
    body = posted[posted.index("--data-binary") + 1].encode()

    assert json.loads(capsys.readouterr().out)["bounds"] == answer["bounds"]
    assert answered("theory/dp", body) == answer


def test_arrays_that_were_there_are_named_and_no_others() -> None:
    operation, answer = deepcopy(case("theory/mip, draws"))

    told = listings(answer, operation)["In a shell"]
    answer["provenance"]["arrays"] = ["draws", "rm -rf"]
    forged = listings(answer, operation)["In a shell"]

    assert '"draws": […]' in told
    assert "rm -rf" not in forged


def test_of_records_the_worst_come_first() -> None:
    operation, answer = case("theory/pmp-exponential, median")

    table = curves(operation, answer)

    shown = [row[1].value for row in table.rows]  # type: ignore[union-attr]
    assert shown == sorted(answer["records"]["practical_epsilon"], reverse=True)[: len(shown)]


def test_a_logarithmic_axis_ends_where_nothing_is_to_be_seen() -> None:
    operation, answer = case("theory/mis, tallies")
    assert min(answer["curve"]["delta"]) < 1e-100

    (drawn,) = figures(operation, answer)

    points = drawn.spec["layer"][-1]["data"]["values"]
    assert min(point["y"] for point in points) >= 1e-12


def test_the_origin_of_an_answer_tells_its_arrays_apart() -> None:
    def sha(losses: list[list[float]]) -> str:
        question = {"losses": losses, "sensitivity": 1.0, "epsilon": 1.0}
        found: str = answered("theory/pmp-exponential", question)["provenance"]["input_sha256"]
        return found

    assert sha([[0.0, 1.0], [1.0, 0.0]]) == sha([[0, 1], [1, 0]])
    assert sha([[0.0, 1.0], [1.0, 0.0]]) != sha([[1.0, 0.0], [0.0, 1.0]])
    assert answered("theory/dp", {"epsilon": 1.0})["provenance"]["input_sha256"] is None


def test_of_many_outputs_the_first_are_named_each_with_its_place() -> None:
    laws = [[*[0.1] * 9, 0.1, *[0.0] * 10], [*[0.0] * 10, *[0.1] * 10]]
    answer = answered("theory/mip-finite", {"laws": laws, "n": 2})
    assert answer["records"]["says_in"][0] == list(range(10))

    cell = curves("theory/mip-finite", answer).rows[0][3]
    assert isinstance(cell, Phrase)
    paths = [part.path for part in cell.words if isinstance(part, Number)]
    assert paths[:2] == ["records.says_in.0.0", "records.says_in.0.1"]
    assert cell.words[-1] == ", …"
    assert sum(isinstance(part, Number) for part in cell.words) == 8
