"""Every check but the tests: `scripts/check [STEP...]`.

`STEPS`, at the end, is the list: a step is a name, a sentence, and a function returning its complaints; none means ok.
All steps run, several at a time, whatever fails; the exit status is 1 if any did. Runs inside `.venv`, and offline.
"""

import os
import re
import shlex
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from itertools import starmap
from pathlib import Path
from tempfile import TemporaryDirectory

import container_checks as container
import licences
import names
import platforms
import sbom
import wheels
from packaging.utils import canonicalize_name
from pins import EXTRAS, PROJECT, REQUIREMENTS, ROOT, direct, pins

COMMITS_SINCE, MOST_FILES = "2026-11-26T00:00:00Z", 30
BOOTSTRAP = {"pip", "setuptools"}  # Python's venv module brings them
ONLINE = "MACE_AUDIT_ONLINE"
INSTALLED = ("run", "build", "test", "sbom", "check")
"""The requirement files of what `.venv` has."""

PROGRAMS = """
format: the code is laid out by ruff
    ruff format --check .
lint: ruff finds no fault
    ruff check .
types: mypy, strict, finds no fault
    mypy
imports: the import contracts hold
    lint-imports
dockerfile: hadolint finds no fault
    hadolint Dockerfile
compose: compose.yaml keeps to the schema of Compose
    check-jsonschema --builtin-schema=vendor.compose-spec compose.yaml
workflows: workflows keep to the schema of GitHub's
    check-jsonschema --builtin-schema=vendor.github-workflows .github/workflows/release.yml \
examples/github-actions/membership.yml
action: the action keeps to the schema of GitHub's
    check-jsonschema --builtin-schema=vendor.github-actions deploy/github-action/action.yml
pipelines: pipelines keep to the schema of GitLab's
    check-jsonschema --builtin-schema=vendor.gitlab-ci --data-transform=gitlab-ci \
examples/gitlab/membership.gitlab-ci.yml
kubernetes: the manifest keeps to the schema of Kubernetes
    kubernetes-validate --strict examples/kubernetes/mace.yaml
api: docs/api.txt is what the code makes
    python scripts/api_table.py --check
tables: tables of docs are those of docs/results, and name the commands that make them
    python -m benchmarks check
house: the house has not grown unsaid
    python scripts/house.py --check
fit: the installed distributions fit each other
    python -m pip check
"""
"""Steps that are programs: a name, what it holds, and the command."""


@dataclass(frozen=True)
class Step:
    """One check: what it is called, what it holds, and the function that returns its complaints."""

    name: str
    holds: str
    complaints: Callable[[], list[str]]
    only_if: str | None = None  # an environment variable that must be 1


