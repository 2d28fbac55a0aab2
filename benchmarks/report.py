"""What a report costs beyond the numbers it shows: a report of 10^3, 10^5 and 10^6 records a side.

    python -m benchmarks.report            # about a minute
    python -m benchmarks.report --quick    # fewer repetitions

Everything goes through ``perform``, as in a worker: NPY in, the answer out. The first report of a process starts the
engine that draws; all other times come after that. Each is the least of several. The estimate is /v1/advantage as JSON.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable

from benchmarks.service import as_npy
from macekit.call import CSV, HTML, JSON, MARKDOWN, NPY, PNG, SVG, Body, Call, Reply
from macekit.operations import perform

SIZES = (10**3, 10**5, 10**6)
FORMS = {"JSON": JSON, "HTML": HTML, "Markdown": MARKDOWN, "CSV": CSV, "SVG": SVG, "PNG": PNG}

FIRST = """
import sys, time
from macekit.call import HTML, JSON
from benchmarks.report import answer, as_npy

n = int(sys.argv[1])
body = as_npy(n)
answer("report", body, n, JSON)
began = time.perf_counter()
answer("report", body, n, HTML)
print(time.perf_counter() - began)
"""
"""The first report of a process that has answered in JSON before."""


def answer(operation: str, body: bytes, n: int, form: str) -> Reply:
    options = (("members", str(n)), ("max_advantage", "0.2"))
    reply = perform(Call(operation, NPY, query=options, accept=form), Body.of(body))
    assert reply.status == 200, bytes(reply.body)[:300]
    return reply


def seconds(task: Callable[[], object], times: int) -> float:
    durations = []
    for turn in range(times + 1):
        began = time.perf_counter()
        task()
        if turn:  # the first is for caches, and starts the engine
            durations.append(time.perf_counter() - began)
    return min(durations)


def cold(n: int, times: int) -> float:
    """Seconds of the first HTML report of a process; the least of several processes."""
    command = [sys.executable, "-c", FIRST, str(n)]
    outputs = [
        subprocess.run(command, capture_output=True, check=True, text=True).stdout for _ in range(times)
    ]
    return min(map(float, outputs))


def row(n: int, times: int) -> str:
    body = as_npy(n)
    estimate = seconds(lambda: answer("advantage", body, n, JSON), times)
    data = seconds(lambda: answer("report", body, n, JSON), times)
    page = seconds(lambda: answer("report", body, n, HTML), times)
    picture = seconds(lambda: answer("report", body, n, PNG), max(1, times // 3))
    first = cold(n, max(1, times // 3))
    each = (estimate, data, page - data, page - estimate, first - estimate, picture - data)
    return f"| {n:,} | " + " | ".join(f"{1e3 * duration:,.0f}" for duration in each) + " |"


def sizes(n: int) -> str:
    body = as_npy(n)
    kibibytes = (len(answer("report", body, n, form).body) / 1024 for form in FORMS.values())
    return f"| {n:,} | " + " | ".join(f"{kib:,.0f}" for kib in kibibytes) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    times = 3 if parser.parse_args().quick else 15
    print(
        "| records a side | estimate, ms | report as JSON, ms | HTML beyond that JSON, ms "
        "| HTML beyond the estimate (wanted: <= 2,000), ms | the same, first of a process, ms "
        "| PNG of all charts beyond JSON, ms |\n" + 7 * "|---" + "|"
    )
    for n in SIZES:
        print(row(n, times), flush=True)
    print("\n| records a side | " + " | ".join(f"{name}, KiB" for name in FORMS) + " |")
    print((1 + len(FORMS)) * "|---" + "|")
    for n in SIZES:
        print(sizes(n), flush=True)


if __name__ == "__main__":
    main()
