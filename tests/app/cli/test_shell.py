"""The command as others meet it: processes, pipes, terminals, signals."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.cli.commands import QUESTIONS
from tests.app.cli.files import COMMAND, HUMBLE, mace

DEADLINE = 60.0
HEAVY = ("numpy", "scipy", "pyarrow", "pydantic", "fastapi", "uvicorn")


def read_until(descriptor: int, wanted: bytes) -> bytes:
    """What a terminal shows, up to what is waited for."""
    seen = b""
    end = time.monotonic() + DEADLINE
    while wanted not in seen and time.monotonic() < end:
        if select.select([descriptor], [], [], 0.1)[0]:
            try:
                seen += os.read(descriptor, 4096)
            except OSError:  # nobody holds the other end any more
                break
    return seen


def test_an_answer_is_on_standard_output_and_nothing_on_standard_error(folder: Path) -> None:
    done = mace("estimate", "scores.csv", "--max-advantage", "0.1", folder=folder)

    assert done.returncode == 1
    assert done.stderr == ""
    assert "\nFail: with 95% confidence the advantage is at least" in done.stdout


def test_scores_are_piped_in(folder: Path) -> None:
    expected = json.loads(mace("estimate", "scores.parquet", "--json", folder=folder).stdout)

    for arguments in (["estimate"], ["estimate", "-"]):
        done = mace(*arguments, "--json", folder=folder, stdin=(folder / "scores.parquet").read_bytes())
        assert json.loads(done.stdout) == expected


def test_standard_input_may_be_a_file(folder: Path) -> None:
    with (folder / "scores.npy").open("rb") as file:
        done = subprocess.run(
            [*COMMAND, "estimate"],
            cwd=folder,
            stdin=file,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=False,
        )

    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"^Member records +24  and 24 nonmember records$", done.stdout, re.MULTILINE)


def test_nothing_piped_in_is_said(folder: Path) -> None:
    done = mace("estimate", folder=folder)

    assert (done.returncode, done.stderr) == (
        2,
        "mace estimate: standard input: empty; look at what was to write it\n",
    )


def test_without_a_file_on_a_terminal_it_says_what_to_do(folder: Path) -> None:
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [*COMMAND, "estimate"],
            cwd=folder,
            stdin=theirs,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)

    assert done.returncode == 2
    assert "mace estimate: no file\nName a file of scores (mace estimate scores.csv)" in done.stderr


def test_a_file_that_may_not_be_read_is_said(folder: Path) -> None:
    (folder / "scores.csv").chmod(0)

    done = mace("estimate", "scores.csv", folder=folder, through=HUMBLE)

    assert done.returncode == 2
    assert "scores.csv: Permission denied" in done.stderr


def test_an_interrupt_ends_it_without_a_traceback(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    process = subprocess.Popen(
        [*COMMAND, "estimate", "pipe"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with (folder / "pipe").open("wb") as pipe:  # opens when the command has opened its end
        pipe.write(b"score,member\n")
        pipe.flush()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=DEADLINE)

    assert (process.returncode, out, err) == (130, b"", b"")


def test_a_reader_who_has_read_enough_ends_it_in_silence(folder: Path) -> None:
    rows = "".join(f"{i / 7919 % 1:.6f},{i % 2}\n" for i in range(20_000))
    (folder / "many.csv").write_text("score,member\n" + rows)
    process = subprocess.Popen(
        [*COMMAND, "risk", "many.csv", "--json"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None

    first = process.stdout.read(10)
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()

    assert (first, process.wait(DEADLINE), err) == (b'{"sentence', 141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("arguments", [["demo"], ["estimate", "scores.csv"]])
def test_an_answer_that_cannot_be_printed_is_no_success(folder: Path, arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, *arguments],
            cwd=folder,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=DEADLINE,
            check=False,
        )

    assert done.returncode == 2
    assert re.fullmatch(r"mace: the answer cannot be printed: .*\n", done.stderr)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_what_a_pipeline_reads_is_written_though_the_answer_cannot_be_printed(folder: Path) -> None:
    files = ["--junit", "gate.xml", "--metrics", "gate.txt", "--state", "run.json"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, "gate", "scores.csv", "--max-advantage", "0.1", *files],
            cwd=folder,
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=DEADLINE,
            check=False,
        )

    assert done.returncode == 2
    assert b"the answer cannot be printed" in done.stderr
    for name in files[1::2]:
        assert (folder / name).stat().st_size > 0


FULL = "exec 2>/dev/full"
GONE = "exec 2>&-"
UNREAD = "exec 2> >(exec true); wait $!"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("stderr", [FULL, GONE, UNREAD])
@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["gate", "scores.csv", "--max-advantage", "0.9"], 0),
        (["gate", "nowhere.csv", "--max-advantage", "0.1"], 2),
        (["gate", "scores.csv", "--no-such-option"], 2),
    ],
)
def test_a_standard_error_that_takes_nothing_changes_no_status(
    folder: Path, monkeypatch: pytest.MonkeyPatch, stderr: str, arguments: list[str], status: int
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")

    done = subprocess.run(
        ["bash", "-c", f'{stderr}; "$@"', "bash", *COMMAND, *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        timeout=DEADLINE,
        check=False,
    )

    assert done.returncode == status
    assert b"::" not in done.stdout


def test_a_terminal_sees_progress_and_then_the_answer(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "estimate", "pipe"], cwd=folder, stdout=subprocess.PIPE, stderr=theirs
    )
    os.close(theirs)
    with (folder / "pipe").open("wb") as pipe:
        seen = read_until(ours, b"mace: reading, 1 s")
        pipe.write((folder / "scores.csv").read_bytes())
    out, _ = process.communicate(timeout=DEADLINE)
    after = read_until(ours, b"no more")
    os.close(ours)

    assert b"mace: reading, 1 s" in seen
    assert after.endswith(b"\r\x1b[K")
    assert out.startswith(b"Without any leak ")
    assert process.returncode == 0


def test_quiet_shows_no_progress(folder: Path) -> None:
    ours, theirs = pty.openpty()
    script = (
        "import time; from app.cli import terminal\n"
        "terminal.QUIET_SECONDS = terminal.REFRESH_SECONDS = 0.01\n"
        "with terminal.Progress(quiet=True): time.sleep(0.5)"
    )

    done = subprocess.run([sys.executable, "-c", script], stderr=theirs, timeout=DEADLINE, check=False)

    os.close(theirs)
    assert read_until(ours, b"mace") == b""
    os.close(ours)
    assert done.returncode == 0


def peak(folder: Path, *arguments: str) -> int:
    """Bytes that the command held at most."""
    script = (
        "import sys; from app.cli import main\n"
        "assert main(sys.argv[1:]) == 0\n"
        "print(open('/proc/self/status').read())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = re.search(r"VmHWM:\s+(\d+) kB", done.stdout)
    assert found is not None
    return int(found[1]) * 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("arguments", [["estimate"], ["counts"]])
def test_a_large_file_is_never_held(folder: Path, arguments: list[str]) -> None:
    header = b"\x93NUMPY\x01\x00\x76\x00"
    size = 192 * 2**20
    shape = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({size // 8},), }}"
    with (folder / "large.npy").open("wb") as file:
        file.write(header + shape.ljust(117).encode() + b"\n")
        file.truncate(128 + size)  # zeros, which take no room on the disk
    small = peak(folder, "estimate", "scores.csv")

    large = peak(folder, *arguments, "large.npy", "--member-count", "1000000")

    assert large < small + size // 4


def test_version_and_help_import_nothing_heavy() -> None:
    for arguments in (["--version"], ["--help"]):
        script = (
            "import sys; from app.cli import main\n"
            f"try: main({arguments})\n"
            "except SystemExit: pass\n"
            f"print([name for name in {HEAVY} if name in sys.modules])"
        )
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, timeout=DEADLINE, check=False
        )
        assert done.stdout.endswith("[]\n"), done.stderr


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.command)
def test_help_begins_with_examples_and_ends_with_exit_statuses(question: object, tmp_path: Path) -> None:
    name = question.command  # type: ignore[attr-defined]

    done = mace(name, "--help", folder=tmp_path)

    assert done.returncode == 0
    assert f"\nexamples:\n  mace {name}" in done.stdout
    assert "what is asked:\n" in done.stdout
    unwrapped = " ".join(done.stdout.split())  # from Python 3.13 on, lines break elsewhere
    assert "(default 0.95)" in unwrapped or name == "counts"
    assert "exit status:\n  0    pass: every limit holds" in done.stdout
    assert "Undefined" not in done.stdout
    assert "/v1/" not in done.stdout


def test_the_commands_are_listed_after_examples(tmp_path: Path) -> None:
    done = mace("--help", folder=tmp_path)

    assert done.returncode == 0
    assert "\nexamples:\n  mace demo\n" in done.stdout
    listed = re.findall(r"^  ([a-z-]+)  +[a-zA-Z]", done.stdout, re.MULTILINE)
    assert {question.command for question in QUESTIONS} <= set(listed)


def test_every_command_stands_under_one_of_three_headings_those_of_every_day_first(tmp_path: Path) -> None:
    done = mace("--help", folder=tmp_path)
    every = re.search(r"^commands: (.*)$", mace("nothing", folder=tmp_path).stderr, re.MULTILINE)

    headings = re.findall(r"^([a-z, ]+):\n((?:  +\S.*\n?)+)", done.stdout, re.MULTILINE)[-3:]
    listed = {title: re.findall(r"^  ([a-z-]+)  ", lines, re.MULTILINE) for title, lines in headings}
    assert list(listed) == ["every day", "more questions", "theory, and the service"]
    assert listed["every day"][:3] == ["demo", "gate", "report"]
    assert listed["theory, and the service"] == ["theory", "config", "keys", "verify", "help"]
    assert every is not None
    assert sorted(each for names in listed.values() for each in names) == sorted(every[1].split(", "))


@pytest.mark.parametrize("words", [(), ("gate",), ("theory",), ("theory", "dp"), ("help",)])
def test_help_prints_what_the_option_prints(words: tuple[str, ...], tmp_path: Path) -> None:
    by_command = mace("help", *words, folder=tmp_path)
    by_option = mace(*words, "--help", folder=tmp_path)

    assert (by_command.returncode, by_command.stderr) == (0, "")
    assert by_command.stdout == by_option.stdout != ""


def test_help_on_an_unknown_command_suggests_the_nearest(tmp_path: Path) -> None:
    done = mace("help", "gat", folder=tmp_path)

    assert done.returncode == 2
    assert "gat is not a command; did you mean gate?" in done.stderr


def test_an_unknown_command_suggests_the_nearest(tmp_path: Path) -> None:
    done = mace("estimat", folder=tmp_path)

    assert done.returncode == 2
    assert "estimat is not a command; did you mean estimate?" in done.stderr
