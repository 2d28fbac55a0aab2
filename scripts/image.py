"""Build the image with Docker, run it with Compose, and hold it to its word: `scripts/build-image`."""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
IMAGE = "mace:0.1.0"
"""As compose.yaml calls it."""
BASE = "mace-base:trixie"
SUITE, PACKAGES = "trixie", "python3,python3-venv,ca-certificates"
"""The Debian of the Dockerfile's own base, and what that adds to it."""
MOST = 600
"""MB that the image may have."""
PATIENCE = 120.0
JSON = "application/json"
KEY = "0123456789abcdef"
SBOM = "/opt/mace/sbom.cdx.json"
HARDENED = (
    "--read-only", "--tmpfs=/tmp:mode=1777", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--init",
)  # fmt: skip

BILL = """
import json, re, sys
from importlib.metadata import distributions
bill = json.load(open(sys.argv[1]))
parts = [bill["metadata"]["component"], *bill["components"]]
named = {(part["name"], part["version"]) for part in parts if part.get("purl", "").startswith("pkg:pypi/")}
there = {(re.sub(r"[-_.]+", "-", each.name).lower(), each.version) for each in distributions()}
for name, version in sorted(named ^ there):
    print("only installed, or only in the bill:", name, version)
"""
"""Holds a bill of materials against what is installed."""

LOOK = f"""{BILL}
import importlib.util, pathlib, sysconfig
site = pathlib.Path(sysconfig.get_path("purelib"))
for name in ("app", "estimators", "macekit"):
    for source in (site / name).rglob("*.py"):
        if not pathlib.Path(importlib.util.cache_from_source(source)).exists():
            print("no bytecode:", source)
for place in ("/", "/opt/mace", str(site), "/var/tmp"):
    try:
        open(place + "/written", "w")
        print("writable:", place)
    except OSError:
        pass
pathlib.Path("/tmp/written").write_text("x")
"""
KILL = """
import os
for process in filter(str.isdigit, os.listdir("/proc")):
    if open(f"/proc/{process}/stat").read().rpartition(")")[2].split()[1] == "1" and int(process) != os.getpid():
        os.kill(int(process), 9)
"""
"""Ends what the container's first process started: the service."""


class Failed(Exception):
    """A step did not come out as it must."""


def main(arguments: list[str]) -> int:
    """Build, run, judge; 0 if everything held."""
    options = argparse.ArgumentParser(prog="scripts/build-image")
    options.add_argument("--base", help="an image, or mmdebstrap: one made of Debian's packages")
    options.add_argument("--otel", action="store_true", help="add OpenTelemetry")
    options.add_argument("--ca", type=Path, help="certificates that pip trusts during the build")
    options.add_argument("--pip-conf", type=Path, help="pip's settings during the build")
    asked = options.parse_args(arguments)
    try:
        with engine() as network:
            size = build(asked, network)
            refuses_strangers()
            with composed() as compose:
                serves()
                comes_back_when_killed()
                stops_when_its_work_is_done(compose)
            outlives_a_request_that_takes_too_much()
        if size > MOST:
            raise Failed(f"the image has {size} MB, more than {MOST}")
    except (Failed, OSError, subprocess.SubprocessError) as error:
        say(f"FAILED: {error}")
        return 1
    say("ok")
    return 0


@contextmanager
def engine() -> Iterator[list[str]]:
    """The engine that is there, or one of our own while this lasts; options for a build that needs the network."""
    if shutil.which("docker") is None:
        raise Failed("needs Docker, for instance Debian's docker.io and docker-compose")
    if subprocess.run(["docker", "info"], capture_output=True, check=False).returncode == 0:
        yield []
        return
    if os.geteuid() != 0 or shutil.which("dockerd") is None:
        raise Failed("no engine answers, and none can be started: that takes root and Debian's docker.io")
    with tempfile.TemporaryDirectory(prefix="mace-docker-", ignore_cleanup_errors=True) as home:
        os.environ["PATH"] = f"/usr/bin:{os.environ['PATH']}"  # Debian's client for Debian's engine
        os.environ["DOCKER_HOST"] = f"unix://{home}/socket"
        folders = [f"--data-root={home}/data", f"--exec-root={home}/run", f"--pidfile={home}/pid"]
        command = ["dockerd", "--storage-driver=vfs", *folders, f"--host={os.environ['DOCKER_HOST']}"]
        say(f"no engine answers: starting one in {home}")
        log = Path(home, "log")
        with log.open("wb") as sink, subprocess.Popen(command, stdout=sink, stderr=sink) as process:
            try:
                until(lambda: process.poll() is not None or status("docker", "info") == 0, "an engine")
                if process.poll() is not None:
                    raise Failed(f"dockerd ended: {log.read_text()[-2000:]}")
                yield ["--network=host"]
            finally:
                process.terminate()


