"""Makes plugins in the order of what they need, and reads what they add.

What goes wrong is a `PluginFailed` with the name of the plugin, so that one of others can be left out.
"""

import re
from collections import Counter
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache, partial
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from threading import Thread
from typing import TypeVar

from msgspec.structs import replace

from agent_core.background import done_within
from agent_core.models.llm import ToolSpec
from agent_core.tasks import Report
from agent_core.tools.tool import Tool
from gateway.admin.screen import Screen
from gateway.app.plugin_commands import commands_in, presses_in
from gateway.commands.command import Command, in_order
from gateway.permissions.installed_plugins import HOME
from gateway.plugin import Core, Duty, Plugin, Running
from gateway.records.plugin_failures import PluginFailures, Unfit, check_each, expect, listed, reason_of
from gateway.runs.errands import Errand, Then
from gateway.runs.owed import Doer, Kinds, OwedWork
from gateway.runs.run_buttons import RunButton
from gateway.store.connection import Connection
from gateway.store.owed import Owed
from gateway.store.own_tables import OwnTables
from gateway.store.plugin_tables import PluginTables
from gateway.store.rows import Post, Run, RunEnd
from gateway.texts.findings import add_findings, wrong_with_finding
from gateway.texts.say import LANGUAGES, add_texts, say, wrong_with_text

WAITS = 30.0
"""Longest time in seconds for the import of a plugin of others, and for each of its methods that is read at a start."""
OWED_WITHIN = 300.0
"""Longest time in seconds for one attempt at what a chat is owed, such as speech, which a server takes minutes for."""
_SCREEN = re.compile(r"[a-z][a-z0-9_-]*")
"""The name of a screen."""
T = TypeVar("T")


class PluginFailed(ValueError):
    """A plugin cannot be used. `plugin` is its name, and the message says why."""

    def __init__(self, plugin: str, reason: str, member: str = "", *, also: Sequence[str] = ()) -> None:
        super().__init__(reason)
        self.plugin = plugin
        self.member = member
        """The member of its class that is wrong; empty if that is all of it."""
        self.also = also
        """The other mistakes in this member."""

    @classmethod
    def by(cls, plugin: str, error: BaseException, member: str = "") -> "PluginFailed":
        """Return the failure that something its code raised is."""
        return cls(plugin, reason_of(error), member, also=error.also if isinstance(error, Unfit) else ())


@contextmanager
def blamed(plugin: str, member: str = "") -> Iterator[None]:
    """Raise PluginFailed for whatever the plugin's own code raises in a member of its class, an exit included."""
    try:
        yield
    except PluginFailed as error:
        error.member = error.member or member
        raise
    except (Exception, SystemExit) as error:
        raise PluginFailed.by(plugin, error, member) from error


def is_ours(kind: type[Plugin]) -> bool:
    """Return True for a plugin that comes with Parley."""
    return kind.__module__.startswith(f"{HOME}.")


def asked(kind: type[Plugin], member: str, call: Callable[[], T]) -> T:
    """Return what a method of a plugin returns. Raises PluginFailed if it raises, or takes too long."""
    with blamed(kind.name, member):
        return call() if is_ours(kind) else in_time(kind.name, "one of its methods", call)


def in_time(plugin: str, what: str, call: Callable[[], T]) -> T:
    """Return what code of a plugin returns, which runs in a thread of its own. Raises PluginFailed.

    A thread that takes too long is left alone.
    """
    done: Future[T] = Future()
    context = copy_context()

    def run() -> None:
        try:
            done.set_result(context.run(call))
        except BaseException as error:  # noqa: BLE001 (an exit, too, would end this thread silently)
            failed = PluginFailed.by(plugin, error)
            failed.__cause__ = error
            done.set_exception(failed)

    Thread(target=run, name=f"plugin {plugin}", daemon=True).start()
    try:
        return done.result(WAITS)
    except TimeoutError:
        raise PluginFailed(plugin, f"{what} took more than {WAITS:g} seconds") from None


def _all(what: str, items: Callable[[], Iterable[T]]) -> Sequence[T]:
    return listed(what, items())


def make(kinds: Iterable[type[Plugin]], core: Core, last: Collection[str] = ()) -> Sequence[Plugin]:
    """Make the plugins, each after those that it needs, and let `say` and `finding_in` know their texts.

    Of two that do not fit together the later one is blamed; those in `last` come behind all others. Raises PluginFailed
    if two have the same name or text, if one needs what is missing, if they need each other, or if one cannot be made.
    """
    by_name: dict[str, type[Plugin]] = {}
    for kind in kinds:
        if by_name.setdefault(kind.name, kind) is not kind:
            raise PluginFailed(kind.name, f"two plugins have the name {kind.name}")
    for name, kind in by_name.items():
        if missing := sorted(kind.needs - by_name.keys()):
            raise PluginFailed(name, f"the plugin {name} needs {', '.join(missing)}, which is not there", "needs")
    try:
        order = list(TopologicalSorter({name: sorted(kind.needs) for name, kind in by_name.items()}).static_order())
    except CycleError as error:
        circle = error.args[1]
        raise PluginFailed(circle[0], f"plugins need each other: {' -> '.join(circle)}", "needs") from None
    order.sort(key=lambda name: name in last)
    for name in order:
        with blamed(name, "texts"):
            check_each(by_name[name].texts.items(), lambda item: wrong_with_text(*item))
            add_texts(by_name[name].texts)
        if by_name[name].findings:
            _add_findings(by_name[name])
    made = ((kind, partial(kind, _core_of(kind, core))) for kind in map(by_name.__getitem__, order))
    return tuple([asked(kind, "__init__", making) for kind, making in made])


