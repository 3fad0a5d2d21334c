"""The one chat of all terminals, and what it can show."""

from datetime import timedelta

from channels.base import ChannelError, ChatKey, Sender
from channels.limits import Limits

NAME = "terminal"
CHAT = ChatKey(platform=NAME, account="local", chat="main")
SENDER = Sender(id="local", name="You")
LIMITS = Limits(
    max_text=1_000_000,
    edit_every=timedelta(seconds=0.2),
    edit_every_in_groups=timedelta(seconds=0.2),
    burst=20,
    is_local=True,
    bound_to_process=True,
    words_after=timedelta(0),
    forgets=True,
    stays_written=True,
)


def check_chat(chat: ChatKey) -> None:
    """Raise a ChannelError for any other chat."""
    if chat != CHAT:
        raise ChannelError(f"the terminal has no chat {chat}", permanent=True)
