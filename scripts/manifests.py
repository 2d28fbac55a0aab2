"""What Dockerfile, compose.yaml and the Kubernetes manifest must say of ours, beyond what linters and schemas know."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from dockerfile_parse import DockerfileParser  # type: ignore[import-untyped]

MIB = 2**20
ITSELF = 512 * MIB
"""The processes themselves, before there is work: 145 MiB with two workers, as measured; the rest is leeway."""

AFTER_DRAIN = 10
"""Seconds between the end of the drain and the kill, for what is ended then."""

ENV = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1", "HOME": "/tmp", "MACE_HOST": "0.0.0.0"}
LABELS = ("title", "description", "version", "licenses", "base.name")
LAST = {"ENTRYPOINT": '["mace"]', "CMD": '["serve"]', "STOPSIGNAL": "SIGTERM"}
SECRET = re.compile(r"KEY|TOKEN|PASSWORD|SECRET|INDEX_URL", re.IGNORECASE)
PIP = re.compile(r"(?!.*--(require-hashes|no-index)\b).*\bpip\b.*\b(install|wheel|download)\b")

SERVICE = {"read_only": True, "cap_drop": ["ALL"], "cap_add": None, "privileged": None}
GRAFANA = {
    "GF_ANALYTICS_REPORTING_ENABLED": "false",
    "GF_ANALYTICS_CHECK_FOR_UPDATES": "false",
    "GF_ANALYTICS_CHECK_FOR_PLUGIN_UPDATES": "false",
    "GF_ANALYTICS_FEEDBACK_LINKS_ENABLED": "false",
    "GF_NEWS_NEWS_FEED_ENABLED": "false",
    "GF_PLUGINS_PREINSTALL_DISABLED": "true",
    "GF_PLUGINS_PLUGIN_ADMIN_ENABLED": "false",
    "GF_SECURITY_DISABLE_GRAVATAR": "true",
    "GF_SNAPSHOTS_EXTERNAL_ENABLED": "false",
    "GF_AUTH_ANONYMOUS_ORG_ROLE": "Viewer",
}
"""Without these it calls others, or lets strangers change it."""

POD = {
    "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
    "automountServiceAccountToken": False,
    "enableServiceLinks": False,
    "hostNetwork": None,
}
CONTAINER = {
    "securityContext": {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    },
    "livenessProbe": {"httpGet": {"path": "/healthz", "port": "probes"}},
    "readinessProbe": {"httpGet": {"path": "/readyz", "port": "probes"}},
    "startupProbe": {"httpGet": {"path": "/readyz", "port": "probes"}},
}
"""The restricted profile of Pod Security, and probes that need no key."""


def unlike(found: Any, wanted: Any, path: str) -> Iterator[str]:
    """Where something differs from what is wanted of it; what is not wanted to be otherwise may be anything."""
    if isinstance(wanted, dict):
        for name, part in wanted.items():
            yield from unlike(found.get(name) if isinstance(found, Mapping) else None, part, f"{path}.{name}")
    elif found != wanted:
        yield f"{path} is {json.dumps(found)}, not {json.dumps(wanted)}"


def pinned(image: str) -> bool:
    """Whether an image is named by a digest, or by a tag that says which."""
    _, _, tag = image.rpartition("/")[2].partition(":")
    return "@sha256:" in image or (bool(tag) and tag != "latest" and any(map(str.isdigit, tag)))


# --- Dockerfile -----------------------------------------------------------------------------------------------


def stages(text: str) -> list[list[dict[str, Any]]]:
    """The instructions of each stage; what stands before the first FROM makes a stage of its own."""
    parser = DockerfileParser(fileobj=io.BytesIO(text.encode()))
    found: list[list[dict[str, Any]]] = [[]]
    for each in parser.structure:
        if each["instruction"] == "FROM":
            found.append([])
        found[-1].append(each)
    return found


def values(stage: list[dict[str, Any]], *words: str) -> list[str]:
    """What stands after these words in a stage."""
    return [each["value"] for each in stage if each["instruction"] in words]


def copied(text: str) -> list[str]:
    """What a Dockerfile copies out of the source tree."""
    lines = [value.split() for stage in stages(text) for value in values(stage, "COPY")]
    return [source for words in lines if "--from=" not in words[0] for source in words[:-1]]


def dockerfile_faults(text: str, version: str) -> Iterator[str]:
    """What is wrong with the Dockerfile of this version, beyond what hadolint finds."""
    if re.search(r"^#\s*syntax\s*=", text, re.IGNORECASE | re.MULTILINE):
        yield "names a syntax: building would fetch a program from a registry"
    before, *builds, last = stages(text)
    base = next((value[5:] for value in values(before, "ARG") if value.startswith("BASE=")), "")
    if not pinned(base):
        yield f"BASE is {base}: an image is pinned by a version's tag or by a digest"
    if not builds:
        yield "has fewer than two stages: what builds would be in what runs"
    allowed = {"${BASE}"}
    for stage in (*builds, last):
        image, *name = stage[0]["value"].split()
        if image not in allowed:
            yield f"FROM {image}: every stage stands on ${{BASE}}, or on one before it"
        allowed.update(name[1:])
        for value in values(stage, "ARG", "ENV"):
            if secret := SECRET.search(value):
                yield f"{secret[0]} in ARG or ENV stays in the image's history; a secret mount does not"
        for value in values(stage, "RUN"):
            if re.search(r"index-url|trusted-host|https?://", value):
                yield "RUN names an address; a secret mount of pip's settings does that"
            if any(PIP.match(command) for command in re.split(r"&&|;", value)):
                yield "RUN has pip without --require-hashes or --no-index"
            if re.search(r"\b(apt-get|apt|apk|curl|wget|git)\b", value):
                yield "RUN fetches what has no hash"
    if not any("scripts/sbom.py" in value for stage in builds for value in values(stage, "RUN")):
        yield "makes no bill of materials: scripts/sbom.py beside what was installed does"
    yield from _final_faults(last, text, version)


def _final_faults(stage: list[dict[str, Any]], text: str, version: str) -> Iterator[str]:
    """What is wrong with the stage that becomes the image."""
    if not re.fullmatch(r"[1-9]\d*:[1-9]\d*", "".join(values(stage, "USER")[-1:])):
        yield "USER is not a user and a group by numbers other than 0: a platform could not tell it is not root"
    for word, wanted in LAST.items():
        if values(stage, word) != [wanted]:
            yield f"{word} is not {wanted}"
    if len(values(stage, "EXPOSE")) != 1:
        yield "EXPOSE does not stand exactly once"
    checks = values(stage, "HEALTHCHECK")
    if len(checks) != 1 or not re.search(r'CMD \["', checks[0]):
        yield "HEALTHCHECK does not stand exactly once, in exec form"
    if values(stage, "RUN"):
        yield "RUN in the last stage: what runs is copied, so that what built it stays behind"
    parser = DockerfileParser(fileobj=io.BytesIO(text.encode()))
    yield from unlike(dict(parser.envs), ENV, "ENV")
    said = {name: parser.labels.get(f"org.opencontainers.image.{name}") for name in LABELS}
    yield from (f"LABEL {name} is missing" for name, value in said.items() if not value)
    if said["version"] != version:
        yield f"LABEL version is not {version}, the version of pyproject.toml"
    if 'base.name="${BASE}"' not in text or "BASE" not in values(stage, "ARG"):
        yield "LABEL base.name is not ${BASE}, by an ARG BASE of the last stage"


# --- sizes and times ------------------------------------------------------------------------------------------


def bytes_of(size: str) -> int:
    """Bytes of a size as Compose (64m, 1g) and Kubernetes (64Mi, 2Gi) write it."""
    if (found := re.fullmatch(r"(\d+)([kmg]?)(?:i|b)?", size.strip().lower())) is None:
        raise ValueError(f"{size} is no size in k, m or g")
    return int(found[1]) * {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}[found[2]]


def seconds_of(duration: str) -> float:
    """Seconds of a duration of seconds and minutes: 40s, 1m30s."""
    return float(
        sum(int(number) * {"m": 60, "s": 1}[unit] for number, unit in re.findall(r"(\d+)(m|s)", duration))
    )


def memory_needed(environment: Mapping[str, str], temporary: int) -> int:
    """Bytes that a container may come to hold under these settings: the formula of docs/operations.md.

    Bodies are held in memory, a worker takes what it is granted, and the answer it has written may still be on its
    way while it does the next job; /tmp is memory, too.
    """
    workers, memory, spool = (
        int(environment[f"MACE_{name}"]) for name in ("WORKERS", "MEMORY_LIMIT", "SPOOL_LIMIT")
    )
    return ITSELF + spool + 2 * workers * memory + temporary


# --- compose.yaml ---------------------------------------------------------------------------------------------


def compose_faults(compose: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with compose.yaml, beyond its schema."""
    services = compose["services"]
    if [name for name, service in services.items() if "profiles" not in service] != ["mace"]:
        yield "`docker compose up` starts something else than mace alone"
    for name, service in services.items():
        yield from unlike(service, SERVICE, name)
        if not pinned(service["image"]):
            yield f"{name}: image {service['image']} is not pinned"
        if "no-new-privileges:true" not in service.get("security_opt", ()):
            yield f"{name}: may gain privileges"
        for limit in {"mem_limit", "cpus", "pids_limit"} - set(service):
            yield f"{name}: {limit} is not set"
        for port in service.get("ports", ()):
            if not port.startswith("127.0.0.1:"):
                yield f"{name}: port {port} is published beyond this machine"
    yield from unlike(services["grafana"]["environment"], GRAFANA, "grafana")

    mace = services["mace"]
    given = mace["environment"]
    if "MACE_API_KEY" in given:
        yield "mace: a key stands in the file"
    if int(given["MACE_WORKERS"]) != mace["cpus"]:
        yield "mace: MACE_WORKERS is not cpus"
    sizes = [found[1] for mount in mace["tmpfs"] if (found := re.search(r"size=(\w+)", mount))]
    needed = memory_needed(given, sum(map(bytes_of, sizes)))
    if bytes_of(mace["mem_limit"]) < needed:
        yield f"mace: mem_limit is below the {-(-needed // MIB)}m that its settings may come to"
    if seconds_of(mace["stop_grace_period"]) < float(given["MACE_DRAIN_LIMIT"]) + AFTER_DRAIN:
        yield f"mace: stop_grace_period is less than MACE_DRAIN_LIMIT and {AFTER_DRAIN} s"


