"""The command /key: keys with which a program talks to the agent of a chat, for the person who made them."""

import re
import secrets
from collections.abc import Sequence

from channels.base import OutboundMessage
from channels.commands import Suggestion
from channels.text import in_code
from gateway.chat.replies import Answer
from gateway.commands.command import Command, Invocation, Unfinished, reply
from gateway.permissions.rights import Right, always
from gateway.permissions.roles import Role
from gateway.plugin import Core
from gateway.plugins.api.protocol import MODEL
from gateway.plugins.api.table import MOST_KEYS, ApiKey, ApiKeys, digest_of
from gateway.texts.moments import moment_words
from gateway.texts.say import say

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
_PREFIX = "parley-"
_LAST = 4


class KeyCommand:
    """The command /key, for owners and admins."""

    def __init__(self, core: Core, keys: ApiKeys) -> None:
        self._core = core
        self._keys = keys

    async def key(self, given: Invocation) -> Answer:
        """Make a key, remove one, or list those of the chat."""
        match given.arguments.split():
            case [] | ["list"]:
                return await self._list(given)
            case ["add", name] if _NAME.fullmatch(name.lower()):
                return await self._add(given, name.lower())
            case ["rm", name]:
                return await self._remove(given, name.strip("`").lower())
        return _say(given, "api_usage")

    async def _add(self, given: Invocation, name: str) -> Answer:
        core = self._core
        if not core.settings.now.web.enabled:
            return _say(given, "api_page_off")
        if given.in_group:
            return _say(given, "api_alone")
        secret = _PREFIX + secrets.token_hex(24)
        principal = core.access.principal(given.chat, given.sender)
        who = given.sender.id, principal, given.language
        key = ApiKey(0, digest_of(secret), secret[-_LAST:], given.chat, name, *who)
        if not await self._keys.add(key, given.asked):
            return _say(given, "api_taken", most=MOST_KEYS, name=name)
        web, address = core.settings.now.web, f"{core.settings.address_for_programs}/v1"
        lines = [say("api_shown", given.language, name=name, secret=secret, address=address, model=MODEL)]
        if not (web.programs_url or web.url):
            lines.append(say("api_local", given.language))
        return OutboundMessage(markdown="\n\n".join(lines), forget=secret)

    async def _remove(self, given: Invocation, name: str) -> Answer:
        keys = await self._seen(given)
        found = next((each for each in keys if name in (each.name, str(each.id))), None)
        if found is None:
            return _say(given, "api_none_named", name=in_code(name))
        await self._keys.remove(found)
        return _say(given, "api_removed", name=found.name)

    async def _list(self, given: Invocation) -> Answer:
        keys = await self._seen(given)
        if not keys:
            return _say(given, "api_none")
        zone = given.session.conversation.zone()
        lines = [
            say(
                "api_row",
                given.language,
                name=each.name,
                last=each.last,
                used=moment_words(each.used, zone) if each.used else say("api_never", given.language),
            )
            for each in keys
        ]
        return reply("\n".join([say("api_list", given.language), *(f"- {line}" for line in lines)]))

    async def _seen(self, given: Invocation) -> Sequence[ApiKey]:
        """Return the keys that the sender may see here: their own, and for owners all of the chat."""
        if given.is_owner:
            return await self._keys.in_chat(given.chat)
        return await self._keys.of(given.chat, given.sender.id)

    async def _suggest(self, unfinished: Unfinished) -> Sequence[Suggestion]:
        """Return the names of the sender's keys in the chat."""
        keys = await self._keys.of(unfinished.chat, unfinished.sender.id)
        return [Suggestion(value=each.name, label=each.name) for each in keys]

    @property
    def command(self) -> Command:
        return Command(
            "key",
            {"en": "Let an editor or another program talk to me", "zh": "让编辑器或其他程序与我对话"},
            self.key,
            rights=always(Right("admin", Role.ADMIN, Role.ADMIN)),
            arguments="[add|rm|list] [NAME]",
            example="add editor",
            offered_to=Role.ADMIN,
            suggest=self._suggest,
            recorded=frozenset({"add", "rm"}),
        )


def _say(given: Invocation, key: str, **facts: str | int) -> OutboundMessage:
    return reply(say(key, given.language, slash=given.slash, **facts))
