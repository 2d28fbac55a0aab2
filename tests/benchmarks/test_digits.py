"""An answer about one score has the same digits with another processor's BLAS, on any number of threads."""

import json
import os
import subprocess
import sys

import pytest

from benchmarks.digits import questions
from macekit.call import Body, Call
from macekit.operations import perform

ASK = """
import json, sys
from tests.benchmarks.test_digits import answers
json.dump(answers(), sys.stdout)
"""
OTHER = {"OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}


def answers() -> dict[str, str]:
    kinds = ("normal 300:200", "round 300:200", "loss 3000:2000")
    return {
        name: bytes(perform(Call(operation), Body.of(json.dumps(body).encode())).body).decode()
        for name, operation, body in questions()
        if name.endswith(kinds)
    }


@pytest.mark.slow
def test_the_kernels_and_threads_of_blas_change_no_digit() -> None:
    other = subprocess.run(
        [sys.executable, "-c", ASK], env=os.environ | OTHER, stdout=subprocess.PIPE, check=True, timeout=120
    )

    assert len(here := answers()) == 12
    assert json.loads(other.stdout) == here