# --- Kubernetes -----------------------------------------------------------------------------------------------


def kubernetes_faults(documents: list[Mapping[str, Any]]) -> Iterator[str]:
    """What is wrong with the Kubernetes manifest, beyond its schema."""
    kinds = {document["kind"]: document["spec"] for document in documents}
    if missing := {"Deployment", "Service", "NetworkPolicy", "PodDisruptionBudget"} - set(kinds):
        yield f"has no {', '.join(sorted(missing))}"
        return
    deployment, policy = kinds["Deployment"], kinds["NetworkPolicy"]
    pod = deployment["template"]["spec"]
    container = pod["containers"][0]
    labels = deployment["template"]["metadata"]["labels"].items()
    selectors = {
        "Deployment": deployment["selector"]["matchLabels"],
        "Service": kinds["Service"]["selector"],
        "NetworkPolicy": policy["podSelector"]["matchLabels"],
        "PodDisruptionBudget": kinds["PodDisruptionBudget"]["selector"]["matchLabels"],
    }
    selectors |= {
        each["topologyKey"]: each["labelSelector"]["matchLabels"] for each in pod["topologySpreadConstraints"]
    }
    for what, chosen in selectors.items():
        if not chosen.items() <= labels:
            yield f"{what} selects other pods than the Deployment makes"
    names = {port["name"] for port in container["ports"]}
    if any(port["targetPort"] not in names for port in kinds["Service"]["ports"]):
        yield "Service sends to a port that the container does not name"
    if set(policy["policyTypes"]) != {"Ingress", "Egress"} or policy.get("egress"):
        yield "NetworkPolicy lets something out"
    if not all(rule.get("from") and rule.get("ports") for rule in policy["ingress"]):
        yield "NetworkPolicy lets anybody in"
    yield from unlike(pod, POD, "pod")
    yield from unlike(container, CONTAINER, "container")
    if not pod["securityContext"].get("runAsUser"):
        yield "the pod may run as root"
    if any("hostPath" in volume for volume in pod["volumes"]):
        yield "it reaches into its node"
    if not pinned(container["image"]):
        yield f"image {container['image']} is not pinned"
    yield from _setting_faults(container, pod)


