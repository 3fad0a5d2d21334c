"""Brings each event to the node that works on its chat, and takes over chats that this node has claimed."""

import asyncio
import json
from collections.abc import Sequence
from functools import partial

import structlog

from agent_core.background import Background
from channels.base import ChatKey
from gateway.cluster.ownership import INBOX, POSTS, WANTED, Held, Ownership, Phase
from gateway.cluster.signals import NodeSignals
from gateway.cluster.work import ChatWork
from gateway.store.rows import InboxItem
from gateway.store.store import Store

IDLE_FOR = 60.0
"""Seconds after its last use in which a chat stays with its node, which has it in memory."""
LOOK_EVERY = 0.1
"""Seconds between two looks whether a chat can be handed over."""
MOST_RELEASED = 100
"""Chats released in one transaction."""

log = structlog.get_logger(__name__)


class Dispatcher:
    """Routes stored events, wherever they came in."""

    def __init__(self, ownership: Ownership, signals: NodeSignals, store: Store, work: ChatWork) -> None:
        self.ownership = ownership
        self._store = store
        self._work = work
        self._background = Background("taking over a chat failed")
        self._reading = Background("reading an event failed")
        self._missing: set[int] = set()
        """Inbox rows of our chats that were not in hand when they were last looked for."""
        signals.on(INBOX, self._came_elsewhere)
        signals.on(POSTS, self._passed_on)
        signals.on(WANTED, self._wanted_elsewhere)

    def begin(self) -> None:
        """Take over the chats that are claimed from now on."""
        self._background.start(self._read_claims(), "claims")

    async def close(self) -> None:
        await asyncio.gather(self._background.stop(), self._reading.stop(), self.ownership.close())

    def knows(self, chat: ChatKey) -> bool:
        """Return True if this node can reach the chat."""
        return self._work.knows(chat)

    def needs_connection(self, chat: ChatKey) -> bool:
        """See `ChatWork`."""
        return self._work.needs_connection(chat)

    async def take(self, chat: ChatKey) -> bool:
        """Work on a chat that has lost its node. Returns False if that is done elsewhere, or cannot be done here."""
        return self._work.knows(chat) and await self.ownership.take(chat)

    def dispatch(self, item: InboxItem, *, is_live: bool, is_passed_on: bool = False) -> None:
        """Route a stored event here, or tell the node that works on its chat; returns at once.

        `is_passed_on` is True for an event that another node has passed on.
        """
        held = self.ownership.of(item.event.chat)
        if held is not None and held.phase is Phase.OURS:
            self._route(held, item, is_live=is_live)
        else:
            is_wanted = is_live and self._work.needs_connection(item.event.chat)
            self.ownership.expect(item, is_live=is_live, is_wanted=is_wanted, is_passed_on=is_passed_on)

    @property
    def is_settled(self) -> bool:
        """True unless a chat comes to this node, or leaves it."""
        return self.ownership.is_settled and self._reading.is_idle

    async def look_for_missing(self) -> None:
        """Route what waits in the inbox for our chats and came to nobody's hands, as after a lost notification."""
        in_hand = [(held.in_hand, frozenset(held.in_hand)) for held in self.ownership.all()]
        found = await self.ownership.in_inbox()
        waiting = {seq for _, seq in found}
        for now, before in in_hand:
            now.difference_update(before - waiting)  # what has been dealt with
        missing = {seq for chat, seq in found if not self._has(chat, seq)}
        late, self._missing = [*(missing & self._missing)], missing
        for item in await self._store.inbox.new_among(late):
            log.warning("an event is routed late", seq=item.seq, chat=str(item.event.chat))
            self.dispatch(item, is_live=False)

    async def release_idle(self) -> None:
        """Release chats that were not used for a while."""
        now = asyncio.get_running_loop().time()
        idle = [chat for chat in self.ownership.owned if self._is_idle(chat, now)]
        for start in range(0, len(idle), MOST_RELEASED):
            await self.release(idle[start : start + MOST_RELEASED])

    async def release(self, chats: Sequence[ChatKey], *, idle: bool = True) -> None:
        """Give up chats, only those in which nothing is to be done if `idle`."""
        for chat in await self.ownership.release(chats, forget=self._work.forget, idle=idle):
            self._settled(chat, [])

    async def hand_over(self) -> None:
        """Give up each chat as soon as its work is at a safe point, until there is none."""
        while chats := self.ownership.owned:
            resting = [chat for chat in chats if self._work.rests(chat)]
            await asyncio.gather(*(self._work.cut_off(chat) for chat in resting))
            await self.release(resting, idle=False)
            if resting:
                await self.ownership.tell_of_left()
            await asyncio.sleep(LOOK_EVERY)

    # Implementation

    def _route(self, held: Held, item: InboxItem, *, is_live: bool) -> None:
        if item.seq not in held.in_hand:
            held.in_hand.add(item.seq)
            held.used = asyncio.get_running_loop().time()
            self._work.route(item, is_live=is_live)

    def _has(self, chat: ChatKey, seq: int) -> bool:
        held = self.ownership.of(chat)
        return held is None or held.phase is not Phase.OURS or seq in held.in_hand

    def _is_idle(self, chat: ChatKey, now: float) -> bool:
        held = self.ownership.of(chat)
        return held is not None and now - held.used >= IDLE_FOR and self._work.is_idle(chat)

    async def _read_claims(self) -> None:
        while True:
            chat = await self.ownership.claimed.get()
            taking = self._background.start(self._take_over(chat), f"take over {chat}")
            taking.add_done_callback(partial(self._was_taken, chat))

    async def _take_over(self, chat: ChatKey) -> None:
        held = self.ownership.of(chat)
        if held is not None and held.verified is not None:  # nothing else was left there
            self._work.forget(chat)
            self._settled(chat, [item for item, _ in held.waiting if item.seq in held.verified])
            return
        self._settled(chat, await self._work.take_over(chat))
        await self._work.taken_over(chat)

    def _was_taken(self, chat: ChatKey, taking: "asyncio.Task[None]") -> None:
        """Give a chat back that could not be taken over; the sweep offers it again."""
        if not taking.cancelled() and taking.exception() is not None:
            self._background.start(self._give_back(chat), f"give back {chat}")

    async def _give_back(self, chat: ChatKey) -> None:
        self.ownership.taken_over(chat)
        await self.release([chat], idle=False)

    def _settled(self, chat: ChatKey, items: Sequence[InboxItem]) -> None:
        """Route what was left in a chat of ours, and what came meanwhile, in the order of arrival."""
        came = self.ownership.taken_over(chat)
        held, live = self.ownership.of(chat), {item.seq for item, is_live in came if is_live}
        if held is None:
            return
        for item in items:
            self._route(held, item, is_live=item.seq in live)
        if later := [(item.seq, is_live) for item, is_live in came if item.seq not in held.in_hand]:
            self._reading.start(self._read(later))

    async def _read(self, seqs: Sequence[tuple[int, bool]], *, from_elsewhere: bool = False) -> None:
        """Route rows of the inbox, unless they have been dealt with."""
        live = {seq for seq, is_live in seqs if is_live}
        for item in await self._store.inbox.new_among([seq for seq, _ in seqs]):
            if from_elsewhere:
                if not self._work.knows(item.event.chat):
                    continue  # the sweep offers the chat to a node that does
                self._work.heard(item.event)
            self.dispatch(item, is_live=item.seq in live, is_passed_on=from_elsewhere)

    async def _came_elsewhere(self, key: str) -> None:
        if key:
            _, seqs = json.loads(key)
            await self._read([(int(seq), bool(is_live)) for seq, is_live in seqs], from_elsewhere=True)
        else:
            await self.look_for_missing()

    async def _wanted_elsewhere(self, key: str) -> None:
        """Give up a chat whose people are connected to another node, unless something is being done in it."""
        if key and self._work.is_idle(chat := ChatKey.parse(key)):
            await self.release([chat], idle=False)  # what waits in its inbox is for the other node

    async def _passed_on(self, key: str) -> None:
        if not key:
            return
        name, keys = json.loads(key)
        chat = ChatKey.parse(name)
        posts = [post for post in await self._store.outbox.unsent(chat) if post.key in keys]
        if posts:
            self._background.start(self._work.deliver(chat, posts), f"posts for {chat}")
