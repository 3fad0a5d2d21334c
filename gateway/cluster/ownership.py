"""The chats that this node works on: it claims them when they are needed, and releases them when they are idle.

A chat passes to another node only by a release after all its writes here, or once this node was fenced.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import partial

import structlog

from agent_core.background import Background
from channels.base import ChatKey
from gateway.cluster.chat_owners import ChatOwners, Load, Orphan, Tell
from gateway.cluster.node import LEFT, Node
from gateway.cluster.signals import OF_NODE, NodeSignals
from gateway.delivery.sending import Right
from gateway.store.connection import Connection
from gateway.store.rows import InboxItem
from gateway.store.writer import StoreUnavailable

INBOX = "inbox"
"""The topic of inbox rows for the node that works on their chat."""
POSTS = "posts"
"""The topic of stored posts for that node."""
WANTED = "wanted"
"""The topic of chats of that node whose people are connected to another one."""
ASK_EVERY = 0.25
MOST_TOLD = 100
"""Events or posts that one notification tells of: PostgreSQL takes 8,000 bytes."""
MOST_ASKED = 40
"""Tries to get such a chat, as many seconds apart; then its node goes on with it."""

FOUND_WITHIN = 15.0
"""Seconds after which the sweep has certainly found the events of which a dead node did not tell."""
FEW = 20
"""Chats that a node takes however few the others have, so that a small installation passes nothing on."""
MOST_MORE = 1.25
"""A node with this many times the chats of another one passes further chats on to it."""

log = structlog.get_logger(__name__)


class Phase(Enum):
    CLAIMING = auto()
    TAKING_OVER = auto()
    """The chat is ours, and what others left there is being read."""
    OURS = auto()
    RELEASING = auto()


@dataclass
class ChatState:
    """A chat that this node works on, or is about to."""

    phase: Phase = Phase.CLAIMING
    number: int = 0
    is_passed_on: bool = False
    """True if another node has passed an event on, so that this one has to work on the chat if no other does."""
    waiting: list[tuple[InboxItem, bool]] = field(default_factory=list)
    """Events that wait until the chat is ours, and then for those before them; each with True if it has just come."""
    came_in: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when an event begins to wait."""
    routing: "asyncio.Task[None] | None" = None
    """Routes what waits, one event after the other."""
    verified: frozenset[int] | None = None
    """Rows of the inbox that are all that there was to do when the chat was claimed; None if more was left there."""
    in_hand: set[int] = field(default_factory=set)
    """Numbers of the inbox rows that were handed to the chat."""
    posts: set[str] = field(default_factory=set)
    """Keys of posts that another node has passed on."""
    used: float = 0.0
    """When it was used last, by the event loop's clock."""
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the chat is ours, or certainly not."""
    is_wanted: bool = False
    """True if its people are connected to this node, so that another one is asked to give it up."""
    leaving: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the chat is to pass to another node as soon as its work is at a safe point."""

    def wait(self, item: InboxItem, *, is_live: bool) -> None:
        """Let an event wait."""
        self.waiting.append((item, is_live))
        self.came_in.set()

    @property
    def is_routing(self) -> bool:
        return self.routing is not None and not self.routing.done()


