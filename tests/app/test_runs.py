"""Runs that a service seals and remembers: each goes on from its last state only, over restarts and crashes."""

import json
import resource
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from app import runs as module
from app.runs import Runs, RunsError, RunsFile
from app.settings import BadSettings, Settings
from app.signing import Signer
from macekit.call import Step
from macekit.problems import Problem
from tests.app.conftest import key_pair

KEY = b"k" * 32
DAYS = 10.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.jsonl.runs"


def runs_in(path: Path | None, key: bytes = KEY) -> Runs:
    return Runs(key, DAYS, None if path is None else RunsFile(path))


def step(look: int, state: str, before: str | None = None, seal: str | None = None, run_id: str = "r") -> Step:
    return Step(run_id, look, before, state, seal)


def refused(runs: Runs, each: Step) -> tuple[int, str]:
    with pytest.raises(Problem) as caught:
        runs.take(each)
    return caught.value.kind.status, caught.value.kind.slug


def test_a_run_goes_on_from_its_last_state(path: Path) -> None:
    runs = runs_in(path)

    seal = runs.take(step(1, "a"))
    for look, (before, after) in enumerate(["ab", "bc", "cd"], 2):
        seal = runs.take(step(look, after, before, seal))

    last = json.loads(path.read_text().splitlines()[-1])
    assert (last["run_id"], last["look"], last["state"]) == ("r", 4, "d")


@pytest.mark.parametrize("place", [True, False], ids=["in a file", "in memory"])
def test_an_earlier_state_with_another_batch_is_refused(path: Path, place: bool) -> None:
    runs = runs_in(path if place else None)
    first = runs.take(step(1, "a"))
    second = runs.take(step(2, "b", "a", first))
    runs.take(step(3, "c", "b", second))

    assert refused(runs, step(2, "x", "a", first)) == (409, "outdated-state")
    assert refused(runs, step(3, "x", "b", second)) == (409, "outdated-state")
    assert refused(runs, step(2, "b", "a", first)) == (409, "outdated-state")
    with pytest.raises(Problem, match="is not the last one of its run"):
        runs.take(step(2, "x", "a", first))


def test_the_last_batch_may_come_again_for_its_answer_may_have_been_lost(path: Path) -> None:
    runs = runs_in(path)
    first = runs.take(step(1, "a"))

    seals = {runs.take(step(2, "b", "a", first)) for _ in range(3)}

    assert len(seals) == 1
    assert len(path.read_text().splitlines()) == 2
    runs.take(step(3, "c", "b", seals.pop()))


SEALS = [{"seal": seal} for seal in (None, "", "0" * 64, "é" * 64)]


@pytest.mark.parametrize("change", [{"before": "A"}, {"look": 3}, {"run_id": "other"}, *SEALS], ids=str)
def test_what_was_not_sealed_so_is_refused(change: dict[str, object]) -> None:
    runs = runs_in(None)
    given: dict[str, object] = {"look": 2, "state": "b", "before": "a", "seal": runs.take(step(1, "a"))}

    assert refused(runs, step(**(given | change))) == (422, "bad-option")  # type: ignore[arg-type]
    assert runs.take(step(**given))  # type: ignore[arg-type]


def test_another_key_seals_otherwise_and_the_one_that_seals_is_not_the_one_that_signs() -> None:
    private = Ed25519PrivateKey.generate()
    signer = Signer(private)
    seal = runs_in(None, b"other").take(step(1, "a"))

    assert refused(runs_in(None), step(2, "b", "a", seal)) == (422, "bad-option")
    keys = {private.private_bytes_raw(), *(signer.derived_keys(label)[0] for label in (b"one", b"two", b"one"))}
    assert [len(key) for key in keys] == [32, 32, 32]


def test_a_restart_forgets_nothing_that_is_in_the_file(path: Path) -> None:
    runs = runs_in(path)
    first = runs.take(step(1, "a"))
    second = runs.take(step(2, "b", "a", first))
    runs.close()

    again = runs_in(path)

    assert refused(again, step(2, "x", "a", first)) == (409, "outdated-state")
    assert again.take(step(3, "c", "b", second))


def test_in_memory_a_state_from_before_a_restart_is_taken_and_from_then_on_remembered() -> None:
    before = runs_in(None)
    first = before.take(step(1, "a"))
    second = before.take(step(2, "b", "a", first))

    again = runs_in(None)
    third = again.take(step(3, "c", "b", second))

    assert not again.keeping().durable
    assert refused(again, step(2, "x", "a", first)) == (409, "outdated-state")
    assert again.take(step(4, "d", "c", third))


def test_a_run_of_which_the_file_knows_nothing_is_refused(path: Path) -> None:
    seal = runs_in(None).take(step(1, "a"))

    assert refused(runs_in(path), step(2, "b", "a", seal)) == (409, "outdated-state")


def test_a_run_that_rested_too_long_is_forgotten_and_leaves_the_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = runs_in(path)
    seal = runs.take(step(1, "a"))
    now = module.time.time()
    monkeypatch.setattr(module.time, "time", lambda: now + (DAYS + 0.1) * 86_400)

    assert refused(runs, step(2, "b", "a", seal)) == (409, "outdated-state")
    runs.close()
    runs_in(path)
    assert path.read_text() == ""


@pytest.mark.parametrize("zeros", [False, True], ids=["half a line", "zeros"])
def test_what_a_crash_left_behind_the_last_line_is_dropped_for_its_answer_never_left(path: Path, zeros: bool) -> None:
    runs = runs_in(path)
    first = runs.take(step(1, "a"))
    whole = path.read_bytes()
    runs.take(step(2, "b", "a", first))
    runs.close()
    path.write_bytes(whole + b"\0" * 100 if zeros else path.read_bytes()[:-7])

    again = runs_in(path)

    assert path.read_bytes() == whole
    assert again.take(step(2, "c", "a", first))


