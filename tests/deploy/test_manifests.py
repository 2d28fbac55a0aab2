import copy
from pathlib import Path

import pytest
import yaml
from container_checks import complaints
from manifests import bytes_of, compose_faults, kubernetes_faults, memory_needed, seconds_of

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
MANIFEST = list(yaml.safe_load_all((ROOT / "examples/kubernetes/mace.yaml").read_text()))
MIB = 2**20


def changed(document, path, value):
    """A copy of a document in which one thing is other, or gone if the value is None."""
    made = copy.deepcopy(document)
    *way, last = path
    place = made
    for step in way:
        place = place[step]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return made


def test_all_that_can_be_checked_without_an_engine_is_right():
    assert complaints() == []


def test_sizes_and_durations_are_read_as_compose_and_kubernetes_write_them():
    assert [bytes_of(size) for size in ("7", "64m", "64Mi", "1g", "2Gi")] == [
        7, 64 * MIB, 64 * MIB, 2**30, 2**31,
    ]  # fmt: skip
    assert [seconds_of(duration) for duration in ("40s", "1m30s")] == [40, 90]


def test_the_memory_needed_is_that_of_server_bodies_workers_their_answers_and_tmp():
    given = {"MACE_WORKERS": "3", "MACE_MEMORY_LIMIT": str(100 * MIB), "MACE_SPOOL_LIMIT": str(50 * MIB)}

    assert memory_needed(given, 64 * MIB) == (512 + 50 + 2 * 3 * 100 + 64) * MIB


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        (("services", "mace", "ports"), ["8000:8000"], "published beyond this machine"),
        (("services", "grafana", "ports"), ["0.0.0.0:3000:3000"], "published beyond this machine"),
        (("services", "mace", "read_only"), False, "mace.read_only is false"),
        (("services", "prometheus", "cap_drop"), None, "prometheus.cap_drop is null"),
        (("services", "mace", "cap_add"), ["NET_ADMIN"], "mace.cap_add is"),
        (("services", "mace", "security_opt"), [], "gain privileges"),
        (("services", "mace", "pids_limit"), None, "pids_limit is not set"),
        (("services", "mace", "mem_limit"), "2g", "mem_limit is below the 5184m"),
        (("services", "mace", "cpus"), 4, "MACE_WORKERS is not cpus"),
        (("services", "mace", "stop_grace_period"), "10s", "stop_grace_period is less"),
        (("services", "mace", "environment", "MACE_API_KEY"), "0123456789abcdef", "a key stands in the file"),
        (("services", "grafana", "image"), "grafana/grafana:latest", "is not pinned"),
        (("services", "grafana", "profiles"), None, "starts something else"),
        (("services", "grafana", "environment", "GF_ANALYTICS_REPORTING_ENABLED"), "true", "REPORTING_ENABLED"),
        (("services", "grafana", "environment", "GF_PLUGINS_PREINSTALL_DISABLED"), None, "PREINSTALL_DISABLED"),
        (("services", "grafana", "environment", "GF_AUTH_ANONYMOUS_ORG_ROLE"), "Admin", 'not "Viewer"'),
    ],
)
def test_a_fault_of_compose_is_found(path, value, complaint):
    found = list(compose_faults(changed(COMPOSE, path, value)))

    assert any(complaint in fault for fault in found), found


POD = (0, "spec", "template", "spec")
INSIDE = (*POD, "containers", 0)


def test_the_kubernetes_manifest_has_no_fault():
    assert list(kubernetes_faults(MANIFEST)) == []


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        ((0, "spec", "template", "metadata", "labels"), {"a": "b"}, "selects other pods"),
        ((1, "spec", "selector"), {"app.kubernetes.io/name": "other"}, "Service selects other pods"),
        ((1, "spec", "ports", 0, "targetPort"), "web", "a port that the container does not name"),
        ((2, "spec", "policyTypes"), ["Ingress"], "lets something out"),
        ((2, "spec", "egress"), [{}], "lets something out"),
        ((2, "spec", "egress", 0, "to"), None, "lets something out"),
        ((2, "spec", "egress", 0, "ports", 0, "port"), 443, "lets something out"),
        ((1, "spec", "sessionAffinity"), "ClientIP", "need not be"),
        ((*INSIDE, "env", 2, "name"), "MACE_DATA", "no client is kept with its own"),
        ((*INSIDE, "env", 2, "name"), "MACE_STORE", "store does not come from a Secret"),
        ((*POD, "volumes", 2), {"name": "store", "emptyDir": {}}, "store does not come from a Secret"),
        ((2, "spec", "ingress", 0, "from"), None, "lets anybody in"),
        ((3, "kind"), "Other", "has no PodDisruptionBudget"),
        ((*POD, "securityContext", "runAsNonRoot"), False, "runAsNonRoot is false"),
        ((*POD, "securityContext", "seccompProfile"), None, "seccompProfile.type is null"),
        ((*POD, "enableServiceLinks"), None, "enableServiceLinks is null"),
        ((*POD, "automountServiceAccountToken"), True, "automountServiceAccountToken is true"),
        ((*POD, "terminationGracePeriodSeconds"), 30, "terminationGracePeriodSeconds is less"),
        ((*POD, "securityContext", "runAsUser"), None, "may run as root"),
        ((*POD, "hostNetwork"), True, "hostNetwork is true"),
        ((*POD, "volumes", 1), {"name": "key", "hostPath": {}}, "reaches into its node"),
        ((*POD, "volumes", 0, "emptyDir"), {}, "/tmp is not memory"),
        ((*POD, "volumes", 1), {"name": "key", "emptyDir": {}}, "does not come from a Secret"),
        ((*INSIDE, "image"), "mace:latest", "is not pinned"),
        ((*INSIDE, "securityContext", "readOnlyRootFilesystem"), False, "readOnlyRootFilesystem"),
        ((*INSIDE, "securityContext", "capabilities"), None, "capabilities"),
        ((*INSIDE, "readinessProbe", "httpGet", "path"), "/healthz", "readinessProbe.httpGet.path is"),
        ((*INSIDE, "livenessProbe"), None, "livenessProbe.httpGet.path is null"),
        ((*INSIDE, "resources", "limits", "memory"), "1Gi", "below the 5184Mi"),
        ((*INSIDE, "resources", "requests", "cpu"), "4", "MACE_WORKERS is not"),
        ((*INSIDE, "env", 1, "name"), "MACE_API_KEY", "does not come from a Secret"),
        ((*INSIDE, "livenessProbe", "httpGet", "port"), "http", "livenessProbe.httpGet.port is"),
        ((*INSIDE, "env", 0, "value"), "8002", "MACE_PROBE_PORT is not the port of probes"),
    ],
)
def test_a_fault_of_the_kubernetes_manifest_is_found(path, value, complaint):
    found = list(kubernetes_faults(changed(MANIFEST, path, value)))

    assert any(complaint in fault for fault in found), found
