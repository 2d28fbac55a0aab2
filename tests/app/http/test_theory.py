"""Questions of theory over a real socket: every example, every form of array, one typed problem for each mistake."""

import json
import sys
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest

from app.openapi.examples import file_bytes, files_of, options_with
from macekit.call import JSON, NPY, Body, Call
from macekit.catalogue import ARRAYS, quick
from macekit.operations import perform
from macekit.schemas.query_string import query_pairs
from tests.app.http.asked import ENCODERS, ok, post, slug
from tests.app.running import Running
from tests.cases import each_case
from tests.macekit.decoding.support import npy_bytes

FILES = [
    (operation, files[place % len(files)], [*ENCODERS][place % 2])
    for place, operation in enumerate(ARRAYS)
    if (files := [*files_of(operation)] if ARRAYS[operation] else [])
]
"""A file for each operation that reads any, of every format and compression in turn: what each says, and each example,
is told by the goldens."""


def here(call: Call, body: bytes) -> Any:
    return json.loads(bytes(perform(call, Body.of(body)).body))


@pytest.mark.slow
@each_case("operation, file, encoding", FILES)
def test_a_compressed_file_is_answered_as_the_same_file_is_in_this_process(
    operation: str, file: str, encoding: str, service: Running
) -> None:
    query, media_type = query_pairs(options_with(operation)) or (), files_of(operation)[file]
    packed = ENCODERS[encoding](file_bytes(file))

    answer = post(service, f"/v1/{operation}?{urlencode(query)}", packed, media_type, {"Content-Encoding": encoding})

    assert ok(answer) == here(Call(operation, media_type, query=query), file_bytes(file))


POINTS = [[0.0, 1.0], [1.0, 0.0], [0.5, 0.5], [0.2, 0.1]]
MANY = [[float(i), -float(i)] for i in range(80)]

LOSSES = {"train_losses": [0.1], "heldout_losses": [1.0]}
TWO_LAWS = {"outputs": [[0.5, 0.6], [0.5, 0.4]]}

MISTAKES: list[tuple[str, dict[str, Any], str, str | None]] = [
    ("dp", {}, "missing-field", "epsilon"),
    ("dp", {"epsilon": -1}, "out-of-range", "epsilon"),
    ("dp", {"epsilon": 1, "delta": 1.1}, "out-of-range", "delta"),
    ("dp", {"epsilon": 1, "points": POINTS}, "unknown-field", None),
    ("convert", {}, "missing-field", "advantage"),
    ("convert", {"advantage": 0.1, "mu": 1}, "bad-option", "mu"),
    ("convert", {"advantage": 0.5, "prior": 0.1}, "out-of-range", "advantage"),
    ("convert", {"eta": 0.5}, "out-of-range", "eta"),
    ("together", {"members": [1.0] * 9, "nonmembers": [1.0] * 9}, "missing-field", "claimed_epsilon"),
    ("together", {"members": [1.0], "nonmembers": [1.0], "claimed_epsilon": 1}, "too-few-records", None),
    ("mip", {"draws": []}, "too-few-records", "draws"),
    ("mip", {"draws": ["a"]}, "wrong-type", "draws"),
    ("mip", {"draws": [1.0, 2.0], "eta": 0.7}, "out-of-range", "eta"),
    ("mip-finite", {"laws": [[0.5, 0.6], [0.5, 0.5]], "n": 2}, "bad-probabilities", "laws"),
    ("mis", {"probabilities": [0.5, 0.6]}, "bad-probabilities", "probabilities"),
    ("mis", {"probabilities": [1.5, -0.5]}, "out-of-range|bad-probabilities", "probabilities"),
    ("mis", {"values": []}, "too-few-records", "values"),
    ("mis", {"values": ["a"], "tallies": [1]}, "bad-option", None),
    ("mis-overfitting", {"train_losses": [1.0]}, "missing-field", "heldout_losses"),
    ("mis-overfitting", {**LOSSES, "alpha": 1}, "out-of-range", "alpha"),
    ("mis-overfitting", {**LOSSES, "alpha": 5e-324}, "out-of-range", "alpha"),
    ("mis-overfitting", {**LOSSES, "train_losses": [-1.0], "alpha": 0.1}, "out-of-range", "train_losses"),
    ("mis-divergence", {}, "missing-field", "outputs"),
    ("mis-divergence", {"outputs": [[0.5, 0.5, 0.0]]}, "dimension-mismatch", "outputs"),
    ("mis-divergence", {"outputs": [[0.5, 1.0], [0.4, 0.0]]}, "bad-probabilities", "outputs"),
    ("mis-divergence", {**TWO_LAWS, "nonmember_share": 1}, "out-of-range", "nonmember_share"),
    ("mis-mean", {"dimension": 0}, "out-of-range", "dimension"),
    ("mis-mean", {"delta": 1.1}, "out-of-range", "delta"),
    ("mis-mean", {"sizes": [0]}, "out-of-range", "sizes"),
    ("mis-mean", {"points": [1.0]}, "unknown-field", None),
    ("pmp-exponential", {"losses": MANY, "epsilon": 1, "sensitivity": 100}, "too-many-subsets", None),
    ("pmp-exponential", {"losses": POINTS, "epsilon": 1, "sensitivity": 0}, "out-of-range", "sensitivity"),
    ("pmp-finite", {}, "missing-field", "laws"),
    ("pmp-finite", {"laws": [[0.5, 0.5]] * 5}, "dimension-mismatch", "laws"),
    ("pmp-finite", {"laws": [[0.5, 0.5], [0.5, 0.6]]}, "bad-probabilities", "laws"),
    ("pmp-finite", {"laws": [[0.5, 0.5], [1.0]]}, "ragged-rows", "laws"),
    ("pmp-finite", {"laws": [[0.5, 0.5], [0.5, 0.5]], "delta": 1.1}, "out-of-range", "delta"),
    ("pmp-gaussian", {"clip": 1, "sigma": 1, "delta": 0.1}, "missing-field", "points"),
    ("pmp-gaussian", {"points": POINTS, "clip": 1, "sigma": 1, "delta": 0}, "out-of-range", "delta"),
]


