"""Chats owned by this node: claimed when they are needed, released when they are idle.

A chat gets a new owner only after its owner released it, with all writes done, or was fenced.
"""

import asyncio
import json
from collections.abc import Callable, Sequence, Set
from enum import Enum, auto
from functools import partial

import structlog
from msgspec import Struct, field

from agent_core.background import Background
from channels.base import ChatKey
from gateway.cluster.chat_owners import ChatOwners, Load, Notify, Orphan
from gateway.cluster.node import ORPHANED, Node
from gateway.cluster.signals import OF_NODE, NodeSignals
from gateway.delivery.sending import Right
from gateway.store.connection import Connection
from gateway.store.rows import InboxItem
from gateway.store.writer import StoreUnavailable

INBOX = "inbox"
"""Topic: inbox rows for the node that owns their chat."""
POSTS = "posts"
"""Topic: posts in the outbox, for the node that owns their chat."""
REQUESTED = "wanted"
"""Topic: chats that another node asks for, because their people are connected to it."""
REQUEST_EVERY = 0.25
"""Seconds between two such requests."""
MOST_NOTIFIED = 100
"""Events or posts in one notification, which PostgreSQL limits to 8,000 bytes."""
MOST_REQUESTS = 40
"""Requests for such a chat before it is left to its owner."""
FOUND_WITHIN = 15.0
"""Seconds after which the sweep has certainly found the events that a dead node stored without a notification."""
FEW = 20
"""Chats that a node claims whatever the load of the others, so that small installations forward nothing."""
MOST_MORE = 1.25
"""Ratio of loads above which a node forwards new chats to the least loaded one."""

log = structlog.get_logger(__name__)


class Phase(Enum):
    CLAIMING = auto()
    TAKING_OVER = auto()
    """The chat is owned, and its pending work is being read."""
    OWNED = auto()
    RELEASING = auto()


class ChatState(Struct, weakref=True):
    """State of a chat that this node owns or is claiming."""

    phase: Phase = Phase.CLAIMING
    is_forwarded: bool = False
    """True if another node forwarded an event, so this one has to claim the chat if it is free."""
    waiting: list[tuple[InboxItem, bool]] = field(default_factory=list)
    """Events that wait until the chat is owned and earlier events are routed; each with its `is_live`."""
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when an event is added to `waiting`."""
    routing: "asyncio.Task[None] | None" = None
    """Routes the waiting events in order."""
    verified: frozenset[int] | None = None
    """Inbox rows that were the only pending work when the chat was claimed; None if there was more."""
    in_flight: set[int] = field(default_factory=set)
    """Inbox rows that were routed and may not be done yet."""
    posts: set[str] = field(default_factory=set)
    """Keys of forwarded posts that are being delivered."""
    used: float = 0.0
    """Time of the last use, by the event loop's clock."""
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the chat is owned by this node or certainly not."""
    is_requested: bool = False
    """True if its people are connected to this node, so its owner is asked to release it."""
    leaving: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the chat is to be handed over as soon as its work is at a safe point."""

    def wait(self, item: InboxItem, *, is_live: bool) -> None:
        """Add an event to `waiting`."""
        self.waiting.append((item, is_live))
        self.arrived.set()

    @property
    def is_routing(self) -> bool:
        return self.routing is not None and not self.routing.done()


