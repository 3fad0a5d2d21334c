"""Writes the package of a new plugin, for `parley plugin new`: a command and a tool, with their texts and a test."""

import asyncio
import keyword
import re
import shlex
import shutil
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory
from typing import ClassVar

from agent_core.tools.tool import Tool, tool
from channels.base import OutboundMessage
from gateway.app.chosen_plugins import ChosenPlugins, own_plugins
from gateway.app.plugin_trial import tried
from gateway.commands.command import Command, Invocation, reply
from gateway.errors import ParleyError
from gateway.permissions.rights import LOOK, always
from gateway.plugin import Plugin
from gateway.settings.settings import Settings

TEMPLATES = files("gateway.app") / "new_plugin_files"
LONGEST_NAME = 20
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
"""A name that a command has on every platform, and a Python module, tables and, with hyphens, a package as well."""


def package_of(name: str) -> str:
    """Return the name of the package with a plugin."""
    return f"parley-{name.replace('_', '-')}"


def new_plugin(name: str, folder: Path, installed: Collection[str] = ()) -> None:
    """Write the package into a folder that is not there yet. Blocks.

    Raises ParleyError if the name cannot be used or is that of another plugin, such as one of those `installed`, or if
    the folder exists or cannot be written.
    """
    _check(name, installed)
    asyncio.run(_try(name))
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise ParleyError(
            f"{folder} is there already, and nothing was changed. Choose another one by --folder."
        ) from None
    except OSError as error:
        raise ParleyError(f"{folder} cannot be made: {error.strerror}. Choose another one by --folder.") from error
    try:
        for path, text in _files(name).items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text, "utf-8")
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise ParleyError(f"{folder} cannot be written: {error.strerror}. Choose another one by --folder.") from error


def steps(name: str, folder: Path) -> Iterator[str]:
    """Yield the lines that say what comes next."""
    yield f"Wrote the plugin {name} to {folder}. Install and test it:"
    yield f"  cd {shlex.quote(str(folder))}"
    if find_spec("pytest_asyncio") is None:
        yield f"  {_pip()} pytest pytest-asyncio"
    yield f"  {_pip()} --no-deps -e ."
    yield f"  {sys.executable} -m pytest"
    yield f"  {_parley()} plugin check {name}"
    yield f"Then set PARLEY_PLUGINS={name} and start Parley anew: /{name} answers in every chat, on Slack !{name}."


def _check(name: str, installed: Collection[str]) -> None:
    if not _NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise ParleyError(
            f"A plugin cannot have the name {name!r}. Use at most {LONGEST_NAME} lower-case letters and digits, and _ "
            "between them, and begin with a letter."
        )
    if keyword.iskeyword(name):
        raise ParleyError(f"A plugin cannot have the name {name}, which is a word of Python. Choose another one.")
    if name in {kind.name for kind in own_plugins()}:
        raise ParleyError(f"A plugin with the name {name} comes with Parley. Choose another one.")
    if name in installed:
        raise ParleyError(f"A plugin with the name {name} is installed. Choose another one.")


async def _try(name: str) -> None:
    """Raise ParleyError if what the package would add clashes with what is there."""
    chosen = ChosenPlugins(own_plugins())
    chosen.add(name, lambda: _first(name))
    with TemporaryDirectory(prefix="parley-plugin-") as home:
        await tried(Settings(home=Path(home)), chosen, name)
    if reason := chosen.left_out.get(name):
        raise ParleyError(f"A plugin cannot have the name {name}: {reason}. Choose another one.")


def _first(plugin: str) -> type[Plugin]:
    """Return a plugin with the same names as the one in the package, and a table."""
    key = f"{plugin}_greeting"

    async def nothing(given: Invocation) -> OutboundMessage:
        return reply(given.arguments)

    async def greeting() -> str:
        """Return a greeting."""
        return plugin

    greeting.__name__ = key

    class First(Plugin):
        name = plugin
        texts: ClassVar[Mapping[str, Mapping[str, str]]] = {key: {"en": key, "zh": key}}
        migrations = (f"CREATE TABLE {plugin}_rows (id INTEGER PRIMARY KEY);",)
        tool_names = frozenset({key})

        def commands(self) -> Sequence[Command]:
            return (Command(plugin, {"en": plugin, "zh": plugin}, nothing, rights=always(LOOK)),)

        def tools(self) -> Sequence[Tool]:
            return (tool()(greeting),)

    return First


def _files(name: str) -> Mapping[str, str]:
    """Return the texts of the files by their paths."""
    module = f"parley_{name}"
    words = {
        "name": name,
        "package": package_of(name),
        "module": module,
        "kind": "".join(word.capitalize() for word in name.split("_")) + "Plugin",
    }
    places = {
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
        "plugin.py": f"{module}/plugin.py",
        "texts.py": f"{module}/texts.py",
        "test_plugin.py": f"tests/test_{name}.py",
    }
    made = {path: Template((TEMPLATES / f"{file}.txt").read_text("utf-8")) for file, path in places.items()}
    texts = {path: template.substitute(words) for path, template in made.items()}
    return {f"{module}/__init__.py": f'"""The plugin {name} of Parley."""\n', **texts}


def _pip() -> str:
    """Return the command that installs packages beside Parley."""
    if find_spec("pip") is None:
        return f"uv pip install --python {sys.executable}"
    return f"{sys.executable} -m pip install"


def _parley() -> str:
    """Return the command of Parley, as a person types it in another folder."""
    run, beside = Path(__file__).parents[2] / "run", Path(sys.executable).with_name("parley")
    if shutil.which("parley"):
        return "parley"
    return shlex.quote(str(next((each for each in (run, beside) if each.is_file()), "parley")))
