"""What compose.yaml and the Kubernetes manifest must say, and what is wrong with them as they are parsed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dockerfile import pinned

MIB = 2**20
ITSELF = 512 * MIB
"""The processes themselves, before there is work: 145 MiB with two workers, as measured; the rest is leeway."""

AFTER_DRAIN = 10
"""Seconds between the end of the drain and the kill, for what is ended then."""

QUIET = {
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
"""Grafana's settings without which it calls others, or lets strangers change it."""

RESTRICTED = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}


def bytes_of(size: str) -> int:
    """Bytes of a size as Compose (64m, 1g) and Kubernetes (64Mi, 2Gi) write it."""
    if (found := re.fullmatch(r"(\d+)([kmg]?)(?:i|b)?", size.strip().lower())) is None:
        raise ValueError(f"{size} is no size in k, m or g")
    return int(found[1]) * {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}[found[2]]


def seconds_of(duration: str) -> float:
    """Seconds of a duration of seconds and minutes: 40s, 1m30s."""
    parts = re.findall(r"(\d+)(m|s)", duration)
    return float(sum(int(number) * {"m": 60, "s": 1}[unit] for number, unit in parts))


def memory_needed(environment: Mapping[str, str], temporary: int) -> int:
    """Bytes that a container may come to hold under these settings: the formula of docs/operations.md.

    Bodies are held in memory, a worker takes what it is granted, and the answer it has written may still be on its
    way while it does the next job; /tmp is memory, too.
    """
    workers, memory, spool = (
        int(environment[f"MACE_{name}"]) for name in ("WORKERS", "MEMORY_LIMIT", "SPOOL_LIMIT")
    )
    return ITSELF + spool + 2 * workers * memory + temporary


