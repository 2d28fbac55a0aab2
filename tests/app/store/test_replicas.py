"""Two real services that share a real PostgreSQL: what begins at one goes on at the other, whatever ends meanwhile."""

import http.client
import json
import os
import re
import signal
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest

import macekit
from app import keys
from app.cli import main
from app.keys import Key
from app.signing import MEMBER, public_keys, verify
from macekit.call import CSV
from macekit.client import server
from tests.app.conftest import key_pair
from tests.app.http.asked import metric, put_waiting_work, slug, workers_of
from tests.app.running import PATIENCE, Answer, Running, children, environment_shown, ready, until
from tests.app.store.databases import PASSWORD, database

SAMPLE = {"members": [round(0.01 * i, 2) for i in range(100)], "nonmembers": [0.3, 0.6] * 50}
BODY = json.dumps(SAMPLE).encode()
LATER = {"Prefer": "respond-async, wait=0"}
NAMES = ("mine", "another", "slow", "a-key-that-python-has")
MINE, ANOTHER, SLOW, _ = ({"Authorization": f"Bearer {name}"} for name in NAMES)
MIB = 2**20
MARK = '"event":"linked"'

REPLICA = """
import sys
sys.path.insert(0, {folder!r})
from datetime import timedelta
import app.store.database as database, app.store.jobs as jobs, app.store.sharing as chains, app.workers.pool as pool
chains.INTERVAL, database.BEAT, database.SELDOM, database.LONGEST = 0.2, 0.1, 0.3, 2.0
jobs.LEASE = timedelta(seconds=1)
pool.Pool.__init__.__defaults__ = ("waits:perform",)
from app.cli import main
sys.exit(main(["serve"]))
"""
"""A replica that is in a hurry, and whose workers answer once there is a file called go."""


@dataclass(frozen=True)
class Shared:
    """What replicas of one service have in common, and the two that stay."""

    folder: Path
    address: str
    first: Running
    second: Running

    def go(self) -> None:
        (self.folder / "go").touch()

    def asked(self, words: str, *about: object) -> Any:
        """The first value of the first row that the database answers with."""
        with psycopg.connect(self.address, autocommit=True) as connection:
            found = connection.execute(words, about or None)  # type: ignore[arg-type]
            return (found.fetchone() or [None])[0] if found.description else None


@contextmanager
def replica(folder: Path, name: str, address: str, *, anew: bool = True) -> Iterator[Running]:
    own = folder / name
    own.mkdir(exist_ok=True)
    settings = {
        "store": address, "data": str(folder), "inline_limit": "0", "keys_file": str(folder / "keys.toml"),
        "signing_key_file": str(folder / "key.pem"), "audit_file": str(own / "audit"),
        "spool_limit": str(64 * MIB), "drain_limit": "5",
    }  # fmt: skip
    with ready(own, ("-c", REPLICA.format(folder=str(folder))), anew=anew, **settings) as found:
        yield found


