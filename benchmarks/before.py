"""Whether a question takes longer over HTTP than at an earlier commit: both services, asked by turns.

``--commit`` names the other one, which is checked out into a folder that goes again. Each pair asks first the one and
then the other of the same records; ratios are of pairs, so what else the machine does falls on both. Six minutes.
"""

import asyncio
import json
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import numpy as np

from benchmarks.harness import Refused, Run, table
from benchmarks.load import closed, request
from benchmarks.processes import Service, serving
from benchmarks.service import as_json, post
from macekit.call import JSON

OPTIONS = {"commit": ("", "HEAD"), "operation": ("advantage", "advantage")}
ROOT = Path(__file__).parents[1]
PAIRS = {200: 200, 1_000: 200, 10_000: 100, 100_000: 40}
"""Records a side, and how often both are asked."""
CLIENTS = (1, 2, 4, 16)


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """The tree of a commit, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        add = [*git, "add", "--detach", tree, commit]
        done = subprocess.run(add, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Refused(f"--commit: {done.stderr.strip()}")
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", tree], check=True)


@contextmanager
def both_services(commit: str) -> Iterator[tuple[Service, Service]]:
    """That of a commit, and today's."""
    if not commit:
        raise Refused("--commit: needs the commit to compare with")
    with checked_out(commit) as tree, serving(tree=tree) as before, serving(tree=ROOT) as now:
        yield before, now


def milliseconds(connection: HTTPConnection, path: str, body: bytes) -> float:
    start = time.perf_counter()
    try:
        post(connection, path, body, JSON)
    except AssertionError as error:
        raise Refused(f"{path}: {error}") from None
    return 1000.0 * (time.perf_counter() - start)


@table
def times(run: Run):
    """Medians of both, and of the ratio of pairs with its quartiles."""
    rng, path = np.random.default_rng(0), f"/v1/{run.operation}"
    with both_services(run.commit) as services, ExitStack() as stack:
        connections = [stack.enter_context(closing(each.connect())) for each in services]
        yield "records a side | pairs | ms before | ms now | ratio | its quartiles"
        for size, full in run.few(PAIRS.items(), 2):
            pairs, both = run.times(full, 5), np.empty((2, 0))
            for _ in range(pairs + 3):
                sides = {"members": rng.normal(0.5, 1, size), "nonmembers": rng.normal(0, 1, size)}
                body = json.dumps({side: scores.tolist() for side, scores in sides.items()}).encode()
                pair = [milliseconds(each, path, body) for each in connections]
                both = np.column_stack([both, pair])
            both = both[:, 3:]  # the first ones are slower
            low, middle, high = np.quantile(both[1] / both[0], [0.25, 0.5, 0.75])
            first, second = np.median(both, axis=1)
            yield f"{size:,} | {pairs} | {first:.2f} | {second:.2f} | {middle:.2f} | {low:.2f} to {high:.2f}"


@table
def rates(run: Run):
    """How many small questions are answered in a second, 200 records a side, and what one of a hundred waits."""
    asked = request(f"/v1/{run.operation}", as_json(200), JSON)
    with both_services(run.commit) as services:
        yield "clients | rounds | answers a second before | now | ratio | its quartiles | p99 before, ms | now"
        for clients in CLIENTS:
            rounds, seconds = run.times(20, 3), 0.5 if run.quick else 1.5
            goodput, waits = ([list[float](), list[float]()] for _ in range(2))
            for at in range(rounds + 1):
                for number, each in enumerate(services):
                    tally = asyncio.run(closed(each.port, clients, seconds, lambda _: asked))
                    if tally.faults:
                        raise Refused(f"{tally.cut}, where every question has an answer")
                    if at:  # the first ones are slower
                        goodput[number].append(tally.goodput)
                        waits[number] += tally.answers
            first, second = (np.array(each) for each in goodput)
            low, middle, high = np.quantile(second / first, [0.25, 0.5, 0.75])
            one, other = (1000 * np.quantile(each, 0.99) for each in waits)
            yield (
                f"{clients} | {rounds} | {np.median(first):.0f} | {np.median(second):.0f} | {middle:.2f} | "
                f"{low:.2f} to {high:.2f} | {one:.0f} | {other:.0f}"
            )
