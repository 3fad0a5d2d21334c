"""The lock files match pyproject.toml and name no index, and the repository is not tied to one machine."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.process import REPOSITORY

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
DEPENDENCIES: list[str] = PROJECT["project"]["dependencies"]
CLUSTER: list[str] = PROJECT["project"]["optional-dependencies"]["cluster"]
DEV: list[str] = PROJECT["dependency-groups"]["dev"]
PIN = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>[\w.!+]+)(?: ; [^\\]+)? \\$")

LOCAL_PATHS = ("/" + "work/", "/" + "root/")
INDEXES = ("pypi" + ".org", "python" + "hosted.org", "registry.npm" + "js.org", "/simple" + "/")


def pins(lock: str) -> dict[str, Version]:
    lines = (REPOSITORY / lock).read_text("utf-8").splitlines()
    return {canonicalize_name(pin["name"]): Version(pin["version"]) for line in lines if (pin := PIN.match(line))}


@pytest.mark.parametrize(
    ("lock", "wanted"),
    [
        ("requirements.lock", DEPENDENCIES),
        ("requirements-cluster.lock", [*DEPENDENCIES, *CLUSTER]),
        ("requirements-dev.lock", [*DEPENDENCIES, *DEV]),
    ],
)
def test_the_lock_pins_every_dependency_within_its_range(lock: str, wanted: list[str]) -> None:
    pinned = pins(lock)

    for requirement in map(Requirement, wanted):
        version = pinned.get(canonicalize_name(requirement.name))
        assert version, f"{lock} lacks {requirement}; CONTRIBUTING.md says how to make it anew"
        assert requirement.specifier.contains(version), f"{lock} pins {version} against {requirement}"


def test_what_is_tested_is_what_is_installed() -> None:
    plain, cluster, everything = map(pins, ("requirements.lock", "requirements-cluster.lock", "requirements-dev.lock"))

    assert plain.items() <= cluster.items() <= everything.items()


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-cluster.lock", "requirements-dev.lock"])
def test_the_lock_holds_pins_with_hashes_and_nothing_else(lock: str) -> None:
    """No index, link or file: the user decides where packages come from, and the hashes decide which."""
    lines = (REPOSITORY / lock).read_text("utf-8").splitlines()

    strange = [line for line in lines if not PIN.match(line) and not re.match(r"^    --hash=sha256:[0-9a-f]{64}", line)]
    bare = [
        line for line, after in zip(lines, [*lines[1:], ""], strict=True) if PIN.match(line) and "--hash" not in after
    ]

    assert strange == []
    assert bare == []


def test_the_stolen_litellm_can_not_come_back() -> None:
    (litellm,) = (Requirement(text) for text in DEPENDENCIES if text.startswith("litellm"))

    for stolen in ("1.82.7", "1.82.8"):
        assert not litellm.specifier.contains(stolen)
        assert pins("requirements.lock")["litellm"] != Version(stolen)


def committed() -> list[Path]:
    if not (REPOSITORY / ".git").exists():
        pytest.skip("not a checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True)  # noqa: S607
    return [path for name in listed.stdout.split("\0") if name and (path := REPOSITORY / name).is_file()]


def test_no_file_is_tied_to_a_machine_or_to_an_index() -> None:
    texts = {path: path.read_bytes().decode("utf-8", "replace") for path in committed()}

    assert [
        f"{path.relative_to(REPOSITORY)}: {word}"
        for path, text in texts.items()
        for word in (*LOCAL_PATHS, *INDEXES)
        if word in text
    ] == []