def build(asked: argparse.Namespace, network: list[str]) -> int:
    """Build the image, which must name its base; its size in MB."""
    with tempfile.TemporaryDirectory() as scratch:
        secrets, settings = [f"--secret=id=ca,src={asked.ca}"] * bool(asked.ca), asked.pip_conf
        if asked.ca and not settings:
            settings = Path(scratch) / "pip.conf"
            settings.write_text("[global]\ncert = /run/secrets/ca\n")
        secrets += [f"--secret=id=pip,src={settings}"] * bool(settings)
        base = bootstrapped(Path(scratch)) if asked.base == "mmdebstrap" else asked.base
        choices = [f"--build-arg=BASE={base}"] * bool(base) + ["--build-arg=OTEL=1"] * asked.otel
        command = ["docker", "build", f"--tag={IMAGE}", *network, *secrets, *choices, str(ROOT)]
        os.environ["DOCKER_BUILDKIT"] = "1"
        shown(*command, what="built")
    about = json.loads(output("docker", "image", "inspect", IMAGE))[0]
    default = (ROOT / "Dockerfile").read_text(encoding="utf-8").partition("\nARG BASE=")[2].split()[0]
    named = about["Config"]["Labels"]["org.opencontainers.image.base.name"]
    expect("the base it names", named, base or default)
    size = int(about["Size"] / 1e6)
    say(f"size: {size} MB")
    return size


def bootstrapped(scratch: Path) -> str:
    """Make a base of Debian's packages, about what python:slim is; its name."""
    archive = scratch / "base.tar"
    left_out = ("share/doc", "share/locale", "share/man")
    bare = [f"--dpkgopt=path-exclude=/usr/{name}/*" for name in left_out]
    options = ("--quiet", "--variant=minbase", f"--include={PACKAGES}", *bare)
    shown("mmdebstrap", *options, SUITE, str(archive), what="base made")
    path = "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    output("docker", "import", f"--change={path}", str(archive), BASE)
    return BASE


def refuses_strangers() -> None:
    """Without a key it must not start."""
    expect("exit status without a key", status("docker", "run", "--rm", *HARDENED, IMAGE), 2)


@contextmanager
def composed() -> Iterator[list[str]]:
    """What compose.yaml starts, taken down in the end; the command that asks Compose."""
    plugin = status("docker", "compose", "version") == 0
    compose = ["docker", "compose"] if plugin else ["docker-compose"]
    compose += ["--project-name=mace-image", f"--file={ROOT / 'compose.yaml'}"]
    try:
        with timed("healthy after `docker compose up`"):
            subprocess.run([*compose, "up", "--detach", "--no-build"], check=True, stdout=sys.stderr)
            healthy()
        yield compose
    except BaseException:
        subprocess.run([*compose, "logs", "--tail=50"], check=False, stdout=sys.stderr)
        raise
    finally:
        subprocess.run([*compose, "down", "--volumes"], check=False, capture_output=True)


