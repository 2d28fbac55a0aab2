"""Other tools' results, each written by the tool itself, are read as what its attack put in; see peers/README.md."""

import gzip
import io
import json
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import macekit
from estimators import MaceError
from macekit.call import JSON, NPZ, Body, Call
from macekit.imports.peers import BY_NAME, PEERS, Columns
from macekit.imports.reading import ImportedScores
from macekit.imports.reading import read as read_result
from macekit.operations import perform
from macekit.problems import Problem
from tests.cases import each_case

PEERS_FOLDER = Path(__file__).parent / "peers"

FILES = {
    "leakpro.json": "leakpro", "privacy_meter.npz": "privacy-meter", "sacro_ml.npz": "sacro-ml",
    "art.npz": "art", "art_rule.npz": "art", "tf_privacy.npz": "tf-privacy",
    "tf_privacy_losses.npz": "tf-privacy", "privacyguard.json": "privacyguard",
    "jax_privacy.npz": "jax-privacy",
}  # fmt: skip
"""Files with the scores of each record, and the tools that wrote them."""


def expected(file: str) -> dict[str, list[float]]:
    """What the attack itself said of each record."""
    text = (PEERS_FOLDER / "expected" / f"{Path(file).stem}.json").read_text()
    content: dict[str, list[float]] = json.loads(text)
    return content


def arrays_of(file: str) -> dict[str, Any]:
    """The arrays of a file, whatever it is written in."""
    if file.endswith(".npz"):
        with np.load(PEERS_FOLDER / file, allow_pickle=False) as archive:
            return dict(archive)
    content: dict[str, Any] = json.loads((PEERS_FOLDER / file).read_text())
    return content


LIMIT = 2**20
"""Bytes that a file may expand to here."""


def read(media_type: str, data: bytes, encoding: str = "identity") -> ImportedScores:
    call = Call("columns", media_type, encoding, expanded_limit=LIMIT)
    return read_result(call, Body.of(data), "file")


def refusal(path: Path, tool: str | None = None) -> macekit.MaceProblem:
    with pytest.raises(macekit.MaceProblem) as raised:
        macekit.import_scores(path, tool)
    return raised.value


@each_case("file, tool", FILES.items())
def test_scores_are_those_that_the_attack_put_in_whether_the_tool_is_named_or_not(file, tool) -> None:
    table = macekit.import_scores(PEERS_FOLDER / file)
    named = macekit.import_scores(PEERS_FOLDER / file, tool)

    scores, member = (table[name].to_numpy() for name in ("score", "member"))
    sides = {"members": scores[member == 1].tolist(), "nonmembers": scores[member == 0].tolist()}
    assert sides == expected(file)
    assert named.equals(table)


def test_every_tool_has_a_file_here() -> None:
    assert {*FILES.values()} == {*BY_NAME}


@each_case(
    "file", [file for file, tool in FILES.items() if any(isinstance(each, Columns) for each in BY_NAME[tool].layouts)]
)
def test_records_stay_in_the_order_of_the_file(file: str) -> None:
    arrays = arrays_of(file)
    layout = next(each for each in BY_NAME[FILES[file]].layouts if {*each.names} <= {*arrays})

    table = macekit.import_scores(PEERS_FOLDER / file)

    if isinstance(layout, Columns):
        assert table["member"].to_pylist() == [int(each) for each in arrays[layout.member]]
    else:
        first, second = (len(arrays[name]) for name in layout.names)
        assert table["member"].to_pylist() == [1] * first + [0] * second


def test_a_table_is_what_every_question_takes() -> None:
    table = macekit.import_scores(PEERS_FOLDER / "leakpro.json")
    sides = expected("leakpro.json")

    of_table, of_sides = macekit.gate(table, max_advantage=0.1), macekit.gate(**sides, max_advantage=0.1)

    assert of_table.decision == "fail"
    assert of_table["limits"] == of_sides["limits"]


def test_lower_losses_are_higher_scores() -> None:
    table = macekit.import_scores(PEERS_FOLDER / "tf_privacy_losses.npz")

    losses = arrays_of("tf_privacy_losses.npz")
    assert table["score"].to_pylist() == [-each for each in [*losses["loss_train"], *losses["loss_test"]]]