def _add_findings(kind: type[Plugin]) -> None:
    """Let `finding_in` know what the plugin finds. Raises PluginFailed."""

    def wrong_with(text: Mapping[str, str]) -> Iterator[str]:
        expect(text, Mapping, "an item of findings")
        yield from wrong_with_finding(text)

    with blamed(kind.name, "findings"):
        expect(kind.findings, Sequence, "the attribute findings")
        check_each(kind.findings, wrong_with)
        add_findings(kind.name, kind.findings)


def _core_of(kind: type[Plugin], core: Core) -> Core:
    """Return what a plugin is given: further tables that it makes of the store reach its own rows only."""
    own = OwnTables(_tables(kind))
    return replace(core, store=core.store.of_plugin(own))


def tables_of(kinds: Iterable[type[Plugin]]) -> Sequence[PluginTables]:
    """Return the tables of the plugins that have some. Raises PluginTablesRefused."""
    return tuple(_tables(kind) for kind in kinds if kind.migrations or kind.unfinished)


def _tables(kind: type[Plugin]) -> PluginTables:
    return _checked(kind.name, tuple(kind.migrations), is_ours(kind), kind.unfinished)


_checked = cache(PluginTables)
"""Tables are checked when they are made, which is asked for more than once at a start."""


def run_buttons_of(plugins: Iterable[Plugin]) -> Sequence[RunButton]:
    """Return the buttons about runs that the plugins offer. Raises PluginFailed."""
    found: list[RunButton] = []
    for plugin in plugins:
        with blamed(plugin.name, "run_buttons"):
            if not all(isinstance(button, RunButton) for button in plugin.run_buttons):
                raise PluginFailed(plugin.name, f"the plugin {plugin.name} has a button about runs that is none")
            if sum(button.place == "answer" for button in plugin.run_buttons) not in {0, 2}:
                raise PluginFailed(plugin.name, f"the plugin {plugin.name} has not two buttons that rate an answer")
            found += plugin.run_buttons
    return tuple(found)


def tools_of(
    plugins: Iterable[Plugin], failures: PluginFailures, taken: Collection[str] = (), reserved: Collection[str] = ()
) -> Sequence[Tool]:
    """Return the tools of the plugins, whose failures are kept.

    `taken` are the names of all other tools, `reserved` those to which rules of permissions refer, which no plugin of
    others may use.

    Raises PluginFailed if two have the same name, or if one is not in the `tool_names` of its plugin.
    """
    found: dict[str, Tool] = {}

    def wrong_with(plugin: Plugin, tool: Tool) -> Iterator[str]:
        expect(tool, Tool, "an item of tools()")
        if not is_ours(type(plugin)):
            expect(tool.spec, ToolSpec, "the spec of a tool")  # made now: a wrong schema is found at the start
        if tool.name not in plugin.tool_names:
            yield f"the plugin {plugin.name} has a tool {tool.name}, which its tool_names do not name"
        if tool.name in taken or (tool.name in reserved and not is_ours(type(plugin))):
            yield f"Parley itself has a tool {tool.name}"
        elif found.setdefault(tool.name, tool) is not tool:
            yield f"two plugins have a tool {tool.name}"
        tool.failed = partial(failures.keep, plugin.name, tool.name)

    for plugin in plugins:
        tools = asked(type(plugin), "tools", partial(_all, "the result of tools()", plugin.tools))
        with blamed(plugin.name, "tools"):
            check_each(tools, partial(wrong_with, plugin))
    return tuple(found.values())


def commands_of(
    plugins: Iterable[Plugin], others: Iterable[Command], failures: PluginFailures
) -> Mapping[str, Sequence[Command]]:
    """Return the commands and presses of the plugins, by the plugin's name. `others` are those of Parley itself.

    Raises PluginFailed if two commands have the same name.
    """
    found: dict[str, Sequence[Command]] = {}
    taken = {command.name for command in others}
    for plugin in plugins:
        commands: list[Command] = []
        for member, read in (("commands", commands_in), ("presses", presses_in)):
            some = asked(
                type(plugin), member, partial(_all, f"the result of {member}()", partial(read, plugin, failures))
            )
            with blamed(plugin.name, member):
                names = Counter([*taken, *(each.name for each in some)])
                twice = [f"two commands have the name /{name}" for name, count in names.items() if count > 1]
                if twice:
                    raise Unfit(*twice)
                taken |= names.keys()
                found[plugin.name] = commands = [*commands, *some]
                if any(each.after for each in some):
                    in_order(chain.from_iterable(found.values()))
    return found