@pytest.fixture(scope="module")
def pair(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    folder = tmp_path_factory.mktemp("replicas")
    put_waiting_work(folder)
    key_pair(folder)
    limits: dict[str, Any] = {"slow": {"requests_per_minute": 6}}
    keys.write(
        folder / "keys.toml",
        [
            Key(name=name, sha256=keys.digest_of(name.encode()), scope=("ask", "metrics"), **limits.get(name, {}))
            for name in NAMES
        ],
    )
    address = database(postgres, "replicas")
    with replica(folder, "first", address) as first, replica(folder, "second", address) as second:
        yield Shared(folder, address, first, second)


@pytest.fixture(autouse=True)
def _wait(pair: Shared) -> None:
    """Nothing goes before the test says so."""
    (pair.folder / "go").unlink(missing_ok=True)


def post(
    service: Running,
    headers: Mapping[str, str],
    body: bytes = BODY,
    path: str = "/v1/advantage",
    kind: str = "application/json",
) -> Answer:
    return service.ask(path, "POST", body, {"Content-Type": kind, **headers})


def begun(service: Running, headers: Mapping[str, str] = MINE, **question: Any) -> str:
    answer = post(service, {**LATER, **headers}, **question)
    assert answer.status == 202, answer.body
    return answer.headers["location"]


def ended(service: Running, place: str, headers: Mapping[str, str] = MINE) -> dict[str, Any]:
    """What is known of a job that has ended."""
    known: dict[str, Any] = until(
        lambda: (known := service.ask(place, headers=headers).json()).get("state") != "working" and known,
        service.process,
    )
    return known


def unsigned(answer: Answer) -> bytes:
    """An answer without its signature, which says when it was made."""
    return answer.body.partition(MEMBER)[0]


def large() -> bytes:
    """A body of several parts, about whose every record there is a line of the answer."""
    scores = np.random.default_rng(5).normal(size=27_000)
    return b"score,member\n" + b"".join(b"%.40f,%d\n" % (score, at % 2) for at, score in enumerate(scores))


# --- jobs -----------------------------------------------------------------------------------------------------


def test_a_job_of_one_replica_is_the_other_s_too(pair: Shared) -> None:
    place = begun(pair.first)
    known = pair.second.ask(place, headers=MINE).json()
    early = pair.second.ask(f"{place}/result", headers=MINE)
    pair.go()
    last = ended(pair.second, place)
    events = pair.second.ask(f"{place}/events", headers=MINE).body.decode()
    seen = pair.second.ask(f"{place}/result", "HEAD", headers=MINE)
    untouched = pair.second.ask(place, headers=MINE).json()["seconds_kept"]
    fetched = [service.ask(f"{place}/result", headers=MINE) for service in (pair.second, pair.first)]
    at_once = post(pair.second, MINE)

    assert (known["operation"], known["state"], known["status"]) == ("advantage", "working", None)
    assert (early.status, early.headers["location"], early.headers["retry-after"]) == (202, place, "1")
    assert (last["state"], last["status"]) == ("done", 200)
    assert re.findall("event: (.*)", events) == ["end"]
    assert (seen.status, seen.body, untouched > 500) == (200, b"", True)
    assert fetched[0].body == fetched[1].body
    assert fetched[0].headers["mace-signature"] == fetched[1].headers["mace-signature"]
    assert fetched[0].headers["mace-kept-for"] == "30"
    assert unsigned(fetched[0]) == unsigned(at_once)
    verify(fetched[0].body, public_keys(pair.folder / "key.pub"))


def test_whoever_listens_at_another_replica_hears_the_end(pair: Shared) -> None:
    place = begun(pair.first)
    connection = http.client.HTTPConnection("127.0.0.1", pair.second.port, timeout=PATIENCE)
    with closing(connection):
        connection.request("GET", f"{place}/events", headers=MINE)
        events = connection.getresponse()
        first = events.readline()
        pair.go()
        rest = events.read().decode()

    assert first == b"event: progress\n"
    assert '"state": "done"' in rest.rpartition("event: end")[2]


def test_a_job_that_is_cancelled_at_one_replica_ends_the_worker_of_the_other(pair: Shared) -> None:
    before = metric(pair.first, 'mace_worker_kills_total{reason="cancelled"}', MINE)
    place = begun(pair.first)
    gone = pair.second.ask(place, "DELETE", headers=MINE)
    after = [pair.first.ask(f"{place}{part}", headers=MINE).status for part in ("", "/result", "/events")]
    until(lambda: metric(pair.first, 'mace_worker_kills_total{reason="cancelled"}', MINE) == before + 1)
    pair.go()

    assert (gone.status, after, pair.second.ask(place, "DELETE", headers=MINE).status) == (204, [404] * 3, 404)
    assert pair.asked("SELECT count(*) FROM mace.part WHERE job = %s", place.rpartition("/")[2]) == 0


@pytest.mark.parametrize("name", ["x", "'+OR+true--", "%27%20OR%201=1", "x" * 5000])
def test_a_job_is_its_key_s_at_every_replica_and_no_name_means_another(pair: Shared, name: str) -> None:
    place = begun(pair.first)
    asked = [(place, ANOTHER), (f"/v1/jobs/{name}", MINE)]
    statuses = {
        service.ask(f"{path}{part}", method, headers=headers).status
        for service in (pair.first, pair.second)
        for path, headers in asked
        for part, method in (("", "GET"), ("/result", "GET"), ("/events", "GET"), ("", "DELETE"))
    }
    pair.go()

    assert statuses == {404}
    assert ended(pair.second, place)["state"] == "done"


def test_a_job_survives_its_replica_and_is_answered_once(pair: Shared) -> None:
    """One that slept through its lease drops what it comes to; one that is killed has its job answered by another.

    Body and answer of the second job have several parts.
    """
    with replica(pair.folder, "third", pair.address, anew=False) as third:
        slept = begun(third)
        os.kill(third.process.pid, signal.SIGSTOP)
        until(lambda: pair.asked("SELECT turn FROM mace.job WHERE id = %s", slept.rpartition("/")[2]) == 2)
        pair.go()
        ended(pair.second, slept)
        before = pair.second.ask(f"{slept}/result", headers=MINE)
        os.kill(third.process.pid, signal.SIGCONT)
        until(lambda: metric(third, "mace_workers_busy", MINE) == 0)
        after = third.ask(f"{slept}/result", headers=MINE)

        (pair.folder / "go").unlink()
        question: dict[str, Any] = {"body": large(), "path": "/v1/individual-risk", "kind": CSV}
        place = begun(third, {**MINE, "Accept": CSV}, **question)
        third.process.kill()
        third.process.wait(30)
    pair.go()
    known = ended(pair.second, place)
    fetched = [service.ask(f"{place}/result", headers=MINE) for service in (pair.first, pair.second)]
    at_once = post(pair.first, {**MINE, "Accept": CSV}, **question)

    assert (before.status, after.status) == (200, 200)
    assert after.body == before.body
    assert after.headers["mace-signature"] == before.headers["mace-signature"]
    assert (known["state"], known["status"]) == ("done", 200)
    assert len(fetched[0].body) > MIB
    assert fetched[0].body == fetched[1].body == at_once.body
    assert fetched[0].headers["mace-signature"] == fetched[1].headers["mace-signature"]
    verify(fetched[0].body, public_keys(pair.folder / "key.pub"), fetched[0].headers["mace-signature"].encode())
    requests = {json.loads(each.headers["mace-signature"])["request"] for each in (fetched[0], at_once)}
    assert len(requests) == 1, "whoever answers names the same request"
    assert place.rpartition("/")[2] not in pair.second.logged(), "a job's name opens it where there are no keys"
    kept = "SELECT sum(length(data)) FROM mace.part WHERE job = %s AND NOT of_answer"
    assert pair.asked(kept, place.rpartition("/")[2]) is None, "the request goes once it is answered"


def test_a_question_whose_replicas_end_again_and_again_is_given_up(pair: Shared) -> None:
    place = begun(pair.first)
    name = place.rpartition("/")[2]
    pair.asked("UPDATE mace.job SET deaths = 3, replica = 'dead', leased_until = now() WHERE id = %s", name)
    known = ended(pair.second, place)
    answer = pair.second.ask(f"{place}/result", headers=MINE)
    pair.go()

    assert (known["state"], known["status"]) == ("failed", 500)
    assert slug(answer) == "worker-lost"


@contextmanager
def balancer(*ports: int | None) -> Iterator[int]:
    """A port whose connections lead to these one after the other, the last one for ever; None: to nobody."""
    left = list(ports)

    def carry(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def lead(client: socket.socket, port: int | None) -> None:
        with client:
            if port is None:
                client.recv(65536)
                return
            with socket.create_connection(("127.0.0.1", port)) as replica:
                back = threading.Thread(target=carry, args=(replica, client))
                back.start()
                carry(client, replica)
                back.join()

    def take() -> None:
        with suppress(OSError):
            while True:
                client, _ = listening.accept()
                port = left.pop(0) if len(left) > 1 else left[0]
                threading.Thread(target=lead, args=(client, port), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=take, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)


def test_python_has_its_answer_though_its_replica_ends(pair: Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    """The balancer leads it to one replica, then to one that is not there any more, then to another."""
    monkeypatch.setattr(server, "PREFERENCE", LATER)
    monkeypatch.setattr(server, "sleep", lambda seconds: pair.go())
    with balancer(pair.first.port, None, pair.second.port) as port:
        mace = macekit.Mace(f"http://127.0.0.1:{port}", NAMES[3])
        result = mace.estimate(SAMPLE["members"], SAMPLE["nonmembers"])

    assert result.advantage.lower == macekit.estimate(SAMPLE["members"], SAMPLE["nonmembers"]).advantage.lower


# --- runs and rates -------------------------------------------------------------------------------------------


def test_a_run_goes_on_at_any_replica_and_is_neither_forked_nor_rewound(pair: Shared) -> None:
    pair.go()

    def judged(service: Running, state: Any, batch: int) -> Answer:
        given = {"max_advantage": 0.1} if state is None else {"state": state}
        sides = np.random.default_rng(batch).normal(size=(2, 60)).tolist()
        question = {"anytime": True, **given, "members": sides[0], "nonmembers": sides[1]}
        return post(service, MINE, json.dumps(question).encode(), "/v1/gate")

    states: list[Any] = [None]
    for look, service in enumerate([pair.first, pair.second, pair.second, pair.first]):
        states.append(judged(service, states[-1], look).json()["state"])
    rewound = [judged(s, states[2], 50 + at) for at, s in enumerate((pair.first, pair.second))]
    goes_on = judged(pair.second, states[4], 60)
    forked = judged(pair.first, states[4], 61)
    again = judged(pair.first, states[4], 60)

    assert [(each.status, slug(each)) for each in (*rewound, forked)] == [(409, "outdated-state")] * 3
    assert (goes_on.status, again.status) == (200, 200)
    assert unsigned(goes_on) == unsigned(again)
    assert goes_on.json()["anytime"]["looks"] == 5
    assert "restart" not in goes_on.json()["limits"][0]["guarantee"]["assumes"]


def test_a_key_has_its_pace_at_both_replicas_together(pair: Shared) -> None:
    pair.go()
    statuses = [post(service, SLOW).status for _ in range(3) for service in (pair.first, pair.second)]
    refused = [post(service, SLOW) for service in (pair.first, pair.second)]

    assert statuses == [200] * 6
    assert [(each.status, slug(each)) for each in refused] == [(429, "rate-limit")] * 2
    assert all(1 <= int(each.headers["retry-after"]) <= 61 for each in refused)


# --- the store ------------------------------------------------------------------------------------------------


def test_without_the_store_what_needs_it_is_refused_and_all_comes_back_by_itself(
    pair: Shared, postgres_server: Any
) -> None:
    both = pair.first, pair.second
    place = begun(pair.first)
    postgres_server.stop()
    try:
        for service in both:
            until(lambda service=service: service.ask("/readyz").status == 503, service.process)
        ready = [service.ask("/readyz").json()["detail"] for service in both]
        needs = [
            answer
            for service in both
            for answer in (
                post(service, {**LATER, **MINE}), post(service, SLOW), service.ask(place, headers=MINE),
                service.ask(f"{place}/result", headers=MINE), service.ask(place, "DELETE", headers=MINE),
            )
        ]  # fmt: skip
        alive = [service.ask("/healthz").status for service in both]
        pair.go()  # what was under way comes to its end without the store
        plain = [post(service, MINE).status for service in both]
        reached = metric(pair.first, "mace_store_reached", MINE)
    finally:
        postgres_server.start()
    for service in both:
        until(lambda service=service: service.ask("/readyz").status == 200, service.process)

    assert all("the store that replicas share cannot be used: " in each for each in ready)
    assert {(each.status, slug(each), each.headers["retry-after"]) for each in needs} == {(503, "not-ready", "5")}
    assert (alive, plain, reached) == ([200, 200], [200, 200], 0)
    assert ended(pair.second, place)["state"] == "done"
    assert metric(pair.first, "mace_store_reached", MINE) == 1
    assert post(pair.first, SLOW).status in (200, 429)


def test_the_address_of_the_store_is_nowhere_to_be_read(pair: Shared) -> None:
    """Neither in logs, nor in the environment that the system shows of the service and of its workers."""
    for service in (pair.first, pair.second):
        words = service.logged() + service.said()
        family = [service.process.pid, *children(service.process.pid), *workers_of(service)]
        environments = [environment_shown(pid) for pid in family]

        assert len(family) == 3
        assert not any(PASSWORD.encode() in each for each in environments)
        assert (b"MACE_STORE=***" in environments[0]) == (os.geteuid() == 0)
        assert PASSWORD not in words
        assert "store reached" in words


# --- audit ----------------------------------------------------------------------------------------------------


def test_the_chains_of_replicas_name_one_another_and_one_that_was_cut_is_found_by_the_other(
    pair: Shared, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pair.go()
    both = pair.first, pair.second
    files = [service.folder / "audit" for service in both]
    for service in both:
        post(service, MINE)
    before = [path.read_text().count(MARK) for path in files]
    for path, number in zip(files, before, strict=True):
        until(lambda path=path, number=number: path.read_text().count(MARK) >= number + 2)
    copies = [tmp_path / name for name in ("first", "second")]
    for service in both:
        os.kill(service.process.pid, signal.SIGSTOP)
    for path, copy in zip(files, copies, strict=True):
        copy.write_bytes(path.read_bytes())
    for service in both:
        os.kill(service.process.pid, signal.SIGCONT)
    audits = [word for copy in copies for word in ("--audit", str(copy))]

    whole = main(["verify", *audits])
    said = capsys.readouterr().out
    lines = copies[1].read_text().splitlines(keepends=True)
    copies[1].write_text("".join(lines[: len(lines) // 2]))
    cut = main(["verify", *audits])
    said_of_cut = capsys.readouterr().out
    alone = main(["verify", *audits[2:]])

    assert (whole, cut, alone) == (0, 1, 0)
    assert "what these chains name of one another is there" in said
    assert f"of first names a line of {copies[1]} that is not there: its end was cut off" in said_of_cut


def test_a_replica_that_is_told_to_stop_hands_on_what_it_works_on(pair: Shared) -> None:
    """It is the last of these tests: the first replica is gone after it."""
    place = begun(pair.first)
    status = pair.first.stop()
    name = place.rpartition("/")[2]
    until(lambda: pair.asked("SELECT turn FROM mace.job WHERE id = %s", name) == 2)
    deaths = pair.asked("SELECT deaths FROM mace.job WHERE id = %s", name)
    pair.go()

    assert (status, deaths) == (0, 0)
    assert ended(pair.second, place)["state"] == "done"
