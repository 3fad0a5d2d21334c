"""A plugin adds commands of the program, which are found without importing the plugin itself."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from gateway import plugins
from gateway.cli import main

AddPlugin = Callable[[str, str], None]
LIGHT = """
    from gateway.subcommand import Subcommand

    SUBCOMMANDS = {{
        "{name}": Subcommand(
            "greet somebody", "gateway.plugins.{folder}.greeting:run", lambda parser: parser.add_argument("who")
        )
    }}
"""
HEAVY = """
    def run(environ, cwd, given):
        print(f"Hello, {given.who}.")
        return 7
"""


@pytest.fixture
def add_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AddPlugin]:
    """`add_plugin(folder, command)` adds a plugin with a command of the program until the test ends."""
    monkeypatch.setattr(plugins, "__path__", [*plugins.__path__, str(tmp_path)])
    added = []

    def add(folder: str, name: str) -> None:
        added.append(f"gateway.plugins.{folder}")
        (tmp_path / folder).mkdir()
        files = {"__init__": "", "plugin": "1 / 0", "cli": LIGHT.format(name=name, folder=folder), "greeting": HEAVY}
        for module, text in files.items():
            (tmp_path / folder / f"{module}.py").write_text(dedent(text))

    yield add
    for name in [each for each in sys.modules if each.startswith(tuple(added))]:
        del sys.modules[name]


def help_of(capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    return capsys.readouterr().out


def test_the_command_of_a_plugin_is_in_the_help_and_runs_with_its_arguments(
    add_plugin: AddPlugin, capsys: pytest.CaptureFixture[str]
) -> None:
    add_plugin("zz_greets", "greet")

    assert help_of(capsys).index(" greet ") > help_of(capsys).index(" migrate ")
    assert "gateway.plugins.zz_greets.greeting" not in sys.modules
    assert main(["greet", "Ann"]) == 7
    assert capsys.readouterr().out == "Hello, Ann.\n"


@pytest.mark.parametrize("name", ["doctor", "greet"], ids=["one of ours", "one of another plugin"])
def test_two_of_the_same_name_are_told_in_a_sentence(
    add_plugin: AddPlugin, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    add_plugin("zy_greets", "greet")
    add_plugin("zz_greets", name)

    assert main(["doctor"]) == 2
    assert capsys.readouterr().err == (
        f"parley: The plugin zz_greets adds `parley {name}`, which there is already. Rename it in its `cli.py`.\n"
    )
