"""What importing the library may cost: no heavy module that it does not need at once."""

import subprocess
import sys
from pathlib import Path

import pytest


def imported_by(code: str, *names: str) -> str:
    """Those of the modules that have run after some code, as printed."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint([m for m in {names} if m in sys.modules])"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.slow
def test_importing_the_library_loads_neither_scipy_stats_nor_scikit_learn_nor_pandas() -> None:
    assert imported_by("import estimators", "scipy.stats", "sklearn", "pandas") == "[]"


TOOLS = ("numpy.f2py.crackfortran", "numpy.testing._private.utils", "numpy.polynomial.chebyshev")
"""What SciPy imports of NumPy beside what it needs: fifteen MiB."""


@pytest.mark.slow
def test_a_first_answer_imports_no_statistics_and_no_engine_that_draws() -> None:
    code = "import macekit\nmacekit.report([*range(20)], [*range(5, 25)])"

    assert imported_by(code, "scipy.stats", "vl_convert", "fastapi") == "[]"


@pytest.mark.slow
def test_what_workers_import_before_they_are_forked_needs_no_large_part_of_scipy() -> None:
    code = "import macekit.operations.imported"

    assert imported_by(code, "scipy.stats", "scipy.optimize", "scipy.signal", "scipy.spatial", "sklearn") == "[]"


def test_the_library_leaves_the_imports_of_others_alone() -> None:
    code = "import sys, macekit\nassert not any('_LateFinder' in repr(each) for each in sys.meta_path)"
    assert imported_by(code) == "[]"


@pytest.mark.slow
def test_the_service_imports_no_former_pydantic_no_mail_and_nothing_that_signs_without_a_key() -> None:
    others = ("pydantic.v1", "email.headerregistry", "cryptography", "pyarrow", "sklearn", "vl_convert")

    assert imported_by("import app.main\napp.main.create_app()", *TOOLS, *others) == "[]"


@pytest.mark.slow
def test_what_a_gate_does_not_need_is_imported_by_workers_before_they_are_forked_and_by_a_gate_not_at_all(
    tmp_path: Path,
) -> None:
    scores = tmp_path / "scores.csv"
    scores.write_text("score,member\n" + "".join(f"{i / 7},{i % 2}\n" for i in range(400)))
    command = f"['gate', {str(scores)!r}, '--max-advantage', '1']"
    late = ["numpy.ma.core", "scipy.fft._basic"]
    searches = "import importlib.metadata\nimportlib.metadata.entry_points = None\n"  # of all that is installed
    gate = f"{searches}from app.cli import main\nassert main({command}) == 0"

    said = imported_by(gate, *late).splitlines()
    assert said[0].endswith("PASS")
    assert said[-1] == "[]"
    assert imported_by("import app, macekit.operations.imported", *late) == str(late)


@pytest.mark.slow
def test_what_was_put_off_is_there_when_it_is_used() -> None:
    code = "import app, estimators, numpy\nfrom numpy.testing import assert_equal\nnumpy.polynomial.Polynomial"

    assert imported_by(code, *TOOLS[1:]) == str(list(TOOLS[1:]))
