"""Answers that are fetched later: where, how long, by whom, and what becomes of what nobody fetches."""

import io
import json
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.datastructures import Headers

import macekit
from app import keys
from app.audit_file import verify
from app.http.jobs import LONGEST_WAIT, USUAL_WAIT, seconds_to_wait
from app.keys import Key
from app.openapi.examples import file_bytes
from macekit.client import server as client
from tests.app.http.asked import metric, put_waiting_work, reached, slug, workers_of
from tests.app.running import Answer, Running, ready, until
from tests.cases import each_case
from tests.contract.document import document, faults

MEMBERS, NONMEMBERS = [round(0.01 * i, 2) for i in range(100)], [0.3, 0.6] * 50
SAMPLE = {"members": MEMBERS, "nonmembers": NONMEMBERS}
BODY = json.dumps(SAMPLE).encode()
JSON = {"Content-Type": "application/json"}
MIB = 2**20
LATER = {"Prefer": "respond-async"}
WAITING = """
import sys
sys.path.insert(0, {folder!r})
import app.workers.pool as pool
pool.Pool.__init__.__defaults__ = ("waits:perform",)
{changes}
from app.cli import main
sys.exit(main(["serve"]))
"""


@dataclass(frozen=True)
class Waiting(Running):
    """A service whose workers answer once there is a file called go; small bodies go to workers, too."""

    def go(self) -> None:
        (self.folder / "go").touch()


def started(folder: Path, changes: str = "", **settings: str) -> Iterator[Waiting]:
    put_waiting_work(folder)
    told = {"data": str(folder), "inline_limit": "0", **settings}
    with ready(folder, ("-c", WAITING.format(folder=str(folder), changes=changes)), **told) as found:
        yield Waiting(found.process, found.port, folder)


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Waiting]:
    folder = tmp_path_factory.mktemp("usual")
    yield from started(folder, audit_file=str(folder / "audit"), queue="2", drain_limit="30")


@pytest.fixture(scope="module")
def brief(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Waiting]:
    """A service that keeps answers for a second, and answers one request of a client at a time."""
    yield from started(tmp_path_factory.mktemp("brief"), keep_answers="1", per_client="1")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Waiting]:
    """A service of two keys, with room for few answers."""
    folder = tmp_path_factory.mktemp("shared")
    keys.write(folder / "keys.toml", [key_of("mine", at_once=1), key_of("another")])
    yield from started(folder, keys_file=str(folder / "keys.toml"), spool_limit="20000")


FEW = "import app.workers.uploads as uploads; uploads.MOST_KEPT = 8; import app.http.jobs as jobs; jobs.GRACE = 1.0"


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Waiting]:
    """A service of two keys, of which one may ask once at a time and six times a minute.

    It keeps eight answers at once, for a second once they were fetched.
    """
    folder = tmp_path_factory.mktemp("several")
    limits = {"at_once": 1, "requests_per_minute": 6}
    keys.write(folder / "keys.toml", [key_of("mine", **limits), key_of("another")])
    told = {"keys_file": str(folder / "keys.toml"), "audit_file": str(folder / "audit")}
    yield from started(folder, FEW, queue="3", spool_limit=str(8 * MIB), **told)


def key_of(name: str, secret: str = "", **limits: Any) -> Key:
    digest = keys.digest_of((secret or name).encode())
    return Key(name=name, sha256=digest, scope=("ask", "metrics"), **limits)


MINE, ANOTHER = ({"Authorization": f"Bearer {name}"} for name in ("mine", "another"))


@pytest.fixture(autouse=True)
def _wait(request: pytest.FixtureRequest) -> None:
    """Nothing goes before the test says so."""
    for name in {"usual", "brief", "shared", "several"} & {*request.fixturenames}:
        (request.getfixturevalue(name).folder / "go").unlink(missing_ok=True)


def post(
    service: Running, headers: Mapping[str, str] = LATER, body: bytes = BODY, path: str = "/v1/advantage"
) -> Answer:
    return service.ask(path, "POST", body, JSON | dict(headers))


