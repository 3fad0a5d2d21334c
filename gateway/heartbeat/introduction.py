"""The owner's own chat is looked after without having asked, and is told so in one message."""

import asyncio
from zoneinfo import ZoneInfo

from agent_core.clock import Clock
from channels.base import Button, OutboundMessage, Sender
from gateway.access import Access
from gateway.delivery import Delivery
from gateway.heartbeat.gates import next_look
from gateway.heartbeat.switches import EVERY, Switches, words_of
from gateway.store.job import Heartbeat
from gateway.store.rows import Run
from gateway.store.store import Store
from gateway.texts import Language, language_of, say
from gateway.timing.words import slot_words

NAME = "introduction"


class Introduction:
    """Happens once in the life of a store, unless an owner has used the heartbeat before."""

    def __init__(self, store: Store, delivery: Delivery, access: Access, clock: Clock, switches: Switches) -> None:
        self._store = store
        self._delivery = delivery
        self._access = access
        self._clock = clock
        self._switches = switches
        self._over = False
        self._one = asyncio.Lock()

    async def answered(self, run: Run, zone: ZoneInfo, default: Language) -> None:
        """An answer was delivered. The first to an owner, in private and not on this machine, is where it begins."""
        if self._over or not self._is_owners_own(run):
            return
        async with self._one:
            if not self._over and not await self._is_known():
                await self._introduce(run, zone, default)
            self._over = True

    async def _introduce(self, run: Run, zone: ZoneInfo, default: Language) -> None:
        """Noted before it begins: nobody is looked after who was not told."""
        tag = await self._store.language_of(run.chat, run.person)
        language = language_of(tag, default)
        heartbeat = Heartbeat(run.chat, run.person, "")
        now = self._clock.time()
        slash = self._delivery.channel(run.chat).limits.slash
        quiet = heartbeat.quiet_hours
        text = say(
            "heartbeat_introduction",
            language,
            minutes=EVERY // 60,
            most=heartbeat.most_a_day,
            quiet=quiet.words if quiet else "",
            zone=zone.key,
            next=slot_words(next_look(heartbeat, now + EVERY, EVERY, zone), zone, language, now),
            slash=slash,
        )
        buttons = ("off", "heartbeat_off_button"), ("quiet", "heartbeat_quiet_button"), ("now", "heartbeat_now_button")
        row = tuple(Button(label=say(key, language), action=f"/heartbeat {verb}") for verb, key in buttons)
        post = words_of(NAME, run.chat, OutboundMessage(markdown=text, buttons=(row,)))
        is_new = await self._switches.noted(post)
        await self._switches.on(run.chat, Sender(id=run.person, name="", language=tag), language, zone)
        if is_new:
            self._switches.say(post)

    async def _is_known(self) -> bool:
        """Whether an owner has one somewhere, be it that they have switched it off before they were told of it."""
        found = await self._store.jobs.heartbeats()
        return any(self._access.is_owner(each.chat, Sender(id=each.person, name="")) for each in found)

    def _is_owners_own(self, run: Run) -> bool:
        channel = self._delivery.channel(run.chat)
        own = not channel.limits.is_local and not channel.is_group(run.chat) and run.chat.thread is None
        return own and self._access.is_owner(run.chat, Sender(id=run.person, name=""))