class Ownership:
    """Claims and releases chats. Implements `Sending`.

    Each claimed chat is put into the queue `claimed`, whose reader takes over its pending work.
    """

    def __init__(self, node: Node, signals: NodeSignals, rows: ChatOwners, unfinished: Sequence[str] = ()) -> None:
        self.claimed: asyncio.Queue[ChatKey] = asyncio.Queue()
        self.is_draining = False
        """True once this node claims no more chats."""
        self.avoided: frozenset[str] = frozenset()
        """Platforms that other nodes reach and this one does not; it claims none of their chats."""
        self._node = node
        self._signals = signals
        self._rows, self._unfinished = rows, unfinished
        self._chats: dict[ChatKey, ChatState] = {}
        self._others = 0
        """Number of other live nodes at the last count."""
        self._others_until = 0.0
        """Until when an event stored by another node may turn up, by the event loop's clock."""
        self._loads: dict[str, Load] = {}
        """Load of each other node that accepts chats, at the last count."""
        self._remote: set[ChatKey] = set()
        """Chats found to be owned by another node since the last count."""
        self.forwarded: dict[str, ChatKey] = {}
        """Chats by the keys of their posts that were forwarded to their owners."""
        self._work = Background("claiming a chat failed")

    # The chats

    def get(self, chat: ChatKey) -> ChatState | None:
        """Return the chat's state, or None if this node neither owns nor claims it."""
        return self._chats.get(chat)

    def state(self, chat: ChatKey) -> ChatState:
        """Return the state of a chat that this node owns or is claiming."""
        return self._chats[chat]

    def owns(self, chat: ChatKey) -> bool:
        """See `Sending`."""
        state = self._chats.get(chat)
        return state is not None and state.phase is Phase.OWNED

    def all(self) -> list[ChatState]:
        """Return the states of all chats that this node owns or is claiming."""
        return list(self._chats.values())

    def avoids(self, chat: ChatKey) -> bool:
        """Return True if the chat is left to other nodes, because only they reach its platform."""
        return chat.platform in self.avoided

    @property
    def chats_leaving(self) -> list[ChatKey]:
        """Owned chats that are handed over once their work is at a safe point."""
        return [chat for chat in self.owned if self._chats[chat].leaving.is_set()]

    def begin_leaving(self) -> list[ChatKey]:
        """Mark all avoided chats as leaving. Returns those that were not marked before."""
        found = [chat for chat in self.owned if self.avoids(chat) and not self._chats[chat].leaving.is_set()]
        for chat in found:
            self._chats[chat].leaving.set()
        return found

    @property
    def owned(self) -> list[ChatKey]:
        return [chat for chat, state in self._chats.items() if state.phase is Phase.OWNED]

    @property
    def is_settled(self) -> bool:
        """True unless a chat is being claimed, taken over or released, or has waiting events."""
        return all(state.phase is Phase.OWNED and not state.waiting for state in self._chats.values())

    async def wait_settled(self, chat: ChatKey) -> None:
        """Wait until a chat is owned, with its pending work taken over, or certainly is not."""
        if (state := self._chats.get(chat)) is not None:
            await state.settled.wait()

    def enqueue(
        self, item: InboxItem, *, is_live: bool, is_requested: bool = False, is_forwarded: bool = False
    ) -> None:
        """Queue an event until its chat is owned; start a claim unless one is running.

        `is_requested` asks the owner to release the chat once it is idle there. `is_forwarded` is True for an event
        that another node forwarded, perhaps because of its load.
        """
        chat = item.event.chat
        state = self._chats.get(chat) or self._begin(chat, is_requested=is_requested)
        state.is_forwarded = state.is_forwarded or is_forwarded
        state.wait(item, is_live=is_live)

    async def claim(self, chat: ChatKey, *, is_requested: bool = False) -> bool:
        """Claim a chat. Returns True once it is owned with its pending work, False if another node owns it.

        See `enqueue` for `is_requested`.
        """
        state = self._chats.get(chat)
        while state is not None and state.phase is Phase.RELEASING:
            await state.settled.wait()
            state = self._chats.get(chat)
        state = state or self._begin(chat, is_requested=is_requested)
        await state.settled.wait()
        return self.owns(chat)

    def mark_owned(self, chat: ChatKey) -> None:
        """Mark a chat as owned: its pending work was taken over, or it was not released after all."""
        state = self._chats[chat]
        state.phase = Phase.OWNED
        state.settled.set()

    def begin_release(self, chats: Sequence[ChatKey]) -> list[ChatKey]:
        """Let events of owned chats wait from now on. Returns these chats, to be passed to `release`."""
        owned = [chat for chat in chats if self.owns(chat)]
        for chat in owned:
            self._chats[chat].phase = Phase.RELEASING
            self._chats[chat].settled.clear()
        return owned

    async def release(
        self, chats: Sequence[ChatKey], *, unload: Callable[[ChatKey], None], idle: bool
    ) -> list[ChatKey]:
        """Release chats. Returns those that could not be released; call `mark_owned` for each.

        Args:
            chats: Chats returned by `begin_release`, with no work left in memory.
            unload: Drops the memory of a released chat.
            idle: True keeps chats that have pending work in the database.
        """
        released = await self._rows.release(chats, self._node.id, idle=idle)
        for chat in released:
            unload(chat)
            state = self._chats.pop(chat)
            state.settled.set()
            if state.waiting:
                self._begin(chat, state.waiting)
        return [chat for chat in chats if chat not in released]

    # Sending

    @property
    def processes(self) -> int:
        """See `Sending`."""
        return 1 + self._others

    @property
    def has_others(self) -> bool:
        """True if other nodes may store events, or a dead one may have stored some without a notification."""
        return self._others > 0 or asyncio.get_running_loop().time() < self._others_until

    async def count_others(self) -> None:
        """Refresh the number and the loads of the other nodes."""
        self._remote.clear()
        self._others = len(await self._rows.alive() - {self._node.id})
        if self._others:
            self._others_until = asyncio.get_running_loop().time() + FOUND_WITHIN
        self._loads = {node: load for node, load in (await self._rows.loads()).items() if node != self._node.id}

    @property
    def is_alone(self) -> bool:
        """True if no other node accepted chats at the last count."""
        return not self._loads

    async def remote_chats(self) -> set[ChatKey]:
        """See `Sending`."""
        return await self._rows.of_others(self._node.id)

    def keeps(self, chat: ChatKey) -> bool:
        """See `Sending`."""
        return self.owns(chat) and not self._chats[chat].leaving.is_set()

    async def wait_leaving(self, chat: ChatKey) -> None:
        """See `Sending`."""
        if self.owns(chat):
            await self._chats[chat].leaving.wait()

    async def wait_fresh(self) -> None:
        """See `Sending`."""
        await self._node.wait_fresh()

    async def right(self, chat: ChatKey) -> Right:
        """See `Sending`."""
        if self.owns(chat):
            self._chats[chat].used = asyncio.get_running_loop().time()
            return Right.OWNED
        return Right.CLAIMED if await self.claim(chat) else Right.REMOTE

    async def forward(self, chat: ChatKey, keys: Sequence[str]) -> None:
        """See `Sending`."""
        self.forwarded.update(dict.fromkeys(keys, chat))
        parts = [keys[start : start + MOST_NOTIFIED] for start in range(0, len(keys), MOST_NOTIFIED)]

        def notify(connection: Connection, owner: str) -> None:
            for part in parts:
                self._signals.notify(connection, owner, POSTS, json.dumps([str(chat), part]))

        await self._rows.notify_owner(chat, notify)

    # The rows

    async def in_inbox(self) -> list[tuple[ChatKey, int]]:
        """Return the pending inbox rows of the chats of this node."""
        return await self._rows.in_inbox(self._node.id)

    async def orphans(self, kinds: Set[str]) -> list[Orphan]:
        """Return the chats that have pending work and no owner; what is owed there is of these kinds."""
        return await self._rows.orphans(kinds, self._unfinished)

    async def announce_orphans(self) -> None:
        """Notify the other nodes that chats with pending work have no owner."""
        await self._rows.commit(lambda connection: self._signals.publish(connection, ORPHANED, self._node.id))

    async def close(self) -> None:
        self._node.end()
        await self._work.stop()

    # Implementation

    def _begin(
        self, chat: ChatKey, waiting: Sequence[tuple[InboxItem, bool]] = (), *, is_requested: bool = False
    ) -> ChatState:
        state = self._chats[chat] = ChatState(waiting=list(waiting), is_requested=is_requested)
        self._work.start(self._claim(chat, state), f"claim {chat}")
        return state

    async def _claim(self, chat: ChatKey, state: ChatState) -> None:
        """Claim a chat, or notify its owner of the waiting events until none is left."""
        try:
            is_requested = state.is_requested and not (self.is_draining or self.avoids(chat))
            is_owned = is_requested and await self._claim_on_request(chat, state)
            is_owned = is_owned or await self._claim_or_notify(chat, state)
            while state.waiting and not is_owned:
                is_owned = await self._claim_or_notify(chat, state)
        except StoreUnavailable:  # this node was fenced; the others find the rows
            log.warning("a chat was not claimed", chat=str(chat))
        finally:  # after an error of the database, the sweep finds the rows
            if state.phase is Phase.TAKING_OVER:
                self.claimed.put_nowait(chat)
            else:
                del self._chats[chat]
                state.settled.set()

    async def _claim_on_request(self, chat: ChatKey, state: ChatState) -> bool:
        """Ask the owner to release a chat, and claim it. Returns False if the owner keeps it."""

        def ask(connection: Connection, owner: str) -> None:
            self._signals.notify(connection, owner, REQUESTED, str(chat))

        for _ in range(MOST_REQUESTS):
            if await self._claim_row(chat, state, ask):
                return True
            await asyncio.sleep(REQUEST_EVERY)
        return False

    async def _claim_or_notify(self, chat: ChatKey, state: ChatState) -> bool:
        """Claim a chat, or notify its owner of the waiting events. Returns True if it was claimed."""
        told = state.waiting[:MOST_NOTIFIED]
        key = json.dumps([str(chat), [[item.seq, is_live] for item, is_live in told]])
        is_notified = chat in self._remote and await self._rows.notify_other(
            chat, self._node.id, OF_NODE, self._signals.payload(INBOX, key)
        )
        if not is_notified and await self._claim_or_forward(chat, state, partial(self._notify, key=key)):
            return True
        del state.waiting[: len(told)]
        return False

    async def _claim_or_forward(self, chat: ChatKey, state: ChatState, notify: Notify) -> bool:
        """Claim a chat, or `notify` its owner or the node that is to claim it. Returns True if it was claimed."""
        if self.is_draining or self.avoids(chat):
            if not await self._rows.notify_owner(chat, notify, otherwise=self._least_loaded(chat, state)):
                await self.announce_orphans()
            return False
        if (node := self._roomier(chat, state)) is not None:
            self._loads[node].chats += 1
            if await self._rows.notify_owner(chat, notify, otherwise=node):
                return False
            self._loads.pop(node, None)  # it is silent, and may be frozen
        return await self._claim_row(chat, state, notify)

    async def _claim_row(self, chat: ChatKey, state: ChatState, notify: Notify) -> bool:
        """Claim a chat, or `notify` its owner. Returns True if it was claimed."""
        seqs = [item.seq for item, _ in state.waiting]
        claim = await self._rows.claim(chat, self._node.id, seqs, notify, self._unfinished)
        if claim is None:
            self._remote.add(chat)
            return False
        log.debug("chat claimed", chat=str(chat), number=claim.number)
        state.phase, state.used = Phase.TAKING_OVER, asyncio.get_running_loop().time()
        state.verified = None if claim.has_more else frozenset(seqs)
        return True

    def _roomier(self, chat: ChatKey, state: ChatState) -> str | None:
        """Return a node with far fewer chats, to claim a free chat instead of this one; None if there is none."""
        ours, node = len(self._chats), self._least_loaded(chat, state)
        if node is None or ours <= FEW:
            return None
        return node if ours > MOST_MORE * (self._loads[node].chats + 1) else None

    def _least_loaded(self, chat: ChatKey, state: ChatState) -> str | None:
        """Return the other node with the fewest chats that may claim a free chat; None if there is none.

        An event that another node has forwarded is not forwarded again.
        """
        if state.is_forwarded or state.is_requested or not state.waiting:
            return None
        can = {node: load.chats for node, load in self._loads.items() if chat.platform not in load.unreachable}
        return min(can, key=lambda each: can[each]) if can else None

    def _notify(self, connection: Connection, owner: str, *, key: str) -> None:
        self._signals.notify(connection, owner, INBOX, key)