def known(service: Running, place: str, headers: Mapping[str, str] | None = None) -> Answer:
    """What is known of a job, once it has ended."""

    def found() -> Answer | None:
        answer = service.ask(place, headers=headers)
        return None if answer.status == 200 and answer.json()["state"] == "working" else answer

    answer: Answer = until(found, service.process)
    return answer


def ended(service: Running, place: str) -> dict[str, Any]:
    return dict(known(service, place).json())


def same(one: Answer, other: Answer) -> bool:
    """Whether two answers are one, but for their ids and dates, and the minute that a report is made."""
    own = {"date", "x-request-id", "mace-kept-for"}
    heads = [{name: value for name, value in each.headers.items() if name not in own} for each in (one, other)]
    changing = rb"urn:mace:request:\w+|\d{4}-\d\d-\d\dT\d\d:\d\dZ"
    bodies = [re.sub(changing, b"", each.body) for each in (one, other)]
    return (one.status, heads[0], bodies[0]) == (other.status, heads[1], bodies[1])


@pytest.mark.slow
def test_the_answer_is_the_one_that_would_have_come_at_once(usual: Waiting) -> None:
    forms = [{"Accept": form} for form in ("text/html", "text/csv")]
    begun = [post(usual, LATER | form, path="/v1/report") for form in forms]
    places = [each.headers["location"] for each in begun]
    early = usual.ask(f"{places[0]}/result")
    known = usual.ask(places[0]).json()
    usual.go()
    last = [ended(usual, place) for place in places]
    fetched = [[usual.ask(f"{place}/result") for _ in range(2)] for place in places]
    at_once = [post(usual, form, path="/v1/report") for form in forms]

    assert {each.status for each in begun} == {202}
    assert {each.headers["preference-applied"] for each in begun} == {"respond-async"}
    assert (early.status, early.headers["location"], early.headers["retry-after"]) == (202, places[0], "1")
    assert (known["operation"], known["state"], known["status"]) == ("report", "working", None)
    assert {(each["state"], each["status"]) for each in last} == {("done", 200)}
    described = document()["components"]["schemas"]["JobAnswer"]
    assert [faults(described, each) for each in (begun[0].json(), early.json(), known, *last)] == [[]] * 5
    assert all(500 < each["seconds_kept"] <= 600 for each in last)
    for several, expected in zip(fetched, at_once, strict=True):
        assert [same(each, expected) for each in several] == [True, True]


def shown(folder: Path, service: Running, wait: int) -> subprocess.Popen[str]:
    """The shell of docs/service.md, told where the service is, and for how many seconds to wait first."""
    page = (Path(__file__).parents[3] / "docs" / "service.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```sh\n(job=.*?)```", page, re.DOTALL)
    (folder / "scores.parquet").write_bytes(file_bytes("scores.parquet"))
    text = block.replace("127.0.0.1:8000", f"127.0.0.1:{service.port}").replace("async'", f"async, wait={wait}'")
    return subprocess.Popen(["sh", "-c", text], cwd=folder, stdout=subprocess.PIPE, text=True)


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl")
def test_the_page_s_shell_has_the_answer_whether_it_comes_at_once_or_later(
    service: Running, usual: Waiting, tmp_path: Path
) -> None:
    at_once = shown(tmp_path, service, 60).communicate(timeout=60)[0]
    first = json.loads((tmp_path / "answer.json").read_text())
    asked = shown(tmp_path, usual, 0)
    until(lambda: json.loads((tmp_path / "answer.json").read_text()).get("state") == "working")
    usual.go()
    later = asked.communicate(timeout=60)[0]
    second = json.loads((tmp_path / "answer.json").read_text())

    assert at_once == ""
    assert first["sentence"] == second["sentence"]
    assert "event: end" in later
    assert "problem" not in later


