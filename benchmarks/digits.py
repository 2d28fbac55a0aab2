"""Does an answer's last digit hang on the processor? The same questions, with the kernels and vector units of others.

NumPy's and OpenBLAS's variables take away what a processor has beyond an older one. Where QEMU is installed
(`qemu-x86_64`), an older processor is emulated as well, and nothing taken away by a variable: minutes, not seconds.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain, product
from typing import Any

import numpy as np

from app.openapi.examples import JSON_EXAMPLES
from benchmarks.harness import Run, least, table
from benchmarks.worlds import Floats
from estimators import Scores, advantage
from macekit.call import Body, Call
from macekit.catalogue import CORE, OPERATIONS
from macekit.operations import perform

OLDEST = {
    "OPENBLAS_CORETYPE": "Nehalem",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX,-AVX2,-FMA,-FMA4,-AVX512F,-AVX512VL,-AVX512BW,-AVX512CD,-AVX512DQ",
}
"""What docs/operations.md sets for the same digits on every processor of x86-64."""
KINDS: dict[str, dict[str, str]] = {
    f"OPENBLAS_CORETYPE={kernel}": {"OPENBLAS_CORETYPE": kernel}
    for kernel in ("Prescott", "Nehalem", "Haswell", "SkylakeX", "Zen")
} | {
    "NumPy without AVX-512": {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR"},
    "NumPy without AVX2": {"NPY_DISABLE_CPU_FEATURES": OLDEST["NPY_DISABLE_CPU_FEATURES"]},
    "glibc without FMA": {"GLIBC_TUNABLES": OLDEST["GLIBC_TUNABLES"]},
    "all three": OLDEST,
}
EMULATED = ("Nehalem",)
SIZES = ((24, 24), (300, 200), (3000, 2000))
ASKED = {"advantage": {}, "gate": {"max_advantage": 0.2}, "report": {}, "individual-risk": {}}
PRINT_ANSWERS = "from benchmarks.digits import print_answers; print_answers()"


def questions() -> Iterator[tuple[str, str, Any]]:
    """A name, the operation and the body of each question: every example, and scores of four kinds in three sizes."""
    for row in OPERATIONS:
        for name, example in JSON_EXAMPLES.get(row.name, {}).items():
            yield f"{row.name}/{name}", row.name, example.value
    for n, m in SIZES:
        rng = np.random.default_rng(n)
        scores: dict[str, tuple[Floats, Floats]] = {
            "normal": (rng.standard_normal(n) + 0.7, rng.standard_normal(m)),
            "round": (np.round(rng.standard_normal(n) * 3 + 1), np.round(rng.standard_normal(m) * 3)),
            "loss": (rng.random(n) ** 2, rng.random(m)),
            "vectors": (np.round(rng.random((n, 2)), 3), np.round(rng.random((m, 2)) ** 1.2, 3)),
        }
        for (kind, sides), (operation, more) in product(scores.items(), ASKED.items()):
            members, nonmembers = (side.tolist() for side in sides)
            body = {"members": members, "nonmembers": nonmembers, **more}
            yield f"{operation}/{kind} {n}:{m}", operation, body


def print_answers() -> None:
    """For another process: each question's answer as JSON."""
    answers = {
        name: json.loads(bytes(perform(Call(operation), Body.of(json.dumps(body).encode())).body))
        for name, operation, body in questions()
    }
    json.dump(answers, sys.stdout)


def differences(one: Any, other: Any) -> Iterator[float]:
    """How far each number is from that of the other answer, where they are not the same; relative to those beyond 1."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for name in one:
            yield from differences(one[name], other[name])
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        yield from chain.from_iterable(map(differences, one, other))
    elif isinstance(one, float) and isinstance(other, float):
        if one != other:
            yield abs(one - other) / max(abs(one), 1.0)
    elif one != other:
        yield float("inf")


def _elsewhere(variables: dict[str, str], code: str = PRINT_ANSWERS, emulator: tuple[str, ...] = ()) -> Any:
    """What a process of its own prints as JSON."""
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [*emulator, sys.executable, "-c", code]
    return json.loads(subprocess.check_output(command, env=os.environ | one_thread | variables))


def _row(one: dict[str, Any], other: dict[str, Any]) -> str:
    core = {row.name for row in CORE}
    apart = {name: list(differences(one[name], other[name])) for name in one}
    cells = []
    for of_core in (True, False):
        found = [each for name, each in apart.items() if (name.rpartition("/")[0] in core) == of_core]
        beyond = [value for each in found for value in each]
        cells.append(f"{sum(map(bool, found))} of {len(found)} | {max(beyond, default=0.0):.1g}")
    decisions = sum(one[name].get("decision") != other[name].get("decision") for name in one)
    return f"{' | '.join(cells)} | {decisions}"


@table
def digits(run: Run):
    """A row for each kind of processor, compared with this one as it is; the last ones with an emulated one."""
    yield "taken away | core's answers that differ | by at most | wings' | by at most | other decisions"
    here = _elsewhere({})
    for name, variables in run.few(KINDS.items(), 2):
        yield f"{name} | {_row(here, _elsewhere(variables))}"
    if run.quick or shutil.which("qemu-x86_64") is None:
        return
    oldest = _elsewhere(OLDEST)
    for processor in EMULATED:
        emulated = _elsewhere(OLDEST, emulator=("qemu-x86_64", "-cpu", processor))
        yield f"all three, here and on an emulated {processor} | {_row(oldest, emulated)}"


@table
def price(run: Run):
    """What all three cost: a certified answer of a sample."""
    yield "a side | as it is, ms | all three taken away, ms | ratio"
    code = "from benchmarks.digits import milliseconds; print(milliseconds({}))"
    for n in (200,) if run.quick else (200, 10_000, 1_000_000):
        times = [_elsewhere(variables, code.format(n)) for variables in ({}, OLDEST)]
        yield f"{n:,} | {times[0]:.3g} | {times[1]:.3g} | {times[1] / times[0]:.2f}"


def milliseconds(n: int) -> float:
    """For another process: what an answer of so many scores a side takes."""
    rng = np.random.default_rng(0)
    scores = Scores.of(rng.standard_normal(n) + 0.5, rng.standard_normal(n))
    return 1000.0 * least(lambda: advantage(scores), 5)
