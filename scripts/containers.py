"""A built image at work under runc, as it is meant to run; `scripts/image.py` asks it questions.

Its user, command, environment and stop signal are the image's own. Its root cannot be written, it has no capabilities
and no network, and the memory and processes that compose.yaml grants. Standard library only.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 60.0


class Failed(Exception):
    """A step did not come out as it must."""


@dataclass(frozen=True)
class Image:
    """An image that was built: its configuration, and its files, mounted."""

    config: dict[str, Any]
    root: Path

    def bundle(self, folder: Path, environment: dict[str, str]) -> None:
        """Write what runc needs to run it as it is meant to run."""
        subprocess.run(["runc", "spec"], cwd=folder, check=True)
        spec = json.loads((folder / "config.json").read_text())
        user, group = (int(part) for part in self.config["User"].split(":"))
        given = dict(pair.split("=", 1) for pair in self.config["Env"]) | environment
        spec["root"] = {"path": str(self.root), "readonly": True}
        spec["process"] |= {
            "terminal": False,
            "user": {"uid": user, "gid": group},
            "args": [*self.config["Entrypoint"], *self.config["Cmd"]],
            "env": [f"{name}={value}" for name, value in given.items()],
            "cwd": self.config["WorkingDir"],
            "capabilities": {},
            "noNewPrivileges": True,
        }
        spec["mounts"].append(
            {
                "destination": "/tmp",
                "type": "tmpfs",
                "source": "tmpfs",
                "options": ["nosuid", "nodev", "noexec", "mode=1777", "size=64m"],
            }
        )
        memory, processes = granted()
        spec["linux"]["resources"] |= {"memory": {"limit": memory}, "pids": {"limit": processes}}
        (folder / "config.json").write_text(json.dumps(spec))


@dataclass(frozen=True)
class Container:
    """The image at work."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def python(self, code: str, *arguments: str) -> subprocess.Popen[str]:
        """Run a program inside it, with the image's own Python."""
        command = ["runc", "exec", self.name, "python", "-c", code, *arguments]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def says(self, code: str, *arguments: str) -> str:
        """What such a program prints."""
        return self.python(code, *arguments).communicate(timeout=PATIENCE)[0].strip()

    def ended(self) -> int:
        """Its exit status, once it has ended."""
        return self.process.wait(timeout=PATIENCE)


@contextmanager
def started(image: Image, environment: dict[str, str]) -> Iterator[Container]:
    """A container of the image, ended at the latest when this ends."""
    name = f"mace-{os.getpid()}"
    with tempfile.TemporaryDirectory() as scratch:
        folder, log = Path(scratch), Path(scratch) / "log"
        image.bundle(folder, environment)
        with log.open("wb") as written:
            process = subprocess.Popen(["runc", "run", name], cwd=folder, stdout=written, stderr=written)
        try:
            yield Container(name, process, log)
        except BaseException:
            print(log.read_text(errors="replace"), file=sys.stderr)
            raise
        finally:
            if process.poll() is None:
                subprocess.run(["runc", "kill", name, "KILL"], check=False)
                process.wait(timeout=PATIENCE)


def granted() -> tuple[int, int]:
    """Bytes of memory, and processes, that compose.yaml grants the service: the first of each that it names."""
    text = (ROOT / "compose.yaml").read_text()
    memory, processes = re.search(r"mem_limit: (\d+)m", text), re.search(r"pids_limit: (\d+)", text)
    if memory is None or processes is None:
        raise Failed("compose.yaml names no limits of memory and processes")
    return int(memory[1]) * 2**20, int(processes[1])


def output(*command: str) -> str:
    """What a program prints."""
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()
