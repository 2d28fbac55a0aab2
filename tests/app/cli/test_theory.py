"""`mace theory`: every question of theory from a shell, from every form of file, printed so that its limits hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.cli import main
from app.cli.commands import THEORY
from app.openapi.examples import JSON_EXAMPLES
from app.openapi.files import file_bytes, files, files_of, options_with
from macekit.call import JSON, NPY, Body, Call
from macekit.catalogue import ARRAYS, Operation, flag
from macekit.operations import perform
from macekit.schemas.query import of_table, query_pairs
from macekit.schemas.questions import QUESTIONS
from tests.app.cli.files import answered

Capture = pytest.CaptureFixture[str]
ASKED = [(question, name) for question in THEORY for name in JSON_EXAMPLES[question.name]]
OF_TABLES = [question for question in THEORY if question.most_files]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every file that the service shows, and this process among them."""
    for name in files():
        (tmp_path / name).write_bytes(file_bytes(name))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def service(operation: str, media_type: str, body: bytes, *query: tuple[str, str]) -> dict[str, Any]:
    reply = perform(Call(operation, media_type, query=query), Body.of(body))
    found: dict[str, Any] = json.loads(bytes(reply.body))
    assert reply.status == 200, found
    return found


def pairs_of(operation: str) -> tuple[tuple[str, str], ...]:
    """The options that stand beside the example's file."""
    found = query_pairs(options_with(operation))
    assert found is not None
    return found


def typed(pairs: tuple[tuple[str, str], ...]) -> list[str]:
    return [word for name, value in pairs for word in (flag(name), value)]


def failed(capsys: Capture, *arguments: str) -> str:
    try:
        status = main(arguments)
    except SystemExit as end:
        status = int(str(end.code))
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert "Traceback" not in err
    return err


def test_there_is_a_command_for_every_question_of_theory() -> None:
    assert {question.name for question in THEORY} == {
        name for name in QUESTIONS if name.startswith("theory/")
    }
    assert all(question.command == question.name.replace("/", " ") for question in THEORY)


@pytest.mark.parametrize(("question", "name"), ASKED, ids=[f"{q.name}-{name}" for q, name in ASKED])
def test_a_request_is_answered_as_the_service_does(question: Operation, name: str, capsys: Capture) -> None:
    value = JSON_EXAMPLES[question.name][name].value
    assert isinstance(value, dict)
    wanted = service(question.name, JSON, json.dumps(value).encode())
    words = question.command.split()
    if question.most_files == 0:
        rdp = ",".join(f"{order}:{epsilon}" for order, epsilon in value.get("rdp", ()))
        plain = query_pairs({each: option for each, option in value.items() if each != "rdp"})
        assert plain is not None
        asked = [*words, *typed((*plain, *([("rdp", rdp)] if rdp else [])))]
    else:
        Path("request.json").write_text(json.dumps(value))
        asked = [*words, "request.json"]

    assert answered(capsys, *asked) == wanted
    assert main(asked) == (name == "contradicted")
    out = capsys.readouterr().out
    assert wanted["sentence"] in out
    assert all(note["message"] in out for note in wanted["warnings"])
    assert ("  tightest  " in out) == any(bound["tightest"] for bound in wanted.get("bounds", ()))


@pytest.mark.parametrize("question", OF_TABLES, ids=lambda each: each.name)
@pytest.mark.parametrize("suffix", ["csv", "jsonl", "npy", "npz", "arrow", "parquet"])
def test_every_form_of_file_gives_the_services_answer(
    question: Operation, suffix: str, capsys: Capture
) -> None:
    operation = question.name
    file, media_type = next(each for each in files_of(operation).items() if each[0].endswith(suffix))
    pairs = pairs_of(operation)
    if operation == "theory/together" and suffix != "npy":
        pairs = (*pairs, ("score", "loss"))

    found = answered(capsys, *question.command.split(), file, *typed(pairs))

    assert found == service(operation, media_type, file_bytes(file), *pairs)


def test_options_win_over_those_of_a_request(capsys: Capture) -> None:
    value = JSON_EXAMPLES["theory/pmp-gaussian"][next(iter(JSON_EXAMPLES["theory/pmp-gaussian"]))].value
    assert isinstance(value, dict)
    Path("request.json").write_text(json.dumps({**value, "delta": 0.5}))

    found = answered(capsys, "theory", "pmp-gaussian", "request.json", "--delta", "1e-3")

    assert found["delta"] == 1e-3


def test_columns_are_named_by_the_array_they_are(capsys: Capture) -> None:
    value = JSON_EXAMPLES["theory/mip"]["swaps"].value
    assert isinstance(value, dict)
    rows = zip(value["before"], value["after"], value["record"], strict=True)
    Path("swaps.csv").write_text("b,a,who\n" + "".join(f"{b},{a},{who}\n" for b, a, who in rows))
    wanted = service("theory/mip", JSON, json.dumps(value).encode())

    found = answered(
        capsys, "theory", "mip", "swaps.csv", "--before", "b", "--after", "a", "--record", "who", "--eta",
        str(value["eta"]),
    )  # fmt: skip

    assert found["noise"] == wanted["noise"]
    assert found["bounds"] == wanted["bounds"]


