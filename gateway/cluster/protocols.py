"""Protocols between the processes that share a database and the parts of one of them."""

from collections.abc import Awaitable, Callable, Collection, Sequence, Set
from typing import Protocol

from channels.base import ChatKey, InboundEvent
from channels.connected import Connected
from gateway.cluster.leases import Leases
from gateway.delivery.sending import Sending
from gateway.store.rows import InboxItem, Post
from gateway.store.signals import Signals


class ChatWork(Protocol):
    """The sessions, tasks and deliveries of chats in this process."""

    @property
    def owed_kinds(self) -> Set[str]:
        """The kinds of what chats are owed that this process can do."""

    def can_reach(self, chat: ChatKey) -> bool:
        """Return True if the chat's platform is connected here."""

    def needs_connection(self, chat: ChatKey) -> bool:
        """Return True if only the process to which its people are connected can reach the chat."""

    def note_remote(self, event: InboundEvent) -> None:
        """Note an event that another node received."""

    def route(self, item: InboxItem, *, is_live: bool) -> None:
        """Pass a stored event to its chat."""

    async def take_over(self, chat: ChatKey) -> list[InboxItem]:
        """Resume the pending work of a chat. Returns its pending events, for the caller to route."""

    async def recheck_rights(self, chat: ChatKey) -> None:
        """Check the rights behind the resumed work; called right after its events were routed."""

    async def take_over_all(self) -> None:
        """Resume the pending work of all chats."""

    async def resume(self, platform: str) -> None:
        """Resume the pending work on a platform that was just connected, in a process that owns all chats."""

    async def deliver(self, chat: ChatKey, posts: Sequence[Post]) -> None:
        """Send stored posts."""

    def is_idle(self, chat: ChatKey) -> bool:
        """Return True if there is no work in the chat."""

    def is_at_safe_point(self, chat: ChatKey) -> bool:
        """Return True if all work in the chat can be cancelled without loss."""

    def drain(self, chat: ChatKey) -> None:
        """Let the work in a chat stop at its next safe point, from which another process resumes it."""

    async def cancel(self, chat: ChatKey) -> None:
        """Cancel all work in the chat at once."""

    def unload(self, chat: ChatKey) -> None:
        """Drop all that is held in memory for a chat."""


Chats = Callable[[], Awaitable[Collection[ChatKey]]]
"""Reads which chats are concerned."""
Change = Callable[[], Awaitable[Collection[ChatKey]]]
"""Changes what belongs to chats, and returns those in which there may be work now."""


class Dispatcher(Protocol):
    """Routes events to the processes that own their chats."""

    def dispatch(self, item: InboxItem, *, is_live: bool) -> None:
        """Route a stored event, here or on another node; returns at once. `is_live` is True for a new event."""

    async def wait_routed(self, chat: ChatKey) -> None:
        """Wait until the events dispatched for a chat are routed, or its owner was notified of them."""

    async def route_pending(self, chats: Collection[ChatKey]) -> None:
        """Route the pending events of those of the chats that this process owns."""

    async def request(self, chat: ChatKey) -> None:
        """Claim a chat whose people are connected to this process; its owner is asked to release it once it is idle."""

    async def at_rest(self, chats: Chats, change: Change) -> bool:
        """Make a change while nothing is done in these chats on any process, then go on with what is left to do there.

        Their work is cut off at a safe point, if it comes to one soon. Chats that are there only then come to rest
        before the change, too. Returns False if another process keeps one of them; then nothing was changed.
        """

    async def start(self) -> None:
        """Take over pending work, and start claiming chats."""

    async def resume(self, platform: str) -> None:
        """Resume the pending work on a platform that was just connected."""

    @property
    def is_settled(self) -> bool:
        """True unless a chat is being claimed or released."""

    async def drain(self) -> None:
        """Claim no more chats, and release each chat once its work is at a safe point."""

    async def close(self) -> None:
        """Stop; other processes take over."""


class Peers(Protocol):
    """The other processes that share the database."""

    signals: Signals
    leases: Leases
    sending: Sending

    def dispatcher(self, work: ChatWork, channels: Connected) -> Dispatcher:
        """Create the dispatcher. `work` is the work of this process on chats, `channels` are its channels."""

    async def note_settings(self, digests: str) -> None:
        """Publish the digests of this process's current settings."""

    async def wait_fenced(self) -> None:
        """Wait until this process is fenced; it must then start again as a new node."""