def _setting_faults(container: Mapping[str, Any], pod: Mapping[str, Any]) -> Iterator[str]:
    """Where what mace is told and what the platform grants do not fit."""
    given = {entry["name"]: entry.get("value", "") for entry in container["env"]}
    ports = {port["name"]: str(port["containerPort"]) for port in container["ports"]}
    if given.get("MACE_PROBE_PORT") != ports.get("probes"):
        yield "MACE_PROBE_PORT is not the port of probes"
    mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    if set(mounts.values()) != set(volumes):
        yield "volumes and their mounts are not the same"
    folder = given.get("MACE_API_KEY_FILE", "").rpartition("/")[0]
    if "secret" not in volumes.get(mounts.get(folder, ""), {}) or "MACE_API_KEY" in given:
        yield "the key does not come from a Secret, as a file"
    if int(given["MACE_WORKERS"]) != int(container["resources"]["requests"]["cpu"]):
        yield "MACE_WORKERS is not the processors requested"
    before = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    if pod["terminationGracePeriodSeconds"] < before + float(given["MACE_DRAIN_LIMIT"]) + AFTER_DRAIN:
        yield f"terminationGracePeriodSeconds is less than preStop, MACE_DRAIN_LIMIT and {AFTER_DRAIN} s"
    scratch = volumes.get(mounts.get("/tmp", ""), {}).get("emptyDir", {})
    if scratch.get("medium") != "Memory" or "sizeLimit" not in scratch:
        yield "/tmp is not memory with a limit"
        return
    needed = memory_needed(given, bytes_of(scratch["sizeLimit"]))
    if bytes_of(container["resources"]["limits"]["memory"]) < needed:
        yield f"the memory limit is below the {-(-needed // MIB)}Mi that its settings may come to"