def serves() -> None:
    """README's question is answered as README says; a report is drawn; nothing is written, nothing unlisted there."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    question = re.search(r"^curl .*?^}'$", readme, re.MULTILINE | re.DOTALL)
    sentence = re.search(r'^ *"sentence": "(.*)",$', readme, re.MULTILINE)
    assert question is not None
    assert sentence is not None
    expect("README's question", json.loads(output("sh", "-c", question[0]))["sentence"], sentence[1])
    rows = "".join(f"{i * 7919 % 1000 + 200 * (i % 2)},{i % 2}\n" for i in range(1000))
    code, page = asked(8000, "/v1/report", "score,member\n" + rows, "text/csv", Accept="text/html")
    expect("a report", (code, "<svg" in page), (200, True))
    expect("what is amiss inside", output("docker", "exec", container(), "python", "-c", LOOK, SBOM), "")
    used = output("docker", "stats", "--no-stream", "--format={{.MemUsage}}", container())
    say(f"memory when it has drawn: {used}")


def comes_back_when_killed() -> None:
    """Its policy starts it again, and it answers."""
    with timed("healthy again after a kill"):
        output("docker", "exec", container(), "python", "-c", KILL)
        until(lambda: state("RestartCount") == 1, "a restart")
        healthy()
        until(lambda: asked(8000, "/readyz")[0] == 200, "a service that is ready")


def stops_when_its_work_is_done(compose: list[str]) -> None:
    """At SIGTERM it finishes what is under way, and ends with 0; started again, it answers."""
    draw = random.Random(0)
    members, nonmembers = ([[draw.gauss(at, 1), draw.gauss(0, 1)] for _ in range(20_000)] for at in (1, 0))
    body = json.dumps({"members": members, "nonmembers": nonmembers, "estimator": {"kind": "learned"}})
    with ThreadPoolExecutor(2) as pool:
        answers = [pool.submit(asked, 8000, "/v1/advantage", body) for _ in range(2)]
        until(lambda: "mace_workers_busy 2.0" in asked(8000, "/metrics")[1], "two requests under way")
        shown(*compose, "stop", what="stopped, with two requests under way")
        expect("their answers", [answer.result()[0] for answer in answers], [200, 200])
    expect("exit status", state()["ExitCode"], 0)
    with timed("started again"):
        subprocess.run([*compose, "start"], check=True, stdout=sys.stderr)
        healthy()


def outlives_a_request_that_takes_too_much() -> None:
    """Where a container may have less than its workers, what takes too much is ended, and the service goes on."""
    small = ["--memory=300m", "--memory-swap=300m", "--restart=unless-stopped", "--publish=127.0.0.1::8000"]
    settings = [f"--env=MACE_API_KEY={KEY}", "--env=MACE_WORKERS=1", "--env=MACE_TIME_LIMIT=60"]
    name = output("docker", "run", "--detach", *HARDENED, *small, *settings, IMAGE)
    try:
        port = int(output("docker", "port", name, "8000").rpartition(":")[2])
        until(lambda: asked(port, "/readyz")[0] == 200, "a service that is ready")
        expect("a stranger", asked(port, "/metrics")[0], 401)
        body = "score,member\n" + "".join(f"{i * 0.618 % 1:.12f},{i % 2}\n" for i in range(5_000_000))
        found = asked(port, "/v1/advantage", body, "text/csv", Authorization=f"Bearer {KEY}")
        say(f"a request that takes more than the container has: {found[0]} {found[1][:90]}")
        if found[0] not in (0, 500):  # 0 where the whole container is ended
            raise Failed("it was not ended")
        with timed("ready again"):
            until(lambda: asked(port, "/readyz")[0] == 200, "a service that is ready")
        small_one = json.dumps({"members": list(range(40)), "nonmembers": list(range(9, 49))})
        afterwards = asked(port, "/v1/advantage", small_one, Authorization=f"Bearer {KEY}")
        expect("an answer afterwards", afterwards[0], 200)
    finally:
        output("docker", "rm", "--force", name)


def asked(port: int, path: str, body: str = "", kind: str = JSON, **headers: str) -> tuple[int, str]:
    """Status and text of an answer; 0 and why, if there is none."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection:
        try:
            connection.request("POST" if body else "GET", path, body or None, {"Content-Type": kind, **headers})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            return 0, str(error)


def container() -> str:
    """The name of the service's container."""
    label = "--filter=label=com.docker.compose.project=mace-image"
    return output("docker", "ps", "--all", label, "--format={{.Names}}")


def state(part: str = "State") -> Any:
    """What the engine knows of it."""
    return json.loads(output("docker", "inspect", container()))[0][part]


def healthy() -> None:
    """Wait until it says that it is."""
    until(lambda: state()["Health"]["Status"] == "healthy", "a healthy container")


def output(*command: str) -> str:
    """What a program prints."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def shown(*command: str, what: str) -> None:
    """Run a program, whose progress is shown, and say how long it took."""
    with timed(what):
        subprocess.run(command, check=True, stdout=sys.stderr)


def status(*command: str) -> int:
    """A program's exit status, whatever it prints."""
    return subprocess.run(command, check=False, capture_output=True, timeout=PATIENCE).returncode


def until(true: Callable[[], bool], what: str) -> None:
    """Wait for something that must come true."""
    deadline = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > deadline:
            raise Failed(f"waited {PATIENCE:.0f} s in vain for {what}")
        time.sleep(0.1)


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Say how long it took."""
    began = time.monotonic()
    yield
    say(f"{what}: {time.monotonic() - began:.1f} s")


def expect(what: str, found: object, wanted: object) -> None:
    """Say what was found; it must be what was wanted."""
    say(f"{what}: {found if found != '' else 'nothing'}")
    if found != wanted:
        raise Failed(f"{what}: {found}, not {wanted}")


def say(message: str) -> None:
    """Print one line of progress."""
    print(f"image: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
