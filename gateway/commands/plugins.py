"""The command /plugins: which plugins there are, what each adds, and the approval of what is installed of one."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from enum import StrEnum
from typing import Protocol

import structlog

from channels.base import Button, OutboundMessage
from channels.commands import Suggestion
from channels.text import literal
from gateway.chat.replies import Answer
from gateway.commands.command import Command, Invocation, Unfinished, reply, rewritten
from gateway.permissions.approved_plugins import ApprovedPlugins
from gateway.permissions.installed_plugins import Content
from gateway.permissions.rights import OTHERWISE, Does, Right, Rights
from gateway.permissions.roles import Role
from gateway.records.audit import AuditLog
from gateway.records.plugin_failures import PluginFailure
from gateway.texts.plugin_reasons import reason_in
from gateway.texts.say import Language, say

APPROVE = "approve"
MOST_BUTTONS = 5

log = structlog.get_logger(__name__)


class State(StrEnum):
    """The state of a plugin since this start."""

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
_DOES: Mapping[Does, str] = {
    "talk": "plugins_does_talk",
    "read": "plugins_does_read",
    "write": "plugins_does_write",
    "net": "plugins_does_net",
    "exec": "plugins_does_exec",
    "admin": "plugins_does_admin",
}
_FOR = {
    Role.OWNER: "plugins_for_owners",
    Role.ADMIN: "plugins_for_admins",
    Role.MEMBER: "plugins_for_members",
    Role.GUEST: "plugins_for_all",
}


@dataclass(frozen=True)
class Added:
    """A command or a tool that a plugin adds, with its rights."""

    name: str
    acts: Does | None = None
    """The worst that it does; None if it was not made."""
    least: Role | None = None
    """The least role for a command."""
    is_untrusted: bool = False
    """True for a tool whose results may be untrusted input."""


@dataclass(frozen=True)
class ListedPlugin:
    """A plugin, as /plugins shows it."""

    name: str
    state: State
    is_ours: bool
    content: Content | None = None
    """What the start has found of one of others; None if it was not looked at."""
    installed: Content | None = None
    """What is installed of it now; None if it cannot be read."""
    reason: str = ""
    """Why it is left out."""
    commands: Sequence[Added] = ()
    tools: Sequence[Added] = ()
    presses: Sequence[Added] = ()
    duties: Sequence[str] = ()
    screens: Sequence[str] = ()
    settings: Sequence[str] = ()
    """The names of their variables."""
    paths: Sequence[str] = ()
    tables: Sequence[str] = ()
    mistyped: Mapping[str, str] = field(default_factory=dict)
    """Its members that look like one of `Plugin`, which is not called by that name, with the right one."""
    failure: PluginFailure | None = None
    """Its last failure since the start."""


class Plugins(Protocol):
    """The plugins of this start."""

    def __call__(self) -> Sequence[ListedPlugin]:
        """Return all, by name."""

    def now(self) -> Sequence[ListedPlugin]:
        """Return all, with what is installed now of those of others. Blocks."""


class PluginCommands:
    """The command /plugins."""

    def __init__(self, plugins: Plugins, approved: ApprovedPlugins, audit: AuditLog) -> None:
        self._plugins = plugins
        self._approved = approved
        self._audit = audit
        self._shown: dict[str, str] = {}
        """The codes of the contents that people were shown last, by the names of plugins."""

    async def plugins(self, given: Invocation) -> Answer:
        """List the plugins, or approve what is installed of one."""
        verb, *rest = given.arguments.split()[:3] or [""]
        listed = await asyncio.to_thread(self._plugins.now)
        if verb.lower() == APPROVE and rest:
            return await self._approve(given, listed, *rest)
        waiting = [each for each in listed if self._waits(each)] if given.is_owner else []
        buttons = tuple((_button(each, given.language),) for each in waiting[:MOST_BUTTONS])
        zone = await given.session.conversation.zone()
        lines = [self._line(each, given.language, zone) for each in listed]
        title = say("plugins_title" if lines else "plugins_none", given.language)
        return OutboundMessage(markdown="\n".join([title, *lines]), buttons=buttons)

    async def _approve(self, given: Invocation, listed: Sequence[ListedPlugin], name: str, code: str = "") -> Answer:
        plugin = next((each for each in listed if each.name == name and self._waits(each)), None)
        if plugin is None or plugin.installed is None:
            return reply(say("plugins_nothing_waits", given.language, name=literal(name), slash=given.slash))
        if (code or self._last_shown(plugin)) != plugin.installed.code:
            line = self._line(plugin, given.language, await given.session.conversation.zone())
            return OutboundMessage(markdown=line, buttons=((_button(plugin, given.language),),))
        try:
            await asyncio.to_thread(self._approved.approve, name, plugin.installed)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            return reply(say("plugins_not_kept", given.language, name=literal(name), reason=literal(reason)))
        log.info("a plugin is approved", plugin=name, by=given.sender.id, **plugin.installed.model_dump())
        what = f"{plugin.installed.package} {plugin.installed.version}, {plugin.installed.code}"
        self._audit.changed(given.chat, given.sender.id, f"plugins {APPROVE} {name}", details=what)
        content = _content(plugin.installed, given.language)
        return rewritten(say("plugins_approved", given.language, name=literal(name), content=content))

    def _last_shown(self, plugin: ListedPlugin) -> str:
        """Return the code of what people were shown last of a plugin: by a list, or by the news of the start."""
        told = plugin.content.code if plugin.content and plugin.state is State.CHANGED else ""
        return self._shown.get(plugin.name, told)

    def _waits(self, plugin: ListedPlugin) -> bool:
        approved, installed = self._approved.approved(plugin.name), plugin.installed
        is_there = installed is not None and plugin.state is not State.OFF
        return is_there and (approved is None or installed is None or approved.digest != installed.digest)

    def _line(self, plugin: ListedPlugin, language: Language, zone: tzinfo) -> str:
        content, waits = plugin.content, self._waits(plugin)
        before = self._approved.approved(plugin.name) if plugin.state is State.CHANGED else None
        if plugin.installed is not None:
            self._shown[plugin.name] = plugin.installed.code
            content = plugin.installed if plugin.state is State.CHANGED else content
        said = say(
            "plugins_approved_now" if plugin.state is State.CHANGED and not waits else _SAID[plugin.state],
            language,
            reason=literal(reason_in(plugin.reason, language)),
            before=literal(before.version) if before else "–",
            code=before.code if before else "–",
        )
        whose = say("plugins_of_others", language) if content is None else _content(content, language)
        whose = say("plugins_ours", language) if plugin.is_ours else whose
        title = say("plugins_line", language, name=literal(plugin.name), whose=whose, state=said)
        lines = [title, *(f"  - {each}" for each in _adds(plugin, language))]
        if plugin.state is not State.CHANGED and plugin.installed not in (None, plugin.content):
            key = "plugins_newer_waits" if waits else "plugins_newer_approved"
            lines.append(f"  - {say(key, language, content=_content(plugin.installed, language))}")
        if plugin.failure is not None:
            when = f"{datetime.fromtimestamp(plugin.failure.at, zone):%m-%d %H:%M}"
            where, why = literal(plugin.failure.where), literal(plugin.failure.reason)
            lines.append(f"  - {say('plugins_failed', language, when=when, where=where, reason=why)}")
        return "\n".join(lines)

    async def _waiting(self, typing: Unfinished) -> Sequence[Suggestion]:
        listed = await asyncio.to_thread(self._plugins.now) if typing.is_owner else ()
        return [Suggestion(value=each.name, label="") for each in listed if self._waits(each)]

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
    for key, names in (
        ("plugins_commands", [_with_rights(f"/{each.name}", each, language) for each in plugin.commands]),
        ("plugins_tools", [_with_rights(each.name, each, language) for each in plugin.tools]),
        ("plugins_presses", [_with_rights(f"/{each.name}", each, language) for each in plugin.presses]),
        ("plugins_duties", [literal(each) for each in plugin.duties]),
        ("plugins_screens", [literal(each) for each in plugin.screens]),
        ("plugins_settings", [literal(each) for each in plugin.settings]),
        ("plugins_routes", [literal(each) for each in plugin.paths]),
        ("plugins_tables", [literal(each) for each in plugin.tables]),
    ):
        if names:
            yield say(key, language, names=", ".join(names))


def _with_rights(name: str, added: Added, language: Language) -> str:
    """Return a name with the worst that it does, and who may give it."""
    rights = [say(_DOES[added.acts], language)] if added.acts else []
    if added.least is not None:
        rights.append(say(_FOR[added.least], language))
    if added.is_untrusted:
        rights.append(say("plugins_untrusted", language))
    if not rights:
        return literal(name)
    return say("plugins_with_rights", language, name=literal(name), rights=", ".join(rights))


def _content(content: Content, language: Language) -> str:
    package, version = literal(content.package), literal(content.version)
    return say("plugins_content", language, package=package, version=version, code=content.code)


def _button(plugin: ListedPlugin, language: Language) -> Button:
    code = plugin.installed.code if plugin.installed else ""
    label = say("plugins_approve_button", language, name=plugin.name)
    return Button(label=label, action=f"/plugins {APPROVE} {plugin.name} {code}", style="primary")