@each_case(
    "file, tool, words",
    ("leakpro_counts.json", None, "LeakPro's summary, without the score of each record: take data_objects"),
    ("leakpro_counts.json", "leakpro", "LeakPro's summary, without the score of each record"),
    ("leakpro_counts.json", "art", "no scores of ART: need inferred_train and inferred_test, or attack_proba"),
    ("privacyguard_summary.json", None, "PrivacyGuard's summary, without the score of each record: write json"),
    ("sacro_ml.json", None, "stands beside it, in report_arrays_"),
    ("attack_result_average_dp.npz", None, "several models .* take exp/attack_result_N.npz"),
    ("jax_privacy.npz", "leakpro", "this is JAX-Privacy's result, not LeakPro's; name jax-privacy"),
    ("jax_privacy.npz", "jax-privaci", "did you mean jax-privacy"),
    ("tf_privacy.pickle", None, "TF Privacy saves its results as a pickle.*\nimport numpy, pickle\nresult = "),
    ("make.py", None, "neither JSON nor NPZ"),
)
def test_what_has_no_scores_says_what_to_save(file: str, tool: str | None, words: str) -> None:
    problem = refusal(PEERS_FOLDER / file, tool)

    assert re.search(words, problem.detail, re.DOTALL), problem.detail


def test_the_recipe_of_a_pickle_writes_names_that_are_read() -> None:
    tool = BY_NAME["tf-privacy"]

    assert all(f"{name}=" in tool.recipe[-1] for name in tool.layouts[0].names)
    assert len(tool.recipe) == 3
    for line in tool.recipe:
        compile(line, "recipe", "exec")