def test_what_goes_wrong_later_is_the_answer(usual: Waiting) -> None:
    wrong = json.dumps(SAMPLE | {"prior": 2}).encode()
    place = post(usual, body=wrong).headers["location"]
    usual.go()
    known = ended(usual, place)
    later, at_once = usual.ask(f"{place}/result"), post(usual, {}, wrong)

    assert (known["state"], known["status"]) == ("failed", 422)
    assert same(later, at_once)


@each_case(
    "headers, body, status",
    ({"Prefer": "respond-async, wait=60"}, BODY, 200),
    ({"Prefer": "respond-async"}, b'{"members": [1]}', 422),
    ({"Prefer": "respond-async"}, b"{", 400),
    ({"Prefer": "respond-async", "Content-Type": "text/plain"}, BODY, 415),
    ({"Prefer": "return=minimal"}, BODY, 200),
)
def test_what_is_quick_comes_at_once(service: Running, headers: dict[str, str], body: bytes, status: int) -> None:
    answer = post(service, headers, body)

    assert answer.status == status
    assert "location" not in answer.headers


@pytest.mark.slow
def test_a_job_that_is_cancelled_gives_back_its_worker_and_its_place(brief: Waiting) -> None:
    (worker,) = workers_of(brief)
    place = post(brief).headers["location"]
    busy = post(brief)
    gone = brief.ask(place, "DELETE")
    after = [brief.ask(f"{place}{path}").status for path in ("", "/result", "/events")]
    twice = brief.ask(place, "DELETE")
    until(lambda: workers_of(brief) and workers_of(brief) != [worker])
    brief.go()
    free = until(lambda: (answer := post(brief, {})).status == 200 and answer)

    assert (busy.status, gone.status, after, twice.status) == (429, 204, [404] * 3, 404)
    assert free.status == 200


@pytest.mark.slow
def test_a_client_that_leaves_before_it_is_told_where_its_answer_will_be_leaves_no_work_behind(brief: Waiting) -> None:
    (worker,) = workers_of(brief)
    lines = (
        "POST /v1/advantage HTTP/1.1", "Host: mace", "Content-Type: application/json",
        f"Content-Length: {len(BODY)}", "Prefer: respond-async, wait=600",
    )  # fmt: skip
    with socket.create_connection(("127.0.0.1", brief.port), timeout=30.0) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + BODY)
        until(lambda: post(brief).status == 429)  # the one place of a client is taken
    until(lambda: workers_of(brief) and workers_of(brief) != [worker])
    brief.go()
    free = until(lambda: (answer := post(brief, {})).status == 200 and answer)

    assert free.status == 200


def test_a_job_that_waits_says_how_many_wait_before_it(usual: Waiting) -> None:
    begun = [post(usual) for _ in range(3)]
    places = [each.headers["location"] for each in begun]
    known = [usual.ask(place).json()["ahead"] for place in places]
    fetched = usual.ask(f"{places[2]}/result").json()["ahead"]
    usual.ask(places[1], "DELETE")
    moved = until(lambda: usual.ask(places[2]).json()["ahead"] == 0)
    usual.go()
    last = [ended(usual, place)["ahead"] for place in (places[0], places[2])]

    assert known == [None, 0, 1]
    assert (fetched, moved, last) == (1, True, [None, None])


@pytest.mark.slow
def test_an_answer_is_kept_for_a_while(brief: Waiting) -> None:
    place = post(brief).headers["location"]
    time.sleep(1.1)
    working = brief.ask(place).json()["state"]
    brief.go()
    until(lambda: brief.ask(place).status == 404)
    late = brief.ask(f"{place}/result")

    assert working == "working"
    assert slug(late) == "not-found"
    assert "ask the question again" in late.json()["detail"]


def test_events_tell_how_far_it_is_until_it_has_ended(usual: Waiting) -> None:
    places = [post(usual).headers["location"] for _ in range(2)]
    until(lambda: usual.ask(places[0]).json()["seconds"] > 0.5)
    usual.go()
    for each in [usual.ask(f"{place}/events") for place in places]:
        assert each.headers["content-type"].startswith("text/event-stream")
        parts = each.body.decode().strip().split("\n\n")
        names = [part.splitlines()[0] for part in parts]
        assert {*names[:-1]} <= {"event: progress"}
        assert names[-1] == "event: end"
        assert json.loads(parts[-1].splitlines()[1].removeprefix("data: "))["state"] == "done"


