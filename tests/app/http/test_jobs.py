"""Answers that are fetched later: where, how long, by whom, and what becomes of what nobody fetches."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.datastructures import Headers

import macekit
from app import keys
from app.audit import verify
from app.http.jobs import LONGEST_WAIT, USUAL_WAIT, seconds_to_wait
from app.keys import Key
from macekit.client import server as client
from tests.app.http.asked import metric, reached, workers_of
from tests.app.running import Answer, Running, running, until
from tests.contract.document import document, faults

SAMPLE = {"members": [round(0.01 * i, 2) for i in range(100)], "nonmembers": [0.3, 0.6] * 50}
BODY = json.dumps(SAMPLE).encode()
JSON = {"Content-Type": "application/json"}
LATER = {"Prefer": "respond-async"}
WAITING = """
import sys
sys.path.insert(0, {folder!r})
import app.workers.pool as pool
pool.Pool.__init__.__defaults__ = ("waits:perform",)
from app.cli import main
sys.exit(main(["serve"]))
"""
WAITS = """
import time
from pathlib import Path
from macekit.operations import perform as work

def perform(call, body):
    reply = work(call, body)
    while not Path({folder!r}, "go").exists():
        time.sleep(0.005)
    return reply
"""


@contextmanager
def waiting(folder: Path, **settings: str) -> Iterator[Running]:
    """A service whose workers answer once there is a file called go; small bodies go to workers, too."""
    (folder / "waits.py").write_text(WAITS.format(folder=str(folder)))
    begin = WAITING.format(folder=str(folder))
    with running(folder, ("-c", begin), data=str(folder), inline_limit="0", **settings) as service:
        until(lambda: service.ask("/readyz").status == 200)
        yield service


def post(
    service: Running, headers: Mapping[str, str] = LATER, body: bytes = BODY, path: str = "/v1/advantage"
) -> Answer:
    return service.ask(path, "POST", body, JSON | dict(headers))


def ended(service: Running, place: str, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    """What is known of a job that has ended."""

    def look() -> dict[str, Any] | None:
        known: dict[str, Any] = service.ask(place, headers=headers).json()
        return None if known["state"] == "working" else known

    known: dict[str, Any] = until(look)
    return known


def same(one: Answer, other: Answer) -> bool:
    """Whether two answers are one, but for their ids and dates, and the minute that a report is made."""
    own = {"date", "x-request-id"}
    heads = [
        {name: value for name, value in each.headers.items() if name not in own} for each in (one, other)
    ]
    changing = rb"urn:mace:request:\w+|\d{4}-\d\d-\d\dT\d\d:\d\dZ"
    bodies = [re.sub(changing, b"", each.body) for each in (one, other)]
    return (one.status, heads[0], bodies[0]) == (other.status, heads[1], bodies[1])


def test_the_answer_is_the_one_that_would_have_come_at_once(tmp_path: Path) -> None:
    forms = [{"Accept": form} for form in ("application/json", "text/html", "text/csv")]
    with waiting(tmp_path) as service:
        begun = [post(service, LATER | form, path="/v1/report") for form in forms]
        places = [each.headers["location"] for each in begun]
        early = service.ask(f"{places[0]}/result")
        known = service.ask(places[0]).json()
        (tmp_path / "go").touch()
        last = [ended(service, place) for place in places]
        fetched = [[service.ask(f"{place}/result") for _ in range(2)] for place in places]
        at_once = [post(service, form, path="/v1/report") for form in forms]

    assert {each.status for each in begun} == {202}
    assert {each.headers["preference-applied"] for each in begun} == {"respond-async"}
    assert (early.status, early.headers["location"], early.headers["retry-after"]) == (202, places[0], "1")
    assert (known["operation"], known["state"], known["status"]) == ("report", "working", None)
    assert {(each["state"], each["status"]) for each in last} == {("done", 200)}
    described = document()["components"]["schemas"]["JobAnswer"]
    assert [faults(described, each) for each in (begun[0].json(), early.json(), known, *last)] == [[]] * 6
    assert all(590 < each["seconds_kept"] <= 600 for each in last)
    assert all(
        same(each, expected) for several, expected in zip(fetched, at_once, strict=True) for each in several
    )


def test_what_goes_wrong_later_is_the_answer(tmp_path: Path) -> None:
    wrong = json.dumps(SAMPLE | {"prior": 2}).encode()
    with waiting(tmp_path) as service:
        place = post(service, body=wrong).headers["location"]
        (tmp_path / "go").touch()
        known = ended(service, place)
        later, at_once = service.ask(f"{place}/result"), post(service, {}, wrong)

    assert (known["state"], known["status"]) == ("failed", 422)
    assert same(later, at_once)


def test_what_is_quick_comes_at_once(tmp_path: Path) -> None:
    cases = (
        ({"Prefer": "respond-async, wait=60"}, BODY, 200),
        ({"Prefer": "respond-async"}, b'{"members": [1]}', 422),
        ({"Prefer": "respond-async"}, b"{", 400),
        ({"Prefer": "respond-async", "Content-Type": "text/plain"}, BODY, 415),
        ({"Prefer": "return=minimal"}, BODY, 200),
    )
    with running(tmp_path) as service:
        for headers, body, status in cases:
            answer = post(service, headers, body)

            assert answer.status == status
            assert "location" not in answer.headers


def test_a_full_queue_refuses_at_once(tmp_path: Path) -> None:
    """Places for small requests stand beside those of the queue, so large bodies are sent."""
    large = json.dumps(SAMPLE | {"members": [0.5] * 30_000}).encode()
    with waiting(tmp_path, queue="1") as service:
        begun = [post(service, body=large) for _ in range(2)]
        refused = post(service, body=large)

    assert [each.status for each in begun] == [202, 202]
    assert (refused.status, refused.json()["type"]) == (503, "urn:mace:problem:busy")


def test_a_job_that_is_cancelled_gives_back_its_worker_and_its_place(tmp_path: Path) -> None:
    with waiting(tmp_path, per_client="1") as service:
        (worker,) = workers_of(service)
        place = post(service).headers["location"]
        busy = post(service)
        gone = service.ask(place, "DELETE")
        after = [service.ask(f"{place}{path}").status for path in ("", "/result", "/events")]
        twice = service.ask(place, "DELETE")
        until(lambda: workers_of(service) and workers_of(service) != [worker])
        (tmp_path / "go").touch()
        free = until(lambda: (answer := post(service, {})).status == 200 and answer)

    assert (busy.status, gone.status, after, twice.status) == (429, 204, [404] * 3, 404)
    assert free.status == 200


def test_events_tell_how_far_it_is_until_it_has_ended(tmp_path: Path) -> None:
    with waiting(tmp_path) as service:
        place = post(service).headers["location"]
        other = post(service).headers["location"]
        until(lambda: service.ask(place).json()["seconds"] > 0.5)
        (tmp_path / "go").touch()
        events = [service.ask(f"{each}/events") for each in (place, other)]

    for each in events:
        assert each.headers["content-type"].startswith("text/event-stream")
        parts = each.body.decode().strip().split("\n\n")
        names = [part.splitlines()[0] for part in parts]
        assert {*names[:-1]} <= {"event: progress"}
        assert names[-1] == "event: end"
        assert json.loads(parts[-1].splitlines()[1].removeprefix("data: "))["state"] == "done"


def test_a_job_is_its_key_s_and_holds_the_key_s_place(tmp_path: Path) -> None:
    ring = tmp_path / "keys.toml"
    keys.write(
        ring,
        [
            Key(name=name, sha256=keys.digest_of(name.encode()), at_once=at_once)
            for name, at_once in (("mine", 1), ("another", None))
        ],
    )
    mine, another = ({"Authorization": f"Bearer {name}"} for name in ("mine", "another"))
    with waiting(tmp_path, keys_file=str(ring)) as service:
        place = post(service, LATER | mine).headers["location"]
        second = post(service, LATER | mine)
        of_another = [
            service.ask(f"{place}{path}", method, headers=another).status
            for path, method in (("", "GET"), ("/result", "GET"), ("/events", "GET"), ("", "DELETE"))
        ]
        without = service.ask(place).status
        (tmp_path / "go").touch()
        until(lambda: service.ask(f"{place}/result", headers=another).status == 404)
        freed = until(lambda: (answer := post(service, mine)).status == 200 and answer)
        fetched = service.ask(f"{place}/result", headers=mine)

    assert (second.status, second.json()["type"]) == (429, "urn:mace:problem:too-many-requests")
    assert of_another == [404] * 4
    assert without == 401
    assert (freed.status, fetched.status) == (200, 200)


def test_an_answer_is_kept_for_a_while(tmp_path: Path) -> None:
    with waiting(tmp_path, keep_answers="0.5") as service:
        place = post(service).headers["location"]
        time.sleep(0.6)
        working = service.ask(place).json()["state"]
        (tmp_path / "go").touch()
        until(lambda: service.ask(place).status == 404)
        late = service.ask(f"{place}/result")

    assert working == "working"
    assert late.json()["type"] == "urn:mace:problem:not-found"
    assert "ask the question again" in late.json()["detail"]


def test_answers_that_are_kept_take_no_more_than_all_may(tmp_path: Path) -> None:
    """The oldest goes for the next; what is under way has its room again at the end."""
    with waiting(tmp_path, spool_limit="20000") as service:
        places = [post(service).headers["location"] for _ in range(8)]
        (tmp_path / "go").touch()
        until(
            lambda: service.ask(places[-1]).status != 200 or service.ask(places[-1]).json()["state"] == "done"
        )
        found = [service.ask(f"{place}/result") for place in places]
        sizes = [len(each.body) for each in found if each.status == 200]
        for place in places:
            service.ask(place, "DELETE")
        held = re.search(
            rb"^mace_spooled_bytes(?:{[^}]*})? (\S+)$", service.ask("/metrics").body, re.MULTILINE
        )

    kept = [each.status == 200 for each in found]
    assert kept == sorted(kept)
    assert 0 < sum(kept) < 8
    assert sum(sizes) <= 20000
    assert held is not None
    assert float(held[1]) == 0


def test_the_audit_file_has_the_question_and_its_answer(tmp_path: Path) -> None:
    with waiting(tmp_path, audit_file=str(tmp_path / "audit")) as service:
        place = post(service).headers["location"]
        service.ask(place)
        (tmp_path / "go").touch()
        ended(service, place)
        answer = service.ask(f"{place}/result")
        assert service.stop() == 0

    lines = [json.loads(line) for line in (tmp_path / "audit").read_text().splitlines()]
    assert verify(tmp_path / "audit")[0] == 2
    assert [line["status"] for line in lines] == [202, 200]
    assert [line["route"] for line in lines] == ["/v1/advantage", "/v1/jobs/{name}/result"]
    assert lines[1]["input_sha256"] == answer.json()["provenance"]["input_sha256"]
    assert lines[1]["answer_sha256"]


def test_work_that_nobody_can_fetch_any_more_does_not_hold_up_the_end(tmp_path: Path) -> None:
    with waiting(tmp_path, drain_limit="30") as service:
        assert post(service).status == 202
        began = time.monotonic()
        status = service.stop()

    assert status == 0
    assert time.monotonic() - began < 20


def test_python_fetches_an_answer_that_is_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "PREFERENCE", LATER)
    with waiting(tmp_path) as service:
        mace = macekit.Mace(f"http://127.0.0.1:{service.port}")
        monkeypatch.setattr(client.time, "sleep", lambda seconds: (tmp_path / "go").touch())

        result = mace.estimate(SAMPLE["members"], SAMPLE["nonmembers"])
        dp = mace.theory.dp(epsilon=1.0)

    assert result.answer == macekit.estimate(SAMPLE["members"], SAMPLE["nonmembers"]).answer
    assert dp.answer == macekit.theory.dp(epsilon=1.0).answer


def test_python_asks_again_where_its_job_is_not_known_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "PREFERENCE", LATER)
    asleep = time.sleep

    def wait_until_forgotten(seconds: float) -> None:
        monkeypatch.setattr(client.time, "sleep", asleep)
        assert metric(service, 'mace_jobs{state="working"}') == 1.0
        (tmp_path / "go").touch()
        reached(service, 'mace_jobs{state="done"}', 1.0)
        reached(service, 'mace_jobs{state="done"}', 0.0)

    with waiting(tmp_path, keep_answers="1") as service:
        monkeypatch.setattr(client.time, "sleep", wait_until_forgotten)

        result = macekit.Mace(f"http://127.0.0.1:{service.port}").estimate(
            SAMPLE["members"], SAMPLE["nonmembers"]
        )

    assert result.answer == macekit.estimate(SAMPLE["members"], SAMPLE["nonmembers"]).answer


def test_python_tells_the_service_when_nobody_waits_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "PREFERENCE", LATER)

    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    with waiting(tmp_path) as service:
        (worker,) = workers_of(service)
        monkeypatch.setattr(client.time, "sleep", interrupt)
        with pytest.raises(KeyboardInterrupt):
            macekit.Mace(f"http://127.0.0.1:{service.port}").estimate(SAMPLE["members"], SAMPLE["nonmembers"])
        monkeypatch.undo()
        until(lambda: workers_of(service) and workers_of(service) != [worker])


@pytest.mark.parametrize(
    ("lines", "seconds"),
    [
        ([], None),
        (["return=minimal"], None),
        (["respond-async"], USUAL_WAIT),
        (["Respond-Async, wait=10"], 10.0),
        (["wait=0", "respond-async"], 0.0),
        (["respond-async; wait = 5"], 5.0),
        (["respond-async, wait=-1"], USUAL_WAIT),
        (["respond-async, wait=x, wait=\u0663"], USUAL_WAIT),
        (["respond-async, wait=99999999999999999999"], LONGEST_WAIT),
    ],
)
def test_what_a_client_prefers(lines: list[str], seconds: float | None) -> None:
    headers = Headers(raw=[(b"prefer", line.encode("latin-1", "replace")) for line in lines])

    assert seconds_to_wait(headers) == seconds
