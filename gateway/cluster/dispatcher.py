"""Routes events to the nodes that own their chats, and takes over the chats that this node claims."""

import asyncio
import json
from collections.abc import Collection, Sequence, Set
from contextlib import suppress
from functools import partial

import structlog

from agent_core.background import Background
from channels.base import ChatKey
from gateway.cluster.chat_owners import Orphan
from gateway.cluster.ownership import INBOX, POSTS, REQUESTED, ChatState, Ownership, Phase
from gateway.cluster.protocols import Change, Chats, ChatWork
from gateway.cluster.signals import NodeSignals
from gateway.store.rows import InboxItem, Post
from gateway.store.store import Store
from gateway.store.writer import STORE_ERRORS

IDLE_FOR = 60.0
"""Seconds after its last use for which a chat is kept by its node, which has it in memory."""
LOOK_EVERY = 0.1
"""Seconds between two checks if chats can be handed over."""
NOTIFIED_WITHIN = 1.0
"""Seconds for which an event waits for the notification of an earlier one stored by another node."""
OFFERED_AGAIN = 1.0
"""Seconds after which a chat is offered again that the queue gave to a node which cannot reach it."""
REST_WITHIN = 20.0
"""Seconds for the work in chats to come to a safe point, before it is cut off as it is."""
MOST_RELEASED = 100
"""Chats released in one transaction."""

log = structlog.get_logger(__name__)