def test_losses_may_come_in_two_files(capsys: Capture) -> None:
    value = next(iter(JSON_EXAMPLES["theory/mis-overfitting"].values())).value
    assert isinstance(value, dict)
    np.save("train.npy", np.array(value["train_losses"], dtype=np.float64))
    np.save("heldout.npy", np.array(value["heldout_losses"], dtype=np.float64))
    wanted = service("theory/mis-overfitting", JSON, json.dumps(value).encode())
    options = {each: option for each, option in value.items() if each not in ARRAYS["theory/mis-overfitting"]}
    pairs = query_pairs(options)
    assert pairs is not None

    found = answered(
        capsys,
        "theory",
        "mis-overfitting",
        "--members",
        "train.npy",
        "--nonmembers",
        "heldout.npy",
        *typed(pairs),
    )

    names = (("members", "train.npy"), ("nonmembers", "heldout.npy"))
    for column, (role, name) in zip(wanted["provenance"]["columns"], names, strict=True):
        column |= {"role": role, "name": name}
    assert found == wanted


def test_a_column_of_a_table_is_counted_as_categories(capsys: Capture) -> None:
    Path("people.csv").write_text(
        "id,city\n" + "".join(f"{i},{'Oslo' if i % 3 else 'Bergen'}\n" for i in range(60))
    )

    found = answered(capsys, "theory", "mis", "people.csv", "--column", "city", "--sizes", "100")

    assert (found["records"], found["categories"]) == (60, 2)
    assert found["curve"]["n"] == [100]  # type: ignore[index]


MISUSES = {
    "no such question": (["theory", "mip-infinite"], "did you mean mip-finite?"),
    "no question": (["theory"], "required: NAME"),
    "no such option": (
        ["theory", "dp", "--epsilom", "1"],
        "--epsilom is not an option; did you mean --epsilon?",
    ),
    "nothing promised": (["theory", "dp"], "mace theory dp: "),
    "out of range": (
        ["theory", "dp", "--epsilon", "-1"],
        "--epsilon: needs to be greater than or equal to 0",
    ),
    "no pairs": (["theory", "dp", "--rdp", "2", "--delta", "0.1"], "--rdp: needs to be a list"),
    "a file too many": (["theory", "mip", "a.npy", "b.npy"], "takes one file, got 2\n"),
    "an option that is needed": (
        ["theory", "pmp-gaussian", "theory-pmp-gaussian.npy"],
        "is required and missing",
    ),
    "no such column": (
        ["theory", "mis", "theory-mis.csv", "--column", "nowhere"],
        "column: no column of the 1 has this name",
    ),
    "no such file": (["theory", "mip", "nowhere.npy"], "nowhere.npy: No such file"),
    "columns of a request": (
        ["theory", "mip", "request.json", "--column", "a"],
        "--column: a JSON request has no",
    ),
}


@pytest.mark.parametrize("name", MISUSES)
def test_what_cannot_be_asked_is_misuse(name: str, capsys: Capture) -> None:
    Path("request.json").write_text(json.dumps({"draws": [1.0, 2.0]}))
    arguments, said = MISUSES[name]

    assert said in failed(capsys, *arguments)


@pytest.mark.parametrize("question", THEORY, ids=lambda each: each.name)
def test_help_lists_the_options_of_the_question(question: Operation, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as end:
        main([*question.command.split(), "--help"])

    out = capsys.readouterr().out
    assert end.value.code == 0
    assert f"\nexamples:\n  mace {question.command}" in out
    assert "exit status:\n  0    pass: every limit holds" in out
    assert "Undefined" not in out
    assert "/v1/" not in out
    for name in ARRAYS[question.name]:
        assert (f" {flag(name)} " in out) == (name in of_table(question.name))


@pytest.mark.parametrize("question", THEORY, ids=lambda each: each.name)
def test_the_examples_of_help_are_commands_that_are_understood(question: Operation, capsys: Capture) -> None:
    for line in question.examples:
        status = main(line.split()[1:])

        err = capsys.readouterr().err
        assert status == 0 or (question.most_files and "No such file" in err) or "no column" in err, err


def test_the_answer_is_kept_in_a_file_and_its_sentence_told(capsys: Capture) -> None:
    assert main(["theory", "dp", "--epsilon", "1", "-o", "answer.json"]) == 0

    kept = json.loads(Path("answer.json").read_text())
    assert kept["sentence"] in capsys.readouterr().err


def test_a_body_of_the_main_array_needs_no_names() -> None:
    laws = file_bytes("theory-mip-finite.npy")

    found = service("theory/mip-finite", NPY, laws, *pairs_of("theory/mip-finite"))

    assert found["records"]["record"] == list(range(len(found["records"]["record"])))
