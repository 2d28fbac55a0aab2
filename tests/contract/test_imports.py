"""What importing the library may cost: no heavy module that it does not need at once."""

import subprocess
import sys


def test_importing_the_library_loads_neither_scipy_stats_nor_scikit_learn_nor_pandas() -> None:
    code = (
        "import sys, estimators; print([m for m in ('scipy.stats', 'sklearn', 'pandas') if m in sys.modules])"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout.strip() == "[]"
