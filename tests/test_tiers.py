"""What `--fast` leaves out, who runs what, and what CI does not accept: seen on small suites of their own."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from tests.conftest import dealt

CONFTEST = Path(__file__).with_name("conftest.py").read_text(encoding="utf-8")
SUITE = """
import pytest

@pytest.fixture(scope="session")
def browser(): pass

@pytest.fixture(params=["dask", "spark"])
def read(request): pass

@pytest.mark.slow
def test_slow(): pass
def test_page(browser): pass
def test_engine(read): pass
@pytest.mark.parametrize("number", range(8))
def test_quick(number): pass
def test_skipped(): pytest.skip("no such part here")
"""


def run(folder: Path, *arguments: str, ci: str = "") -> tuple[int, str]:
    (folder / "tests").mkdir(exist_ok=True)
    (folder / "tests" / "conftest.py").write_text(CONFTEST)
    (folder / "tests" / "test_parts.py").write_text(SUITE)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = slow: slow\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "xdist", *arguments]
    surroundings = os.environ | {"CI": ci, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=folder, env=surroundings, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n", "2", "--dist", "worksteal")], ids=["alone", "two workers"])
def test_a_fast_run_leaves_out_what_is_slow_or_needs_more_and_says_so(workers: tuple[str, ...], tmp_path: Path) -> None:
    status, said = run(tmp_path, "--fast", *workers)

    assert status == 0, said
    assert "9 passed" in said
    assert "--fast left out 3 tests: 1 needs Java, 1 needs a browser, 1 slow" in said
    assert "10 tests took" in said


@pytest.mark.slow
def test_each_worker_begins_at_another_file_and_all_agree_on_one_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    (tmp_path / "tests").mkdir()
    text = f"""
import os
with open({str(log)!r}, "a") as log:
    print(os.environ["PYTEST_XDIST_WORKER"], __name__.split(".")[-1], file=log)
def test_here(): pass
"""
    for name in ("test_a.py", "test_b.py", "test_c.py"):
        (tmp_path / "tests" / name).write_text(text)

    monkeypatch.setenv("PYTEST_XDIST_AUTO_NUM_WORKERS", "2")
    status, said = run(tmp_path, "-n", "auto", "-k", "test_here or test_quick")
    begun = dict(line.split() for line in reversed(log.read_text().splitlines()))

    assert status == 0, said  # xdist refuses workers that have not the same order
    assert "11 passed" in said
    assert begun == {"gw0": "test_a", "gw1": "test_c"}


@pytest.mark.slow
def test_there_is_a_worker_more_than_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_XDIST_AUTO_NUM_WORKERS", raising=False)

    status, said = run(tmp_path, "-n", "auto", "-k", "test_quick")

    assert status == 0, said
    assert f"{psutil.cpu_count(logical=False) + 1} workers [" in said


def test_a_test_that_is_skipped_fails_in_ci_alone(tmp_path: Path) -> None:
    status, said = run(tmp_path, ci="true")

    assert status == 1
    assert "no test may be skipped, and 1 were" in said
    assert run(tmp_path)[0] == 0


def item(name: str, file: str, *fixtures: str, slow: bool = False) -> Any:
    return SimpleNamespace(name=name, path=Path(file), fixturenames=fixtures, get_closest_marker=lambda _: slow or None)


def test_tests_of_one_server_and_slow_files_come_first_in_the_share_of_one_worker() -> None:
    quick = [item(f"quick {number}", "quick.py") for number in range(8)]
    pages = [item(f"page {number}", f"pages{number}.py", "browser") for number in range(2)]
    slow = [item("slow", "slow.py", slow=True), item("beside it", "slow.py")]

    order = [each.name for each in dealt([*quick[:4], *slow, pages[0], *quick[4:], pages[1]], 2)]

    assert order == [
        "page 0", "page 1", "quick 0", "quick 1", "quick 2", "quick 3",
        "slow", "beside it", "quick 4", "quick 5", "quick 6", "quick 7",
    ]  # fmt: skip