def said_by(command: Sequence[str | Path]) -> list[str]:
    """What a program of `.venv` says when it fails."""
    program = Path(sys.executable).parent / command[0]
    done = subprocess.run([program, *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return []
    return f"{done.stdout}\n{done.stderr}".strip().splitlines() or [f"exit status {done.returncode}, no word"]


def program(name: str, holds: str, command: str) -> Step:
    """A step of the table of programs."""
    return Step(name, holds, lambda: said_by(shlex.split(command)))


def component() -> list[str]:
    """Check both documents of GitLab's component: its inputs, and the job with a word in the place of each."""
    header, job = (ROOT / "templates" / "mace.yml").read_text().split("\n---\n")
    schema = ["--builtin-schema=vendor.gitlab-ci", "--data-transform=gitlab-ci"]
    found = []
    with TemporaryDirectory() as folder:
        for name, text in (("inputs", header), ("job", re.sub(r"\$\[\[ inputs\.\w+ \]\]", "word", job))):
            path = Path(folder) / f"{name}.yml"
            path.write_text(text)
            found += said_by(["check-jsonschema", *schema, path])
    return found


def set_up() -> list[str]:
    """Check that pins are whole, hashed, free of addresses and as asked for, and that each has its reason."""
    found = []
    for path in sorted(REQUIREMENTS.iterdir()):
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            if re.search(r"index-url|find-links|trusted-host|://", line):
                found.append(f"{path.name}:{number}: names an address; the installer's settings do that")
            elif re.search(r"(^|\s)(/|\./|-e\s|~)", line.split(" \\")[0]):
                found.append(f"{path.name}:{number}: names a path")

    versions: dict[tuple[str, str], set[str]] = {}
    for pin in pins():
        if pin.version is None:
            found.append(f"{pin.file}: {pin.requirement} is not pinned with ==")
        if not pin.hashes:
            found.append(f"{pin.file}: {pin.name} has no sha256")
        if pin.file != "audit.txt":  # lives in an environment of its own
            versions.setdefault((pin.name, str(pin.requirement.marker)), set()).add(str(pin.version))
    found += [f"{name} is pinned to {sorted(v)}" for (name, _), v in versions.items() if len(v) > 1]

    reasons = (ROOT / "docs" / "dependencies.md").read_text().lower()
    for group, requirements in direct().items():
        for asked in requirements:
            name = canonicalize_name(asked.name)
            matches = [str(pin.version) for pin in pins(group) if pin.name == name and pin.version]
            wrong = [each for each in matches if not asked.specifier.contains(each, prereleases=True)]
            if wrong or not matches:
                pinned = wrong or "nothing"
                found.append(f"{group}.txt: {asked} is asked for, {pinned} is pinned: run scripts/lock")
            if not re.search(rf"^\|\s*`{re.escape(name)}`", reasons, re.MULTILINE):
                found.append(f"docs/dependencies.md: no line for {name}")
    return found


def commits() -> list[str]:
    """Check that a commit can be read: few files, or a change made by a script that its message shows."""
    options = [f"--since={COMMITS_SINCE}", "--format=%x00%h %B%x01", "--name-only"]
    command = ["git", "log", "--no-merges", *options]
    log = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    commits = [commit.partition("\1") for commit in log.stdout.split("\0")[1:]]
    long = [message for message, _, files in commits if len(files.strip().splitlines()) > MOST_FILES]
    what = f"more than {MOST_FILES} files, and no script in its message"
    return [f"{message.splitlines()[0]}: {what}" for message in long if "\n    " not in message]


def installed() -> dict[str, Distribution]:
    """Every distribution in `.venv` that a requirement file must answer for."""
    found = {canonicalize_name(distribution.name): distribution for distribution in distributions()}
    return {name: it for name, it in sorted(found.items()) if name not in {*BOOTSTRAP, PROJECT}}


def installed_as_pinned() -> list[str]:
    """Check that what is installed is what is pinned, at that version."""
    pinned = {f"{pin.name} {pin.version}" for pin in pins(*INSTALLED) if pin.applies}
    here = {f"{name} {distribution.version}" for name, distribution in installed().items()}
    found = [f"{each} is installed, but no requirement file pins that" for each in sorted(here - pinned)]
    return found + [f"{each} is pinned, but not installed" for each in sorted(pinned - here)]


def accepted_licences() -> list[str]:
    """Check that each distribution's licence, by its own metadata, is one we accept for the part it plays."""
    runtime = {pin.name for pin in pins(*EXTRAS)}
    parts = [(name, licences.licences_of(it), name in runtime) for name, it in installed().items()]
    parts += [(name, [it["licence"]], True) for name, it in sbom.npm_packages().items()]
    return list(filter(None, starmap(licences.complaint, parts)))


def advisories() -> list[str]:
    """Ask the public advisory database about every pin, from an environment of its own.

    Strict: a pin the database could not be asked about fails. Without that, pip-audit behind a mirror that
    serves packages but no advisories skips every pin and calls it clean.
    """
    home = ROOT / ".venv" / "audit"
    if not (home / "bin" / "pip-audit").exists():
        venv.create(home, with_pip=True, clear=True)
        install = ("-m", "pip", "install", "--quiet", "--require-hashes", "-r", REQUIREMENTS / "audit.txt")
        if failed := said_by([home / "bin" / "python", *install]):
            return failed
    options = ["--strict", "--require-hashes", "--disable-pip", "--progress-spinner=off"]
    found = []
    for name in INSTALLED:
        said = said_by([home / "bin" / "pip-audit", *options, "-r", REQUIREMENTS / f"{name}.txt"])
        found += [f"{name}.txt:", *said] if said else []
    return found


STEPS = (
    *starmap(program, re.findall(r"^(\S+): (.*)\n +(.*)$", PROGRAMS, re.MULTILINE)),
    Step("container", "Dockerfile, compose.yaml, manifest and dashboard are right", container.complaints),
    Step("component", "the component keeps to the schema of GitLab's", component),
    Step("names", "at most 0.3% of the names bound are bare participles", names.complaints),
    Step("set-up", "requirements are pinned, hashed, explained, and free of addresses", set_up),
    Step("commits", f"a commit has at most {MOST_FILES} files, or the script that made it", commits),
    Step("pins", "what is installed is what is pinned", installed_as_pinned),
    Step("licences", "every licence is one we accept", accepted_licences),
    Step("sbom", "the bill of materials is whole, and valid CycloneDX", sbom.complaints),
    Step("wheel", "built twice, in two places, the wheel is the same bytes", wheels.complaints),
    Step("platforms", "the base installs from wheels alone on every platform", platforms.complaints, ONLINE),
    Step("advisories", "no pin has a published vulnerability", advisories, ONLINE),
)


def timed(step: Step) -> tuple[list[str], float]:
    """Return a step's complaints and its seconds."""
    started = time.perf_counter()
    return step.complaints(), time.perf_counter() - started


def main(names: list[str]) -> int:
    """Run the named steps, or all; 0 when none failed."""
    if names == ["--list"]:
        print("\n".join(f"{step.name:<12}{step.holds}" for step in STEPS))
        return 0
    if unknown := sorted(set(names) - {step.name for step in STEPS}):
        print(f"check: no step {', '.join(unknown)}; there are {', '.join(step.name for step in STEPS)}")
        return 2

    failed = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # most of them wait for programs
        wanted = [step for step in STEPS if not names or step.name in names]
        allowed = [step for step in wanted if not step.only_if or os.environ.get(step.only_if) == "1"]
        results = {step.name: pool.submit(timed, step) for step in allowed}
        for step in wanted:
            if step not in allowed:
                print(f"{step.name:<12}not run   {step.holds} ({step.only_if}=1 runs it; needs the network)")
                continue
            complaints, seconds = results[step.name].result()
            word = "failed" if complaints else "ok"
            print(f"{step.name:<12}{word:<10}{step.holds} ({seconds:.1f} s)", flush=True)
            print("".join(f"    {line}\n" for line in complaints), end="", flush=True)
            failed += [step.name] * bool(complaints)
    print(f"check: failed: {', '.join(failed)}" if failed else "check: ok", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