class NodeDispatcher:
    """Routes stored events to this node's chats or to their owners."""

    def __init__(self, ownership: Ownership, signals: NodeSignals, store: Store, work: ChatWork) -> None:
        self.ownership = ownership
        self._store = store
        self._work = work
        self._background = Background("taking over a chat failed")
        self._releasing = Background("releasing chats failed")
        self._missing: set[int] = set()
        """Inbox rows of owned chats that were not in flight at the last sweep."""
        self._unsent: set[str] = set()
        """Keys of posts that had been forwarded at the last sweep."""
        signals.subscribe(INBOX, self._event_stored)
        signals.subscribe(POSTS, self._forwarded)
        signals.subscribe(REQUESTED, self._requested)

    def start(self) -> None:
        """Start taking over claimed chats."""
        self._background.start(self._read_claims(), "claims")

    async def close(self) -> None:
        await asyncio.gather(self._background.stop(), self._releasing.stop(), self.ownership.close())

    def can_reach(self, chat: ChatKey) -> bool:
        """Return True if this node can reach the chat, or keeps trying because no other node can."""
        return self._work.can_reach(chat) and not self.ownership.avoids(chat)

    async def orphans(self) -> list[Orphan]:
        """Return the chats with no owner and pending work that this node can do and reach."""
        found = await self.ownership.orphans(self._work.owed_kinds)
        return [each for each in found if self.can_reach(each.chat)]

    def needs_connection(self, chat: ChatKey) -> bool:
        """See `ChatWork`."""
        return self._work.needs_connection(chat)

    async def claim(self, chat: ChatKey) -> bool:
        """Claim an orphaned chat. Returns False if another node owns it, or this one cannot reach it."""
        if self.ownership.avoids(chat):
            self._background.start(self._offer_again(), "offer again")
            await asyncio.sleep(OFFERED_AGAIN / 2)  # meanwhile the other nodes take theirs
        return self.can_reach(chat) and await self.ownership.claim(chat)

    def dispatch(self, item: InboxItem, *, is_live: bool, forwarded: Sequence[InboxItem] = ()) -> None:
        """Route a stored event here, or notify the owner of its chat; returns at once.

        `forwarded` holds the pending events of the chat, just read, for an event that another node forwarded.
        """
        chat = item.event.chat
        state = self.ownership.get(chat)
        if state is None or state.phase is not Phase.OWNED:
            is_requested = is_live and self._work.needs_connection(chat)
            self.ownership.enqueue(item, is_live=is_live, is_requested=is_requested, is_forwarded=bool(forwarded))
        elif state.waiting or self.ownership.has_others:
            state.wait(item, is_live=is_live)
            self._begin_routing(chat, state, forwarded)
        else:
            self._route(state, item, is_live=is_live)

    @property
    def is_settled(self) -> bool:
        """True unless a chat is being claimed or released."""
        return self.ownership.is_settled

    async def route_missed(self) -> None:
        """Route pending events of owned chats that are not in flight, as after a lost notification."""
        in_flight = [(state.in_flight, frozenset(state.in_flight)) for state in self.ownership.all()]
        found = await self.ownership.in_inbox()
        waiting = {seq for _, seq in found}
        for now, before in in_flight:
            now.difference_update(before - waiting)  # rows that are done
        missing = {seq for chat, seq in found if not self._has(chat, seq)}
        late, self._missing = [*(missing & self._missing)], missing
        for item in await self._store.inbox.new_among(late):
            log.warning("an event is routed late", seq=item.seq, chat=str(item.event.chat))
            self.dispatch(item, is_live=False)

    async def deliver_unsent(self) -> None:
        """Deliver posts that were forwarded to the owners of their chats and are still unsent."""
        forwarded, before = self.ownership.forwarded, self._unsent
        due = {key: forwarded.pop(key) for key in [*forwarded] if key in before}
        self._unsent = set(forwarded)
        for chat in set(due.values()):
            posts = [post for post in await self._store.outbox.unsent(chat) if due.get(post.key) == chat]
            self._deliver(chat, posts, set())

    async def route_pending(self, chats: Collection[ChatKey]) -> None:
        """Route the pending events of those of the chats that this node owns or is claiming."""
        for chat in chats:
            await self.ownership.wait_settled(chat)
        owned = {chat: self.ownership.state(chat) for chat in chats if self.ownership.owns(chat)}
        if not owned:
            return
        found = [(chat, seq) for chat, seq in await self.ownership.in_inbox() if chat in owned]
        missing = [seq for chat, seq in found if seq not in owned[chat].in_flight]
        for item in await self._store.inbox.new_among(missing):
            self.dispatch(item, is_live=False)
        for chat in owned:
            await self.wait_routed(chat)

    async def wait_routed(self, chat: ChatKey) -> None:
        """Wait until the events dispatched for a chat are routed, or its owner was notified of them."""
        await self.ownership.wait_settled(chat)
        state = self.ownership.get(chat)
        if state is not None and state.routing is not None:
            await asyncio.wait([state.routing])

    async def release_idle(self) -> None:
        """Release chats that were not used for IDLE_FOR seconds."""
        now = asyncio.get_running_loop().time()
        idle = [chat for chat in self.ownership.owned if self._is_idle(chat, now)]
        for start in range(0, len(idle), MOST_RELEASED):
            await self.release(idle[start : start + MOST_RELEASED])

    async def release(self, chats: Sequence[ChatKey], *, idle: bool = True) -> None:
        """Release chats: only those without pending work if `idle`, else all, after cancelling their work.

        It is completed even if the caller is cancelled.
        """
        if owned := self.ownership.begin_release(chats):
            await asyncio.shield(self._releasing.start(self._release(owned, idle=idle)))

    async def hand_over(self) -> None:
        """Release each chat as soon as its work is at a safe point, until none is left."""
        while chats := self.ownership.owned:
            await self._release_at_safe_point(chats)
            await asyncio.sleep(LOOK_EVERY)

    async def leave_avoided(self) -> None:
        """Drain the chats of platforms that only other nodes reach, and release those at a safe point."""
        for chat in self.ownership.begin_leaving():
            self._work.drain(chat)
        await self._release_at_safe_point(self.ownership.chats_leaving)

    async def at_rest(self, chats: Chats, change: Change) -> bool:
        """See `Dispatcher`. All chats are claimed before, and again afterwards, to go on there."""
        resting: set[ChatKey] = set()
        is_ours = True
        while is_ours and (new := {*await chats()} - resting):
            if is_ours := await self._come_to_rest(new):
                resting |= new
        if not resting:
            return False
        owned = self.ownership.begin_release([*resting])
        is_ours = is_ours and len(owned) == len(resting)
        changing = self._releasing.start(self._changed(owned, change if is_ours else None))
        resting.update(await asyncio.shield(changing))
        await asyncio.gather(*(self.ownership.claim(chat) for chat in resting))
        return is_ours

    # Implementation

    async def _come_to_rest(self, chats: Collection[ChatKey]) -> bool:
        """Claim chats, and wait until their work is at a safe point, but not long. Returns False if one is kept."""
        for chat in chats:
            if not await self.ownership.claim(chat, is_requested=True):
                return False
        for chat in chats:
            self.ownership.state(chat).leaving.set()
            self._work.drain(chat)
        with suppress(TimeoutError):
            async with asyncio.timeout(REST_WITHIN):
                while not all(map(self._work.is_at_safe_point, chats)):  # noqa: ASYNC110 (its parts have no event)
                    await asyncio.sleep(LOOK_EVERY)
        return True

    async def _changed(self, chats: Sequence[ChatKey], change: Change | None) -> Collection[ChatKey]:
        """Cut off the work in chats, make a change, and release them. Returns what the change does."""
        try:
            await asyncio.gather(*(self._work.cancel(chat) for chat in chats))
            return () if change is None else await change()
        finally:
            await self._release(chats, idle=False)

    async def _release_at_safe_point(self, chats: Sequence[ChatKey]) -> None:
        ready = [chat for chat in chats if self._work.is_at_safe_point(chat)]
        await self.release(ready, idle=False)
        if ready:
            await self.ownership.announce_orphans()

    async def _offer_again(self) -> None:
        """Let chats that this node got from the queue, and cannot reach, be offered to all nodes again."""
        await asyncio.sleep(OFFERED_AGAIN)
        await self.ownership.announce_orphans()

    async def _release(self, chats: Sequence[ChatKey], *, idle: bool) -> None:
        try:
            if not idle:
                await asyncio.gather(*(self._work.cancel(chat) for chat in chats))
            while chats := await self.ownership.release(chats, unload=self._work.unload, idle=idle):
                if idle:
                    break
                await asyncio.sleep(LOOK_EVERY)  # another node has locked the row to notify this one
        except asyncio.CancelledError:  # the node is closing
            chats = ()
            raise
        finally:
            for chat in chats:
                self._mark_owned(chat)

    def _mark_owned(self, chat: ChatKey) -> None:
        """Mark a chat as owned, and route its waiting events."""
        state = self.ownership.state(chat)
        state.waiting = [each for each in state.waiting if each[0].seq not in state.in_flight]
        self.ownership.mark_owned(chat)
        self._begin_routing(chat, state)

    def _begin_routing(self, chat: ChatKey, state: ChatState, stored: Sequence[InboxItem] = ()) -> None:
        if state.waiting and not state.is_routing:
            state.routing = self._background.start(self._route_waiting(chat, state, stored), f"events of {chat}")

    async def _route_waiting(self, chat: ChatKey, state: ChatState, stored: Sequence[InboxItem]) -> None:
        """Route the waiting events of an owned chat, each after all that any node stored before it.

        `stored` holds the pending events when they were last read; they are read again if a waiting event is missing.
        """
        awaited: set[int] = set()
        while state.phase is Phase.OWNED and state.waiting:
            came = {item.seq: (item, is_live) for item, is_live in reversed(state.waiting)}
            if came.keys() - {item.seq for item in stored}:
                stored = await self._store.inbox.waiting(chat)
            due = [item for item in stored if item.seq <= max(came) and item.seq not in state.in_flight]
            if missing := {item.seq for item in due} - came.keys() - awaited:
                await self._await_notifications(missing, state)
                awaited |= missing
                stored = ()
            elif state.phase is Phase.OWNED:
                state.waiting = [each for each in state.waiting if each[0].seq not in came]
                for each in due:
                    item, is_live = came.get(each.seq, (each, False))
                    self._route(state, item, is_live=is_live)

    async def _await_notifications(self, missing: Set[int], state: ChatState) -> None:
        """Wait for the notifications of stored events: only their sender knows if an event is live."""
        with suppress(TimeoutError):
            async with asyncio.timeout(NOTIFIED_WITHIN):
                while state.phase is Phase.OWNED and missing - {item.seq for item, _ in state.waiting}:
                    state.arrived.clear()
                    await state.arrived.wait()

    def _route(self, state: ChatState, item: InboxItem, *, is_live: bool) -> None:
        if item.seq not in state.in_flight:
            state.in_flight.add(item.seq)
            state.used = asyncio.get_running_loop().time()
            self._work.route(item, is_live=is_live)

    def _has(self, chat: ChatKey, seq: int) -> bool:
        state = self.ownership.get(chat)
        return state is None or state.phase is not Phase.OWNED or seq in state.in_flight

    def _is_idle(self, chat: ChatKey, now: float) -> bool:
        state = self.ownership.get(chat)
        if state is None or state.waiting or now - state.used < IDLE_FOR:
            return False
        return self._work.is_idle(chat)

    async def _read_claims(self) -> None:
        while True:
            chat = await self.ownership.claimed.get()
            taking = self._background.start(self._take_over(chat), f"take over {chat}")
            taking.add_done_callback(partial(self._take_over_ended, chat))

    async def _take_over(self, chat: ChatKey) -> None:
        state = self.ownership.state(chat)
        if state.verified is not None:  # there was no other pending work
            self._work.unload(chat)
            came = [item for item, _ in state.waiting if item.seq in state.verified]
            self._route_taken_over(state, sorted(came, key=lambda item: item.seq))
        else:
            self._route_taken_over(state, await self._work.take_over(chat))
            await self._work.recheck_rights(chat)
        self._mark_owned(chat)

    def _take_over_ended(self, chat: ChatKey, taking: "asyncio.Task[None]") -> None:
        """Release a chat whose take-over failed; the sweep offers it again."""
        if not taking.cancelled() and taking.exception() is not None:
            self._background.start(self._give_back(chat), f"give back {chat}")

    async def _give_back(self, chat: ChatKey) -> None:
        self.ownership.state(chat).waiting.clear()  # or it would be claimed again at once
        self.ownership.mark_owned(chat)
        await self.release([chat], idle=False)

    def _route_taken_over(self, state: ChatState, items: Sequence[InboxItem]) -> None:
        """Route the pending events of a chat that was just claimed."""
        live = {item.seq for item, is_live in state.waiting if is_live}
        for item in items:
            self._route(state, item, is_live=item.seq in live)

    async def _event_stored(self, key: str) -> None:
        if not key:
            await self.route_missed()
            return
        name, events = json.loads(key)
        told = {int(seq): bool(is_live) for seq, is_live in events}
        if self._work.can_reach(chat := ChatKey.parse(name)):  # otherwise the sweep offers it to a node that can
            waiting = await self._store.inbox.waiting(chat)
            for item in waiting:
                if item.seq in told:
                    self._work.note_remote(item.event)
                    self.dispatch(item, is_live=told[item.seq], forwarded=waiting)

    async def _requested(self, key: str) -> None:
        """Release an idle chat whose people are connected to another node."""
        if key and self._work.is_idle(chat := ChatKey.parse(key)):
            await self.release([chat], idle=False)  # its pending events are for the other node

    async def _forwarded(self, key: str) -> None:
        if not key:
            return
        name, keys = json.loads(key)
        chat = ChatKey.parse(name)
        posts = [post for post in await self._store.outbox.unsent(chat) if post.key in keys]
        state = self.ownership.get(chat)
        if state is not None:  # a notification may repeat posts that are being delivered
            posts = [post for post in posts if post.key not in state.posts]
        self._deliver(chat, posts, state.posts if state is not None else set())

    def _deliver(self, chat: ChatKey, posts: Sequence[Post], in_flight: set[str]) -> None:
        if posts:
            self._background.start(self._delivered(chat, posts, in_flight), f"posts for {chat}")

    async def _delivered(self, chat: ChatKey, posts: Sequence[Post], in_flight: set[str]) -> None:
        """Deliver posts, which are in flight until a store error."""
        keys = {post.key for post in posts}
        in_flight |= keys
        try:
            await self._work.deliver(chat, posts)
        except STORE_ERRORS:
            in_flight -= keys
            raise
