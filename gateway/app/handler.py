"""The entry point for inbound events: stores them, then passes them to the process that works on their chat."""

from agent_core.background import Background
from channels.base import Accepted, InboundEvent, MessageReceived, RequestMade
from gateway.app.admission import Admission
from gateway.chat.gaps import Gaps
from gateway.cluster.work import Dispatching
from gateway.store.rows import InboxItem


class ChannelMessageHandler:
    """Entry point for inbound events. `accept` is the `inbox` of every channel."""

    def __init__(self, admission: Admission, dispatching: Dispatching, gaps: Gaps, background: Background) -> None:
        """`background` runs what waits for a gap in a chat on which another process works."""
        self._admission = admission
        self._dispatching = dispatching
        self._gaps = gaps
        self._background = background

    async def accept(self, event: InboundEvent, *, is_live: bool = True) -> Accepted:
        """Authorise and store an event. Once this returns, the platform may drop the event.

        `is_live` is False for an event read from history after a disconnection, which cannot answer a question. It is
        in its chat when this returns, as the gap before newer messages may be closed then.
        """
        if isinstance(event, RequestMade):
            return await self._admission.permit(event)
        taken = await self._admission.take(event)
        if isinstance(taken, Accepted):
            return taken
        chat, waits = event.chat, is_live and isinstance(event, MessageReceived)
        reads = self._gaps.is_read_here(chat.platform)  # else the chat's own process knows as much of its gap
        if waits and reads and self._gaps.holds(chat) and not self._dispatching.is_here(chat):
            self._background.start(self._dispatch_after_gap(taken), f"gap {chat}")
        else:
            self._dispatching.dispatch(taken, is_live=is_live)
        if not is_live:
            await self._dispatching.routed(chat)
        return Accepted.NEW

    async def _dispatch_after_gap(self, item: InboxItem) -> None:
        """Let another process hear of a message after those before it, which are read from the history here."""
        await self._gaps.closed(item.event.chat)
        self._dispatching.dispatch(item, is_live=True)
