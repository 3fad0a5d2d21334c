"""The container's files say what docs/operate.md promises. `.ci/container` carries out their steps."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.process import REPOSITORY

STEPS = (REPOSITORY / "Dockerfile").read_text().replace("\\\n", " ")


def _arguments(instruction: str) -> list[str]:
    return re.findall(rf"^{instruction} (.*)$", STEPS, re.MULTILINE)


def _copied() -> set[str]:
    return {source for line in _arguments("COPY") if "--from" not in line for source in line.split()[:-1]}


def test_the_image_holds_all_packages_and_nothing_that_is_not_needed() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    packages = set(project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"])
    lines = (REPOSITORY / ".dockerignore").read_text().splitlines()
    let_in = {line.removeprefix("!") for line in lines if line.startswith("!")}

    assert packages < _copied()
    assert _copied() == let_in
    assert [name for name in _copied() if not (REPOSITORY / name).exists()] == []


def test_packages_are_installed_with_hashes_only() -> None:
    [install] = [line for line in _arguments("RUN") if "pip install" in line]
    assert "--require-hashes" in install
    assert "requirements-cluster.lock" in install


def test_it_does_not_run_as_root_and_tells_its_health() -> None:
    assert _arguments("USER") == ["10001:10001"]
    assert "/healthz" in _arguments("HEALTHCHECK")[0]
    assert {image.split()[0].split(":")[0] for image in _arguments("FROM")} == {"python"}


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("read_only", True),
        ("stop_grace_period", "30s"),
        ("cap_drop", ["ALL"]),
        ("security_opt", ["no-new-privileges:true"]),
        ("tmpfs", ["/tmp"]),  # noqa: S108 - that of the container
        ("volumes", ["parley:/data"]),
        ("ports", None),
        ("privileged", None),
    ],
)
def test_compose_gives_it_no_more_than_it_needs(setting: str, value: object) -> None:
    service = yaml.safe_load(Path(REPOSITORY / "compose.yaml").read_text())["services"]["parley"]
    assert service.get(setting) == value
