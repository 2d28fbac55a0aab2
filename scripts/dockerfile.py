"""What a Dockerfile of ours must be, and what is wrong with one: read from its text, with no engine."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

SECRET = re.compile(r"KEY|TOKEN|PASSWORD|SECRET|INDEX_URL", re.IGNORECASE)
FETCHES = re.compile(r"\b(apt-get|apt|apk|curl|wget|git)\b")


@dataclass(frozen=True)
class Instruction:
    """One instruction: where it begins, its word, and the rest with its continuations joined."""

    line: int
    word: str
    rest: str

    @property
    def executed(self) -> bool:
        """Whether the rest is in exec form: a JSON array of words, which no shell reads."""
        text = self.rest.split("CMD", 1)[-1].strip() if self.word == "HEALTHCHECK" else self.rest
        try:
            words = json.loads(text)
        except ValueError:
            return False
        return isinstance(words, list) and all(isinstance(word, str) for word in words)


@dataclass(frozen=True)
class Stage:
    """What stands between one FROM and the next."""

    image: str
    name: str
    instructions: tuple[Instruction, ...]

    def all(self, *words: str) -> list[Instruction]:
        """The instructions of these words, in order."""
        return [found for found in self.instructions if found.word in words]


def instructions(text: str) -> Iterator[Instruction]:
    """Every instruction, comments left out and continued lines joined."""
    begun, parts = 0, list[str]()
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        begun = begun or number
        parts.append(line.strip().removesuffix("\\").strip())
        if line.rstrip().endswith("\\"):
            continue
        word, _, rest = " ".join(parts).partition(" ")
        yield Instruction(begun, word.upper(), rest.strip())
        begun, parts = 0, []


def stages(text: str) -> list[Stage]:
    """The stages; what stands before the first FROM belongs to none."""
    found: list[Stage] = []
    for instruction in instructions(text):
        if instruction.word == "FROM":
            words = instruction.rest.split()
            found.append(Stage(words[0], words[2] if len(words) > 2 else "", ()))
        elif found:
            last = found[-1]
            found[-1] = Stage(last.image, last.name, (*last.instructions, instruction))
    return found


def base(text: str) -> str:
    """The image that BASE names unless told otherwise; empty without one."""
    for instruction in instructions(text):
        if instruction.word == "FROM":
            break
        if instruction.word == "ARG" and instruction.rest.startswith("BASE="):
            return instruction.rest.removeprefix("BASE=")
    return ""


def environment(stage: Stage) -> dict[str, str]:
    """What ENV sets in a stage."""
    return {
        name: value.strip('"')
        for instruction in stage.all("ENV")
        for name, value in re.findall(r'(\w+)=("[^"]*"|\S+)', instruction.rest)
    }


def labels(stage: Stage) -> dict[str, str]:
    """What LABEL says of a stage."""
    return {
        name: value
        for instruction in stage.all("LABEL")
        for name, value in re.findall(r'([\w.-]+)="([^"]*)"', instruction.rest)
    }


def copied(text: str) -> list[str]:
    """What is copied out of the source tree."""
    return [
        source
        for stage in stages(text)
        for instruction in stage.all("COPY")
        if "--from=" not in instruction.rest
        for source in [word for word in instruction.rest.split() if not word.startswith("--")][:-1]
    ]


def pinned(image: str) -> bool:
    """Whether an image is named by a digest, or by a tag that says which."""
    if "@sha256:" in image:
        return True
    _, _, tag = image.rpartition("/")[2].partition(":")
    return bool(tag) and tag != "latest" and any(character.isdigit() for character in tag)


def faults(text: str, version: str) -> Iterator[str]:
    """What is wrong with the Dockerfile of this version, each with its line where it has one."""
    if re.search(r"^#\s*syntax\s*=", text, re.IGNORECASE | re.MULTILINE):
        yield "names a syntax: building would fetch a program from a registry"
    if not pinned(base(text)):
        yield f"BASE is {base(text) or 'not given'}: an image is pinned by a version's tag or by a digest"
    found = stages(text)
    if len(found) < 2:
        yield "has fewer than two stages: what builds would be in what runs"
        return
    names = {stage.name for stage in found}
    for stage in found:
        if stage.image != "${BASE}" and stage.image not in names:
            yield f"FROM {stage.image}: every stage stands on ${{BASE}} or on an earlier one"
        for instruction in stage.instructions:
            yield from (f"line {instruction.line}: {fault}" for fault in _line_faults(instruction))
    if not any("scripts/sbom.py" in run.rest for stage in found[:-1] for run in stage.all("RUN")):
        yield "makes no bill of materials: scripts/sbom.py beside what was installed does"
    yield from _final_faults(found[-1], version)


def _line_faults(instruction: Instruction) -> Iterator[str]:
    """What is wrong with one instruction wherever it stands."""
    word, rest = instruction.word, instruction.rest
    if word == "ADD":
        yield "ADD unpacks and downloads; COPY does neither"
    if word in ("ARG", "ENV") and (named := SECRET.search(rest)):
        yield f"{word} with {named[0]} stays in the image's history; a secret mount does not"
    if word in ("ENTRYPOINT", "CMD", "HEALTHCHECK") and not instruction.executed:
        yield f"{word} is not in exec form: a shell would stand between it and its signals"
    if word == "RUN":
        if fetched := FETCHES.search(rest):
            yield f"{fetched[0]}: what is fetched here has no hash"
        if re.search(r"index-url|trusted-host|https?://", rest):
            yield "names an address; a secret mount of pip's settings does that"
        for command in re.split(r"&&|;", rest):
            hashed = re.search(r"--(require-hashes|no-index)\b", command)
            if re.search(r"\bpip\b.*\b(install|wheel|download)\b", command) and not hashed:
                yield "pip without --require-hashes or --no-index"


def _final_faults(stage: Stage, version: str) -> Iterator[str]:
    """What is wrong with the stage that becomes the image."""
    users = stage.all("USER")
    if not users or not re.fullmatch(r"[1-9]\d*:[1-9]\d*", users[-1].rest):
        yield "USER is not a user and a group by numbers other than 0: a platform could not tell it is not root"
    for word, wanted in (("ENTRYPOINT", '["mace"]'), ("CMD", '["serve"]'), ("STOPSIGNAL", "SIGTERM")):
        if [found.rest for found in stage.all(word)] != [wanted]:
            yield f"{word} is not {wanted}"
    for word in ("HEALTHCHECK", "EXPOSE"):
        if len(stage.all(word)) != 1:
            yield f"{word} does not stand exactly once"
    if stage.all("RUN"):
        yield "RUN in the last stage: what runs is copied, so that what built it stays behind"
    wanted_env = {
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "HOME": "/tmp",
        "MACE_HOST": "0.0.0.0",
    }
    given = environment(stage)
    yield from (
        f"ENV {name} is not {value}" for name, value in wanted_env.items() if given.get(name) != value
    )
    said = labels(stage)
    for name in ("title", "description", "version", "licenses"):
        if not said.get(f"org.opencontainers.image.{name}"):
            yield f"LABEL org.opencontainers.image.{name} is missing"
    arguments = [argument.rest for argument in stage.all("ARG")]
    if said.get("org.opencontainers.image.base.name") != "${BASE}" or "BASE" not in arguments:
        yield "LABEL org.opencontainers.image.base.name is not ${BASE}, by an ARG BASE of the last stage"
    if said.get("org.opencontainers.image.version") not in (version, None):
        yield f"LABEL org.opencontainers.image.version is not {version}, the version of pyproject.toml"
