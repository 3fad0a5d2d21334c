"""The commands and presses of plugins: a failure of one is logged with its name, and told to the person who waits."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import structlog

from agent_core.background import done_within
from agent_core.clock import Clock
from agent_core.file_handles import lacks_handles
from channels.base import ButtonPressed
from gateway.chat.replies import Answer, Settling
from gateway.commands.command import Body, Command, Invocation, whispered
from gateway.commands.press import Press, press_action, press_name
from gateway.plugin import Plugin
from gateway.records.plugin_failures import PluginFailures
from gateway.store.outbox import Outbox
from gateway.store.writer import may_pass
from gateway.texts.say import say

PRESS_WITHIN = 30.0
"""Seconds that a press may take. Later commands and messages of its chat wait for it."""
_NAME = re.compile("[a-z0-9_]{1,32}")
"""What can be typed as a command."""

log = structlog.get_logger(__name__)


def commands_and_presses(plugin: Plugin, failures: PluginFailures) -> Iterator[Command]:
    """Yield the commands of a plugin, and as hidden ones its presses. Raises ValueError for a topic that is no word."""
    for command in plugin.commands():
        body = failures.keeping(plugin.name, f"/{command.name}", command.run)
        yield replace(command, run=_Contained(plugin.name, body).run)
    for press in plugin.presses():
        name = press_name(plugin.name, press.topic)
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"the topic {press.topic!r} makes {name!r}, which has other characters than a-z, 0-9 and _"
            )
        pressed = _Pressed(plugin.name, press, plugin.core.store.outbox, plugin.core.clock)
        body = failures.keeping(plugin.name, f"/{name}", pressed.run)
        yield Command(name, {"en": "", "zh": ""}, _Contained(plugin.name, body).run, rights=press.rights, hidden=True)


@dataclass(frozen=True)
class _Contained:
    """Does what a plugin does for a person. If it fails, the person is told so, and nothing else stops."""

    plugin: str
    body: Body

    async def run(self, given: Invocation) -> Answer:
        failed = whispered(given, say("plugin_failed", given.language, name=self.plugin))
        try:
            answer = await self.body(given)
        except Exception as error:
            if lacks_handles(error) or may_pass(error):  # it is done again once the machine allows it
                raise
            log.exception("a plugin failed", name=self.plugin)
            return failed
        return replace(answer, by=self.plugin, failed=failed) if isinstance(answer, Settling) else answer


@dataclass(frozen=True)
class _Pressed:
    """Handles presses of buttons that the plugin has put under a message of that chat, and of no others."""

    plugin: str
    press: Press
    outbox: Outbox
    clock: Clock

    async def run(self, given: Invocation) -> Answer:
        if not await self._is_shown(given):
            return whispered(given, say("button_over", given.language))
        return await done_within(self._handled(given), PRESS_WITHIN, self.clock)

    async def _is_shown(self, given: Invocation) -> bool:
        """Return True if a message of the chat has the button now: the one that was pressed, or any if it was typed."""
        event = given.event
        if isinstance(event, ButtonPressed):
            shown = await self.outbox.pressed(event.chat, event.message_id, event.action)
            return shown is not None and shown.has_button(event.action)
        action = press_action(self.plugin, self.press.topic, given.arguments.strip())
        found = await self.outbox.offers(given.chat, 0.0, json.dumps(action, ensure_ascii=False))
        return any(each.post.has_button(action) for each in found)

    async def _handled(self, given: Invocation) -> Answer:
        return await self.press.run(given)
