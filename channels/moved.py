"""The event and the error that tell of a chat to which the platform gave another id."""

from channels.base import ChannelError, ChatKey, ChatMoved, Sender

RETRY_AFTER = 1.0
"""Seconds until a refused call may be repeated; by then it is one in the new chat."""


def chat_moved(old: ChatKey, chat: str, at: float, *, keeps_messages: bool = False) -> ChatMoved:
    """Return the event; it has the same id whatever told of it. `chat` is the new id."""
    return ChatMoved(
        event_id=f"{old.platform}:{old.account}:moved:{old.chat}:{chat}",
        chat=old.without_thread,
        sender=Sender(id="", name=""),
        at=at,
        to=old.without_thread.model_copy(update={"chat": chat}),
        keeps_messages=keeps_messages,
    )


class MovedAway(ChannelError):
    """The platform refuses a call in a chat, and tells which other id the chat has now."""

    def __init__(self, event: ChatMoved) -> None:
        super().__init__(f"the chat is {event.to} now", retry_after=RETRY_AFTER)
        self.event = event
