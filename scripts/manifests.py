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
    **dict.fromkeys(
        (
            "GF_ANALYTICS_REPORTING_ENABLED", "GF_ANALYTICS_CHECK_FOR_UPDATES", "GF_ANALYTICS_FEEDBACK_LINKS_ENABLED",
            "GF_ANALYTICS_CHECK_FOR_PLUGIN_UPDATES", "GF_NEWS_NEWS_FEED_ENABLED", "GF_PLUGINS_PLUGIN_ADMIN_ENABLED",
            "GF_SNAPSHOTS_EXTERNAL_ENABLED",
        ),
        "false",
    ),
    **dict.fromkeys(("GF_PLUGINS_PREINSTALL_DISABLED", "GF_SECURITY_DISABLE_GRAVATAR"), "true"),
    "GF_AUTH_ANONYMOUS_ORG_ROLE": "Viewer",
}  # fmt: skip
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
    }
} | {
    f"{name}Probe": {"httpGet": {"path": path, "port": "probes"}}
    for name, path in (("liveness", "/healthz"), ("readiness", "/readyz"), ("startup", "/readyz"))
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
    return "@sha256:" in image or bool(re.search(r":(?=[^/]*\d)[^/]*$", image))


def those(faults: Mapping[str, Any]) -> Iterator[str]:
    """Those of these faults that are there."""
    return (fault for fault, there in faults.items() if there)


Stage = list[dict[str, Any]]


def stages(text: str) -> list[Stage]:
    """The instructions of each stage; what stands before the first FROM makes a stage of its own."""
    found: list[Stage] = [[]]
    for each in DockerfileParser(fileobj=io.BytesIO(text.encode())).structure:
        found += [[]] * (each["instruction"] == "FROM")
        found[-1] = [*found[-1], each]
    return found


def values(stage: Stage, *words: str) -> list[str]:
    """What stands after these words in a stage."""
    return [each["value"] for each in stage if each["instruction"] in words]


def copied(text: str) -> list[str]:
    """What a Dockerfile copies out of the source tree."""
    lines = [value.split() for stage in stages(text) for value in values(stage, "COPY")]
    return [source for words in lines if "--from=" not in words[0] for source in words[:-1]]


def dockerfile_faults(text: str, version: str) -> Iterator[str]:
    """What is wrong with the Dockerfile of this version, beyond what hadolint finds."""
    before, *builds, last = stages(text)
    base = next((value[5:] for value in values(before, "ARG") if value.startswith("BASE=")), "")
    built = [value for stage in builds for value in values(stage, "RUN")]
    yield from those({
        "names a syntax: building would fetch a program from a registry":
            re.search(r"^#\s*syntax\s*=", text, re.IGNORECASE | re.MULTILINE),
        f"BASE is {base}: an image is pinned by a version's tag or by a digest": not pinned(base),
        "has fewer than two stages: what builds would be in what runs": not builds,
        "makes no bill of materials: scripts/sbom.py beside what was installed does":
            not any("scripts/sbom.py" in value for value in built),
    })  # fmt: skip
    allowed = {"${BASE}"}
    for stage in (*builds, last):
        image, *name = stage[0]["value"].split()
        runs, told = " ; ".join(values(stage, "RUN")), " ".join(values(stage, "ARG", "ENV"))
        yield from those({
            f"FROM {image}: every stage stands on ${{BASE}}, or on one before it": image not in allowed,
            "a secret in ARG or ENV stays in the image's history; a secret mount does not": SECRET.search(told),
            "RUN names an address; a secret mount of pip's settings does that":
                re.search(r"index-url|trusted-host|https?://", runs),
            "RUN has pip without --require-hashes or --no-index": any(map(PIP.match, re.split(r"&&|;", runs))),
            "RUN fetches what has no hash": re.search(r"\b(apt-get|apt|apk|curl|wget|git)\b", runs),
        })  # fmt: skip
        allowed.update(name[1:])
    yield from _final_faults(last, text, version)


def _final_faults(stage: Stage, text: str, version: str) -> Iterator[str]:
    """What is wrong with the stage that becomes the image."""
    parser = DockerfileParser(fileobj=io.BytesIO(text.encode()))
    said = {name: parser.labels.get(f"org.opencontainers.image.{name}") for name in LABELS}
    checks = values(stage, "HEALTHCHECK")
    yield from those({
        "USER is not a user and a group by numbers other than 0: a platform could not tell it is not root":
            not re.fullmatch(r"[1-9]\d*:[1-9]\d*", "".join(values(stage, "USER")[-1:])),
        "EXPOSE does not stand exactly once": len(values(stage, "EXPOSE")) != 1,
        "HEALTHCHECK does not stand exactly once, in exec form":
            len(checks) != 1 or not re.search(r'CMD \["', checks[0]),
        "RUN in the last stage: what runs is copied, so that what built it stays behind": values(stage, "RUN"),
        f"LABEL version is not {version}, the version of pyproject.toml": said["version"] != version,
        "LABEL base.name is not ${BASE}, by an ARG BASE of the last stage":
            'base.name="${BASE}"' not in text or "BASE" not in values(stage, "ARG"),
        **{f"{word} is not {wanted}": values(stage, word) != [wanted] for word, wanted in LAST.items()},
        **{f"LABEL {name} is missing": not value for name, value in said.items()},
    })  # fmt: skip
    yield from unlike(dict(parser.envs), ENV, "ENV")


def bytes_of(size: str) -> int:
    """Bytes of a size as Compose (64m, 1g) and Kubernetes (64Mi, 2Gi) write it."""
    if (found := re.fullmatch(r"(\d+)([kmg]?)(?:i|b)?", size.strip().lower())) is None:
        raise ValueError(f"{size} is no size in k, m or g")
    return int(found[1]) * {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}[found[2]]


def seconds_of(duration: str) -> float:
    """Seconds of a duration of seconds and minutes: 40s, 1m30s."""
    parts = re.findall(r"(\d+)(m|s)", duration)
    return sum(float(number) * {"m": 60, "s": 1}[unit] for number, unit in parts)


def memory_needed(environment: Mapping[str, str], temporary: int) -> int:
    """Bytes that a container may come to hold under these settings: the formula of docs/operations.md.

    Bodies are held in memory, a worker takes what it is granted, and the answer it has written may still be on its
    way while it does the next job; /tmp is memory, too.
    """
    names = ("WORKERS", "MEMORY_LIMIT", "SPOOL_LIMIT")
    workers, memory, spool = (int(environment[f"MACE_{name}"]) for name in names)
    return ITSELF + spool + 2 * workers * memory + temporary


def compose_faults(compose: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with compose.yaml, beyond its schema."""
    services = compose["services"]
    for name, service in services.items():
        yield from unlike(service, SERVICE, name)
        missing = {"mem_limit", "cpus", "pids_limit"} - set(service)
        yield from those({
            f"{name}: image {service['image']} is not pinned": not pinned(service["image"]),
            f"{name}: may gain privileges": "no-new-privileges:true" not in service.get("security_opt", ()),
            f"{name}: {', '.join(sorted(missing))} is not set": missing,
            f"{name}: a port is published beyond this machine":
                not all(port.startswith("127.0.0.1:") for port in service.get("ports", ())),
        })  # fmt: skip
    yield from unlike(services["grafana"]["environment"], GRAFANA, "grafana")
    mace = services["mace"]
    given = mace["environment"]
    sizes = [found[1] for mount in mace["tmpfs"] if (found := re.search(r"size=(\w+)", mount))]
    needed = memory_needed(given, sum(map(bytes_of, sizes)))
    drained = float(given["MACE_DRAIN_LIMIT"]) + AFTER_DRAIN
    yield from those({
        "`docker compose up` starts something else than mace alone":
            [name for name, service in services.items() if "profiles" not in service] != ["mace"],
        "mace: a key stands in the file": "MACE_API_KEY" in given,
        "mace: MACE_WORKERS is not cpus": int(given["MACE_WORKERS"]) != mace["cpus"],
        f"mace: mem_limit is below the {-(-needed // MIB)}m that its settings may come to":
            bytes_of(mace["mem_limit"]) < needed,
        f"mace: stop_grace_period is less than MACE_DRAIN_LIMIT and {AFTER_DRAIN} s":
            seconds_of(mace["stop_grace_period"]) < drained,
    })  # fmt: skip


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
    } | {each["topologyKey"]: each["labelSelector"]["matchLabels"] for each in pod["topologySpreadConstraints"]}
    names = {port["name"] for port in container["ports"]}
    yield from unlike(pod, POD, "pod")
    yield from unlike(container, CONTAINER, "container")
    yield from those({
        **{
            f"{what} selects other pods than the Deployment makes": not chosen.items() <= labels
            for what, chosen in selectors.items()
        },
        "Service sends to a port that the container does not name":
            any(port["targetPort"] not in names for port in kinds["Service"]["ports"]),
        "NetworkPolicy lets something out but to the store and for its name":
            set(policy["policyTypes"]) != {"Ingress", "Egress"}
            or not all(rule.get("to") and _ports(rule) <= {5432, 53} and _ports(rule) for rule in policy["egress"]),
        "NetworkPolicy lets anybody in":
            not all(rule.get("from") and rule.get("ports") for rule in policy["ingress"]),
        "the pod may run as root": not pod["securityContext"].get("runAsUser"),
        "it reaches into its node": any("hostPath" in volume for volume in pod["volumes"]),
        f"image {container['image']} is not pinned": not pinned(container["image"]),
    })  # fmt: skip
    has_store = any(entry["name"].startswith("MACE_STORE") for entry in container["env"])
    is_kept = kinds["Service"].get("sessionAffinity") == "ClientIP"
    yield from those({
        "replicas share no store, and no client is kept with its own":
            deployment["replicas"] > 1 and not has_store and not is_kept,
        "clients are kept with their replica, and need not be": has_store and is_kept,
    })  # fmt: skip
    yield from _setting_faults(container, pod)


def _ports(rule: Mapping[str, Any]) -> set[int]:
    return {each["port"] for each in rule.get("ports", ())}


def _setting_faults(container: Mapping[str, Any], pod: Mapping[str, Any]) -> Iterator[str]:
    """Where what mace is told and what the platform grants do not fit."""
    given = {entry["name"]: entry.get("value", "") for entry in container["env"]}
    ports = {port["name"]: str(port["containerPort"]) for port in container["ports"]}
    mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    folder, store = (given.get(f"MACE_{name}_FILE", "").rpartition("/")[0] for name in ("API_KEY", "STORE"))
    sleep = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    drained = sleep + float(given["MACE_DRAIN_LIMIT"]) + AFTER_DRAIN
    scratch = volumes.get(mounts.get("/tmp", ""), {}).get("emptyDir", {})
    needed = memory_needed(given, bytes_of(scratch.get("sizeLimit", "0")))
    yield from those({
        "MACE_PROBE_PORT is not the port of probes": given.get("MACE_PROBE_PORT") != ports.get("probes"),
        "volumes and their mounts are not the same": set(mounts.values()) != set(volumes),
        "the key does not come from a Secret, as a file":
            "secret" not in volumes.get(mounts.get(folder, ""), {}) or "MACE_API_KEY" in given,
        "the address of the store does not come from a Secret, as a file":
            "MACE_STORE" in given
            or ("MACE_STORE_FILE" in given and "secret" not in volumes.get(mounts.get(store, ""), {})),
        "MACE_WORKERS is not the processors requested":
            int(given["MACE_WORKERS"]) != int(container["resources"]["requests"]["cpu"]),
        f"terminationGracePeriodSeconds is less than preStop, MACE_DRAIN_LIMIT and {AFTER_DRAIN} s":
            pod["terminationGracePeriodSeconds"] < drained,
        "/tmp is not memory with a limit": scratch.get("medium") != "Memory" or "sizeLimit" not in scratch,
        f"the memory limit is below the {-(-needed // MIB)}Mi that its settings may come to":
            bytes_of(container["resources"]["limits"]["memory"]) < needed,
    })  # fmt: skip
