"""The command /plugins: which plugins there are, what each adds, and the approval of what is installed of one."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import structlog

from channels.base import Button, OutboundMessage
from channels.commands import Suggestion
from channels.text import literal
from gateway.chat.replies import Answer
from gateway.commands.command import Command, Invocation, Unfinished, reply, rewritten
from gateway.permissions.approved_plugins import ApprovedPlugins
from gateway.permissions.installed_plugins import Content
from gateway.permissions.rights import OTHERWISE, Right, Rights
from gateway.permissions.roles import Role
from gateway.texts.plugin_reasons import reason_in
from gateway.texts.say import Language, say

APPROVE = "approve"
MOST_BUTTONS = 5

log = structlog.get_logger(__name__)


class State(StrEnum):
    """What became of a plugin at this start."""

    ON = "on"
    OFF = "off"
    CHANGED = "changed"
    """What is installed is not what was approved."""
    LEFT_OUT = "left_out"


_SAID = {
    State.ON: "plugins_on",
    State.OFF: "plugins_off",
    State.CHANGED: "plugins_changed",
    State.LEFT_OUT: "plugins_left_out",
}


@dataclass(frozen=True)
class ListedPlugin:
    """A plugin, as /plugins shows it."""

    name: str
    state: State
    is_ours: bool
    content: Content | None = None
    """What is installed of one of others; None if it was not looked at."""
    reason: str = ""
    """Why it is left out."""
    commands: Sequence[str] = ()
    tools: Sequence[str] = ()
    duties: Sequence[str] = ()
    paths: Sequence[str] = ()
    tables: Sequence[str] = ()


class PluginCommands:
    """The command /plugins."""

    def __init__(self, plugins: Callable[[], Sequence[ListedPlugin]], approved: ApprovedPlugins) -> None:
        self._plugins = plugins
        self._approved = approved

    async def plugins(self, given: Invocation) -> Answer:
        """List the plugins, or approve what is installed of one."""
        verb, *rest = given.arguments.split()[:3] or [""]
        if verb.lower() == APPROVE and rest:
            return await self._approve(given, *rest)
        listed = self._plugins()
        waiting = [each for each in listed if self._waits(each)] if given.is_owner else []
        buttons = tuple((_button(each, given.language),) for each in waiting[:MOST_BUTTONS])
        lines = [self._line(each, given.language) for each in listed]
        title = say("plugins_title" if lines else "plugins_none", given.language)
        return OutboundMessage(markdown="\n".join([title, *lines]), buttons=buttons)

    async def _approve(self, given: Invocation, name: str, code: str = "") -> Answer:
        plugin = next((each for each in self._plugins() if each.name == name and self._waits(each)), None)
        if plugin is None or plugin.content is None:
            return reply(say("plugins_nothing_waits", given.language, name=literal(name), slash=given.slash))
        if code not in ("", plugin.content.code):
            return OutboundMessage(
                markdown=self._line(plugin, given.language), buttons=((_button(plugin, given.language),),)
            )
        try:
            await asyncio.to_thread(self._approved.approve, name, plugin.content)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            return reply(say("plugins_not_kept", given.language, name=literal(name), reason=literal(reason)))
        log.info("a plugin is approved", plugin=name, by=given.sender.id, **plugin.content.model_dump())
        text = say("plugins_approved", given.language, name=literal(name), content=_content(plugin, given.language))
        return rewritten(text)

    def _waits(self, plugin: ListedPlugin) -> bool:
        return plugin.state is State.CHANGED and self._approved.approved(plugin.name) != plugin.content

    def _line(self, plugin: ListedPlugin, language: Language) -> str:
        is_approved = plugin.state is State.CHANGED and not self._waits(plugin)
        before = self._approved.approved(plugin.name) if plugin.state is State.CHANGED else None
        said = say(
            "plugins_approved_now" if is_approved else _SAID[plugin.state],
            language,
            reason=literal(reason_in(plugin.reason, language)),
            before=literal(before.version) if before else "–",
            code=before.code if before else "–",
        )
        whose = say("plugins_ours", language) if plugin.is_ours else _content(plugin, language)
        title = say("plugins_line", language, name=literal(plugin.name), whose=whose, state=said)
        return "\n".join([title, *(f"  - {each}" for each in _adds(plugin, language))])

    async def _waiting(self, typing: Unfinished) -> Sequence[Suggestion]:
        names = (each.name for each in self._plugins() if self._waits(each)) if typing.is_owner else ()
        return [Suggestion(value=name, label="") for name in names]

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "plugins",
                {"en": "List the plugins, and approve changed ones", "zh": "列出插件，批准有变动的插件"},
                self.plugins,
                rights=Rights(
                    {
                        "": Right("read", Role.ADMIN, Role.ADMIN, refusal="only_admins"),
                        OTHERWISE: Right("admin", Role.OWNER, Role.OWNER, refusal="only_owners"),
                    }
                ),
                arguments="[approve NAME]",
                example="approve dice",
                offered_to=Role.ADMIN,
                suggest=self._waiting,
            ),
        )


def _adds(plugin: ListedPlugin, language: Language) -> Iterator[str]:
    """Return a line for each kind of what the plugin adds."""
    commands = [f"/{name}" for name in plugin.commands]
    for key, names in (
        ("plugins_commands", commands),
        ("plugins_tools", plugin.tools),
        ("plugins_duties", plugin.duties),
        ("plugins_routes", plugin.paths),
        ("plugins_tables", plugin.tables),
    ):
        if names:
            yield say(key, language, names=", ".join(map(literal, names)))


def _content(plugin: ListedPlugin, language: Language) -> str:
    if plugin.content is None:
        return say("plugins_of_others", language)
    package, version = literal(plugin.content.package), literal(plugin.content.version)
    return say("plugins_content", language, package=package, version=version, code=plugin.content.code)


def _button(plugin: ListedPlugin, language: Language) -> Button:
    code = plugin.content.code if plugin.content else ""
    label = say("plugins_approve_button", language, name=plugin.name)
    return Button(label=label, action=f"/plugins {APPROVE} {plugin.name} {code}", style="primary")
