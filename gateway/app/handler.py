"""The entry point for inbound events: stores them, then passes them to the process that works on their chat."""

import asyncio
from weakref import WeakValueDictionary

from agent_core.log_errors import Bulkhead
from channels.base import Accepted, ChatKey, ChatMoved, InboundEvent, RequestMade
from gateway.app.admission import Admission
from gateway.app.languages import Languages
from gateway.cluster.protocols import Dispatcher
from gateway.schedule.zones import Zones


class ChannelMessageHandler:
    """Entry point for inbound events. `accept` is the `inbox` of every channel."""

    def __init__(self, admission: Admission, languages: Languages, zones: Zones, dispatcher: Dispatcher) -> None:
        self._admission = admission
        self._languages = languages
        self._zones = zones
        self._dispatcher = dispatcher
        self._turns: WeakValueDictionary[ChatKey, asyncio.Lock] = WeakValueDictionary()
        """Locks of chats whose events are being passed on, in the order in which they were stored."""

    async def accept(self, event: InboundEvent, *, is_live: bool = True) -> Accepted:
        """Authorise and store an event. Once this returns, the platform may drop the event.

        `is_live` is False for an event read from history after a disconnection, which cannot answer a question. It is
        in its chat when this returns, as the gap before newer messages may be closed then.
        """
        if isinstance(event, RequestMade):
            return await self._admission.permit(event)
        if isinstance(event, ChatMoved):
            self._dispatcher.dispatch(await self._admission.move(event), is_live=is_live)
            return Accepted.NEW
        taken = await self._admission.take(self._languages.marked(event))
        if isinstance(taken, Accepted):
            return taken
        async with self._turns.setdefault(event.chat, asyncio.Lock()):
            with Bulkhead(f"zone of event {taken.seq}"):  # what is stored is handled, whatever is known of its sender
                await self._zones.hear(event)
            self._dispatcher.dispatch(taken, is_live=is_live)
        if not is_live:
            await self._dispatcher.wait_routed(event.chat)
        return Accepted.NEW
