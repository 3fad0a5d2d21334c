"""`parley upgrade --check`: up to date, newer or not to be known, with what becomes of the database."""

import argparse
import sqlite3
import subprocess
from pathlib import Path

import pytest

from gateway.plugins.upgrade import program as upgrade
from gateway.plugins.upgrade.program import MIGRATIONS, NEWER, UNKNOWN, UP_TO_DATE, look
from gateway.store.opening import FILE, migrations


def _git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True)  # noqa: S603, S607


def _commit(folder: Path, name: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(name)
    _git(folder, "add", "-A")
    _git(folder, "commit", "-m", name)


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    folder = tmp_path / "origin"
    folder.mkdir()
    _git(folder, "init")
    _commit(folder, "README")
    return folder


@pytest.fixture
def checkout(origin: Path, tmp_path: Path) -> Path:
    _git(tmp_path, "clone", str(origin), "checkout")
    return tmp_path / "checkout"


def _home(tmp_path: Path, schema: int) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    with sqlite3.connect(home / FILE) as connection:
        connection.execute(f"PRAGMA user_version = {schema}")
    connection.close()
    return home


def _checked(home: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = upgrade.run({"PARLEY_HOME": str(home)}, home, argparse.Namespace(check=True))
    return code, capsys.readouterr().out


def test_a_checkout_that_has_everything_is_up_to_date(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(upgrade, "ROOT", checkout)
    code, told = _checked(_home(tmp_path, len(migrations())), capsys)
    assert code == UP_TO_DATE
    assert "It is up to date with origin/main." in told
    assert "The database stays as it is." in told


def test_newer_commits_are_counted_and_what_they_change_in_the_database_is_said(
    checkout: Path,
    origin: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _commit(origin, "news")
    _commit(origin, f"{MIGRATIONS}/0900_next.sql")
    monkeypatch.setattr(upgrade, "ROOT", checkout)
    code, told = _checked(_home(tmp_path, len(migrations()) - 1), capsys)

    assert code == NEWER
    assert f"origin/main has 2 commits more. To upgrade: git -C {checkout} pull" in told
    assert "makes 2 changes to the database" in told
    assert "parley backup before-upgrade.zip" in told
    assert not (checkout / "news").exists()


def test_without_the_network_it_says_that_it_does_not_know(checkout: Path, origin: Path) -> None:
    origin.rename(origin.with_name("gone"))
    found = look(checkout)
    assert found.code == UNKNOWN
    assert "It is not known if there is a newer version: the repository cannot be reached" in found.lines[0]


def test_a_checkout_that_follows_no_branch_cannot_be_compared(origin: Path) -> None:
    assert look(origin).code == UNKNOWN


def test_an_installed_package_is_not_compared_with_a_stranger_s_of_the_same_name(tmp_path: Path) -> None:
    found = look(tmp_path)
    assert found.code == UNKNOWN
    assert "look there" in found.lines[0]