@each_case("operation, body, slugs, field", MISTAKES)
def test_each_mistake_is_one_typed_problem(
    operation: str, body: dict[str, Any], slugs: str, field: str | None, service: Running
) -> None:
    answer = post(service, f"/v1/theory/{operation}", body)

    assert answer.status == 422, answer.body
    assert slug(answer) in slugs.split("|")
    assert field is None or answer.json()["field"].partition("[")[0] == field


def test_options_of_an_array_stand_in_the_address(service: Running) -> None:
    body = npy_bytes(np.array(POINTS))

    right = post(service, "/v1/theory/pmp-gaussian?clip=1&sigma=1&delta=0.1", body, NPY)
    unknown = post(service, "/v1/theory/pmp-gaussian?clip=1&sigma=1&delta=0.1&members=2", body, NPY)

    assert right.status == 200
    assert (unknown.status, slug(unknown)) == (422, "unknown-field")


def test_only_a_promise_that_needs_no_accountant_is_answered_without_a_worker() -> None:
    def told(**body: object) -> bool:
        return quick(Call("theory/dp"), json.dumps(body).encode())

    assert told(epsilon=1, delta=1e-5, prior=0.1)
    assert not told(mu=1)
    assert not told(rdp=[[2, 0.1]], delta=1e-5)
    assert not told(noise_multiplier=1, steps=10, delta=1e-5)
    assert not any(quick(Call(operation), b"{}") for operation in ARRAYS if operation != "theory/dp")


def test_an_accountant_that_is_not_installed_is_told_with_the_way_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "dp_accounting"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    body = {"noise_multiplier": 1.0, "steps": 10, "sampling_rate": 0.1, "delta": 1e-5}

    found = here(Call("theory/dp"), json.dumps(body).encode())

    assert found["type"] == "urn:mace:problem:not-installed"
    assert "pip install 'macekit[accounting]'" in found["detail"]


def test_a_question_posted_as_another_format_than_it_has_is_refused(service: Running) -> None:
    answer = post(service, "/v1/theory/dp", b"epsilon\n1\n", "text/csv")

    assert (answer.status, slug(answer)) == (415, "unsupported-media-type")
    assert JSON in answer.json()["detail"]
