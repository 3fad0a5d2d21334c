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
WAVES = """
from gateway.subcommand import Subcommand

SUBCOMMANDS = {{"wave": Subcommand({})}}
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
def test_of_two_with_the_same_name_the_later_is_left_out_and_told(
    add_plugin: AddPlugin, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    add_plugin("zy_greets", "greet")
    add_plugin("zz_greets", name)

    assert main(["greet", "Ann"]) == 7
    said = capsys.readouterr()
    assert said.out == "Hello, Ann.\n"
    assert said.err == (
        f"parley: The plugin zz_greets adds no commands: there is `parley {name}` already; rename it in its `cli.py`\n"
    )


BAD = {
    "import": ("raise OSError('no greeting here')", "OSError: no greeting here"),
    "exit": ("raise SystemExit(3)", "SystemExit: 3"),
    "nothing": ("", "AttributeError: module 'gateway.plugins.zz_greets.cli' has no attribute 'SUBCOMMANDS'"),
    "no command": ("SUBCOMMANDS = {'wave': 1}", "TypeError: wave is no Subcommand"),
    "arguments": (WAVES.format("'wave', 'zz:run', lambda parser: parser.nothing()"), "AttributeError: "),
    "no words": (WAVES.format("'', 'zz:run'"), "ValueError: wave has no words"),
    "words that the help cannot print": (WAVES.format("'wave 100 %', 'zz:run'"), "ValueError: "),
}


@pytest.mark.parametrize(("cli", "why"), BAD.values(), ids=BAD)
def test_one_whose_commands_cannot_be_used_is_left_out_and_told(
    add_plugin: AddPlugin, tmp_path: Path, capsys: pytest.CaptureFixture[str], cli: str, why: str
) -> None:
    add_plugin("zy_greets", "greet")
    add_plugin("zz_greets", "wave")
    (tmp_path / "zz_greets" / "cli.py").write_text(cli)

    assert main(["greet", "Ann"]) == 7

    said = capsys.readouterr()
    assert said.out == "Hello, Ann.\n"
    assert said.err.startswith(f"parley: The plugin zz_greets adds no commands: {why}")
    assert said.err.count("\n") == 1
    assert " wave " not in help_of(capsys)