class Ownership:
    """Implements `Sending`. Chats that were claimed come to `claimed`, whose reader takes over what was left there."""

    def __init__(self, node: Node, signals: NodeSignals, rows: ChatOwners) -> None:
        self.claimed: asyncio.Queue[ChatKey] = asyncio.Queue()
        self.is_draining = False
        """True from when this node takes no further chats."""
        self.avoided: frozenset[str] = frozenset()
        """Platforms of which this node takes no chats, as other nodes reach them and it does not."""
        self._node = node
        self._signals = signals
        self._rows = rows
        self._chats: dict[ChatKey, ChatState] = {}
        self._others = 0
        """Other nodes that were alive when they were last counted."""
        self._others_until = 0.0
        """Time, by the event loop's clock, until which an event may be found that another node has stored."""
        self._loads: dict[str, Load] = {}
        """The load of each other node then, if it takes further chats."""
        self._elsewhere: set[ChatKey] = set()
        """Chats of which another node was told since the nodes were last counted."""
        self.passed_on: dict[str, ChatKey] = {}
        """Chats, by the keys of posts that their nodes were told to send."""
        self._work = Background("claiming a chat failed")

    # The chats

    def of(self, chat: ChatKey) -> ChatState | None:
        """Return the chat's state, or None if this node has nothing to do with it."""
        return self._chats.get(chat)

    def held(self, chat: ChatKey) -> ChatState:
        """Return the state of a chat with which this node has to do."""
        return self._chats[chat]

    def owns(self, chat: ChatKey) -> bool:
        """See `Sending`."""
        held = self._chats.get(chat)
        return held is not None and held.phase is Phase.OURS

    def all(self) -> list[ChatState]:
        """Return the state of all chats with which this node has to do."""
        return list(self._chats.values())

    def avoids(self, chat: ChatKey) -> bool:
        """Return True if other nodes are to work on the chat, as they reach its platform and this one does not."""
        return chat.platform in self.avoided

    @property
    def leaving(self) -> list[ChatKey]:
        """The chats that are ours until their work is at a safe point."""
        return [chat for chat in self.owned if self._chats[chat].leaving.is_set()]

    def begin_leaving(self) -> list[ChatKey]:
        """Let the chats that this node avoids be left from now on, whatever comes. Returns those that were not yet."""
        found = [chat for chat in self.owned if self.avoids(chat) and not self._chats[chat].leaving.is_set()]
        for chat in found:
            self._chats[chat].leaving.set()
        return found

    @property
    def owned(self) -> list[ChatKey]:
        return [chat for chat, held in self._chats.items() if held.phase is Phase.OURS]

    @property
    def is_settled(self) -> bool:
        """True unless a chat is being claimed, taken over or released, or an event of it waits for those before it."""
        return all(held.phase is Phase.OURS and not held.waiting for held in self._chats.values())

    async def settled(self, chat: ChatKey) -> None:
        """Return once a chat is ours with all that was left there, or certainly not."""
        if (held := self._chats.get(chat)) is not None:
            await held.settled.wait()

    def expect(self, item: InboxItem, *, is_live: bool, is_wanted: bool = False, is_passed_on: bool = False) -> None:
        """Let an event wait until the chat is ours; claim it unless that is being done.

        `is_wanted` asks the node that works on it to give it up as soon as nothing is to be done there. `is_passed_on`
        is True for an event that another node has passed on, perhaps because it has many chats.
        """
        chat = item.event.chat
        held = self._chats.get(chat) or self._begin(chat, is_wanted=is_wanted)
        held.is_passed_on = held.is_passed_on or is_passed_on
        held.wait(item, is_live=is_live)

    async def take(self, chat: ChatKey, *, is_wanted: bool = False) -> bool:
        """Work on a chat unless another node does. Returns True once this node does, with all that was left there.

        `is_wanted` is as in `expect`.
        """
        held = self._chats.get(chat)
        while held is not None and held.phase is Phase.RELEASING:
            await held.settled.wait()
            held = self._chats.get(chat)
        held = held or self._begin(chat, is_wanted=is_wanted)
        await held.settled.wait()
        return self.owns(chat)

    def taken_over(self, chat: ChatKey) -> None:
        """Note that everything of a chat is in the hands of this node."""
        held = self._chats[chat]
        held.phase = Phase.OURS
        held.settled.set()

    def begin_release(self, chats: Sequence[ChatKey]) -> list[ChatKey]:
        """Let events of these chats wait from now on. Returns the chats that are ours, to be given to `release`."""
        ours = [chat for chat in chats if self.owns(chat)]
        for chat in ours:
            self._chats[chat].phase = Phase.RELEASING
            self._chats[chat].settled.clear()
        return ours

    async def release(
        self, chats: Sequence[ChatKey], *, forget: Callable[[ChatKey], None], idle: bool
    ) -> list[ChatKey]:
        """Give up chats in which nothing is to be done here. Returns those that stay; call `taken_over` for each.

        Args:
            chats: Chats that are being released, idle in the memory of this node.
            forget: Drops what the memory holds of a chat that was given up.
            idle: False gives up chats in which something is still to be done.
        """
        released = await self._rows.release(chats, self._node.id, idle=idle)
        for chat in released:
            forget(chat)
            held = self._chats.pop(chat)
            held.settled.set()
            if held.waiting:
                self._begin(chat, held.waiting)
        return [chat for chat in chats if chat not in released]

    # Sending

    @property
    def processes(self) -> int:
        """See `Sending`."""
        return 1 + self._others

    @property
    def has_others(self) -> bool:
        """True if events may come in at other nodes, or be left by one that has died before it told of them."""
        return self._others > 0 or asyncio.get_running_loop().time() < self._others_until

    async def count_others(self) -> None:
        """Count the other nodes, and their chats."""
        self._elsewhere.clear()
        self._others = len(await self._rows.alive() - {self._node.id})
        if self._others:
            self._others_until = asyncio.get_running_loop().time() + FOUND_WITHIN
        self._loads = {node: load for node, load in (await self._rows.loads()).items() if node != self._node.id}

    async def elsewhere(self) -> set[ChatKey]:
        """See `Sending`."""
        return await self._rows.of_others(self._node.id)

    def keeps(self, chat: ChatKey) -> bool:
        """See `Sending`."""
        return self.owns(chat) and not self._chats[chat].leaving.is_set()

    async def left(self, chat: ChatKey) -> None:
        """See `Sending`."""
        if self.owns(chat):
            await self._chats[chat].leaving.wait()

    async def fresh(self) -> None:
        """See `Sending`."""
        await self._node.fresh()

    async def right(self, chat: ChatKey) -> Right:
        """See `Sending`."""
        if self.owns(chat):
            self._chats[chat].used = asyncio.get_running_loop().time()
            return Right.HELD
        return Right.NEW if await self.take(chat) else Right.ELSEWHERE

    async def pass_on(self, chat: ChatKey, keys: Sequence[str]) -> None:
        """See `Sending`."""
        self.passed_on.update(dict.fromkeys(keys, chat))
        parts = [keys[start : start + MOST_TOLD] for start in range(0, len(keys), MOST_TOLD)]

        def tell(connection: Connection, owner: str) -> None:
            for part in parts:
                self._signals.notify(connection, owner, POSTS, json.dumps([str(chat), part]))

        await self._rows.tell_owner(chat, tell)

    # The rows

    async def in_inbox(self) -> list[tuple[ChatKey, int]]:
        """Return the rows that wait in the inbox for the chats of this node."""
        return await self._rows.in_inbox(self._node.id)

    async def orphans(self) -> list[Orphan]:
        """Return the chats with something to do and no owner."""
        return await self._rows.orphans()

    async def is_alone(self) -> bool:
        """Return True if no other node can take chats."""
        return not await self._rows.others(self._node.id)

    async def tell_of_left(self) -> None:
        """Tell the other nodes that chats have lost their node, or never had one."""
        await self._rows.commit(lambda connection: self._signals.publish(connection, LEFT, self._node.id))

    # Its end

    async def close(self) -> None:
        await self._work.stop()

    # Implementation

    def _begin(
        self, chat: ChatKey, waiting: Sequence[tuple[InboxItem, bool]] = (), *, is_wanted: bool = False
    ) -> ChatState:
        held = self._chats[chat] = ChatState(waiting=list(waiting), is_wanted=is_wanted)
        self._work.start(self._claim(chat, held), f"claim {chat}")
        return held

    async def _claim(self, chat: ChatKey, held: ChatState) -> None:
        """Claim a chat, or tell its owner what waits here, until nothing waits."""
        try:
            is_wanted = held.is_wanted and not (self.is_draining or self.avoids(chat))
            is_ours = is_wanted and await self._is_given_up(chat, held)
            is_ours = is_ours or await self._is_claimed(chat, held)
            while held.waiting and not is_ours:
                is_ours = await self._is_claimed(chat, held)
        except StoreUnavailable:  # this node was fenced; the others find the rows
            log.warning("a chat was not claimed", chat=str(chat))
        finally:  # after an error of the database, the sweep finds the rows
            if held.phase is Phase.TAKING_OVER:
                log.debug("chat claimed", chat=str(chat), number=held.number)
                self.claimed.put_nowait(chat)
            else:
                del self._chats[chat]
                held.settled.set()

    async def _is_given_up(self, chat: ChatKey, held: ChatState) -> bool:
        """Ask the node that works on a chat to give it up, and claim it. Returns False if that node goes on with it."""

        def ask(connection: Connection, owner: str) -> None:
            self._signals.notify(connection, owner, WANTED, str(chat))

        for _ in range(MOST_ASKED):
            if await self._is_free(chat, held, ask):
                return True
            await asyncio.sleep(ASK_EVERY)
        return False

    async def _is_claimed(self, chat: ChatKey, held: ChatState) -> bool:
        """Claim a chat. Returns False if its owner was told what waits here."""
        told = held.waiting[:MOST_TOLD]
        key = json.dumps([str(chat), [[item.seq, is_live] for item, is_live in told]])
        is_told = chat in self._elsewhere and await self._rows.tell_other(
            chat, self._node.id, OF_NODE, self._signals.payload(INBOX, key)
        )
        if not is_told and await self._is_taken(chat, held, partial(self._tell, key=key)):
            return True
        del held.waiting[: len(told)]
        return False

    async def _is_taken(self, chat: ChatKey, held: ChatState, tell: Tell) -> bool:
        """Claim a chat unless another node works on it. Returns False if that one was told."""
        if self.is_draining or self.avoids(chat):
            if not await self._rows.tell_owner(chat, tell):
                await self.tell_of_left()
        elif held.waiting and (node := self._roomier(chat, held)) is not None:
            self._loads[node].chats += 1
            await self._rows.tell_owner(chat, tell, otherwise=node)
        else:
            return await self._is_free(chat, held, tell)
        return False

    async def _is_free(self, chat: ChatKey, held: ChatState, tell: Tell) -> bool:
        """Claim a chat. Returns False if another node works on it, which is told something."""
        seqs = [item.seq for item, _ in held.waiting]
        claim = await self._rows.claim(chat, self._node.id, seqs, tell)
        if claim is None:
            self._elsewhere.add(chat)
            return False
        held.phase, held.number, held.used = Phase.TAKING_OVER, claim.number, asyncio.get_running_loop().time()
        held.verified = None if claim.has_more else frozenset(seqs)
        return True

    def _roomier(self, chat: ChatKey, held: ChatState) -> str | None:
        """Return a node with far fewer chats than this one, which is to work on a free chat; None for this one."""
        ours = len(self._chats)
        can = {node: load.chats for node, load in self._loads.items() if chat.platform not in load.unreachable}
        if held.is_passed_on or held.is_wanted or ours <= FEW or not can:
            return None
        node = min(can, key=lambda each: can[each])
        return node if ours > MOST_MORE * (can[node] + 1) else None

    def _tell(self, connection: Connection, owner: str, *, key: str) -> None:
        self._signals.notify(connection, owner, INBOX, key)
