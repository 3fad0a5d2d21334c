"""A question on Slack that is answered by a stream, for tests of that."""

from channels.base import Button, ChatKey, Posted
from channels.slack.adapter import SlackChannel
from channels.slack.stream import SlackStream
from channels.streams import Live
from channels.values import CallRow
from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.slack_chat import Chat
from parley.testing.emulators.slack_state import Message, Person

KEY = "run:progress:0"
STOP = ((Button(label="Stop", action="/stop run"),),)


class Scene:
    """A question in a thread of a channel, which is to be answered there."""

    def __init__(self, slack: SlackEmulator, channel: SlackChannel, chat: Chat, root: Message) -> None:
        self.slack, self.channel = slack, channel
        self.ann: Person = root.sender
        self.thread = chat.thread(root)
        self.key = ChatKey(platform="slack", account=slack.team_id, chat=chat.id, thread=root.ts)

    def stream(self) -> SlackStream:
        made = self.channel.stream(self.key, person=self.ann.id, reply_to=None, key=KEY)
        assert made is not None
        return made

    @property
    def answer(self) -> Message:
        (only,) = self.thread.bot_messages
        return only

    def calls(self, method: str) -> int:
        return sum(call.method == method for call in self.slack.calls)


def live(words: str = "", *calls: CallRow, note: str = "") -> Live:
    return Live(text=words or "…", words=words, calls=calls, note=note)


def call(number: int, state: str = "running", **more: object) -> CallRow:
    return CallRow.model_validate({"id": str(number), "label": f"Read {number}", "state": state, **more})


def posted(stream: SlackStream) -> Posted:
    assert stream.posted is not None
    return stream.posted
