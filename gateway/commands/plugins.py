"""The command /plugins: which plugins there are, what each adds, and the approval of what is installed of one."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, tzinfo
from textwrap import shorten
from typing import Protocol

import structlog
from msgspec.structs import replace

from channels.base import Button, OutboundMessage
from channels.commands import Suggestion
from channels.text import literal
from gateway.chat.replies import Answer
from gateway.commands.command import Command, Invocation, Unfinished, reply, rewritten
from gateway.commands.more import short_first, split_more
from gateway.commands.plugin_words import IN_CHATS, ListedPlugin, State, content_words, failure_key, words_of
from gateway.permissions.approved_plugins import ApprovedPlugins
from gateway.permissions.rights import OTHERWISE, Right, Rights, first_word
from gateway.permissions.roles import Role
from gateway.records.audit import AuditLog
from gateway.records.plugin_failures import PluginFailure
from gateway.texts.say import Language, say

APPROVE = "approve"
MOST_BUTTONS = 5
MOST_REASON = 100
"""Characters of an error in the list before *More*."""

log = structlog.get_logger(__name__)


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
        """List all plugins, with *More* or by their names with what each adds, or approve what is installed of one."""
        names, _ = split_more(given.arguments)
        verb, *rest = names.split()[:3] or [""]
        listed = await asyncio.to_thread(self._plugins.now)
        if verb.lower() == APPROVE and rest:
            return await self._approve(given, listed, *rest)
        if not verb or verb.lower() == APPROVE:
            short, long = [await self._list(given, listed, is_short=each) for each in (True, False)]
            return short_first(given, "plugins", short, long)
        known, wanted = {each.name for each in listed}, names.split()
        if unknown := [each for each in wanted if each not in known]:
            there = ", ".join(literal(each) for each in sorted(known)) or "–"
            return reply(say("plugins_unknown", given.language, name=literal(unknown[0]), names=there))
        return await self._list(given, [each for each in listed if each.name in wanted])

    async def _list(
        self, given: Invocation, listed: Sequence[ListedPlugin], *, is_short: bool = False
    ) -> OutboundMessage:
        waiting = [each for each in listed if self._waits(each)] if given.is_owner else []
        buttons = tuple((_button(each, given.language),) for each in waiting[:MOST_BUTTONS])
        zone = given.session.conversation.zone()
        at_work = [each for each in listed if is_short and self._is_at_work(each)]
        in_words = self._short if is_short else self._line
        lines = [in_words(each, given.language, zone) for each in listed if each not in at_work]
        if at_work:
            names = ", ".join(literal(each.name) for each in at_work)
            lines.insert(0, say("plugins_at_work", given.language, names=names))
        title = say("plugins_title" if lines else "plugins_none", given.language)
        return OutboundMessage(markdown="\n".join([title, *lines]), buttons=buttons)

    async def _approve(self, given: Invocation, listed: Sequence[ListedPlugin], name: str, code: str = "") -> Answer:
        plugin = next((each for each in listed if each.name == name and self._waits(each)), None)
        if plugin is None or plugin.installed is None:
            return reply(say("plugins_nothing_waits", given.language, name=literal(name), slash=given.slash))
        if (code or self._last_shown(plugin)) != plugin.installed.code:
            line = self._line(plugin, given.language, given.session.conversation.zone())
            return OutboundMessage(markdown=line, buttons=((_button(plugin, given.language),),))
        try:
            await asyncio.to_thread(self._approved.approve, name, plugin.installed)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            return reply(say("plugins_not_kept", given.language, name=literal(name), reason=literal(reason)))
        log.info("a plugin is approved", plugin=name, by=given.sender.id, **plugin.installed.model_dump())
        what = f"{plugin.installed.package} {plugin.installed.version}, {plugin.installed.code}"
        self._audit.changed(given.chat, given.sender.id, f"plugins {APPROVE} {name}", details=what)
        content = content_words(plugin.installed, given.language, IN_CHATS)
        return rewritten(say("plugins_approved", given.language, name=literal(name), content=content))

    def _last_shown(self, plugin: ListedPlugin) -> str:
        """Return the code of what people were shown last of a plugin: by a list, or by the news of the start."""
        told = plugin.content.code if plugin.content and plugin.state is State.CHANGED else ""
        return self._shown.get(plugin.name, told)

    def _waits(self, plugin: ListedPlugin) -> bool:
        return plugin.waits(self._approved.approved(plugin.name))

    def _is_at_work(self, plugin: ListedPlugin) -> bool:
        """Return True if there is nothing to tell about a plugin but that it is on."""
        return plugin.state is State.ON and not plugin.failures and not self._waits(plugin)

    def _line(self, plugin: ListedPlugin, language: Language, zone: tzinfo) -> str:
        if plugin.installed is not None:
            self._shown[plugin.name] = plugin.installed.code
        words = words_of(plugin, self._approved.approved(plugin.name), language, IN_CHATS)
        title = say("plugins_line", language, name=literal(plugin.name), whose=words.whose, state=words.state)
        failures = [_failure(each, each.reason, language, zone) for each in plugin.failures]
        told = [*words.adds, *words.newer, *failures, *filter(None, [words.to_do])]
        return "\n".join([title, *(f"  - {each}" for each in told)])

    def _short(self, plugin: ListedPlugin, language: Language, zone: tzinfo) -> str:
        """Return the line of a plugin with its state and its last failure; all of it if it waits for approval."""
        if self._waits(plugin):
            return self._line(plugin, language, zone)
        brief = replace(plugin, reason=_brief(plugin.reason))
        state = words_of(brief, self._approved.approved(plugin.name), language, IN_CHATS).state
        line = say("plugins_line_short", language, name=literal(plugin.name), state=state)
        if not plugin.failures:
            return line
        last = plugin.failures[0]
        failed = _failure(last, _brief(last.reason), language, zone)
        return say("plugins_line_failed", language, line=line, failed=failed)

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
                    },
                    lambda arguments: first_word(split_more(arguments)[0]),
                ),
                arguments="[NAME ... | approve NAME | more]",
                example="approve dice",
                offered_to=Role.ADMIN,
                suggest=self._waiting,
            ),
        )


def _brief(reason: str) -> str:
    return shorten(reason, MOST_REASON, placeholder=" ...", break_long_words=False)


def _failure(failure: PluginFailure, reason: str, language: Language, zone: tzinfo) -> str:
    when = f"{datetime.fromtimestamp(failure.at, zone):%m-%d %H:%M}"
    where = literal(failure.where)
    return say(failure_key(failure), language, when=when, where=where, reason=literal(reason), count=failure.count)


def _button(plugin: ListedPlugin, language: Language) -> Button:
    code = plugin.installed.code if plugin.installed else ""
    label = say("plugins_approve_button", language, name=plugin.name)
    return Button(label=label, action=f"/plugins {APPROVE} {plugin.name} {code}", style="primary")
