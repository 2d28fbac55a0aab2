"""What `scripts/setup` does beside calling pip."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).parents[2] / "scripts"


def test_who_sets_up_the_same_folder_meanwhile_waits_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "requirements").mkdir()
    place = os.open(tmp_path / "requirements", os.O_RDONLY)
    fcntl.flock(place, fcntl.LOCK_EX)
    code = f"import environment, pathlib; environment.ROOT = pathlib.Path({str(tmp_path)!r})"
    command = [sys.executable, "-c", f"{code}; environment.wait_for_others(); print('alone')"]

    with subprocess.Popen(command, cwd=SCRIPTS, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as other:
        assert other.stderr is not None
        said = other.stderr.readline()
        assert other.poll() is None
        os.close(place)
        printed, _ = other.communicate(timeout=60)

    assert said.startswith("setup: another set-up of this folder is under way")
    assert (printed, other.returncode) == ("alone\n", 0)
