"""The commands and presses of plugins: a failure of one is logged with its name, and told to the person who waits."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial

import structlog
from msgspec import Struct
from msgspec.structs import replace

from agent_core.background import done_within
from agent_core.file_handles import lacks_handles
from channels.base import ButtonPressed, OutboundMessage
from channels.commands import Suggestion
from gateway.chat.replies import Answer, Rewritten, Settling
from gateway.commands.command import Body, Command, Invocation, Suggester, Unfinished, whispered
from gateway.commands.press import Press, press_action, press_name
from gateway.permissions.rights import Rights
from gateway.plugin import Plugin
from gateway.records.plugin_failures import PluginFailures, check_each, expect, listed, unlike
from gateway.store.connection import Connection
from gateway.store.outbox import Outbox
from gateway.store.writer import may_pass
from gateway.texts.say import LANGUAGES, say

COMMAND_WITHIN = 300.0
"""Seconds that a command may take. Later messages of its chat wait for it."""
PRESS_WITHIN = 30.0
"""Seconds that a press may take. Later commands and messages of its chat wait for it."""
SUGGEST_WITHIN = 3.0
"""Seconds for the values of an argument, as long as Discord waits."""
_NAME = re.compile("[a-z0-9_]{1,32}")
"""What can be typed as a command."""

log = structlog.get_logger(__name__)


def commands_in(plugin: Plugin, failures: PluginFailures) -> Iterator[Command]:
    """Yield the commands of a plugin. Raises ValueError for what cannot be used."""
    commands = listed("the result of commands()", plugin.commands())
    check_each(commands, _wrong_with_command)
    for command in commands:
        contained = _Contained(plugin, f"/{command.name}", failures)
        suggest = command.suggest and contained.suggesting(command.suggest)
        yield replace(command, run=contained.running(command.run, COMMAND_WITHIN), suggest=suggest)


def presses_in(plugin: Plugin, failures: PluginFailures) -> Iterator[Command]:
    """Yield the presses of a plugin as hidden commands. Raises ValueError for what cannot be used."""
    presses = listed("the result of presses()", plugin.presses())
    check_each(presses, partial(_wrong_with_press, plugin))
    for press in presses:
        name = press_name(plugin.name, press.topic)
        pressed = _Pressed(plugin.name, press, plugin.core.store.outbox)
        run = _Contained(plugin, f"/{name}", failures).running(pressed.run, PRESS_WITHIN)
        yield Command(name, {"en": "", "zh": ""}, run, rights=press.rights, hidden=True)


def _wrong_with_command(command: Command) -> Iterator[str]:
    """Yield why a command would fail in menus or help, where it would take all others with it. Raises ValueError."""
    expect(command, Command, "an item of commands()")
    if not _NAME.fullmatch(command.name):
        yield f"the command {command.name!r} is not 1 to 32 characters of a-z, 0-9 and _"
    if not isinstance(command.rights, Rights):
        yield unlike(command.rights, Rights, f"the rights of /{command.name}")
    expect(command.about, Mapping, f"the description of /{command.name}")
    for language in LANGUAGES:
        if not command.about.get(language):
            yield f"the description of /{command.name} is missing in {language}"
        command.usage("/", language)


def _wrong_with_press(plugin: Plugin, press: Press) -> Iterator[str]:
    expect(press, Press, "an item of presses()")
    if not isinstance(press.rights, Rights):
        yield unlike(press.rights, Rights, f"the rights of the topic {press.topic}")
    name = press_name(plugin.name, press.topic)
    if not _NAME.fullmatch(name):
        yield f"the topic {press.topic!r} makes {name!r}, which has other characters than a-z, 0-9 and _"


class _Contained(Struct, frozen=True):
    """Does what a plugin does for a person. If it fails, the person is told so, and nothing else stops."""

    plugin: Plugin
    where: str
    failures: PluginFailures

    def running(self, body: Body, within: float) -> Body:
        """Return the body of a command, which fails if it takes longer than this or returns what is no answer."""

        async def run(given: Invocation) -> Answer:
            key = "plugin_failed_owner" if given.is_owner else "plugin_failed"
            failed = whispered(given, say(key, given.language, name=self.plugin.name, slash=given.slash))
            try:
                with self._kept():
                    answer = await done_within(_answered(body, given), within, self.plugin.core.clock)
            except Exception as error:
                if lacks_handles(error) or may_pass(error):  # it is done again once the machine allows it
                    raise
                log.exception("a plugin failed", plugin=self.plugin.name, command=self.where)
                return failed
            return self._settling(answer, failed) if isinstance(answer, Settling) else answer

        return run

    def suggesting(self, suggest: Suggester) -> Suggester:
        """Return what offers values for an argument, and none if that fails."""

        async def offer(typing: Unfinished) -> Sequence[Suggestion]:
            with self.failures.contained(self.plugin.name, self.where):
                return await done_within(_offered(suggest, typing), SUGGEST_WITHIN, self.plugin.core.clock)
            return ()

        return offer

    def _settling(self, answer: Settling, failed: OutboundMessage) -> Settling:
        def change(connection: Connection) -> OutboundMessage | Rewritten | None:
            with self._kept():
                return _settled(answer.change(self.plugin.core.store.limited(connection)))

        return replace(answer, change=change, by=self.plugin.name, command=self.where, failed=failed)

    def _kept(self) -> AbstractContextManager[None]:
        return self.failures.kept(self.plugin.name, self.where)


async def _answered(body: Body, given: Invocation) -> Answer:
    """Return what a plugin answers. Raises TypeError for what is no answer."""
    answer = await body(given)
    if not isinstance(answer, Answer):
        raise TypeError(f"it returned {type(answer).__name__}, which is no answer; reply(TEXT) makes one of a text")
    return answer


def _settled(reply: OutboundMessage | Rewritten | None) -> OutboundMessage | Rewritten | None:
    """Return what the change of a Settling returns. Raises TypeError for what is no reply."""
    if not isinstance(reply, OutboundMessage | Rewritten | None):
        raise TypeError(f"its change returned {type(reply).__name__}, which is no reply")
    return reply


async def _offered(suggest: Suggester, typing: Unfinished) -> Sequence[Suggestion]:
    return tuple(await suggest(typing))


class _Pressed(Struct, frozen=True):
    """Handles presses of buttons that the plugin has put under a message of that chat, and of no others."""

    plugin: str
    press: Press
    outbox: Outbox

    async def run(self, given: Invocation) -> Answer:
        if not await self._is_shown(given):
            return whispered(given, say("button_over", given.language))
        return await self.press.run(given)

    async def _is_shown(self, given: Invocation) -> bool:
        """Return True if a message of the chat has the button now: the one that was pressed, or any if it was typed."""
        event = given.event
        if isinstance(event, ButtonPressed):
            shown = await self.outbox.pressed(event.chat, event.message_id, event.action)
            return shown is not None and shown.has_button(event.action)
        action = press_action(self.plugin, self.press.topic, given.arguments.strip())
        found = await self.outbox.offers(given.chat, 0.0, json.dumps(action, ensure_ascii=False))
        return any(each.post.has_button(action) for each in found)
