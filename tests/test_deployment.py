"""The files that deploy several nodes agree with the Dockerfile and with the settings."""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent_core.models.providers import PROVIDERS
from gateway.settings.settings import Settings, setting_names
from tests.process import REPOSITORY

IMAGE = (REPOSITORY / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((REPOSITORY / "compose.cluster.yaml").read_text())
ALONE = yaml.safe_load((REPOSITORY / "compose.yaml").read_text())["services"]["parley"]
NODES = {name: service for name, service in COMPOSE["services"].items() if name.startswith("parley")}
MANIFEST = list(yaml.safe_load_all((REPOSITORY / "deploy" / "kubernetes.yaml").read_text()))


def of_image(instruction: str) -> str:
    return str(re.findall(rf"^{instruction} (.*)$", IMAGE, re.MULTILINE)[-1])


def resource(kind: str) -> Any:
    [found] = [each for each in MANIFEST if each["kind"] == kind]
    return found


POD = resource("StatefulSet")["spec"]["template"]["spec"]
[NODE] = POD["containers"]


def environments() -> Iterator[tuple[str, Mapping[str, str]]]:
    for name, service in NODES.items():
        yield name, service["environment"]
    yield "Secret", resource("Secret")["stringData"]
    yield "ConfigMap", resource("ConfigMap")["data"]
    yield "pod", {each["name"]: "parley-0" for each in NODE["env"]}


@pytest.mark.parametrize(("place", "environ"), [*environments()])
def test_each_variable_is_a_setting_or_the_key_of_a_provider(place: str, environ: Mapping[str, str]) -> None:
    keys = {key for provider in PROVIDERS for key in provider.keys}

    assert set(environ) <= setting_names().flat.keys() | keys, place
    assert all(isinstance(value, str) for value in environ.values()), "a number or a boolean would be refused"


# Compose


def test_the_nodes_of_compose_are_as_shut_in_as_the_one_of_the_other_file() -> None:
    for service in NODES.values():
        for name, value in ALONE.items():
            assert service[name] == value or (name == "volumes" and set(value) < set(service[name])), name
        assert "privileged" not in service
        assert "ports" not in service


def test_the_nodes_of_compose_share_the_home_and_the_database_and_differ_in_name_and_port() -> None:
    environs = [service["environment"] for service in NODES.values()]

    assert len(NODES) == 3
    assert len({each["PARLEY_DATABASE_URL"] for each in environs}) == 1
    assert [each["PARLEY_NODE_NAME"] for each in environs] == list(NODES)
    assert len({each["PARLEY_WEB_PORT"] for each in environs}) == 3
    assert all(f"parley:{of_image('VOLUME')}" in service["volumes"] for service in NODES.values())


def test_nodes_start_once_the_database_answers_and_nobody_else_reaches_it() -> None:
    database = COMPOSE["services"]["postgres"]

    assert database["network_mode"] == "none"
    assert "pg_isready" in database["healthcheck"]["test"]
    assert all(each["depends_on"] == {"postgres": {"condition": "service_healthy"}} for each in NODES.values())
    mounted = {volume.partition(":")[0] for each in COMPOSE["services"].values() for volume in each["volumes"]}
    assert mounted == set(COMPOSE["volumes"])


# Kubernetes


def test_the_pods_run_as_the_image_does() -> None:
    user, _, group = of_image("USER").partition(":")
    security = POD["securityContext"]

    assert (security["runAsUser"], security["runAsGroup"], security["fsGroup"]) == (int(user), int(group), int(group))
    assert security["runAsNonRoot"] is True
    assert NODE["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert "command" not in NODE
    assert "args" not in NODE


def test_the_pods_share_the_home_of_the_image() -> None:
    [volume] = [each for each in POD["volumes"] if "persistentVolumeClaim" in each]
    [home] = [each for each in NODE["volumeMounts"] if each["name"] == volume["name"]]

    assert home["mountPath"] == of_image("VOLUME")
    assert volume["persistentVolumeClaim"]["claimName"] == resource("PersistentVolumeClaim")["metadata"]["name"]
    assert resource("PersistentVolumeClaim")["spec"]["accessModes"] == ["ReadWriteMany"]


def test_the_probes_are_the_health_check_of_the_image_and_the_same_for_readiness() -> None:
    check = json.loads(of_image("HEALTHCHECK").partition("CMD ")[2])

    assert NODE["startupProbe"]["exec"]["command"] == check
    assert NODE["livenessProbe"]["exec"]["command"] == check
    assert NODE["readinessProbe"]["exec"]["command"] == [word.replace("/healthz", "/readyz") for word in check]


def test_a_pod_has_more_time_to_end_than_running_answers() -> None:
    drain = int(resource("ConfigMap")["data"]["PARLEY_DRAIN_SECONDS"])

    assert POD["terminationGracePeriodSeconds"] >= drain + 10
    assert drain == Settings.model_fields["drain_seconds"].default


def test_what_the_set_names_exists() -> None:
    named = [each["name"] for source in NODE["envFrom"] for each in source.values()]
    labels = resource("StatefulSet")["spec"]["template"]["metadata"]["labels"]

    assert named == [resource("Secret")["metadata"]["name"], resource("ConfigMap")["metadata"]["name"]]
    assert resource("StatefulSet")["spec"]["serviceName"] == resource("Service")["metadata"]["name"]
    assert resource("StatefulSet")["spec"]["selector"]["matchLabels"] == labels
    assert resource("Service")["spec"]["selector"] == labels
    assert resource("PodDisruptionBudget")["spec"]["selector"]["matchLabels"] == labels


def test_the_command_of_the_page_copies_a_home_into_the_folder_that_is_mounted(tmp_path: Path) -> None:
    home, mounted = tmp_path / ".parley", tmp_path / "mounted"
    (home / "workspaces").mkdir(parents=True)
    (home / ".env").touch(mode=0o600)
    mounted.mkdir()
    page = (REPOSITORY / "docs" / "cluster.md").read_text()
    [command] = re.findall("^cp -a .*$", page, re.MULTILINE)

    copy = command.replace("/mnt/parley", str(mounted))
    subprocess.run(  # noqa: S603 - our own page
        ["/bin/sh", "-c", copy], env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}, check=True
    )

    assert sorted(each.name for each in mounted.iterdir()) == [".env", "workspaces"]
    assert [each.name for each in tmp_path.iterdir() if each != mounted] == ["parley-before"]