def register_owed(plugins: Iterable[Plugin], work: OwedWork, failures: PluginFailures) -> None:
    """Let what chats are owed be done by the plugins, behind the kinds of Parley itself.

    Raises PluginFailed if two do the same kind.
    """
    for plugin in plugins:
        with blamed(plugin.name, "owed"):
            owed = asked(type(plugin), "owed", plugin.owed)
            doers = {kind: partial(_attempt, failures, plugin, doer) for kind, doer in owed.items()}
            ended = partial(_owed_at_end, plugin, failures) if type(plugin).ended is not Plugin.ended else None
            sent = partial(_owed_for, plugin, failures) if type(plugin).sent is not Plugin.sent else None
            work.register(Kinds(plugin.name, doers, ended, sent))


async def _attempt(failures: PluginFailures, plugin: Plugin, doer: Doer, item: Owed) -> Sequence[Post] | Errand:
    async def attempted() -> Sequence[Post] | Errand:
        return await doer(item)

    with failures.kept(plugin.name, item.kind):
        done = await done_within(attempted(), OWED_WITHIN, plugin.core.clock)
        if isinstance(done, Errand):
            return replace(done, then=partial(_told, failures, plugin, item.kind, done.then))
        return _posts(item.kind, done)


async def _told(failures: PluginFailures, plugin: Plugin, kind: str, then: Then, report: Report) -> Sequence[Post]:
    async def told() -> Sequence[Post]:
        return await then(report)

    with failures.kept(plugin.name, kind):
        return _posts(kind, await done_within(told(), OWED_WITHIN, plugin.core.clock))


def _posts(kind: str, done: Sequence[Post]) -> Sequence[Post]:
    posts = listed(f"the result of {kind}", done)
    for post in posts:
        expect(post, Post, f"a message of {kind}")
    return posts


def _owed_at_end(
    plugin: Plugin, failures: PluginFailures, run: Run, how: RunEnd, connection: Connection
) -> Sequence[Owed]:
    with failures.kept(plugin.name, "ended"):
        return tuple(plugin.ended(run, how, plugin.core.store.limited(connection)))


def _owed_for(plugin: Plugin, failures: PluginFailures, post: Post, connection: Connection) -> Sequence[Owed]:
    with failures.kept(plugin.name, "sent"):
        return tuple(plugin.sent(post, plugin.core.store.limited(connection)))


def duties_of(
    plugins: Iterable[Plugin], running: Running, failures: PluginFailures
) -> Mapping[str, Mapping[str, Duty]]:
    """Return the duties of the plugins, by the plugin's name and their own. Raises PluginFailed."""
    found: dict[str, Mapping[str, Duty]] = {}
    for plugin in plugins:
        duties = asked(type(plugin), "duties", partial(plugin.duties, running))
        with blamed(plugin.name, "duties"):
            expect(duties, Mapping, "the result of duties()")
            uncallable = {name: duty for name, duty in duties.items() if not callable(duty)}
            if uncallable:
                raise Unfit(
                    *(
                        f"the duty {name} should be of the type Callable, not {type(duty).__name__}"
                        for name, duty in uncallable.items()
                    )
                )
            found[plugin.name] = {name: failures.keeping(plugin.name, name, duty) for name, duty in duties.items()}
    return found


def screens_of(plugins: Iterable[Plugin]) -> Mapping[str, Sequence[Screen]]:
    """Return the screens of the plugins, by the plugin's name.

    Raises PluginFailed if two have the same name, or if one has no title or a name that cannot be in an address.
    """
    found: dict[str, Sequence[Screen]] = {}
    taken: set[str] = set()

    def wrong_with(plugin: Plugin, screen: Screen) -> Iterator[str]:
        title = f"page_{screen.name}"
        if isinstance(screen, type):
            yield f"the screen {screen.name} is a class, not an instance of one"
        if not _SCREEN.fullmatch(screen.name):
            yield f"the name of the screen {screen.name} is not made of a-z, 0-9, - and _"
        if screen.name in taken:
            yield f"two plugins have a screen {screen.name}"
        taken.add(screen.name)
        if title not in plugin.texts:
            yield f"the screen {screen.name} has no title, the text {title}"
            return
        for language in LANGUAGES:
            say(title, language)

    for plugin in plugins:
        screens = asked(type(plugin), "screens", partial(_all, "the result of screens()", plugin.screens))
        with blamed(plugin.name, "screens"):
            check_each(screens, partial(wrong_with, plugin))
            found[plugin.name] = screens
    return found
