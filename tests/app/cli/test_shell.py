"""The command as others meet it: a process with pipes, terminals and signals, which does what it does in this one."""

import errno
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from app.cli.commands import GATE, QUESTIONS, THEORY
from tests.app.cli.files import COMMAND, HUMBLE, Done, process, refused, typed
from tests.cases import each_case
from tests.macekit.asking import quickly

ROOT = Path(__file__).parents[3]
DEADLINE = 60.0
HEAVY = ("numpy", "scipy", "pyarrow", "pydantic", "fastapi", "uvicorn")
WEB = ("fastapi", "starlette", "uvicorn", "httptools", "cryptography", "prometheus_client")
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")


def ended(*words: str, **streams: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *words], text=True, timeout=DEADLINE, check=False, **streams)


def told(script: str, *words: str, through: tuple[str, ...] = ()) -> str:
    """What a program prints."""
    command = [*through, sys.executable, "-c", script, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


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


@pytest.mark.slow
@each_case(
    "line",
    "gate scores.csv --max-advantage 0.1 -o gate.json --overwrite",
    "gate scores.csv --max-advantage 0.9 --json",
    "estimat",
)
def test_a_process_ends_and_prints_as_the_command_does_here(folder: Path, line: str) -> None:
    here = typed(line)

    assert process(line) == here
    assert here.err or here.out


@pytest.mark.slow
def test_standard_input_is_a_pipe_a_file_or_nothing(folder: Path) -> None:
    expected = typed("estimate scores.parquet --json")
    piped = (folder / "scores.parquet").read_bytes()

    assert typed("estimate --json", stdin=piped) == typed("estimate - --json", stdin=piped) == expected
    with (folder / "scores.npy").open("rb") as file:
        of_file = ended("estimate", stdin=file, capture_output=True)
    assert (of_file.returncode, of_file.stderr) == (0, "")
    assert re.search(r"^Member records +24  and 24 nonmember records$", of_file.stdout, re.MULTILINE)
    assert refused("estimate", stdin=b"") == ("mace estimate: standard input: empty; look at what was to write it\n")


@pytest.mark.slow
def test_without_a_file_on_a_terminal_it_says_what_to_do(folder: Path) -> None:
    ours, theirs = pty.openpty()
    try:
        done = ended("estimate", stdin=theirs, capture_output=True)
    finally:
        os.close(ours)
        os.close(theirs)

    assert done.returncode == 2
    assert "mace estimate: no file\nName a file of scores (mace estimate scores.csv)" in done.stderr


LINES = """
import json, os, shlex, sys
from dataclasses import astuple
from tests.app.cli.files import typed
for line in sys.argv[1:]:
    folder, words = line.split(":")
    os.chdir(folder)
    print(json.dumps(astuple(typed(words))))
"""


@pytest.mark.slow
def test_what_may_not_be_read_or_written_to_is_said(folder: Path) -> None:
    (folder / "scores.csv").chmod(0)
    (folder / "sealed").mkdir(mode=0o500)
    lines = (".:estimate scores.csv", ".:estimate signals.npz -o sealed/answer.json", "sealed:demo")

    printed = told(LINES, *lines, through=(*HUMBLE, "env", f"PYTHONPATH={ROOT}"))

    read, written, demo = (Done(*json.loads(line)) for line in printed.splitlines())
    assert [each.status for each in (read, written, demo)] == [2, 2, 2]
    assert "scores.csv: Permission denied" in read.err
    assert "the folder cannot be written to" in written.err
    assert "\nOptimal advantage " in demo.out
    assert "Report:" not in demo.out
    assert demo.err.startswith("mace demo: mace-demo: cannot be made: Permission denied\n")
    assert "-o names another folder" in demo.err
    assert list((folder / "sealed").iterdir()) == []


def test_an_interrupt_ends_it_without_a_traceback(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    process = subprocess.Popen([*COMMAND, "estimate", "pipe"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with (folder / "pipe").open("wb") as pipe:  # opens when the command has opened its end
        pipe.write(b"score,member\n")
        pipe.flush()
        while process.poll() is None:  # one that comes just before the read waits for it, and a person presses again
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(DEADLINE / 6)
        out, err = process.communicate()

    assert (process.returncode, out, err) == (130, b"", b"")


@pytest.mark.slow
def test_a_reader_who_has_read_enough_ends_it_in_silence(folder: Path) -> None:
    rows = "".join(f"{i / 7919 % 1:.6f},{i % 2}\n" for i in range(6_000))
    (folder / "many.csv").write_text("score,member\n" + rows)
    process = subprocess.Popen([*COMMAND, "risk", "many.csv", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None

    first = process.stdout.read(10)
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()

    assert (first, process.wait(DEADLINE), err) == (b'{"sentence', 141, b"")


@pytest.mark.slow
@needs_full
def test_an_answer_that_cannot_be_printed_is_no_success_but_files_are_written(folder: Path) -> None:
    files = ("--junit", "gate.xml", "--metrics", "gate.txt", "--state", "run.json")
    for command in (("gate", "scores.csv", "--max-advantage", "0.1", *files), ("config",)):
        with Path("/dev/full").open("wb") as full:
            done = ended(*command, stdout=full, stderr=subprocess.PIPE)

        assert done.returncode == 2
        assert re.fullmatch(r"mace: the answer cannot be printed: .*\n", done.stderr)
    for name in files[1::2]:
        assert (folder / name).stat().st_size > 0


FULL = "exec 2>/dev/full"
GONE = "exec 2>&-"
UNREAD = "exec 2> >(exec true); wait $!"


@pytest.mark.slow
@needs_full
@each_case(
    "stderr, line, status",
    *((stderr, "config --no-such-option", 2) for stderr in (FULL, GONE)),
    *((stderr, "gate nowhere.csv --max-advantage 0.1", 2) for stderr in (FULL, GONE)),
    (UNREAD, "gate scores.csv --max-advantage 0.9", 0),
)
def test_a_standard_error_that_takes_nothing_changes_no_status(
    folder: Path, stderr: str, line: str, status: int
) -> None:
    done = subprocess.run(
        ["bash", "-c", f'{stderr}; "$@"', "bash", *COMMAND, *line.split()],
        env={**os.environ, "GITHUB_ACTIONS": "true"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        timeout=DEADLINE,
        check=False,
    )

    assert done.returncode == status
    assert b"::" not in done.stdout


@pytest.mark.slow
def test_a_terminal_sees_progress_and_then_the_answer(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    ours, theirs = pty.openpty()
    process = subprocess.Popen([*COMMAND, "estimate", "pipe"], stdout=subprocess.PIPE, stderr=theirs)
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


def test_quiet_shows_no_progress() -> None:
    ours, theirs = pty.openpty()
    script = (
        "import time; from app.cli import terminal\n"
        "terminal.QUIET_SECONDS = terminal.REFRESH_SECONDS = 0.01\n"
        "with terminal.Progress(quiet=True): time.sleep(0.2)"
    )

    done = subprocess.run([sys.executable, "-c", script], stderr=theirs, timeout=DEADLINE, check=False)

    os.close(theirs)
    assert read_until(ours, b"mace") == b""
    os.close(ours)
    assert done.returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_a_large_file_is_never_held(folder: Path) -> None:
    """The most that the process has held, after a small file and after large ones."""
    header = b"\x93NUMPY\x01\x00\x76\x00"
    size = 192 * 2**20
    shape = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({size // 8},), }}"
    with (folder / "large.npy").open("wb") as file:
        file.write(header + shape.ljust(117).encode() + b"\n")
        file.truncate(128 + size)  # zeros, which take no room on the disk
    script = (
        "import re, sys; from app.cli import main\n"
        "for line in sys.argv[1:]:\n"
        "    assert main(line.split()) == 0\n"
        "    print('most:', re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"
    )

    printed = told(
        script, "estimate scores.csv", *(f"{name} large.npy --member-count 1000000" for name in ("estimate", "counts"))
    )

    small, *large = (int(found) * 1024 for found in re.findall(r"^most: (\d+)$", printed, re.MULTILINE))
    assert len(large) == 2
    assert max(large) < small + size // 4


@pytest.mark.slow
def test_what_is_not_needed_is_not_imported(folder: Path) -> None:
    script = (
        "import sys; from app.cli import main\n"
        "for line, absent in eval(sys.argv[1]):\n"
        "    try: main(line.split())\n"
        "    except SystemExit: pass\n"
        "    print('imported:', [name for name in absent if name in sys.modules])"
    )
    lines = [(line, HEAVY) for line in ("--version", "--help", "help")]

    printed = told(script, repr([*lines, ("gate scores.csv --max-advantage 0.9", WEB)]))

    assert re.findall("^imported: (.*)$", printed, re.MULTILINE) == ["[]"] * 4


# --- help -------------------------------------------------------------------------------------------------------


@each_case("question", [*QUESTIONS, *THEORY, GATE])
def test_help_begins_with_examples_and_ends_with_exit_statuses(question: Any) -> None:
    done = typed(f"{question.command} --help")

    assert (done.status, done.err) == (0, "")
    assert f"\nexamples:\n  mace {question.command}" in done.out
    assert "what is asked:\n" in done.out
    unwrapped = " ".join(done.out.split())  # from Python 3.13 on, lines break elsewhere
    assert "(default 0.95)" in unwrapped or question.paper or question.command == "counts"
    assert "exit status:\n  0    pass: every limit holds" in done.out
    assert "Undefined" not in done.out
    assert "?." not in done.out
    assert "/v1/" not in done.out


OF_FILES = ("No such file", "no column", "standard input: empty", "is there already")


@pytest.mark.slow
@each_case("question", [*QUESTIONS, *THEORY, GATE])
def test_the_examples_of_help_are_commands_that_are_understood(question: Any, folder: Path) -> None:
    with quickly():
        for line in [each for each in question.examples if "://" not in each]:
            done = typed(line.rpartition("| ")[2].removeprefix("mace "))
            known = (question.most_files != 0 or question.tables) and any(words in done.err for words in OF_FILES)
            assert done.status in (0, 1, 3) or known, done.err


@each_case("when", ["0d", "0h", "2020-01-01"])
def test_a_key_that_would_be_over_already_is_not_made(when: str, empty: Path) -> None:
    assert "is over already" in refused(f"keys add keys.toml me --expires {when}")
    assert not Path("keys.toml").exists()


def test_keys_that_do_not_fit_on_the_disk_are_said_to_and_the_former_stay(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    assert typed("keys add keys.toml me").status == 0
    before = Path("keys.toml").read_bytes()
    monkeypatch.setattr(os, "fsync", full)

    for act in ("add keys.toml another", "rotate keys.toml me", "remove keys.toml me"):
        assert refused(f"keys {act}").endswith("keys.toml: cannot be written: No space left on device\n")
    assert [each.read_bytes() for each in empty.iterdir()] == [before]


def test_every_command_stands_under_one_of_three_headings_those_of_every_day_first() -> None:
    out = typed("--help").out
    every = re.search(r"^commands: (.*)$", refused("nothing"), re.MULTILINE)

    assert "\nexamples:\n  mace demo\n" in out
    headings = re.findall(r"^([a-z, ]+):\n((?:  +\S.*\n?)+)", out, re.MULTILINE)[-3:]
    listed = {title: re.findall(r"^  ([a-z-]+)  ", lines, re.MULTILINE) for title, lines in headings}
    assert list(listed) == ["every day", "more questions", "theory, and the service"]
    assert listed["every day"][:3] == ["demo", "gate", "report"]
    assert listed["theory, and the service"] == ["theory", "config", "keys", "verify", "completion", "help"]
    assert every is not None
    names = [each for names in listed.values() for each in names]
    assert sorted(names) == sorted(every[1].split(", "))
    assert {question.command for question in (*QUESTIONS, GATE)} <= set(names)


@each_case("words", ["", "gate", "theory", "theory dp", "help"])
def test_help_prints_what_the_option_prints(words: str) -> None:
    by_command, by_option = typed(f"help {words}"), typed(f"{words} --help")

    assert by_command == by_option
    assert (by_command.status, by_command.err) == (0, "")
    assert by_command.out != ""
