"""The memory limit of a process, in processes of their own: a limit that was set cannot be taken back."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts what is limited")

BEGIN = """
import resource
from app.workers.privileges import MemoryLimit, data_bytes

MIB = 2**20
"""


def run(code: str) -> list[str]:
    return subprocess.check_output([sys.executable, "-c", BEGIN + code], text=True).split()


def test_a_process_gets_the_allowance_on_top_of_what_it_has() -> None:
    code = """
limit = MemoryLimit.apply(100 * MIB)
print(limit.baseline + 100 * MIB == resource.getrlimit(resource.RLIMIT_DATA)[0])
for size in (60, 200):
    try: print(len(bytearray(size * MIB)) // MIB)
    except MemoryError: print("refused")
limit.lift()
print(len(bytearray(200 * MIB)) // MIB)
"""

    assert run(code) == ["True", "60", "refused", "200"]


def test_memory_that_stays_is_growth() -> None:
    code = """
limit = MemoryLimit.apply(100 * MIB)
kept = bytearray(10 * MIB); print(limit.has_grown())
more = bytearray(40 * MIB); print(limit.has_grown())
del more; print(limit.has_grown())
"""

    assert run(code) == ["False", "True", "False"]


def test_a_limit_is_never_above_what_the_process_may_have() -> None:
    code = """
hard = data_bytes() + 50 * MIB
resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
MemoryLimit.apply(100 * MIB)
print(hard == resource.getrlimit(resource.RLIMIT_DATA)[0])
"""

    assert run(code) == ["True"]
