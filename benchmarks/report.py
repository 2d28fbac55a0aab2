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
from benchmarks.report import asked, as_npy

n = int(sys.argv[1])
body = as_npy(n)
asked("report", body, n, JSON)
began = time.perf_counter()
asked("report", body, n, HTML)
print(time.perf_counter() - began)
"""
"""The first report of a process that has answered in JSON before."""


def asked(operation: str, body: bytes, n: int, form: str) -> Reply:
    options = (("members", str(n)), ("threshold", "0.2"))
    found = perform(Call(operation, NPY, query=options, accept=form), Body.of(body))
    assert found.status == 200, bytes(found.body)[:300]
    return found


def seconds(task: Callable[[], object], times: int) -> float:
    found = []
    for turn in range(times + 1):
        began = time.perf_counter()
        task()
        if turn:  # the first is for caches, and starts the engine
            found.append(time.perf_counter() - began)
    return min(found)


def cold(n: int, times: int) -> float:
    """Seconds of the first HTML report of a process; the least of several processes."""
    command = [sys.executable, "-c", FIRST, str(n)]
    found = [subprocess.run(command, capture_output=True, check=True, text=True).stdout for _ in range(times)]
    return min(map(float, found))


def row(n: int, times: int) -> str:
    body = as_npy(n)
    estimate = seconds(lambda: asked("advantage", body, n, JSON), times)
    data = seconds(lambda: asked("report", body, n, JSON), times)
    page = seconds(lambda: asked("report", body, n, HTML), times)
    picture = seconds(lambda: asked("report", body, n, PNG), max(1, times // 3))
    first = cold(n, max(1, times // 3))
    each = (estimate, data, page - data, page - estimate, first - estimate, picture - data)
    return f"| {n:,} | " + " | ".join(f"{1e3 * found:,.0f}" for found in each) + " |"


def sizes(n: int) -> str:
    body = as_npy(n)
    found = (len(asked("report", body, n, form).body) / 1024 for form in FORMS.values())
    return f"| {n:,} | " + " | ".join(f"{kib:,.0f}" for kib in found) + " |"


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