@pytest.mark.slow
def test_a_job_is_its_key_s_and_holds_the_key_s_place(shared: Waiting) -> None:
    place = post(shared, LATER | MINE).headers["location"]
    second = post(shared, LATER | MINE)
    of_another = [
        shared.ask(f"{place}{path}", method, headers=ANOTHER).status
        for path, method in (("", "GET"), ("/result", "GET"), ("/events", "GET"), ("", "DELETE"))
    ]
    without = shared.ask(place).status
    shared.go()
    freed = until(lambda: (answer := post(shared, MINE)).status == 200 and answer)
    of_another.append(shared.ask(f"{place}/result", headers=ANOTHER).status)
    fetched = shared.ask(f"{place}/result", headers=MINE)

    assert (second.status, slug(second)) == (429, "too-many-requests")
    assert of_another == [404] * 5
    assert without == 401
    assert (freed.status, fetched.status) == (200, 200)


@pytest.mark.slow
def test_answers_that_are_kept_take_no_more_than_all_may(shared: Waiting) -> None:
    """The oldest goes for the next; what is under way has its room again at the end."""

    def known(place: str) -> Answer:
        return shared.ask(place, headers=ANOTHER)

    places = [post(shared, LATER | ANOTHER).headers["location"] for _ in range(8)]
    shared.go()
    until(lambda: (found := known(places[-1])).status != 200 or found.json()["state"] == "done")
    found = [known(f"{place}/result") for place in places]
    sizes = [len(each.body) for each in found if each.status == 200]
    for place in places:
        shared.ask(place, "DELETE", headers=ANOTHER)

    kept = [each.status == 200 for each in found]
    assert kept == sorted(kept)
    assert 0 < sum(kept) < 8
    assert sum(sizes) <= 20000
    assert metric(shared, "mace_spooled_bytes", ANOTHER) == 0


# --- nobody's jobs are in another's way ---------------------------------------------------------------------


@pytest.mark.slow
def test_looking_after_a_job_takes_no_place_and_is_no_question(several: Waiting) -> None:
    """The key may ask once at a time, and six times in a minute."""
    place = post(several, LATER | MINE).headers["location"]
    looks = [several.ask(place, headers=MINE).status for _ in range(10)]
    results = [several.ask(f"{place}/result", headers=MINE).status for _ in range(3)]
    gone = several.ask(place, "DELETE", headers=MINE).status
    place = post(several, LATER | MINE).headers["location"]
    several.go()
    found = known(several, place, MINE)
    fetched = several.ask(f"{place}/result", headers=MINE)
    several.ask(place, "DELETE", headers=MINE)

    assert (looks, results, gone) == ([200] * 10, [202] * 3, 204)
    assert (found.json()["state"], fetched.status) == ("done", 200)


def test_an_answer_that_was_fetched_goes_soon_and_says_when(several: Waiting) -> None:
    place = post(several, LATER | ANOTHER).headers["location"]
    several.go()
    before = known(several, place, ANOTHER).json()
    seen = several.ask(f"{place}/result", "HEAD", headers=ANOTHER)
    untouched = several.ask(place, headers=ANOTHER).json()
    fetched = several.ask(f"{place}/result", headers=ANOTHER)
    after = several.ask(place, headers=ANOTHER).json()
    until(lambda: several.ask(place, headers=ANOTHER).status == 404)

    assert before["seconds_kept"] > 500
    assert (seen.status, "mace-kept-for" in seen.headers) == (200, False)
    assert untouched["seconds_kept"] > 500
    assert (fetched.status, fetched.headers["mace-kept-for"]) == (200, "1")
    assert after["seconds_kept"] <= 1
    assert metric(several, "mace_spooled_bytes", ANOTHER) == 0


