"""Whether a question takes longer over HTTP than at an earlier commit: both services, asked by turns.

``--commit`` names the other one, which is checked out into a folder that goes again. Each pair asks first the one and
then the other of the same records; ratios are of pairs, so what else the machine does falls on both. Two minutes.
"""

import json
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import numpy as np

from benchmarks.harness import Refused, Run, table
from benchmarks.processes import serving

OPTIONS = {"commit": ("", "HEAD"), "operation": ("advantage", "advantage")}
ROOT = Path(__file__).parents[1]
PAIRS = {200: 200, 1_000: 200, 10_000: 100, 100_000: 40}
"""Records a side, and how often both are asked."""


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """The tree of a commit, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        done = subprocess.run(
            [*git, "add", "--detach", tree, commit], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise Refused(f"--commit: {done.stderr.strip()}")
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", tree], check=True)


def milliseconds(connection: HTTPConnection, path: str, body: bytes) -> float:
    """How long one answer takes."""
    start = time.perf_counter()
    connection.request("POST", path, body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    said = answer.read()
    if answer.status != 200:
        raise Refused(f"{path}: {said.decode()}")
    return 1000.0 * (time.perf_counter() - start)


@table
def times(run: Run):
    """Medians of both, and of the ratio of pairs with its quartiles."""
    if not run.commit:
        raise Refused("--commit: needs the commit to compare with")
    rng, path = np.random.default_rng(0), f"/v1/{run.operation}"
    with (
        checked_out(run.commit) as tree,
        serving(tree=tree) as before,
        serving(tree=ROOT) as now,
        closing(before.connect()) as one,
        closing(now.connect()) as other,
    ):
        yield "records a side | pairs | ms before | ms now | ratio | its quartiles"
        for size, full in run.few(PAIRS.items(), 2):
            pairs, both = run.times(full, 5), np.empty((2, 0))
            for _ in range(pairs + 3):
                sides = {"members": rng.normal(0.5, 1, size), "nonmembers": rng.normal(0, 1, size)}
                body = json.dumps({side: scores.tolist() for side, scores in sides.items()}).encode()
                pair = [milliseconds(each, path, body) for each in (one, other)]
                both = np.column_stack([both, pair])
            both = both[:, 3:]  # the first ones are slower
            low, middle, high = np.quantile(both[1] / both[0], [0.25, 0.5, 0.75])
            first, second = np.median(both, axis=1)
            yield f"{size:,} | {pairs} | {first:.2f} | {second:.2f} | {middle:.2f} | {low:.2f} to {high:.2f}"
