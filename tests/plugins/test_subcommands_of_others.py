"""Approved plugins of others add commands of the program, and none of them is in the way of the others."""

import pytest

from gateway.permissions.approved_plugins import ApprovedPlugins
from tests.plugins.packages import Packages
from tests.plugins.test_plugins_of_others import COINS, DICE

CLI = """
from gateway.subcommand import Subcommand

SUBCOMMANDS = {"roll": Subcommand("roll a die", "parley_dice.rolling:run", lambda parser: parser.add_argument("sides"))}
"""
ROLLING = """
def run(environ, cwd, given):
    print(f"a die of {given.sides}")
    return 7
"""
BAD = {
    "import": ("raise OSError('no dice here')", "OSError: no dice here"),
    "exit": ("raise SystemExit(3)", "SystemExit: 3"),
    "nothing": ("", "AttributeError: module 'parley_dice.cli' has no attribute 'SUBCOMMANDS'"),
    "no command": ("SUBCOMMANDS = {'roll': 1}", "TypeError: roll is no Subcommand"),
    "arguments": (CLI.replace("parser.add_argument", "parser.no_such_method"), "AttributeError: 'ArgumentParser'"),
    "words": (CLI.replace("roll a die", ""), "roll has no words for the help"),
    "words that the help cannot print": (CLI.replace("roll a die", "roll 100 %"), "incomplete format"),
    "one of ours": (CLI.replace('"roll"', '"doctor"'), "there is `parley doctor` already"),
}


def install(packages: Packages, cli: str = CLI, plugin: str = DICE) -> None:
    packages.install_folder({"__init__.py": plugin, "cli.py": cli, "rolling.py": ROLLING})


def test_a_command_of_an_approved_plugin_is_in_the_help_and_runs(packages: Packages) -> None:
    install(packages)

    assert packages.parley("roll", "6", plugins="dice") == (7, "a die of 6\n")
    code, said = packages.parley("--help", plugins="dice")
    assert code == 0
    assert "roll a die" in said


def test_nothing_of_it_is_imported_for_other_commands(packages: Packages) -> None:
    install(packages, plugin=f"open({str(packages.home / 'imported')!r}, 'w').close()\n{DICE}")

    packages.parley("plugin", "list", plugins="dice")

    assert not (packages.home / "imported").exists()


@pytest.mark.parametrize("state", ["not named", "switched off", "not approved"])
def test_nothing_of_one_that_is_not_loaded_is_imported(packages: Packages, state: str) -> None:
    install(packages)
    if state == "not approved":
        packages.chosen(["dice"])
    install(packages, plugin=f"open({str(packages.home / 'imported')!r}, 'w').close()\n{DICE}")

    named = {} if state == "not named" else {"plugins": "dice"}
    code, said = packages.parley("roll", "6", **named, off="dice" if state == "switched off" else "")

    assert code == 2
    assert "invalid choice: 'roll'" in said
    assert not (packages.home / "imported").exists()
    assert ApprovedPlugins(packages.home).approved("dice") is None or state == "not approved"


@pytest.mark.parametrize(("cli", "why"), BAD.values(), ids=BAD)
def test_one_whose_commands_cannot_be_read_is_told_only_when_a_command_is_not_found(
    packages: Packages, cli: str, why: str
) -> None:
    install(packages, cli)
    packages.install(COINS, name="coins")

    code, said = packages.parley("roll", "6", plugins="dice, coins")
    assert code == 2
    assert f"parley: The plugin dice adds no commands: {why}" in said
    assert "Traceback" not in said
    code, said = packages.parley("--help", plugins="dice, coins")
    assert code == 0
    assert "The plugin dice" not in said
    assert packages.parley("plugin", "list", plugins="dice, coins")[0] == 0


def test_the_help_is_printed_with_settings_that_cannot_be_read(packages: Packages) -> None:
    (packages.home / "parley.toml").write_text("what = [")

    code, said = packages.parley("--help")

    assert code == 0
    assert "start Parley with the page" in said