class Bomb:
    """What does something when it is unpickled."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return Path.write_text, (Path("opened"), "by the pickle")


@each_case("protocol", [0, 2, 4, 5])
def test_nothing_is_unpickled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protocol: int) -> None:
    monkeypatch.chdir(tmp_path)
    data = pickle.dumps(Bomb(), protocol)
    (tmp_path / "plain.json").write_bytes(data)
    (tmp_path / "squeezed.json.gz").write_bytes(gzip.compress(data))
    objects = np.array([Bomb()], dtype=object)
    np.savez(tmp_path / "objects.npz", in_canary_scores=objects, out_canary_scores=objects)

    for name in ("plain.json", "squeezed.json.gz", "objects.npz"):
        assert refusal(tmp_path / name).kind == "pickle"
    assert "numpy.savez" in refusal(tmp_path / "plain.json", "tf-privacy").detail

    assert not (tmp_path / "opened").exists()


def npz(**arrays: Any) -> bytes:
    sink = io.BytesIO()
    np.savez_compressed(sink, **arrays)
    return sink.getvalue()


CANARIES = BY_NAME["jax-privacy"].layouts[0].names


def canaries(members: object, nonmembers: object) -> bytes:
    return npz(**dict(zip(CANARIES, map(np.asarray, (members, nonmembers)), strict=True)))


def leakpro(signals: object, labels: object) -> bytes:
    return json.dumps({"signal_values": signals, "true_labels": labels}).encode()


def individuals(*members: int) -> dict[str, Any]:
    return {"individual": {"score": [0.5] * len(members), "member": [*members]}}


def deep() -> bytes:
    tree: dict[str, Any] = {"signal_values": [1.0]}
    for _ in range(40):
        tree = {"deeper": tree}
    return json.dumps(tree).encode()


WHOLE = (PEERS_FOLDER / "leakpro.json").read_bytes()


@each_case(
    "media_type, data, kind, words",
    (JSON, WHOLE[:3000], "incomplete-body", "ended before"),
    (JSON, b"[1, 2]", "malformed-body", "no object"),
    (JSON, deep(), "malformed-body", "nested deeper"),
    (NPZ, (PEERS_FOLDER / "art.npz").read_bytes()[:400], "malformed-body", "not NPZ"),
    (NPZ, canaries(np.zeros(LIMIT), np.zeros(9)), "too-large", "expand to more than 1048576"),
    (JSON, leakpro([0.1, float("nan")], [1, 0]), "not-finite", "signal_values: record 1"),
    (JSON, leakpro([0.1, None], [1, 0]), "not-finite", "signal_values: record 1 has no value"),
    (JSON, leakpro(["a", "b"], [1, 0]), "wrong-type", "signal_values: need numbers"),
    (JSON, leakpro([0.1, 0.2], [1, 2]), "wrong-type", "true_labels: need 1 for each member"),
    (JSON, leakpro([0.1, 0.2], [1, 0, 0]), "dimension-mismatch", "has 2 values, true_labels has 3"),
    (JSON, leakpro([0.1, 0.2], [1, 1]), "too-few-records", "one side only"),
    (JSON, leakpro([[0.1, 0.2, 0.7], [0.2, 0.7, 0.1]], [1, 0]), "dimension-mismatch", "one number a record"),
    (NPZ, canaries([0.1, np.inf], [0.2]), "not-finite", "in_canary_scores: record 1"),
    (NPZ, canaries([[1.0, 2.0]], [[3.0, 4.0]]), "dimension-mismatch", "sum to one"),
    (NPZ, canaries([], [0.2]), "too-few-records", "one side only"),
    (NPZ, npz(nothing=np.zeros(3)), "bad-records", "it holds 'nothing'"),
    (
        JSON,
        json.dumps({"a": {"instance_0": individuals(1, 0), "instance_1": individuals(0, 1)}}).encode(),
        "bad-records",
        "holds 2 results of SACRO-ML",
    ),
)
def test_a_file_that_cannot_be_used_says_where_and_why(media_type, data, kind, words) -> None:
    with pytest.raises((Problem, MaceError)) as raised:
        read(media_type, data)

    problem = Problem.of(raised.value)
    assert problem.kind.slug == kind
    assert words in problem.local


def test_an_older_report_of_sacro_ml_holds_the_scores_itself() -> None:
    logged = {"individual": {"score": [0.9, 0.2, 0.7, 0.4], "member": [1, 0, 1, 0]}}
    loggers = {"attack_experiment_logger": {"attack_instance_logger": {"instance_0": logged}}}
    result = read(JSON, json.dumps({"LiRA Attack_0": loggers}).encode())

    assert (result.tool.name, result.scores.tolist()) == ("sacro-ml", [0.9, 0.2, 0.7, 0.4])
    assert result.member.tolist() == [True, False, True, False]


def test_a_compressed_file_is_read_like_a_plain_one(tmp_path: Path) -> None:
    (tmp_path / "result.json.gz").write_bytes(gzip.compress(WHOLE))

    assert macekit.import_scores(tmp_path / "result.json.gz").equals(
        macekit.import_scores(PEERS_FOLDER / "leakpro.json")
    )


def test_sides_the_wrong_way_round_are_asked_about_and_chance_is_not() -> None:
    rng = np.random.default_rng(3)
    high, low = rng.normal(1, 1, 60), rng.normal(0, 1, 60)

    sides = ((high, low), (low, high), (low, rng.normal(0, 1, 60)), (np.ones(40), np.zeros(40)))
    right, swapped, alike, constant = (read(NPZ, canaries(a, b)).doubt for a, b in sides)

    assert (right, alike) == ("", "")
    assert swapped.startswith("members score lower than nonmembers (AUC 0.")
    assert "all members have one score and all nonmembers another" in constant


def test_no_two_tools_have_a_name_in_common() -> None:
    names = [name for peer in PEERS for name in {name for each in peer.layouts for name in each.names}]

    assert len(names) == len({*names})


@each_case("file, tool", FILES.items())
def test_a_result_in_place_of_scores_is_refused_with_what_makes_scores_of_it(file: str, tool: str) -> None:
    title = BY_NAME[tool].title

    with pytest.raises(macekit.MaceProblem) as raised:
        macekit.gate(PEERS_FOLDER / file, max_advantage=0.1)
    media_type = NPZ if file.endswith(".npz") else JSON
    reply = perform(Call("gate", media_type), Body.of((PEERS_FOLDER / file).read_bytes()))

    assert str(raised.value) == (
        f"is a result of {title}'s: macekit.import_scores(path) makes the table of it that this takes"
    )
    assert reply.status == 422
    assert f"is a result of {title}'s; `mace import FILE -o scores.csv`" in json.loads(reply.body)["detail"]


def test_what_is_no_result_keeps_its_own_refusal() -> None:
    body = json.dumps({"memberz": [1, 2], "nonmembers": [3, 4]}).encode()

    reply = perform(Call("gate", JSON), Body.of(body))

    assert "did you mean 'members'?" in json.loads(reply.body)["detail"]
