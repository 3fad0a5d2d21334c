"""Recently received messages. Discord reports only the id of a deleted message."""

from channels.base import InboundEvent, MessageDeleted, MessageReceived


class Recent:
    """The last messages that became events."""

    most = 5_000

    def __init__(self) -> None:
        self._messages: dict[str, MessageReceived] = {}

    def keep(self, event: InboundEvent) -> None:
        if isinstance(event, MessageReceived):
            self._messages[event.message_id] = event
            if len(self._messages) > self.most:
                del self._messages[next(iter(self._messages))]

    def find(self, message: str) -> MessageReceived | None:
        return self._messages.get(message)

    def deleted(self, message: str, now: float) -> MessageDeleted | None:
        """Return the deletion of a message, or None if it was not received or too long ago."""
        gone = self._messages.pop(message, None)
        if gone is None:
            return None
        return MessageDeleted(
            event_id=f"{gone.event_id}:deleted",
            chat=gone.chat,
            sender=gone.sender,
            at=now,
            addressed=gone.addressed,
            message_id=message,
        )
