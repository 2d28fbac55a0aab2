"""`mace theory`: every question of theory from a shell, from every form of file, printed so that its limits hold."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.cli.commands import THEORY
from app.openapi.examples import JSON_EXAMPLES, file_bytes, files, files_of, options_with
from macekit.call import JSON, NPY
from macekit.catalogue import ARRAYS, flag
from macekit.operation import Operation
from macekit.schemas.by_operation import QUESTIONS
from macekit.schemas.query_string import of_table, query_pairs
from tests.app.cli.files import answer, refused, typed
from tests.cases import each_case
from tests.macekit.asking import asked

pytestmark = pytest.mark.usefixtures("quick")

ASKED = [(question, name) for question in THEORY for name in JSON_EXAMPLES[question.name]]
OF_TABLES = [question for question in THEORY if question.most_files]


@pytest.fixture(autouse=True)
def folder(empty: Path) -> Path:
    """Every file that the service shows."""
    for name, data in shown().items():
        (empty / name).write_bytes(data)
    return empty


@cache
def shown() -> dict[str, bytes]:
    return {name: file_bytes(name) for name in files()}


def service(operation: str, media_type: str, body: bytes, *query: tuple[str, str]) -> dict[str, Any]:
    answer: dict[str, Any] = asked(operation, body, media_type, **dict(query))
    return answer


def pairs_of(operation: str) -> tuple[tuple[str, str], ...]:
    """The options that stand beside the example's file."""
    found = query_pairs(options_with(operation))
    assert found is not None
    return found


def words_of(pairs: tuple[tuple[str, str], ...]) -> list[str]:
    return [word for name, value in pairs for word in (flag(name), value)]


def test_there_is_a_command_for_every_question_of_theory() -> None:
    names = {name for name in QUESTIONS if name.startswith("theory/")}
    assert {question.name for question in THEORY} == names
    assert all(question.command == question.name.replace("/", " ") for question in THEORY)


@pytest.mark.slow
@each_case("question, name", ASKED)
def test_a_request_is_answered_as_the_service_does(question: Operation, name: str) -> None:
    value = JSON_EXAMPLES[question.name][name].value
    assert isinstance(value, dict)
    wanted = service(question.name, JSON, json.dumps(value).encode())
    if question.most_files == 0:
        rdp = ",".join(f"{order}:{epsilon}" for order, epsilon in value.get("rdp", ()))
        plain = query_pairs({each: option for each, option in value.items() if each != "rdp"})
        assert plain is not None
        words = words_of((*plain, *([("rdp", rdp)] if rdp else [])))
    else:
        Path("request.json").write_text(json.dumps(value))
        words = ["request.json"]

    done = typed(question.command, *words)

    assert answer(question.command, *words) == wanted
    assert done.status == {"contradicted": 1, "inconclusive": 3}.get(wanted.get("decision"), 0)
    assert wanted["sentence"] in done.out
    assert all(note["message"] in done.out for note in wanted["warnings"])
    assert ("  tightest  " in done.out) == any(bound["tightest"] for bound in wanted.get("bounds", ()))


@pytest.mark.slow
@each_case(
    "question, file, media_type",
    [(question, *each) for question in OF_TABLES for each in files_of(question.name).items()],
)
def test_every_form_of_file_gives_the_services_answer(question: Operation, file: str, media_type: str) -> None:
    pairs = pairs_of(question.name)
    if question.name == "theory/together" and media_type != NPY:
        pairs = (*pairs, ("score", "loss"))

    found = answer(question.command, file, *words_of(pairs))

    assert found == service(question.name, media_type, file_bytes(file), *pairs)


def test_options_win_over_those_of_a_request() -> None:
    value: Any = next(iter(JSON_EXAMPLES["theory/pmp-gaussian"].values())).value
    Path("request.json").write_text(json.dumps({**value, "delta": 0.5}))

    assert answer("theory pmp-gaussian request.json --delta 1e-3")["delta"] == 1e-3


@pytest.mark.slow
def test_columns_are_named_by_the_array_they_are() -> None:
    value: Any = JSON_EXAMPLES["theory/mip"]["swaps"].value
    rows = zip(value["before"], value["after"], value["record"], strict=True)
    Path("swaps.csv").write_text("b,a,who\n" + "".join(f"{b},{a},{who}\n" for b, a, who in rows))
    wanted = service("theory/mip", JSON, json.dumps(value).encode())

    found = answer(f"theory mip swaps.csv --before b --after a --record who --eta {value['eta']}")

    assert found["noise"] == wanted["noise"]
    assert found["bounds"] == wanted["bounds"]


def test_losses_may_come_in_two_files() -> None:
    value: Any = next(iter(JSON_EXAMPLES["theory/mis-overfitting"].values())).value
    np.save("train.npy", np.array(value["train_losses"], dtype=np.float64))
    np.save("heldout.npy", np.array(value["heldout_losses"], dtype=np.float64))
    wanted = service("theory/mis-overfitting", JSON, json.dumps(value).encode())
    options = {each: option for each, option in value.items() if each not in ARRAYS["theory/mis-overfitting"]}
    pairs = query_pairs(options)
    assert pairs is not None

    found = answer("theory mis-overfitting --members train.npy --nonmembers heldout.npy", *words_of(pairs))

    names = (("members", "train.npy"), ("nonmembers", "heldout.npy"))
    for column, (role, name) in zip(wanted["provenance"]["columns"], names, strict=True):
        column |= {"role": role, "name": name}
    assert found == wanted


def test_a_column_of_a_table_is_counted_as_categories() -> None:
    rows = "".join(f"{i},{'Oslo' if i % 3 else 'Bergen'}\n" for i in range(60))
    Path("people.csv").write_text("id,city\n" + rows)

    found = answer("theory mis people.csv --column city --sizes 100")

    assert (found["records"], found["categories"], found["curve"]["n"]) == (60, 2, [100])


@each_case("question", THEORY)
def test_help_lists_the_arrays_of_the_question(question: Operation) -> None:
    out = typed(f"{question.command} --help").out

    for name in ARRAYS[question.name]:
        assert (f" {flag(name)} " in out) == (name in of_table(question.name))


def test_the_answer_is_kept_in_a_file_and_its_sentence_told() -> None:
    done = typed("theory dp --epsilon 1 -o answer.json")

    assert done.status == 0
    assert json.loads(Path("answer.json").read_text())["sentence"] in done.err


def test_a_body_of_the_main_array_needs_no_names() -> None:
    laws = file_bytes("theory-mip-finite.npy")
    Path("laws.npy").write_bytes(laws)
    assert "laws.npy: --n: is required and missing" in refused("theory mip-finite laws.npy")

    found = service("theory/mip-finite", NPY, laws, *pairs_of("theory/mip-finite"))

    assert found["records"]["record"] == list(range(len(found["records"]["record"])))
