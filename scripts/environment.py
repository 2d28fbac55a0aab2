"""Make `.venv` hold exactly the pinned requirements and the project itself, editable; find what else tests need.

Called by `scripts/setup`, with a bare interpreter: standard library only. What is installed already is left
alone: a stamp in `.venv` says which requirement files, and which `pyproject.toml`, were installed. A changed
requirement file makes `.venv` anew, so that no package of an older set stays behind; a changed
`pyproject.toml` only reinstalls the project, which takes seconds.
"""

import fcntl
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
KEYWORDS = ROOT / "macekit" / "client" / "keywords.py"
ALWAYS = ("pip", "run", "accounting", "replicas", "build")
"""What installs, the project, what its examples and its replicas ask for, and what builds it."""
GROUPS = (*ALWAYS, "docs", "test", "sbom", "check")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome-headless-shell")
PROGRAMS = {
    "browser": ("MACE_TEST_BROWSER", BROWSERS, "chromium"),
    "java": ("JAVA_HOME", ("java",), "default-jre-headless"),
}
"""What tests need beyond Python: the variable that names one, the commands it may have, Debian's package."""


def main(words: list[str]) -> int:
    """Install what is asked for and missing; 0 when `.venv` is ready, which then runs what stands after `--`."""
    end = words.index("--") if "--" in words else len(words)
    words, command = words[:end], words[end + 1 :]
    if unknown := sorted(set(words) - {*GROUPS, *PROGRAMS}):
        say(f"no {', '.join(unknown)}; there are {', '.join((*GROUPS, *PROGRAMS))}")
        return 2
    groups = [name for name in GROUPS if name in words or name in ALWAYS] if words else GROUPS
    wait_for_others()
    make_environment({name: digest(requirements(name)) for name in groups})
    for name in PROGRAMS:
        if name in words:
            find_program(name)
    if command:
        os.chdir(ROOT)
        os.execv(PYTHON, [str(PYTHON), *command])
    return 0


def wait_for_others() -> None:
    """Go on alone: whoever sets up the same folder meanwhile waits until this process ends, or runs its command."""
    place = os.open(ROOT / "requirements", os.O_RDONLY)
    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("another set-up of this folder is under way; this one goes on when that is done")
        fcntl.flock(place, fcntl.LOCK_EX)


def make_environment(wanted: dict[str, str]) -> None:
    """Make `.venv` hold these requirement files, of these digests, and the project."""
    project, installed = digest(ROOT / "pyproject.toml"), stamp()
    if any(digest(requirements(name)) != was for name, was in installed.items() if name in GROUPS):
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
        # First of all pip, for the one that Python brings looks for wheels for minutes.
        for names in ({"pip"}, {*missing} - {"pip"}):
            if files := [str(requirements(name)) for name in missing if name in names]:
                pip("--require-hashes", *(part for file in files for part in ("-r", file)))
    if installed.get("project") != project or not (VENV / "bin" / "mace").exists():
        say("installing mace itself, editable")
        pip("--no-deps", "--no-build-isolation", "--no-index", "--editable", str(ROOT))
    elif not missing:
        say(".venv is ready")
    sources = [maker := ROOT / "scripts" / "keywords.py", *(ROOT / "macekit").rglob("*.py")]
    if not KEYWORDS.exists() or KEYWORDS.stat().st_mtime < max(each.stat().st_mtime for each in sources):
        run(str(PYTHON), str(maker))
    STAMP.write_text(json.dumps({**installed, **wanted, "project": project}, indent=2) + "\n")


def find_program(name: str) -> None:
    """See that a program is there, or install it. Never fails: its tests decide what it means that it is missing."""
    variable, commands, package = PROGRAMS[name]
    tried = VENV / f"{name}-tried"  # a machine that can get none is not asked at every run
    if os.environ.get(variable) or any(map(shutil.which, commands)):
        return
    if tried.exists() and os.environ.get("CI") != "true":
        return
    playwright = (str(PYTHON), "-m", "playwright", "install", "--only-shell", "chromium")
    if install_debian(package) or (name == "browser" and quietly(*playwright)):
        tried.unlink(missing_ok=True)
    else:
        tried.touch()
        say(f"no {name}, so its tests are skipped: install {package}, or set {variable}, and they run")
        say(f"(to let this script try again: rm {tried})")


def install_debian(package: str) -> bool:
    """Install a package of Debian's; False on another system, without rights, or without a network."""
    release = Path("/etc/os-release")
    if not shutil.which("apt-get") or "ID=debian\n" not in (release.read_text() if release.exists() else ""):
        return False  # what others call by this name may be a stub
    say(f"installing Debian's {package}")
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    apt = [*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", "-y"]
    apt += ["-o", "DPkg::Lock::Timeout=300"]
    return quietly(*apt, "update") and quietly(*apt, "install", "--no-install-recommends", package)


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
    look = "import sys, pip; sys.exit(sys.version_info < (3, 11))"
    return PYTHON.exists() and quietly(str(PYTHON), "-c", look)


def pip(*arguments: str) -> None:
    """Run pip's install inside `.venv`. Of what it installs little is imported: Python compiles that when it is."""
    options = ("--quiet", "--disable-pip-version-check", "--no-compile")
    run(str(PYTHON), "-m", "pip", "install", *options, *arguments)


def run(*command: str) -> None:
    """Run a command, or say which one failed and stop."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(command, cwd=ROOT, env=kept, check=False)
    if done.returncode != 0:
        say(f"failed ({done.returncode}): {' '.join(command)}")
        if "venv" in command:
            say("some systems package the venv module apart, for instance as python3-venv")
        sys.exit(1)


def quietly(*command: str) -> bool:
    """Tell whether a command succeeds; it is given no input, and what it prints is not shown."""
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0


def say(message: str) -> None:
    """Print one line of progress, to standard error: standard output belongs to the command that follows."""
    print(f"setup: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
