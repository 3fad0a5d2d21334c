"""The command /forget: erases what a person said and what is kept of their direct chats."""

import asyncio
import hashlib
import re
import sqlite3
from collections.abc import Iterable, Sequence

import structlog

from agent_core.clock import Clock
from agent_core.file_handles import raise_lack
from channels.base import Button, OutboundMessage
from channels.commands import Suggestion
from channels.text import literal
from gateway.chat.replies import Answer
from gateway.commands.command import Command, Invocation, Unfinished, reply, rewritten
from gateway.commands.people import known_people
from gateway.permissions.access import Access
from gateway.permissions.rights import OTHERWISE, TALK, Right, Rights
from gateway.permissions.roles import Role, Roles
from gateway.texts.say import say
from gateway.upkeep.forgetting import Erased, Forgetting, PluginKeepsRows, StillBusy

LONGEST_WHO = 32
"""Characters of an id; the action of a button has room for 64 bytes."""
ME = frozenset({"me", "我"})
CONFIRM = "yes"
OTHERS = Right("admin", Role.ADMIN, None, refusal="forget_others")
VALID = 600.0
"""Seconds for which the button works."""
MOST_LISTED = 20
_HALF = 4
"""Characters of a mark for each of its halves."""

log = structlog.get_logger(__name__)


class ForgetCommands:
    """The command /forget."""

    def __init__(self, forgetting: Forgetting, access: Access, roles: Roles, clock: Clock) -> None:
        self._forgetting = forgetting
        self._access = access
        self._roles = roles
        self._clock = clock

    async def forget(self, given: Invocation) -> Answer:
        word, _, rest = given.arguments.strip().partition(" ")
        if word.lower() == CONFIRM and rest:
            return await self._confirmed(given, rest.split())
        asker = self._asker(given)
        who = asker if word.lower() in ME and not rest else self._access.named(word, given.chat) or word
        if not word or rest or len(word) > LONGEST_WHO or (refusal := self._refusal(given, who)):
            text = (
                refusal
                if word and not rest and len(word) <= LONGEST_WHO
                else say("forget_usage", given.language, slash=given.slash)
            )
            return reply(text)
        until, accounts = round(self._clock.time() + VALID), self._accounts(who)
        action = f"/forget {CONFIRM} {who} {_mark(asker, accounts)} {until:x}"
        button = Button(label=say("forget_button", given.language), action=action, style="danger")
        key = "forget_ask" if who == asker else "forget_ask_other"
        names = literal(", ".join(accounts))
        text = "\n\n".join([say(key, given.language, who=names), *await self._kept_rows(given)])
        return OutboundMessage(markdown=text, buttons=((button,),))

    async def _confirmed(self, given: Invocation, words: list[str]) -> Answer:
        """Erase, if the button is still valid and was pressed by the person who asked for it."""
        if len(words) != 3 or not re.fullmatch(r"[0-9a-f]{1,12}", words[2]):  # noqa: PLR2004 (person, asker and time)
            return reply(say("forget_usage", given.language, slash=given.slash))
        who, mark, until = words
        asker = self._asker(given)
        if mark[:_HALF] != _mark_of(asker)[:_HALF]:
            return reply(say("forget_not_yours", given.language, slash=given.slash))
        is_as_shown = mark == _mark(asker, self._accounts(who))  # no account was linked since
        if int(until, 16) < self._clock.time() or not is_as_shown:
            return rewritten(say("forget_expired", given.language, slash=given.slash))
        if refusal := self._refusal(given, who):
            return reply(refusal)
        return await self._erased(given, asker, who)

    async def _erased(self, given: Invocation, asker: str, who: str) -> Answer:
        try:
            done = [await self._forgetting.erase(account, asker) for account in self._accounts(who)]
        except StillBusy:
            return reply(say("forget_busy", given.language, slash=given.slash))
        except PluginKeepsRows as error:
            key = "forget_plugin_failed_owner" if given.is_owner else "forget_plugin_failed"
            return rewritten(say(key, given.language, name=literal(error.plugin), slash=given.slash))
        except (OSError, sqlite3.Error) as error:
            raise_lack(error)
            log.error("an erasure is not complete", reason=str(error))  # noqa: TRY400
            return rewritten(say("forget_unfinished", given.language))
        return rewritten("\n\n".join([_told(given, done), *await self._kept_rows(given), await self._backups(given)]))

    async def _kept_rows(self, given: Invocation) -> list[str]:
        """Return the line about plugins whose rows stay, if there are any."""
        names = ", ".join(map(literal, await self._forgetting.keepers()))
        return [say("forget_rows_stay", given.language, names=names)] if names else []

    async def _backups(self, given: Invocation) -> str:
        """Return the lines about the backups that still hold the data."""
        holders = await asyncio.to_thread(self._forgetting.holders)
        if not holders:
            return say("forget_no_backups", given.language)
        lines = [
            say("forget_backup_until", given.language, name=literal(each.name), day=each.until)
            if each.until
            else say("forget_backup_stays", given.language, name=literal(each.name))
            for each in holders[:MOST_LISTED]
        ]
        return "\n".join([say("forget_backups", given.language), "", *lines])

    def _accounts(self, who: str) -> list[str]:
        """Return the accounts of the person with this one."""
        person = self._roles.person(who)
        return [account.principal for account in person.accounts] if person is not None else [who]

    def _asker(self, given: Invocation) -> str:
        return self._access.principal(given.chat, given.sender)

    def _refusal(self, given: Invocation, who: str) -> str:
        """Return why the user may not erase the data of `who`, or "" if they may."""
        if who == self._asker(given):
            return ""
        if not given.may(OTHERS):
            return say("forget_others", given.language, slash=given.slash)
        platform, _, person = who.partition(":")
        if not (platform.isidentifier() and person):
            return say("forget_usage", given.language, slash=given.slash)
        if self._roles.of(who) is Role.OWNER and not given.is_owner:
            return say("forget_owner", given.language)
        return ""

    async def _known(self, typing: Unfinished) -> Iterable[Suggestion]:
        return known_people(self._roles, typing)

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "forget",
                {"en": "Erase what you said and what is kept of you", "zh": "删除您说过的话和与您有关的数据"},
                self.forget,
                rights=Rights({"": TALK, OTHERWISE: OTHERS}, _form),
                suggest=self._known,
                arguments="me|PERSON",
                example="me",
            ),
        )


def _form(arguments: str) -> str:
    """Return OTHERWISE for a word that may name somebody else; what is no such word erases nothing of others."""
    words = arguments.lower().split()
    is_name = len(words) == 1 and words[0] not in ME and len(words[0]) <= LONGEST_WHO
    return OTHERWISE if is_name or not words else ""


def _mark(asker: str, accounts: Sequence[str]) -> str:
    """Return a short mark of the person who asked, and of several accounts: a button has no room for their names."""
    own = _mark_of(asker)
    return own if len(accounts) == 1 else own[:_HALF] + _mark_of(" ".join(accounts))[:_HALF]


def _mark_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[: 2 * _HALF]


def _told(given: Invocation, done: list[Erased]) -> str:
    return say(
        "forget_done",
        given.language,
        messages=sum(each.messages for each in done),
        chats=sum(each.chats for each in done),
        entries=sum(each.entries for each in done),
    )
