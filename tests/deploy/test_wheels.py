"""The wheel: the same bytes from another folder, at another time, under another umask.

That they are is what `scripts/check wheel` finds out; here it is seen to find builds that differ.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
import wheels

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow  # each builds wheels


def test_a_build_that_differs_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = wheels.copy_sources

    def copy_with_junk(folder: Path, mode: int, time: int, reverse: bool) -> Path:
        real(folder, mode, time, reverse)
        if reverse:
            (folder / "app" / "left-over.txt").write_text("of this machine alone")
        return folder

    monkeypatch.setattr(wheels, "copy_sources", copy_with_junk)

    found = wheels.complaints()

    assert "macekit/app/left-over.txt: in one of the two only" in found


def test_it_is_dated_by_the_commit_unless_told_otherwise_and_the_script_prints_its_sum(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    monkeypatch.setattr(wheels, "commit_time", lambda: 1_700_000_000)
    by_commit = wheels.build(ROOT, tmp_path / "1")
    script, folder = ROOT / "scripts" / "wheels.py", tmp_path / "new" / "dist"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1600000000")
    done = subprocess.run([sys.executable, script, folder], capture_output=True, text=True, check=True)
    (by_variable,) = folder.glob("*.whl")

    for wheel, date in ((by_commit, (2023, 11, 14)), (by_variable, (2020, 9, 13))):
        with ZipFile(wheel) as archive:
            assert {each.date_time[:3] for each in archive.infolist()} == {date}
    assert "macekit/call.py: two dates or modes" in wheels.differences(by_commit, by_variable)
    assert done.stdout == f"{hashlib.sha256(by_variable.read_bytes()).hexdigest()}  {by_variable}\n"


def test_the_time_of_the_commit_is_gits_and_none_without_a_repository(tmp_path: Path) -> None:
    assert wheels.commit_time(tmp_path) is None

    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    assert wheels.commit_time(tmp_path) is None
    subprocess.run(
        ["git", "-C", tmp_path, *identity, "commit", "-q", "--allow-empty", "-m", "x"],
        env=os.environ | {"GIT_COMMITTER_DATE": "1500000000 +0545"},
        check=True,
    )
    assert wheels.commit_time(tmp_path) == 1_500_000_000
