"""Brings each event to the node that works on its chat, and takes over chats that this node has claimed."""

import asyncio
import json
from collections.abc import Collection, Sequence, Set
from contextlib import suppress
from functools import partial

import structlog

from agent_core.background import Background
from channels.base import ChatKey
from gateway.cluster.ownership import INBOX, POSTS, WANTED, ChatState, Ownership, Phase
from gateway.cluster.protocols import ChatWork
from gateway.cluster.signals import NodeSignals
from gateway.store.rows import InboxItem, Post
from gateway.store.store import Store
from gateway.store.writer import STORE_ERRORS

IDLE_FOR = 60.0
"""Seconds after its last use in which a chat stays with its node, which has it in memory."""
LOOK_EVERY = 0.1
"""Seconds between two looks whether a chat can be handed over."""
NEWS_WITHIN = 1.0
"""Seconds for which a later event waits for news of an earlier one that another node has stored."""
OFFERED_AGAIN = 1.0
"""Seconds after which a chat is offered again that came to a node which cannot reach it."""
MOST_RELEASED = 100
"""Chats released in one transaction."""

log = structlog.get_logger(__name__)


class NodeDispatcher:
    """Routes stored events, wherever they came in."""

    def __init__(self, ownership: Ownership, signals: NodeSignals, store: Store, work: ChatWork) -> None:
        self.ownership = ownership
        self._store = store
        self._work = work
        self._background = Background("taking over a chat failed")
        self._releasing = Background("releasing chats failed")
        self._missing: set[int] = set()
        """Inbox rows of our chats that were not in hand when they were last looked for."""
        self._unsent: set[str] = set()
        """Keys of posts that had been passed on when they were last looked for."""
        signals.subscribe(INBOX, self._came_elsewhere)
        signals.subscribe(POSTS, self._passed_on)
        signals.subscribe(WANTED, self._wanted_elsewhere)

    def begin(self) -> None:
        """Take over the chats that are claimed from now on."""
        self._background.start(self._read_claims(), "claims")

    async def close(self) -> None:
        await asyncio.gather(self._background.stop(), self._releasing.stop(), self.ownership.close())

    def knows(self, chat: ChatKey) -> bool:
        """Return True if this node can reach the chat, or tries as no other node can."""
        return self._work.knows(chat) and not self.ownership.avoids(chat)

    def needs_connection(self, chat: ChatKey) -> bool:
        """See `ChatWork`."""
        return self._work.needs_connection(chat)

    async def take(self, chat: ChatKey) -> bool:
        """Work on a chat that has lost its node. Returns False if that is done elsewhere, or cannot be done here."""
        if self.ownership.avoids(chat):
            self._background.start(self._offer_again(), "offer again")
            await asyncio.sleep(OFFERED_AGAIN / 2)  # meanwhile the other nodes take theirs
        return self.knows(chat) and await self.ownership.take(chat)

    def dispatch(self, item: InboxItem, *, is_live: bool, passed_on: Sequence[InboxItem] = ()) -> None:
        """Route a stored event here, or tell the node that works on its chat; returns at once.

        `passed_on` is what waited in the chat just now, for an event that another node has passed on.
        """
        chat = item.event.chat
        held = self.ownership.of(chat)
        if held is None or held.phase is not Phase.OURS:
            is_wanted = is_live and self._work.needs_connection(chat)
            self.ownership.expect(item, is_live=is_live, is_wanted=is_wanted, is_passed_on=bool(passed_on))
        elif held.waiting or self.ownership.has_others:
            held.wait(item, is_live=is_live)
            self._begin_routing(chat, held, passed_on)
        else:
            self._route(held, item, is_live=is_live)

    @property
    def is_settled(self) -> bool:
        """True unless a chat comes to this node, or leaves it."""
        return self.ownership.is_settled

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

    async def look_for_unsent(self) -> None:
        """Deliver posts anew that the nodes of their chats were told to send and have not sent."""
        passed_on, before = self.ownership.passed_on, self._unsent
        due = {key: passed_on.pop(key) for key in [*passed_on] if key in before}
        self._unsent = set(passed_on)
        for chat in set(due.values()):
            posts = [post for post in await self._store.outbox.unsent(chat) if due.get(post.key) == chat]
            self._deliver(chat, posts, set())

    async def look_in(self, chats: Collection[ChatKey]) -> None:
        """Route what waits in the inbox for those of the chats that are ours, or are about to be."""
        for chat in chats:
            await self.ownership.settled(chat)
        held = {chat: self.ownership.held(chat) for chat in chats if self.ownership.owns(chat)}
        if not held:
            return
        found = [(chat, seq) for chat, seq in await self.ownership.in_inbox() if chat in held]
        missing = [seq for chat, seq in found if seq not in held[chat].in_hand]
        for item in await self._store.inbox.new_among(missing):
            self.dispatch(item, is_live=False)
        for chat in held:
            await self.routed(chat)

    async def routed(self, chat: ChatKey) -> None:
        """Return once the events that were dispatched for a chat are routed, or their node was told of them."""
        await self.ownership.settled(chat)
        held = self.ownership.of(chat)
        if held is not None and held.routing is not None:
            await asyncio.wait([held.routing])

    async def release_idle(self) -> None:
        """Release chats that were not used for a while."""
        now = asyncio.get_running_loop().time()
        idle = [chat for chat in self.ownership.owned if self._is_idle(chat, now)]
        for start in range(0, len(idle), MOST_RELEASED):
            await self.release(idle[start : start + MOST_RELEASED])

    async def release(self, chats: Sequence[ChatKey], *, idle: bool = True) -> None:
        """Give up chats: only those in which nothing is to be done if `idle`, else all, whose work is cut off.

        It is completed even if the caller is cancelled.
        """
        if ours := self.ownership.begin_release(chats):
            await asyncio.shield(self._releasing.start(self._release(ours, idle=idle)))

    async def hand_over(self) -> None:
        """Give up each chat as soon as its work is at a safe point, until there is none."""
        while chats := self.ownership.owned:
            await self._release_resting(chats)
            await asyncio.sleep(LOOK_EVERY)

    async def leave_avoided(self) -> None:
        """Leave the chats of platforms that only other nodes reach: those now whose work is at a safe point."""
        for chat in self.ownership.begin_leaving():
            self._work.leave(chat)
        await self._release_resting(self.ownership.leaving)

    # Implementation

    async def _release_resting(self, chats: Sequence[ChatKey]) -> None:
        resting = [chat for chat in chats if self._work.rests(chat)]
        await self.release(resting, idle=False)
        if resting:
            await self.ownership.tell_of_left()

    async def _offer_again(self) -> None:
        """Let chats that the queue has given to this node, which cannot reach them, be offered to all again."""
        await asyncio.sleep(OFFERED_AGAIN)
        await self.ownership.tell_of_left()

    async def _release(self, chats: Sequence[ChatKey], *, idle: bool) -> None:
        try:
            if not idle:
                await asyncio.gather(*(self._work.cut_off(chat) for chat in chats))
            while chats := await self.ownership.release(chats, forget=self._work.forget, idle=idle):
                if idle:
                    break
                await asyncio.sleep(LOOK_EVERY)  # another node asks for the chat just now
        except asyncio.CancelledError:  # this node ends
            chats = ()
            raise
        finally:
            for chat in chats:
                self._is_ours(chat)

    def _is_ours(self, chat: ChatKey) -> None:
        """Go on with a chat that is ours from now on, or again."""
        held = self.ownership.held(chat)
        held.waiting = [each for each in held.waiting if each[0].seq not in held.in_hand]
        self.ownership.taken_over(chat)
        self._begin_routing(chat, held)

    def _begin_routing(self, chat: ChatKey, held: ChatState, stored: Sequence[InboxItem] = ()) -> None:
        if held.waiting and not held.is_routing:
            held.routing = self._background.start(self._route_waiting(chat, held, stored), f"events of {chat}")

    async def _route_waiting(self, chat: ChatKey, held: ChatState, stored: Sequence[InboxItem]) -> None:
        """Route the events that wait in a chat of ours, each after all that were stored before it, by any node.

        `stored` is what was in the inbox when it was read last; it is read again if one of the events is not in it.
        """
        unheard: set[int] = set()
        while held.phase is Phase.OURS and held.waiting:
            came = {item.seq: (item, is_live) for item, is_live in reversed(held.waiting)}
            if came.keys() - {item.seq for item in stored}:
                stored = await self._store.inbox.waiting(chat)
            due = [item for item in stored if item.seq <= max(came) and item.seq not in held.in_hand]
            if missing := {item.seq for item in due} - came.keys() - unheard:
                await self._hear_of(missing, held)
                unheard |= missing
                stored = ()
            elif held.phase is Phase.OURS:
                held.waiting = [each for each in held.waiting if each[0].seq not in came]
                for each in due:
                    item, is_live = came.get(each.seq, (each, False))
                    self._route(held, item, is_live=is_live)

    async def _hear_of(self, missing: Set[int], held: ChatState) -> None:
        """Wait for the news of stored events: only those who tell it know if an event has just come."""
        with suppress(TimeoutError):
            async with asyncio.timeout(NEWS_WITHIN):
                while held.phase is Phase.OURS and missing - {item.seq for item, _ in held.waiting}:
                    held.came_in.clear()
                    await held.came_in.wait()

    def _route(self, held: ChatState, item: InboxItem, *, is_live: bool) -> None:
        if item.seq not in held.in_hand:
            held.in_hand.add(item.seq)
            held.used = asyncio.get_running_loop().time()
            self._work.route(item, is_live=is_live)

    def _has(self, chat: ChatKey, seq: int) -> bool:
        held = self.ownership.of(chat)
        return held is None or held.phase is not Phase.OURS or seq in held.in_hand

    def _is_idle(self, chat: ChatKey, now: float) -> bool:
        held = self.ownership.of(chat)
        if held is None or held.waiting or now - held.used < IDLE_FOR:
            return False
        return self._work.is_idle(chat)

    async def _read_claims(self) -> None:
        while True:
            chat = await self.ownership.claimed.get()
            taking = self._background.start(self._take_over(chat), f"take over {chat}")
            taking.add_done_callback(partial(self._was_taken, chat))

    async def _take_over(self, chat: ChatKey) -> None:
        held = self.ownership.held(chat)
        if held.verified is not None:  # nothing else was left there
            self._work.forget(chat)
            came = [item for item, _ in held.waiting if item.seq in held.verified]
            self._route_left(held, sorted(came, key=lambda item: item.seq))
        else:
            self._route_left(held, await self._work.take_over(chat))
            await self._work.taken_over(chat)
        self._is_ours(chat)

    def _was_taken(self, chat: ChatKey, taking: "asyncio.Task[None]") -> None:
        """Give a chat back that could not be taken over; the sweep offers it again."""
        if not taking.cancelled() and taking.exception() is not None:
            self._background.start(self._give_back(chat), f"give back {chat}")

    async def _give_back(self, chat: ChatKey) -> None:
        self.ownership.held(chat).waiting.clear()  # nothing is to claim it again at once
        self.ownership.taken_over(chat)
        await self.release([chat], idle=False)

    def _route_left(self, held: ChatState, items: Sequence[InboxItem]) -> None:
        """Route what was left in a chat that has just been claimed."""
        live = {item.seq for item, is_live in held.waiting if is_live}
        for item in items:
            self._route(held, item, is_live=item.seq in live)

    async def _came_elsewhere(self, key: str) -> None:
        if not key:
            await self.look_for_missing()
            return
        name, news = json.loads(key)
        told = {int(seq): bool(is_live) for seq, is_live in news}
        if self._work.knows(chat := ChatKey.parse(name)):  # else the sweep offers the chat to a node that does
            waiting = await self._store.inbox.waiting(chat)
            for item in waiting:
                if item.seq in told:
                    self._work.heard(item.event)
                    self.dispatch(item, is_live=told[item.seq], passed_on=waiting)

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
        held = self.ownership.of(chat)
        if held is not None:  # it may be told again of what it has in hand
            posts = [post for post in posts if post.key not in held.posts]
        self._deliver(chat, posts, held.posts if held is not None else set())

    def _deliver(self, chat: ChatKey, posts: Sequence[Post], in_hand: set[str]) -> None:
        if posts:
            self._background.start(self._delivered(chat, posts, in_hand), f"posts for {chat}")

    async def _delivered(self, chat: ChatKey, posts: Sequence[Post], in_hand: set[str]) -> None:
        """Deliver posts, which are in hand from now on, unless the store is in the way."""
        keys = {post.key for post in posts}
        in_hand |= keys
        try:
            await self._work.deliver(chat, posts)
        except STORE_ERRORS:
            in_hand -= keys
            raise