def compose_faults(compose: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with compose.yaml, beyond its schema."""
    services = compose["services"]
    if [name for name, service in services.items() if "profiles" not in service] != ["mace"]:
        yield "`docker compose up` starts something else than mace alone"
    for name, service in services.items():
        yield from (f"{name}: {fault}" for fault in _service_faults(service))

    mace = services["mace"]
    given = mace["environment"]
    if "MACE_API_KEY" in given:
        yield "mace: a key stands in the file"
    if int(given["MACE_WORKERS"]) != mace["cpus"]:
        yield "mace: MACE_WORKERS is not cpus"
    temporary = sum(
        bytes_of(found[1]) for mount in mace["tmpfs"] if (found := re.search(r"size=(\w+)", mount))
    )
    needed = memory_needed(given, temporary)
    if bytes_of(mace["mem_limit"]) < needed:
        yield f"mace: mem_limit is below the {-(-needed // MIB)}m that its settings may come to"
    if seconds_of(mace["stop_grace_period"]) < float(given["MACE_DRAIN_LIMIT"]) + AFTER_DRAIN:
        yield f"mace: stop_grace_period is less than MACE_DRAIN_LIMIT and {AFTER_DRAIN} s"
    loud = {name for name, wanted in QUIET.items() if services["grafana"]["environment"].get(name) != wanted}
    yield from (f"grafana: {name} is not {QUIET[name]}" for name in sorted(loud))


def _service_faults(service: Mapping[str, Any]) -> Iterator[str]:
    """What any service of ours must have."""
    if not pinned(service["image"]):
        yield f"image {service['image']} is not pinned"
    if service.get("read_only") is not True:
        yield "its root can be written"
    if service.get("cap_drop") != ["ALL"] or "cap_add" in service or service.get("privileged"):
        yield "it has capabilities"
    if "no-new-privileges:true" not in service.get("security_opt", ()):
        yield "it may gain privileges"
    yield from (
        f"{limit} is not set" for limit in ("mem_limit", "cpus", "pids_limit") if limit not in service
    )
    for port in service.get("ports", ()):
        if not port.startswith("127.0.0.1:"):
            yield f"port {port} is published beyond this machine"


def kubernetes_faults(documents: list[Mapping[str, Any]]) -> Iterator[str]:
    """What is wrong with the Kubernetes manifest."""
    kinds = {document["kind"]: document["spec"] for document in documents}
    if missing := {"Deployment", "Service", "NetworkPolicy", "PodDisruptionBudget"} - set(kinds):
        yield f"has no {', '.join(sorted(missing))}"
        return
    deployment, pod = kinds["Deployment"], kinds["Deployment"]["template"]["spec"]
    chosen = deployment["selector"]["matchLabels"]
    worn = deployment["template"]["metadata"]["labels"]
    selectors = {
        "Deployment": chosen,
        "Service": kinds["Service"]["selector"],
        "NetworkPolicy": kinds["NetworkPolicy"]["podSelector"]["matchLabels"],
        "PodDisruptionBudget": kinds["PodDisruptionBudget"]["selector"]["matchLabels"],
        **{
            f"spread over {spread['topologyKey']}": spread["labelSelector"]["matchLabels"]
            for spread in pod["topologySpreadConstraints"]
        },
    }
    for what, labels in selectors.items():
        if not labels.items() <= worn.items():
            yield f"{what} selects other pods than the Deployment makes"
    yield from _pod_faults(pod)
    yield from _container_faults(pod["containers"][0], pod)

    named = {port["name"] for port in pod["containers"][0]["ports"]}
    if any(port["targetPort"] not in named for port in kinds["Service"]["ports"]):
        yield "Service sends to a port that the container does not name"
    policy = kinds["NetworkPolicy"]
    if set(policy["policyTypes"]) != {"Ingress", "Egress"} or policy.get("egress"):
        yield "NetworkPolicy lets something out"
    if not all(rule.get("from") and rule.get("ports") for rule in policy["ingress"]):
        yield "NetworkPolicy lets anybody in"


def _pod_faults(pod: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the pod as a whole, by the restricted profile of Pod Security."""
    security = pod["securityContext"]
    if security.get("runAsNonRoot") is not True or not security.get("runAsUser"):
        yield "the pod may run as root"
    if security.get("seccompProfile") != {"type": "RuntimeDefault"}:
        yield "seccomp is not RuntimeDefault"
    for switch in ("automountServiceAccountToken", "enableServiceLinks"):
        if pod.get(switch) is not False:
            yield f"{switch} is not false"
    if any("hostPath" in volume for volume in pod["volumes"]) or pod.get("hostNetwork"):
        yield "it reaches into its node"


def _container_faults(container: Mapping[str, Any], pod: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the container: rights, probes, limits, key."""
    if not pinned(container["image"]):
        yield f"image {container['image']} is not pinned"
    for name, wanted in RESTRICTED.items():
        if container["securityContext"].get(name) != wanted:
            yield f"{name} is not {wanted}"
    for probe, path in (
        ("livenessProbe", "/healthz"),
        ("readinessProbe", "/readyz"),
        ("startupProbe", "/readyz"),
    ):
        if container.get(probe, {}).get("httpGet", {}).get("path") != path:
            yield f"{probe} does not ask {path}"
        if container.get(probe, {}).get("httpGet", {}).get("port") != "probes":
            yield f"{probe} does not ask the port of probes"
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
    scratch = volumes.get(mounts.get("/tmp", ""), {}).get("emptyDir", {})
    if scratch.get("medium") != "Memory" or "sizeLimit" not in scratch:
        yield "/tmp is not memory with a limit"
        return
    if int(given["MACE_WORKERS"]) != int(container["resources"]["requests"]["cpu"]):
        yield "MACE_WORKERS is not the processors requested"
    needed = memory_needed(given, bytes_of(scratch["sizeLimit"]))
    if bytes_of(container["resources"]["limits"]["memory"]) < needed:
        yield f"the memory limit is below the {-(-needed // MIB)}Mi that its settings may come to"
    before = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    if pod["terminationGracePeriodSeconds"] < before + float(given["MACE_DRAIN_LIMIT"]) + AFTER_DRAIN:
        yield f"terminationGracePeriodSeconds is less than preStop, MACE_DRAIN_LIMIT and {AFTER_DRAIN} s"
