"""Finds mistakes of authors that no start sees, as something of a plugin fails only when it is used."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from inspect import getmembers, iscoroutinefunction
from itertools import chain
from typing import TypeVar

from agent_core.tools.tool import FunctionTool, is_not_async
from gateway.app.plugins import PluginFailed, asked
from gateway.plugin import Plugin, Running
from gateway.store.plugin_tables import Migration, PluginTablesTooNew

T = TypeVar("T")


def mistakes(plugin: Plugin, running: Running) -> Iterator[str]:
    """Yield what is wrong with a plugin that was made. Its methods are called once more."""
    for what, function in chain(_of_chats(plugin), _of_others(plugin, running)):
        if is_not_async(function):
            yield f"{what} is `def`, and has to be `async def`"
    for tool in _read(plugin, "tools", plugin.tools):
        if isinstance(tool, FunctionTool):
            yield from tool.mistakes()


def compared(kind: type[Plugin], applied: Sequence[Migration]) -> Iterator[str]:
    """Yield what is wrong with the migrations of a plugin, given those that the store has had of all plugins."""
    before = [each.sql for each in applied if each.plugin == kind.name]
    if len(before) > len(kind.migrations):
        yield str(PluginTablesTooNew(kind.name, len(before), len(kind.migrations)))
    for number, (was, now) in enumerate(zip(before, kind.migrations, strict=False), start=1):
        if was.split() != now.split():
            yield f"migration {number} of the plugin {kind.name} is not the one that was applied to the store"


def _of_chats(plugin: Plugin) -> Iterator[tuple[str, Callable[..., object]]]:
    """Yield what is awaited for a message, a command or a press."""
    for moment, _ in getmembers(Plugin, iscoroutinefunction):
        yield f"its {moment}", getattr(plugin, moment)
    for command in _read(plugin, "commands", plugin.commands):
        yield f"what /{command.name} runs", command.run
        if command.suggest is not None:
            yield f"what suggests values for /{command.name}", command.suggest
    for kind in _read(plugin, "reports", plugin.reports):
        yield f"what makes the report {kind.name}", kind.make
    for press in _read(plugin, "presses", plugin.presses):
        yield f"what a press of {press.topic} runs", press.run


def _of_others(plugin: Plugin, running: Running) -> Iterator[tuple[str, Callable[..., object]]]:
    """Yield what is awaited beside that."""
    for screen in _read(plugin, "screens", plugin.screens):
        yield f"the view of the screen {screen.name}", screen.view
    for path, route in _read(plugin, "routes", lambda: plugin.routes(running).items()):
        yield f"the route {path}", route
    for name, duty in _read(plugin, "duties", lambda: plugin.duties(running).items()):
        yield f"the duty {name}", duty
    for kind, doer in _read(plugin, "owed", lambda: plugin.owed().items()):
        yield f"what does the owed {kind}", doer


def _read(plugin: Plugin, member: str, call: Callable[[], Iterable[T]]) -> Sequence[T]:
    """Return what a method returns, or nothing if it does not do so again."""
    try:
        return asked(type(plugin), member, lambda: tuple(call()))
    except PluginFailed:
        return ()