def test_a_flood_of_answers_drops_none_of_another_key(several: Waiting) -> None:
    several.go()
    mine = post(several, {"Prefer": "respond-async, wait=0"} | MINE).headers["location"]
    known(several, mine, MINE)
    flood = []
    for _ in range(20):
        flood.append(post(several, {"Prefer": "respond-async, wait=0"} | ANOTHER).headers["location"])
        known(several, flood[-1], ANOTHER)
    kept = [several.ask(place, headers=ANOTHER).status == 200 for place in flood]
    status = several.ask(f"{mine}/result", headers=MINE).status
    for place in flood:
        several.ask(place, "DELETE", headers=ANOTHER)

    assert status == 200
    assert kept == [False] * 13 + [True] * 7


def test_answers_that_nobody_fetches_delay_no_other_work(several: Waiting) -> None:
    """Eight mebibytes are all there is; the answers that are kept come to more than a third of it."""
    several.go()
    many = {"members": [i % 997 for i in range(4000)], "nonmembers": [i % 991 for i in range(4000)]}
    body = json.dumps(many).encode()
    places = [post(several, LATER | ANOTHER, body, "/v1/individual-risk").headers.get("location")]
    for place in filter(None, places):  # one works and three may wait, so the first has to have ended
        known(several, place, ANOTHER)
    places += [post(several, {"Prefer": "respond-async, wait=0"} | ANOTHER, body, "/v1/individual-risk")
               .headers["location"] for _ in range(4)]  # fmt: skip
    for place in filter(None, places):
        known(several, place, ANOTHER)
    held = metric(several, "mace_spooled_bytes", ANOTHER)
    numbers = np.arange(400_000.0)
    table = io.BytesIO()
    np.save(table, np.column_stack([numbers % 1000, numbers % 2]))
    others = several.ask("/v1/advantage", "POST", table.getvalue(), {"Content-Type": "application/x-npy"} | MINE)
    status = [several.ask(place, headers=ANOTHER).status for place in filter(None, places)]

    assert held > 2 * MIB
    assert others.status == 200, others.body
    assert 404 in status
    assert status == sorted(status, reverse=True)  # the oldest went


def test_a_key_whose_requests_wait_gives_way_to_another_key(several: Waiting) -> None:
    """One works and three may wait: all of one key, until another comes."""
    places = [post(several, LATER | ANOTHER).headers["location"] for _ in range(4)]
    refused = post(several, ANOTHER)
    mine = post(several, LATER | MINE)
    several.go()
    ends = [known(several, place, ANOTHER).json()["status"] for place in places]
    own = known(several, mine.headers["location"], MINE).json()
    for place in places:
        several.ask(place, "DELETE", headers=ANOTHER)
    several.ask(mine.headers["location"], "DELETE", headers=MINE)

    assert (refused.status, slug(refused), mine.status) == (503, "busy", 202)
    assert ends == [200, 200, 200, 503]
    assert own["status"] == 200


def test_a_key_of_a_former_name_has_nothing_of_the_former_key(several: Waiting) -> None:
    """It is the last: the key that may ask six times a minute is another one afterwards."""
    several.go()
    place = post(several, {"Prefer": "respond-async, wait=0"} | ANOTHER).headers["location"]
    known(several, place, ANOTHER)
    keys.write(several.folder / "keys.toml", [key_of("another", "a-new-secret")])
    new = {"Authorization": "Bearer a-new-secret"}
    until(lambda: several.ask("/version", headers=new).status == 200)
    found = [several.ask(f"{place}{path}", headers=new).status for path in ("", "/result", "/events")]
    lines = [json.loads(line) for line in (several.folder / "audit").read_text().splitlines()]

    assert found == [404] * 3
    assert several.ask(place, headers=ANOTHER).status == 401
    assert {line["key_sha256"] for line in lines if line["key"] == "another"} == {
        keys.digest_of(b"another"),
        keys.digest_of(b"a-new-secret"),
    }


