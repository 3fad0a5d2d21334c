"""Lists the plugins of this start, with what became of each and what it adds."""

import asyncio
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from msgspec.structs import replace

from agent_core.tools.tool import Tool
from gateway.admin.screen import Screen
from gateway.app.chosen_plugins import ChosenPlugins
from gateway.app.plugins import tables_of
from gateway.commands.command import Command
from gateway.commands.plugin_words import MOMENTS, AbsentPlugin, Added, ListedPlugin, State, absent
from gateway.permissions.approved_plugins import ApprovedPlugins
from gateway.permissions.installed_plugins import Content, content_of, installed_plugins, names_of_ours
from gateway.permissions.rights import OTHERWISE, Right
from gateway.plugin import Duty, Plugin
from gateway.settings.plugin_settings import settings_of


class ListedPlugins:
    """The plugins of this start. What they add is noted once it was read."""

    def __init__(self, chosen: ChosenPlugins, approved: ApprovedPlugins) -> None:
        self._chosen = chosen
        self._approved = approved
        self._known = approved.commands()
        self.commands: Mapping[str, Sequence[Command]] = {}
        """The commands of each."""
        self.duties: Mapping[str, Mapping[str, Duty]] = {}
        """The duties of each."""
        self.screens: Mapping[str, Sequence[Screen]] = {}
        """The screens of each."""
        self.owed: Mapping[str, Sequence[str]] = {}
        """The kinds of what chats are owed that each does."""
        self.tools: Mapping[str, Tool] = {}
        """All tools, by name."""

    def __call__(self) -> Sequence[ListedPlugin]:
        """Return all, by name. What is installed of those of others is what the start has found."""
        chosen, ours = self._chosen, names_of_ours()
        listed = [self._on(kind, is_ours=kind.name in ours) for kind in chosen.kinds]
        listed += [ListedPlugin(name, State.OFF, is_ours=name in ours) for name in chosen.off]
        on_or_off = {each.name for each in listed}
        for name, reason in chosen.left_out.items():
            state, content = State.CHANGED if name in chosen.changed else State.LEFT_OUT, chosen.contents.get(name)
            is_ours = name in ours and name not in on_or_off
            listed.append(ListedPlugin(name, state, is_ours=is_ours, content=content, reason=reason))
        return sorted(listed, key=lambda each: each.name)

    async def absent(self, command: str) -> AbsentPlugin | None:
        """Return the plugin whose command this would be, if it is not loaded, though the settings name it.

        One that was never loaded is taken to have a command of its own name.
        """
        gone = [each.name for each in self() if each.state is not State.ON]
        name = next((each for each in gone if command in self._known.get(each, (each,))), None)
        if name is None:
            return None
        listed = await asyncio.to_thread(self.now)
        return next(absent(each, self._approved.approved(name)) for each in listed if each.name == name)

    def now(self) -> Sequence[ListedPlugin]:
        """Return all as `__call__` does, but with what is installed now of those of others. Blocks.

        Of those that the settings do not name nothing but the name is read.
        """
        installed, listed = installed_plugins(), self()
        others = installed.keys() - {each.name for each in listed}
        listed = [*listed, *(ListedPlugin(name, State.NOT_NAMED, is_ours=False) for name in others)]
        found: dict[str, Content] = {}
        for name in self._chosen.named:
            match installed.get(name, ()):
                case [only]:
                    try:
                        found[name] = content_of(only)
                    except (OSError, ImportError, ValueError):
                        continue  # as while it is being installed
        known = [each if each.is_ours else replace(each, installed=found.get(each.name)) for each in listed]
        return sorted(known, key=lambda each: each.name)

    def _on(self, kind: type[Plugin], *, is_ours: bool) -> ListedPlugin:
        commands = self.commands.get(kind.name, ())
        return ListedPlugin(
            kind.name,
            State.ON,
            is_ours=is_ours,
            content=self._chosen.contents.get(kind.name),
            commands=[_of_command(each) for each in commands if not each.hidden],
            tools=[_of_tool(name, self.tools) for name in sorted(kind.tool_names)],
            presses=[_of_command(each) for each in commands if each.hidden],
            screens=[each.name for each in self.screens.get(kind.name, ())],
            settings=[each.variable for each in settings_of(kind.name, kind.settings)] if kind.settings else [],
            models=[each.name for each in self._chosen.models.of(kind.name)],
            mistyped=_mistyped(kind),
            duties=list(self.duties.get(kind.name, ())),
            moments=[each for each in MOMENTS if getattr(kind, each) is not getattr(Plugin, each)],
            owed=self.owed.get(kind.name, ()),
            paths=sorted([*kind.paths, *kind.open_paths, *kind.scripts]),
            tables=sorted({table for each in tables_of([kind]) for table in each.made}),
            failures=self._chosen.failures.of(kind.name),
        )


def _mistyped(kind: type[Plugin]) -> Mapping[str, str]:
    """Return the members of a plugin that look like one of `Plugin` which it lacks, with that one."""
    known = {name for name in (*vars(Plugin), *Plugin.__annotations__) if not name.startswith("_")}
    own = [name for name in vars(kind) if not name.startswith("_") and name not in known]
    lacking = known - vars(kind).keys()
    return {name: meant for name in own for meant in get_close_matches(name, lacking, n=1, cutoff=0.8)}


def _of_command(command: Command) -> Added:
    return Added(f"/{command.name}", command.rights.forms)


def _of_tool(name: str, tools: Mapping[str, Tool]) -> Added:
    tool = tools.get(name)
    forms = {OTHERWISE: Right(tool.acts, None, None)} if tool else {}
    return Added(name, forms, is_untrusted=tool is not None and tool.untrusted)
