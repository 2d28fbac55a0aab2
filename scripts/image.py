"""Build the image and hold it to its word: `scripts/build-image`."""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from containers import PATIENCE, ROOT, Container, Failed, Image, output, started
from dockerfile import base as default_base

IMAGE = "localhost/mace"
OWN_BASE = "localhost/mace-base"
SUITE = "trixie"
"""The Debian of the Dockerfile's own base, with the same minor version of Python."""

KEY = "0123456789abcdef"
PROBED = """
import http.client, sys
connection = http.client.HTTPConnection("127.0.0.1", 8000, timeout=5)
try:
    connection.request("GET", sys.argv[1])
    print(connection.getresponse().status)
except OSError as error:
    print(error)
"""
ASKED = """
import http.client, json, random, sys, threading, time
headers = {"Authorization": "Bearer " + sys.argv[1], "Content-Type": "application/json"}
def ask(method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", 8000, timeout=60)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.read()
draw = random.Random(0)
rows = lambda shift: [[draw.gauss(shift, 1), draw.gauss(0, 1)] for _ in range(int(sys.argv[2]))]
body = json.dumps({"members": rows(1), "nonmembers": rows(0), "estimator": {"kind": "learned"}})
def work():
    status, answer = ask("POST", "/v1/advantage", body)
    print(status, json.loads(answer).get("sentence", answer[:300]), flush=True)
worker = threading.Thread(target=work)
worker.start()
while worker.is_alive() and b"mace_workers_busy 1.0" not in ask("GET", "/metrics")[1]:
    time.sleep(0.02)
print("busy" if worker.is_alive() else "idle", flush=True)
worker.join()
"""
DREW = """
import http.client, sys
headers = {"Authorization": "Bearer " + sys.argv[1], "Content-Type": "text/csv", "Accept": "text/html"}
connection = http.client.HTTPConnection("127.0.0.1", 8000, timeout=60)
rows = "".join(f"{(i * 7919) % 1000 + 200 * (i % 2)},{i % 2}\\n" for i in range(1000))
connection.request("POST", "/v1/report", "score,member\\n" + rows, headers)
answer = connection.getresponse()
print(answer.status, answer.read().count(b"<svg"), "charts")
"""
LOOKED = """
import importlib.util, pathlib, sys, sysconfig
site = pathlib.Path(sysconfig.get_path("purelib"))
sources = [p for name in ("app", "estimators", "macekit") for p in (site / name).rglob("*.py")]
print("sources without bytecode:", sum(not pathlib.Path(importlib.util.cache_from_source(p)).exists() for p in sources))
for place in ("/", "/opt/mace", str(site), "/var/tmp"):
    try:
        open(place + "/written", "w")
        print("writable:", place)
    except OSError:
        pass
pathlib.Path("/tmp/written").write_text("x")
"""
BILL = """
import json, re, sys
from importlib.metadata import distributions
document = json.load(open(sys.argv[1]))
parts = [document["metadata"]["component"], *document["components"]]
named = {(part["name"], part["version"]) for part in parts if part["purl"].startswith("pkg:pypi/")}
there = {(re.sub(r"[-_.]+", "-", each.name).lower(), each.version) for each in distributions()}
print(" ".join(sorted(f"{name}=={version}" for name, version in named ^ there)) or "exactly what is installed")
"""
SBOM = "/opt/mace/sbom.cdx.json"


def main(arguments: list[str]) -> int:
    """Build, run, judge; 0 if everything held."""
    options = argparse.ArgumentParser(prog="scripts/build-image")
    options.add_argument("--base", help="an image, or debootstrap")
    options.add_argument("--otel", action="store_true", help="add OpenTelemetry")
    options.add_argument("--ca", type=Path, help="certificates that pip trusts during the build")
    options.add_argument("--pip-conf", type=Path, help="pip's settings during the build")
    asked = options.parse_args(arguments)
    needed = ["buildah", "runc", *(["mmdebstrap"] if asked.base == "debootstrap" else [])]
    if missing := [name for name in needed if shutil.which(name) is None]:
        say(f"needs {', '.join(missing)} on the PATH")
        return 2
    try:
        base = build(asked)
        with mounted() as image:
            expect("the base it names", image.config["Labels"]["org.opencontainers.image.base.name"], base)
            refuses(image)
            serves(image)
    except (Failed, subprocess.SubprocessError) as error:
        say(f"FAILED: {error}")
        return 1
    say("ok")
    return 0


