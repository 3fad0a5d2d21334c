"""Protocols between the processes that share a database and the parts of one of them."""

from collections.abc import Collection, Sequence
from typing import Protocol

from channels.base import ChatKey, InboundEvent
from channels.connected import Connected
from gateway.cluster.leases import Leases
from gateway.delivery.sending import Sending
from gateway.store.rows import InboxItem, Post
from gateway.store.signals import Signals


class ChatWork(Protocol):
    """The work on chats in this process."""

    def knows(self, chat: ChatKey) -> bool:
        """Return True if the chat can be reached from here."""

    def needs_connection(self, chat: ChatKey) -> bool:
        """Return True if the people in the chat are reached only by the process to which they are connected."""

    def heard(self, event: InboundEvent) -> None:
        """Note an event that came to another node."""

    def route(self, item: InboxItem, *, is_live: bool) -> None:
        """Let the chat handle a stored event."""

    async def take_over(self, chat: ChatKey) -> list[InboxItem]:
        """Go on with what another node, or nobody, did in a chat. Returns its events that wait, to be routed."""

    async def taken_over(self, chat: ChatKey) -> None:
        """Check what was taken over in a chat; called at once after its events were routed, before that goes on."""

    async def take_over_all(self) -> None:
        """Go on with what the previous process did in all chats."""

    async def resume(self, platform: str) -> None:
        """Go on with what waits on a platform that was not connected, in a process that works on all chats."""

    async def deliver(self, chat: ChatKey, posts: Sequence[Post]) -> None:
        """Send stored posts."""

    def is_idle(self, chat: ChatKey) -> bool:
        """Return True if nothing is done in the chat."""

    def rests(self, chat: ChatKey) -> bool:
        """Return True if all work in the chat can be cut off without loss, while the program ends."""

    def leave(self, chat: ChatKey) -> None:
        """Bring the work in a chat to a safe point, from which another process is to go on."""

    async def cut_off(self, chat: ChatKey) -> None:
        """Cancel all work in the chat as it is."""

    def forget(self, chat: ChatKey) -> None:
        """Drop what the memory holds of a chat."""


class Dispatcher(Protocol):
    """Brings events to the process that works on their chat."""

    def dispatch(self, item: InboxItem, *, is_live: bool) -> None:
        """Route a stored event, here or elsewhere; returns at once. `is_live` is True for a new event."""

    def is_here(self, chat: ChatKey) -> bool:
        """Return True if this process works on a chat."""

    async def routed(self, chat: ChatKey) -> None:
        """Return once the events that were dispatched for a chat are routed, or their process was told of them."""

    async def look_in(self, chats: Collection[ChatKey]) -> None:
        """Route what waits in the inbox for those of the chats on which this process works, wherever it came in."""

    async def want(self, chat: ChatKey) -> None:
        """Work on a chat whose people are connected to this process, as soon as nothing is to be done elsewhere."""

    async def begin(self) -> None:
        """Go on with what other processes have left."""

    async def resume(self, platform: str) -> None:
        """Go on with what waits on a platform that was not connected here so far."""

    @property
    def is_settled(self) -> bool:
        """True unless a chat comes to this process, or leaves it."""

    async def drain(self) -> None:
        """Take no further chats, and leave those of this process to others, as soon as their work rests."""

    async def close(self) -> None:
        """End the work, which other processes go on with."""


class Peers(Protocol):
    """The other processes that share the database."""

    signals: Signals
    leases: Leases
    sending: Sending

    def dispatcher(self, work: ChatWork, channels: Connected) -> Dispatcher:
        """Create the dispatcher. `work` is the work of this process on chats, `channels` are its channels."""

    async def note_settings(self, digests: str) -> None:
        """Tell the others the digests of the settings that this process has now."""

    async def fenced(self) -> None:
        """Return once this process was fenced; it must then start again as a new node."""
