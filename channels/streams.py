"""Live display of a run, for platforms that can show more than a message that is edited.

A stream is never the record: the answer is always a message that is sent or edited.
"""

from typing import Protocol, runtime_checkable

from channels.base import ChannelError, ChatKey, Posted
from channels.values import CallRow, Text, Value


class Live(Value):
    """The state of a run that people may see while it goes on."""

    text: Text
    """All of it as Markdown, for platforms that show only text."""
    words: Text = ""
    """The answer so far, as Markdown. It grows, unless the model begins anew."""
    note: Text = ""
    """One line about what the run is doing, where calls and words do not tell."""
    calls: tuple[CallRow, ...] = ()
    """The run's newest tool calls, oldest first."""
    reasoning: Text = ""
    """The model's reasoning as Markdown; given only where `Limits.folds_reasoning`."""


class StreamEnded(ChannelError):
    """The stream cannot go on, or is not possible here; the run is shown by edits of a message from now on."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, permanent=True)


class Stream(Protocol):
    """One run, shown by the platform's own means."""

    is_message: bool
    """False where the platform shows something that is no message, and that goes away only with the next message."""

    @property
    def posted(self) -> Posted | None:
        """The message on the screen, which `Channel.edit` may turn into the answer; None before there is one.

        Always None where the platform shows something that is no message, and that goes away by itself.
        """

    def has_news(self, live: Live) -> bool:
        """Return True if `show` would make a call."""

    async def show(self, live: Live) -> None:
        """Show the state of the run; begins the stream if it is the first.

        Raises:
            StreamEnded: It expired, was refused or was stopped, or shows words that the model has taken back.
            MessageGone: Its message was deleted.
            ChannelError: The platform refused the call for now or did not answer. The next call may succeed.
        """


@runtime_checkable
class Streams(Protocol):
    """For platforms that can show a run as it goes on, other than by edits."""

    def stream(self, chat: ChatKey, *, person: str, reply_to: str | None, key: str) -> Stream | None:
        """Return a stream that has not begun; None if this chat has none.

        Args:
            chat: The chat to show the run in.
            person: Id of the user who is answered.
            reply_to: Id of the message that is answered.
            key: Idempotency key of the message, as in `Channel.send`.
        """
