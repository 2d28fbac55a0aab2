"""Every check but the tests: `scripts/check [STEP...]`.

`STEPS`, at the end, is the list: a step is a name, a sentence, and a function returning its
complaints; none means ok. All steps run, several at a time, whatever fails; the exit status is 1 if
any did. Runs inside `.venv`, and offline.
"""

import os
import re
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path

import licences
import names
import platforms
import sbom
import wheels
from packaging.utils import canonicalize_name
from pins import EXTRAS, PROJECT, REQUIREMENTS, ROOT, direct, pins

COMMITS_SINCE, MOST_FILES = "2026-11-26", 30
BOOTSTRAP = {"pip", "setuptools"}  # Python's venv module brings them


@dataclass(frozen=True)
class Step:
    """One check: what it is called, what it holds, and the function that returns its complaints."""

    name: str
    holds: str
    complaints: Callable[[], list[str]]
    only_if: str | None = None  # an environment variable that must be 1


# --- other people's programs --------------------------------------------------------------------------------


def program(*command: str) -> Callable[[], list[str]]:
    """Make a check of a program from `.venv`: its output is the complaint when it fails."""

    def complaints() -> list[str]:
        path = Path(sys.executable).parent / command[0]
        done = subprocess.run([path, *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return []
        said = f"{done.stdout}\n{done.stderr}".strip().splitlines()
        return said or [f"exit status {done.returncode}, without a word"]

    return complaints


# --- the set-up files ---------------------------------------------------------------------------------------


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
        pinned = {pin.name: pin for pin in pins(group)}
        for asked in requirements:
            name = canonicalize_name(asked.name)
            matches = [pin for pin in pins(group) if pin.name == name and pin.version]
            if not matches:
                found.append(f"{group}.txt: {name} is asked for but not pinned: run scripts/lock")
            found += [
                f"{group}.txt: {name} {pin.version} is not {asked}: run scripts/lock"
                for pin in matches
                if not asked.specifier.contains(str(pin.version), prereleases=True)
            ]
            if not re.search(rf"^\|\s*`{re.escape(name)}`", reasons, re.MULTILINE):
                found.append(f"docs/dependencies.md: no line for {name}")
        if not pinned:
            found.append(f"{group}.txt pins nothing")
    return found


# --- what is installed --------------------------------------------------------------------------------------


def installed() -> dict[str, Distribution]:
    """Every distribution in `.venv` that a requirement file must answer for."""
    found = {canonicalize_name(distribution.name): distribution for distribution in distributions()}
    return {name: it for name, it in found.items() if name not in BOOTSTRAP and name != PROJECT}


def installed_as_pinned() -> list[str]:
    """Check that what is installed is what is pinned, at that version."""
    pinned: dict[str, set[str]] = {}
    for pin in pins("run", "build", "test", "sbom", "check"):
        if pin.applies:
            pinned.setdefault(pin.name, set()).add(str(pin.version))
    here = installed()
    found = []
    for name, distribution in sorted(here.items()):
        if name not in pinned:
            found.append(f"{name} {distribution.version} is installed, but no requirement file pins it")
        elif distribution.version not in pinned[name]:
            found.append(f"{name} {distribution.version} is installed, {sorted(pinned[name])} is pinned")
    found += [f"{name} is pinned, but not installed" for name in sorted(set(pinned) - set(here))]
    return found


def accepted_licences() -> list[str]:
    """Check that each distribution's licence, by its own metadata, is one we accept for the part it plays."""
    runtime = {pin.name for pin in pins(*EXTRAS)}
    lines = [
        licences.complaint(name, licences.licences_of(distribution), name in runtime)
        for name, distribution in sorted(installed().items())
    ]
    lines += [
        licences.complaint(name, [package["licence"]], ships=True)
        for name, package in sorted(sbom.npm_packages().items())
    ]
    return [line for line in lines if line]


def advisories() -> list[str]:
    """Ask the public advisory database about every pin, from an environment of its own.

    Strict: a pin the database could not be asked about fails. Without that, pip-audit behind a mirror that
    serves packages but no advisories skips every pin and calls it clean.
    """
    home = ROOT / ".venv" / "audit"
    audit = home / "bin" / "pip-audit"
    options = ("--strict", "--require-hashes", "--disable-pip", "--progress-spinner=off")
    groups = ("run", "build", "test", "sbom", "check")
    commands: list[list[str | Path]] = [
        [audit, *options, "-r", REQUIREMENTS / f"{name}.txt"] for name in groups
    ]
    if not audit.exists():
        venv.create(home, with_pip=True, clear=True)
        install: list[str | Path] = [
            home / "bin" / "python",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--require-hashes",
        ]
        commands.insert(0, [*install, "-r", REQUIREMENTS / "audit.txt"])
    found = []
    for command in commands:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            found += [f"{command[-1]}:", *f"{done.stdout}\n{done.stderr}".strip().splitlines()]
    return found


def commits() -> list[str]:
    """Check that a commit can be read: few files, or a change made by a script that its message shows."""
    command = [
        "git",
        "log",
        "--no-merges",
        f"--since={COMMITS_SINCE}",
        "--format=%x00%h %B%x01",
        "--name-only",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    found = []
    for commit in done.stdout.split("\0")[1:]:
        message, _, files = commit.partition("\1")
        if len(files.split("\n\n")[-1].split("\n")) - 1 > MOST_FILES and "\n    " not in message:
            found.append(
                f"{message.splitlines()[0]}: more than {MOST_FILES} files, and no script in its message"
            )
    return found


# --- the list -----------------------------------------------------------------------------------------------

STEPS = (
    Step("format", "the code is laid out by ruff", program("ruff", "format", "--check", ".")),
    Step("lint", "ruff finds no fault", program("ruff", "check", ".")),
    Step("types", "mypy, strict, finds no fault", program("mypy")),
    Step("imports", "the import contracts hold", program("lint-imports")),
    Step("names", "at most 0.3% of the names bound are bare participles", names.complaints),
    Step("set-up", "requirements are pinned, hashed, explained, and free of addresses", set_up),
    Step("dockerfile", "hadolint finds no fault", program("hadolint", "Dockerfile")),
    Step(
        "compose",
        "compose.yaml keeps to the schema of Compose",
        program("check-jsonschema", "--builtin-schema=vendor.compose-spec", "compose.yaml"),
    ),
    Step(
        "workflows",
        "workflows keep to the schema of GitHub's",
        program(
            "check-jsonschema",
            "--builtin-schema=vendor.github-workflows",
            ".github/workflows/release.yml",
            "examples/github-actions/membership.yml",
        ),
    ),
    Step(
        "pipelines",
        "pipelines keep to the schema of GitLab's",
        program(
            "check-jsonschema",
            "--builtin-schema=vendor.gitlab-ci",
            "--data-transform=gitlab-ci",
            "examples/gitlab/membership.gitlab-ci.yml",
        ),
    ),
    Step(
        "kubernetes",
        "the manifest keeps to the schema of Kubernetes",
        program("kubernetes-validate", "--strict", "examples/kubernetes/mace.yaml"),
    ),
    Step(
        "container",
        "Dockerfile, compose.yaml, manifest and dashboard are as they should be",
        program("python", "scripts/container_checks.py"),
    ),
    Step(
        "api",
        "docs/api.txt is what the code makes",
        program("python", "scripts/api_table.py", "--check"),
    ),
    Step(
        "docs",
        "the guide builds, and every link in it leads somewhere",
        program(
            *("sphinx-build", "--quiet", "--fail-on-warning", "--fresh-env"),
            *("--doctree-dir", "build/doctrees", "docs", "build/guide"),
        ),
    ),
    Step(
        "tables",
        "tables of docs are those of docs/results, and name the commands that make them",
        program("python", "-m", "benchmarks", "check"),
    ),
    Step("commits", f"a commit has at most {MOST_FILES} files, or the script that made it", commits),
    Step("fit", "the installed distributions fit each other", program("python", "-m", "pip", "check")),
    Step("pins", "what is installed is what is pinned", installed_as_pinned),
    Step("licences", "every licence is one we accept", accepted_licences),
    Step("sbom", "the bill of materials is whole, and valid CycloneDX", sbom.complaints),
    Step("wheel", "built twice, in two places, the wheel is the same bytes", wheels.complaints),
    Step(
        "platforms",
        "the base installs from wheels alone on every Python and platform",
        platforms.complaints,
        only_if="MACE_AUDIT_ONLINE",
    ),
    Step("advisories", "no pin has a published vulnerability", advisories, only_if="MACE_AUDIT_ONLINE"),
)


def allowed(step: Step) -> bool:
    """Tell whether a step may run here."""
    return not step.only_if or os.environ.get(step.only_if) == "1"


def timed(step: Step) -> tuple[list[str], float]:
    """Return a step's complaints and its seconds."""
    started = time.perf_counter()
    return step.complaints(), time.perf_counter() - started


def main(names: list[str]) -> int:
    """Run the named steps, or all; 0 when none failed."""
    if names == ["--list"]:
        for step in STEPS:
            print(f"{step.name:<12}{step.holds}")
        return 0
    if unknown := sorted(set(names) - {step.name for step in STEPS}):
        print(f"check: no step {', '.join(unknown)}; there are {', '.join(step.name for step in STEPS)}")
        return 2

    wanted = [step for step in STEPS if not names or step.name in names]
    failed = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # most of them wait for programs
        results = [(step, pool.submit(timed, step) if allowed(step) else None) for step in wanted]
        for step, result in results:
            if result is None:
                print(
                    f"{step.name:<12}not run   {step.holds} ({step.only_if}=1 runs it; needs the network)",
                    flush=True,
                )
                continue
            complaints, seconds = result.result()
            print(
                f"{step.name:<12}{'failed' if complaints else 'ok':<10}{step.holds} ({seconds:.1f} s)",
                flush=True,
            )
            for line in complaints:
                print(f"    {line}", flush=True)
            if complaints:
                failed.append(step.name)
    print(f"check: failed: {', '.join(failed)}" if failed else "check: ok", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
