"""Make `.venv` hold exactly the pinned requirements and the project itself, editable.

Called by `scripts/setup`, with a bare interpreter: standard library only. What is installed already is left
alone: a stamp in `.venv` says which requirement files, and which `pyproject.toml`, were installed. A changed
requirement file makes `.venv` anew, so that no package of an older set stays behind; a changed
`pyproject.toml` only reinstalls the project, which takes seconds.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "mace-stamp.json"
ALWAYS = ("run", "accounting", "build")  # the project, what its examples ask for, and what installs it
GROUPS = (*ALWAYS, "docs", "test", "check")


def main(asked: list[str]) -> int:
    """Install what is asked for and missing; 0 when `.venv` is ready."""
    if unknown := sorted(set(asked) - set(GROUPS)):
        say(f"no requirements of the name {', '.join(unknown)}; there are {', '.join(GROUPS)}")
        return 2

    wanted = {
        name: digest(requirements(name)) for name in GROUPS if name in (asked or GROUPS) or name in ALWAYS
    }
    project = digest(ROOT / "pyproject.toml")
    installed = stamp()

    current = {name: digest(requirements(name)) for name in GROUPS}
    if any(current[name] != was for name, was in installed.items() if name in current):
        say("the pinned requirements have changed: .venv is made anew")
        shutil.rmtree(VENV)
        installed = {}
    if not works():
        say(f"making .venv with Python {sys.version.split()[0]}")
        installed = {}
        run(sys.executable, "-m", "venv", "--clear", str(VENV))

    missing = [name for name in wanted if name not in installed]
    if missing:
        say(f"installing requirements: {', '.join(missing)}")
        files = [part for name in missing for part in ("-r", str(requirements(name)))]
        pip("--require-hashes", *files)
    if installed.get("project") != project or not (VENV / "bin" / "mace").exists():
        say("installing mace itself, editable")
        pip("--no-deps", "--no-build-isolation", "--no-index", "--editable", str(ROOT))
    elif not missing:
        say(".venv is ready")

    STAMP.write_text(json.dumps({**installed, **wanted, "project": project}, indent=2) + "\n")
    return 0


def requirements(name: str) -> Path:
    """Where the pins of one group stand."""
    return ROOT / "requirements" / f"{name}.txt"


def digest(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def stamp() -> dict[str, str]:
    """What an earlier, finished run installed; empty if there is none."""
    try:
        return {str(name): str(value) for name, value in json.loads(STAMP.read_text()).items()}
    except (OSError, ValueError, AttributeError):
        return {}


def works() -> bool:
    """Tell whether `.venv` has an interpreter, new enough, that runs pip: a half-made one has not."""
    probe = "import sys, pip; sys.exit(sys.version_info < (3, 11))"
    return (
        PYTHON.exists()
        and subprocess.run([PYTHON, "-c", probe], capture_output=True, check=False).returncode == 0
    )


def pip(*arguments: str) -> None:
    """Run pip's install inside `.venv`. Of what it installs little is imported: Python compiles that when it is."""
    run(
        str(PYTHON),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-compile",
        *arguments,
    )


def run(*command: str) -> None:
    """Run a command, or say which one failed and stop."""
    environment = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")
    }
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False)
    if done.returncode != 0:
        say(f"failed ({done.returncode}): {' '.join(command)}")
        if "venv" in command:
            say("some systems package the venv module apart, for instance as python3-venv")
        sys.exit(1)


def say(message: str) -> None:
    """Print one line of progress, to standard error: standard output belongs to the command that follows."""
    print(f"setup: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
