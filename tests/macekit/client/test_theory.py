"""Questions of theory from Python: one answer here, on a server and as JSON by hand, whatever the arrays came in."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np
import pandas as pd
import pytest

import macekit
from app.openapi.examples import JSON_EXAMPLES, file_bytes, files_of, options_with
from macekit.catalogue import ARRAYS, BY_NAME
from macekit.client import server
from tests.app.running import Running
from tests.cases import each_case
from tests.macekit.client.worlds import CONTAINERS, TABLES, by_hand

ASKED = [(operation, name) for operation in ARRAYS for name in JSON_EXAMPLES[operation]]
TAKEN = ((operation, files_of(operation)) for operation in ARRAYS if ARRAYS[operation])
FILES = [(operation, name.rpartition(".")[2]) for operation, names in TAKEN for name in names]
GAUSSIAN: dict[str, Any] = {"clip": 1.0, "sigma": 0.5, "delta": 1e-3}
POINTS = np.round(np.random.default_rng(0).normal(size=(12, 3)), 3)


def method(client: Any, operation: str) -> Callable[..., macekit.Result]:
    found: Callable[..., macekit.Result] = attrgetter(BY_NAME[operation].python)(client)
    return found


@pytest.mark.slow
@each_case("operation, name", ASKED)
def test_every_example_has_the_same_answer_here_and_by_hand_and_the_first_there(
    operation: str, name: str, service: Running, mace: macekit.Mace
) -> None:
    value: Any = JSON_EXAMPLES[operation][name].value
    wanted = by_hand(service, operation, **value)

    for client in (macekit, mace) if name == next(iter(JSON_EXAMPLES[operation])) else (macekit,):
        found = method(client, operation)(**value)
        assert found.answer == wanted
        assert found.sentence == wanted["sentence"]
        assert wanted["sentence"] in str(found)


@pytest.mark.slow
@each_case("operation, suffix", FILES)
def test_a_file_is_asked_about_as_it_lies(operation, suffix, tmp_path, mace) -> None:
    name = next(each for each in files_of(operation) if each.endswith(suffix))
    (tmp_path / name).write_bytes(file_bytes(name))
    options: Any = options_with(operation)

    here, there = (method(client, operation)(tmp_path / name, **options) for client in (macekit, mace))

    assert here.answer == there.answer
    assert here.source == there.source == name


@pytest.mark.slow
def test_points_come_in_anything_that_has_rows(service: Running, mace: macekit.Mace) -> None:
    wanted = by_hand(service, "theory/pmp-gaussian", points=POINTS.tolist(), **GAUSSIAN)
    columns = dict(zip("abc", POINTS.T, strict=True))
    containers = {
        "array": POINTS,
        "lists": POINTS.tolist(),
        "Fortran": np.asfortranarray(POINTS),
        "dict of lists": {name: column.tolist() for name, column in columns.items()},
        **{name: table(columns) for name, table in TABLES.items()},
    }

    for name, points in containers.items():
        for client in (macekit, mace):
            assert client.theory.pmp_gaussian(points, **GAUSSIAN).answer == wanted, name


@pytest.mark.slow
def test_categories_come_in_every_container(service: Running, mace: macekit.Mace) -> None:
    """A container is read before anything is sent: one is sent."""
    cities = np.array(["Oslo", "Bergen", "Oslo", "Tromsø"] * 10)
    wanted = by_hand(service, "theory/mis", values=cities.tolist(), sizes=[10, 100])

    for name in set(CONTAINERS) - {"arrow, chunked"}:
        for client in (macekit, mace) if name == "array" else (macekit,):
            assert client.theory.mis(CONTAINERS[name](cities), sizes=[10, 100]).answer == wanted, name


def test_columns_of_a_frame_are_named(service: Running, mace: macekit.Mace) -> None:
    value: Any = JSON_EXAMPLES["theory/mip"]["swaps"].value
    frame = pd.DataFrame({"b": value["before"], "a": value["after"], "who": value["record"], "else": 0.0})
    wanted = by_hand(service, "theory/mip", **value)

    for client in (macekit, mace):
        found = client.theory.mip(frame, before="b", after=["a"], record="who", eta=value["eta"])
        assert found.answer == wanted


def test_several_columns_are_rows_and_the_rest_is_left(service: Running, mace: macekit.Mace) -> None:
    frame = pd.DataFrame(POINTS, columns=["x", "y", "z"])
    wanted = by_hand(service, "theory/pmp-gaussian", points=POINTS[:, [2, 0]].tolist(), **GAUSSIAN)

    for client in (macekit, mace):
        assert client.theory.pmp_gaussian(frame, column=["z", "x"], **GAUSSIAN).answer == wanted


def test_swaps_may_be_frames_of_their_own(service: Running, mace: macekit.Mace) -> None:
    rng = np.random.default_rng(1)
    before, record = np.round(rng.normal(size=(60, 2)), 2), np.arange(60) % 4
    after = np.round(before + 0.01 * rng.normal(size=before.shape), 2)
    columns = {"before": before.tolist(), "after": after.tolist(), "record": record.tolist()}
    wanted = by_hand(service, "theory/mip", **columns, eta=0.2)

    for client in (macekit, mace):
        found = client.theory.mip(before=pd.DataFrame(before), after=after, record=record, eta=0.2)
        assert found.answer == wanted


def test_losses_are_two_columns_or_a_table_of_scores(service: Running, mace: macekit.Mace) -> None:
    rng = np.random.default_rng(2)
    train, heldout = np.round(rng.exponential(size=300), 4), np.round(1 + rng.exponential(size=200), 4)
    frame = pd.DataFrame({"loss": [*train, *heldout], "is_train": [True] * 300 + [False] * 200})
    losses = {"train_losses": train.tolist(), "heldout_losses": heldout.tolist()}
    wanted = by_hand(service, "theory/mis-overfitting", **losses)

    for client in (macekit, mace):
        assert client.theory.mis_overfitting(train, heldout).answer == wanted
        assert client.theory.mis_overfitting(frame, score="loss", member="is_train").answer == wanted


def test_what_goes_over_the_wire_is_binary(mace: macekit.Mace, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []
    send = server.send
    monkeypatch.setattr(server, "send", lambda *given: (sent.append(given[1]), send(*given))[1])

    mace.theory.pmp_gaussian(POINTS, **GAUSSIAN)
    mace.theory.mip(before=POINTS, after=POINTS, record=["a", "b"] * 6)
    mace.theory.mis(["a", "b"] * 6)

    kinds = [post.headers["Content-Type"] for post in sent]
    assert kinds == ["application/x-npy", "application/vnd.apache.arrow.stream", "application/json"]


def test_the_frame_of_an_answer_holds_its_bounds_and_of_a_conversion_its_rows() -> None:
    bounds = macekit.theory.dp(epsilon=1.0, delta=1e-5, prior=0.1)
    conversion = macekit.theory.convert(eta=0.1)

    of_bounds, of_rows = bounds.to_frame(), conversion.to_frame()

    assert list(of_bounds["value"]) == [bound["value"] for bound in bounds.bounds]
    assert {"quantity", "says", "source", "proven", "tightest"} <= set(of_bounds.columns)
    assert of_bounds["tightest"].any()
    assert list(of_rows["at_least"])[:3] == [row.at_least for row in conversion.rows][:3]
    assert list(of_rows["quantity"])[:4] == ["advantage", "eta", "epsilon", "mu"]


@each_case(
    "ask, kind, field",
    (lambda theory: theory.dp(epsilon=-1), "out-of-range", "epsilon"),
    (lambda theory: theory.dp(epsilon=float("nan")), "out-of-range", "epsilon"),
    (lambda theory: theory.mip(["a", "b"]), "wrong-type", "draws"),
    (lambda theory: theory.mip([0.1, float("nan")]), "not-finite", "draws"),
    (lambda theory: theory.mip(np.zeros((2, 2, 2))), "bad-records", "draws"),
    (lambda theory: theory.mip([0.1], column="a"), "bad-option", "column"),
    (lambda theory: theory.mip({"a": [0.1]}, record=[1]), "bad-option", "record"),
    (lambda theory: theory.mip({"a": [0.1]}, column="b"), "unknown-name", "column"),
    (lambda theory: theory.mis([]), "too-few-records", "values"),
    (lambda theory: theory.mis(iter("ab")), "wrong-type", "values"),
    (lambda theory: theory.pmp_gaussian([[1.0], [2.0, 3.0]], **GAUSSIAN), "ragged-rows", "points"),
    (lambda theory: theory.pmp_gaussian({"a": ["x"], "b": ["y"]}, **GAUSSIAN), "mixed-types", "points"),
    (lambda theory: theory.mis_overfitting([1.0, 2.0]), "missing-field", "heldout_losses"),
)
def test_what_cannot_be_asked_is_one_problem_here_and_there(ask, kind, field, mace) -> None:
    for client in (macekit, mace):
        with pytest.raises(macekit.MaceProblem) as caught:
            ask(client.theory)

        assert (caught.value.kind, caught.value.field) == (kind, field)


def test_a_keyword_that_is_not_known_is_a_type_error_as_in_python() -> None:
    with pytest.raises(TypeError, match=r"pmp_gaussian\(\) got an unexpected keyword argument 'sigmo'; did you mean"):
        macekit.theory.pmp_gaussian(POINTS, sigmo=1.0)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^one_run\(\) got an unexpected keyword argument"):
        macekit.theory.one_run(dela=1e-5)  # type: ignore[call-arg]
