"""What a report costs beyond the numbers it shows: a report of 10^3, 10^5 and 10^6 records a side.

Everything goes through ``perform``, as in a worker: NPY in, the answer out. The first report of a process imports
what writes it; all other times come after that. Each is the least of several. The estimate is /v1/advantage as JSON.
"""

import subprocess
import sys

from benchmarks.harness import Run, least, table
from benchmarks.service import as_npy
from macekit.call import CSV, HTML, JSON, MARKDOWN, NPY, PNG, SVG, Body, Call, Reply
from macekit.operations import perform

OPTIONS = {"repeats": (15, 1)}
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


def warm(operation: str, body: bytes, n: int, form: str, times: int) -> float:
    """Seconds of an answer after the first, which is for caches and imports."""
    answer(operation, body, n, form)
    return least(lambda: answer(operation, body, n, form), times)


def cold(n: int, times: int) -> float:
    """Seconds of the first HTML report of a process; the least of several processes."""
    return min(float(subprocess.check_output([sys.executable, "-c", FIRST, str(n)])) for _ in range(times))


@table
def cost(run: Run):
    """Milliseconds of each form beyond those of the one it is made of."""
    yield (
        "records a side | estimate, ms | report as JSON, ms | HTML beyond that JSON, ms | HTML beyond the estimate "
        "(wanted: <= 2,000), ms | the same, first of a process, ms | PNG of all charts beyond JSON, ms"
    )
    few = max(1, run.repeats // 3)
    for n in SIZES[: 1 if run.quick else None]:
        body = as_npy(n)
        estimate = warm("advantage", body, n, JSON, run.repeats)
        data, page = (warm("report", body, n, form, run.repeats) for form in (JSON, HTML))
        picture, first = warm("report", body, n, PNG, few), cold(n, few)
        each = (estimate, data, page - data, page - estimate, first - estimate, picture - data)
        yield f"{n:,} | " + " | ".join(f"{1e3 * duration:,.0f}" for duration in each)


@table
def sizes(run: Run):
    yield "records a side | " + " | ".join(f"{name}, KiB" for name in FORMS)
    for n in SIZES[: 1 if run.quick else None]:
        body = as_npy(n)
        kibibytes = (len(answer("report", body, n, form).body) / 1024 for form in FORMS.values())
        yield f"{n:,} | " + " | ".join(f"{kib:,.0f}" for kib in kibibytes)