def build(asked: argparse.Namespace) -> str:
    """Build the image; say how large it is; the base it stands on."""
    with tempfile.TemporaryDirectory() as scratch:
        settings = asked.pip_conf
        secrets = []
        if asked.ca:
            secrets.append(f"id=ca,src={asked.ca}")
            if settings is None:
                settings = Path(scratch) / "pip.conf"
                settings.write_text("[global]\ncert = /run/secrets/ca\n")
        if settings:
            secrets.append(f"id=pip,src={settings}")
        base = debootstrapped(Path(scratch)) if asked.base == "debootstrap" else asked.base
        command = ["buildah", "build", "--isolation", "chroot", "--format", "docker", "--tag", IMAGE]
        command += [part for secret in secrets for part in ("--secret", secret)]
        command += ["--build-arg", f"BASE={base}"] if base else []
        command += ["--build-arg", "OTEL=1"] if asked.otel else []
        say(" ".join(command[:7]))
        subprocess.run([*command, str(ROOT)], check=True, stdout=sys.stderr)
    listed = output("buildah", "images", "--format", "{{.Name}} {{.Size}}")
    say("; ".join(line for line in listed.splitlines() if line.startswith((IMAGE, OWN_BASE))))
    return str(base or default_base((ROOT / "Dockerfile").read_text(encoding="utf-8")))


def debootstrapped(scratch: Path) -> str:
    """Make a base of Debian's packages, about what python:slim is; its name."""
    archive = scratch / "base.tar"
    packages = "python3,python3-venv,ca-certificates"
    make = ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={packages}", SUITE, str(archive)]
    say(" ".join(make[:-1]))
    subprocess.run(make, check=True, stdout=sys.stderr)
    container = output("buildah", "from", "scratch")
    output("buildah", "add", "--quiet", container, str(archive), "/")
    path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    output("buildah", "config", "--env", path, container)
    output("buildah", "commit", "--quiet", "--rm", container, OWN_BASE)
    return OWN_BASE


@contextmanager
def mounted() -> Iterator[Image]:
    """The image, its files mounted while this lasts."""
    config = json.loads(output("buildah", "inspect", "--type", "image", IMAGE))["Docker"]["config"]
    container = output("buildah", "from", "--pull-never", IMAGE)
    try:
        yield Image(config, Path(output("buildah", "mount", container)))
    finally:
        output("buildah", "rm", container)


def refuses(image: Image) -> None:
    """It does not serve strangers: without a key it must not start."""
    with started(image, {}) as container:
        expect("exit status without a key", container.ended(), 2)


def serves(image: Image) -> None:
    """It comes up, answers, writes nothing, and at SIGTERM finishes what is under way before it ends."""
    with started(image, {"MACE_API_KEY": KEY, "MACE_WORKERS": "2"}) as container:
        began = time.monotonic()
        until(lambda: container.says(PROBED, "/readyz") == "200", container)
        say(f"ready after {time.monotonic() - began:.1f} s")
        expect("a request without the key", container.says(PROBED, "/metrics"), "401")
        health = image.config["Healthcheck"]["Test"]
        checked = subprocess.run(["runc", "exec", container.name, *health[1:]], check=False)
        expect("the health check's exit status", checked.returncode, 0)
        expect("bytecode and places to write", container.says(LOOKED), "sources without bytecode: 0")
        expect("the bill of materials names", container.says(BILL, SBOM), "exactly what is installed")
        say(f"memory when idle: {memory_used(container)}")
        expect("a report", container.says(DREW, KEY), "200 5 charts")
        say(f"memory when it has drawn: {memory_used(container)}")

        client = container.python(ASKED, KEY, "20000")
        assert client.stdout is not None
        expect("while a request is under way", client.stdout.readline().strip(), "busy")
        stop = getattr(signal, image.config.get("StopSignal", "SIGTERM"))
        subprocess.run(["runc", "kill", container.name, stop.name], check=True)
        answer = client.communicate(timeout=PATIENCE)[0].strip()
        expect("status of the request that was under way", answer[:3], "200")
        say(answer[4:])
        expect("exit status after SIGTERM", container.ended(), 0)


def memory_used(container: Container) -> str:
    """How much memory the container takes, in MiB, where its cgroup tells."""
    events = json.loads(output("runc", "events", "--stats", container.name))
    used = events["data"].get("memory", {}).get("usage", {}).get("usage", 0)
    return f"{used / 2**20:.0f} MiB" if used else "unknown"


def until(true: Callable[[], bool], container: Container) -> None:
    """Wait for something that must come true while the container lives."""
    deadline = time.monotonic() + PATIENCE
    while not true():
        if container.process.poll() is not None or time.monotonic() > deadline:
            raise Failed("the service did not come up")
        time.sleep(0.1)


def expect(what: str, found: object, wanted: object) -> None:
    """Say what was found; it must be what was wanted."""
    say(f"{what}: {found}")
    if found != wanted:
        raise Failed(f"{what}: {found}, not {wanted}")


def say(message: str) -> None:
    """Print one line of progress."""
    print(f"image: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