def test_the_audit_file_has_the_question_and_its_answer(usual: Waiting) -> None:
    audit = usual.folder / "audit"
    before = verify(audit)[0]
    place = post(usual).headers["location"]
    usual.ask(place)
    usual.go()
    ended(usual, place)
    answer = usual.ask(f"{place}/result")

    asked, fetched = [json.loads(line) for line in audit.read_text().splitlines()][before:]
    assert verify(audit)[0] == before + 2
    assert (asked["status"], asked["route"]) == (202, "/v1/advantage")
    assert (fetched["status"], fetched["route"]) == (200, "/v1/jobs/{name}/result")
    assert fetched["input_sha256"] == answer.json()["provenance"]["input_sha256"]
    assert fetched["answer_sha256"]


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """From Python, every answer is asked for later."""
    monkeypatch.setattr(client, "PREFERENCE", LATER)
    return monkeypatch


def mace(service: Running) -> macekit.Mace:
    return macekit.Mace(f"http://127.0.0.1:{service.port}")


def test_python_fetches_an_answer_that_is_late(usual: Waiting, later: pytest.MonkeyPatch) -> None:
    later.setattr(client, "sleep", lambda seconds: usual.go())

    result = mace(usual).estimate(MEMBERS, NONMEMBERS)
    dp = mace(usual).theory.dp(epsilon=1.0)

    assert result.answer == macekit.estimate(MEMBERS, NONMEMBERS).answer
    assert dp.answer == macekit.theory.dp(epsilon=1.0).answer


@pytest.mark.slow
def test_python_asks_again_where_its_job_is_not_known_any_more(brief: Waiting, later: pytest.MonkeyPatch) -> None:
    def wait_until_forgotten(seconds: float) -> None:
        later.setattr(client, "sleep", time.sleep)
        assert metric(brief, 'mace_jobs{state="working"}') == 1.0
        brief.go()
        # it is done for a second only, and who looks may not be quick enough to see that
        reached(brief, 'mace_jobs{state="working"}', 0.0)
        reached(brief, 'mace_jobs{state="done"}', 0.0)

    reached(brief, 'mace_jobs{state="done"}', 0.0)
    later.setattr(client, "sleep", wait_until_forgotten)

    assert mace(brief).estimate(MEMBERS, NONMEMBERS).answer == macekit.estimate(MEMBERS, NONMEMBERS).answer


def test_python_tells_the_service_when_nobody_waits_any_more(usual: Waiting, later: pytest.MonkeyPatch) -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    (worker,) = workers_of(usual)
    later.setattr(client, "sleep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        mace(usual).estimate(MEMBERS, NONMEMBERS)
    later.undo()
    until(lambda: workers_of(usual) and workers_of(usual) != [worker])


@pytest.mark.slow
def test_a_full_queue_refuses_at_once_and_what_nobody_can_fetch_does_not_hold_up_the_end(usual: Waiting) -> None:
    """This ends the service."""
    begun = [post(usual) for _ in range(3)]
    refused = post(usual)
    since = time.monotonic()
    status = usual.stop()

    assert [each.status for each in begun] == [202] * 3
    assert (refused.status, slug(refused)) == (503, "busy")
    assert status == 0
    assert time.monotonic() - since < 20


@pytest.mark.parametrize(("lines", "seconds"), [
    ([], None), (["return=minimal"], None), (["respond-async"], USUAL_WAIT),
    (["Respond-Async, wait=10"], 10.0), (["wait=0", "respond-async"], 0.0),
    (["respond-async; wait = 5"], 5.0), (["respond-async, wait=-1"], USUAL_WAIT),
    (["respond-async, wait=x, wait=\u0663"], USUAL_WAIT),
    (["respond-async, wait=99999999999999999999"], LONGEST_WAIT),
])  # fmt: skip
def test_what_a_client_prefers(lines: list[str], seconds: float | None) -> None:
    headers = Headers(raw=[(b"prefer", line.encode("latin-1", "replace")) for line in lines])

    assert seconds_to_wait(headers) == seconds