@pytest.mark.parametrize(
    "content", ["x\n", "{}\n", '{"my":"settings"}', "a-secret", '{"run_id":1,"look":1,"state":"a","at":1}\n']
)
def test_a_file_of_something_else_is_refused_and_left_alone(path: Path, content: str) -> None:
    path.write_text(content)

    with pytest.raises(RunsError, match="line 1 is no line of a file of runs"):
        runs_in(path)
    assert path.read_text() == content


def test_one_service_writes_one_file(path: Path) -> None:
    first = runs_in(path)
    with pytest.raises(RunsError, match="another service writes it"):
        runs_in(path)
    first.close()

    runs_in(path).close()


def test_a_file_that_was_removed_is_written_anew_with_all_runs(path: Path) -> None:
    runs = runs_in(path)
    first, other = runs.take(step(1, "a")), runs.take(step(1, "o", run_id="other"))
    path.unlink()
    second = runs.take(step(2, "b", "a", first))
    with pytest.raises(RunsError, match="another service writes it"):
        runs_in(path)
    runs.close()

    again = runs_in(path)

    assert again.take(step(3, "c", "b", second))
    assert again.take(step(2, "p", "o", other, "other"))


def test_where_another_file_has_its_place_nothing_is_answered_and_that_file_is_left_alone(path: Path) -> None:
    runs = runs_in(path)
    seal = runs.take(step(1, "a"))
    path.rename(path.with_name("moved"))
    path.write_text("")

    assert refused(runs, step(2, "b", "a", seal)) == (503, "not-ready")
    assert path.read_text() == ""
    path.with_name("moved").replace(path)
    assert runs.take(step(2, "c", "a", seal))


def test_the_file_stays_small_and_is_whole_however_long_a_run_is(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SPARE_LINES", 5)
    runs = runs_in(path)
    runs.take(step(1, "other", run_id="o"))
    seal, most = runs.take(step(1, "1")), 0
    for look in range(2, 60):
        seal = runs.take(step(look, str(look), str(look - 1), seal))
        most = max(most, len(path.read_text().splitlines()))

    assert 5 < most <= 9
    with pytest.raises(RunsError, match="another service writes it"):
        runs_in(path)
    runs.close()
    assert runs_in(path).take(step(60, "60", "59", seal))
    assert path.stat().st_mode & 0o777 == 0o640


def test_no_more_runs_are_remembered_than_there_is_room_for(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_RUNS", 3)
    runs = runs_in(path)
    seals = [runs.take(step(1, "a", run_id=f"r{place}")) for place in range(6)]

    statuses = [refused(runs, step(2, "b", "a", seal, f"r{place}"))[0] for place, seal in enumerate(seals[:2])]

    assert statuses == [409, 409]
    assert runs.take(step(2, "b", "a", seals[5], "r5"))


def test_where_no_line_can_be_written_nothing_is_remembered_and_nothing_answered(path: Path) -> None:
    runs, most = runs_in(path), resource.getrlimit(resource.RLIMIT_FSIZE)
    seal = runs.take(step(1, "a"))

    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 20, most[1]))
    try:
        answer = refused(runs, step(2, "b", "a", seal))
        with pytest.raises(Problem, match="no batch of a run is answered, but all else is"):
            runs.take(step(2, "b", "a", seal))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)

    assert answer == (503, "not-ready")
    assert len(runs.take(step(2, "c", "a", seal))) == 64
    assert [json.loads(line)["state"] for line in path.read_text().splitlines()] == ["a", "c"]


# --- settings -----------------------------------------------------------------------------------------------


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    return key_pair(tmp_path)


def test_the_file_stands_beside_the_audit_file_unless_it_is_named(key_file: Path, tmp_path: Path) -> None:
    for settings, name, durable in (
        ({"audit_file": tmp_path / "audit.jsonl"}, "audit.jsonl.runs", True),
        ({"audit_file": tmp_path / "audit.jsonl", "runs_file": tmp_path / "mine"}, "mine", True),
        ({}, None, False),
    ):
        runs = Settings(signing_key_file=key_file, **settings).runs
        assert runs is not None
        assert runs.keeping().durable is durable
        assert name is None or (tmp_path / name).exists()
        runs.close()


def test_without_a_signing_key_nothing_is_remembered(tmp_path: Path) -> None:
    assert Settings(audit_file=tmp_path / "audit.jsonl").runs is None
    assert not (tmp_path / "audit.jsonl.runs").exists()
    with pytest.raises(BadSettings, match="MACE_RUNS_FILE: goes with MACE_SIGNING_KEY_FILE"):
        _ = Settings(runs_file=tmp_path / "mine").runs


def test_the_audit_file_is_no_file_of_runs(key_file: Path, tmp_path: Path) -> None:
    audit = tmp_path / "audit.jsonl"
    (tmp_path / "link").symlink_to(tmp_path)

    with pytest.raises(BadSettings, match="MACE_RUNS_FILE: is the audit file"):
        _ = Settings(signing_key_file=key_file, audit_file=audit, runs_file=tmp_path / "link" / "audit.jsonl").runs


def test_a_file_that_cannot_be_used_is_named_at_the_start(key_file: Path, tmp_path: Path) -> None:
    for place, why in (
        (tmp_path / "no" / "folder", "cannot be opened: No such file or directory"),
        (tmp_path, "cannot be opened: Is a directory"),
        (Path("/dev/null"), "need a regular file"),
    ):
        with pytest.raises(BadSettings, match=f"MACE_RUNS_FILE: .*{why}"):
            _ = Settings(signing_key_file=key_file, runs_file=place).runs
